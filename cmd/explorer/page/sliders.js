// The sliders, each with a field for its number.
import { $, notify } from "explorer/dom.js";
import { short } from "explorer/figure.js";
import { floored, round } from "explorer/moves.js";

/** limits are the ends of the logarithmic sliders for a number of levels. */
export const limits = {
	r: (levels) => [0.02, Math.max(3, levels / 2)],
	sigma: (levels) => [0.1, Math.max(3, levels / 2)],
	temperature: () => [0.05, 20],
};

/** places are the value at a place from 0 to 1000, and the place of a value. */
export function places(name, levels) {
	const [lo, hi] = limits[name](levels);
	return {
		value: (p) => round(lo * (hi / lo) ** (p / 1000)),
		place: (v) => Math.round((1000 * Math.log(v / lo)) / Math.log(hi / lo)),
	};
}

/** wrong says what is wrong with a typed number, "" where nothing is. */
export function wrong(text) {
	const v = text === "" ? NaN : Number(text);
	return Number.isFinite(v) && v > 0 ? "" : "want a positive number";
}

/** slider joins a slider to the state, and returns a function that shows the state. The largest valid
 * value is most(), Infinity where there is none. */
export function slider(name, store, show, most = () => Infinity) {
	const range = $(name),
		number = $(`${name}-number`);
	const scale = () => places(name, store.present.levels);
	let began = false;
	range.addEventListener("input", () => {
		const v = scale().value(+range.value),
			limit = most();
		store.set({ [name]: v > limit ? floored(limit) : v }, { within: began });
		began = true;
		if (v > limit) show(); // the slider stops there
	});
	range.addEventListener("change", () => {
		began = false;
	});
	number.addEventListener("change", () => {
		const problem = wrong(number.value);
		if (problem) notify(`${name} is “${number.value}”: ${problem}.`);
		else store.set({ [name]: Number(number.value) });
		show();
	});
	return () => {
		const v = store.present[name];
		if (document.activeElement !== number) number.value = short(v);
		range.value = scale().place(v);
		range.setAttribute("aria-valuetext", short(v));
	};
}
