package search

import (
	"belsim/errmodel/scenario"
	"belsim/montecarlo"
	"context"
	"fmt"
	"testing"
	"time"
)

type counted struct {
	evaluator
	n *int
	d *time.Duration
}

func (c counted) update(ctx context.Context, w *words, m *move) float64 {
	t := time.Now()
	r := c.evaluator.update(ctx, w, m)
	*c.n++
	*c.d += time.Since(t)
	return r
}
func TestStages(t *testing.T) {
	d := montecarlo.DefaultSampling()
	d.Seed = 1
	p, err := NewOptimizer(scenario.New(scenario.Mixture{R: .5, Sigma: 3}), d, Options{Levels: 64, Bits: 16, Workers: 1})
	if err != nil {
		t.Fatal(err)
	}
	o := p.Options
	for round := range 3 {
		all, _ := o.starts(t.Context(), o.rng(forStarts, 0))
		all, _ = o.rank(t.Context(), all, guides, forGuides)
		a := o.start(t.Context(), round, o.rng(0, 0), &all[0])
		ns := make([]int, 3)
		ds := make([]time.Duration, 3)
		for i, x := range a.evaluators {
			a.evaluators[i] = counted{x, &ns[i], &ds[i]}
		}
		t0 := time.Now()
		a.anneal(t.Context(), .01, func(uint64, float64) {}, 2500)
		fmt.Println(round, ns, ds, time.Since(t0), all[0].Mean)
	}
}
