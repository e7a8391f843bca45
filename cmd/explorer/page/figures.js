// The figures. Each function takes the data, the colours and a width, and returns an SVG with
// the places of its parts, for the pointer.
import { Scale, address, axes, diverging, esc, frame, image, line, niceStep, rgb, short, svg, wholeTicks } from "explorer/figure.js";

// What was made of a matrix or of a map's numbers, which do not change while they are shown.
const lists = new WeakMap(), pictures = new WeakMap();

/** kept returns what was kept of an array, or makes and keeps it. */
function kept(map, array, name, make) {
	let of = map.get(array);
	if (!of) map.set(array, (of = {}));
	return (of[name] ??= make());
}

/** transitions lists the levels after which each bit changes. */
export const transitions = (matrix, levels, bits) => kept(lists, matrix, `${levels} ${bits}`, () => transitionsOf(matrix, levels, bits));

function transitionsOf(matrix, levels, bits) {
	const out = Array.from({ length: bits }, () => []);
	for (let i = 0; i + 1 < levels; i++) for (let k = 0; k < bits; k++) if (matrix[i * bits + k] !== matrix[(i + 1) * bits + k]) out[k].push(i + 1);
	return out;
}

const maxMarks = 20000; // transitions that are marked

/** matrixFigure draws a code: levels downwards, bits to the right, ones dark, and a coloured edge
 * at each transition. */
export function matrixFigure({ matrix, levels, bits, title, chosen, hover, cursor, twins }, c, width, tall) {
	const box = { left: 56, top: 22, right: width - 10 };
	// Cells are square where that fills the width; of a narrow code they are wider.
	const wide = Math.min(box.right - box.left, Math.max(((tall - 62) * bits) / levels, (tall - 62) * 1.45));
	const high = Math.min(tall - 62, Math.max((wide * levels) / bits, 220));
	box.right = box.left + wide;
	box.bottom = box.top + high;
	const x = new Scale(0.5, bits + 0.5, box.left, box.right), y = new Scale(0.5, levels + 0.5, box.top, box.bottom);
	let s = axes(c, box, x, y, { xTicks: wholeTicks(bits), yTicks: wholeTicks(levels), xTitle: "bit k", yTitle: "level n", grid: false });
	s += image(kept(pictures, matrix, `${c.one} ${c.zero} ${bits}`, () => {
		const pixels = new Uint8ClampedArray(4 * levels * bits), one = rgb(c.one), zero = rgb(c.zero);
		for (let i = 0; i < levels * bits; i++) pixels.set([...(matrix[i] ? one : zero), 255], 4 * i);
		return address(pixels, bits, levels);
	}), box);
	const dx = wide / bits, dy = high / levels;
	let marks = "", count = 0;
	transitions(matrix, levels, bits).forEach((list, k) => list.forEach((n) => {
		if (count++ < maxMarks) marks += `M${(box.left + k * dx).toFixed(1)} ${(box.top + n * dy).toFixed(1)}h${dx.toFixed(2)}`;
	}));
	s += `<path d="${marks}" stroke="${c.mark}" stroke-width="${Math.min(2.4, Math.max(0.9, dy / 4)).toFixed(2)}" fill="none"/>`;
	const column = (k, colour, width) => `<rect x="${box.left + (k - 1) * dx}" y="${box.top}" width="${dx}" height="${high}" fill="none" stroke="${colour}" stroke-width="${width}"/>`;
	for (const k of chosen) {
		if (k > bits) continue;
		s += column(k, c.exact, 1.4) + `<path d="M${box.left + (k - 0.5) * dx} ${box.top - 3}l-4.5 -8h9z" fill="${c.exact}"/>`;
	}
	for (const n of twins ?? []) s += `<rect x="${box.left}" y="${box.top + (n - 1) * dy}" width="${wide}" height="${dy}" fill="${c.sampled}" fill-opacity=".35" stroke="${c.sampled}"/>`;
	s += frame(c, box);
	const at = hover?.level || hover?.bit ? hover : cursor;
	if (at?.level && at.level <= levels) s += `<rect x="${box.left}" y="${box.top + (at.level - 1) * dy}" width="${wide}" height="${dy}" fill="${c.glow}" stroke="${c.mark}" stroke-width=".8"/>`;
	if (at?.bit && at.bit <= bits) s += `<rect x="${box.left + (at.bit - 1) * dx}" y="${box.top}" width="${dx}" height="${high}" fill="${c.glow}" stroke="${c.mark}" stroke-width=".8"/>`;
	if (cursor) s += `<rect x="${box.left + (cursor.bit - 1) * dx - 1}" y="${box.top + (cursor.level - 1) * dy - 1}" width="${dx + 2}" height="${dy + 2}" fill="none" stroke="${c.mark}" stroke-width="2"/>`;
	return { svg: svg(width, Math.ceil(box.bottom + 40), s, c, { title }), box, x, y, cell: { dx, dy } };
}

