// The figure of a code matrix. It takes the data, the colours and a size, and returns an SVG with
// the places of its parts, for the pointer.
import { Scale, address, axes, frame, image, rect, rgb, stroke, svg, tag, wholeTicks } from "explorer/figure.js";
import { kept } from "explorer/kept.js";

/** transitions lists the levels after which each bit changes. */
export const transitions = (matrix, levels, bits) =>
	kept(matrix, `transitions ${levels} ${bits}`, () => transitionsOf(matrix, levels, bits));

function transitionsOf(matrix, levels, bits) {
	const out = Array.from({ length: bits }, () => []);
	for (let i = 0; i + 1 < levels; i++) {
		for (let k = 0; k < bits; k++) if (matrix[i * bits + k] !== matrix[(i + 1) * bits + k]) out[k].push(i + 1);
	}
	return out;
}

const maxMarks = 20000; // transitions that are marked

/** placed is the box of the cells. They are square where that fills the width; of a narrow code they
 * are wider. */
function placed(levels, bits, width, tall) {
	const left = 56,
		top = 22,
		most = tall - 62;
	const wide = Math.min(width - 10 - left, Math.max((most * bits) / levels, most * 1.45));
	const high = Math.min(most, Math.max((wide * levels) / bits, 220));
	return { left, top, right: left + wide, bottom: top + high };
}

/** picture is the cells as an image, ones dark. */
function picture(matrix, levels, bits, c) {
	const pixels = new Uint8ClampedArray(4 * levels * bits),
		one = rgb(c.one),
		zero = rgb(c.zero);
	for (let i = 0; i < levels * bits; i++) pixels.set([...(matrix[i] ? one : zero), 255], 4 * i);
	return address(pixels, bits, levels);
}

/** marks are the edges of the cells at transitions. */
function marks(list, box, dx, dy) {
	const places = list.flatMap((levels, k) => levels.map((n) => [box.left + k * dx, box.top + n * dy]));
	const path = places.slice(0, maxMarks).map(([x, y]) => `M${x.toFixed(1)} ${y.toFixed(1)}h${dx.toFixed(2)}`);
	return path.join("");
}

/** matrixFigure draws a code: levels downwards, bits to the right, ones dark, and a coloured edge
 * at each transition. chosen are bits, twins are levels with equal code words. */
export function matrixFigure({ matrix, levels, bits, title, chosen, hover, cursor, twins = [] }, c, width, tall) {
	const box = placed(levels, bits, width, tall);
	const x = new Scale(0.5, bits + 0.5, box.left, box.right),
		y = new Scale(0.5, levels + 0.5, box.top, box.bottom);
	const dx = (box.right - box.left) / bits,
		dy = (box.bottom - box.top) / levels;
	const row = (n, style) => rect({ ...box, top: box.top + (n - 1) * dy, bottom: box.top + n * dy }, style);
	const column = (k, style) => rect({ ...box, left: box.left + (k - 1) * dx, right: box.left + k * dx }, style);
	const ticks = { xTicks: wholeTicks(bits), yTicks: wholeTicks(levels), grid: false };
	let s = axes(c, box, x, y, { ...ticks, xTitle: "bit k", yTitle: "level n" });
	s += image(
		kept(matrix, `${c.one} ${c.zero} ${bits}`, () => picture(matrix, levels, bits, c)),
		box,
	);
	const edge = Math.min(2.4, Math.max(0.9, dy / 4)).toFixed(2);
	s += tag("path", { d: marks(transitions(matrix, levels, bits), box, dx, dy), ...stroke(c.mark, edge) });
	for (const k of chosen.filter((k) => k <= bits)) {
		const above = `M${box.left + (k - 0.5) * dx} ${box.top - 3}l-4.5 -8h9z`;
		s += column(k, stroke(c.exact, 1.4)) + tag("path", { d: above, fill: c.exact });
	}
	for (const n of twins) s += row(n, { fill: c.sampled, "fill-opacity": 0.35, stroke: c.sampled });
	s += frame(c, box);
	const at = hover?.level || hover?.bit ? hover : cursor,
		lit = { ...stroke(c.mark, 0.8), fill: c.glow };
	if (at?.level && at.level <= levels) s += row(at.level, lit);
	if (at?.bit && at.bit <= bits) s += column(at.bit, lit);
	if (cursor) {
		const left = box.left + (cursor.bit - 1) * dx - 1,
			top = box.top + (cursor.level - 1) * dy - 1;
		s += rect({ left, top, right: left + dx + 2, bottom: top + dy + 2 }, stroke(c.mark, 2));
	}
	return { svg: svg(width, Math.ceil(box.bottom + 40), s, { title }), box, x, y };
}
