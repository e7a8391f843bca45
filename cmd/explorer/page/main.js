// The page: controls, figures and what happens when one touches them.
import { command, fileOf, isFile } from "explorer/command.js";
import { onPaper, save, toPNG } from "explorer/download.js";
import { dark, esc, light, short } from "explorer/figure.js";
import { bitsFigure, levelsFigure, mapFigure, matrixFigure, transitions } from "explorer/figures.js";
import { FitPanel } from "explorer/fit.js";
import { ignoreDropped, Pool } from "explorer/pool.js";
import { fromFragment, History, initial, toFragment } from "explorer/state.js";
import { scene, tableSamples, Views } from "explorer/views.js";

const $ = (id) => document.getElementById(id);
const history_ = new History(structuredClone(initial));
let views, pool, about, fit;
let hover = null, cursor = null, dragging = false;
const drawn = {}; // the places of the parts of each figure
const painted = {}; // what each figure shows

/* The theme. */
const scheme = matchMedia("(prefers-color-scheme: dark)");
let theme = null; // what the person chose; null follows the system
const isDark = () => (theme ?? (scheme.matches ? "dark" : "light")) === "dark";
const colours = () => (isDark() ? dark : light);
function paintTheme() {
	document.documentElement.dataset.theme = isDark() ? "dark" : "light";
	drawAll();
}
scheme.addEventListener("change", paintTheme);
$("theme").onclick = () => { theme = isDark() ? "light" : "dark"; paintTheme(); };

/* The state. */
const state = () => history_.present;

/** set changes the state. within is true during a drag: undo goes back to its beginning. */
function set(change, { within = false } = {}) {
	const next = { ...state(), ...change };
	if (JSON.stringify(next) === JSON.stringify(state())) return;
	history_.set(next, { within });
	show();
}

function show({ link = true } = {}) {
	showControls();
	scheduleCompute();
	if (link) scheduleLink();
}

let computing = false;
function scheduleCompute() {
	if (computing || !views) return;
	computing = true;
	queueMicrotask(() => { computing = false; views.compute(state()); });
	draw("matrix"); draw("levels"); draw("bits"); draw("map");
}

// The address follows when the state has come to rest: browsers refuse to change it at every move.
let linkTimer = 0;
function scheduleLink() {
	clearTimeout(linkTimer);
	linkTimer = setTimeout(() => {
		const { fragment } = toFragment(state());
		if (fragment === location.hash.slice(1)) return;
		try { window.history.pushState(null, "", fragment ? "#" + fragment : location.pathname + location.search); } catch { /* a frame without an address */ }
	}, 500);
}

function follow() {
	clearTimeout(linkTimer);
	let next;
	try { next = fromFragment(location.hash); } catch (err) { alert_(`This link cannot be shown: ${err.message}.`); return; }
	if (JSON.stringify(next) === JSON.stringify(state())) return;
	history_.set(next);
	alert_("");
	show({ link: false });
}
addEventListener("popstate", follow);

function alert_(text) {
	$("alert").hidden = !text;
	$("alert").textContent = text;
}

function undo() { if (history_.undo()) show(); }
function redo() { if (history_.redo()) show(); }
$("undo").onclick = undo;
$("redo").onclick = redo;
addEventListener("keydown", (e) => {
	if (!(e.ctrlKey || e.metaKey) || e.altKey || /^(text|search)$/.test(e.target.type ?? "")) return;
	if (e.key.toLowerCase() === "z") { e.preventDefault(); e.shiftKey ? redo() : undo(); }
	if (e.key.toLowerCase() === "y") { e.preventDefault(); redo(); }
});

$("link").onclick = async () => {
	const { fragment, whole } = toFragment(state());
	const url = location.href.split("#")[0] + (fragment ? "#" + fragment : "");
	try {
		await navigator.clipboard.writeText(url);
		flash($("link"), whole ? "Copied" : "Copied, without the file");
	} catch {
		prompt("The link:", url);
	}
	if (!whole) alert_("The link does not hold the matrix or the prior of your file: it is too large for an address.");
};

function flash(button, text) {
	const before = button.dataset.text ?? (button.dataset.text = button.textContent);
	button.textContent = text;
	clearTimeout(button.timer);
	button.timer = setTimeout(() => { button.textContent = before; }, 1500);
}

/* Controls. */
const logSliders = {
	r: () => [0.02, Math.max(3, state().levels / 2)],
	sigma: () => [0.1, Math.max(3, state().levels / 2)],
	noise: () => [0.1, Math.max(3, state().levels / 8)],
	misfit: () => [0.02, 2],
	temperature: () => [0.05, 20],
};
const round = (v) => Number(v.toPrecision(3));

