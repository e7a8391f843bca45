// Command optimize searches for codes of as many bits as each of the codes of Shah,
// Xue and Aamodt (ICLR 2022) has, and prints what it finds beside them as Markdown:
//
//	go run ./testdata/optimize
//
// It searches as the command belsim optimize does.
package main

import (
	"context"
	"fmt"
	"log"
	"math"
	"slices"

	"belsim/montecarlo"
	"belsim/montecarlo/scenario"
	"belsim/montecarlo/search"
	"belsim/theory/base/table"
	"belsim/theory/code"
)

// named are the codes of the paper.
var named = []string{"b2jdj", "hexj", "b1jdj", "johnson", "unary", "hadamard"}

// setting is an error model and how long its searches are.
type setting struct {
	levels         int
	r, sigma       float64
	steps, samples uint64
}

func main() {
	log.SetFlags(0)
	fmt.Println("| levels | r | σ | code | bits | its error | found: error, and how much less | found with no more transitions a bit than the code has |")
	fmt.Println("| --- | --- | --- | --- | --- | --- | --- | --- |")
	for _, levels := range []int{64, 256} {
		at := setting{levels: levels, steps: 40000, samples: 20000}
		if levels == 256 {
			at.steps, at.samples = 2000, 2000
		}
		for _, model := range [][2]float64{{0.6, 1.5}, {0.5, 3}, {2, 10}} {
			at.r, at.sigma = model[0], model[1]
			optimizer, err := at.optimizer()
			if err != nil {
				log.Fatal(err)
			}
			for _, name := range named {
				row, err := at.row(context.Background(), optimizer, name)
				if err != nil {
					log.Fatal(err)
				}
				fmt.Println(row)
			}
		}
	}
}

// row searches for codes of as many bits as a named one has, and compares them with it.
func (at setting) row(ctx context.Context, p *search.Optimizer, name string) (string, error) {
	c, err := code.New(name, at.levels)
	if err != nil {
		return "", err
	}
	properties, err := c.Properties(ctx, 0)
	if err != nil {
		return "", err
	}
	free, err := find(ctx, p, c.Bits(), 0)
	if err != nil {
		return "", err
	}
	limited, err := find(ctx, p, c.Bits(), properties.MaxTransitions)
	if err != nil {
		return "", err
	}
	own, a, b := "invalid", fmt.Sprintf("%.4g", free.Mean), fmt.Sprintf("%.4g", limited.Mean)
	i := slices.IndexFunc(free.Baselines, func(k search.Row) bool { return k.Code == name && !table.Missing(k.Mean) })
	if i >= 0 {
		k := free.Baselines[i].Estimate
		own, a, b = fmt.Sprintf("%.4g ± %.1g", k.Mean, k.StdErr), at.gain(free.Estimate, k), at.gain(limited.Estimate, k)
	}
	return fmt.Sprintf("| %d | %g | %g | %s | %d | %s | %s | %s (≤ %d) |", at.levels, at.r, at.sigma, name, c.Bits(), own, a, b, properties.MaxTransitions), nil
}

// optimizer prepares the searches of a setting. One estimates the named codes one time for all.
func (at setting) optimizer() (*search.Optimizer, error) {
	draw := scenario.FixedSampling()
	draw.Samples = at.samples
	p, err := search.NewOptimizer(scenario.New(scenario.Mixture{R: at.r, Sigma: at.sigma}), "gen", draw, search.Options{Levels: at.levels, Steps: at.steps})
	if err != nil {
		return nil, err
	}
	return p, nil
}

// find searches for a code of a number of bits whose bits have at most a number of
// transitions; 0 stands for any number.
func find(ctx context.Context, p *search.Optimizer, bits, transitions int) (*search.Optimized, error) {
	p.Options.MaxTransitions = transitions
	return p.Find(ctx, montecarlo.CPU{}, bits)
}

// gain is the sampled error of a code that was found, and how much it is below a named
// code's, with its 95 % interval.
func (at setting) gain(found, paper search.Estimate) string {
	if found.Mean == 0 {
		return fmt.Sprintf("none in %d samples", uint64(at.levels)*at.samples)
	}
	found.Exact = math.NaN() // codes that have exact values are compared with codes that have none
	percent, interval := found.Improvement(paper)
	return fmt.Sprintf("%.4g, %.1f %% (%.1f to %.1f)", found.Mean, percent, interval[0], interval[1])
}
