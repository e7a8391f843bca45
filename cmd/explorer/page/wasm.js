// The engine's bytes, which the builder wrote into the page as text.

/** decode reads bytes that were written as base64. */
export function decode(text) {
	const raw = atob(text);
	const bytes = new Uint8Array(raw.length);
	for (let i = 0; i < raw.length; i++) bytes[i] = raw.charCodeAt(i);
	return bytes;
}

/** compiled is the engine's module. */
export async function compiled(text) {
	const stream = new Blob([decode(text)]).stream().pipeThrough(new DecompressionStream("gzip"));
	return WebAssembly.compileStreaming(new Response(stream, { headers: { "Content-Type": "application/wasm" } }));
}