function slider(name, toValue, toPlace) {
	const range = $(name), number = $(`${name}-number`);
	let began = false;
	range.addEventListener("input", () => { set({ [name]: toValue(+range.value) }, { within: began }); began = true; });
	range.addEventListener("change", () => { began = false; });
	number.addEventListener("change", () => {
		const v = Number(number.value);
		if (number.value !== "" && Number.isFinite(v) && (v > 0 || name === "misfit" && v === 0)) set({ [name]: v });
		else alert_(`${name} is “${number.value}”: want a positive number.`);
		showControls();
	});
	return () => {
		if (document.activeElement !== number) number.value = short(state()[name]);
		range.value = toPlace(state()[name]);
		range.setAttribute("aria-valuetext", short(state()[name]));
	};
}
const sliders = Object.entries(logSliders).map(([name, limits]) => slider(name,
	(p) => { const [lo, hi] = limits(); return round(lo * (hi / lo) ** (p / 1000)); },
	(v) => { const [lo, hi] = limits(); return Math.round((1000 * Math.log(v / lo)) / Math.log(hi / lo)); }));

for (const name of ["decoder", "outputs", "training", "method"]) $(name).addEventListener("change", () => set({ [name]: $(name).value }));
$("prior").addEventListener("change", () => set({ prior: $("prior").value === "counts" ? state().prior : { kind: $("prior").value, counts: [] } }));
for (const input of document.querySelectorAll("input[name=model]")) input.addEventListener("change", () => set({ model: input.value }));
$("seed").addEventListener("change", () => { const v = Number($("seed").value); if (Number.isInteger(v) && v >= 0) set({ seed: v }); showControls(); });
$("levels").addEventListener("change", () => {
	const v = Number($("levels").value);
	if (!Number.isInteger(v) || v < 2 || v > about.max_levels) alert_(`Levels are “${$("levels").value}”: want a whole number from 2 to ${about.max_levels}.`);
	else if (state().code.rows.length > 0) alert_(`${state().code.name} has ${state().levels} levels, and a file's code keeps them. Choose a named code first.`);
	else { alert_(""); setLevels(v); }
	showControls();
});

/** setLevels changes the number of levels of named codes. Bits that were changed by hand go. */
function setLevels(levels) {
	const plain = (c) => ({ name: c.rows.length > 0 ? "unary" : c.name, flips: [], rows: [] });
	const prior = state().prior.kind === "counts" && state().prior.counts.length > levels ? { kind: "uniform", counts: [] } : state().prior;
	set({ levels, code: plain(state().code), other: plain(state().other), bits: [], prior });
}

$("code").addEventListener("change", () => chooseCode($("code").value));
$("other").addEventListener("change", () => set({ other: { name: $("other").value, flips: [], rows: [] } }));
$("restore").onclick = () => set({ code: { ...state().code, flips: [] } });

function chooseCode(name) {
	if (name === state().code.name) return;
	set({ code: { name, flips: [], rows: [] }, bits: [], ...fitting() });
}

/** fitting leaves the choice of the decoder to belsim where the chosen one is for one family. */
const fitting = () => (state().decoder.startsWith("bel") ? { decoder: "auto" } : {});

function options(select, list, value) {
	const text = list.map(([v, label]) => `<option value="${esc(v)}">${esc(label)}</option>`).join("");
	if (select.dataset.list !== text) {
		select.innerHTML = text;
		select.dataset.list = text;
	}
	select.value = value;
}

function showControls() {
	const s = state();
	if (!about) return;
	const names = about.codes.map((c) => [c.name, c.name]);
	const own = (c) => (c.rows.length > 0 ? [[c.name, c.name]] : []);
	options($("code"), [...own(s.code), ...names], s.code.name);
	$("code").title = about.codes.find((c) => c.name === s.code.name)?.description ?? "";
	options($("other"), [...own(s.other), ...names], s.other.name);
	const fits = views?.data.code?.decoders ?? about.decoders.map((d) => d.name);
	const auto = views?.data.code?.decoder && s.decoder === "auto" ? `auto: ${views.data.code.decoder}` : "auto";
	options($("decoder"), [["auto", auto], ...about.decoders.filter((d) => fits.includes(d.name) || d.name === s.decoder).map((d) => [d.name, d.name])], s.decoder);
	for (const name of ["outputs", "training", "method"]) $(name).value = s[name];
	if (document.activeElement !== $("levels")) $("levels").value = s.levels;
	$("seed").value = s.seed;
	$("prior").querySelector("[value=counts]").hidden = s.prior.kind !== "counts";
	$("prior").value = s.prior.kind;
	for (const input of document.querySelectorAll("input[name=model]")) input.checked = input.value === s.model;
	for (const part of document.querySelectorAll("[data-model]")) part.hidden = part.dataset.model !== s.model;
	for (const f of sliders) f();
	$("edited").hidden = s.code.flips.length === 0;
	$("edited-text").textContent = `${s.code.flips.length} ${s.code.flips.length === 1 ? "bit" : "bits"} changed.`;
	$("undo").disabled = history_.past.length === 0;
	$("redo").disabled = history_.future.length === 0;
}

