package scenario

import (
	"fmt"
	"testing"

	"gonum.org/v1/gonum/mat"

	"belsim/theory/base/must"
	"belsim/theory/code"
	"belsim/theory/decode"
)

// TestQuick: exact values are quick up to 2²⁶ comparisons of an output with a word, and the bound at
// a perceived label up to L·M² of 2¹⁸, which the exact value takes, too.
func TestQuick(t *testing.T) {
	for _, tt := range []struct {
		levels, bits  int
		exact, bounds bool
	}{{1024, 16, true, true}, {1025, 16, false, false}, {2048, 15, true, false}, {64, 64, false, true}} {
		words := mat.NewDense(tt.levels, tt.bits, nil)
		for i := range tt.levels {
			for k := range tt.bits {
				words.Set(i, k, float64(i>>(k%12)&1))
			}
		}
		c := must.Get(code.FromMatrix("numbers", words))(t)
		p := New(nil).Shape(c, must.Get(decode.New("gen", c))(t), true)
		must.Equal(t, fmt.Sprintf("%+v: exact values, bounds, both", tt),
			[3]bool{tt.exact, tt.bounds, tt.exact && tt.bounds},
			[3]bool{exactWork(p) > 0, !slowBound(p), QuickExact(p)})
	}
}
