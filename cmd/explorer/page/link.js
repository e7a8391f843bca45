// The address of the page follows the state, and the state follows the address.
import { fromFragment, toFragment } from "explorer/address.js";
import { $, copy, notify } from "explorer/dom.js";

const pause = 500; // milliseconds: browsers refuse to change the address at every move

export class Link {
	constructor(store, about) {
		Object.assign(this, { store, about });
		this.timer = 0;
		addEventListener("popstate", () => this.follow());
		store.listen(() => {
			clearTimeout(this.timer);
			this.timer = setTimeout(() => this.write(), pause);
		});
		$("link").onclick = () => this.copy();
	}

	/** read is the state of the address. It says on the page what is wrong with the address. */
	read() {
		const { state, problem } = fromFragment(location.hash, this.about);
		notify(problem);
		return state;
	}

	follow() {
		clearTimeout(this.timer);
		this.store.set(this.read());
	}

	write() {
		const { fragment } = toFragment(this.store.present);
		if (fragment === location.hash.slice(1)) return;
		const address = fragment ? "#" + fragment : location.pathname + location.search;
		try {
			history.pushState(null, "", address);
		} catch {
			/* a frame without an address */
		}
	}

	async copy() {
		const { fragment, whole } = toFragment(this.store.present);
		const url = location.href.split("#")[0] + (fragment ? "#" + fragment : "");
		await copy(url, $("link"), whole ? "Copied" : "Copied, without the file");
		if (!whole)
			notify("The link does not hold the matrix or the prior of your file: it is too large for an address.");
	}
}
