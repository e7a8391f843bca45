import assert from "node:assert/strict";
import test from "node:test";
import { command, fileOf } from "explorer/command.js";
import { named } from "explorer/moves.js";
import { initial } from "explorer/state.js";

const edited = { ...named("johnson"), flips: [[3, 2]] };
const axes = { x: "0.05:32:65:log", y: "0.2:21:65:log" };

test("the command line of what is shown", () => {
	const lines = [
		["code", {}, {}, "belsim codes johnson --levels 64 -o code.png"],
		[
			"levels",
			{},
			{},
			"belsim verify --code johnson --levels 64 --r 0.6 --sigma 1.5 --samples 1000 -o levels.png",
		],
		[
			"levels",
			{ code: edited, decoder: "gen", seed: 2 },
			{ samples: { count: 9 } },
			"belsim verify --code johnson-edited.csv --decoder gen --r 0.6 --sigma 1.5 --samples 9 --seed 2 -o levels.png",
		],
		[
			"table",
			{ prior: { kind: "low" }, levels: 256 },
			{
				rows: new Map([
					["a", { of: named("unary") }],
					["b", { of: named("binary"), problem: "none" }],
					["c", { of: named("my code.csv") }],
				]),
			},
			"belsim compare unary 'my code.csv' --levels 256 --r 0.6 --sigma 1.5 --prior prior.csv" +
				" --samples 1000 -o table.png",
		],
		[
			"map",
			{},
			{ map: { axes, method: "mc", samples: 100 } },
			"belsim heatmap johnson unary --levels 64 --r 0.05:32:65:log --sigma 0.2:21:65:log" +
				" --method mc --samples 100 -o map.png",
		],
	];
	for (const [what, change, data, want] of lines)
		assert.equal(command(what, { ...initial, ...change }, data), want);
});

test("the file of a code", () => {
	for (const [code, want] of [
		[named("gray"), "gray"],
		[edited, "johnson-edited.csv"],
		[{ ...edited, name: "a/b.npy" }, "b-edited.csv"],
	]) {
		assert.equal(fileOf(code), want);
	}
});
