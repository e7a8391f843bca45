// The pointer: it lights up what belongs together, changes bits and moves on the map.
import { $ } from "explorer/dom.js";
import { within } from "explorer/figure.js";
import { chooseBit, chosenBits, flip, moveTo } from "explorer/moves.js";

const between = (v, lo, hi) => v >= lo && v <= hi;

/** place is where a pointer is in a figure, in the units of its drawing. */
function place(figure, e) {
	const svg = e.currentTarget.querySelector("svg");
	if (!svg || !figure) return null;
	const r = svg.getBoundingClientRect(),
		scale = svg.width.baseVal.value / r.width;
	return { x: (e.clientX - r.left) * scale, y: (e.clientY - r.top) * scale };
}

/** cellAt is the level and the bit at a place of the matrix, null where it is beside them. */
export function cellAt({ box, x, y }, { levels, bits }, p) {
	const bit = between(p.x, box.left, box.right) ? within(Math.round(x.of(p.x)), 1, bits) : null;
	const level = between(p.y, box.top, box.bottom) ? within(Math.round(y.of(p.y)), 1, levels) : null;
	return { level, bit, above: p.y < box.top };
}

/** listenPointer joins the pointer to the figures. */
export function listenPointer(store, drawing, data) {
	const { drawn, pointer } = drawing;
	const cell = (e) => {
		const p = place(drawn.matrix, e);
		return p && cellAt(drawn.matrix, data.code, p);
	};
	const level = (figure, e) => {
		const p = place(figure, e);
		const at = p && Math.round(figure.x.of(p.x));
		return between(at ?? 0, 1, data.code?.levels) ? { level: at, bit: null } : null;
	};
	const hear = (id, type, f) => $(id).addEventListener(type, f);

	hear("matrix", "pointermove", (e) => {
		const at = cell(e);
		drawing.hover(at && (at.bit || at.level) ? { level: at.level, bit: at.bit } : null);
	});
	hear("matrix", "click", (e) => {
		const at = cell(e);
		if (at?.bit && at.level) {
			pointer.cursor = { level: at.level, bit: at.bit };
			store.set(flip(store.present, at.level, at.bit));
		} else if (at?.bit && at.above) store.set(chooseBit(store.present, data.code, at.bit));
	});
	hear("levels-figure", "pointermove", (e) => drawing.hover(level(drawn.levels, e)));
	hear("bits", "pointermove", (e) => {
		const at = level(drawn.bits, e),
			p = place(drawn.bits, e);
		const row = p && drawn.bits.boxes.find((b) => between(p.y, b.box.top - 8, b.box.bottom + 6));
		const chosen = row && chosenBits(store.present, data.code).includes(row.k);
		drawing.hover(at && { level: at.level, bit: chosen ? row.k : null });
	});
	for (const id of ["matrix", "levels-figure", "bits"]) hear(id, "pointerleave", () => drawing.hover(null));
	listenMap(store, drawn);
}

/** listenMap moves to where the pointer is pressed and dragged. One undo takes a drag back. */
function listenMap(store, drawn) {
	const map = $("map");
	let dragging = false;
	const move = (e, during) => {
		const f = drawn.map,
			p = place(f, e);
		if (!p) return;
		const x = f.x.of(within(p.x, f.box.left, f.box.right)),
			y = f.y.of(within(p.y, f.box.top, f.box.bottom));
		store.set(moveTo(x, y), { within: during });
	};
	map.addEventListener("pointerdown", (e) => {
		const f = drawn.map,
			p = place(f, e);
		if (!p || e.button !== 0 || !between(p.x, f.box.left, f.box.right) || !between(p.y, f.box.top, f.box.bottom))
			return;
		dragging = true;
		map.setPointerCapture(e.pointerId);
		move(e, false);
	});
	map.addEventListener("pointermove", (e) => {
		if (dragging) move(e, true);
	});
	for (const type of ["pointerup", "pointercancel"])
		map.addEventListener(type, () => {
			dragging = false;
		});
}
