// Pieces of figures: scales, axes, colours. Figures are SVG, drawn as text. Their colours are
// those of belsim's other figures; in the dark theme they are lighter.

export const light = {
	ink: "#111111",
	muted: "#5c6370",
	grid: "#e1e1e1",
	frame: "#111111",
	paper: "#ffffff",
	one: "#141414",
	zero: "#ffffff",
	bound: "#828282",
	exact: "#005493",
	sampled: "#d55e00",
	mark: "#d55e00",
	glow: "#d55e0026",
};
export const dark = {
	ink: "#e8eaed",
	muted: "#9aa3af",
	grid: "#343a43",
	frame: "#8b93a0",
	paper: "#171a1f",
	one: "#e4e7eb",
	zero: "#22262d",
	bound: "#9a9a9a",
	exact: "#62b2f0",
	sampled: "#ff8f3f",
	mark: "#ff8f3f",
	glow: "#ff8f3f33",
};

/** palette is that of package plots: its two ends are equally deep. */
const palette = [
	[58, 76, 192],
	[98, 130, 234],
	[141, 176, 254],
	[184, 208, 249],
	[221, 221, 221],
	[245, 197, 173],
	[245, 154, 123],
	[222, 96, 76],
	[180, 4, 38],
];

/** diverging is the colour of v on a palette from −limit to limit: red where positive, blue where
 * negative. */
export function diverging(v, limit) {
	const at = ((within(v / limit, -1, 1) + 1) / 2) * (palette.length - 1);
	const i = Math.min(Math.floor(at), palette.length - 2);
	return palette[i].map((a, j) => Math.round(a + (at - i) * (palette[i + 1][j] - a)));
}

export const within = (v, lo, hi) => Math.min(hi, Math.max(lo, v));

export const esc = (text) =>
	String(text).replace(/[&<>"]/g, (c) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" })[c]);

/** short writes a number with four digits. */
export function short(v) {
	if (v == null || !Number.isFinite(v)) return "–";
	if (v !== 0 && (Math.abs(v) >= 1e6 || Math.abs(v) < 1e-4)) return v.toExponential(2).replace("e+", "e");
	return String(Number(v.toPrecision(4)));
}

/** sampled writes the mean error of so many samples with its standard error, which is 0 where the mean is certain.
 * small makes the standard error small. */
export function sampled(mean, stderr, samples, small = (text) => text) {
	if (stderr === 0) return short(mean);
	if (mean === 0) return `none in ${samples}`;
	return `${short(mean)} ${small(`± ${error(stderr)}`)}`;
}

/** error writes a standard error. */
export const error = (stderr) => (Number.isFinite(stderr) ? String(Number(stderr.toPrecision(2))) : "–");

/** niceStep is a round number that is not smaller than step. */
export function niceStep(step) {
	if (!(step > 0)) return 1;
	const power = 10 ** Math.floor(Math.log10(step));
	for (const f of [1, 2, 5, 10]) if (f * power >= step * (1 - 1e-9)) return f * power;
	return 10 * power;
}

/** Scale maps values from lo to hi to places from a to b. */
export class Scale {
	constructor(lo, hi, a, b, log = false) {
		Object.assign(this, { lo, hi, a, b, log });
	}
	at(v) {
		const { lo, hi } = this,
			f = this.log ? Math.log(v / lo) / Math.log(hi / lo) : (v - lo) / (hi - lo);
		return this.a + f * (this.b - this.a);
	}
	of(place) {
		const f = (place - this.a) / (this.b - this.a);
		return this.log ? this.lo * (this.hi / this.lo) ** f : this.lo + f * (this.hi - this.lo);
	}
	ticks(count = 5) {
		const out = [];
		if (!this.log) {
			const step = niceStep((this.hi - this.lo) / count);
			for (let i = Math.ceil(this.lo / step - 1e-9); i * step <= this.hi + 1e-9 * step; i++)
				out.push(Number((i * step).toPrecision(12)));
			return out;
		}
		const decades = Math.log10(this.hi / this.lo);
		const steps = decades > 2.5 ? [1] : decades > 1.2 ? [1, 3] : [1, 2, 5];
		for (let p = Math.floor(Math.log10(this.lo)); p <= Math.log10(this.hi); p++) {
			for (const s of steps) {
				const v = Number((s * 10 ** p).toPrecision(6));
				if (v >= this.lo * (1 - 1e-9) && v <= this.hi * (1 + 1e-9)) out.push(v);
			}
		}
		return out;
	}
}

