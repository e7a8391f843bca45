// The state of the page, with those before and after it, which undo and redo show.

export const initial = Object.freeze({
	levels: 64,
	code: { name: "johnson", flips: [], rows: [] },
	other: { name: "unary", flips: [], rows: [] }, // code B of the map
	decoder: "auto",
	outputs: "auto",
	r: 0.6,
	sigma: 1.5,
	prior: { kind: "uniform", counts: [] },
	temperature: 1,
	seed: 1,
	bits: [], // chosen bits, from 1; none: two that the page takes
	method: "auto", // of the map
});

export const same = (a, b) => JSON.stringify(a) === JSON.stringify(b);

/** Store holds the present state, and those before and after it. */
export class Store {
	constructor(state) {
		this.past = [];
		this.present = state;
		this.future = [];
		this.listeners = [];
	}

	/** listen calls f whenever the state has changed. */
	listen(f) {
		this.listeners.push(f);
	}

	/** set changes the state. Within a move, such as a drag, the states between are not kept: undo
	 * goes back to its beginning. */
	set(change, { within = false } = {}) {
		const next = { ...this.present, ...change };
		if (same(next, this.present)) return;
		if (!within) {
			this.past.push(this.present);
			if (this.past.length > 500) this.past.shift();
		}
		this.future = [];
		this.become(next);
	}

	undo() {
		if (this.past.length === 0) return;
		this.future.push(this.present);
		this.become(this.past.pop());
	}

	redo() {
		if (this.future.length === 0) return;
		this.past.push(this.present);
		this.become(this.future.pop());
	}

	become(state) {
		this.present = state;
		for (const f of this.listeners) f();
	}
}
