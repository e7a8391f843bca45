import assert from "node:assert/strict";
import test from "node:test";
import { editedText } from "explorer/controls.js";
import { exactText, problemText, readout, worstLevel } from "explorer/headline.js";
import { moved } from "explorer/keyboard.js";
import { chooseBit, flip, floored, moveTo, named, openCode, openFit, setLevels } from "explorer/moves.js";
import { cellAt } from "explorer/pointer.js";
import { twins } from "explorer/shown.js";
import { places, wrong } from "explorer/sliders.js";
import { Store, initial } from "explorer/state.js";
import { barWidths, noteText, ordered } from "explorer/table.js";
import { Scale } from "explorer/figure.js";

const gray = { levels: 4, bits: 2, matrix: Uint8Array.from([0, 0, 0, 1, 1, 1, 1, 0]) };

test("undo takes a drag back, and listeners hear of changes only", () => {
	const store = new Store(initial);
	let heard = 0;
	store.listen(() => heard++);
	store.set({ r: 1 });
	for (const r of [2, 3, 3]) store.set({ r }, { within: true });
	assert.deepEqual([heard, store.present.r, store.past.length], [3, 3, 1]);
	store.undo();
	store.undo();
	assert.equal(store.present.r, initial.r);
	store.redo();
	assert.equal(store.present.r, 3);
});

test("moves change a state as a person means it", () => {
	const bel = { ...initial, decoder: "bel-j" };
	const changes = [
		[flip(bel, 3, 2), { code: { ...named("johnson"), flips: [[3, 2]] }, decoder: "auto" }],
		[flip({ ...initial, code: { ...named("johnson"), flips: [[3, 2]] } }, 3, 2), { code: named("johnson") }],
		[chooseBit({ ...initial, bits: [1, 2] }, gray, 2), { bits: [1] }],
		[moveTo(1.23456, 2), { r: 1.23, sigma: 2 }],
	];
	for (const [got, want] of changes) assert.deepEqual(got, want);
	const counted = { ...initial, prior: { kind: "counts", counts: Array(64).fill(1) } };
	assert.equal(setLevels(counted, 32).prior.kind, "uniform");
	const opened = openCode(initial, { levels: 2, code: { name: "a.csv", rows: ["0", "1"] } });
	assert.deepEqual([opened.levels, opened.code.rows.length, opened.other], [2, 2, named("unary")]);
	const fit = { code: "johnson", levels: 64, r: 1, sigma: 2, prior: [1], temperature: 3 };
	const { change, shown } = openFit(initial, fit, [{ name: "johnson" }]);
	assert.deepEqual([shown, change.r, change.sigma, change.temperature], [true, 1, 2, 3]);
	assert.equal(openFit(initial, { ...fit, code: "mine" }, []).shown, false);
	assert.equal(openFit(initial, { ...fit, code: "softmax" }, [{ name: "onehot" }]).change.code.name, "onehot");
});

test("the table has new rows first, then codes that are hard to learn, old ones, and problems", () => {
	const rows = new Map([
		["a", { mean: 3 }],
		["b", { mean: 1, old: true }],
		["c", { problem: "no" }],
		["d", { exact: 2, mean: 9 }],
		["e", { exact: 1, unlearned: true }],
	]);
	assert.deepEqual(
		ordered(rows).map(([key]) => key),
		["d", "a", "e", "b", "c"],
	);
	const [small, middle, large, none] = barWidths([0.5, 1, 31, NaN]);
	assert.ok(small >= 8 && middle - small > 5 && large === 64 && none === 0, `${[small, middle, large]}`);
	assert.deepEqual(barWidths([]), []);
	assert.ok(barWidths([2]).every((w) => w >= 8));
});

test("the page says which decoder reads what", () => {
	const row = { decoder: "gen", asked: 1000 },
		other = { ...row, decoder: "bel-j" },
		unedited = { name: "johnson", decoder: "bel-j" };
	assert.match(noteText([row, row], unedited), /^all read by gen; .* johnson read by bel-j\.$/);
	assert.ok(!noteText([row], { name: "johnson", decoder: "gen" }).includes("above"));
	assert.match(noteText([row, other], unedited), /^each code read by the decoder of its row; [^.]*$/);
	const rows = new Map([[JSON.stringify(named("johnson")), { decoder: "bel-j", mean: 0.47694 }]]),
		edited = { name: "johnson", flips: [[1, 1]] };
	assert.equal(
		editedText(edited, { code: { plain: "bel-j", decoder: "gen" }, rows }),
		"1 bit changed. bel-j reads johnson only as it is, so gen reads this code. " +
			"Read by bel-j, the unchanged code has 0.4769.",
	);
	assert.equal(editedText(edited, { code: { plain: "gen", decoder: "gen" }, rows }), "1 bit changed.");
	assert.equal(
		editedText(
			{
				name: "x",
				flips: [
					[1, 1],
					[2, 1],
				],
			},
			{ code: null, rows },
		),
		"2 bits changed.",
	);
});

