// What each figure is given: the state, the answers and where the pointer is. Without a pointer,
// as in files, figures show no choice.
import { bitsFigure } from "explorer/bits.js";
import { short } from "explorer/figure.js";
import { levelsFigure } from "explorer/levels.js";
import { mapFigure } from "explorer/map.js";
import { matrixFigure } from "explorer/matrix.js";
import { chosenBits } from "explorer/moves.js";

export const titleOf = (code) => `${code.name}, ${code.levels} levels, ${code.bits} bits`;

/** modelText names the error model and its parameters. */
export const modelText = (s) => `r = ${short(s.r)}, σ = ${short(s.sigma)}`;

/** twins are the levels that the engine says have the same code word. */
export function twins({ matrix, levels, bits }) {
	const seen = new Map();
	for (let i = 0; i < levels; i++) {
		const row = matrix.subarray(i * bits, (i + 1) * bits).join("");
		if (seen.has(row)) return [seen.get(row) + 1, i + 1];
		seen.set(row, i);
	}
	return [];
}

const tall = (width) => Math.round(Math.min(460, Math.max(300, width * 0.72)));

/** figures are the figures of the page, each a function of what there is to show ({state, data}),
 * the colours, the width, and the pointer ({hover, cursor}) or null. */
export const figures = {
	matrix({ state, data: { code } }, c, width, pointer) {
		const title = `Code matrix of ${titleOf(code)}`;
		const live = pointer
			? { ...pointer, chosen: chosenBits(state, code), twins: code.problem ? twins(code) : [] }
			: { chosen: [] };
		return matrixFigure({ ...code, title, ...live }, c, width, tall(width) + 40);
	},
	levels({ data: { code, theory, samples, answers } }, c, width, pointer) {
		const title = `Expected error by level of ${titleOf(code)}`;
		const { bound, exact } = theory ?? {},
			{ mean, stderr } = samples ?? {};
		const drawing = { levels: code.levels, bound, exact, mean, stderr, answers, hover: pointer?.hover, title };
		return levelsFigure(drawing, c, width, tall(width) + 40);
	},
	bits({ state, data: { code, errors } }, c, width, pointer) {
		const chosen = chosenBits(state, code),
			under = pointer?.hover?.bit;
		const extra = under && under <= code.bits && !chosen.includes(under) && chosen.length > 0;
		const shown = extra ? [...chosen.slice(0, -1), under] : chosen;
		const title = `Error probabilities of bits ${shown.join(", ")} of ${titleOf(code)}`;
		const drawing = { ...code, e: errors?.e, shown, chosen, hover: pointer?.hover, title };
		return bitsFigure(drawing, c, width, tall(width));
	},
	map({ state: s, data: { map: m } }, c, width) {
		const drawing = {
			...m,
			a: m.a.name,
			b: m.b.name,
			point: { x: s.r, y: s.sigma },
			xTitle: "weight r",
			yTitle: "width σ (levels)",
			title: `Which error is smaller, that of ${m.a.name} or of ${m.b.name}, in percent of the larger`,
		};
		return mapFigure(drawing, c, width, tall(width));
	},
};
