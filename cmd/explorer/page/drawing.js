// The page is drawn at the next frame, and only where it has changed.
import { fileOf } from "explorer/command.js";
import { $, dim, widthOf } from "explorer/dom.js";
import { drawHeadline, drawProblem, drawPrior, readout } from "explorer/headline.js";
import { gridText } from "explorer/map.js";
import { transitions } from "explorer/matrix.js";
import { same } from "explorer/state.js";
import { figures } from "explorer/shown.js";
import { drawTable } from "explorer/table.js";
import { of } from "explorer/viewcode.js";

const places = { matrix: "matrix", levels: "levels-figure", bits: "bits", map: "map" };

// What is drawn for an answer, where the model fits the code. Else, everything is.
const shows = {
	errors: ["bits", "headline", "readout"],
	theory: ["levels", "headline", "readout"],
	exact: ["levels", "headline", "readout"],
	answers: ["levels", "readout"],
	samples: ["levels", "headline", "readout"],
	refined: ["levels", "headline", "readout"],
	map: ["map"],
	"map refined": ["map"],
	table: ["table"],
	"table refined": ["table"],
};
const everything = ["matrix", "prior", "levels", "bits", "headline", "readout", "table"];
const moved = ["matrix", "levels", "bits", "headline", "table", "map"]; // what a move may make old
const methods = { exact: "exact errors", bound: "bounds", mc: "100 samples of each level" };

export class Drawing {
	/** what() is what there is to show; see figures of shown.js. */
	constructor(what, theme) {
		Object.assign(this, { what, theme });
		this.pointer = { hover: null, cursor: null };
		this.drawn = {}; // the figures, with the places of their parts
		this.pending = new Set();
		this.rowsTimer = 0;
		new ResizeObserver(() => this.drawAll()).observe($("matrix-card"));
	}

	draw(...views) {
		if (this.pending.size === 0) requestAnimationFrame(() => this.frame());
		for (const v of views) this.pending.add(v);
	}

	moved() {
		this.draw(...moved);
	}

	drawAll() {
		this.draw(...everything, "map");
	}

	frame() {
		const now = [...this.pending],
			what = this.what();
		this.pending.clear();
		drawProblem(what);
		if (what.data.code) for (const v of now) this[v](what);
	}

	/** answered draws what an answer has changed. Rows of the table come one by one: it is not
	 * drawn for each. */
	answered(view, problem) {
		if (view === "table row") {
			this.rowsTimer ||= setTimeout(() => {
				this.rowsTimer = 0;
				this.draw("table");
			}, 80);
			return;
		}
		const fits = shows[view] && !(problem && shows[view].includes("headline"));
		this.draw(...(fits ? shows[view] : everything));
	}

	/** hover shows a level and a bit in all figures. */
	hover(next) {
		if (same(next, this.pointer.hover)) return;
		this.pointer.hover = next;
		this.draw("matrix", "levels", "bits", "readout");
	}

	/** figure puts a figure into its place, where it is not the one that is there. */
	figure(name, what) {
		const element = $(places[name]),
			focused = document.activeElement === $("matrix");
		const pointer = { hover: this.pointer.hover, cursor: focused ? this.pointer.cursor : null };
		const before = this.drawn[name],
			now = figures[name](what, this.theme.colours, widthOf(element), pointer);
		this.drawn[name] = now;
		const there = before && element.firstElementChild;
		if (there && now.svg === before.svg) return;
		if (there && now.still && now.still === before.still) element.querySelector(".present").outerHTML = now.moving;
		else element.innerHTML = now.svg;
	}

	matrix(what) {
		const { matrix, levels, bits } = what.data.code;
		this.figure("matrix", what);
		dim("matrix", what.data.of !== of(what.state.code, what.state.levels));
		const count = transitions(matrix, levels, bits).reduce((sum, t) => sum + t.length, 0);
		$("matrix-note").textContent = `${levels} × ${bits}, ${count} transitions`;
	}

	levels(what) {
		const { samples, old, problem } = what.data;
		this.figure("levels", what);
		dim("levels-figure", Boolean(problem) || old.has("theory") || old.has("samples"));
		$("levels-note").textContent = samples ? `${samples.count.toLocaleString("en")} samples of each level` : "";
	}

	bits(what) {
		this.figure("bits", what);
		dim("bits", Boolean(what.data.problem) || what.data.old.has("errors"));
		$("bits-note").textContent =
			what.state.bits.length > 0 ? "" : "click above a column of the matrix to choose bits";
	}

	map(what) {
		const { map: m, old } = what.data,
			{ code, other } = what.state;
		dim("map", old.has("map"));
		$("map-a").textContent = fileOf(code);
		if (old.has("map")) $("map-note").textContent = `computing the map of ${fileOf(code)} against ${fileOf(other)} …`;
		if (m && !m.problem) this.figure("map", what);
		if (!m || old.has("map")) return;
		if (m.problem) {
			$("map").innerHTML = "";
			$("map-note").textContent = m.problem;
			this.drawn.map = null;
			return;
		}
		const [a, b] = m.decoders,
			more = m.whole ? "" : ", refining …";
		$("map-note").textContent = `${a} against ${b}, ${methods[m.method]}, ${gridText(m)}${more}`;
	}

	headline(what) {
		drawHeadline(what);
	}
	prior(what) {
		drawPrior(what.data.code.prior, this.theme.colours);
	}
	table(what) {
		drawTable(what);
	}
	readout(what) {
		const text = readout(what.data, this.pointer.hover);
		$("readout").textContent = text || "Mean |error| in levels. Point at a bit or a level.";
	}

	/** speak tells screen readers what the pointer would show. */
	speak() {
		$("spoken").textContent = readout(this.what().data, this.pointer.hover);
	}
}
