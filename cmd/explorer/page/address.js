// The state in the address of the page: a link is a figure.
import { initial } from "explorer/state.js";

const digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/** pack writes rows of 0 and 1 as text, six bits a letter. */
export function pack(rows) {
	const bits = rows.join("");
	let text = "";
	for (let i = 0; i < bits.length; i += 6) text += digits[parseInt(bits.slice(i, i + 6).padEnd(6, "0"), 2)];
	return text;
}

/** unpack reads what pack wrote: levels rows of some bits. */
export function unpack(text, levels, bits) {
	let all = "";
	for (const letter of text) {
		const value = digits.indexOf(letter);
		if (value < 0) return null;
		all += value.toString(2).padStart(6, "0");
	}
	if (!(bits > 0) || all.length < levels * bits) return null;
	return Array.from({ length: levels }, (_, i) => all.slice(i * bits, (i + 1) * bits));
}

const longest = 16000; // letters of a matrix in a link

function codeText(c) {
	let text = c.name;
	if (c.rows.length > 0) {
		const packed = pack(c.rows);
		if (packed.length > longest) return null;
		text += `~${c.rows.length}x${c.rows[0].length}~${packed}`;
	}
	return c.flips.length > 0 ? `${text}!${c.flips.map((f) => f.join(".")).join("!")}` : text;
}

const numbers = ["levels", "r", "sigma", "temperature", "seed"];
const texts = ["decoder", "outputs", "method"];

/** toFragment writes a state as the fragment of an address, without what is usual. whole is false
 * where a matrix is too large for a link. */
export function toFragment(s) {
	const q = new URLSearchParams();
	let whole = true;
	for (const name of ["code", "other"]) {
		const text = codeText(s[name]);
		if (text === null) whole = false;
		else if (text !== codeText(initial[name])) q.set(name, text);
	}
	for (const name of numbers) if (s[name] !== initial[name]) q.set(name, String(s[name]));
	for (const name of texts) if (s[name] !== initial[name]) q.set(name, s[name]);
	if (s.prior.kind === "counts") {
		if (s.prior.counts.length > 1024) whole = false;
		else q.set("prior", s.prior.counts.map((c) => Number(c.toPrecision(9))).join("_"));
	} else if (s.prior.kind !== "uniform") q.set("prior", s.prior.kind);
	if (s.bits.length > 0) q.set("bits", s.bits.join("_"));
	return { fragment: q.toString().replaceAll("%7E", "~").replaceAll("%21", "!"), whole };
}

/** number reads a number as JavaScript writes it; NaN for anything else. */
const number = (text) => (/^\d+(\.\d+)?(e[+-]?\d+)?$/.test(text) ? Number(text) : NaN);

// Readers return the value of a text, or null where the text is none that they want.
const range = (want, holds) => ({ want, read: (text) => (holds(number(text)) ? number(text) : null) });
const whole = (lo, hi, want) => range(want, (v) => Number.isInteger(v) && v >= lo && v <= hi);
const positive = range("a number above 0", (v) => v > 0 && v < Infinity);
const oneOf = (names) => ({
	want: `one of ${names.join(", ")}`,
	read: (text) => (names.includes(text) ? text : null),
});

const priors = ["uniform", "middle", "low", "high"];

/** prior is a name, or the counts of at most levels levels, of which some are above 0. */
const prior = {
	want: `one of ${priors.join(", ")}, or a count from 0 on for each level, with _ between`,
	read(text, { levels }) {
		if (priors.includes(text)) return { kind: text, counts: [] };
		const counts = text.split("_").map(number);
		const good = counts.length <= levels && counts.every((v) => v >= 0 && v < 1e300) && counts.some((v) => v > 0);
		return good ? { kind: "counts", counts } : null;
	},
};

const bits = {
	want: "numbers of bits from 1 on, with _ between",
	read(text) {
		const list = text.split("_").map(number);
		return list.every((k) => Number.isInteger(k) && k > 0) ? list : null;
	},
};

/** codeOf is a named code or a matrix with as many rows as levels, and bits of it that are changed. */
const codeOf = (names) => ({
	want: "a code that belsim knows, or a whole matrix of as many levels",
	read(text, { levels }) {
		const [head, ...changed] = text.split("!"),
			[name, size, packed] = head.split("~");
		const flips = changed.map((f) => f.split(".").map(number)),
			code = { name, flips, rows: [] };
		let wide = Infinity;
		if (size !== undefined) {
			const [high, columns] = size.split("x").map(number);
			code.rows = (high === levels && Number.isInteger(columns) && unpack(packed ?? "", high, columns)) || [];
			wide = columns;
		} else if (!names.includes(name)) return null;
		if (size !== undefined && code.rows.length === 0) return null;
		const within = (v, most) => Number.isInteger(v) && v >= 1 && v <= most;
		return flips.every((f) => f.length === 2 && within(f[0], levels) && within(f[1], wide)) ? code : null;
	},
});

/** readersOf are the readers of an address, by name, the number of levels first. */
const readersOf = (about) => ({
	levels: whole(2, about.max_levels, `a whole number from 2 to ${about.max_levels}`),
	code: codeOf(about.codes.map((c) => c.name)),
	other: codeOf(about.codes.map((c) => c.name)),
	decoder: oneOf(["auto", ...about.decoders]),
	outputs: oneOf(["auto", "bits", "logits"]),
	r: positive,
	sigma: positive,
	prior,
	temperature: positive,
	seed: whole(0, Number.MAX_SAFE_INTEGER, "a whole number from 0 on"),
	bits,
	method: oneOf(["auto", "exact", "bound", "mc"]),
});

/** clip is the beginning of a text, on one line and in one direction. */
const clip = (text) =>
	(text.length > 40 ? `${text.slice(0, 40)}…` : text).replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, "\ufffd");

/** fromFragment reads a state. Bad values are left out, and problem says which, in one line; it is ""
 * where there are none. about is what the engine knows. */
export function fromFragment(text, about) {
	const state = structuredClone(initial),
		readers = readersOf(about),
		problems = [];
	const given = new URLSearchParams(text.replace(/^#/, ""));
	for (const name of new Set(given.keys())) {
		if (!Object.hasOwn(readers, name)) problems.push(`The link has “${clip(name)}”, which this page does not know.`);
	}
	for (const [name, { want, read }] of Object.entries(readers)) {
		if (!given.has(name)) continue;
		const value = read(given.get(name), state);
		if (value !== null) state[name] = value;
		else problems.push(`The link's ${name} is “${clip(given.get(name))}”: want ${want}. The default is used.`);
	}
	return { state, problem: problems.join(" ") };
}
