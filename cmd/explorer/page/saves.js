// The menus of the figures: a figure as SVG, PNG or CSV, and the command line that computes it. The table of codes has
// the command line alone.
import { command, fileOf, isFile } from "explorer/command.js";
import { $, copy, notify } from "explorer/dom.js";
import { onPaper, save, toPNG } from "explorer/download.js";
import { light } from "explorer/figure.js";
import { figures, modelText, titleOf } from "explorer/shown.js";
import { leastSamples, scene } from "explorer/scene.js";

// The figure of each card, and what its files are called.
const cards = {
	"matrix-card": ["matrix", "code"],
	"levels-card": ["levels", "levels"],
	"bits-card": ["bits", "errors"],
	"map-card": ["map", "map"],
	"table-card": [null, "table"],
};

export class Saves {
	/** what() is what there is to show; see figures of shown.js. */
	constructor(what, pool) {
		Object.assign(this, { what, pool });
		for (const [card, [figure, name]] of Object.entries(cards))
			$(card).querySelector(".bar").append(this.menu(figure, name));
		addEventListener("click", (e) => {
			for (const m of document.querySelectorAll(".menu[open]")) if (!m.contains(e.target)) m.open = false;
		});
	}

	menu(figure, name) {
		const menu = document.createElement("details");
		menu.className = "menu";
		const kinds = [...(figure ? ["SVG", "PNG", "CSV"] : []), ...(name === "errors" ? [] : ["Copy command"])];
		const buttons = kinds.map((k) => `<button data-kind="${k}">${k === "CSV" ? "CSV: the numbers" : k}</button>`);
		const label = `Save the ${name === "table" ? "table" : "figure"}`;
		menu.innerHTML = `<summary role="button" aria-label="${label}">Save</summary><div>${buttons.join("")}</div>`;
		menu.addEventListener("click", async (e) => {
			const kind = e.target.dataset?.kind;
			if (!kind) return;
			try {
				if (kind === "Copy command") await this.copyCommand(name, e.target);
				else if (kind === "CSV") await this.saveNumbers(name);
				else await this.saveFigure(figure, name, kind);
				menu.open = kind === "Copy command";
			} catch (err) {
				notify(`It could not be saved: ${err.message}`);
			}
		});
		menu.addEventListener("keydown", (e) => {
			if (e.key !== "Escape") return;
			menu.open = false;
			menu.firstChild.focus();
		});
		return menu;
	}

	command(name) {
		const { state, data } = this.what();
		return command(name, state, data);
	}

	async copyCommand(name, button) {
		const { state: s } = this.what();
		await copy(this.command(name), button);
		const own = [s.code, s.other].filter(isFile).map(fileOf);
		if (own.length > 0 && name !== "table")
			notify(`The command reads ${own.join(" and ")}: save the code as CSV under this name.`);
		if (s.prior.kind !== "uniform")
			save("prior.csv", await this.file({ what: "prior", scene: scene(s), code: s.code }), "text/csv");
	}

	async file(question) {
		return (await this.pool.ask("file", "file", question, { rank: 0 })).file;
	}

	async saveNumbers(name) {
		const { state: s, data } = this.what(),
			{ axes, method, samples } = data.map ?? {},
			sc = scene(s);
		const bytes = await this.file({
			what: name,
			scene: sc,
			code: s.code,
			samples: data.samples?.count ?? leastSamples,
			map: axes ? { scene: sc, a: s.code, b: s.other, ...axes, method, samples } : undefined,
		});
		const code = isFile(s.code) ? fileOf(s.code) : `${s.code.name}.csv`;
		save(name === "code" ? code : `${name}.csv`, bytes, "text/csv");
	}

	async saveFigure(figure, name, kind) {
		const what = this.what(),
			{ state, data } = what;
		const drawn = figures[figure](what, light, figure === "matrix" ? 620 : 640, null);
		const text = onPaper(drawn.svg, light, figureTitle(name, state, data));
		if (kind === "SVG") save(`${name}.svg`, text, "image/svg+xml");
		else save(`${name}.png`, await toPNG(text), "image/png");
	}
}

/** figureTitle is the title of a figure in a file. */
function figureTitle(name, s, { code, map }) {
	if (name === "code") return titleOf(code);
	if (name !== "map") return `${titleOf(code)}, ${modelText(s)}`;
	return `${map.a.name} against ${map.b.name}, ${map.method === "mc" ? "sampled" : map.method}, ${s.levels} levels`;
}
