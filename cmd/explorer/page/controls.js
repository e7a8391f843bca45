// The controls at the side, and undo and redo: they show the state and change it.
import { $, notify, options } from "explorer/dom.js";
import { short } from "explorer/figure.js";
import { chooseCode, named, setLevels } from "explorer/moves.js";
import { slider } from "explorer/sliders.js";
import { best } from "explorer/table.js";

export class Controls {
	constructor(store, about, views) {
		Object.assign(this, { store, about, views });
		const set = (change) => store.set(change);
		const names = ["r", "sigma", "temperature"];
		const most = { r: () => views.data.errors?.max_r ?? Infinity };
		this.sliders = names.map((name) => slider(name, store, () => this.show(), most[name]));
		const chosen = (id, take) => $(id).addEventListener("change", () => take($(id).value));
		for (const name of ["decoder", "outputs", "method"]) chosen(name, (v) => set({ [name]: v }));
		chosen("prior", (kind) => {
			if (kind !== "counts") set({ prior: { kind, counts: [] } });
		});
		chosen("seed", (v) => {
			if (/^\d+$/.test(v)) set({ seed: Number(v) });
			this.show();
		});
		chosen("levels", (v) => {
			this.takeLevels(v);
			this.show();
		});
		chosen("code", (v) => {
			if (v !== store.present.code.name) set(chooseCode(store.present, named(v)));
		});
		chosen("other", (v) => set({ other: named(v) }));
		$("restore").onclick = () => set({ code: { ...store.present.code, flips: [] } });
		$("undo").onclick = () => store.undo();
		$("redo").onclick = () => store.redo();
	}

	takeLevels(text) {
		const { store, about } = this,
			{ code, levels } = store.present,
			v = Number(text),
			most = about.max_levels;
		if (!Number.isInteger(v) || v < 2 || v > most)
			notify(`Levels are “${text}”: want a whole number from 2 to ${most}.`);
		else if (code.rows.length > 0)
			notify(`${code.name} has ${levels} levels, and a file's code keeps them. Choose a named code first.`);
		else {
			notify("");
			store.set(setLevels(store.present, v));
		}
	}

	show() {
		const { store, about } = this,
			s = store.present;
		const names = about.codes.map((c) => [c.name, c.name]);
		const own = (c) => (c.rows.length > 0 ? [[c.name, c.name]] : []);
		options($("code"), [...own(s.code), ...names], s.code.name);
		$("code").title = about.codes.find((c) => c.name === s.code.name)?.description ?? "";
		options($("other"), [...own(s.other), ...names], s.other.name);
		this.showDecoder(s);
		for (const name of ["outputs", "method"]) $(name).value = s[name];
		if (document.activeElement !== $("levels")) $("levels").value = s.levels;
		$("seed").value = s.seed;
		$("prior").querySelector("[value=counts]").hidden = s.prior.kind !== "counts";
		$("prior").value = s.prior.kind;
		for (const show of this.sliders) show();
		const flips = s.code.flips.length;
		$("edited").hidden = flips === 0;
		$("edited-text").textContent = editedText(s.code, this.views.data);
		$("undo").disabled = store.past.length === 0;
		$("redo").disabled = store.future.length === 0;
	}

	/** showDecoder offers the decoders that fit the code. */
	showDecoder(s) {
		const code = this.views.data.code;
		const auto = code?.decoder && s.decoder === "auto" ? `auto: ${code.decoder}` : "auto";
		const fits = (name) => !code || code.decoders.includes(name) || name === s.decoder;
		const names = this.about.decoders.filter(fits);
		options($("decoder"), [["auto", auto], ...names.map((name) => [name, name])], s.decoder);
	}
}

/** editedText says how many bits are changed, and that another decoder reads the code since. */
export function editedText({ name, flips }, { code, rows }) {
	const text = `${flips.length} ${flips.length === 1 ? "bit" : "bits"} changed.`;
	if (!code?.plain || !code.decoder || code.plain === code.decoder) return text;
	const row = rows.get(JSON.stringify(named(name))),
		error = row && !row.old ? best(row) : NaN;
	const before = Number.isFinite(error) ? ` Read by ${row.decoder}, the unchanged code has ${short(error)}.` : "";
	return `${text} ${code.plain} reads ${name} only as it is, so ${code.decoder} reads this code.${before}`;
}