/** wholeTicks marks 1 and round numbers up to n. */
export function wholeTicks(n, count = 5) {
	const step = Math.max(1, niceStep(n / count));
	const out = [1];
	for (let v = step; v <= n; v += step) if (v > 1 && v - 1 >= step / 2) out.push(v);
	return out;
}

/** tag is an SVG element. */
export function tag(name, attributes, content = "") {
	const list = Object.entries(attributes).map(([key, value]) => ` ${key}="${value}"`);
	return `<${name}${list.join("")}>${content}</${name}>`;
}

/** rect is a rectangle at a box. */
export function rect({ left, top, right, bottom }, style) {
	return tag("rect", { x: left, y: top, width: right - left, height: bottom - top, ...style });
}

/** words is a text. turned is written upwards. */
export function words(x, y, content, { size = 11, anchor = "start", turned = false, ...style }) {
	const place = turned ? { transform: `translate(${x} ${y}) rotate(-90)` } : { x, y };
	return tag("text", { ...place, "text-anchor": anchor, "font-size": size, ...style }, esc(content));
}

/** stroke is the style of a line. */
export const stroke = (colour, width, style) => ({ fill: "none", stroke: colour, "stroke-width": width, ...style });

/** axes draws the ticks and titles around a box. */
export function axes(c, box, x, y, options = {}) {
	const { xTicks = x.ticks(), yTicks = y.ticks(), xTitle = "", yTitle = "", grid = true } = options;
	const { left, right, top, bottom } = box;
	const rule = (d) => (grid ? tag("path", { d, ...stroke(c.grid, 0.7) }) : "");
	let s = "";
	for (const v of xTicks) {
		const at = x.at(v).toFixed(1);
		s += rule(`M${at} ${top}V${bottom}`) + words(at, bottom + 15, short(v), { anchor: "middle", fill: c.muted });
	}
	for (const v of yTicks) {
		const at = y.at(v).toFixed(1),
			below = (+at + 3.8).toFixed(1);
		s += rule(`M${left} ${at}H${right}`) + words(left - 6, below, short(v), { anchor: "end", fill: c.muted });
	}
	const title = { size: 12, anchor: "middle", fill: c.ink };
	s += words((left + right) / 2, bottom + 32, xTitle, title);
	return s + words(left - 42, (top + bottom) / 2, yTitle, { ...title, turned: true });
}

export const frame = (c, box) => rect(box, stroke(c.frame, 0.8));

/** line is a path through points, broken where a number does not exist. */
export function line(xs, ys, x, y, top) {
	let path = "",
		pen = false;
	for (let i = 0; i < ys.length; i++) {
		if (!Number.isFinite(ys[i])) {
			pen = false;
			continue;
		}
		path += `${pen ? "L" : "M"}${x.at(xs[i]).toFixed(1)} ${Math.max(top ?? -1e9, y.at(ys[i])).toFixed(1)}`;
		pen = true;
	}
	return path;
}

/** svg wraps a drawing. */
export function svg(width, height, content, { title = "" } = {}) {
	const size = { width, height, viewBox: `0 0 ${width} ${height}` };
	const font = { "font-family": "system-ui, 'Helvetica Neue', Arial, sans-serif" };
	const said = { role: "img", "aria-label": esc(title) };
	return tag("svg", { xmlns: "http://www.w3.org/2000/svg", ...size, ...font, ...said }, content);
}

/** address is a picture of RGBA pixels, one a cell, as the address of an image. */
export function address(pixels, columns, rows) {
	const canvas = document.createElement("canvas");
	canvas.width = columns;
	canvas.height = rows;
	canvas.getContext("2d").putImageData(new ImageData(pixels, columns, rows), 0, 0);
	return canvas.toDataURL();
}

/** image is an SVG image with an address that fills a box, without smoothing. */
export function image(href, { left, top, right, bottom }) {
	const place = { x: left, y: top, width: right - left, height: bottom - top };
	return tag("image", { ...place, preserveAspectRatio: "none", style: "image-rendering:pixelated", href });
}

export const rgb = (text) => [1, 3, 5].map((i) => parseInt(text.slice(i, i + 2), 16));
