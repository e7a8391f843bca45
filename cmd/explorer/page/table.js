// The table of codes.
import { fileOf } from "explorer/command.js";
import { $, dim } from "explorer/dom.js";
import { error, esc, short } from "explorer/figure.js";
import { exactText } from "explorer/headline.js";
import { chooseCode } from "explorer/moves.js";

/** best is a row's error: exact where it is known. */
export const best = (row) => row.exact ?? row.mean ?? Infinity;

/** ordered are the rows with their keys: the smallest error first, then codes that networks learn badly, then those
 * of the state before, then those with a problem. */
export function ordered(rows) {
	const rank = (row) => (row.problem ? 3 : row.old ? 2 : row.unlearned ? 1 : 0);
	return [...rows.entries()].sort(([, a], [, b]) => rank(a) - rank(b) || best(a) - best(b));
}

/** barWidths are the widths of bars in pixels, of the logarithms of errors: one large error leaves
 * the others to be seen. */
export function barWidths(errors) {
	const good = errors.filter((v) => v > 0 && v < Infinity);
	const lo = Math.log(Math.min(...good)),
		hi = Math.log(Math.max(...good));
	return errors.map((v) => (good.includes(v) ? 8 + (56 * (Math.log(v) - lo)) / (hi - lo || 1) : 0));
}

/** rowHTML is a row of the table. bar is the width of its bar. */
function rowHTML(key, r, chosen, bar) {
	const name = esc(r.of.flips.length > 0 ? fileOf(r.of) : r.of.name);
	const show = `<button class="name" data-key="${esc(key)}" title="Show this code">${name}</button>`;
	const why = "Networks learn codes badly that have a mean of more than 8 transitions a bit";
	const badly = r.unlearned ? ` <small title="${why}">!</small>` : "";
	const titled = `title="Make it code B of the map" aria-label="Make ${name} code B of the map"`;
	const other = `<td><button class="small" data-other="${esc(key)}" ${titled}>B</button></td>`;
	const open = `<tr class="${chosen ? "chosen" : ""}${r.old ? " old" : ""}"><td>${show}${badly}</td>`;
	if (r.problem) return `${open}<td colspan="8" class="muted why-not">${esc(r.problem)}</td>${other}</tr>`;
	const meter = `<span class="meter" style="width:${bar.toFixed(1)}px"></span>`;
	const none = r.mean === 0 && r.stderr !== 0; // of the samples erred
	const exact = exactText(r);
	return [
		open,
		`<td>${r.bits}</td><td>${r.decoder}${r.outputs === "logits" ? " <small>logits</small>" : ""}</td>`,
		`<td>${short(r.bound)}</td><td class="${r.exact != null ? "best" : ""}">${exact}</td>`,
		`<td class="${r.exact != null ? "" : "best"}">${meter}${none ? `none in ${r.samples}` : short(r.mean)}</td>`,
		`<td class="muted">${error(r.stderr)}</td><td>${none ? "–" : short(r.rms)}</td>`,
		`<td>${r.worst_level} <small>(${short(r.worst_mean)})</small></td>${other}</tr>`,
	].join("");
}

export function drawTable({ state, data }) {
	const rows = ordered(data.rows),
		good = rows.map(([, r]) => r).filter((r) => !r.problem);
	const now = JSON.stringify(state.code);
	dim("table-note", data.old.has("table"));
	const bars = barWidths(rows.map(([, r]) => (r.problem ? NaN : best(r))));
	const html = rows.map(([key, r], i) => rowHTML(key, r, key === now, bars[i])).join("");
	const body = $("table").tBodies[0],
		focused = document.activeElement?.dataset?.key;
	if (body.dataset.html === html) return;
	body.dataset.html = html;
	body.innerHTML = html;
	if (focused) body.querySelector(`[data-key="${CSS.escape(focused)}"]`)?.focus();
	if (good.length === 0) return;
	$("table-note").textContent = noteText(good, data.code);
}

/** noteText says which decoder reads the codes of the table, and whether the headline has another. */
export function noteText(rows, code) {
	const readers = new Set(rows.map((r) => r.decoder));
	const by = readers.size > 1 ? "each code read by the decoder of its row" : `all read by ${rows[0].decoder}`;
	const text = `${by}; ${rows[0].asked.toLocaleString("en")} samples of each level; bars: logarithms`;
	if (!code.decoder || readers.has(code.decoder)) return text;
	return `${text}. The numbers and figures above are of ${code.name} read by ${code.decoder}.`;
}

/** listenTable makes the names of the table show their codes. */
export function listenTable(store) {
	$("table").addEventListener("click", (e) => {
		const { key, other } = e.target.dataset ?? {};
		if (key) store.set(chooseCode(store.present, JSON.parse(key)));
		if (other) store.set({ other: JSON.parse(other) });
	});
}
