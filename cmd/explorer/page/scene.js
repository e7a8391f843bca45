// What of a state the engine is asked.

/** scene is the part of a state that the engine knows. */
export function scene(s) {
	const { code, other, bits, method, ...known } = s;
	return known;
}

/** used is a scene without the model that is not in use: nothing depends on it. */
export function used(s) {
	const sc = scene(s);
	if (s.model === "mixture") return { ...sc, noise: 1, misfit: 0.25, cutoff: 0, training: "bce" };
	return { ...sc, r: 1, sigma: 1 };
}

/** axesOf are the axes of the map of a state. */
export function axesOf({ model, levels }) {
	const part = (n) => Math.max(2, Number((levels / n).toPrecision(2)));
	if (model === "perceived") return { x: { lo: 0.2, hi: part(10) }, y: { lo: 0.05, hi: 1 } };
	return { x: { lo: 0.05, hi: part(2) }, y: { lo: 0.2, hi: part(3) } };
}

/** rowDecoder is the decoder of all rows of the table: auto instead of one that is for one family of codes. */
export const rowDecoder = ({ decoder }) => (decoder.startsWith("bel") ? "auto" : decoder);

/** leastSamples is the number of samples of each level in files and commands, before more have come. */
export const leastSamples = 1000;

/** tableSamples is the number of samples of each level in the table at last. */
export const tableSamples = (levels) => (levels > 128 ? 1000 : 4096);

/** pinned keeps the questions about a code on one worker where the model takes long to make. */
export const pinned = ({ model }, number) => (model === "perceived" ? number : null);