/* Figures. */
const pending = new Set();
function draw(view) {
	if (pending.size === 0) requestAnimationFrame(() => { const now = [...pending]; pending.clear(); for (const v of now) drawings[v](); });
	pending.add(view);
}
function drawAll() { for (const v of Object.keys(drawings)) draw(v); }
new ResizeObserver(drawAll).observe($("matrix-card"));

const widthOf = (element) => Math.max(260, Math.floor(element.clientWidth));
const tallOf = (width) => Math.round(Math.min(460, Math.max(300, width * 0.72)));

/** twins are the levels that the engine says have the same code word. */
function twins(d) {
	const { matrix, levels, bits } = d, seen = new Map();
	for (let i = 0; i < levels; i++) {
		const row = matrix.subarray(i * bits, (i + 1) * bits).join("");
		if (seen.has(row)) return [seen.get(row) + 1, i + 1];
		seen.set(row, i);
	}
	return [];
}

function chosenBits() {
	const d = views.data.code, s = state();
	const chosen = s.bits.filter((k) => k <= d.bits);
	if (chosen.length > 0) return chosen;
	const changing = transitions(d.matrix, d.levels, d.bits).flatMap((t, k) => (t.length > 0 ? [k + 1] : []));
	return changing.length > 1 ? [changing[0], changing[Math.floor(changing.length / 2)]] : changing;
}

const titleOf = () => `${views.data.code.name}, ${views.data.code.levels} levels, ${views.data.code.bits} bits`;
const modelText = () => { const s = state(); return s.model === "mixture" ? `r = ${short(s.r)}, σ = ${short(s.sigma)}` : `label noise ${short(s.noise)}, misfit ${short(s.misfit)}, trained ${s.training === "bits" ? "bit by bit" : "for the decoder"}`; };

const make = {
	matrix(c, width, live) {
		const d = views.data.code;
		return matrixFigure({ ...d, title: `Code matrix of ${titleOf()}`, chosen: live ? chosenBits() : [], hover: live ? hover : null, cursor: live && document.activeElement === $("matrix") ? cursor : null, twins: live && d.problem ? twins(d) : [] }, c, width, tallOf(width) + 40);
	},
	levels(c, width, live) {
		const { code, theory, samples } = views.data;
		return levelsFigure({ levels: code.levels, bound: theory?.bound, exact: theory?.exact, mean: samples?.mean, stderr: samples?.stderr, hover: live ? hover : null, title: `Expected error by level of ${titleOf()}` }, c, width, tallOf(width) + 40);
	},
	bits(c, width, live) {
		const { code, errors } = views.data;
		const chosen = chosenBits();
		const shown = live && hover?.bit && hover.bit <= code.bits && !chosen.includes(hover.bit) && chosen.length > 0 ? [...chosen.slice(0, -1), hover.bit] : chosen;
		const rates = fit?.rates && fit.rates.length === code.levels * code.bits && fit.code === state().code.name ? fit.rates : null;
		return bitsFigure({ ...code, e: errors?.e, shown, chosen, rates, hover: live ? hover : null, title: `Error probabilities of bits ${shown.join(", ")} of ${titleOf()}` }, c, width, tallOf(width));
	},
	map(c, width, live) {
		const m = views.data.map, s = state();
		const point = m.model === s.model && live !== "bare" ? (s.model === "mixture" ? { x: s.r, y: s.sigma } : { x: s.noise, y: s.misfit }) : null;
		const [xTitle, yTitle] = m.model === "mixture" ? ["weight r", "width σ (levels)"] : ["label noise s (levels)", "misfit η (levels)"];
		return mapFigure({ ...m, a: m.a.name, b: m.b.name, point, xTitle, yTitle, title: `Increase of the error of ${m.a.name} over ${m.b.name}, in percent` }, c, width, tallOf(width));
	},
};

/** paint puts a drawing into its place, where it is not the one that is there. */
function paint(id, svg) {
	if ($(id).firstElementChild && painted[id] === svg) return;
	painted[id] = svg;
	$(id).innerHTML = svg;
}

