// What is computed: the questions that a state asks, in which order, and where their answers go.
import { dropped, ignoreDropped } from "explorer/pool.js";

const firstSamples = 100, mostSamples = 65536;
const firstRow = 20; // samples of each level that a row of the table begins with

/** tableSamples is the number of samples of each level in the table at last. */
export const tableSamples = (levels) => (levels > 128 ? 1000 : 4096);
const pause = 150; // milliseconds without a move before what takes longer is begun
const slice = 40; // milliseconds that one question about samples is to take

/** scene is the part of a state that the engine knows. */
export function scene(s) {
	const { levels, decoder, outputs, model, r, sigma, noise, misfit, cutoff, training, prior, temperature, seed } = s;
	return { levels, decoder, outputs, model, r, sigma, noise, misfit, cutoff, training, prior, temperature, seed };
}

/** axesOf are the axes of the map of a state. */
export function axesOf(s) {
	if (s.model === "perceived") return { x: { lo: 0.2, hi: Math.max(2, Number((s.levels / 10).toPrecision(2))) }, y: { lo: 0.05, hi: 1 } };
	return { x: { lo: 0.05, hi: Math.max(2, Number((s.levels / 2).toPrecision(2))) }, y: { lo: 0.2, hi: Math.max(2, Number((s.levels / 3).toPrecision(2))) } };
}

export class Views {
	/** data holds the answers. changed(view) is called when an answer has come. */
	constructor(pool, about, changed) {
		Object.assign(this, { pool, about, changed });
		this.data = { code: null, errors: null, theory: null, samples: null, rows: new Map(), map: null, problem: "" };
		this.keys = {};
		this.runs = {};
		this.resting = 0;
		this.timings = {};
		this.moved = 0;
		this.rate = 3e6; // samples a second, measured
	}

	/** compute asks for all that a state needs and is not there yet. */
	compute(s) {
		this.moved = performance.now();
		this.timings = {};
		const sc = scene(s);
		// Of a model that is not in use, nothing depends.
		if (s.model === "mixture") Object.assign(sc, { noise: 1, misfit: 0.25, cutoff: 0, training: "bits" });
		else Object.assign(sc, { r: 1, sigma: 1 });
		const { r, sigma, noise, misfit, ...rest } = sc;
		const present = { scene: sc, code: s.code };
		this.present = present;
		this.start("code", present, () => this.main(present));
		const { decoder, ...others } = sc;
		const rowDecoder = this.rowDecoder(s);
		this.start("table", { ...others, rowDecoder, own: s.code.flips.length || s.code.rows.length ? s.code : 0 }, () => this.table(sc, s.code, rowDecoder));
		const axes = axesOf(s);
		const plane = s.model === "perceived" ? { ...rest } : rest;
		this.start("map", { plane, a: s.code, b: s.other, method: s.method, axes }, () => this.map(sc, s, axes));
	}

	start(group, key, ask) {
		const text = JSON.stringify(key);
		if (this.keys[group] === text) return;
		this.keys[group] = text;
		this.runs[group] = (this.runs[group] ?? 0) + 1;
		this.pool.drop(group);
		ask().catch(ignoreDropped).catch((err) => { this.data.problem = err.message; this.changed("problem"); });
	}

	/** rest waits for a pause, so that long questions are not begun while somebody drags: to end them
	 * takes time from the next move. It ends as a dropped question does where the group is asked anew. */
	async rest(group) {
		const run = this.runs[group];
		this.resting++;
		await new Promise((done) => setTimeout(done, pause));
		this.resting--;
		if (this.runs[group] !== run) throw dropped;
	}

	/** came notes how long after the move a view had its answer. */
	came(view) {
		this.timings[view] ??= performance.now() - this.moved;
		this.changed(view);
	}

	ask(group, method, question, options) { return this.pool.ask(group, method, question, options); }

	/** pin keeps the questions about a code on one worker where the model takes long to make. */
	pin(sc, number) { return sc.model === "perceived" ? number : null; }

