import assert from "node:assert/strict";
import { afterEach, beforeEach, test } from "node:test";
import { Pool, dropped } from "explorer/pool.js";

/** bytesOf are the bytes of an answer, as the engine writes it. */
function bytesOf(json, arrays = {}) {
	const parts = Object.entries(arrays).map(([name, a]) => ({
		name,
		numbers: a instanceof Float64Array,
		length: a.byteLength,
	}));
	const bytes = Object.values(arrays).flatMap((a) => [...new Uint8Array(a.buffer)]);
	return Uint8Array.from([...new TextEncoder().encode(JSON.stringify({ json, parts }) + "\n"), ...bytes]).buffer;
}

/** FakeWorker is ready at once, and answers when it is told. */
class FakeWorker {
	static all = [];
	constructor() {
		FakeWorker.all.push(this);
		this.asked = [];
	}
	postMessage(m) {
		if (m.module) queueMicrotask(() => this.onmessage({ data: { ready: true } }));
		else this.asked.push(m);
	}
	answer(fields = {}) {
		const { id } = this.asked.at(-1);
		this.onmessage({ data: { id, answer: bytesOf({ id }), ...fields } });
	}
	terminate() {
		this.ended = true;
	}
}

const settle = () => new Promise((done) => setTimeout(done, 5));
const methods = (w) => w.asked.map((m) => m.method);
let pool;

/** start makes a pool of so many workers; of two, one takes what is not urgent. */
async function start(size) {
	FakeWorker.all = [];
	pool = new Pool({}, "", size);
	await settle();
}

beforeEach(async () => {
	Object.assign(globalThis, { Worker: FakeWorker });
	URL.createObjectURL = () => "blob:";
	await start(3);
});
afterEach(() => delete globalThis.Worker);

test("smaller ranks come first, and the first worker takes urgent questions only", async () => {
	const [first, second, third] = FakeWorker.all;
	const answers = [9, 8, 1, 7].map((rank) => pool.ask("g", `rank ${rank}`, {}, { rank }));
	await settle();
	assert.deepEqual([first, second, third].map(methods), [["rank 1"], ["rank 7"], ["rank 8"]]);
	assert.ok(pool.busy);
	for (const w of [first, second, third, third.asked.length < 2 ? second : third]) w.answer();
	assert.equal((await Promise.all(answers)).length, 4);
	assert.ok(!pool.busy);
});

test("an answer has its arrays", async () => {
	const arrays = { mean: Float64Array.of(1.5, NaN), matrix: Uint8Array.of(10, 1, 10) };
	const asked = pool.ask("g", "m", {}, { rank: 0 });
	await settle();
	FakeWorker.all[0].answer({ answer: bytesOf({ name: "é" }, arrays) });
	const { took, ...answer } = await asked;
	assert.deepEqual(answer, { name: "é", ...arrays });
});

test("a dropped group ends, waiting or begun, and its late answers are not heard", async () => {
	const list = [1, 2, 3, 4].map(() => pool.ask("old", "m", {}, { rank: 5 }));
	const kept = pool.ask("kept", "m", {}, { rank: 9 });
	await settle();
	pool.drop("old");
	for (const p of list) await assert.rejects(p, (err) => err === dropped);
	FakeWorker.all[1].answer();
	await settle();
	FakeWorker.all[1].answer();
	assert.ok((await kept).id > 4);
});

test("a worker that goes on with a dropped question is replaced", async () => {
	await start(2);
	pool.ask("old", "long", {}).catch(() => {});
	pool.ask("new", "next", {});
	await settle();
	const busy = FakeWorker.all[1];
	pool.drop("old");
	await new Promise((done) => setTimeout(done, 60));
	assert.ok(busy.ended);
	assert.equal(pool.replaced, 1);
	assert.deepEqual(methods(FakeWorker.all[2]), ["next"]);
});

test("what a move asks first stops what is asked later, which is asked again", async () => {
	await start(2);
	const later = pool.ask("map", "later", {}, { rank: 5 });
	await settle();
	const row = pool.ask("table", "row", {}, { rank: 3 });
	await settle();
	const w = FakeWorker.all[1];
	assert.deepEqual(
		w.asked.map((m) => m.method ?? m.stop),
		["later", true],
	);
	const answer = (i, fields) => w.onmessage({ data: { id: w.asked[i].id, answer: bytesOf({}), ...fields } });
	answer(0, { error: "context canceled" });
	assert.equal(w.asked[2].method, "row");
	answer(2);
	await row;
	assert.equal(w.asked[3].method, "later");
	answer(3, { answer: bytesOf({ n: 1 }) });
	assert.equal((await later).n, 1);
	assert.equal(pool.replaced, 0);
});

test("each question of a move stops one that is asked later, unless a worker is about to be free", async () => {
	const stops = () => FakeWorker.all.slice(0, 3).map((w) => w.asked.filter((m) => m.stop).length);
	const later = [1, 2].map((n) => pool.ask("map", `later ${n}`, {}, { rank: 5 }));
	await settle();
	pool.ask("table", "row", {}, { rank: 3 }).catch(() => {});
	await settle();
	assert.deepEqual(stops(), [0, 1, 0]);
	pool.ask("table", "row", {}, { rank: 3 }).catch(() => {});
	await settle();
	assert.deepEqual(stops(), [0, 1, 1]);
	pool.drop("map");
	assert.deepEqual(stops(), [0, 2, 2]);
	for (const p of later) await assert.rejects(p, (err) => err === dropped);
	// What was stopped and dropped is not asked again.
	for (const w of FakeWorker.all.slice(1, 3)) {
		w.onmessage({ data: { id: w.asked[0].id, error: "context canceled" } });
		assert.equal(w.asked.at(-1).method, "row");
	}
});

test("a question that was stopped and answers all the same is answered", async () => {
	await start(2);
	const later = pool.ask("map", "later", {}, { rank: 5 });
	await settle();
	pool.ask("table", "row", {}, { rank: 3 });
	await settle();
	const w = FakeWorker.all[1];
	w.onmessage({ data: { id: w.asked[0].id, answer: bytesOf({ n: 2 }) } });
	assert.equal((await later).n, 2);
});

test("a worker that is busy with a dropped question is told to stop", async () => {
	pool.ask("old", "long", {}).catch(() => {});
	await settle();
	pool.drop("old");
	assert.ok(FakeWorker.all[1].asked.at(-1).stop);
	assert.ok(!pool.busy);
});

test("errors reach those who ask", async () => {
	const refused = pool.ask("g", "m", {}, { rank: 0 });
	await settle();
	FakeWorker.all[0].answer({ error: "r = -1" });
	await assert.rejects(refused, /r = -1/);
	const lost = pool.ask("g", "m", {}, { rank: 0 });
	await settle();
	FakeWorker.all[0].onerror({ message: "out of memory" });
	await assert.rejects(lost, /out of memory/);
});