const drawings = {
	matrix() {
		if (!views?.data.code) return;
		drawn.matrix = make.matrix(colours(), widthOf($("matrix")), true);
		paint("matrix", drawn.matrix.svg);
		const d = views.data.code;
		const count = transitions(d.matrix, d.levels, d.bits).reduce((sum, t) => sum + t.length, 0);
		$("matrix-note").textContent = `${d.levels} × ${d.bits}, ${count} transitions`;
	},
	levels() {
		const d = views?.data;
		if (!d?.code) return;
		drawn.levels = make.levels(colours(), widthOf($("levels-figure")), true);
		paint("levels-figure", drawn.levels.svg);
		$("levels-note").textContent = d.samples ? `${d.samples.count.toLocaleString("en")} samples of each level` : "";
	},
	bits() {
		if (!views?.data.code) return;
		drawn.bits = make.bits(colours(), widthOf($("bits")), true);
		paint("bits", drawn.bits.svg);
		$("bits-note").textContent = state().bits.length > 0 ? "" : "click above a column of the matrix to choose bits";
	},
	map() {
		const m = views?.data.map;
		$("map-a").textContent = fileOf(state().code);
		if (!m) return;
		if (m.problem) {
			$("map").innerHTML = "";
			$("map-note").textContent = m.problem;
			drawn.map = null;
			return;
		}
		drawn.map = make.map(colours(), widthOf($("map")), true);
		paint("map", drawn.map.svg);
		const method = { exact: "exact errors", bound: "bounds", mc: "100 samples of each level" }[m.method];
		$("map-note").textContent = `${m.decoders[0]} against ${m.decoders[1]}, ${method}, ${m.side} × ${m.side}${m.whole ? "" : ", refining …"}`;
	},
	headline() {
		const d = views?.data, s = state();
		if (!d?.code) return;
		$("name").textContent = d.code.name;
		$("facts").textContent = `${d.code.levels} levels, ${d.code.bits} bits${d.code.decoder ? `, ${d.code.decoder} on ${d.theory?.outputs ?? "bits"}` : ""}`;
		const of = (v) => short(v ?? NaN);
		const t = d.theory;
		$("exact").textContent = !t ? "–" : t.exact_mean != null ? of(t.exact_mean) : t.later ? "…" : t.exact_lo != null ? `${of(t.exact_lo)} to ${of(t.exact_hi)}` : "–";
		$("bound").textContent = d.theory ? (d.theory.later && d.theory.bound_mean == null ? "…" : of(d.theory.bound_mean)) : "–";
		$("bound").title = d.theory?.bound_name ?? "";
		$("sampled").innerHTML = d.samples ? `${of(d.samples.overall)} <small>± ${esc(Number(d.samples.error.toPrecision(2)))}</small>` : "–";
		$("worst").innerHTML = d.samples ? `${d.samples.worst} <small>(${of(d.samples.mean[d.samples.worst - 1])})</small>` : "–";
		$("model-problem").hidden = !d.problem;
		let text = d.problem;
		if (d.errors?.problem && d.errors.max_r != null) text = `No classifier errs with a probability above 1: for σ = ${short(s.sigma)}, r may be at most ${short(Math.floor(d.errors.max_r * 1e4) / 1e4)}.`;
		$("model-problem").textContent = text;
		for (const id of ["levels-figure", "bits"]) $(id).classList.toggle("stale", Boolean(d.problem));
	},
	prior() {
		const p = views?.data.code?.prior;
		if (!p) return;
		const w = widthOf($("prior-picture").parentElement) - 28, most = Math.max(...p);
		$("prior-picture").setAttribute("width", w);
		$("prior-picture").innerHTML = `<path d="M0 26${p.map((v, i) => `L${((i * w) / p.length).toFixed(1)} ${(26 - (23 * v) / most).toFixed(1)}H${(((i + 1) * w) / p.length).toFixed(1)}`).join("")}V26z" fill="${colours().exact}" fill-opacity=".35"/>`;
	},
	table() { drawTable(); },
	readout() { drawReadout(); },
};

function drawTable() {
	const d = views?.data, s = state();
	if (!d) return;
	const best = (r) => r.exact ?? r.mean ?? Infinity;
	const rows = [...d.rows.entries()].sort(([, a], [, b]) => (a.problem ? 1 : 0) - (b.problem ? 1 : 0) || best(a) - best(b));
	const most = Math.max(...rows.map(([, r]) => (r.problem ? 0 : best(r))));
	const now = JSON.stringify(s.code);
	const focused = document.activeElement?.dataset?.key;
	const html = rows.map(([key, r]) => {
		const name = r.of.flips.length > 0 ? fileOf(r.of) : r.of.name;
		const button = `<button class="name" data-key="${esc(key)}" title="Show this code">${esc(name)}</button>`;
		const b = `<button class="small" data-other="${esc(key)}" title="Make it code B of the map" aria-label="Make ${esc(name)} code B of the map">B</button>`;
		if (r.problem) return `<tr class="${key === now ? "chosen" : ""}"><td>${button}</td><td colspan="8" class="muted" style="text-align:left;white-space:normal">${esc(r.problem)}</td><td>${b}</td></tr>`;
		const meter = `<span class="meter" style="width:${(64 * best(r)) / most || 0}px"></span>`;
		return `<tr class="${key === now ? "chosen" : ""}"><td>${button}</td><td>${r.bits}</td><td>${r.decoder}${r.outputs === "logits" ? " <small>logits</small>" : ""}</td><td>${short(r.bound)}</td><td class="${r.exact != null ? "best" : ""}">${r.exact != null ? short(r.exact) : r.later ? "…" : r.exact_lo != null ? `${short(r.exact_lo)} to ${short(r.exact_hi)}` : "–"}</td><td class="${r.exact != null ? "" : "best"}">${meter}${short(r.mean)}</td><td class="muted">${r.stderr == null ? "–" : Number(r.stderr.toPrecision(2))}</td><td>${short(r.rms)}</td><td>${r.worst_level} <small>(${short(r.worst_mean)})</small></td><td>${b}</td></tr>`;
	}).join("");
	const body = $("table").tBodies[0];
	if (body.dataset.html === html) return;
	body.dataset.html = html;
	body.innerHTML = html;
	if (focused) body.querySelector(`[data-key="${CSS.escape(focused)}"]`)?.focus();
	const list = rows.filter(([, r]) => !r.problem);
	// One decoder reads all codes; the headline may have another.
	if (list.length > 0) $("table-note").textContent = `all read by ${list[0][1].decoder}; ${list[0][1].asked.toLocaleString("en")} samples of each level`;
}
$("table").addEventListener("click", (e) => {
	const key = e.target.dataset?.key, other = e.target.dataset?.other;
	if (key) set({ code: JSON.parse(key), bits: [], ...fitting() });
	if (other) set({ other: JSON.parse(other) });
});

