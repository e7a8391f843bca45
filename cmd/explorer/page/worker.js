// A Web Worker with the engine. It follows Go's wasm_exec.js in one script. Its first message
// brings the compiled module; others are questions, answered under the same id, or stop the one that is being
// answered.

// The files that were given to the page, which Go opens by their names.
const files = new Map();
const open = new Map();
let descriptors = 100;

function lost(callback, code) {
	const err = new Error(code);
	err.code = code;
	callback(err);
}

function named(path) {
	return files.get(path.replace(/^(\.?\/)+/, ""));
}

function stat(file) {
	return {
		dev: 0,
		ino: 0,
		mode: 0o100444,
		nlink: 1,
		uid: 0,
		gid: 0,
		rdev: 0,
		size: file.length,
		blksize: 4096,
		blocks: Math.ceil(file.length / 512),
		atimeMs: 0,
		mtimeMs: 0,
		ctimeMs: 0,
		isDirectory: () => false,
	};
}

Object.assign(globalThis.fs, {
	stat(path, callback) {
		const f = named(path);
		f ? callback(null, stat(f)) : lost(callback, "ENOENT");
	},
	lstat(path, callback) {
		this.stat(path, callback);
	},
	fstat(fd, callback) {
		const f = open.get(fd);
		f ? callback(null, stat(f.file)) : lost(callback, "EBADF");
	},
	open(path, flags, mode, callback) {
		const file = named(path);
		if (!file) return lost(callback, "ENOENT");
		open.set(++descriptors, { file, at: 0 });
		callback(null, descriptors);
	},
	close(fd, callback) {
		open.delete(fd);
		callback(null);
	},
	read(fd, buffer, offset, length, position, callback) {
		const f = open.get(fd);
		if (!f) return lost(callback, "EBADF");
		const from = position ?? f.at;
		const part = f.file.subarray(from, Math.min(from + length, f.file.length));
		buffer.set(part, offset);
		if (position == null) f.at += part.length;
		callback(null, part.length);
	},
});

// In browsers, a message to itself comes after those that wait, the page's among them.
const itself = new MessageChannel();
globalThis.belsimListen = (resume) => {
	itself.port1.onmessage = resume;
	itself.port2.postMessage(null);
};
globalThis.belsimReady = () => postMessage({ ready: true });

onmessage = async ({ data }) => {
	if (data.module) {
		const go = new Go();
		const instance = await WebAssembly.instantiate(data.module, go.importObject);
		go.run(instance);
		return;
	}
	if (data.stop) return belsimStop();
	for (const [name, bytes] of data.files ?? []) files.set(name, bytes);
	try {
		const { buffer: answer } = await belsim(data.method, data.question);
		postMessage({ id: data.id, answer }, [answer]);
	} catch (err) {
		postMessage({ id: data.id, error: err.message });
	}
	files.clear();
};
