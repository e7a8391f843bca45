// Small helpers for the elements of the page.
import { esc } from "explorer/figure.js";

export const $ = (id) => document.getElementById(id);

/** notify shows a sentence above the page; "" hides it. */
export function notify(text) {
	$("alert").hidden = !text;
	$("alert").textContent = text;
}

/** say says what was opened, at the top of the page. */
export function say(text) {
	$("start-text").textContent = text;
}

/** dim says by its looks whether what an element shows is of a state before. */
export const dim = (id, old) => $(id).classList.toggle("stale", old);

/** flash shows a text on a button for a moment. */
export function flash(button, text) {
	button.dataset.text ??= button.textContent;
	button.textContent = text;
	clearTimeout(button.timer);
	button.timer = setTimeout(() => {
		button.textContent = button.dataset.text;
	}, 1500);
}

/** copy puts a text on the clipboard, or shows it where the browser refuses. */
export async function copy(text, button, done = "Copied") {
	try {
		await navigator.clipboard.writeText(text);
		flash(button, done);
	} catch {
		prompt("Copy this:", text);
	}
}

/** options fills a select with pairs of a value and a label. */
export function options(select, list, value) {
	const text = list.map(([v, label]) => `<option value="${esc(v)}">${esc(label)}</option>`).join("");
	if (select.dataset.list !== text) {
		select.innerHTML = text;
		select.dataset.list = text;
	}
	select.value = value;
}

/** widthOf is the width of a drawing in an element. */
export const widthOf = (element) => Math.max(260, Math.floor(element.clientWidth));
