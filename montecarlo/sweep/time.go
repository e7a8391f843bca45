package sweep

import (
	"context"
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
	// cpu or cuda
	Backend string `json:"backend" text:"backend"`
}

// Time computes some cells of every pair by every method, for about the given time each, and estimates
// how long the whole takes on a backend of a name. Bounds and exact values are timed on one processor: a sweep computes as
// many cells at a time as it has processors, and samples on all of them.
func (p *Plan) Time(ctx context.Context, run montecarlo.Run, long time.Duration, backend string) ([]Timing, error) {
	of := map[Task][]int{} // by pair and method: their cells in a mixed order
	for _, cell := range p.dealt() {
		k := p.task(cell)
		k.Point = plane.Point{}
		of[k] = append(of[k], cell)
	}
	var out []Timing
	for i, pair := range p.Pairs {
		for _, method := range pair.Methods {
			all := of[Task{Pair: i, Method: method}]
			t := Timing{Design: pair.Design, Method: method, Cells: len(all), Backend: backend}
			w := &worker{Shard: &Shard{Plan: p}, run: run}
			var took time.Duration
			for took < long && t.Timed < t.Cells {
				start := time.Now()
				if _, err := w.numbers(ctx, p.task(all[t.Timed])); err != nil {
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
