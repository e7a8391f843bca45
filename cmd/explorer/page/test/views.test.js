import assert from "node:assert/strict";
import test from "node:test";
import { dropped } from "explorer/pool.js";
import { initial } from "explorer/state.js";
import { overall } from "explorer/viewcode.js";
import { Views } from "explorer/views.js";

/** FakePool keeps questions until they are answered or dropped. */
class FakePool {
	questions = [];
	ask(group, method, question) {
		return new Promise((resolve, reject) => this.questions.push({ group, method, question, resolve, reject }));
	}
	drop(group) {
		for (const q of this.questions.filter((q) => q.group === group)) q.reject(dropped);
		this.questions = this.questions.filter((q) => q.group !== group);
	}
	take(method) {
		const found = this.questions.filter((q) => q.method === method);
		this.questions = this.questions.filter((q) => q.method !== method);
		return found;
	}
}

const settle = () => new Promise((done) => setTimeout(done, 5));

function started(state = initial) {
	const pool = new FakePool(),
		stops = [];
	const views = new Views(
		pool,
		{ codes: [{ name: "johnson" }, { name: "unary" }] },
		{ changed() {}, stop: (r) => stops.push(r) },
	);
	views.compute(state);
	return { pool, views, stops };
}

test("a map that is dropped is no problem, at any time", async () => {
	for (const until of ["theory", "map"]) {
		const { pool, views } = started(initial);
		await settle();
		if (until === "map") for (const q of pool.take("theory")) q.resolve({ mean: { exact: 1 } });
		await settle();
		views.compute({ ...initial, r: 2, other: { name: "johnson", flips: [], rows: [] } });
		await settle();
		assert.equal(views.data.map, null);
		assert.equal(views.data.problem, "");
		const maps = pool.questions.filter((q) => q.group === "map");
		assert.ok(maps.length > 0 && maps.every((q) => q.method === "theory"), "the run before asks no more");
	}
});

test("a map is put together from its rows, the coarse one first", async () => {
	const { pool, views } = started({ ...initial, method: "bound" });
	await settle();
	const asked = pool.take("map").reverse(); // answers come in any order
	for (const { question: q, resolve } of asked) {
		assert.match(q.x, /^0\.05:32:9:log$/);
		const increase = Float64Array.from({ length: 9 * (q.to - q.from) }, (_, i) => 9 * q.from + i);
		resolve({ increase, decoder_a: "bel-j", decoder_b: "bel-u", valid: increase.length, better_b: q.from });
	}
	await settle();
	const { map } = views.data;
	assert.deepEqual(
		[...map.z],
		Array.from({ length: 81 }, (_, i) => i),
	);
	assert.deepEqual([map.valid, map.better], [81, 9]); // from 0, 3 and 6
	assert.deepEqual([map.side, map.x.length, map.decoders, map.whole], [9, 9, ["bel-j", "bel-u"], false]);
});

test("a map that cannot be computed says why", async () => {
	const { pool, views } = started({ ...initial, method: "bound" });
	await settle();
	for (const q of pool.take("map")) q.reject(new Error("no bound"));
	await settle();
	assert.deepEqual(views.data.map, { problem: "no bound" });
});

test("rows of the state before are old until their numbers come", async () => {
	const { pool, views } = started();
	await settle();
	for (const q of pool.take("row")) q.resolve({ mean: 1, later: false });
	await settle();
	views.compute({ ...initial, r: 1 });
	await settle();
	const [first] = pool.take("row");
	first.resolve({ mean: 2 });
	await settle();
	assert.deepEqual(
		[...views.data.rows.values()].map((r) => [r.mean, Boolean(r.old)]),
		[
			[2, false],
			[1, true],
		],
	);
});

test("an r beyond the largest valid one is stopped, and the figures stay", async () => {
	const { pool, views, stops } = started({ ...initial, r: 9 });
	views.data.errors = { e: [1], max_r: 3 };
	views.data.code = { levels: 2, bits: 1, matrix: [0, 1] };
	await settle();
	pool.take("code")[0].resolve({ levels: 2, bits: 1, matrix: [0, 1], prior: [0.5, 0.5], problem: "", unfit: "" });
	pool.take("errors")[0].resolve({ problem: "a probability is at most 1", max_r: 3.7588 });
	await settle();
	assert.deepEqual(stops, [3.7588]);
	assert.deepEqual(views.data.errors, { e: [1], max_r: 3 });
	assert.equal(views.data.problem, "");
});

test("means over the prior", () => {
	const {
		overall: mean,
		error,
		worst,
	} = overall({ mean: [5, 1, 2], stderr: [1, 0.1, NaN] }, [0, 0.5, 0.5]);
	assert.deepEqual([mean, error, worst], [1.5, 0.05, 3]);
	const { error: one } = overall({ mean: [0, 1], stderr: [0.3, 0.1] }, [0.5, 0.5]);
	const { error: none } = overall({ mean: [0, 0], stderr: [0.3, 0.1] }, [0.5, 0.5]);
	assert.deepEqual([one, none], [0.05, 0.15]); // where no sample erred, the label that counts most
});
