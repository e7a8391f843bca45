// The map of two codes. It takes the data, the colours and a size, and returns an SVG with the
// places of its parts, for the pointer.
import { Scale, address, axes, diverging, frame, image, niceStep } from "explorer/figure.js";
import { rect, short, stroke, svg, tag, within, words } from "explorer/figure.js";
import { kept } from "explorer/kept.js";

/** difference is by how many per cent the smaller of two errors is below the larger one, from the increase from B to A
 * in percent: below 0 where A's is smaller. */
export const difference = (increase) => (increase > 0 ? increase / (1 + increase / 100) : increase);

/** increase is the increase from B to A of a difference, 100·(A − B)/B: what the numbers at the colour bar are. */
export const increase = (difference) => (difference > 0 ? difference / (1 - difference / 100) : difference);

/** colourScale is where the colour bar of a map begins and ends, and where the palette does: a few cells far
 * beyond the others do not decide. */
export function colourScale(values) {
	const all = Array.from(values).filter(Number.isFinite),
		size = all.map(Math.abs).sort((a, b) => a - b);
	if (size.length === 0) return { lo: -1, hi: 1, limit: 1 };
	const extreme = size[size.length - 1],
		typical = size[size.length - 1 - Math.floor(size.length / 50)];
	const limit = Math.max(1, extreme > 1.5 * typical ? typical : extreme);
	const lo = Math.max(Math.min(...all), -limit),
		hi = Math.min(Math.max(...all), limit);
	return hi - lo < 1 ? { lo: lo - 1, hi: hi + 1, limit } : { lo, hi, limit };
}

/** picture is the cells as an image; those without a number are clear. */
function picture(z, columns, rows, limit) {
	const pixels = new Uint8ClampedArray(4 * columns * rows);
	for (let j = 0; j < rows; j++) {
		for (let i = 0; i < columns; i++) {
			const v = z[j * columns + i];
			if (Number.isFinite(v)) pixels.set([...diverging(v, limit), 255], 4 * ((rows - 1 - j) * columns + i));
		}
	}
	return address(pixels, columns, rows);
}

/** hatch fills a box with thin lines, for cells without a number. */
function hatch(c, box) {
	const rule = tag("path", { d: "M0 0V8", ...stroke(c.bound, 1, { "stroke-opacity": 0.6 }) });
	const turned = { patternUnits: "userSpaceOnUse", patternTransform: "rotate(45)" };
	const pattern = tag("pattern", { id: "hatch", width: 8, height: 8, ...turned }, rule);
	return tag("defs", {}, pattern) + rect(box, { fill: "url(#hatch)" });
}

/** colourBar explains the colours: above zero B is better, below A. */
function colourBar(c, { left, top, bottom }, { lo, hi, limit }, a, b, width) {
	const y = new Scale(lo, hi, bottom, top),
		parts = 60,
		high = (bottom - top) / parts;
	let s = "";
	for (let i = 0; i < parts; i++) {
		const v = lo + ((hi - lo) * (i + 0.5)) / parts,
			from = y.at(v) - high / 2 - 0.3;
		s += rect(
			{ left, right: left + 12, top: from, bottom: from + high + 0.6 },
			{ fill: `rgb(${diverging(v, limit)})` },
		);
	}
	s += rect({ left, right: left + 12, top, bottom }, stroke(c.frame, 0.8));
	const [from, to] = [lo, hi].map(increase),
		step = niceStep((to - from) / 8);
	for (let i = Math.ceil(from / step), last = Infinity; i * step <= to; i++) {
		const at = y.at(difference(i * step));
		if (last - at < 13) continue; // large increases lie close together
		last = at;
		const text = i === 0 ? "equal" : `${i > 0 ? "+" : ""}${short(i * step)} %`;
		s += words(left + 16, at + 4, text, { size: 10.5, fill: c.muted });
	}
	const side = (at, text, anchor) => words(width - 4, at, text, { size: 10.5, anchor, fill: c.muted, turned: true });
	return s + side(top, `how much larger ${a}’s error is than ${b}’s`, "end");
}

/** cross marks the present point. */
function cross(x, y) {
	const circle = { cx: x, cy: y, r: 5.5 },
		d = `M${x - 13} ${y}h26M${x} ${y - 13}v26`;
	const drawn = (colour, thin, thick) =>
		tag("path", { d, ...stroke(colour, thin) }) + tag("circle", { ...circle, ...stroke(colour, thick) });
	return drawn("#fff", 3.6, 4) + drawn("#000", 1.4, 1.6);
}

/** gridText says of how many valid cells B's error is smaller, with the grid, on which this share depends. */
export function gridText({ valid, better, side }) {
	const grid = `${side} × ${side} cells (both axes log)`;
	return valid === 0 ? grid : `${grid}, B better in ${((100 * better) / valid).toFixed(1)} % of the valid ones`;
}

/** mapFigure draws which of two errors is smaller, from the increase z of A's error over B's in percent, on logarithmic
 * axes. What does not move is kept: still is all but the cross. */
