import assert from "node:assert/strict";
import test from "node:test";
import { fromFragment, pack, toFragment, unpack } from "explorer/address.js";
import { presets } from "explorer/presets.js";
import { initial } from "explorer/state.js";

const named = (...names) => names.map((name) => ({ name }));
const about = { max_levels: 512, codes: named("johnson", "unary", "hexj"), decoders: ["gen", "gen-ex"] };

test("a state comes back from its address", () => {
	const own = { name: "own.csv", flips: [[2, 3]], rows: ["0011", "0111", "1111", "1100"] };
	const changes = [
		{},
		{
			levels: 32,
			code: {
				name: "hexj",
				flips: [
					[3, 4],
					[1, 1],
				],
				rows: [],
			},
		},
		{ levels: 4, code: own, other: { name: "hexj", flips: [], rows: [] } },
		{ r: 1e-7, sigma: 1e21, misfit: 0, cutoff: 2.5, temperature: 3, seed: 0 },
		{ decoder: "gen-ex", outputs: "logits", model: "perceived", training: "decoder", method: "mc", noise: 2 },
		{ prior: { kind: "middle", counts: [] }, bits: [1, 12] },
		{ prior: { kind: "counts", counts: [0, 1.5, 1e21] } },
	];
	for (const change of changes) {
		const state = { ...initial, ...change };
		const { fragment, whole } = toFragment(state);
		assert.ok(whole);
		assert.deepEqual(fromFragment("#" + fragment, about), { state, problem: "" }, fragment);
	}
	assert.equal(toFragment(initial).fragment, "");
});

test("the states of the guided start are good ones", () => {
	const known = { ...about, codes: named("johnson", "unary", "b1jdj", "b1jdj-nr") };
	for (const { change } of presets) {
		const state = { ...initial, ...change };
		assert.deepEqual(fromFragment(toFragment(state).fragment, known), { state, problem: "" });
	}
});

test("bad values are refused in one line, and the defaults are used", () => {
	const bad = [
		"prior=-1_2_2_1",
		"prior=1e999_1",
		"prior=0_0",
		"prior=x",
		"prior=1__2",
		"levels=2&prior=1_1_1",
		"method=x",
		"method=undefined",
		"r=fast",
		"r=",
		"r=0",
		"r=-1",
		"r=1e999",
		"r=NaN",
		"r=0x10",
		"sigma=0",
		"sigma=Infinity",
		"noise=0",
		"misfit=-1",
		"levels=1",
		"levels=9999",
		"levels=2.5",
		"seed=1.5",
		"seed=-1",
		"bits=0",
		"bits=1_x",
		"model=x",
		"outputs=x",
		"training=x",
		"decoder=nobody",
		"decoder=constructor",
		"code=nobody",
		"code=johnson!0.1",
		"code=johnson!65.1",
		"code=johnson!1",
		"levels=3&code=a~3x2~",
		"code=a~3x2~AA",
		"levels=3&code=a~3x2.5~AAAA",
		"x=1",
		"toString=1",
	];
	for (const fragment of bad) {
		const { state, problem } = fromFragment("#" + fragment, about);
		const levels = Number(/levels=([23])&/.exec(fragment)?.[1] ?? 64);
		assert.deepEqual(state, { ...initial, levels }, fragment);
		assert.match(problem, /^The link('s|.*does not know)[^\n]*\.$/, fragment);
	}
	const { state, problem } = fromFragment("#r=fast&sigma=2&method=x", about);
	assert.deepEqual([state.r, state.sigma, state.method], [initial.r, 2, "auto"]);
	assert.equal(problem.split("The default is used.").length, 3, problem);
	assert.ok(fromFragment("#prior=" + "9".repeat(5000) + "x", about).problem.length < 300);
});

test("a matrix that is too large is left out", () => {
	const rows = Array.from({ length: 512 }, () => "01".repeat(128));
	assert.equal(toFragment({ ...initial, code: { name: "large", flips: [], rows } }).whole, false);
});

test("rows are packed", () => {
	for (const rows of [["0"], ["01", "10"], ["1111111", "0000001"]]) {
		assert.deepEqual(unpack(pack(rows), rows.length, rows[0].length), rows);
	}
	for (const [text, levels, bits] of [
		["", 1, 1],
		["A", 7, 1],
		["A", 1, 0],
		["*", 1, 1],
	])
		assert.equal(unpack(text, levels, bits), null);
});
