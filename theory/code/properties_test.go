package code_test

import (
	"context"
	"math"
	"math/bits"
	"testing"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"belsim/theory/base/must"
	"belsim/theory/code"
)

// TestCorrelationHardlyVarying: rows of a wide Hadamard matrix with one bit of
// the first row changed, whose distances to the other rows are one more or one
// less than M/2. The differences from M/2 have the same correlation, and there
// the reference has no large mean to cancel.
func TestCorrelationHardlyVarying(t *testing.T) {
	const levels, width = 32, 1 << 12
	m := mat.NewDense(levels, width, nil)
	for i := range levels {
		for k := range width {
			if bits.OnesCount(uint(i)&uint(k))%2 == 0 {
				m.Set(i, k, 1)
			}
		}
	}
	m.Set(0, 3, 1-m.At(0, 3))
	c := must.Get(code.FromMatrix("hardly varying", m))(t)
	p := must.Get(c.Properties(context.Background(), 0))(t)
	var ds, ns []float64
	for i := range levels {
		for j := range i {
			if d := c.Distance(i, j); d != c.Distance(j, i) {
				t.Fatalf("distance of rows %d and %d is not symmetric", i+1, j+1)
			}
			ds, ns = append(ds, float64(c.Distance(i, j)-width/2)), append(ns, float64(i-j))
		}
	}
	want := stat.Correlation(ds, ns, nil)
	if p.Correlation == nil || math.Abs(*p.Correlation-want) > 1e-12 {
		t.Errorf("correlation %v, want %v", p.Correlation, want)
	}
}
