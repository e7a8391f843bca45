// Downloads: a figure as SVG, PNG or CSV.
import { tag, words } from "explorer/figure.js";

/** save gives bytes or a text to the person as a file. */
export function save(name, content, type) {
	const url = URL.createObjectURL(new Blob([content], { type }));
	const a = document.createElement("a");
	a.href = url;
	a.download = name;
	document.body.append(a);
	a.click();
	a.remove();
	setTimeout(() => URL.revokeObjectURL(url), 60000);
}

const head = 26; // of the title

/** onPaper adds a background, and a title above, to an SVG. */
export function onPaper(text, colours, title) {
	const [, width, height] = text.match(/width="([\d.]+)" height="([\d.]+)"/);
	const size = { width, height: +height + head, viewBox: `0 ${-head} ${width} ${+height + head}` };
	const paper = tag("rect", { y: -head, width: "100%", height: "100%", fill: colours.paper });
	const above = paper + words(10, -8, title, { size: 13, "font-weight": 600, fill: colours.ink });
	const sized = Object.entries(size)
		.map(([key, value]) => `${key}="${value}"`)
		.join(" ");
	return text
		.replace(/width="[\d.]+" height="[\d.]+" viewBox="[^"]*"/, sized)
		.replace(/<svg[^>]*>/, (opening) => opening + above);
}

/** toPNG draws an SVG with three pixels for each of its units. */
export async function toPNG(text) {
	const image = new Image();
	image.src =
		"data:image/svg+xml;base64," +
		btoa(Array.from(new TextEncoder().encode(text), (b) => String.fromCharCode(b)).join(""));
	await image.decode();
	const canvas = document.createElement("canvas");
	canvas.width = 3 * image.naturalWidth;
	canvas.height = 3 * image.naturalHeight;
	canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
	return new Promise((resolve, reject) =>
		canvas.toBlob(
			(b) => (b ? resolve(b) : reject(new Error("the browser could not draw the picture"))),
			"image/png",
		),
	);
}