function readoutText() {
	const d = views?.data;
	if (!d?.code || !(hover?.level || hover?.bit)) return "";
	const { levels, bits, matrix } = d.code;
	const parts = [];
	const { level, bit } = hover;
	if (level && level <= levels) {
		parts.push(`level ${level}`);
		if (!bit) {
			if (Number.isFinite(d.theory?.exact[level - 1])) parts.push(`exact ${short(d.theory.exact[level - 1])}`);
			if (Number.isFinite(d.theory?.bound[level - 1])) parts.push(`bound ${short(d.theory.bound[level - 1])}`);
			if (d.samples) parts.push(`sampled ${short(d.samples.mean[level - 1])} ± ${Number((d.samples.stderr[level - 1] || 0).toPrecision(2))}`);
		}
	}
	if (bit && bit <= bits) {
		const list = transitions(matrix, levels, bits)[bit - 1];
		parts.push(`bit ${bit}`);
		if (level && level <= levels) {
			parts.push(`its target is ${matrix[(level - 1) * bits + bit - 1]}`);
			const e = d.errors?.e?.[(level - 1) * bits + bit - 1];
			if (e !== undefined) parts.push(`it errs with probability ${short(e)}`);
		}
		parts.push(list.length === 0 ? "it never changes" : `it changes after ${list.length > 6 ? `${list.length} levels` : `level ${list.join(", ")}`}`);
	}
	return parts.join(" · ");
}
function drawReadout() {
	$("readout").textContent = readoutText() || "Mean |error| in levels. Point at a bit or a level.";
}
function speak() { $("spoken").textContent = readoutText(); }

function setHover(next) {
	if (JSON.stringify(next) === JSON.stringify(hover)) return;
	hover = next;
	for (const v of ["matrix", "levels", "bits", "readout"]) draw(v);
}

/* The pointer and the keys. */
function place(figure, e) {
	const svg = e.currentTarget.querySelector("svg");
	if (!svg || !figure) return null;
	const r = svg.getBoundingClientRect(), scale = svg.width.baseVal.value / r.width;
	return { x: (e.clientX - r.left) * scale, y: (e.clientY - r.top) * scale };
}
const between = (v, lo, hi) => v >= lo && v <= hi;

function cellAt(e) {
	const f = drawn.matrix, p = place(f, e);
	if (!p) return null;
	const { box } = f, d = views.data.code;
	const bit = between(p.x, box.left, box.right) ? Math.min(d.bits, Math.max(1, Math.round(f.x.of(p.x)))) : null;
	const level = between(p.y, box.top, box.bottom) ? Math.min(d.levels, Math.max(1, Math.round(f.y.of(p.y)))) : null;
	return { level, bit, above: p.y < box.top };
}
$("matrix").addEventListener("pointermove", (e) => { const at = cellAt(e); setHover(at && (at.bit || at.level) ? { level: at.bit ? at.level : at.level, bit: at.bit } : null); });
for (const id of ["matrix", "levels-figure", "bits"]) $(id).addEventListener("pointerleave", () => setHover(null));
$("matrix").addEventListener("click", (e) => {
	const at = cellAt(e);
	if (!at?.bit) return;
	if (at.level) { cursor = { level: at.level, bit: at.bit }; flip(at.level, at.bit); } else if (at.above) chooseBit(at.bit);
});

/** flip changes a bit of the code. */
function flip(level, bit) {
	const { code } = state();
	const same = (f) => f[0] === level && f[1] === bit;
	const flips = code.flips.some(same) ? code.flips.filter((f) => !same(f)) : [...code.flips, [level, bit]];
	set({ code: { ...code, flips }, ...fitting() });
}

