// Command coverage draws the outputs of networks from belsim's error models, fits each of them as
// the command belsim fit does, and prints as Markdown how often each interval holds the truth, and
// how often the perceived label is said to describe the network:
//
//	go run ./testdata/coverage
//
// README.md has the table.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"gonum.org/v1/gonum/mat"

	"belsim/errmodel"
	"belsim/errmodel/perceived"
	"belsim/montecarlo"
	"belsim/montecarlo/assess"
	"belsim/montecarlo/scenario"
	"belsim/theory/base/arrayfile"
	"belsim/theory/base/parallel"
	"belsim/theory/base/table"
	"belsim/theory/code"
	"belsim/theory/decode"
)

// setting is a truth, and the samples that are drawn from it.
type setting struct {
	code     string
	levels   int
	r, sigma float64 // of bits that err independently
	noise    float64 // or that of a perceived label
	samples  int
	real     bool                 // labels are real numbers
	present  func(level int) bool // the levels that occur; nil for all
	// share of the samples of the first and last four levels that are seen at the other end
	gross  float64
	judged bool // count whether the perceived label describes the network
	note   string
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
		{code: "unary", levels: 64, noise: 1.6, samples: 600, judged: true},
		{code: "johnson", levels: 24, noise: 1, samples: 600, judged: true},
		{code: "b1jdj", levels: 64, noise: 1.6, samples: 600, judged: true},
		{code: "gray", levels: 64, noise: 1.6, samples: 600, judged: true},
		{code: "johnson", levels: 64, noise: 1.6, samples: 5000, judged: true},
		{code: "b1jdj", levels: 64, noise: 1.6, samples: 5000, judged: true},
		{code: "johnson", levels: 64, noise: 1.6, samples: 5000, gross: 0.03, judged: true,
			note: "3 % of the ends seen as the other end"},
		{code: "johnson", levels: 24, r: 0.8, sigma: 1.5, samples: 600, judged: true},
		{code: "b1jdj", levels: 64, r: 0.8, sigma: 1.5, samples: 600, judged: true},
		{code: "b1jdj", levels: 64, r: 0.8, sigma: 1.5, samples: 5000, judged: true},
		{code: "b2jdj-nr", levels: 64, noise: 1.6, samples: 5000, judged: true},
		{code: "b2jdj-nr", levels: 64, r: 0.8, sigma: 1.5, samples: 5000, judged: true},
		{code: "johnson", levels: 64, r: 0.8, sigma: 0.8, samples: 5000, real: true},
		{code: "b1jdj", levels: 64, r: 1, sigma: 1.5, samples: 5000, real: true},
	}
}

// drawer draws samples of a setting.
type drawer struct {
	setting
	code *code.Code
	rows []int
	// output sets the outputs for a label of a row.
	output func(rng *rand.Rand, row int, label float64, z []float64)
}

func newDrawer(s setting) (*drawer, error) {
	c, err := code.New(s.code, s.levels)
	if err != nil {
		return nil, err
	}
	d := &drawer{setting: s, code: c}
	for i := range c.Levels() {
		if s.present == nil || s.present(i+1) {
			d.rows = append(d.rows, i)
		}
	}
	if s.noise > 0 {
		return d, d.perceived()
	}
	e, err := errmodel.NewMixture(context.Background(), c, s.r, s.sigma)
	d.output = func(rng *rand.Rand, row int, label float64, z []float64) {
		e.AtLabel(z, label)
		for k, wrong := range z {
			z[k] = 0
			if c.Bit(row, k) != (rng.Float64() < wrong) {
				z[k] = 1
			}
		}
	}
	return d, err
}

// perceived makes outputs the logits of a network of the perceived-label model.
func (d *drawer) perceived() error {
	n, err := perceived.Model{Noise: d.noise, Misfit: perceived.DefaultMisfit,
		Training: perceived.BCE}.Learn(context.Background(), 1, d.code, nil)
	if err != nil {
		return err
	}
	sd := n.ResidualSD()
	d.output = func(rng *rand.Rand, row int, label float64, z []float64) {
		at := label + d.noise*rng.NormFloat64()
		if (row < 4 || row >= d.levels-4) && rng.Float64() < d.gross {
			at = float64(d.levels+1) - at
		}
		n.Logits(z, at)
		for k := range z {
			z[k] += sd[k] * rng.NormFloat64()
		}
	}
	return nil
}

