// The engine's bytes, which the builder wrote into the page as text.

/** decode reads bytes that were written as text, seven bits a character. */
export function decode(text) {
	const forbidden = [0, 10, 13, 60];
	const bytes = new Uint8Array(Math.ceil((text.length * 14) / 8));
	let n = 0,
		bits = 0,
		value = 0;
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
		else {
			add(forbidden[(c - 256) >> 7]);
			add(c & 127);
		}
	}
	return bytes.subarray(0, n);
}

/** compiled is the engine's module. size is the number of its packed bytes. */
export async function compiled(text, size) {
	const packed = new Blob([decode(text).subarray(0, size)]);
	const stream = packed.stream().pipeThrough(new DecompressionStream("gzip"));
	return WebAssembly.compileStreaming(new Response(stream, { headers: { "Content-Type": "application/wasm" } }));
}