function chooseBit(bit) {
	const chosen = chosenBits();
	const next = chosen.includes(bit) ? chosen.filter((k) => k !== bit) : [...chosen, bit].slice(-4);
	set({ bits: next.sort((a, b) => a - b) });
}

const steps = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };
$("matrix").addEventListener("focus", () => { cursor ??= { level: 1, bit: 1 }; draw("matrix"); });
$("matrix").addEventListener("blur", () => { setHover(null); draw("matrix"); });
$("matrix").addEventListener("keydown", (e) => {
	const d = views?.data.code;
	if (!d || e.ctrlKey || e.metaKey) return;
	cursor ??= { level: 1, bit: 1 };
	const step = steps[e.key], far = e.shiftKey ? 8 : 1;
	if (step) cursor = { level: Math.min(d.levels, Math.max(1, cursor.level + far * step[0])), bit: Math.min(d.bits, Math.max(1, cursor.bit + far * step[1])) };
	else if (e.key === "Home") cursor = { ...cursor, bit: 1 };
	else if (e.key === "End") cursor = { ...cursor, bit: d.bits };
	else if (e.key === " ") flip(cursor.level, cursor.bit);
	else if (e.key === "Enter") chooseBit(cursor.bit);
	else return;
	e.preventDefault();
	setHover({ ...cursor });
	draw("matrix");
	setTimeout(speak, 150);
});

function levelAt(figure, e) {
	const p = place(figure, e);
	if (!p) return null;
	const level = Math.round(figure.x.of(p.x));
	return level >= 1 && level <= views.data.code.levels ? { level, bit: null } : null;
}
$("levels-figure").addEventListener("pointermove", (e) => setHover(levelAt(drawn.levels, e)));
$("bits").addEventListener("pointermove", (e) => {
	const at = levelAt(drawn.bits, e), p = place(drawn.bits, e);
	const row = p && drawn.bits.boxes.find((b) => between(p.y, b.box.top - 8, b.box.bottom + 6));
	setHover(at && { level: at.level, bit: row && chosenBits().includes(row.k) ? row.k : null });
});
$("levels-figure").addEventListener("keydown", (e) => {
	const d = views?.data.code;
	if (!d || !["ArrowLeft", "ArrowRight"].includes(e.key)) return;
	e.preventDefault();
	const level = Math.min(d.levels, Math.max(1, (hover?.level ?? (e.key === "ArrowRight" ? 0 : 2)) + (e.key === "ArrowRight" ? 1 : -1)));
	setHover({ level, bit: null });
	setTimeout(speak, 150);
});
$("levels-figure").addEventListener("blur", () => setHover(null));

function moveOnMap(e, within) {
	const f = drawn.map, p = place(f, e);
	if (!p) return;
	const clamp = (v, lo, hi) => Math.min(hi, Math.max(lo, v));
	const x = round(f.x.of(clamp(p.x, f.box.left, f.box.right))), y = round(f.y.of(clamp(p.y, f.box.top, f.box.bottom)));
	set(state().model === "mixture" ? { r: x, sigma: y } : { noise: x, misfit: y }, { within });
}
$("map").addEventListener("pointerdown", (e) => {
	const f = drawn.map, p = place(f, e);
	if (!p || e.button !== 0 || !between(p.x, f.box.left, f.box.right) || !between(p.y, f.box.top, f.box.bottom)) return;
	dragging = true;
	$("map").setPointerCapture(e.pointerId);
	moveOnMap(e, false);
});
$("map").addEventListener("pointermove", (e) => { if (dragging) moveOnMap(e, true); });
for (const type of ["pointerup", "pointercancel"]) $("map").addEventListener(type, () => { dragging = false; });
$("map").addEventListener("keydown", (e) => {
	const step = steps[e.key];
	if (!step || e.ctrlKey || e.metaKey) return;
	e.preventDefault();
	const s = state(), f = e.shiftKey ? 1.5 : 1.08;
	const [x, y] = s.model === "mixture" ? ["r", "sigma"] : ["noise", "misfit"];
	set({ [x]: round(s[x] * f ** step[1]), [y]: round(s[y] * f ** -step[0]) });
	setTimeout(() => {
		const d = views.data;
		$("spoken").textContent = d.problem || `${modelText()}: mean error ${short(d.theory?.exact_mean ?? d.samples?.overall)} levels`;
	}, 300);
});