test("r stops at its limit, and the page says so", () => {
	for (const [v, want] of [
		[3.7588, 3.75],
		[0.123999, 0.123],
		[123.9, 123],
		[1, 1],
	])
		assert.equal(floored(v), want);
	const data = { problem: "", errors: { max_r: 3.7588 } };
	assert.match(problemText(data, { ...initial, r: 3.75 }), /^r stops at 3\.75: for σ = 1\.5/);
	assert.equal(problemText(data, initial), "");
	assert.equal(problemText({ ...data, problem: "twice" }, initial), "twice");
});

test("sliders are logarithmic, and refuse what is no number", () => {
	for (const name of ["r", "sigma", "temperature"]) {
		const { value, place } = places(name, 64);
		for (const p of [0, 300, 1000]) assert.ok(Math.abs(place(value(p)) - p) <= 3);
	}
	for (const [text, good] of [
		["1", true],
		["0", false],
		["", false],
		["x", false],
	]) {
		assert.equal(wrong(text) === "", good, text);
	}
});

test("the pointer and the keys find cells", () => {
	const figure = {
		box: { left: 0, right: 20, top: 10, bottom: 50 },
		x: new Scale(0.5, 2.5, 0, 20),
		y: new Scale(0.5, 4.5, 10, 50),
	};
	const cells = [
		[5, 15, 1, 1, false],
		[20, 50, 4, 2, false],
		[15, 5, null, 2, true],
		[25, 15, 1, null, false],
	];
	for (const [x, y, level, bit, above] of cells)
		assert.deepEqual(cellAt(figure, gray, { x, y }), { level, bit, above });
	const keys = [
		["ArrowDown", {}, [2, 1]],
		["ArrowUp", {}, [1, 1]],
		["ArrowRight", { shiftKey: true }, [1, 2]],
		["End", {}, [1, 2]],
	];
	for (const [key, more, [level, bit]] of keys)
		assert.deepEqual(moved({ level: 1, bit: 1 }, { key, ...more }, gray), { level, bit });
	assert.equal(moved({ level: 1, bit: 1 }, { key: "x" }, gray), null);
});

test("the readout says what is known", () => {
	const data = { code: gray, errors: { e: [0, 0, 0, 0.25] }, theory: { exact: [1], bound: [NaN] }, samples: null };
	const texts = [
		[null, ""],
		[{ level: 1, bit: null }, "level 1 · exact 1"],
		[{ level: null, bit: 1 }, "bit 1 · it changes after level 2"],
		[
			{ level: 2, bit: 2 },
			"level 2 · bit 2 · its target is 1 · it errs with probability 0.25 · it changes after level 1, 3",
		],
		[{ level: 9, bit: 9 }, ""],
	];
	for (const [hover, want] of texts) assert.equal(readout(data, hover), want);
	const answers = Float64Array.of(0.9, 0.1, 0, 0, 0.25, 0.5, 0.25, 0);
	assert.equal(readout({ ...data, answers: null }, { level: 1 }), "level 1 · exact 1");
	const levels = gray.levels,
		matrix = new Float64Array(levels * levels);
	matrix.set(answers.subarray(0, levels));
	const known = readout({ ...data, answers: matrix }, { level: 1 });
	assert.equal(known, "level 1 · exact 1 · answers 1 (0.9), 2 (0.1), 3 (0)");
	assert.equal(exactText({ exact: 1 }), "1");
	assert.equal(exactText({ exact: null, exact_lo: 1, exact_hi: 2, later: false }), "1 to 2");
	assert.equal(exactText({ exact: null, later: true }), "…");
	assert.equal(exactText({ exact: null }), "–");
	assert.deepEqual(twins({ ...gray, matrix: Uint8Array.from([0, 0, 0, 1, 0, 0, 1, 0]) }), [1, 3]);
	assert.deepEqual(twins(gray), []);
});

test("the worst level is that of the largest exact error, where all levels that occur have one", () => {
	assert.equal(worstLevel([1, 3, 9], [0.5, 0.5, 0]), 2);
	assert.equal(worstLevel([1, NaN, 2], [1, 1, 1]), 0);
	assert.equal(worstLevel([1, NaN, 2], [1, 0, 1]), 3);
});
