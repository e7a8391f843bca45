// What of a state the engine is asked.

/** scene is the part of a state that the engine knows. */
export function scene(s) {
	const { code, other, bits, method, ...known } = s;
	return known;
}

/** axesOf are the axes of the map of a state. */
export function axesOf({ levels }) {
	const part = (n) => Math.max(2, Number((levels / n).toPrecision(2)));
	return { x: { lo: 0.05, hi: part(2) }, y: { lo: 0.2, hi: part(3) } };
}

/** rowDecoder is the decoder of all rows of the table: auto instead of one that is for one family of codes. */
export const rowDecoder = ({ decoder }) => (decoder.startsWith("bel") ? "auto" : decoder);

/** leastSamples is the number of samples of each level in files and commands, before more have come. */
export const leastSamples = 1000;

/** tableSamples is the number of samples of each level in the table at last. */
export const tableSamples = (levels) => (levels > 128 ? 1000 : 4096);
