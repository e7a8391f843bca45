// Files that are given to the page: a code, a fit, or a prior.
import { $, notify, say } from "explorer/dom.js";
import { openCode, openFit } from "explorer/moves.js";

const largest = 256; // MiB

export class Files {
	constructor(store, about, pool) {
		Object.assign(this, { store, about, pool });
		let depth = 0; // of the elements that the pointer is in
		const show = (n) => {
			depth = n;
			$("drop").hidden = n <= 0;
		};
		const hear = (type, f) =>
			addEventListener(type, (e) => {
				if (e.dataTransfer?.types?.includes("Files")) f(e);
			});
		hear("dragenter", () => show(depth + 1));
		hear("dragleave", () => show(Math.max(0, depth - 1)));
		hear("dragover", (e) => e.preventDefault());
		hear("drop", (e) => {
			e.preventDefault();
			show(0);
			this.open([...e.dataTransfer.files]);
		});
		$("open").addEventListener("change", () => {
			this.open([...$("open").files]);
			$("open").value = "";
		});
	}

	/** open takes what was given. */
	async open(list) {
		notify("");
		try {
			for (const f of list) {
				const found = await this.inspect(f);
				if (found.kind === "code") {
					this.store.set(openCode(this.store.present, found));
					say(`Opened ${f.name}: a code of ${found.levels} levels, which all figures show.`);
				} else if (found.kind === "prior") {
					this.takePrior(f.name, found);
					say(`Opened ${f.name}: a histogram of labels, of which ${found.lowest} is level 1; all numbers are for it.`);
				} else this.takeFit(f.name, found.fit);
			}
		} catch (err) {
			notify(err.message);
		}
	}

	/** openGiven opens the files that the page's server was given, by their names. */
	async openGiven(names) {
		const file = async (name, i) => new File([await (await fetch(`given/${i}`)).blob()], name);
		if (names.length > 0) await this.open(await Promise.all(names.map(file)));
	}

	/** inspect asks the engine what a file holds. */
	async inspect(f) {
		const size = Math.round(f.size / (1 << 20));
		if (size > largest)
			throw new Error(
				`${f.name}: ${size} MiB; the explorer reads files of up to ${largest} MiB, the command has no limit`,
			);
		const bytes = new Uint8Array(await f.arrayBuffer());
		return this.pool.ask("file", "inspect", { path: f.name }, { rank: 0, files: [[f.name, bytes]] });
	}

	takePrior(name, { levels, prior }) {
		const have = this.store.present.levels;
		if (levels > have) throw new Error(`${name}: its labels need ${levels} levels, and the code has ${have}`);
		this.store.set({ prior });
	}

	/** takeFit shows r, σ, prior and temperature of a fit, with its code where that is known. */
	takeFit(name, f) {
		const most = this.about.max_levels;
		if (f.levels > most) throw new Error(`the fit has ${f.levels} levels; the explorer takes up to ${most}`);
		const { change, shown } = openFit(this.store.present, f, this.about.codes);
		this.store.set(change);
		say(`Opened ${name}: all figures have its r, σ and prior now, those of ${f.code} with ${f.levels} levels.`);
		if (!shown)
			notify(`The fit is for ${f.code}, a file: drop it here, too. Its model is shown with johnson until then.`);
	}
}