/** bitsFigure draws the error probabilities of some bits over the levels, with the target bit as a
 * bar above. */
export function bitsFigure({ e, matrix, levels, bits, shown, chosen, rates, hover, title }, c, width, tall) {
	const row = Math.max(92, Math.floor((tall - 46) / Math.max(1, shown.length))), left = 56, top = 6;
	const x = new Scale(0.5, levels + 0.5, left, width - 10);
	let s = "";
	const boxes = [];
	shown.forEach((k, j) => {
		const box = { left, right: width - 10, top: top + j * row + 14, bottom: top + (j + 1) * row - 12 };
		const values = Array.from({ length: levels }, (_, i) => (e ? e[i * bits + k - 1] : NaN));
		const seen = rates ? Array.from({ length: levels }, (_, i) => rates[i * bits + k - 1]) : [];
		const most = Math.max(1e-9, ...values.filter(Number.isFinite), ...seen.filter(Number.isFinite));
		const step = niceStep(most / 3), y = new Scale(0, Math.max(most * 1.04, step), box.bottom, box.top);
		s += axes(c, box, x, y, { xTicks: j === shown.length - 1 ? wholeTicks(levels, 6) : [], yTicks: y.ticks(3), xTitle: j === shown.length - 1 ? "level n" : "" });
		const step1 = (box.right - box.left) / levels;
		let bar = "";
		for (let i = 0; i < levels; i++) if (matrix[i * bits + k - 1]) bar += `M${(box.left + i * step1).toFixed(1)} ${box.top - 7}h${step1.toFixed(2)}v5h${(-step1).toFixed(2)}z`;
		s += `<rect x="${box.left}" y="${box.top - 7}" width="${box.right - box.left}" height="5" fill="${c.zero}" stroke="${c.grid}" stroke-width=".7"/><path d="${bar}" fill="${c.one}"/>`;
		const xs = values.map((_, i) => i + 1);
		if (seen.length > 0) s += `<path d="${line(xs, seen, x, y)}" fill="none" stroke="${c.sampled}" stroke-width="1.2" stroke-dasharray="2 2"/>`;
		s += `<path d="${line(xs, values, x, y)}" fill="none" stroke="${c.exact}" stroke-width="1.7"/>`;
		const ghost = !chosen.includes(k);
		s += `<text x="${box.right - 6}" y="${box.top + 14}" text-anchor="end" font-size="12" font-weight="600" fill="${ghost ? c.mark : c.ink}" paint-order="stroke" stroke="${c.paper}" stroke-width="3">bit ${k}${ghost ? " (under the pointer)" : ""}</text>`;
		if (hover?.level && hover.level <= levels) {
			const v = values[hover.level - 1], at = x.at(hover.level);
			s += `<line x1="${at}" x2="${at}" y1="${box.top}" y2="${box.bottom}" stroke="${c.mark}" stroke-width=".9"/>`;
			if (Number.isFinite(v)) s += `<circle cx="${at}" cy="${y.at(v)}" r="3.4" fill="${c.mark}"/>`;
		}
		s += frame(c, box);
		boxes.push({ k, box });
	});
	const height = top + shown.length * row + 30;
	s += `<text transform="translate(13 ${top + (shown.length * row) / 2}) rotate(-90)" text-anchor="middle" font-size="12" fill="${c.ink}">error probability e</text>`;
	return { svg: svg(width, height, s, c, { title }), boxes, x };
}

/** levelsFigure draws the error of every level: bound, exact value, and samples with their
 * standard errors. */