/* Downloads. */
const figures = { "matrix-card": ["matrix", "code"], "levels-card": ["levels", "levels"], "bits-card": ["bits", "errors"], "map-card": ["map", "map"], "table-card": [null, "table"] };
for (const [card, [figure, what]] of Object.entries(figures)) {
	const menu = document.createElement("details");
	menu.className = "menu";
	const kinds = [...(figure ? ["SVG", "PNG"] : []), "CSV", ...(what === "errors" ? [] : ["Copy command"])];
	menu.innerHTML = `<summary role="button" aria-label="Save the ${what === "table" ? "table" : "figure"}">Save</summary><div>${kinds.map((k) => `<button data-kind="${k}">${k === "CSV" ? "CSV: the numbers" : k}</button>`).join("")}</div>`;
	menu.addEventListener("click", async (e) => {
		const kind = e.target.dataset?.kind;
		if (!kind) return;
		try { await saveFigure(figure, what, kind, e.target); menu.open = kind === "Copy command"; } catch (err) { if (err !== null) alert_(`It could not be saved: ${err.message}`); }
	});
	menu.addEventListener("keydown", (e) => { if (e.key === "Escape") { menu.open = false; menu.firstChild.focus(); } });
	$(card).querySelector(".bar").append(menu);
}
addEventListener("click", (e) => { for (const m of document.querySelectorAll(".menu[open]")) if (!m.contains(e.target)) m.open = false; });

function context() {
	const s = state(), d = views.data;
	const codes = [...d.rows.values()].filter((r) => !r.problem).map((r) => r.of);
	const map = d.map?.axes ? { x: d.map.axes.x, y: d.map.axes.y, method: d.map.method, samples: d.map.samples } : null;
	return { samples: d.samples?.count ?? 1000, tableSamples: tableSamples(s.levels), codes, rowDecoder: views.rowDecoder(s), map };
}

async function saveFigure(figure, what, kind, button) {
	const s = state(), d = views.data;
	if (kind === "Copy command") {
		const text = command(what, s, context());
		try { await navigator.clipboard.writeText(text); flash(button, "Copied"); } catch { prompt("The command:", text); }
		const own = [s.code, s.other].filter(isFile).map(fileOf);
		if (own.length > 0 && what !== "table") alert_(`The command reads ${own.join(" and ")}: save the code as CSV under this name.`);
		if (s.prior.kind !== "uniform") await savePrior(sceneOf());
		return;
	}
	if (kind === "CSV") {
		const c = context();
		const file = await pool.ask("file", "file", {
			what, scene: sceneOf(), code: s.code, samples: what === "table" ? c.tableSamples : c.samples,
			rows: c.codes.map((code) => ({ code, decoder: c.rowDecoder })),
			map: d.map?.axes ? { scene: sceneOf(), a: s.code, b: s.other, method: d.map.method, x: d.map.axes.x, y: d.map.axes.y, samples: 100 } : undefined,
		}, { rank: 0 });
		save(what === "code" ? (isFile(s.code) ? fileOf(s.code) : `${s.code.name}.csv`) : `${what}.csv`, file.file, "text/csv");
		return;
	}
	const title = what === "map" ? `${d.map.a.name} against ${d.map.b.name}, ${d.map.method === "mc" ? "sampled" : d.map.method}, ${s.levels} levels` : what === "code" ? titleOf() : `${titleOf()}, ${modelText()}`;
	const text = onPaper(make[figure](light, figure === "matrix" ? 620 : 640, what === "map" ? true : false).svg, light, title);
	if (kind === "SVG") save(`${what}.svg`, text, "image/svg+xml");
	else save(`${what}.png`, await toPNG(text), "image/png");
}
const sceneOf = () => scene(state());
async function savePrior(sc) {
	const file = await pool.ask("file", "file", { what: "prior", scene: sc, code: state().code }, { rank: 0 });
	save("prior.csv", file.file, "text/csv");
}

/* Files. */
let depth = 0;
const hasFiles = (e) => e.dataTransfer?.types?.includes("Files");
addEventListener("dragenter", (e) => { if (hasFiles(e)) { depth++; $("drop").hidden = false; } });
addEventListener("dragleave", (e) => { if (hasFiles(e) && --depth <= 0) { depth = 0; $("drop").hidden = true; } });
addEventListener("dragover", (e) => { if (hasFiles(e)) e.preventDefault(); });
addEventListener("drop", (e) => {
	if (!hasFiles(e)) return;
	e.preventDefault();
	depth = 0;
	$("drop").hidden = true;
	openFiles([...e.dataTransfer.files]);
});
$("open").addEventListener("change", () => { openFiles([...$("open").files]); $("open").value = ""; });

/** openFiles takes what was given: a code, a fit, a prior, or a network's samples. */
async function openFiles(list) {
	alert_("");
	const samples = [];
	try {
		for (const f of list) {
			if (f.size > 256 << 20) throw new Error(`${f.name}: ${Math.round(f.size / (1 << 20))} MiB; the explorer reads files of up to 256 MiB, the command has no limit`);
			const bytes = new Uint8Array(await f.arrayBuffer());
			const found = await pool.ask("file", "inspect", { path: f.name }, { rank: 0, files: [[f.name, bytes]] });
			if (found.kind === "code") {
				const other = state().other.rows.length > 0 || state().levels === found.levels ? state().other : { name: state().other.name, flips: [], rows: [] };
				set({ levels: found.levels, code: { name: found.code.name, flips: [], rows: found.code.rows }, other: other.rows.length > 0 && other.rows.length !== found.levels ? { name: "unary", flips: [], rows: [] } : other, bits: [], ...fitting(), ...priorFor(found.levels) });
			} else if (found.kind === "prior") {
				if (found.levels > state().levels) throw new Error(`${f.name}: its labels need ${found.levels} levels, and the code has ${state().levels}`);
				set({ prior: found.prior });
			} else if (found.kind === "fit") useFit(found.fit, found.prior);
			else samples.push({ name: f.name, bytes, ...found });
		}
		if (samples.length > 0) fit.take(samples, state());
	} catch (err) {
		alert_(err.message);
	}
}
const priorFor = (levels) => (state().prior.kind === "counts" && state().prior.counts.length > levels ? { prior: { kind: "uniform", counts: [] } } : {});

