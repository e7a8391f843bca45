// Command coverage draws the outputs of networks from belsim's error model, fits each of them as
// the command belsim fit does, and prints as Markdown how often each interval holds the truth:
//
//	go run ./testdata/coverage
//
// With -fits 300 it takes a few minutes; README.md has the table of a longer run.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"gonum.org/v1/gonum/mat"

	"belsim/errmodel"
	"belsim/montecarlo/assess"
	"belsim/montecarlo/scenario"
	"belsim/theory/base/arrayfile"
	"belsim/theory/base/parallel"
	"belsim/theory/base/table"
	"belsim/theory/code"
)

// setting is a truth, and the samples that are drawn from it.
type setting struct {
	code     string
	levels   int
	r, sigma float64
	samples  int
	real     bool                 // labels are real numbers
	present  func(level int) bool // the levels that occur; nil for all
	note     string
}

func odd(level int) bool  { return level%2 == 1 }
func some(level int) bool { return level < 12 || level > 40 && level < 46 }

func settings() []setting {
	return []setting{
		{code: "unary", levels: 64, r: 0.5, sigma: 3, samples: 2000},
		{code: "unary", levels: 64, r: 2, sigma: 6, samples: 20000, present: odd, note: "half of the levels"},
		{code: "unary", levels: 32, r: 0.5, sigma: 1, samples: 300},
		{code: "johnson", levels: 64, r: 0.02, sigma: 2, samples: 30000, note: "rare"},
		{code: "johnson", levels: 32, r: 0.6, sigma: 0.5, samples: 5000, real: true},
		{code: "johnson", levels: 32, r: 1, sigma: 2, samples: 100},
		{code: "johnson", levels: 64, r: 1, sigma: 2, samples: 4000, present: some, note: "16 levels of 64"},
		{code: "b1jdj", levels: 64, r: 0.4, sigma: 1.5, samples: 3000},
		{code: "johnson-nonzero", levels: 31, r: 0.4, sigma: 0.4, samples: 1000, real: true},
		{code: "hexj", levels: 64, r: 0.3, sigma: 0.8, samples: 5000},
		{code: "hadamard", levels: 16, r: 0.2, sigma: 0.6, samples: 5000},
		{code: "binary", levels: 32, r: 0.1, sigma: 0.7, samples: 5000},
		{code: "unary", levels: 32, r: 0.1, sigma: 2, samples: 1000, note: "rare, few"},
		{code: "unary", levels: 16, r: 0.3, sigma: 1, samples: 15, note: "few"},
		{code: "hexj", levels: 32, r: 0.05, sigma: 1, samples: 200, note: "few"},
	}
}

// sublevels is the number of real labels in a level.
const sublevels = 256

// drawer draws samples of a setting.
type drawer struct {
	setting
	code  *code.Code
	rows  []int
	wrong []float64 // e by sublevel and bit
	parts int
}

func newDrawer(s setting) (*drawer, error) {
	c, err := code.New(s.code, s.levels)
	if err != nil {
		return nil, err
	}
	e, err := errmodel.NewMixture(context.Background(), c, s.r, s.sigma)
	if err != nil {
		return nil, err
	}
	d := &drawer{setting: s, code: c, parts: 1}
	if s.real {
		d.parts = sublevels
	}
	row := make([]float64, c.Bits())
	for i := range c.Levels() {
		if s.present == nil || s.present(i+1) {
			d.rows = append(d.rows, i)
		}
		for j := range d.parts {
			e.AtLabel(row, d.label(i, j))
			d.wrong = append(d.wrong, row...)
		}
	}
	return d, nil
}

// label is the label of a part of row i, in levels.
func (d *drawer) label(i, part int) float64 {
	return float64(i) + 0.5 + (float64(part)+0.5)/float64(d.parts)
}

// draw writes the targets and the outputs of a network.
func (d *drawer) draw(rng *rand.Rand, folder string) error {
	m := d.code.Bits()
	targets, outputs := mat.NewDense(d.samples, 1, nil), mat.NewDense(d.samples, m, nil)
	for n := range d.samples {
		i, part := 0, 0
		for y := 0.0; !(y >= 1 && y <= float64(d.levels)); {
			i, part = d.rows[rng.IntN(len(d.rows))], rng.IntN(d.parts)
			y = d.label(i, part)
			targets.Set(n, 0, y)
		}
		for k, e := range d.wrong[(i*d.parts+part)*m:][:m] {
			if d.code.Bit(i, k) != (rng.Float64() < e) {
				outputs.Set(n, k, 1)
			}
		}
	}
	return errors.Join(write(filepath.Join(folder, "y.npy"), targets), write(filepath.Join(folder, "z.npy"), outputs))
}

