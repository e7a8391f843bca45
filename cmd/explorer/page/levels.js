// The figure of the error of every level. It takes the data, the colours and a size, and returns
// an SVG with the places of its parts, for the pointer.
import { Scale, axes, frame, line, rect, short, stroke, svg, tag, wholeTicks, words } from "explorer/figure.js";

const highest = (list) => Math.max(0, ...list.filter(Number.isFinite));

/** rings are the sampled errors, with their standard errors as bars. */
function rings(c, mean, stderr, x, y) {
	const r = Math.max(1.2, Math.min(2.9, 220 / mean.length));
	let bars = "",
		circles = "";
	mean.forEach((v, i) => {
		if (!Number.isFinite(v)) return;
		const px = x.at(i + 1),
			py = y.at(v).toFixed(1),
			se = stderr[i];
		if (se > 0) bars += `M${px.toFixed(1)} ${y.at(v - se).toFixed(1)}V${y.at(v + se).toFixed(1)}`;
		circles += `M${(px - r).toFixed(1)} ${py}a${r} ${r} 0 1 0 ${2 * r} 0a${r} ${r} 0 1 0 ${-2 * r} 0`;
	});
	return tag("path", { d: bars, ...stroke(c.sampled, 1) }) + tag("path", { d: circles, ...stroke(c.sampled, 1.1) });
}

/** legendPlaces are the places [x, row] of the names of curves, which begin a new row at the width. */
export function legendPlaces(names, left, width) {
	let x = left,
		row = 0;
	return names.map((name) => {
		const wide = 26 + 6.2 * name.length;
		if (x > left && x + wide > width) [x, row] = [left, row + 1];
		const place = [x, row];
		x += wide + 16;
		return place;
	});
}

/** legend writes the names of the curves at their places. */
function legend(c, entries, places) {
	const ring = (x, y, colour) => tag("circle", { cx: x + 10, cy: y, r: 3, ...stroke(colour, 1.3) });
	const line = (x, y, colour, dash) =>
		tag("path", { d: `M${x} ${y}h20`, ...stroke(colour, 2, { "stroke-dasharray": dash }) });
	const parts = entries.map(({ name, colour, dash }, i) => {
		const [x, row] = places[i],
			y = 12 + 16 * row;
		const sample = dash === "ring" ? ring(x, y, colour) : line(x, y, colour, dash);
		return sample + words(x + 26, y + 4, name, { size: 11.5, fill: c.ink });
	});
	return parts.join("");
}

/** rare is the smallest probability of an answer that is drawn. */
const rare = 1e-8;

/** answerBars are the probabilities of the answers at a level, a row of the confusion matrix: bars of the height of
 * their logarithm, from rare to 1. */
function answerBars(c, row, x, box) {
	const wide = 0.8 * (x.at(2) - x.at(1)),
		tall = box.bottom - box.top;
	let bars = "";
	row.forEach((p, i) => {
		const high = tall * (1 - Math.log(p) / Math.log(rare));
		const left = (x.at(i + 1) - wide / 2).toFixed(1);
		if (high > 0) bars += `M${left} ${box.bottom}v${(-high).toFixed(1)}h${wide.toFixed(1)}V${box.bottom}z`;
	});
	const text = "bars: probability of each answer, logarithmic from 1e-8 to 1";
	return (
		tag("path", { d: bars, fill: c.mark, "fill-opacity": 0.25 }) +
		words(box.left + 6, box.top + 12, text, { size: 10.5, fill: c.ink })
	);
}

/** levelsFigure draws the error of every level: bound, exact value, and samples with their
 * standard errors. A bound far above the rest is clipped. */
export function levelsFigure({ levels, bound, exact, mean, stderr, answers, hover, title }, c, width, tall) {
	const [b, e, m, se] = [bound, exact, mean, stderr].map((list) => Array.from(list ?? []));
	const inner = Math.max(highest(e), highest(m.map((v, i) => v + (se[i] || 0))));
	const all = Math.max(inner, highest(b)),
		clipped = inner > 0 && all > 3 * inner;
	const entries = [];
	if (b.some(Number.isFinite)) {
		const name = `bound${clipped ? `, up to ${short(highest(b))}` : ""}`;
		entries.push({ name, colour: c.bound, dash: "6 3" });
	}
	if (e.some(Number.isFinite)) entries.push({ name: "exact", colour: c.exact, dash: "" });
	if (m.length > 0) {
		const name = width < 420 ? "sampled" : "sampled ± standard error";
		entries.push({ name, colour: c.sampled, dash: "ring" });
	}
	const left = width < 420 ? 10 : 56;
	const places = legendPlaces(
		entries.map(({ name }) => name),
		left,
		width,
	);
	const rows = 1 + Math.max(0, ...places.map(([, row]) => row));
	const box = { left: 56, right: width - 10, top: 10 + 16 * rows, bottom: tall - 40 };
	const top = (clipped ? 1.6 * inner : all) * 1.05 || 1;
	const x = new Scale(0.5, levels + 0.5, box.left, box.right),
		y = new Scale(0, top, box.bottom, box.top);
	const ticks = { xTicks: wholeTicks(levels, 6), yTicks: y.ticks(5) };
	let s = axes(c, box, x, y, { ...ticks, xTitle: "level n", yTitle: "expected |error| (levels)" });
	const xs = Array.from({ length: levels }, (_, i) => i + 1),
		dashed = { "stroke-dasharray": "6 3" };
	let curves = tag("path", { d: line(xs, b, x, y, box.top - 20), ...stroke(c.bound, 1.6, dashed) });
	curves += tag("path", { d: line(xs, e, x, y), ...stroke(c.exact, 2) });
	if (m.length > 0) curves += rings(c, m, se, x, y);
	if (hover?.level && hover.level <= levels) {
		const at = x.at(hover.level);
		curves += tag("path", { d: `M${at} ${box.top}V${box.bottom}`, ...stroke(c.mark, 1) });
		if (answers?.length > 0)
			curves += answerBars(c, answers.subarray((hover.level - 1) * levels, hover.level * levels), x, box);
	}
	s += tag("clipPath", { id: "inside" }, rect(box, {})) + tag("g", { "clip-path": "url(#inside)" }, curves);
	s += frame(c, box) + legend(c, entries, places);
	return { svg: svg(width, tall, s, { title }), box, x, y };
}