export function mapFigure({ x: xs, y: ys, z, a, b, point, xTitle, yTitle, title }, c, width, tall) {
	const box = { left: 56, right: width - 86, top: 8, bottom: tall - 42 };
	// The axes end half a cell beyond the outer values.
	const half = (v) => (v.length > 1 ? Math.sqrt(v[1] / v[0]) : 1.1);
	const x = new Scale(xs[0] / half(xs), xs[xs.length - 1] * half(xs), box.left, box.right, true);
	const y = new Scale(ys[0] / half(ys), ys[ys.length - 1] * half(ys), box.bottom, box.top, true);
	const key = [a, b, xTitle, yTitle, width, tall, c.paper].join(),
		last = kept(z, "last", () => ({})); // of one width: a window has many
	const draw = () => {
		const differences = Array.from(z, difference),
			colours = colourScale(differences);
		const cells = picture(differences, xs.length, ys.length, colours.limit);
		let s = hatch(c, box) + image(cells, box);
		s += tag("path", { d: zeroLine(xs, ys, differences, x, y, box), ...stroke("#000", 1.8) });
		s += axes(c, box, x, y, { xTitle, yTitle, grid: false }) + frame(c, box);
		if (z.some(Number.isNaN)) {
			const mark = { left: box.right + 12, right: box.right + 24, top: box.bottom + 14, bottom: box.bottom + 26 };
			s += rect(mark, { fill: "url(#hatch)" }) + rect(mark, stroke(c.frame, 0.8));
			s += words(mark.right + 4, mark.bottom - 2, "e > 1", { size: 10.5, fill: c.muted });
		}
		return s + colourBar(c, { ...box, left: box.right + 12 }, colours, a, b, width);
	};
	if (last.key !== key) Object.assign(last, { key, still: draw() });
	let moving = "";
	if (point && point.x > 0 && point.y > 0) {
		moving = cross(within(x.at(point.x), box.left, box.right), within(y.at(point.y), box.top, box.bottom));
	}
	moving = tag("g", { class: "present" }, moving);
	return { svg: svg(width, tall, last.still + moving, { title }), still: last.still, moving, box, x, y };
}

/** beyond is a value half a cell beyond the outer one of a row, whose neighbour is next. */
const beyond = (outer, next) => (Number.isFinite(next) ? outer + (outer - next) / 2 : outer);

const around = [-1, 0, 1].flatMap((x) => [-1, 0, 1].map((y) => [x, y]));

/** zeroLine is the contour at zero, of the squares between the middles of the cells, and between the outer middles and
 * the frame. Beside squares without a number, those in which the line runs along their edge are left out, as in package
 * plots: the steps of the edge would cut it into hooks and fragments. */
export function zeroLine(xs, ys, z, x, y, box) {
	const columns = xs.length,
		rows = ys.length;
	const px = [box.left, ...xs.map((v) => x.at(v)), box.right],
		py = [box.bottom, ...ys.map((v) => y.at(v)), box.top];
	const along = (n, k, at) =>
		k < 0 ? beyond(at(0), at(Math.min(1, n - 1))) : k < n ? at(k) : beyond(at(n - 1), at(Math.max(0, n - 2)));
	const value = ([i, j]) => along(rows, j, (l) => along(columns, i, (k) => z[l * columns + k]));
	const corners = (i, j) => [
		[i, j],
		[i + 1, j],
		[i + 1, j + 1],
		[i, j + 1],
	];
	const there = (i, j) => i >= -1 && j >= -1 && i < columns && j < rows;
	const blank = ([i, j]) => there(i, j) && !corners(i, j).map(value).every(Number.isFinite);
	let path = "";
	for (let j = -1; j < rows; j++) {
		for (let i = -1; i < columns; i++) {
			const corner = corners(i, j),
				v = corner.map(value),
				cuts = [];
			if (blank([i, j])) continue;
			const near = around.filter(([x, y]) => blank([i + x, j + y]));
			const [toX, toY] = [0, 1].map((k) => near.reduce((sum, at) => sum + at[k], 0)); // where those without a number are
			const rise = [v[1] + v[2] - v[0] - v[3], v[2] + v[3] - v[0] - v[1]];
			if (Math.abs(rise[0] * toX + rise[1] * toY) > Math.abs(rise[0] * toY - rise[1] * toX)) continue;
			for (let k = 0; k < 4; k++) {
				const l = (k + 1) % 4;
				if (v[k] > 0 === v[l] > 0) continue;
				const f = v[k] / (v[k] - v[l]);
				const [a, b] = [corner[k], corner[l]];
				const cut = (p, at, to) => (p[at + 1] + f * (p[to + 1] - p[at + 1])).toFixed(1);
				cuts.push(`${cut(px, a[0], b[0])} ${cut(py, a[1], b[1])}`);
			}
			for (let k = 0; k + 1 < cuts.length; k += 2) path += `M${cuts[k]}L${cuts[k + 1]}`;
		}
	}
	return path;
}
