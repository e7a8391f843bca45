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
		{ r: 1e-7, sigma: 1e21, temperature: 3, seed: 0 },
		{ decoder: "gen-ex", outputs: "logits", method: "mc" },
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
		"levels=1",
		"levels=9999",
		"levels=2.5",
		"seed=1.5",
		"seed=-1",
		"bits=0",
		"bits=1_x",
		"outputs=x",
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

/** generator returns a function that gives random whole numbers below n: mulberry32 of a seed. */
function generator(seed) {
	return (n) => {
		seed = (seed + 0x6d2b79f5) | 0;
		let t = Math.imul(seed ^ (seed >>> 15), 1 | seed);
		t ^= t + Math.imul(t ^ (t >>> 7), 61 | t);
		return (((t ^ (t >>> 14)) >>> 0) % n) | 0;
	};
}

test("random links give valid states, and come back from their own addresses", () => {
	const below = generator(1);
	const one = (list) => list[below(list.length)];
	const text = (n) =>
		Array.from({ length: below(n) }, () =>
			String.fromCharCode(one([32 + below(95), below(128), below(0x10000)])),
		).join("");
	const value = () => {
		const digits = () => String(below(one([3, 70, 5000])));
		return one([
			digits,
			() => `${digits()}.${digits()}e${one(["", "-"])}${below(400)}`,
			() => Array.from({ length: 1 + below(6) }, digits).join("_"),
			() =>
				one([
					"johnson",
					"unary",
					"gen",
					"gen-ex",
					"auto",
					"logits",
					"bits",
					"decoder",
					"mc",
					"middle",
					"__proto__",
					"toString",
				]),
			() => {
				const bits = pack([text(40).replace(/./gs, () => below(2))]);
				return `${one(["johnson", "own", ""])}~${one(["2", "64", digits()])}x${digits()}~${bits}`;
			},
			() => `${one(["johnson", "nobody"])}!${digits()}.${digits()}!${text(5)}`,
			() => text(30),
			() => `%${text(3)}`,
		])();
	};
	const names = [...Object.keys(initial), "__proto__", "constructor", "x", ""];
	const link = () =>
		Array.from(
			{ length: below(8) },
			() => `${one([() => one(names), () => text(8)])()}${one(["=", "=", "=", ""])}${value()}`,
		).join(one(["&", "&", ";", "#"]));
	for (let i = 0; i < 5000; i++) {
		const fragment = one(["#", "#", "", "##"]) + one([link, link, link, () => text(200)])();
		const { state, problem } = fromFragment(fragment, about);
		assert.ok(!problem.includes("\n"), fragment);
		assert.deepEqual(Object.keys(state).sort(), Object.keys(initial).sort(), fragment);
		assert.ok(Number.isInteger(state.levels) && state.levels >= 2 && state.levels <= about.max_levels, fragment);
		for (const name of ["r", "sigma", "temperature"])
			assert.ok(state[name] > 0 && state[name] < Infinity, fragment);
		assert.ok(Number.isSafeInteger(state.seed) && state.seed >= 0, fragment);
		for (const { name, rows, flips } of [state.code, state.other]) {
			const wide = rows.length > 0 ? rows[0].length : Infinity;
			assert.ok(
				rows.length > 0
					? rows.length === state.levels && rows.every((r) => /^[01]+$/.test(r) && r.length === wide)
					: about.codes.some((c) => c.name === name),
				fragment,
			);
			for (const [n, k] of flips) assert.ok(n >= 1 && n <= state.levels && k >= 1 && k <= wide, fragment);
		}
		const again = toFragment(state);
		if (again.whole && problem === "") assert.deepEqual(fromFragment(again.fragment, about).problem, "", fragment);
	}
});
