// The command lines that make the figures.
import { leastSamples, rowDecoder, tableSamples } from "explorer/scene.js";

const quote = (text) => (/^[\w./:=,-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`);

/** fileOf is the name or the file of a code. */
export function fileOf(c) {
	if (c.flips.length === 0) return c.name;
	return `${c.name.replace(/^.*\//, "").replace(/\.[^.]*$/, "")}-edited.csv`;
}

export const isFile = (c) => c.flips.length > 0 || c.rows.length > 0;

function reading(s) {
	const out = [];
	if (s.outputs !== "auto") out.push("--outputs", s.outputs);
	if (s.temperature !== 1) out.push("--temperature", s.temperature);
	if (s.prior.kind !== "uniform") out.push("--prior", "prior.csv");
	return out;
}

const decoder = (s) => (s.decoder === "auto" ? [] : ["--decoder", s.decoder]);
const seed = (s) => (s.seed === 1 ? [] : ["--seed", s.seed]);
const levels = (s, ...codes) => (codes.some(isFile) ? [] : ["--levels", s.levels]);
const subject = (s) => ["--r", s.r, "--sigma", s.sigma, ...reading(s)];

// The words of the command line of each view, from the state and the answers.
const lines = {
	code: (s) => ["codes", fileOf(s.code), ...levels(s, s.code)],
	levels(s, { samples }) {
		const of = ["--code", fileOf(s.code), ...levels(s, s.code), ...decoder(s), ...subject(s)];
		return ["verify", ...of, "--samples", samples?.count ?? leastSamples, ...seed(s)];
	},
	table(s, { rows }) {
		const codes = [...rows.values()].filter((r) => !r.problem).map((r) => r.of),
			of = [...codes.map(fileOf), ...levels(s, ...codes), ...decoder({ decoder: rowDecoder(s) })];
		return ["compare", ...of, ...subject(s), "--samples", tableSamples(s.levels), ...seed(s)];
	},
	map(s, { map: { axes, method, samples } }) {
		const of = [fileOf(s.code), fileOf(s.other), ...levels(s, s.code, s.other), ...decoder(s)],
			drawn = method === "mc" ? ["--samples", samples, ...seed(s)] : [];
		return ["heatmap", ...of, ...subject({ ...s, r: axes.x, sigma: axes.y }), "--method", method, ...drawn];
	},
};

/** command is the command line of a view. */
export function command(what, state, data) {
	const words = ["belsim", ...lines[what](state, data), "-o", `${what}.png`];
	return words.map((w) => quote(String(w))).join(" ");
}
