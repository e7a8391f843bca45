// A guided start: states worth seeing, each with a sentence and what to move.
import { $, say } from "explorer/dom.js";
import { named } from "explorer/moves.js";
import { initial } from "explorer/state.js";

export const presets = [
	{
		name: "A bound can mislead",
		text:
			"By the bounds johnson is better here: 21.6 levels, and unary 22.3. Their exact errors are 18.2 and 7.4. Change " +
			"the map of the two codes from bound to exact, then move r and σ.",
		change: { code: named("unary"), other: named("johnson"), r: 30, sigma: 20, method: "bound" },
	},
	{
		name: "Reflection pays",
		text:
			"b1jdj-nr is b1jdj without reflection. Many of its bits change at the middle level, where its errors are " +
			"large. Move σ and look at level 32, then click b1jdj in the table.",
		change: { code: named("b1jdj-nr"), other: named("b1jdj") },
	},
];

/** listenPresets makes a button of each preset. */
export function listenPresets(store) {
	const buttons = presets.map(({ name, text, change }) => {
		const button = document.createElement("button");
		button.textContent = name;
		button.setAttribute("aria-pressed", "false");
		button.onclick = () => {
			for (const b of buttons) b.setAttribute("aria-pressed", String(b === button));
			say(text);
			store.set({ ...structuredClone(initial), ...change });
		};
		return button;
	});
	$("start").append(...buttons);
}
