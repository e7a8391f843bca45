package sweep

import (
	"context"
	"errors"
	"sync/atomic"
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
	// a cell takes longer than it was waited for, so that seconds is a lower limit
	AtLeast bool `json:"at_least"`
	// cpu or cuda
	Backend string `json:"backend" text:"backend"`
}

// patience is for how long a cell is waited for that is timed for about the given time.
func patience(long time.Duration) time.Duration { return max(10*long, 300*time.Millisecond) }

// Time computes some cells of every pair by every method, for about the given time each, and
// estimates how long the whole takes on a backend of a name. A cell that takes 10 times as long is
// stopped: its samples so far tell how long all take, where their number is known. Bounds and exact
// values are timed on one processor: a sweep computes as many cells at a time as it has processors,
// and samples on all of them.
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
			var sampled atomic.Uint64
			w := &worker{Shard: &Shard{Plan: p}, run: run, sampled: func(n uint64) { sampled.Add(n) }}
			took, cells := 0.0, 0.0
			for took < long.Seconds() && t.Timed < t.Cells && !t.AtLeast {
				sampled.Store(0)
				start := time.Now()
				limited, stop := context.WithTimeout(ctx, patience(long))
				_, err := w.numbers(limited, p.task(all[t.Timed]))
				stop()
				took += time.Since(start).Seconds()
				switch part := float64(sampled.Load()) / float64(p.Sampling.Samples) / float64(pair.Levels); {
				case err == nil:
					t.Timed++
					cells++
					run.Finished(1)
				case ctx.Err() != nil || !errors.Is(err, context.DeadlineExceeded):
					return nil, err
				case method == plane.Sample && p.Sampling.Samples > 0 && part > 0:
					cells += part
				default:
					cells++
					t.AtLeast = true
				}
			}
			t.Seconds = took * float64(t.Cells) / cells
			if chunks := (t.Cells + neighbours - 1) / neighbours; method != plane.Sample {
				t.Seconds /= float64(min(parallel.Workers(run.Workers), chunks))
			}
			out = append(out, t)
		}
	}
	return out, nil
}
