package browser

import (
	"slices"
	"testing"
	"time"

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
	const slide = (id) => { const e = $(id); e.value = Math.floor(1000 * random()); e.dispatchEvent(new Event("input", {bubbles: true})); if (random() < 0.5) e.dispatchEvent(new Event("change", {bubbles: true})); };
	const choose = (id) => { const e = $(id); e.value = pick([...e.options].filter((o) => !o.hidden)).value; e.dispatchEvent(new Event("change", {bubbles: true})); };
	const point = (id, types) => {
		const e = $(id), svg = e.querySelector("svg");
		if (!svg) return;
		const r = svg.getBoundingClientRect(), clientX = r.left + random() * r.width, clientY = r.top + random() * r.height;
		for (const type of types) e.dispatchEvent(new PointerEvent(type, {clientX, clientY, bubbles: true, pointerId: 1, button: 0}));
	};
	$("map").setPointerCapture = () => {};
	const kinds = [
		() => slide("r"), () => slide("sigma"), () => slide("r"), () => slide("sigma"), () => slide("temperature"), () => slide("noise"),
		() => choose("code"), () => choose("other"), () => choose("decoder"), () => choose("outputs"), () => choose("prior"), () => choose("method"),
		() => { $("levels").value = pick([2, 3, 8, 16, 33, 64, 100]); $("levels").dispatchEvent(new Event("change")); },
		() => { const m = document.querySelector("input[name=model][value=" + (random() < 0.85 ? "mixture" : "perceived") + "]"); m.checked = true; m.dispatchEvent(new Event("change")); },
		() => point("matrix", ["pointermove", "click"]), () => point("matrix", ["pointermove"]), () => point("levels-figure", ["pointermove"]), () => point("bits", ["pointermove"]),
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

// TestRandomMoves makes 1,000 random moves: nothing on the console, no memory that is kept, and
// the page still computes.
func TestRandomMoves(t *testing.T) {
	p := open(t, fileURL(t), 1400, 1000, chromedp.Flag("js-flags", "--expose-gc"))
	used := func() float64 {
		p.eval("explorer.set({levels: 64, code: {name: 'johnson', flips: [], rows: []}, other: {name: 'unary', flips: [], rows: []}, model: 'mixture', decoder: 'auto', outputs: 'auto', method: 'auto', r: 0.6, sigma: 1.5, temperature: 1, prior: {kind: 'uniform', counts: []}, bits: []})")
		p.settle()
		if _, err := chromedp.Call(p.ctx, heapprofiler.CollectGarbage, cdp.Empty{}); err != nil {
			t.Fatal(err)
		}
		u, err := chromedp.Call(p.ctx, runtime.GetHeapUsage, cdp.Empty{})
		if err != nil {
			t.Fatal(err)
		}
		return u.UsedSize / (1 << 20)
	}
	const parts, each = 6, 100
	var memory []float64
	for i := range parts {
		value[string](p, moves+"("+string(rune('0'+each/100))+"00, "+string(rune('1'+i%9))+"23"+string(rune('0'+i))+")")
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
	p.text("exact", "0.588")
}

// TestStopped: a worker that computes for seconds hears that its question is stopped, and answers
// the next one.
func TestStopped(t *testing.T) {
	p := blank(t, 1400, 1000)
	p.do(chromedp.Navigate(fileURL(t) + "#levels=256"))
	p.wait("globalThis.explorer && 'table' in explorer.views.timings")
	got := value[[]string](p, `(async () => {
	const { pool, views } = explorer, { scene } = views.present;
	const ask = (name, samples) =>
		pool.ask("test", "row", { scene, code: { name, flips: [], rows: [] }, decoder: "gen", samples, quick: false }, { rank: 0, pin: 1 });
	const long = ask("hadamard", 1e7).then(() => "answered", (err) => err.message);
	while (!pool.workers.some((w) => w.task?.group === "test")) await new Promise((done) => setTimeout(done, 10));
	pool.workers.find((w) => w.task?.group === "test").worker.postMessage({ stop: true });
	return [await long, String((await ask("gray", 20)).code)];
})()`)
	if want := []string{"context canceled", "gray"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestSpeed measures how long after a move each view has its numbers: while somebody drags, after
// five moves in which the browser has compiled what is used most, and of moves after a rest, in
// which the workers have begun what takes long. It asserts no time: that depends on the machine.
func TestSpeed(t *testing.T) {
	for _, v := range []struct{ state, move, last, aim string }{
		{"levels=64", "r", "table", "50 ms"}, {"levels=256", "r", "table", "150 ms"},
		// networks learn each code of the table: its first row is waited for
		{"model=perceived&levels=64", "noise", "table row", "200 ms"}, {"model=perceived&levels=256", "noise",
			"table row", "600 ms"},
	} {
		t.Run(v.state, func(t *testing.T) {
			p := blank(t, 1400, 1000)
			p.do(chromedp.Navigate(fileURL(t) + "#" + v.state))
			p.wait("globalThis.explorer && '" + v.last + "' in explorer.views.timings")
			views := []string{"errors", "theory", "samples", v.last}
			moves := func(n int, rest time.Duration) map[string][]float64 {
				times := map[string][]float64{}
				for range n {
					p.eval("explorer.set({" + v.move + ": explorer.state()." + v.move +
						" * 1.01})")
					p.wait("['errors', 'theory', 'samples', '" + v.last + "'].every(v => v in explorer.views.timings)")
					for view, ms := range value[map[string]float64](p, "explorer.views.timings") {
						times[view] = append(times[view], ms)
					}
					time.Sleep(rest)
				}
				return times
			}
			first, dragged, rested := moves(5, 50*time.Millisecond), moves(15, 50*time.Millisecond), moves(9,
				600*time.Millisecond)
			for _, view := range views {
				before, drag, rest := first[view][0], slices.Sorted(slices.Values(dragged[view])), slices.Sorted(slices.Values(rested[view][1:]))
				t.Logf("%s: %s after %.0f ms (fastest %.0f, slowest %.0f), the first time %.0f, after a rest %.0f; the aim is %s",
					v.state, view, drag[len(drag)/2], drag[0], drag[len(drag)-1], before, rest[len(rest)/2], v.aim)
			}
		})
	}
}
