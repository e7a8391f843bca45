package theory_test

import (
	"context"
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"

	"belsim/theory"
	"belsim/theory/code"
	"belsim/theory/decode"
)

// TestSoftBound: with two levels the union bound is the probability itself: the
// logits' difference is normal, with the variance that shared noise gives it.
func TestSoftBound(t *testing.T) {
	c, err := code.FromMatrix("mine", mat.NewDense(2, 3, []float64{0, 1, 1, 1, 0, 1}))
	if err != nil {
		t.Fatal(err)
	}
	d, err := decode.New("gen", c)
	if err != nil {
		t.Fatal(err)
	}
	e := mat.NewDense(2, 3, []float64{0.1, 0.2, 0.5, 0.3, 0.4, 0.5})
	quantile := func(p float64) float64 { return math.Sqrt2 * math.Erfinv(1-2*p) }
	for _, rho := range []float64{0, 0.4, 1} {
		got, err := theory.SoftBounds(context.Background(), 0, c, d, e, rho)
		if err != nil {
			t.Fatal(err)
		}
		// Both bits say the same of a shift of the label: one rises, one falls,
		// and their targets differ.
		s := math.Sqrt(2*(1-rho) + 4*rho)
		for i := range 2 {
			want := math.Erfc((quantile(e.At(i, 0))+quantile(e.At(i, 1)))/s/math.Sqrt2) / 2
			if math.Abs(got[i]-want) > 1e-14 {
				t.Errorf("ρ = %v, level %d: %v, want %v", rho, i+1, got[i], want)
			}
		}
	}
	if d, err = decode.New("gen-ex", c); err != nil {
		t.Fatal(err)
	}
	if _, err := theory.SoftBounds(context.Background(), 0, c, d, e, 0); err == nil {
		t.Error("gen-ex has a bound")
	}
}
