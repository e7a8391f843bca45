// The engine's module, whose packed bytes the builder wrote into the page as base64.

/** compiled is the module. */
export function compiled(text) {
	const packed = new Blob([Uint8Array.from(atob(text), (c) => c.charCodeAt(0))]);
	const stream = packed.stream().pipeThrough(new DecompressionStream("gzip"));
	return WebAssembly.compileStreaming(new Response(stream, { headers: { "Content-Type": "application/wasm" } }));
}