/** useFit takes the model of a fit. */
function useFit(f, prior) {
	if (f.levels > about.max_levels) throw new Error(`the fit has ${f.levels} levels; the explorer takes up to ${about.max_levels}`);
	const known = about.codes.some((c) => c.name === f.code);
	const mine = state().code.name === f.code && state().levels === f.levels;
	const keep = mine ? {} : { levels: f.levels, code: { name: known ? f.code : "johnson", flips: [], rows: [] }, other: { name: "unary", flips: [], rows: [] }, bits: [], ...fitting() };
	const change = { ...keep, r: f.r, sigma: f.sigma, prior };
	if (f.noise != null) Object.assign(change, { model: "perceived", noise: f.noise, misfit: f.misfit, cutoff: f.cutoff ?? 0, training: f.training || "bits" });
	else change.model = "mixture";
	set(change);
	if (!known && !mine) alert_(`The fit is for ${f.code}, a file: drop it here, too. Its model is shown with johnson until then.`);
}

/* The beginning. */
// What is drawn anew for an answer, where the model fits the code. Else, everything is.
const shows = {
	errors: ["bits", "headline", "readout"],
	theory: ["levels", "headline", "readout"], exact: ["levels", "headline", "readout"],
	samples: ["levels", "headline", "readout"], refined: ["levels", "headline", "readout"],
	map: ["map"], "map refined": ["map"],
	table: ["table"], "table refined": ["table"],
};
const everything = ["matrix", "prior", "levels", "bits", "headline", "readout", "table"];
let rowsTimer = 0; // rows of the table come one by one; it is not drawn for each

function changed(view) {
	if (view === "table row") {
		rowsTimer ||= setTimeout(() => { rowsTimer = 0; draw("table"); }, 80);
		return;
	}
	if (view === "code") showControls();
	const fits = shows[view] && !(views.data.problem && shows[view].includes("headline"));
	for (const v of fits ? shows[view] : everything) draw(v);
}

/** decode reads bytes that the builder wrote as text, seven bits a character. */
function decode(text) {
	const forbidden = [0, 10, 13, 60];
	const bytes = new Uint8Array(Math.ceil((text.length * 14) / 8));
	let n = 0, bits = 0, value = 0;
	const add = (group) => {
		value = (value << 7) | group;
		bits += 7;
		if (bits < 8) return;
		bits -= 8;
		bytes[n++] = value >> bits;
		value &= (1 << bits) - 1;
	};
	for (let i = 0; i < text.length; i++) {
		const c = text.charCodeAt(i);
		if (c < 128) add(c);
		else { add(forbidden[(c - 256) >> 7]); add(c & 127); }
	}
	return bytes.subarray(0, n);
}

async function compiled() {
	const text = $("wasm").textContent, size = +$("wasm").dataset.size;
	const stream = new Blob([decode(text).subarray(0, size)]).stream().pipeThrough(new DecompressionStream("gzip"));
	return WebAssembly.compileStreaming(new Response(stream, { headers: { "Content-Type": "application/wasm" } }));
}

async function start() {
	paintTheme();
	const module = await compiled();
	pool = new Pool(module, $("worker").textContent, Math.max(3, Math.min(5, navigator.hardwareConcurrency || 2)));
	about = await pool.ask("about", "about", {}, { rank: 0 });
	$("version").textContent = about.version;
	views = new Views(pool, about, changed);
	fit = new FitPanel($("fit-card"), $("fit"), { pool, about, alert: alert_, use: useFit, colours, redraw: () => draw("bits") });
	let text = "";
	try { history_.present = fromFragment(location.hash); } catch (err) { text = `This link cannot be shown: ${err.message}.`; }
	alert_(text);
	show({ link: false });
	$("loading").hidden = true;
	globalThis.explorer = { state, set, views, pool, get idle() { return !pool.busy && views.resting === 0; }, undo, redo, command: (what) => command(what, state(), context()), startedAfter: performance.now() };
}
start().catch((err) => {
	$("loading").hidden = true;
	alert_(`The explorer could not start: ${err.message}. It needs a browser of 2023 or later.`);
});
