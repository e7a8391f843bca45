// The state of the page: what a link holds, what undo goes back to.

export const initial = Object.freeze({
	levels: 64,
	code: { name: "johnson", flips: [], rows: [] },
	other: { name: "unary", flips: [], rows: [] }, // code B of the map
	decoder: "auto",
	outputs: "auto",
	model: "mixture",
	r: 0.6,
	sigma: 1.5,
	noise: 1.5,
	misfit: 0.25,
	cutoff: 0,
	training: "bits",
	prior: { kind: "uniform", counts: [] },
	temperature: 1,
	seed: 1,
	bits: [], // chosen bits, from 1; none: two that the page takes
	method: "auto", // of the map
});

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

function readCode(text) {
	const [head, ...flips] = text.split("!");
	const [name, size, packed] = head.split("~");
	const c = { name, flips: flips.map((f) => f.split(".").map(Number)).filter((f) => f.length === 2 && f.every(Number.isInteger)), rows: [] };
	if (size) {
		const [levels, bits] = size.split("x").map(Number);
		c.rows = unpack(packed ?? "", levels, bits);
		if (!c.rows) throw new Error(`the link's code ${name} is incomplete`);
	}
	return c;
}

const numbers = ["levels", "r", "sigma", "noise", "misfit", "cutoff", "temperature", "seed"];
const texts = ["decoder", "outputs", "model", "training", "method"];

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

/** fromFragment reads a state. The error says what is wrong with the link. */
export function fromFragment(text) {
	const s = structuredClone(initial);
	const q = new URLSearchParams(text.replace(/^#/, ""));
	for (const [name, value] of q) {
		if (numbers.includes(name)) {
			const v = Number(value);
			if (!Number.isFinite(v) || value === "") throw new Error(`the link's ${name} is “${value}”: want a number`);
			s[name] = v;
		} else if (texts.includes(name)) s[name] = value;
		else if (name === "code" || name === "other") s[name] = readCode(value);
		else if (name === "prior") {
			if (/^[\d._e+-]+$/.test(value)) s.prior = { kind: "counts", counts: value.split("_").map(Number) };
			else s.prior = { kind: value, counts: [] };
		} else if (name === "bits") s.bits = value.split("_").map(Number).filter((k) => Number.isInteger(k) && k > 0);
		else throw new Error(`the link has “${name}”, which this page does not know`);
	}
	if (!Number.isInteger(s.levels)) throw new Error(`the link's levels are “${s.levels}”: want a whole number`);
	return s;
}

/** History holds the states before and after the present one. */
export class History {
	constructor(state) {
		this.past = [];
		this.present = state;
		this.future = [];
	}

	/** set makes a state the present one. Within a move, such as a drag, the states between are
	 * not kept. */
	set(state, { within = false } = {}) {
		if (!within) {
			this.past.push(this.present);
			if (this.past.length > 500) this.past.shift();
		}
		this.future = [];
		this.present = state;
	}

	undo() {
		if (this.past.length === 0) return false;
		this.future.push(this.present);
		this.present = this.past.pop();
		return true;
	}

	redo() {
		if (this.future.length === 0) return false;
		this.past.push(this.present);
		this.present = this.future.pop();
		return true;
	}
}
