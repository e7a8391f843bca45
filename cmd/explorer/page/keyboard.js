// The keyboard: all that the pointer does, and undo. Screen readers hear what the pointer would show.
import { $ } from "explorer/dom.js";
import { short, within } from "explorer/figure.js";
import { chooseBit, flip, round } from "explorer/moves.js";
import { modelText } from "explorer/shown.js";

const steps = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };

/** moved is the cursor after a key, null where the key moves nothing. */
export function moved({ level, bit }, { key, shiftKey }, { levels, bits }) {
	const far = shiftKey ? 8 : 1;
	if (key === "Home") return { level, bit: 1 };
	if (key === "End") return { level, bit: bits };
	const step = steps[key];
	return step ? { level: within(level + far * step[0], 1, levels), bit: within(bit + far * step[1], 1, bits) } : null;
}

/** listenKeys joins the keyboard to the page. */
export function listenKeys(store, drawing, data) {
	addEventListener("keydown", (e) => {
		if (!(e.ctrlKey || e.metaKey) || e.altKey || /^(text|search)$/.test(e.target.type ?? "")) return;
		const key = e.key.toLowerCase();
		if (key !== "z" && key !== "y") return;
		e.preventDefault();
		if (key === "y" || e.shiftKey) store.redo();
		else store.undo();
	});
	matrixKeys(store, drawing, data);
	levelKeys(drawing, data);
	mapKeys(store, data);
}

function matrixKeys(store, drawing, data) {
	const { pointer } = drawing,
		matrix = $("matrix");
	matrix.addEventListener("focus", () => {
		pointer.cursor ??= { level: 1, bit: 1 };
		drawing.draw("matrix");
	});
	matrix.addEventListener("blur", () => {
		drawing.hover(null);
		drawing.draw("matrix");
	});
	matrix.addEventListener("keydown", (e) => {
		if (!data.code || e.ctrlKey || e.metaKey) return;
		const at = (pointer.cursor ??= { level: 1, bit: 1 }),
			next = moved(at, e, data.code);
		if (next) pointer.cursor = next;
		else if (e.key === " ") store.set(flip(store.present, at.level, at.bit));
		else if (e.key === "Enter") store.set(chooseBit(store.present, data.code, at.bit));
		else return;
		e.preventDefault();
		drawing.hover({ ...pointer.cursor });
		drawing.draw("matrix");
		setTimeout(() => drawing.speak(), 150);
	});
}

function levelKeys(drawing, data) {
	const figure = $("levels-figure");
	figure.addEventListener("keydown", (e) => {
		const step = { ArrowLeft: -1, ArrowRight: 1 }[e.key];
		if (!data.code || !step) return;
		e.preventDefault();
		const from = drawing.pointer.hover?.level ?? (step > 0 ? 0 : 2);
		drawing.hover({ level: within(from + step, 1, data.code.levels), bit: null });
		setTimeout(() => drawing.speak(), 150);
	});
	figure.addEventListener("blur", () => drawing.hover(null));
}

function mapKeys(store, data) {
	$("map").addEventListener("keydown", (e) => {
		const step = steps[e.key];
		if (!step || e.ctrlKey || e.metaKey) return;
		e.preventDefault();
		const s = store.present,
			factor = e.shiftKey ? 1.5 : 1.08;
		store.set({ r: round(s.r * factor ** step[1]), sigma: round(s.sigma * factor ** -step[0]) });
		setTimeout(() => {
			const error = short(data.theory?.mean.exact ?? data.samples?.overall);
			$("spoken").textContent = data.problem || `${modelText(store.present)}: mean error ${error} levels`;
		}, 300);
	});
}
