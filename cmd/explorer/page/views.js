// What is computed: the questions that a state asks, in which order, and where their answers go.
import { isFile } from "explorer/command.js";
import { dropped } from "explorer/pool.js";
import { axesOf, rowDecoder, scene } from "explorer/scene.js";
import { askCode } from "explorer/viewcode.js";
import { askMap } from "explorer/viewmap.js";
import { askTable } from "explorer/viewtable.js";

// What is asked of each group, from a move until it has come: what is shown is of the state before till then.
const asked = { code: ["code", "errors", "theory", "samples"], table: ["table"], map: ["map"] };
const pause = 150; // milliseconds without a move before what takes longer is begun

/** Run is the computation of a group of views for one state. When a move starts the group anew,
 * all that the run asks ends with dropped. */
class Run {
	constructor(views, group) {
		Object.assign(this, { views, group, data: views.data });
	}

	get over() {
		return this.views.runs[this.group] !== this;
	}

	/** ask asks the engine. An error of a question whose promise nobody awaits yet is no accident. */
	ask(method, question, options) {
		const answer = this.over ? Promise.reject(dropped) : this.views.pool.ask(this.group, method, question, options);
		answer.catch(() => {});
		return answer;
	}

	/** rest waits until nothing has moved for a while, so that long questions are not begun while somebody drags: they
	 * take time from the next move, even if that move does not change this group. */
	async rest() {
		this.views.resting++;
		for (let left = pause; left > 0 && !this.over; left = this.views.moved + pause - performance.now())
			await new Promise((done) => setTimeout(done, left));
		this.views.resting--;
		if (this.over) throw dropped;
	}

	/** end drops the questions that are left. */
	end() {
		this.views.pool.drop(this.group);
	}

	/** came tells that a view has its answer. */
	came(view) {
		this.views.came(view);
	}

	/** fail shows why an answer cannot come. */
	fail(err) {
		if (err === dropped) return;
		this.data.problem = err.message;
		this.views.changed("problem");
	}
}

export class Views {
	/** data holds the answers. changed(view) is called when an answer has come, and stop(r) when the
	 * state's r is larger than the largest valid one. */
	constructor(pool, about, { changed, stop }) {
		Object.assign(this, { pool, about, changed, stop });
		this.data = {
			code: null,
			errors: null,
			theory: null,
			samples: null,
			answers: null,
			rows: new Map(),
			map: null,
			problem: "",
			old: new Set(), // the views that are of a state before
		};
		this.keys = {};
		this.runs = {};
		this.resting = 0;
		this.timings = {};
		this.moved = 0;
	}

	/** compute asks for all that a state needs and is not there yet. */
	compute(s) {
		this.moved = performance.now();
		this.timings = {};
		const sc = scene(s),
			{ code, other, method } = s;
		this.present = { scene: sc, code };
		this.start("code", this.present, (run) => askCode(run, this.present));

		const { decoder, ...others } = sc,
			reader = rowDecoder(s),
			own = isFile(code) ? code : null;
		const named = this.about.codes.map((c) => ({ name: c.name, flips: [], rows: [] }));
		const codes = own ? [own, ...named] : named;
		this.start("table", { ...others, reader, own }, (run) => askTable(run, sc, codes, reader));

		const { r, sigma, ...plane } = sc,
			axes = axesOf(s);
		const question = { scene: sc, a: code, b: other, method, axes };
		this.start("map", { ...question, scene: plane }, (run) => askMap(run, question));
	}

	/** start begins a group of views, unless it has this key already. */
	start(group, key, ask) {
		const text = JSON.stringify(key);
		if (this.keys[group] === text) return;
		this.keys[group] = text;
		for (const view of asked[group]) this.data.old.add(view);
		const run = (this.runs[group] = new Run(this, group));
		this.pool.drop(group);
		ask(run).catch((err) => run.fail(err));
	}

	/** came notes how long after the move a view had its answer. */
	came(view) {
		this.timings[view] ??= performance.now() - this.moved;
		this.data.old.delete(view);
		this.changed(view);
	}
}
