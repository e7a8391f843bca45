// A network's targets and outputs: the fit to them, and its verdict.
import { esc, short } from "explorer/figure.js";
import { dropped } from "explorer/pool.js";

export class FitPanel {
	constructor(card, body, page) {
		Object.assign(this, { card, body, page });
		this.targets = this.outputs = null;
		this.rates = null;
		document.getElementById("fit-close").onclick = () => this.close();
	}

	close() {
		this.page.pool.drop("fit");
		this.targets = this.outputs = this.rates = null;
		this.card.hidden = true;
		this.page.redraw();
	}

	/** take gets files with samples: a column of targets, and rows of outputs. */
	take(files, state) {
		for (const f of files) this[f.kind] = f;
		this.state = state;
		this.card.hidden = false;
		this.form();
		this.card.scrollIntoView({ block: "nearest" });
	}

	form() {
		const { targets: t, outputs: o, state: s } = this;
		if (!t || !o) {
			const have = t ? `${t.name}: ${t.rows} targets` : `${o.name}: ${o.rows} × ${o.columns} outputs`;
			this.body.innerHTML = `<p>${esc(have)}. Drop the network's ${t ? "outputs, a row of numbers for each sample" : "targets, one number for each sample"}, too (.csv or .npy).</p>`;
			return;
		}
		if (t.rows !== o.rows) {
			this.body.innerHTML = `<p class="problem">${esc(`${t.name} has ${t.rows} targets, and ${o.name} has ${o.rows} rows of outputs: want the same number.`)}</p>`;
			return;
		}
		const names = this.page.about.codes.map((c) => c.name);
		const own = s.code.rows.length > 0 ? [s.code.name] : [];
		const real = !t.whole || t.hi > this.page.about.max_levels;
		this.body.innerHTML = `<p class="muted">${esc(t.name)}: ${t.rows} targets from ${short(t.lo)} to ${short(t.hi)}. ${esc(o.name)}: ${o.columns} outputs for each.</p>
			<form><label>Code it was trained with<select name="code">${[...own, ...names].map((n) => `<option ${n === s.code.name ? "selected" : ""}>${esc(n)}</option>`).join("")}</select></label>
			<label>Levels<input name="levels" type="number" min="2" max="${this.page.about.max_levels}" value="${s.levels}"></label>
			<label>Level 1 is the label<input name="lo" placeholder="targets are levels" value="${real ? t.lo : ""}"></label>
			<label>The last level is<input name="hi" placeholder="targets are levels" value="${real ? t.hi : ""}"></label>
			<button class="primary">Judge the network</button></form>
			<p class="note">${real ? "The targets are real labels: enter the range that the network was trained for." : ""}</p>`;
		this.body.querySelector("form").onsubmit = (e) => { e.preventDefault(); this.run(new FormData(e.target)); };
	}

	async run(form) {
		const { targets: t, outputs: o, state: s, page } = this;
		const files = [[t.name, t.bytes], [o.name, o.bytes]];
		let code = form.get("code");
		if (s.code.rows.length > 0 && code === s.code.name) {
			code = code.endsWith(".csv") ? code : code + ".csv";
			files.push([code, new TextEncoder().encode(s.code.rows.map((r) => [...r].join(",")).join("\n") + "\n")]);
		}
		const range = form.get("lo") !== "" || form.get("hi") !== "" ? [Number(form.get("lo")), Number(form.get("hi"))] : null;
		const levels = code.includes(".") ? 0 : Number(form.get("levels"));
		const note = document.createElement("p");
		note.textContent = "Judging …";
		note.setAttribute("role", "status");
		this.body.append(note);
		page.pool.drop("fit");
		this.body.querySelector(".problem")?.remove();
		try {
			this.show(await page.pool.ask("fit", "fit", { code, levels, targets: t.name, outputs: o.name, range, training: "", samples: 1000, seed: 1 }, { rank: 3, files }));
		} catch (err) {
			if (err === dropped) return;
			const problem = document.createElement("p");
			problem.className = "problem";
			problem.setAttribute("role", "alert");
			problem.textContent = err.message;
			this.body.append(problem);
		} finally { note.remove(); }
	}

	show(a) {
		const f = a.fit;
		this.rates = a.rates;
		this.code = f.code;
		const rows = f.decoders.map((d) => `<tr><td>${esc(d.decoder)}</td><td>${esc(d.outputs)}</td><td>${short(d.bound)}</td><td>${short(d.exact)}</td><td>${short(d.mean)}</td><td>${short(d.perceived)}</td><td class="best">${short(d.observed)}</td></tr>`).join("");
		this.body.innerHTML = `<div class="verdict" role="status">${a.opening.map((t) => `<p>${esc(t.trim())}</p>`).join("")}</div>
			<div class="actions"><button class="primary" id="fit-use">Explore with this model</button><button id="fit-save">Save the fit (.json)</button><button id="fit-again">Change</button></div>
			<div class="scroll"><table><thead><tr><th>decoder</th><th>reads</th><th>bound</th><th>exact</th><th>simulated</th><th>perceived label</th><th>observed</th></tr></thead><tbody>${rows}</tbody></table></div>
			<details><summary>More about the fit</summary>${a.remarks.map((t) => `<p class="note">${esc(t)}</p>`).join("")}</details>`;
		document.getElementById("fit-use").onclick = () => { try { this.page.use(a.model, { kind: "counts", counts: f.prior }); } catch (err) { this.page.alert(err.message); } };
		document.getElementById("fit-again").onclick = () => this.form();
		document.getElementById("fit-save").onclick = async () => (await import("explorer/download.js")).save("fit.json", JSON.stringify(f, null, 2) + "\n", "application/json");
		this.page.redraw();
	}
}
