package browser

import (
	"bytes"
	"encoding/csv"
	"encoding/xml"
	"fmt"
	"image/png"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/browser"
	"github.com/chromedp/chromedp"
)

// give gives files to the page.
func (p *tab) give(paths ...string) {
	p.Helper()
	for i, path := range paths {
		var err error
		if paths[i], err = filepath.Abs(path); err != nil {
			p.Fatal(err)
		}
	}
	p.do(chromedp.SetUploadFiles(chromedp.CSS("#open"), paths))
}

// write writes a file for the page.
func write(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestDrop drops files: good ones change the state, bad ones are refused with a sentence.
func TestDrop(t *testing.T) {
	p := open(t, fileURL(t)+few, 1400, 1000)
	// A real drop, with an event that a browser makes.
	p.eval(`{
		const data = new DataTransfer();
		data.items.add(new File(["0,0,1\n0,1,1\n1,1,1\n1,1,0\n1,0,0\n"], "mine.csv"));
		for (const type of ["dragenter", "dragover", "drop"])
			dispatchEvent(new DragEvent(type, { dataTransfer: data, bubbles: true, cancelable: true }));
	}`)
	p.wait("explorer.state().code.name === 'mine.csv'")
	p.settle()
	p.text("facts", "5 levels, 3 bits, read by bel-j on bits")
	p.wait("location.hash.includes('mine.csv~5x3~')")
	state := value[string](p, "JSON.stringify(explorer.state())")
	for name, bad := range map[string]string{ // package engine tests more of them
		"twice.csv":  "0,1\n0,1\n1,1\n",
		"broken.npy": "\x93NUMPY nothing",
		"prior.csv":  "label,count\n1,5\n900,3\n",
	} {
		p.give(write(t, name, bad))
		p.until("alert", regexp.QuoteMeta(name))
		if now := value[string](p, "JSON.stringify(explorer.state())"); now != state {
			t.Errorf("%s changed the state", name)
		}
	}
	p.give(write(t, "labels.csv", "label,count\n1,5\n3,3\n"))
	p.wait("explorer.state().prior.kind === 'counts' && document.getElementById('alert').hidden")
	p.settle()
	p.give(filepath.Join("..", "..", "..", "testdata", "network", "targets.npy"))
	p.until("alert", "which 'belsim fit' writes of a network's outputs")
	p.quiet()
}

// TestDownload saves every figure in every format, and compares the numbers with those of the
// command that the page names.
func TestDownload(t *testing.T) {
	b := need(t)
	folder := t.TempDir()
	p := open(t, fileURL(t)+"#levels=16&code=johnson!3.2&r=0.7&sigma=2&prior=middle", 1400, 1000)
	if _, err := chromedp.CallBrowser(p.ctx, browser.SetDownloadBehavior,
		browser.SetDownloadBehaviorParams{Behavior: browser.SetDownloadBehaviorBehaviorAllow,
			DownloadPath: folder}); err != nil {
		t.Fatal(err)
	}
	save := func(card, kind, file string) []byte {
		t.Helper()
		path := filepath.Join(folder, file)
		os.Remove(path)
		for range 3 { // Chromium loses one of many downloads now and then
			p.eval(fmt.Sprintf("document.querySelector('#%s .menu [data-kind=%q]').click()", card, kind))
			for begun := time.Now(); time.Since(begun) < 20*time.Second; time.Sleep(50 * time.Millisecond) {
				if content, err := os.ReadFile(path); err == nil && len(content) > 0 {
					return content
				}
			}
			t.Logf("%s of %s does not come", kind, card)
		}
		t.Fatalf("%s of %s never comes; the page says %q", kind, card, p.says("alert"))
		return nil
	}
	cards := map[string]string{"matrix-card": "code", "levels-card": "levels", "bits-card": "errors", "map-card": "map"}
	for card, what := range cards {
		text := save(card, "SVG", what+".svg")
		for d := xml.NewDecoder(bytes.NewReader(text)); ; {
			if _, err := d.Token(); err == io.EOF {
				break
			} else if err != nil {
				t.Fatalf("%s.svg: %v", what, err)
			}
		}
		if img, err := png.Decode(bytes.NewReader(save(card, "PNG", what+".png"))); err != nil ||
			img.Bounds().Dx() < 1800 {
			t.Errorf("%s.png: %v, %v", what, err, img.Bounds())
		}
		file := what + ".csv"
		if what == "code" {
			file = "johnson-edited.csv"
		}
		got := save(card, "CSV", file)
		if what == "errors" {
			continue // no command prints them
		}
		t.Run(what, func(t *testing.T) {
			// The code and the prior are files, which the page saves.
			if err := os.WriteFile(filepath.Join(folder, "johnson-edited.csv"),
				save("matrix-card", "CSV", "johnson-edited.csv"), 0o666); err != nil {
				t.Fatal(err)
			}
			prior := value[[]byte](p, `explorer.pool.ask('file', 'file', {what: 'prior', ...explorer.views.present})
				.then(a => btoa(String.fromCharCode(...a.file)))`)
			if err := os.WriteFile(filepath.Join(folder, "prior.csv"), prior, 0o666); err != nil {
				t.Fatal(err)
			}
			line := strings.Replace(value[string](p, "explorer.command('"+what+"')"), what+".png", "command.csv", 1)
			c := exec.Command("sh", "-c", line)
			c.Dir = folder
			c.Env = append(os.Environ(), "PATH="+filepath.Dir(b.belsim)+":"+os.Getenv("PATH"))
			if out, err := c.CombinedOutput(); err != nil {
				t.Fatalf("%s: %v: %s", line, err, out)
			}
			same(t, line, get(os.ReadFile(filepath.Join(folder, "command.csv")))(t), got)
		})
	}
	p.quiet()
}

// same compares tables whose numbers may differ in the last digits. The page computes no bounds under any law.
func same(t *testing.T, line string, want, got []byte) {
	t.Helper()
	read := func(b []byte) [][]string {
		rows := get(csv.NewReader(bytes.NewReader(b)).ReadAll())(t)
		if at := slices.Index(rows[0], "any_law_lo"); at >= 0 {
			for i, row := range rows {
				rows[i] = slices.Delete(row, at, at+2)
			}
		}
		return rows
	}
	w, g := read(want), read(got)
	if len(w) != len(g) {
		t.Fatalf("%s\nprints %d rows, the page saves %d", line, len(w), len(g))
	}
	for i := range w {
		for j := range w[i] {
			a, errA := strconv.ParseFloat(w[i][j], 64)
			b, errB := strconv.ParseFloat(g[i][j], 64)
			near := errA == nil && errB == nil && math.Abs(a-b) <= 1e-9*max(math.Abs(a), math.Abs(b))
			if w[i][j] != g[i][j] && !near && !(errA == nil && errB == nil && math.Abs(a-b) < 1e-9) {
				t.Fatalf("%s\nrow %d, column %s: the command has %s, the page %s", line, i+1, w[0][j], w[i][j], g[i][j])
			}
		}
	}
}

// TestServed: the page that belsim explore serves opens the files that the command was given: of a fit its r, σ and
// prior.
func TestServed(t *testing.T) {
	b := need(t)
	network := filepath.Join("..", "..", "..", "testdata", "network")
	fit := filepath.Join(t.TempDir(), `a "fit", \1%22.json`)
	if out, err := exec.Command(b.belsim, "fit", "--code", "johnson", "--levels", "64", "--range", "2.5:4.3",
		"--targets", filepath.Join(network, "targets.npy"),
		"--outputs", filepath.Join(network, "logits.npy"), "-o", fit).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	p := open(t, serve(t, fit), 1400, 1000)
	const present = "(s => [s.levels, s.code.name, s.prior.kind, s.r > 1.1 && s.r < 1.3].join(' '))(explorer.state())"
	if s := value[string](p, present); s != "64 johnson counts true" {
		t.Errorf("the state is %s; want that of the fit", s)
	}
	p.until("start-text", "all figures have its r, σ and prior now")
	p.settle()
	p.quiet()
}