export function levelsFigure({ levels, bound, exact, mean, stderr, hover, title }, c, width, tall) {
	const box = { left: 56, right: width - 10, top: 26, bottom: tall - 40 };
	const of = (list) => (list ? Array.from(list) : []);
	const b = of(bound), e = of(exact), m = of(mean), se = of(stderr);
	const highest = (list) => Math.max(0, ...list.filter(Number.isFinite));
	const inner = Math.max(highest(e), highest(m.map((v, i) => v + (se[i] || 0))));
	const all = Math.max(inner, highest(b));
	const clipped = inner > 0 && all > 3 * inner;
	const top = (clipped ? 1.6 * inner : all) * 1.05 || 1;
	const x = new Scale(0.5, levels + 0.5, box.left, box.right), y = new Scale(0, top, box.bottom, box.top);
	let s = axes(c, box, x, y, { xTicks: wholeTicks(levels, 6), yTicks: y.ticks(5), xTitle: "level n", yTitle: "expected |error| (levels)" });
	const xs = Array.from({ length: levels }, (_, i) => i + 1);
	const key = [];
	s += `<clipPath id="inside"><rect x="${box.left}" y="${box.top}" width="${box.right - box.left}" height="${box.bottom - box.top}"/></clipPath><g clip-path="url(#inside)">`;
	if (b.some(Number.isFinite)) {
		s += `<path d="${line(xs, b, x, y, box.top - 20)}" fill="none" stroke="${c.bound}" stroke-width="1.6" stroke-dasharray="6 3"/>`;
		key.push([`bound${clipped ? `, up to ${short(highest(b))}` : ""}`, c.bound, "6 3"]);
	}
	if (e.some(Number.isFinite)) {
		s += `<path d="${line(xs, e, x, y)}" fill="none" stroke="${c.exact}" stroke-width="2"/>`;
		key.push(["exact", c.exact, ""]);
	}
	if (m.length > 0) {
		const r = Math.max(1.2, Math.min(2.9, 220 / levels));
		let bars = "", rings = "";
		m.forEach((v, i) => {
			if (!Number.isFinite(v)) return;
			const px = x.at(i + 1), py = y.at(v);
			if (se[i] > 0) bars += `M${px.toFixed(1)} ${y.at(v - se[i]).toFixed(1)}V${y.at(v + se[i]).toFixed(1)}`;
			rings += `M${(px - r).toFixed(1)} ${py.toFixed(1)}a${r} ${r} 0 1 0 ${2 * r} 0a${r} ${r} 0 1 0 ${-2 * r} 0`;
		});
		s += `<path d="${bars}" stroke="${c.sampled}" stroke-width="1" fill="none"/><path d="${rings}" stroke="${c.sampled}" stroke-width="1.1" fill="none"/>`;
		key.push([width < 420 ? "sampled" : "sampled ± standard error", c.sampled, "ring"]);
	}
	if (hover?.level && hover.level <= levels) {
		const at = x.at(hover.level);
		s += `<line x1="${at}" x2="${at}" y1="${box.top}" y2="${box.bottom}" stroke="${c.mark}" stroke-width="1"/>`;
	}
	s += "</g>" + frame(c, box);
	let at = box.left;
	for (const [name, colour, dash] of key) {
		s += dash === "ring" ? `<circle cx="${at + 10}" cy="12" r="3" fill="none" stroke="${colour}" stroke-width="1.3"/>` : `<line x1="${at}" x2="${at + 20}" y1="12" y2="12" stroke="${colour}" stroke-width="2" stroke-dasharray="${dash}"/>`;
		s += `<text x="${at + 26}" y="16" font-size="11.5" fill="${c.ink}">${esc(name)}</text>`;
		at += 42 + 6.2 * name.length;
	}
	return { svg: svg(width, tall, s, c, { title }), box, x, y };
}

/** colourLimit is where the palette of a map ends: a few cells far beyond the others do not
 * decide. It is a round number. */
export function colourLimit(values) {
	const size = Array.from(values).filter(Number.isFinite).map(Math.abs).sort((a, b) => a - b);
	if (size.length === 0) return { limit: 1, step: 0.5, clipped: false };
	const extreme = size[size.length - 1], typical = size[size.length - 1 - Math.floor(size.length / 50)];
	let limit = typical > 0 && extreme > 1.5 * typical ? typical : extreme;
	if (limit < 1e-9) limit = 1;
	const step = niceStep(limit / 4);
	limit = step * Math.ceil(limit / step - 1e-9);
	return { limit, step, clipped: extreme > limit * (1 + 1e-9) };
}

