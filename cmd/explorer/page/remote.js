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
		postMessage({ id: data.id, answer: await response.arrayBuffer() });
	} catch (err) {
		postMessage({ id: data.id, error: err.message });
	}
};