func write(path string, m mat.Matrix) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	return errors.Join(arrayfile.WriteNPY(context.Background(), f, m), f.Close())
}

// held counts how often an interval is printed, and holds the truth.
type held struct{ printed, holds int }

func (h *held) add(interval [2]float64, truth float64) {
	lo, hi := interval[0], interval[1]
	if table.Missing(lo) {
		return
	}
	h.printed++
	if lo <= truth && (table.Missing(hi) || truth <= hi) {
		h.holds++
	}
}

func (h held) String(fits int) string {
	if h.printed < fits/20 {
		return "–"
	}
	return fmt.Sprintf("%.3f", float64(h.holds)/float64(h.printed))
}

// result are the sums over the fits of a setting.
type result struct {
	r, sigma   held
	rHat, sHat []float64
}

func (s setting) run(fits int, seed uint64) (*result, error) {
	d, err := newDrawer(s)
	if err != nil {
		return nil, err
	}
	out := &result{}
	var mu sync.Mutex
	err = parallel.Each(context.Background(), 0, fits, func() (func(context.Context, int) error, error) {
		return func(ctx context.Context, n int) error {
			report, err := d.fit(ctx, rand.New(rand.NewPCG(seed, uint64(n))))
			mu.Lock()
			defer mu.Unlock()
			out.add(d.setting, report, err)
			return nil
		}, nil
	})
	return out, err
}

func (d *drawer) fit(ctx context.Context, rng *rand.Rand) (*assess.Report, error) {
	folder, err := os.MkdirTemp("", "coverage")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(folder)
	if err := d.draw(rng, folder); err != nil {
		return nil, err
	}
	o := assess.Options{
		Code: d.setting.code, Levels: d.levels, Targets: filepath.Join(folder, "y.npy"), Outputs: "bits:" + filepath.Join(folder, "z.npy"),
		Temperature: 1, Samples: 1, Seed: 1,
	}
	if d.real {
		o.Range = assess.LabelRange{Lo: 1, Hi: float64(d.levels)}
	}
	return assess.Run(ctx, o, scenario.Run{Workers: 1}, nil)
}

func (r *result) add(s setting, report *assess.Report, err error) {
	if err != nil { // no error to fit, or all targets alike
		return
	}
	f := report.Fit
	r.r.add(f.RInterval, s.r)
	r.sigma.add(f.SigmaInterval, s.sigma)
	r.rHat, r.sHat = append(r.rHat, f.R), append(r.sHat, f.Sigma)
}

func median(x []float64) float64 {
	slices.Sort(x)
	return x[len(x)/2]
}

func main() {
	log.SetFlags(0)
	fits := flag.Int("fits", 300, "fits of each setting")
	more := flag.Int("more", 3, "so many times more fits of the settings with at most 5000 samples")
	only := flag.Int("only", 0, "the one setting to run, from 1, 0 for all, or −1 for the perceived label alone")
	seed := flag.Uint64("seed", 1, "seed of the random numbers")
	flag.Parse()
	if *only >= 0 {
		if err := print(os.Stdout, *fits, *more, *only, *seed); err != nil {
			log.Fatal(err)
		}
	}
	if *only <= 0 {
		fmt.Println()
		if err := printJudged(os.Stdout, *fits/3, *seed); err != nil {
			log.Fatal(err)
		}
	}
}

func print(w io.Writer, fits, more, only int, seed uint64) error {
	fmt.Fprintln(w, "| | code | L | r | σ | N | labels | fits | r held | σ held | printed | median r̂/r | median σ̂/σ |")
	fmt.Fprintln(w, "|"+strings.Repeat(" --- |", 13))
	for i, s := range settings() {
		if only != 0 && only != i+1 {
			continue
		}
		fits := fits
		if s.samples <= 5000 { // these take little time
			fits *= more
		}
		r, err := s.run(fits, seed+uint64(i)<<32)
		if err != nil {
			return err
		}
		labels := map[bool]string{false: "levels", true: "real"}[s.real]
		if s.note != "" {
			labels += ", " + s.note
		}
		fmt.Fprintf(w, "| %d | %s | %d | %g | %g | %d | %s | %d | %s | %s | %.0f %% | %.3f | %.3f |\n", i+1,
			s.code, s.levels, s.r, s.sigma, s.samples, labels, fits,
			r.r.String(fits), r.sigma.String(fits), 100*float64(r.r.printed)/float64(fits),
			median(r.rHat)/s.r, median(r.sHat)/s.sigma)
	}
	return nil
}
