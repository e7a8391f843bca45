// What was made of an array that does not change while it is shown: it is not made at each drawing.
const all = new WeakMap();

/** kept returns what was kept of an array, or makes and keeps it. */
export function kept(array, name, make) {
	let of = all.get(array);
	if (!of) all.set(array, (of = {}));
	return (of[name] ??= make());
}