// draw writes the targets and the outputs of a network.
func (d *drawer) draw(rng *rand.Rand, folder string) error {
	targets, outputs := mat.NewDense(d.samples, 1, nil), mat.NewDense(d.samples, d.code.Bits(), nil)
	for n := range d.samples {
		row, y := 0, 0.0
		for !(y >= 1 && y <= float64(d.levels)) {
			row = d.rows[rng.IntN(len(d.rows))]
			y = float64(row + 1)
			if d.real {
				y += rng.Float64() - 0.5
			}
		}
		targets.Set(n, 0, y)
		d.output(rng, row, y, outputs.RawRowView(n))
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
	described  int // of those that are judged
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
		Code: d.setting.code, Levels: d.levels, Targets: filepath.Join(folder, "y.npy"), Outputs: "bits:" +
			filepath.Join(folder, "z.npy"),
		Temperature: 1, Samples: 1, Seed: 1,
	}
	if d.noise > 0 {
		o.Outputs = "logits:" + filepath.Join(folder, "z.npy")
	}
	if d.judged {
		o.Training, o.Decoders = perceived.BCE, decode.Builtin()
	}
	if d.real {
		o.Range = assess.LabelRange{Lo: 1, Hi: float64(d.levels)}
	}
	return assess.Run(ctx, o, scenario.Run{Backend: montecarlo.CPU{Workers: 1}, Workers: 1}, nil)
}

func (r *result) add(s setting, report *assess.Report, err error) {
	if err != nil { // no error to fit, or all targets alike
		return
	}
	f := report.Fit
	if p := f.Perceived; s.judged && p.Describes {
		r.described++
	}
	r.r.add(f.RInterval, s.r)
	r.sigma.add(f.SigmaInterval, s.width())
	r.rHat, r.sHat = append(r.rHat, f.R), append(r.sHat, f.Sigma)
}

func median(x []float64) float64 {
	slices.Sort(x)
	return x[len(x)/2]
}

func main() {
	log.SetFlags(0)
	fits := flag.Int("fits", 300, "fits of each setting")
	only := flag.Int("only", 0, "the one setting to run, from 1; 0 for all")
	seed := flag.Uint64("seed", 1, "seed of the random numbers")
	intervals := flag.Bool("intervals", false,
		"judge intervals of single labels instead, with so many fits as splits of each network")
	flag.Parse()
	if *intervals {
		if err := printIntervals(os.Stdout, *fits, *seed); err != nil {
			log.Fatal(err)
		}
		return
	}
	if err := print(os.Stdout, *fits, *only, *seed); err != nil {
		log.Fatal(err)
	}
}

func print(w io.Writer, fits, only int, seed uint64) error {
	fmt.Fprintln(w, "| | code | L | truth | N | labels | fits | r held | σ held | printed | median r̂/r | median σ̂/σ | described |")
	fmt.Fprintln(w, "|"+strings.Repeat(" --- |", 13))
	for i, s := range settings() {
		if only != 0 && only != i+1 {
			continue
		}
		r, err := s.run(fits, seed+uint64(i)<<32)
		if err != nil {
			return err
		}
		labels := map[bool]string{false: "levels", true: "real"}[s.real]
		if s.note != "" {
			labels += ", " + s.note
		}
		fmt.Fprintf(w, "| %d | %s | %d | %s | %d | %s | %d | %s |\n", i+1, s.code, s.levels, s.truth(), s.samples,
			labels, fits, strings.Join(r.cells(s, fits), " | "))
	}
	return nil
}

// width is the σ of the rates of levels. Real labels are uniform in their levels: the mean of a
// Gaussian over a level is nearly the Gaussian of the variance σ² + 1/12.
func (s setting) width() float64 {
	if s.real {
		return math.Hypot(s.sigma, math.Sqrt(1./12))
	}
	return s.sigma
}

// truth is the truth of a setting in words.
func (s setting) truth() string {
	if s.noise > 0 {
		return fmt.Sprintf("s = %g", s.noise)
	}
	return fmt.Sprintf("r = %g, σ = %g", s.r, s.sigma)
}

// cells are what was counted of a setting, for its row.
func (r *result) cells(s setting, fits int) []string {
	out := slices.Repeat([]string{"–"}, 6)
	if s.judged {
		out[5] = fmt.Sprint(r.described)
		return out
	}
	out[0], out[1], out[2] = r.r.String(fits), r.sigma.String(fits), fmt.Sprintf("%.0f %%",
		100*float64(r.r.printed)/float64(fits))
	out[3], out[4] = fmt.Sprintf("%.3f", median(r.rHat)/s.r), fmt.Sprintf("%.3f", median(r.sHat)/s.width())
	return out
}
