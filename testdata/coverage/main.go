// Command coverage draws networks, fits them as the command belsim fit does, and prints as Markdown
// how often intervals of 95 % hold r and σ; with -intervals, how often those of single labels hold
// the label:
//
//	go run ./testdata/coverage
//	go run ./testdata/coverage -intervals -fits 200
//
// README.md has the tables.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"log"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"

	"belsim/errmodel"
	"belsim/errmodel/mixturefit"
	"belsim/theory/base/parallel"
	"belsim/theory/code"
)

// setting is a truth, and the samples that are drawn from it. The bits err independently.
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
		{code: "johnson", levels: 64, r: 0.8, sigma: 0.8, samples: 5000, real: true},
		{code: "b1jdj", levels: 64, r: 1, sigma: 1.5, samples: 5000, real: true},
	}
}

func main() {
	log.SetFlags(0)
	fits := flag.Int("fits", 300, "fits of each setting, or splits of each network")
	only := flag.Int("only", 0, "the one setting to run, from 1; 0 for all")
	seed := flag.Uint64("seed", 1, "seed of the random numbers")
	intervals := flag.Bool("intervals", false, "judge intervals of single labels instead")
	samples := flag.Int("samples", 500, "samples that intervals of single labels are calibrated with")
	flag.Parse()
	run := func() error { return printMixtures(os.Stdout, *fits, *only, *seed) }
	if *intervals {
		run = func() error { return printIntervals(os.Stdout, *fits, *seed, *samples) }
	}
	if err := run(); err != nil {
		log.Fatal(err)
	}
}

func printMixtures(w io.Writer, fits, only int, seed uint64) error {
	fmt.Fprintln(w, "| | code | L | truth | N | labels | r held | σ held | median r̂/r | median σ̂/σ |")
	fmt.Fprintln(w, "|"+strings.Repeat(" --- |", 10))
	for i, s := range settings() {
		if only != 0 && only != i+1 {
			continue
		}
		r, err := s.fit(fits, seed+uint64(i)<<32)
		if err != nil {
			return err
		}
		labels := map[bool]string{false: "levels", true: "real"}[s.real]
		if s.note != "" {
			labels += ", " + s.note
		}
		fmt.Fprintf(w, "| %d | %s | %d | r = %g, σ = %g | %d | %s | %s | %s | %.3f | %.3f |\n", i+1, s.code,
			s.levels, s.r, s.sigma, s.samples, labels, r[0].held(), r[1].held(), r[0].median(), r[1].median())
	}
	return nil
}

// parameter has what fits say of a parameter: its estimates over the truth, and intervals.
type parameter struct {
	truth     float64
	estimates []float64
	intervals [][2]float64
}

// held is the share of the intervals that hold the truth. Where fewer than 5 % of the fits have an
// interval, it is a dash.
func (p parameter) held() string {
	printed, held := 0, 0
	for _, x := range p.intervals {
		if math.IsNaN(x[0]) {
			continue
		}
		printed++
		if x[0] <= p.truth && !(p.truth > x[1]) {
			held++
		}
	}
	if printed < len(p.intervals)/20 {
		return "–"
	}
	return fmt.Sprintf("%.3f", float64(held)/float64(printed))
}

func (p parameter) median() float64 {
	slices.Sort(p.estimates)
	return p.estimates[len(p.estimates)/2]
}

// fit fits so many networks of a setting. Real labels are uniform in their levels: the mean of a
// Gaussian over a level is nearly the Gaussian of the variance σ² + 1/12.
func (s setting) fit(fits int, seed uint64) ([2]parameter, error) {
	width := s.sigma
	if s.real {
		width = math.Hypot(s.sigma, math.Sqrt(1./12))
	}
	out := [2]parameter{{truth: s.r}, {truth: width}}
	c, err := code.New(s.code, s.levels)
	if err != nil {
		return out, err
	}
	mixture, err := errmodel.NewMixture(context.Background(), c, s.r, s.sigma)
	if err != nil {
		return out, err
	}
	all := make([]*mixturefit.Fit, fits)
	intervals := make([][2][2]float64, fits)
	err = parallel.Each(context.Background(), 0, fits, func() (func(context.Context, int) error, error) {
		return func(ctx context.Context, n int) error {
			samples, counts := s.draw(rand.New(rand.NewPCG(seed, uint64(n))), c, mixture)
			f, err := mixturefit.New(ctx, c, counts, c.Transitions())
			if err != nil {
				return nil // no error to fit, or all targets alike
			}
			joint, err := mixturefit.NewJoint(ctx, f)
			if err != nil {
				return err
			}
			for _, x := range samples {
				joint.Add(x.row, x.wrong)
			}
			all[n], intervals[n] = f, joint.Intervals()
			return nil
		}, nil
	})
	for n, f := range all {
		if f == nil {
			continue
		}
		for i, estimate := range [2]float64{f.R, f.Sigma} {
			out[i].estimates = append(out[i].estimates, estimate/out[i].truth)
			out[i].intervals = append(out[i].intervals, intervals[n][i])
		}
	}
	return out, err
}

// sample is a sample of a row, from 0, with its wrong bits.
type sample struct {
	row   int
	wrong []int
}

func (s setting) draw(rng *rand.Rand, c *code.Code, mixture *errmodel.Mixture) ([]sample, *errmodel.Counts) {
	var rows []int
	for i := range c.Levels() {
		if s.present == nil || s.present(i+1) {
			rows = append(rows, i)
		}
	}
	samples, counts, e := make([]sample, s.samples), errmodel.NewCounts(c.Levels(), c.Bits()), make([]float64, c.Bits())
	for n := range samples {
		x, y := &samples[n], 0.0
		for !(y >= 1 && y <= float64(s.levels)) {
			x.row = rows[rng.IntN(len(rows))]
			y = float64(x.row + 1)
			if s.real {
				y += rng.Float64() - 0.5
			}
		}
		mixture.AtLabel(e, y)
		for k, p := range e {
			if rng.Float64() < p {
				x.wrong = append(x.wrong, k)
			}
		}
		counts.Add(x.row, x.wrong)
	}
	return samples, counts
}
