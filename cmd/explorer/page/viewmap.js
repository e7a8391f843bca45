// The map of two codes: coarse at first, and finer at rest.
import { dropped } from "explorer/pool.js";

const samples = 100; // of each level, where neither bounds nor exact values are known

/** askMap asks for a map, pass by pass. */
export async function askMap(run, { scene, a, b, method: chosen, axes }) {
	const method = chosen === "auto" ? await bestMethod(run, scene, a, b) : chosen;
	const large = method === "mc" || scene.levels > 128;
	const sides = large ? [9, 17, 33] : [9, 17, 33, 65];
	for (const [pass, side] of sides.entries()) {
		const x = rangeText(axes.x, side),
			y = rangeText(axes.y, side);
		const question = { scene, a, b, method, x, y, samples };
		try {
			const answered = await askRows(
				run,
				question,
				side,
				pass === 0 ? 3 : 1,
				pass === 0 ? 4 : 5 + pass,
			);
			run.data.map = {
				x: values(axes.x, side),
				y: values(axes.y, side),
				...answered,
				side,
				method,
				axes: { x, y },
				a,
				b,
				samples,
				whole: pass === sides.length - 1,
			};
		} catch (err) {
			if (err === dropped) throw err;
			run.data.map = { problem: err.message };
			run.came("map");
			return;
		}
		run.came(pass === 0 ? "map" : "map refined");
		if (pass === 0) await run.rest();
	}
}

/** rangeText is a logarithmic axis as the engine and the command read it. */
const rangeText = ({ lo, hi }, count) => `${lo}:${hi}:${count}:log`;

/** values are those of a logarithmic axis. */
const values = ({ lo, hi }, count) => Array.from({ length: count }, (_, i) => lo * (hi / lo) ** (i / (count - 1)));

/** askRows asks for the rows of a map, some at a time: the increases z, the decoders, and how many cells are valid, and
 * of these better for B. */
async function askRows(run, question, side, step, rank) {
	const z = new Float64Array(side * side).fill(NaN),
		parts = [],
		counts = { valid: 0, better: 0 };
	for (let from = 0; from < side; from += step) {
		const to = Math.min(side, from + step);
		parts.push(
			run.ask("map", { ...question, from, to }, { rank }).then((answer) => {
				z.set(answer.increase, from * side);
				counts.valid += answer.valid;
				counts.better += answer.better_b;
				return [answer.decoder_a, answer.decoder_b];
			}),
		);
	}
	const [decoders] = await Promise.all(parts);
	return { z, decoders, ...counts };
}

/** bestMethod is how a map is computed: the best method that both codes have. */
async function bestMethod(run, scene, a, b) {
	const easy = { ...scene, r: 0.01, sigma: 1 }; // valid for every code
	const theories = [a, b].map((code) => run.ask("theory", { scene: easy, code, quick: true }, { rank: 3 }));
	try {
		const both = await Promise.all(theories);
		const have = (method) => both.every((t) => t.mean[method] != null);
		if (have("exact")) return "exact";
		if (have("bound") && both.every((t) => t.bound_kind === "the paper's")) return "bound"; // others say little of errors
	} catch (err) {
		if (err === dropped) throw err;
	}
	return "mc"; // a code that has neither; what is wrong with it, the map says
}
