// The table of codes, row by row: few samples at first, more at rest.
import { tableSamples } from "explorer/scene.js";

const firstRow = 20; // samples of each level that a row begins with
const second = 100;

/** askTable asks for the rows of some codes, which one decoder reads. Rows of the state before are
 * old until their new numbers come. */
export async function askTable(run, scene, codes, decoder) {
	const { rows } = run.data,
		keys = codes.map((c) => JSON.stringify(c));
	for (const [key, r] of rows) {
		if (keys.includes(key)) r.old = true;
		else rows.delete(key);
	}
	const row = async (i, samples, quick, rank) => {
		const question = { scene, code: codes[i], decoder, samples, quick };
		const a = await run.ask("row", question, { rank });
		// That of the quick row, which decides the order.
		const took = quick ? a.took : rows.get(keys[i])?.took;
		rows.set(keys[i], { ...a, took, of: codes[i], asked: samples });
		run.came("table row");
		return a;
	};
	// The rows that took longest before begin first, so that none of them is waited for at last.
	const took = keys.map((key) => rows.get(key)?.took ?? 0);
	const order = [...keys.keys()].sort((a, b) => took[b] - took[a]);
	const first = [];
	await Promise.all(
		order.map(async (i) => {
			first[i] = await row(i, firstRow, true, 3);
		}),
	);
	run.came("table");
	await run.rest();
	await Promise.all(
		codes.map(async (_, i) => {
			if (first[i].problem) return;
			if (first[i].later) await row(i, second, false, 6);
			for (let n = 1000; n <= tableSamples(scene.levels); n *= 4.096) await row(i, n, false, n > 1000 ? 9 : 8);
		}),
	);
	run.came("table refined");
}
