// The theme: light or dark, as the system has it until the person chooses.
import { $ } from "explorer/dom.js";
import { dark, light } from "explorer/figure.js";

export class Theme {
	constructor(changed) {
		this.system = matchMedia("(prefers-color-scheme: dark)");
		this.chosen = null;
		const paint = () => {
			this.paint();
			changed();
		};
		this.system.addEventListener("change", paint);
		$("theme").onclick = () => {
			this.chosen = this.isDark ? "light" : "dark";
			paint();
		};
		this.paint();
	}

	get isDark() {
		return (this.chosen ?? (this.system.matches ? "dark" : "light")) === "dark";
	}
	get colours() {
		return this.isDark ? dark : light;
	}
	paint() {
		document.documentElement.dataset.theme = this.isDark ? "dark" : "light";
	}
}
