package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"

	"gonum.org/v1/gonum/mat"

	"belsim/errmodel"
	"belsim/montecarlo"
	"belsim/montecarlo/scenario"
	"belsim/theory"
	"belsim/theory/code"
	"belsim/theory/decode"
)

// claim is a problem whose check says what it would have found.
type claim struct {
	code, decoder string
	levels        int
	r, sigma      float64
	samples       uint64
}

func claims() []claim {
	return []claim{
		{"johnson-nonzero", "bel-j", 15, 0.5, 3, 100_000},
		{"johnson-nonzero", "bel-j", 15, 1e-5, 2, 100_000},
		{"johnson", "bel-j", 32, 0.5, 1, 1000},
		{"unary", "bel-u", 32, 1, 2, 100_000},
		{"unary", "bel-u", 16, 0.01, 1, 10_000},
		{"hexj", "gen", 32, 0.1, 1, 10_000},
	}
}

// printPower samples problems whose means are above the exact values by just as much as verify says
// that it would find, over all levels and at one level, and prints how often it fails.
func printPower(w io.Writer, runs int) error {
	fmt.Fprintf(w, "| code | decoder | L | r | σ | samples | found with a probability of %.2f: over all levels | measured | at one level | measured | false alarms |\n", montecarlo.Power)
	fmt.Fprintln(w, "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |")
	for _, c := range claims() {
		if err := c.print(w, runs); err != nil {
			return err
		}
	}
	return nil
}

func (c claim) print(w io.Writer, runs int) error {
	ctx := context.Background()
	bel, err := code.New(c.code, c.levels)
	if err != nil {
		return err
	}
	d, err := decode.Builtin().New(c.decoder, bel, decode.Options{})
	if err != nil {
		return err
	}
	mixture, err := errmodel.NewMixture(ctx, bel, c.r, c.sigma)
	if err != nil {
		return err
	}
	e := mat.DenseCopyOf(mixture)
	p := &montecarlo.Problem{Code: bel, Decoder: d, Errors: e, Seed: 1}
	th, err := scenario.Theory(ctx, 0, p)
	if err != nil {
		return err
	}
	prior := theory.Uniform(c.levels)
	target := montecarlo.Target{Samples: c.samples, Prior: prior, EachLabel: true}
	worst := c.levels
	sample := func(e mat.Matrix, seed uint64) ([]montecarlo.Sums, error) {
		sums, _, err := montecarlo.Estimate(ctx, montecarlo.CPU{}, &montecarlo.Problem{Code: bel, Decoder: d, Errors: e, Seed: seed}, target, nil)
		return sums, err
	}
	sums, err := sample(e, 1)
	if err != nil {
		return err
	}
	labels, all := montecarlo.Detectable(sums, th, prior, worst, scenario.FalseAlarms)
	level := c.levels / 3
	exact, _ := scenario.Average(th, prior)
	share := func(e mat.Matrix) (float64, error) {
		failed := 0
		for seed := range uint64(runs) {
			sums, err := sample(e, 2+seed)
			if err != nil {
				return 0, err
			}
			if len(montecarlo.Verify(sums, th, prior, worst, scenario.FalseAlarms)) > 0 {
				failed++
			}
		}
		return float64(failed) / float64(runs), nil
	}
	// scaled are the error probabilities of some rows times a factor: those with which their mean is
	// larger by a deviation.
	mean := func(rows []int, f float64) (float64, *mat.Dense, error) {
		scaled := mat.DenseCopyOf(e)
		for _, i := range rows {
			for k := range bel.Bits() {
				scaled.Set(i, k, min(1, f*e.At(i, k)))
			}
		}
		x, err := theory.ExactMoments(ctx, 0, bel, d, scaled)
		if err != nil {
			return 0, nil, err
		}
		sum := 0.0
		for _, i := range rows {
			sum += x[i].Mean / float64(len(rows))
		}
		return sum, scaled, nil
	}
	raise := func(rows []int, deviation float64) (*mat.Dense, error) {
		was, scaled, err := mean(rows, 1)
		if err != nil {
			return nil, err
		}
		lo, hi := 0.0, math.Log(1e6)
		for range 40 {
			middle := (lo + hi) / 2
			v, s, err := mean(rows, math.Exp(middle))
			if err != nil {
				return nil, err
			}
			if scaled = s; v < was+deviation {
				lo = middle
			} else {
				hi = middle
			}
		}
		return scaled, nil
	}
	every := make([]int, c.levels)
	for i := range every {
		every[i] = i
	}
	whole, err1 := raise(every, all)
	one, err2 := raise([]int{level - 1}, labels[level-1])
	if err := errors.Join(err1, err2); err != nil {
		return err
	}
	foundAll, err1 := share(whole)
	foundOne, err2 := share(one)
	alarms, err3 := share(e)
	if err := errors.Join(err1, err2, err3); err != nil {
		return err
	}
	fmt.Fprintf(w, "| %s | %s | %d | %g | %g | %d | %.3g (%.3g %%) | %.3f | %.3g (%.3g %%) at level %d | %.3f | %.3f |\n", c.code, c.decoder, c.levels, c.r, c.sigma, c.samples,
		all, 100*all/exact, foundAll, labels[level-1], 100*labels[level-1]/th[level-1].Mean, level, foundOne, alarms)
	return nil
}
