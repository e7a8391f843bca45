// A Web Worker that asks the page's server. Its first message brings nothing; others are questions,
// answered under the same id, or stop the one that is being answered. BASE is where the server answers.

let asking = null;

onmessage = async ({ data }) => {
	if (data.stop) return asking?.abort();
	if (data.method === undefined) return postMessage({ ready: true });
	try {
		const body = new FormData();
		body.set("question", data.question);
		const files = data.files ?? [];
		body.set("names", JSON.stringify(files.map(([name]) => name))); // forms change some characters of names
		for (const [, bytes] of files) body.append("file", new Blob([bytes]));
		asking = new AbortController();
		const response = await fetch(`${BASE}answer/${data.method}`, { method: "POST", body, signal: asking.signal });
		if (!response.ok) throw new Error(await response.text());
		const all = await response.arrayBuffer();
		// A line says what is in it; then come the bytes of its arrays.
		let at = new Uint8Array(all).indexOf(10);
		const { json, parts } = JSON.parse(new TextDecoder().decode(all.slice(0, at++)));
		const answer = { id: data.id, json, numbers: {}, bytes: {} };
		for (const { name, numbers, length } of parts) {
			const part = all.slice(at, (at += length));
			if (numbers) answer.numbers[name] = new Float64Array(part);
			else answer.bytes[name] = new Uint8Array(part);
		}
		postMessage(answer);
	} catch (err) {
		postMessage({ id: data.id, error: err.message });
	}
};
