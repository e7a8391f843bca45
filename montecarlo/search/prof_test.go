package search

import (
	"belsim/errmodel/scenario"
	"belsim/montecarlo"
	"fmt"
	"testing"
)

func TestProf(t *testing.T) {
	d := montecarlo.DefaultSampling()
	d.Seed = 1
	p, err := NewOptimizer(scenario.New(scenario.Mixture{R: .6, Sigma: 1.5}), d, Options{Levels: 64, Bits: 16, Workers: 1})
	if err != nil {
		t.Fatal(err)
	}
	b, err := search(t.Context(), func() Options { o := p.Options; o.Steps = 60000; return o }())
	fmt.Println(b.Mean, b.Start, err)
}
