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
// logits' difference is normal, with the variance 2.
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
	got, err := theory.SoftBounds(context.Background(), 0, c, d, e)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 2 {
		want := math.Erfc((quantile(e.At(i, 0))+quantile(e.At(i, 1)))/2) / 2
		if math.Abs(got[i]-want) > 1e-14 {
			t.Errorf("level %d: %v, want %v", i+1, got[i], want)
		}
	}
	if d, err = decode.New("gen-ex", c); err != nil {
		t.Fatal(err)
	}
	if _, err := theory.SoftBounds(context.Background(), 0, c, d, e); err == nil {
		t.Error("gen-ex has a bound")
	}
}
