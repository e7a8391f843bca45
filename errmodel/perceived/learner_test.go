package perceived

import (
	"math"
	"slices"
	"testing"

	"belsim/theory/base/must"
)

// farthest is the largest difference of what gen-ex reads from two networks, in levels.
func farthest(a, b *Network) (most float64) {
	levels, bits := a.Dims()
	z := make([]float64, bits)
	label := func(l *Network, y float64) float64 {
		l.Logits(z, y)
		mean, _ := softmax(l.Code(), z)
		return mean
	}
	for y := 1.0; y <= float64(levels); y += 0.25 {
		most = max(most, math.Abs(label(a, y)-label(b, y)))
	}
	return most
}

// TestRecut: another cutoff is learnt from the functions of the first, and another misfit without
// learning.
func TestRecut(t *testing.T) {
	c, prior := named(t, "b1jdj", 24), slices.Repeat([]float64{1}, 24)
	for training, near := range map[Training]float64{BCE: 1e-5, CE: 1e-3, L1: 0.05} {
		p := Model{Noise: 0.9, Misfit: 0.25, Training: training, Cutoff: 11}
		l := must.Get(p.NewLearner(prior))(t)
		first := must.Get(l.Learn(t.Context(), c))(t)
		recut := must.Get(l.Recut(t.Context(), 5))(t)
		p.Cutoff = 5
		want := must.Get(p.Learn(t.Context(), 1, c, prior))(t)
		if d := farthest(recut, want); d > near || recut.Model().Cutoff != 5 {
			t.Errorf("%s: %v away from what is learnt with the cutoff %v", training, d, recut.Model().Cutoff)
		}
		if farthest(recut, first) < 1e-3 {
			t.Errorf("%s: the cutoff changes nothing", training)
		}
		if _, err := l.Recut(t.Context(), -1); err == nil {
			t.Error("a negative cutoff was accepted")
		}
	}
}
