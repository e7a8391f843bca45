// The views of the chosen code: its matrix, error probabilities, bounds, exact values and samples.

const firstSamples = 64; // which hard outputs are drawn at a time
const mostSamples = 65536;
const together = 120000; // samples of a question: some 40 ms, so that other questions come in between

const equal = (a, b) => a.length === b.length && a.every((v, i) => v === b[i]);

/** of is a text that differs where two matrices do. */
export const of = (code, levels) => JSON.stringify([code, levels]);

/** take puts a code into the data. Of a code of another size, all other answers go. */
function take(data, code) {
	const before = data.code;
	if (before?.levels !== code.levels || before?.bits !== code.bits) data.errors = data.theory = data.samples = null;
	else if (equal(before.matrix, code.matrix)) code.matrix = before.matrix; // figures keep what they drew of it
	data.code = code;
}

/** refuse ends a run: the model does not fit the code. */
function refuse(run, problem) {
	Object.assign(run.data, { theory: null, samples: null, problem });
	for (const view of ["errors", "samples"]) run.data.old.delete(view);
	run.end();
	run.came("theory");
}

/** askCode asks for everything about a code: quick answers first, and more samples at rest. */
export async function askCode(run, present) {
	const { data } = run;
	data.problem = "";
	data.answers = null;
	const errors = run.ask("errors", present, { rank: 0 });
	const code = await run.ask("code", present, { rank: 0 });
	take(data, code);
	data.of = of(present.code, present.scene.levels);
	run.came("code");
	if (code.problem || code.unfit) {
		data.errors = null;
		return refuse(run, code.problem || code.unfit);
	}
	const theory = run.ask("theory", { ...present, quick: true }, { rank: 1 });
	const first = sample(run, present, code, firstSamples, 2);
	first.catch(() => {});
	const found = await errors;
	if (found.problem && found.max_r > 0) return run.views.stop(found.max_r);
	data.errors = found;
	run.came("errors");
	if (found.problem) return refuse(run, found.problem);
	data.theory = await theory;
	run.came("theory");
	data.samples = await first;
	run.came("samples");
	await run.rest();
	if (data.theory.later) askExact(run, present);
	run.ask("answers", present, { rank: 5 })
		.then(({ answers }) => {
			data.answers = answers;
			run.came("answers");
		})
		.catch((err) => run.fail(err));
	for (let count = 1000; ; count = Math.min(mostSamples, 4 * count)) {
		data.samples = await sample(run, present, code, count, 7);
		run.came("refined");
		if (count === mostSamples) break;
	}
}

/** askExact asks for bounds and exact values that take long. */
function askExact(run, present) {
	const take = (theory) => {
		run.data.theory = theory;
		run.came("exact");
	};
	run.ask("theory", present, { rank: 4 })
		.then(take)
		.catch((err) => run.fail(err));
}

/** sample draws some samples of each level, in parts that are short enough to be dropped. */
async function sample(run, present, { levels, prior }, count, rank) {
	const rows = Math.ceil(Math.min(together / count, levels / 4)), // several workers share the first samples
		parts = [];
	for (let from = 0; from < levels; from += rows) {
		const to = Math.min(levels, from + rows);
		parts.push(
			run.ask("samples", { ...present, samples: count, from, to }, { rank }).then((a) => ({ from, ...a })),
		);
	}
	const out = {
		count,
		mean: new Float64Array(levels),
		stderr: new Float64Array(levels),
	};
	for (const a of await Promise.all(parts))
		for (const name of ["mean", "stderr"]) out[name].set(a[name], a.from);
	return { ...out, ...overall(out, prior) };
}

/** overall are the means over the prior, and the worst level that occurs, from 1. */
export function overall({ mean, stderr }, prior) {
	let m = 0,
		v = 0,
		alike = 0,
		worst = 0;
	for (let i = 0; i < mean.length; i++) {
		if (!(prior[i] > 0)) continue;
		m += prior[i] * mean[i];
		const e = prior[i] * (stderr[i] || 0);
		if (mean[i] > 0) v += e ** 2;
		else alike = Math.max(alike, e); // counts where no sample of any level erred, as in montecarlo.Average
		if (!(mean[i] <= mean[worst]) || !(prior[worst] > 0)) worst = i;
	}
	return { overall: m, error: m > 0 ? Math.sqrt(v) : alike, worst: worst + 1 };
}