	async main(present) {
		const d = this.data, sc = present.scene, pin = this.pin(sc, 0);
		d.problem = "";
		const code = this.ask("code", "code", present, { rank: 0 }).then((a) => {
			if (d.code?.levels !== a.levels || d.code?.bits !== a.bits) d.errors = d.theory = d.samples = null; // of another size
			else if (same(d.code.matrix, a.matrix)) a.matrix = d.code.matrix; // figures keep what they drew of it
			d.code = a;
			this.came("code");
			return a;
		});
		const errors = this.ask("code", "errors", present, { rank: 0, pin }).then((a) => { d.errors = a; this.came("errors"); return a; });
		errors.catch(() => {});
		const a = await code;
		if (a.problem || a.unfit) {
			d.errors = d.theory = d.samples = null;
			d.problem = a.problem || a.unfit;
			this.pool.drop("code");
			this.came("theory");
			return;
		}
		const theory = this.ask("code", "theory", { ...present, quick: true }, { rank: 1, pin });
		const n = a.levels;
		const first = this.samples(present, n, a.prior, firstSamples, pin, 2);
		theory.catch(() => {});
		first.catch(() => {});
		const e = await errors;
		if (d.errors !== e) { // it came before the code, which has cleared it
			d.errors = e;
			this.came("errors");
		}
		if (e.problem) {
			d.theory = d.samples = null;
			d.problem = e.problem;
			this.pool.drop("code");
			this.came("theory");
			return;
		}
		d.theory = await theory;
		this.came("theory");
		d.samples = await first;
		this.came("samples");
		await this.rest("code");
		if (d.theory.later) {
			this.ask("code", "theory", present, { rank: 4, pin }).then((t) => { d.theory = t; this.came("exact"); }).catch(ignoreDropped);
		}
		for (let count = 1000; ; count = Math.min(mostSamples, 4 * count)) {
			d.samples = await this.samples(present, n, a.prior, count, pin, 7);
			this.came("refined");
			if (count === mostSamples) break;
		}
	}

	/** samples draws some samples of each level, in parts that are short enough to be dropped. */
	async samples(present, levels, prior, count, pin, rank) {
		const rows = Math.max(1, Math.min(levels, Math.ceil((this.rate * slice) / 1000 / count)));
		const parts = [];
		for (let from = 0; from < levels; from += rows) {
			const to = Math.min(levels, from + rows);
			parts.push(this.ask("code", "samples", { ...present, samples: count, from, to }, { rank, pin }).then((a) => {
				if (a.took > 2) this.rate = 0.7 * this.rate + 0.3 * ((1000 * count * (to - from)) / a.took);
				return { from, ...a };
			}));
		}
		parts.forEach((p) => p.catch(() => {}));
		const out = { count, mean: new Float64Array(levels), stderr: new Float64Array(levels), square: new Float64Array(levels) };
		for (const part of parts) {
			const a = await part;
			for (const name of ["mean", "stderr", "square"]) out[name].set(a[name], a.from);
		}
		Object.assign(out, overall(out, prior));
		return out;
	}

	/** rowDecoder is the one decoder of all rows of the table, as compare has it. */
	rowDecoder(s) { return s.decoder === "auto" || s.decoder.startsWith("bel") ? "gen" : s.decoder; }

	codesOf(own) {
		const codes = this.about.codes.map((c) => ({ name: c.name, flips: [], rows: [] }));
		if (own && (own.flips.length > 0 || own.rows.length > 0)) codes.unshift(own);
		return codes;
	}

