package sweep

import (
	"context"
	"math"
	"time"

	"belsim/errmodel/scenario"
	"belsim/montecarlo"
	"belsim/montecarlo/plane"
	"belsim/theory/base/parallel"
)

// Timing says how long the cells of one pair take by one method.
type Timing struct {
	scenario.Design
	// bound, exact or mc
	Method plane.Method `json:"method" text:"method"`
	// cells of the plan
	Cells int `json:"cells" text:"cells"`
	// cells that were timed, spread evenly over the plane
	Timed int `json:"timed" text:"timed"`
	// time that all cells take, one shard on all processors, in seconds: an estimate
	Seconds float64 `json:"seconds" text:"seconds,%.2g"`
}

// Time computes some cells of every pair by every method, for about the given time each, and estimates
// how long the whole takes. Bounds and exact values are timed on one processor: a sweep computes as
// many cells at a time as it has processors, and samples on all of them.
func (p *Plan) Time(ctx context.Context, run montecarlo.Run, long time.Duration) ([]Timing, error) {
	var out []Timing
	for i, pair := range p.Pairs {
		for m, method := range pair.Methods {
			t := Timing{Design: pair.Design, Method: method, Cells: len(p.R.Values) * len(p.Sigma.Values)}
			w := &worker{Shard: &Shard{Plan: p}, run: run}
			var took time.Duration
			for took < long && t.Timed < t.Cells {
				point := spread(t.Timed, t.Cells)
				start := time.Now()
				if _, err := w.numbers(ctx, p.task(p.first[i]+point*len(pair.Methods)+m)); err != nil {
					return nil, err
				}
				took += time.Since(start)
				t.Timed++
				run.Finished(1)
			}
			t.Seconds = took.Seconds() * float64(t.Cells) / float64(t.Timed)
			if chunks := (t.Cells + neighbours - 1) / neighbours; method != plane.Sample {
				t.Seconds /= float64(min(parallel.Workers(run.Workers), chunks))
			}
			out = append(out, t)
		}
	}
	return out, nil
}

// spread is the i-th of n places in an order that is spread evenly wherever it is cut. It is a
// permutation: its step is near n divided by the golden ratio, and has no divisor in common with n.
func spread(i, n int) int {
	step := max(1, int(math.Round(float64(n)/math.Phi)))
	for gcd(step, n) != 1 {
		step++
	}
	return (n/2 + i*step) % n
}

func gcd(a, b int) int {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}
