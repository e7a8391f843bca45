// The figure of the error probabilities of some bits. It takes the data, the colours and a size,
// and returns an SVG with the places of its parts, for the pointer.
import { Scale, axes, frame, line, niceStep, rect, stroke, svg, tag, wholeTicks, words } from "explorer/figure.js";

/** targetBar is the bit's target over the levels, as a bar above the box. */
function targetBar(c, target, box) {
	const step = (box.right - box.left) / target.length,
		top = box.top - 7;
	const ones = target.map((v, i) => {
		const left = (box.left + i * step).toFixed(1),
			wide = step.toFixed(2);
		return v ? `M${left} ${top}h${wide}v5h-${wide}z` : "";
	});
	const bar = rect({ ...box, top, bottom: top + 5 }, { fill: c.zero, stroke: c.grid, "stroke-width": 0.7 });
	return bar + tag("path", { d: ones.join(""), fill: c.one });
}

/** bitRow draws one bit: its error probabilities. */
function bitRow(c, box, x, { name, marked, target, values, level, last }) {
	const levels = values.length,
		xs = values.map((_, i) => i + 1);
	const most = Math.max(0, ...values.filter(Number.isFinite));
	const y = new Scale(0, Math.max(most * 1.04, niceStep(most / 3)), box.bottom, box.top);
	const titles = last ? { xTicks: wholeTicks(levels, 6), xTitle: "level n" } : { xTicks: [] };
	let s = axes(c, box, x, y, { ...titles, yTicks: y.ticks(3) }) + targetBar(c, target, box);
	s += tag("path", { d: line(xs, values, x, y), ...stroke(c.exact, 1.7) });
	const halo = { "paint-order": "stroke", stroke: c.paper, "stroke-width": 3 };
	const bold = { size: 12, anchor: "end", "font-weight": 600, fill: marked ? c.mark : c.ink };
	s += words(box.right - 6, box.top + 14, name, { ...bold, ...halo });
	if (level && level <= levels) {
		const at = x.at(level),
			v = values[level - 1];
		s += tag("path", { d: `M${at} ${box.top}V${box.bottom}`, ...stroke(c.mark, 0.9) });
		if (Number.isFinite(v)) s += tag("circle", { cx: at, cy: y.at(v), r: 3.4, fill: c.mark });
	}
	return s + frame(c, box);
}

/** bitsFigure draws the error probabilities of the shown bits over the levels, with the target bit
 * as a bar above. e is levels × bits. */
export function bitsFigure({ e, matrix, levels, bits, shown, chosen, hover, title }, c, width, tall) {
	const row = Math.max(92, Math.floor((tall - 46) / Math.max(1, shown.length)));
	const left = 56,
		right = width - 10,
		top = 6;
	const x = new Scale(0.5, levels + 0.5, left, right);
	const columnOf = (array, k) => Array.from({ length: levels }, (_, i) => (array ? array[i * bits + k - 1] : NaN));
	let s = "";
	const boxes = shown.map((k, j) => {
		const box = { left, right, top: top + j * row + 14, bottom: top + (j + 1) * row - 12 };
		const marked = !chosen.includes(k);
		s += bitRow(c, box, x, {
			name: `bit ${k}${marked ? " (under the pointer)" : ""}`,
			marked,
			target: columnOf(matrix, k),
			values: columnOf(e, k),
			level: hover?.level,
			last: j === shown.length - 1,
		});
		return { k, box };
	});
	const middle = top + (shown.length * row) / 2;
	s += words(13, middle, "error probability e", { size: 12, anchor: "middle", turned: true, fill: c.ink });
	return { svg: svg(width, top + shown.length * row + 30, s, { title }), boxes, x };
}
