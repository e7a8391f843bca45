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

// check is a claim's problem, with what verify compares its samples with.
type check struct {
	claim
	problem montecarlo.Problem
	theory  []montecarlo.Theory
	prior   []float64
}

func (c claim) problem() (*check, error) {
	ctx := context.Background()
	bel, err := code.New(c.code, c.levels)
	if err != nil {
		return nil, err
	}
	d, err := decode.Builtin().New(c.decoder, bel, decode.Options{})
	if err != nil {
		return nil, err
	}
	e, err := errmodel.NewMixture(ctx, bel, c.r, c.sigma)
	if err != nil {
		return nil, err
	}
	out := &check{claim: c, problem: montecarlo.Problem{Code: bel, Decoder: d, Errors: mat.DenseCopyOf(e)}, prior: theory.Uniform(c.levels)}
	out.theory, err = scenario.Theory(ctx, 0, &out.problem)
	return out, err
}

// sample samples the problem with other error probabilities.
func (c *check) sample(e mat.Matrix, seed uint64) ([]montecarlo.Sums, error) {
	p := c.problem
	p.Errors, p.Seed = e, seed
	sums, _, err := montecarlo.Estimate(context.Background(), montecarlo.CPU{}, &p, montecarlo.Target{Samples: c.samples, Prior: c.prior, EachLabel: true}, nil)
	return sums, err
}

// failures is the share of the runs that fail with some error probabilities.
func (c *check) failures(e mat.Matrix, runs int) (float64, error) {
	failed := 0
	for seed := range uint64(runs) {
		sums, err := c.sample(e, 2+seed)
		if err != nil {
			return 0, err
		}
		if len(montecarlo.Verify(sums, c.theory, c.prior, c.levels, scenario.FalseAlarms)) > 0 {
			failed++
		}
	}
	return float64(failed) / float64(runs), nil
}

// scaled are the error probabilities with some rows times a factor, and the mean error of these rows.
func (c *check) scaled(rows []int, factor float64) (mean float64, e *mat.Dense, err error) {
	e = mat.DenseCopyOf(c.problem.Errors)
	for _, i := range rows {
		for k, v := range e.RawRowView(i) {
			e.Set(i, k, min(1, factor*v))
		}
	}
	x, err := theory.ExactMoments(context.Background(), 0, c.problem.Code, c.problem.Decoder, e)
	if err != nil {
		return 0, nil, err
	}
	for _, i := range rows {
		mean += x[i].Mean / float64(len(rows))
	}
	return mean, e, nil
}

// raised are the error probabilities whose mean over some rows is larger by a deviation.
func (c *check) raised(rows []int, deviation float64) (*mat.Dense, error) {
	was, e, err := c.scaled(rows, 1)
	lo, hi := 0.0, math.Log(1e6)
	for range 40 {
		if err != nil {
			return nil, err
		}
		middle, mean := (lo+hi)/2, 0.0
		if mean, e, err = c.scaled(rows, math.Exp(middle)); mean < was+deviation {
			lo = middle
		} else {
			hi = middle
		}
	}
	return e, err
}

func (c claim) print(w io.Writer, runs int) error {
	p, err := c.problem()
	if err != nil {
		return err
	}
	sums, err := p.sample(p.problem.Errors, 1)
	if err != nil {
		return err
	}
	labels, all := montecarlo.Detectable(sums, p.theory, p.prior, c.levels, scenario.FalseAlarms)
	level := c.levels / 3
	exact, _ := scenario.Average(p.theory, p.prior)
	every := make([]int, c.levels)
	for i := range every {
		every[i] = i
	}
	whole, err1 := p.raised(every, all)
	one, err2 := p.raised([]int{level - 1}, labels[level-1])
	if err := errors.Join(err1, err2); err != nil {
		return err
	}
	var found [3]float64
	for i, e := range []mat.Matrix{whole, one, p.problem.Errors} {
		if found[i], err = p.failures(e, runs); err != nil {
			return err
		}
	}
	fmt.Fprintf(w, "| %s | %s | %d | %g | %g | %d | %.3g (%.3g %%) | %.3f | %.3g (%.3g %%) at level %d | %.3f | %.3f |\n", c.code, c.decoder, c.levels, c.r, c.sigma, c.samples,
		all, 100*all/exact, found[0], labels[level-1], 100*labels[level-1]/p.theory[level-1].Mean, level, found[1], found[2])
	return nil
}
