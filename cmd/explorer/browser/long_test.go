package browser

import (
	"fmt"
	"slices"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/heapprofiler"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// moves makes random moves, as a person would, in the page: controls, figures, undo, themes.
const moves = `(async (count, seed) => {
	let x = seed >>> 0;
	const random = () => { x = (Math.imul(x, 1664525) + 1013904223) >>> 0; return x / 2 ** 32; };
	const pick = (list) => list[Math.floor(random() * list.length)];
	const $ = (id) => document.getElementById(id);
	const tell = (e, type) => e.dispatchEvent(new Event(type, { bubbles: true }));
	const slide = (id) => {
		$(id).value = Math.floor(1000 * random());
		tell($(id), "input");
		if (random() < 0.5) tell($(id), "change");
	};
	const put = (id, value) => { $(id).value = value; tell($(id), "change"); };
	const choose = (id) => put(id, pick([...$(id).options].filter((o) => !o.hidden)).value);
	const point = (id, types) => {
		const e = $(id), svg = e.querySelector("svg");
		if (!svg) return;
		const r = svg.getBoundingClientRect();
		const at = { clientX: r.left + random() * r.width, clientY: r.top + random() * r.height, pointerId: 1 };
		for (const type of types) e.dispatchEvent(new PointerEvent(type, { ...at, bubbles: true }));
	};
	$("map").setPointerCapture = () => {};
	const kinds = [
		...["r", "sigma", "r", "sigma", "temperature"].map((id) => () => slide(id)),
		...["code", "other", "decoder", "outputs", "prior", "method"].map((id) => () => choose(id)),
		() => put("levels", pick([2, 3, 8, 16, 33, 64, 100])),
		() => point("matrix", ["pointermove", "click"]),
		...["matrix", "levels-figure", "bits"].map((id) => () => point(id, ["pointermove"])),
		() => point("map", ["pointerdown", "pointermove", "pointerup"]), () => point("matrix", ["pointerleave"]),
		() => explorer.undo(), () => explorer.undo(), () => explorer.redo(), () => $("theme").click(),
		() => pick([...document.querySelectorAll("#table button")])?.click(),
	];
	for (let i = 0; i < count; i++) {
		pick(kinds)();
		if (random() < 0.5) await new Promise(requestAnimationFrame);
		if (random() < 0.02) await new Promise((done) => setTimeout(done, 200));
	}
	return JSON.stringify(explorer.state());
})`

// TestRandomMoves makes 600 random moves: nothing on the console, no memory that is kept, and
// the page still computes.
func TestRandomMoves(t *testing.T) {
	p := open(t, fileURL(t)+few, 1400, 1000, chromedp.Flag("js-flags", "--expose-gc"))
	exact := p.says("exact")
	p.eval("globalThis.begun = explorer.state()")
	used := func() float64 {
		p.eval("explorer.set(begun)")
		p.settle()
		get(chromedp.Call(p.ctx, heapprofiler.CollectGarbage, cdp.Empty{}))(t)
		return get(chromedp.Call(p.ctx, runtime.GetHeapUsage, cdp.Empty{}))(t).UsedSize / (1 << 20)
	}
	const parts, each = 6, 100
	var memory []float64
	for i := range parts {
		value[string](p, fmt.Sprintf("%s(%d, %d)", moves, each, 1230+1001*i))
		memory = append(memory, used())
		p.quiet()
		if t.Failed() {
			t.Fatalf("after %d moves", each*(i+1))
		}
	}
	t.Logf("memory after each %d moves, MiB: %.1f; elements %d; workers replaced %d", each, memory,
		value[int](p, "document.querySelectorAll('*').length"), value[int](p, "explorer.pool.replaced"))
	if first, last := slices.Max(memory[:3]), memory[parts-1]; last > 1.5*first+8 {
		t.Errorf("the memory grows from %.1f to %.1f MiB", first, last)
	}
	p.text("exact", exact)
}

// TestStopped: a worker that computes for seconds hears that its question is stopped, and answers
// the next one.
func TestStopped(t *testing.T) {
	p := blank(t, 1400, 1000)
	p.do(chromedp.Navigate(fileURL(t) + "#levels=256"))
	p.wait("globalThis.explorer && 'table' in explorer.views.timings")
	got := value[[]string](p, `(async () => {
	const { pool, views } = explorer, { scene } = views.present;
	const ask = (name, samples) => {
		const question = { scene, code: { name, flips: [], rows: [] }, decoder: "gen", samples, quick: false };
		return pool.ask("test", "row", question, { rank: 3 });
	};
	const long = ask("hadamard", 1e7).then(() => "answered", (err) => err.message);
	while (!pool.workers.some((w) => w.task?.group === "test")) await new Promise((done) => setTimeout(done, 10));
	pool.workers.find((w) => w.task?.group === "test").worker.postMessage({ stop: true });
	return [await long, String((await ask("gray", 20)).code)];
})()`)
	if want := []string{"context canceled", "gray"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
