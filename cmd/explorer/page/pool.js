// The Web Workers that compute. Questions wait in a queue; a group of questions is dropped as a
// whole when a move makes it useless. A worker that is busy with one is told to stop, and replaced
// where it does not hear. What is asked later is stopped, too, where a move asks for a worker, and is asked again
// from its beginning. The first worker is kept for urgent questions, so that what a move asks first
// need not wait for it.

/** dropped is the reason with which a question ends that nobody asks any more. */
export const dropped = new Error("dropped");

const patience = 40; // milliseconds that a worker may go on with a dropped question
const urgentRank = 2; // the largest rank that the first worker takes
const firstRank = 3; // the largest rank of what a move asks first

/** read reads an answer as the engine writes it: a line of JSON says what is in it, and then come the bytes of its
 * arrays. */
function read(answer) {
	let at = new Uint8Array(answer).indexOf(10);
	const { json, parts } = JSON.parse(new TextDecoder().decode(answer.slice(0, at++)));
	const out = { ...json };
	for (const { name, numbers, length } of parts) {
		const part = answer.slice(at, (at += length));
		out[name] = numbers ? new Float64Array(part) : new Uint8Array(part);
	}
	return out;
}

export class Pool {
	constructor(module, script, size) {
		this.module = module;
		this.url = URL.createObjectURL(new Blob([script], { type: "text/javascript" }));
		this.queue = [];
		this.ids = 0;
		this.replaced = 0;
		this.workers = Array.from({ length: size }, () => this.start());
		this.spare = this.start();
	}

	start() {
		const w = { worker: new Worker(this.url), ready: false, task: null };
		w.worker.onmessage = ({ data }) => this.hear(w, data);
		w.worker.onerror = (e) => {
			e.preventDefault?.();
			this.fail(w, e.message);
		};
		w.worker.postMessage({ module: this.module });
		return w;
	}

	hear(w, data) {
		if (data.ready) {
			w.ready = true;
			this.pump();
			return;
		}
		const task = w.task;
		w.task = null;
		if (task && task.id === data.id && !task.gone) {
			const again = task.stopped && data.error != null;
			task.stopped = false;
			if (again) this.queue.push(task);
			else if (data.error != null) task.reject(new Error(data.error));
			else task.resolve({ ...read(data.answer), took: performance.now() - task.began });
		}
		this.pump();
	}

	fail(w, message) {
		w.task?.reject(new Error(message || "the computation ended unexpectedly"));
		this.replace(w);
	}

	/** ask returns a promise of the answer. Smaller ranks come first. */
	ask(group, method, question, { rank = 5, files = null } = {}) {
		return new Promise((resolve, reject) => {
			this.queue.push({
				id: ++this.ids,
				group,
				method,
				question: JSON.stringify(question),
				rank,
				files,
				resolve,
				reject,
			});
			queueMicrotask(() => this.pump());
		});
	}

	/** drop ends all questions of a group. */
	drop(group) {
		const gone = this.queue.filter((t) => t.group === group);
		this.queue = this.queue.filter((t) => t.group !== group);
		for (const w of this.workers) {
			if (w.task?.group === group && !w.task.gone) {
				w.task.gone = true;
				w.worker.postMessage({ stop: true });
				gone.push(w.task);
				const task = w.task;
				setTimeout(() => {
					if (w.task === task && this.queue.length > 0) this.replace(w);
				}, patience);
			}
		}
		for (const t of gone) t.reject(dropped);
	}

	replace(w) {
		const i = this.workers.indexOf(w);
		w.worker.terminate();
		w.task = null;
		if (i < 0) return;
		this.replaced++;
		this.workers[i] = this.spare;
		this.spare = this.start();
		this.pump();
	}

	/** takes reports whether a worker may answer a question. */
	takes(i, t) {
		return i > 0 || t.rank <= urgentRank;
	}

	/** giveWay stops what is not asked first where a question waits that is, and no worker is about to be
	 * free. What is stopped is asked again, from its beginning. */
	giveWay() {
		const free = this.workers.map((w) => w.task?.stopped || w.task?.gone);
		for (const t of this.queue) {
			if (t.rank > firstRank) continue;
			let i = this.workers.findIndex((_, i) => free[i] && this.takes(i, t));
			if (i < 0) {
				const later = ({ task }) => task?.rank > firstRank && !task.stopped && !task.gone;
				i = this.workers.findIndex((w, i) => later(w) && this.takes(i, t));
				if (i < 0) continue;
				this.workers[i].task.stopped = true;
				this.workers[i].worker.postMessage({ stop: true });
			}
			free[i] = false;
		}
	}

	pump() {
		this.workers.forEach((w, i) => {
			if (!w.ready || w.task || this.queue.length === 0) return;
			let best = -1;
			this.queue.forEach((t, j) => {
				if (!this.takes(i, t)) return;
				if (best < 0 || t.rank < this.queue[best].rank) best = j;
			});
			if (best < 0) return;
			const [task] = this.queue.splice(best, 1);
			w.task = task;
			task.began = performance.now();
			w.worker.postMessage({ id: task.id, method: task.method, question: task.question, files: task.files });
		});
		this.giveWay();
	}

	get busy() {
		return this.queue.length > 0 || this.workers.some((w) => w.task && !w.task.gone);
	}
}
