package theory_test

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"

	"belsim/theory"
	"belsim/theory/base/must"
	"belsim/theory/code"
	"belsim/theory/cost"
)

// TestSoftBound: with two levels the union bound is the probability itself: the
// logits' difference is normal, with the variance 2.
func TestSoftBound(t *testing.T) {
	c := must.Get(code.FromMatrix("mine", mat.NewDense(2, 3, []float64{0, 1, 1, 1, 0, 1})))(t)
	e := mat.NewDense(2, 3, []float64{0.1, 0.2, 0.5, 0.3, 0.4, 0.5})
	quantile := func(p float64) float64 { return math.Sqrt2 * math.Erfinv(1-2*p) }
	bound := must.Get(theory.NewSoftBound(c, mustDecoder(t, "gen", c), cost.Cost{}))(t)
	for i := range 2 {
		got := must.Get(bound.Row(t.Context(), i, e.RawRowView(i)))(t)
		want := math.Erfc((quantile(e.At(i, 0))+quantile(e.At(i, 1)))/2) / 2
		if math.Abs(got-want) > 1e-14 {
			t.Errorf("level %d: %v, want %v", i+1, got, want)
		}
	}
	if _, err := theory.NewSoftBound(c, mustDecoder(t, "gen-ex", c), cost.Cost{}); err == nil {
		t.Error("gen-ex has a bound")
	}
}
