// The numbers above the figures, and what the pointer is at.
import { $, dim, widthOf } from "explorer/dom.js";
import { esc, sampled, short } from "explorer/figure.js";
import { transitions } from "explorer/matrix.js";
import { floored } from "explorer/moves.js";

/** exactText is an exact value, an interval where no formula gives it, or … where it comes later. */
export function exactText({ exact, exact_lo: lo, exact_hi: hi, later }) {
	if (exact != null) return short(exact);
	if (later) return "…";
	return lo != null ? `${short(lo)} to ${short(hi)}` : "–";
}

/** problemText is what is wrong with the model, or that r is as large as it may be; "" where neither is. */
export function problemText({ problem, errors }, s) {
	if (problem || errors?.max_r == null) return problem;
	const most = floored(errors.max_r);
	return s.r < most
		? ""
		: `r stops at ${most}: for σ = ${short(s.sigma)}, a larger r gives error probabilities above 1.`;
}

/** drawProblem says under the sliders what is wrong. */
export function drawProblem({ state, data }) {
	const text = problemText(data, state);
	$("model-problem").hidden = !text;
	$("model-problem").textContent = text;
}

/** worstLevel is the level of the largest exact error, from 1; 0 where one that occurs has none. */
export function worstLevel(exact, prior) {
	let worst = 0;
	for (let i = 0; i < prior.length; i++) {
		if (!(prior[i] > 0)) continue;
		if (!Number.isFinite(exact[i])) return 0;
		if (worst === 0 || exact[i] > exact[worst - 1]) worst = i + 1;
	}
	return worst;
}

export function drawHeadline({ data }) {
	const { code, theory: t, samples, old } = data;
	dim("facts-of", old.has("code"));
	dim("exact", old.has("theory"));
	dim("bound", old.has("theory"));
	dim("sampled", old.has("samples"));
	dim("worst", old.has("samples"));
	$("name").textContent = code.name;
	const reads = code.decoder ? `, read by ${code.decoder} on ${t?.outputs ?? "bits"}` : "";
	$("facts").textContent = `${code.levels} levels, ${code.bits} bits${reads}`;
	$("exact").textContent = t ? exactText({ ...t.mean, later: t.later }) : "–";
	$("bound").textContent = t?.later && t.mean.bound == null ? "…" : short(t?.mean.bound);
	$("bound").title = t?.bound_name ?? "";
	const small = (text) => `<small>${esc(text)}</small>`;
	const known = t && worstLevel(t.exact, code.prior);
	if (samples) {
		const { overall, error, worst, mean, count, stderr } = samples,
			all = count * code.prior.filter((v) => v > 0).length;
		$("sampled").innerHTML = sampled(overall, error, all, small);
		const of = known ? short(t.exact[known - 1]) : sampled(mean[worst - 1], stderr[worst - 1], count);
		$("worst").innerHTML = `${known || worst} ${small(`(${of})`)}`;
	} else $("sampled").textContent = $("worst").textContent = "–";
}

/** drawPrior draws the prior of the labels, small. */
export function drawPrior(prior, c) {
	const svg = $("prior-picture"),
		width = widthOf(svg.parentElement) - 28,
		most = Math.max(...prior);
	const x = (i) => ((i * width) / prior.length).toFixed(1);
	const steps = prior.map((v, i) => `L${x(i)} ${(26 - (23 * v) / most).toFixed(1)}H${x(i + 1)}`).join("");
	svg.setAttribute("width", width);
	svg.innerHTML = `<path d="M0 26${steps}V26z" fill="${c.exact}" fill-opacity=".35"/>`;
}

/** answersText has the most probable answers at a level, with their probabilities. */
function answersText(row) {
	const likely = Array.from(row, (p, i) => [p, i + 1]).sort(([p], [q]) => q - p);
	return `answers ${likely
		.slice(0, 3)
		.map(([p, m]) => `${m} (${short(p)})`)
		.join(", ")}`;
}

/** readout says what is known of the level and the bit under the pointer. */
export function readout({ code, errors, theory, samples, answers }, hover) {
	if (!code || !(hover?.level || hover?.bit)) return "";
	const { levels, bits, matrix } = code;
	const level = hover.level <= levels ? hover.level : null,
		bit = hover.bit <= bits ? hover.bit : null;
	const parts = [];
	if (level) parts.push(`level ${level}`);
	if (level && !hover.bit) {
		const i = level - 1;
		if (Number.isFinite(theory?.exact[i])) parts.push(`exact ${short(theory.exact[i])}`);
		if (Number.isFinite(theory?.bound[i])) parts.push(`bound ${short(theory.bound[i])}`);
		if (samples)
			parts.push(`sampled ${sampled(samples.mean[i], samples.stderr[i], samples.count)}`);
		if (answers?.length > 0) parts.push(answersText(answers.subarray(i * levels, level * levels)));
	}
	if (!bit) return parts.join(" · ");
	parts.push(`bit ${bit}`);
	if (level) {
		const at = (level - 1) * bits + bit - 1,
			e = errors?.e?.[at];
		parts.push(`its target is ${matrix[at]}`);
		if (e !== undefined) parts.push(`it errs with probability ${short(e)}`);
	}
	const list = transitions(matrix, levels, bits)[bit - 1];
	const places = list.length > 6 ? `${list.length} levels` : `level ${list.join(", ")}`;
	parts.push(list.length === 0 ? "it never changes" : `it changes after ${places}`);
	return parts.join(" · ");
}