	async table(sc, own, decoder) {
		const d = this.data, codes = this.codesOf(own);
		const keys = codes.map((c) => JSON.stringify(c));
		for (const key of d.rows.keys()) if (!keys.includes(key)) d.rows.delete(key);
		const row = async (i, samples, quick, rank) => {
			const a = await this.ask("table", "row", { scene: sc, code: codes[i], decoder, samples, quick }, { rank, pin: this.pin(sc, i + 1) });
			d.rows.set(keys[i], { ...a, of: codes[i], asked: samples });
			return a;
		};
		for (const r of d.rows.values()) r.old = true;
		const all = codes.map((_, i) => row(i, firstRow, true, 3).then((a) => { this.changed("table row"); return a; }));
		all.forEach((p) => p.catch(() => {}));
		const first = await Promise.all(all);
		this.came("table");
		await this.rest("table");
		const more = codes.map(async (_, i) => {
			if (first[i].problem) return;
			if (first[i].later) { await row(i, firstSamples, false, 6); this.changed("table row"); }
			for (let n = 1000; n <= tableSamples(sc.levels); n *= 4.096) {
				await row(i, n, false, n > 1000 ? 9 : 8);
				this.changed("table row");
			}
		});
		more.forEach((p) => p.catch(() => {}));
		await Promise.all(more);
		this.came("table refined");
	}

	async map(sc, s, axes) {
		const d = this.data;
		const slow = s.model === "perceived";
		const method = await this.method(sc, s);
		const sides = slow ? [5, 9] : method === "mc" ? [9, 17, 33] : s.levels > 128 ? [9, 17, 33] : [9, 17, 33, 65];
		for (const [pass, side] of sides.entries()) {
			const x = { ...axes.x, count: side }, y = { ...axes.y, count: side };
			// The page shows how far it is; rows come in an order that spreads over the map.
			const step = Math.max(1, pass === 0 && !slow ? 3 : 1);
			const z = new Float64Array(side * side).fill(NaN), known = new Uint8Array(side);
			let answer = null, asked = [];
			for (let from = 0; from < side; from += step) {
				const to = Math.min(side, from + step);
				asked.push(this.ask("map", "map", { scene: sc, a: s.code, b: s.other, method, x, y, from, to, samples: 100 }, { rank: pass === 0 ? 4 : 5 + pass }).then((a) => {
					answer = a;
					z.set(a.increase, from * side);
					known.fill(1, from, to);
				}));
			}
			asked.forEach((p) => p.catch(() => {}));
			try {
				await Promise.all(asked);
			} catch (err) {
				ignoreDropped(err);
				d.map = { problem: err.message };
				this.came("map");
				return;
			}
			const values = (a) => Array.from({ length: side }, (_, i) => a.lo * (a.hi / a.lo) ** (i / (side - 1)));
			d.map = { x: values(x), y: values(y), z, side, method, axes: { x, y }, a: s.code, b: s.other, decoders: [answer.decoder_a, answer.decoder_b], model: s.model, samples: 100, whole: pass === sides.length - 1 };
			this.came(pass === 0 ? "map" : "map refined");
			if (pass === 0) await this.rest("map");
		}
	}

	/** method is how the map is computed: the best method that both codes have. */
	async method(sc, s) {
		if (s.method !== "auto") return s.method;
		const easy = { ...sc, r: 0.01, sigma: 1 }; // valid for every code
		const of = async (c) => this.ask("map", "theory", { scene: easy, code: c, quick: true }, { rank: 3 }).catch((err) => { ignoreDropped(err); return {}; });
		const both = await Promise.all([of(s.code), of(s.other)]);
		for (const method of ["exact", "bound"]) if (both.every((t) => t[`${method}_mean`] != null)) return method;
		return "mc";
	}
}

/** same reports whether two arrays have the same numbers. */
const same = (a, b) => a.length === b.length && a.every((v, i) => v === b[i]);

/** overall are the means over the prior. */
function overall({ mean, stderr, square }, prior) {
	let m = 0, v = 0, q = 0, worst = 0;
	for (let i = 0; i < mean.length; i++) {
		if (!(prior[i] > 0)) continue;
		m += prior[i] * mean[i];
		v += (prior[i] * (stderr[i] || 0)) ** 2;
		q += prior[i] * square[i];
		if (!(mean[i] <= mean[worst]) || !(prior[worst] > 0)) worst = i;
	}
	return { overall: m, error: Math.sqrt(v), rms: Math.sqrt(q), worst: worst + 1 };
}
