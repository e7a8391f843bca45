// A network's targets and outputs: the fit to them, and its verdict.
import { $, notify, say } from "explorer/dom.js";
import { save } from "explorer/download.js";
import { esc, short } from "explorer/figure.js";
import { dropped } from "explorer/pool.js";

const columns = ["decoder", "reads", "perceived label", "observed"];

export class FitPanel {
	/** page.use(model, prior) takes a model; page.redraw() draws the observed rates. */
	constructor(pool, about, page) {
		Object.assign(this, { pool, about, page });
		this.body = $("fit");
		this.targets = this.outputs = null;
		this.rates = null; // of the bits, as they were observed
		$("fit-close").onclick = () => this.close();
	}

	close() {
		this.pool.drop("fit");
		this.targets = this.outputs = this.rates = null;
		$("fit-card").hidden = true;
		this.page.redraw();
	}

	/** ratesOf are the observed rates of a code's bits, null where the network has another code. */
	ratesOf(code, answer) {
		if (!this.rates || !answer || this.code !== code.name) return null;
		return this.rates.length === answer.levels * answer.bits ? this.rates : null;
	}

	/** take gets files with samples: a column of targets, and rows of outputs. */
	take(files, state) {
		for (const f of files) this[f.kind] = f;
		this.state = state;
		$("fit-card").hidden = false;
		this.form();
		$("fit-card").scrollIntoView({ block: "nearest" });
	}

	form() {
		const { targets: t, outputs: o } = this;
		if (t && o) say(`Opened ${t.name} and ${o.name}. Say below with which code the network was trained, and judge it.`);
		if (!t || !o) {
			const have = t ? `${t.name}: ${t.rows} targets` : `${o.name}: ${o.rows} × ${o.columns} outputs`;
			const want = t ? "outputs, a row of numbers for each sample" : "targets, one number for each sample";
			this.body.innerHTML = `<p>${esc(have)}. Drop the network's ${want}, too (.csv or .npy).</p>`;
		} else if (t.rows !== o.rows) {
			const text = `${t.name} has ${t.rows} targets, and ${o.name} has ${o.rows} rows of outputs: want the same number.`;
			this.body.innerHTML = `<p class="problem">${esc(text)}</p>`;
		} else {
			this.body.innerHTML = formHTML(t, o, this.state, this.about);
			this.body.querySelector("form").onsubmit = (e) => {
				e.preventDefault();
				this.run(new FormData(e.target));
			};
		}
	}

	async run(form) {
		this.pool.drop("fit");
		this.body.querySelector(".problem")?.remove();
		let note = this.say("Judging …", "status");
		try {
			const { question, files } = questionOf(form, this);
			const ask = (recommend) => this.pool.ask("fit", "fit", { ...question, recommend }, { rank: 3, files });
			const answer = await ask(false);
			this.show({ ...answer, opening: answer.opening.filter((t) => !t.startsWith("Next:")) });
			this.use(answer);
			note = this.say("Forecasting what other codes would give …", "status");
			this.show(await ask(true));
		} catch (err) {
			if (err !== dropped) this.say(err.message, "alert").className = "problem";
		} finally {
			note.remove();
		}
	}

	/** say adds a sentence below the form. */
	say(text, role) {
		const p = document.createElement("p");
		p.textContent = text;
		p.setAttribute("role", role);
		this.body.append(p);
		return p;
	}

	show(answer) {
		const f = answer.fit;
		this.rates = answer.rates;
		this.code = f.code;
		this.body.innerHTML = verdictHTML(answer);
		this.shown(`Opened ${this.targets.name} and ${this.outputs.name}`, { ...f, verdict: answer.opening.join(" ") });
		$("fit-use").onclick = () => this.use(answer);
		$("fit-again").onclick = () => this.form();
		$("fit-save").onclick = () => save("fit.json", JSON.stringify(f, null, 2) + "\n", "application/json");
		this.page.redraw();
	}

	/** shown says at the top of the page which network all figures show, and what is recommended. */
	shown(opened, { code, levels, verdict }) {
		say(`${opened}: all figures show this network now, ${code} with ${levels} levels. ${verdict}`);
	}

	/** use shows the network's model in all views, read as the network is read best. */
	use({ fit }) {
		try {
			this.page.use(fit, bestReading(fit));
		} catch (err) {
			notify(err.message);
		}
	}
}

/** ownRows are the rows of the first network's decoders: a fitted one cannot be used in the views. */
const ownRows = (decoders) => decoders.filter((d) => d.network === 1 && d.decoder !== "fitted");

/** bestReading is the decoder with the smallest error against the targets, and what it reads. */
export function bestReading({ decoders }) {
	const [best] = ownRows(decoders)
		.filter((d) => d.observed != null)
		.sort((a, b) => a.observed - b.observed);
	return best ? { decoder: best.decoder, outputs: best.outputs } : {};
}

