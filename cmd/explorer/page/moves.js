// What a person does to the state: each function returns the change of a state, and changes nothing.
import { transitions } from "explorer/matrix.js";

/** named is a code that belsim knows, as it is. */
export const named = (name) => ({ name, flips: [], rows: [] });

const uniform = { kind: "uniform", counts: [] };

/** fitting leaves the choice of the decoder to belsim where the chosen one is for one family. */
const fitting = (s) => (s.decoder.startsWith("bel") ? { decoder: "auto" } : {});

/** priorFor drops a histogram that has more levels than a code. */
function priorFor({ prior }, levels) {
	return prior.kind === "counts" && prior.counts.length > levels ? { prior: uniform } : {};
}

/** chooseCode shows a code. */
export const chooseCode = (s, code) => ({ code, bits: [], ...fitting(s) });

/** flip changes a bit of the code. */
export function flip(s, level, bit) {
	const isIt = (f) => f[0] === level && f[1] === bit;
	const { code } = s;
	const flips = code.flips.some(isIt) ? code.flips.filter((f) => !isIt(f)) : [...code.flips, [level, bit]];
	return { code: { ...code, flips }, ...fitting(s) };
}

/** setLevels changes the number of levels of named codes. Bits that were changed by hand go. */
export function setLevels(s, levels) {
	const plain = (c) => named(c.rows.length > 0 ? "unary" : c.name);
	return { levels, code: plain(s.code), other: plain(s.other), bits: [], ...priorFor(s, levels) };
}

/** openCode shows the code of a file. */
export function openCode(s, { levels, code }) {
	const other = s.other.rows.length > 0 && s.other.rows.length !== levels ? named("unary") : s.other;
	return {
		levels,
		bits: [],
		code: { ...named(code.name), rows: code.rows },
		other: s.levels === levels || other.rows.length > 0 ? other : named(other.name),
		...fitting(s),
		...priorFor(s, levels),
	};
}

/** heads have the outputs of a code. */
const heads = { softmax: "onehot", "hl-gauss": "onehot" };

/**
 * openFit takes the model of a fit, as the file of the fit has it. shown is false where the fit is for a code that
 * must be given.
 */
export function openFit(s, fit, codes) {
	const name = heads[fit.code] ?? fit.code;
	const known = codes.some((c) => c.name === name);
	const mine = s.code.name === name && s.levels === fit.levels;
	const prior = { kind: "counts", counts: fit.prior };
	const change = { r: fit.r, sigma: fit.sigma, prior, temperature: fit.temperature, method: "auto" };
	if (!mine) {
		const code = named(known ? name : "johnson");
		Object.assign(change, { levels: fit.levels, code, other: named("unary"), bits: [], ...fitting(s) });
	}
	return { change, shown: known || mine };
}

/** chosenBits are the bits whose error probabilities are drawn: the chosen ones, or two that change. */
export function chosenBits(s, { matrix, levels, bits }) {
	const chosen = s.bits.filter((k) => k <= bits);
	if (chosen.length > 0) return chosen;
	const changing = transitions(matrix, levels, bits).flatMap((t, k) => (t.length > 0 ? [k + 1] : []));
	return changing.length > 1 ? [changing[0], changing[Math.floor(changing.length / 2)]] : changing;
}

/** chooseBit adds a bit to the chosen ones, or takes it away. There are at most four. */
export function chooseBit(s, code, bit) {
	const chosen = chosenBits(s, code);
	const next = chosen.includes(bit) ? chosen.filter((k) => k !== bit) : [...chosen, bit].slice(-4);
	return { bits: next.sort((a, b) => a - b) };
}

/** floored is a number with three digits, rounded down. */
export function floored(v) {
	const unit = 10 ** (Math.floor(Math.log10(v)) - 2);
	return round(Math.floor(v / unit) * unit);
}

export const round = (v) => Number(v.toPrecision(3));

/** moveTo moves to a point of the map. */
export const moveTo = (x, y) => ({ r: round(x), sigma: round(y) });
