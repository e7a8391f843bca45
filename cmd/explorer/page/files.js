// Files that are given to the page: a code, a fit, a prior, or a network's samples.
import { $, notify, say } from "explorer/dom.js";
import { openCode, openFit } from "explorer/moves.js";

const largest = 256; // MiB

export class Files {
	constructor(store, about, pool, fit) {
		Object.assign(this, { store, about, pool, fit });
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

	/** open takes what was given. A network's samples come in two files. */
	async open(list) {
		notify("");
		const samples = [];
		try {
			for (const f of list) {
				const { bytes, ...found } = await this.inspect(f);
				if (found.kind === "code") {
					this.store.set(openCode(this.store.present, found));
					say(`Opened ${f.name}: a code of ${found.levels} levels, which all figures show.`);
				} else if (found.kind === "prior") {
					this.takePrior(f.name, found);
					say(`Opened ${f.name}: a histogram of labels, which all numbers are for.`);
				} else if (found.kind === "fit") {
					if (this.takeFit(found.fit)) this.fit.shown(`Opened ${f.name}`, found.fit);
					else say(`Opened ${f.name}.`);
				} else samples.push({ name: f.name, bytes, ...found });
			}
			if (samples.length > 0) this.fit.take(samples, this.store.present);
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
		const found = await this.pool.ask("file", "inspect", { path: f.name }, { rank: 0, files: [[f.name, bytes]] });
		return { ...found, bytes };
	}

	takePrior(name, { levels, prior }) {
		const have = this.store.present.levels;
		if (levels > have) throw new Error(`${name}: its labels need ${levels} levels, and the code has ${have}`);
		this.store.set({ prior });
	}

	/** takeFit shows the model of a fit, and returns whether its code is shown. reading is how its outputs are read, where
	 * that is known. */
	takeFit(f, reading = {}) {
		const most = this.about.max_levels;
		if (f.levels > most) throw new Error(`the fit has ${f.levels} levels; the explorer takes up to ${most}`);
		const { change, shown } = openFit(this.store.present, f, this.about.codes);
		this.store.set({ ...change, ...reading });
		if (!shown)
			notify(`The fit is for ${f.code}, a file: drop it here, too. Its model is shown with johnson until then.`);
		return shown;
	}
}