/** questionOf is the question of a form, with the files that it names. */
function questionOf(form, { targets: t, outputs: o, state: s }) {
	const files = [
		[t.name, t.bytes],
		[o.name, o.bytes],
	];
	let code = form.get("code");
	if (s.code.rows.length > 0 && code === s.code.name) {
		if (!code.endsWith(".csv")) code += ".csv";
		const rows = s.code.rows.map((r) => [...r].join(",") + "\n");
		files.push([code, new TextEncoder().encode(rows.join(""))]);
	}
	const range =
		form.get("lo") !== "" || form.get("hi") !== "" ? [Number(form.get("lo")), Number(form.get("hi"))] : null;
	const levels = code.includes(".") ? 0 : Number(form.get("levels"));
	const question = { code, levels, targets: t.name, outputs: o.name, range, training: "" };
	return { question, files };
}

/** formHTML asks for the code, the levels and the range of the labels. */
function formHTML(t, o, s, about) {
	const own = s.code.rows.length > 0 ? [s.code.name] : [],
		names = [...own, ...about.codes.map((c) => c.name)];
	const list = names.map((n) => `<option ${n === s.code.name ? "selected" : ""}>${esc(n)}</option>`).join("");
	const real = !t.whole || t.hi > about.max_levels;
	const end = (name, label, v) =>
		`<label>${label}<input name="${name}" placeholder="targets are levels" value="${real ? v : ""}"></label>`;
	const range = `${t.rows} targets from ${short(t.lo)} to ${short(t.hi)}`;
	const found = `${t.name}: ${range}. ${o.name}: ${o.columns} outputs for each.`;
	return `<p class="muted">${esc(found)}</p><form>
		<label>Code it was trained with<select name="code">${list}</select></label>
		<label>Levels<input name="levels" type="number" min="2" max="${about.max_levels}" value="${s.levels}"></label>
		${end("lo", "Level 1 is the label", t.lo)}${end("hi", "The last level is", t.hi)}
		<button class="primary">Judge the network</button></form>
		<p class="note">${real ? "The targets are real labels: enter the range that the network was trained for." : ""}</p>`;
}

/** forecastsHTML are the best forecasts of codes, against the network's error. */
function forecastsHTML({ recommendation }) {
	if (!recommendation) return "";
	const percent = (ratio) => `${ratio < 1 ? "−" : "+"}${Number(Math.abs(100 * (ratio - 1)).toPrecision(2))} %`;
	const row = ({ code, bits, training, trained, ratio, ratio_interval: [lo, hi], better }) => {
		const cells = [esc(code), bits, training.toUpperCase()];
		if (trained) cells.push("yours", "", "");
		else cells.push(percent(ratio), `${percent(lo)} to ${percent(hi)}`, short(Number(better?.toFixed(2))));
		return `<tr class="${trained ? "chosen" : ""}">${cells.map((c) => `<td>${c}</td>`).join("")}</tr>`;
	};
	const heads = ["code", "outputs", "trained with", "error against yours", "95 %", "better"];
	const best = recommendation.ranking.filter((r) => r.best),
		first = best.filter((r, i) => i < 8 || r.trained);
	return `<h3>If another code were trained</h3>
		<div class="scroll"><table><thead><tr>${heads.map((c) => `<th>${c}</th>`).join("")}</tr></thead>
		<tbody>${first.map(row).join("")}</tbody></table></div>
		<p class="note">better is the probability that its error is smaller than yours. ${best.length - first.length} more
		are in the fit.</p>`;
}

/** verdictHTML is the verdict on a network, with the errors of all decoders. */
function verdictHTML({ fit, opening, remarks }) {
	const row = (d) => {
		const cells = [esc(d.decoder), esc(d.outputs), short(d.perceived)];
		return `<tr>${cells.map((c) => `<td>${c}</td>`).join("")}<td class="best">${short(d.observed)}</td></tr>`;
	};
	return `<div class="verdict" role="status">${opening.map((t) => `<p>${esc(t)}</p>`).join("")}</div>
		<div class="actions"><button class="primary" id="fit-use">Back to this network</button>
		<button id="fit-save">Save the fit (.json)</button><button id="fit-again">Change</button></div>
		<div class="scroll"><table><thead><tr>${columns.map((c) => `<th>${c}</th>`).join("")}</tr></thead>
		<tbody>${ownRows(fit.decoders).map(row).join("")}</tbody></table></div>
		${forecastsHTML(fit)}
		<details><summary>More about the fit</summary>
		${remarks.map((t) => `<p class="note">${esc(t)}</p>`).join("")}</details>`;
}
