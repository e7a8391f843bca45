import assert from "node:assert/strict";
import test from "node:test";
import { bitsFigure } from "explorer/bits.js";
import { Scale, diverging, esc, light, line, niceStep, sampled, short, wholeTicks } from "explorer/figure.js";
import { legendPlaces, levelsFigure } from "explorer/levels.js";
import { colourScale, difference, gridText, increase, zeroLine } from "explorer/map.js";

test("numbers have four digits", () => {
	const texts = [
		[0.58765, "0.5877"],
		[0, "0"],
		[1234567, "1.23e6"],
		[-0.00001, "-1.00e-5"],
		[null, "–"],
		[NaN, "–"],
		[Infinity, "–"],
		[31, "31"],
	];
	for (const [v, want] of texts) assert.equal(short(v), want);
	assert.equal(esc(`<a href="x">&`), "&lt;a href=&quot;x&quot;&gt;&amp;");
});

test("ticks are round numbers within the scale", () => {
	const ticks = [
		[new Scale(0, 1, 0, 100), 5, [0, 0.2, 0.4, 0.6, 0.8, 1]],
		[new Scale(0, 0.7, 0, 100), 3, [0, 0.5]],
		[new Scale(0.05, 32, 0, 100, true), 5, [0.1, 1, 10]],
		[new Scale(0.2, 21, 0, 100, true), 5, [0.3, 1, 3, 10]],
		[new Scale(0.05, 0.5, 0, 100, true), 5, [0.05, 0.1, 0.2, 0.5]],
	];
	for (const [scale, count, want] of ticks) assert.deepEqual(scale.ticks(count), want);
	for (const [n, want] of [
		[1, [1]],
		[4, [1, 2, 3, 4]],
		[64, [1, 20, 40, 60]],
		[512, [1, 200, 400]],
	])
		assert.deepEqual(wholeTicks(n), want);
	for (const [step, want] of [
		[0.3, 0.5],
		[2, 2],
		[7, 10],
		[0, 1],
		[NaN, 1],
	])
		assert.equal(niceStep(step), want);
});

test("a place comes back from its value", () => {
	for (const scale of [new Scale(2, 8, 100, 20), new Scale(0.05, 32, 56, 500, true)]) {
		for (const v of [2, 3.5, 8]) assert.ok(Math.abs(scale.of(scale.at(v)) - v) < 1e-12);
	}
});

test("a line is broken where there is no number", () => {
	const scale = new Scale(0, 10, 0, 10);
	assert.equal(line([1, 2, 3, 4], [1, NaN, 3, 4], scale, scale), "M1.0 1.0M3.0 3.0L4.0 4.0");
	assert.equal(line([1, 2], [NaN, NaN], scale, scale), "");
});

test("the colours of a map", () => {
	assert.deepEqual(diverging(0, 1), [221, 221, 221]);
	assert.deepEqual(diverging(-5, 1), diverging(-1, 1));
	assert.deepEqual([-50, 0, 100].map(difference), [-50, 0, 50]);
	assert.deepEqual([-50, 0, 50].map(increase), [-50, 0, 100]);
	for (const [values, lo, hi, limit] of [
		[[], -1, 1, 1],
		[[0, 0], -1, 1, 1],
		[[-3, 7.5], -3, 7.5, 7.5],
		[[-9, -3, NaN], -9, -3, 9],
		[[-2, ...Array(99).fill(2), 90], -2, 2, 2],
	])
		assert.deepEqual(colourScale(values), { lo, hi, limit });
});

test("the legend stays within the figure", () => {
	const names = ["bound, up to 1234", "exact", "sampled ± standard error"];
	for (const width of [260, 320, 400, 700]) {
		const places = legendPlaces(names, 10, width);
		names.forEach((name, i) =>
			assert.ok(places[i][0] + 26 + 6.2 * name.length <= width, `${name} at ${places[i]} of ${width}`),
		);
	}
	assert.deepEqual(
		legendPlaces(names, 56, 900).map(([, row]) => row),
		[0, 0, 0],
	);
});

test("figures without numbers have axes from 0 to 1", () => {
	const none = { levels: 4, title: "" };
	const drawn = [
		levelsFigure(none, light, 500, 300),
		bitsFigure({ ...none, matrix: new Uint8Array(4), bits: 1, shown: [1], chosen: [1] }, light, 500, 300),
	];
	for (const { svg } of drawn) {
		assert.ok(!/e-\d|NaN|Infinity/.test(svg), svg);
		assert.match(svg, /<text[^>]*>1<\/text>/);
	}
});

test("the line where two errors are equal goes up to the frame", () => {
	const box = { left: 0, right: 40, top: 0, bottom: 30 };
	const x = new Scale(0.5, 4.5, box.left, box.right),
		y = new Scale(0.5, 3.5, box.bottom, box.top);
	const points = (z) => [...zeroLine([1, 2, 3, 4], [1, 2, 3], z, x, y, box).matchAll(/([-\d.]+) ([-\d.]+)/g)];
	const upright = points([-3, -1, 1, 3, -3, -1, 1, 3, -3, -1, 1, 3]);
	assert.deepEqual([...new Set(upright.map(([, at]) => at))], ["20.0"]);
	assert.deepEqual([Math.min(...upright.map((p) => +p[2])), Math.max(...upright.map((p) => +p[2]))], [0, 30]);
	const level = points([-1, -1, -1, -1, 1, 1, 1, NaN, 3, 3, 3, 3]);
	assert.deepEqual([Math.min(...level.map((p) => +p[1])), Math.max(...level.map((p) => +p[1]))], [0, 25]);
	// Beside cells without a number, a line along their edge is left out, and one across it is not.
	const without = [NaN, NaN, NaN, NaN];
	assert.equal(points([...without, -1, -1, -1, -1, 1, 1, 1, 1]).length, 0);
	assert.ok(points([...without, -1, -1, 1, 1, -1, -1, 1, 1]).length > 0);
});

test("a sampled mean of 0 is known only where it is certain", () => {
	assert.deepEqual(
		[sampled(0, 0.01, 400), sampled(0, 0, 400), sampled(0, null, 1), sampled(0.5, 0.0123, 9), sampled(0.5, null, 1)],
		["none in 400", "0", "none in 1", "0.5 ± 0.012", "0.5 ± –"],
	);
});

test("a map's share of cells has its grid beside it", () => {
	const share = gridText({ valid: 3, better: 1, side: 2 });
	assert.equal(share, "2 × 2 cells (both axes log), B better in 33.3 % of the valid ones");
	assert.equal(gridText({ valid: 0, better: 0, side: 1 }), "1 × 1 cells (both axes log)");
});
