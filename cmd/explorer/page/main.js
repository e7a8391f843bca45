// The beginning: the parts of the page are made and joined.
import { Controls } from "explorer/controls.js";
import { $, notify } from "explorer/dom.js";
import { Drawing } from "explorer/drawing.js";
import { Files } from "explorer/files.js";
import { listenKeys } from "explorer/keyboard.js";
import { Link } from "explorer/link.js";
import { listenPointer } from "explorer/pointer.js";
import { floored } from "explorer/moves.js";
import { Pool } from "explorer/pool.js";
import { listenPresets } from "explorer/presets.js";
import { Saves } from "explorer/saves.js";
import { Store, initial } from "explorer/state.js";
import { listenTable } from "explorer/table.js";
import { Theme } from "explorer/theme.js";
import { Views } from "explorer/views.js";
import { compiled } from "explorer/wasm.js";

async function start() {
	let drawing = null;
	const theme = new Theme(() => drawing?.drawAll());
	const packed = $("wasm").textContent, // nothing where the page's server computes
		module = packed ? await compiled(packed) : null;
	const pool = new Pool(
		module,
		$("worker").textContent,
		Math.max(3, Math.min(5, navigator.hardwareConcurrency || 2)),
	);
	const about = await pool.ask("about", "about", {}, { rank: 0 });
	$("version").textContent = about.version;

	const store = new Store(structuredClone(initial));
	const views = new Views(pool, about, {
		changed(view) {
			if (/^(code|errors|table|table refined)$/.test(view)) controls.show(); // not at each row
			drawing.answered(view, views.data.problem);
		},
		stop: (r) => store.set({ r: floored(r) }, { within: true }),
	});
	const what = () => ({ state: store.present, data: views.data });
	drawing = new Drawing(what, theme);
	const controls = new Controls(store, about, views);
	const files = new Files(store, about, pool);
	const saves = new Saves(what, pool);
	listenTable(store);
	listenPresets(store);
	listenPointer(store, drawing, views.data);
	listenKeys(store, drawing, views.data);

	// Moves of one task are computed once.
	let computing = false;
	const compute = () => {
		computing = false;
		views.compute(store.present);
	};
	const show = () => {
		controls.show();
		drawing.moved();
		if (!computing) queueMicrotask(compute);
		computing = true;
	};
	store.present = new Link(store, about).read();
	store.listen(show);
	show();
	$("loading").hidden = true;
	await files.openGiven(JSON.parse($("given").textContent) ?? []);
	globalThis.explorer = {
		store,
		views,
		pool,
		state: () => store.present,
		set: (change) => store.set(change),
		undo: () => store.undo(),
		redo: () => store.redo(),
		command: (name) => saves.command(name),
		get idle() {
			return !pool.busy && views.resting === 0;
		},
		startedAfter: performance.now(),
	};
}

start().catch((err) => {
	$("loading").hidden = true;
	notify(`The explorer could not start: ${err.message}. It needs a browser of 2023 or later.`);
});
