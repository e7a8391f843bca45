// The command lines that make the figures.

const quote = (text) => (/^[\w./:=,-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`);

/** fileOf is the name or the file of a code. */
export function fileOf(c) {
	if (c.flips.length === 0) return c.name;
	return `${c.name.replace(/^.*\//, "").replace(/\.[^.]*$/, "")}-edited.csv`;
}

export const isFile = (c) => c.flips.length > 0 || c.rows.length > 0;

function model(s) {
	if (s.model === "perceived") {
		const out = ["--label-noise", s.noise, "--misfit", s.misfit];
		return s.cutoff > 0 ? [...out, "--cutoff", s.cutoff] : out;
	}
	return ["--r", s.r, "--sigma", s.sigma];
}

function reading(s) {
	const out = [];
	if (s.outputs !== "auto") out.push("--outputs", s.outputs);
	if (s.temperature !== 1) out.push("--temperature", s.temperature);
	if (s.prior.kind !== "uniform") out.push("--prior", "prior.csv");
	return out;
}

const decoder = (s) => (s.decoder === "auto" ? [] : ["--decoder", s.decoder]);
const training = (s) => (s.model === "perceived" ? ["--training", s.training] : []);
const seed = (s) => (s.seed === 1 ? [] : ["--seed", s.seed]);
const levels = (s, ...codes) =>
	codes.some((c) => c.rows.length > 0 || c.flips.length > 0) ? [] : ["--levels", s.levels];

/** command is the command line of a figure. */
export function command(what, s, { samples = 0, tableSamples = 0, codes = [], rowDecoder = "gen", map = null } = {}) {
	const words = ["belsim"];
	switch (what) {
		case "code":
			words.push("codes", fileOf(s.code), ...levels(s, s.code));
			break;
		case "levels":
		case "errors":
			words.push(
				"verify",
				"--code",
				fileOf(s.code),
				...levels(s, s.code),
				...decoder(s),
				...model(s),
				...training(s),
				...reading(s),
				"--samples",
				samples,
				...seed(s),
			);
			break;
		case "table":
			words.push(
				"compare",
				...codes.map(fileOf),
				...levels(s, ...codes),
				...(rowDecoder === "gen" ? [] : ["--decoder", rowDecoder]),
				...model(s),
				...training(s),
				...reading(s),
				"--samples",
				tableSamples,
				...seed(s),
			);
			break;
		case "map": {
			words.push("heatmap", fileOf(s.code), fileOf(s.other), ...levels(s, s.code, s.other), ...decoder(s));
			if (s.model === "perceived")
				words.push("--label-noise", map.x, "--misfit", map.y, ...(s.cutoff > 0 ? ["--cutoff", s.cutoff] : []));
			else words.push("--r", map.x, "--sigma", map.y);
			words.push(
				...training(s),
				...reading(s),
				"--method",
				map.method,
				...(map.method === "mc" ? ["--samples", map.samples, ...seed(s)] : []),
			);
		}
	}
	words.push("-o", `${what}.png`);
	return words.map((w) => quote(String(w))).join(" ");
}