/** mapFigure draws the increase of A's error over B's on logarithmic axes. */
export function mapFigure({ x: xs, y: ys, z, a, b, point, xTitle, yTitle, title }, c, width, tall) {
	const bar = 62, box = { left: 56, right: width - bar - 24, top: 8, bottom: tall - 42 };
	// The axes end half a cell beyond the outer values.
	const half = (v) => (v.length > 1 ? Math.sqrt(v[1] / v[0]) : 1.1);
	const x = new Scale(xs[0] / half(xs), xs[xs.length - 1] * half(xs), box.left, box.right, true);
	const y = new Scale(ys[0] / half(ys), ys[ys.length - 1] * half(ys), box.bottom, box.top, true);
	const { limit, step, clipped } = colourLimit(z);
	const columns = xs.length, rows = ys.length;
	const cells = kept(pictures, z, `${columns} ${limit}`, () => {
		const pixels = new Uint8ClampedArray(4 * columns * rows);
		for (let j = 0; j < rows; j++) {
			for (let i = 0; i < columns; i++) {
				const v = z[j * columns + i];
				pixels.set(Number.isFinite(v) ? [...diverging(v, limit), 255] : [0, 0, 0, 0], 4 * ((rows - 1 - j) * columns + i));
			}
		}
		return address(pixels, columns, rows);
	});
	let s = `<defs><pattern id="hatch" width="8" height="8" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><line x1="0" y1="0" x2="0" y2="8" stroke="${c.bound}" stroke-width="1" stroke-opacity=".6"/></pattern></defs>`;
	s += `<rect x="${box.left}" y="${box.top}" width="${box.right - box.left}" height="${box.bottom - box.top}" fill="url(#hatch)"/>`;
	s += image(cells, box);
	s += `<path d="${zeroLine(xs, ys, z, x, y)}" fill="none" stroke="#000" stroke-width="1.8"/>`;
	s += axes(c, box, x, y, { xTitle, yTitle, grid: false });
	s += frame(c, box);
	// The colour bar.
	const left = box.right + 12;
	const bary = new Scale(-limit, limit, box.bottom, box.top);
	for (let i = 0; i < 60; i++) {
		const v = limit * ((2 * (i + 0.5)) / 60 - 1);
		s += `<rect x="${left}" y="${(bary.at(v) - (box.bottom - box.top) / 120 - 0.3).toFixed(1)}" width="12" height="${((box.bottom - box.top) / 60 + 0.6).toFixed(1)}" fill="rgb(${diverging(v, limit)})"/>`;
	}
	s += `<rect x="${left}" y="${box.top}" width="12" height="${box.bottom - box.top}" fill="none" stroke="${c.frame}" stroke-width=".8"/>`;
	for (let v = -limit; v <= limit * 1.0001; v += step) {
		const text = `${clipped && Math.abs(v) > limit * 0.999 ? (v > 0 ? "≥" : "≤") : ""}${v > step / 2 ? "+" : ""}${short(Math.abs(v) < step / 2 ? 0 : v)}`;
		s += `<text x="${left + 16}" y="${bary.at(v) + 4}" font-size="10.5" fill="${c.muted}">${text}</text>`;
	}
	const middle = (box.top + box.bottom) / 2;
	s += `<text transform="translate(${width - 4} ${box.top}) rotate(-90)" text-anchor="end" font-size="10.5" fill="${c.muted}">${esc(b)} better</text>`;
	s += `<text transform="translate(${width - 4} ${box.bottom}) rotate(-90)" text-anchor="start" font-size="10.5" fill="${c.muted}">${esc(a)} better</text>`;
	s += `<text transform="translate(${width - 4} ${middle}) rotate(-90)" text-anchor="middle" font-size="10.5" fill="${c.ink}">%</text>`;
	if (point && point.x > 0 && point.y > 0) {
		const px = Math.min(box.right, Math.max(box.left, x.at(point.x))), py = Math.min(box.bottom, Math.max(box.top, y.at(point.y)));
		s += `<g class="present"><path d="M${px - 13} ${py}h26M${px} ${py - 13}v26" stroke="#fff" stroke-width="3.6"/><circle cx="${px}" cy="${py}" r="5.5" fill="none" stroke="#fff" stroke-width="4"/><path d="M${px - 13} ${py}h26M${px} ${py - 13}v26" stroke="#000" stroke-width="1.4"/><circle cx="${px}" cy="${py}" r="5.5" fill="none" stroke="#000" stroke-width="1.6"/></g>`;
	}
	return { svg: svg(width, tall, s, c, { title }), box, x, y };
}

/** zeroLine is the contour at zero, of the squares between the middles of the cells. */
function zeroLine(xs, ys, z, x, y) {
	let path = "";
	const columns = xs.length;
	const px = xs.map((v) => x.at(v)), py = ys.map((v) => y.at(v));
	for (let j = 0; j + 1 < ys.length; j++) {
		for (let i = 0; i + 1 < columns; i++) {
			const v = [z[j * columns + i], z[j * columns + i + 1], z[(j + 1) * columns + i + 1], z[(j + 1) * columns + i]];
			if (!v.every(Number.isFinite)) continue;
			const corner = [[i, j], [i + 1, j], [i + 1, j + 1], [i, j + 1]], cuts = [];
			for (let k = 0; k < 4; k++) {
				const l = (k + 1) % 4;
				if (v[k] > 0 === v[l] > 0) continue;
				const f = v[k] / (v[k] - v[l]);
				const [a, b] = [corner[k], corner[l]];
				cuts.push(`${(px[a[0]] + f * (px[b[0]] - px[a[0]])).toFixed(1)} ${(py[a[1]] + f * (py[b[1]] - py[a[1]])).toFixed(1)}`);
			}
			for (let k = 0; k + 1 < cuts.length; k += 2) path += `M${cuts[k]}L${cuts[k + 1]}`;
		}
	}
	return path;
}
