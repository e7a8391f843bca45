package expect_test

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"

	"belsim/errmodel"
	"belsim/theory"
	"belsim/theory/base/must"
	"belsim/theory/code"
	"belsim/theory/cost"
	"belsim/theory/decode"
	"belsim/theory/expect"
)

// TestCircle compares exact values on a circle with sums over all outputs. Under a wrapped mixture all
// levels of the cyclic code have one error by gen-ex, which turns with them; M is even, so that no
// output has mean vectors of zero, which have no direction.
func TestCircle(t *testing.T) {
	for _, tt := range []struct{ code, decoder string }{{"johnson", "gen-ex"}, {"johnson", "bel-j"}, {"johnson", "gen"},
		{"johnson", "median"}, {"unary", "bel-u"}, {"gray", "gen"}, {"gray", "gen-ex"}, {"gray", "median"}} {
		const levels = 16
		c := must.Get(code.New(tt.code, levels))(t).OnCircle()
		d := must.Get(decode.New(tt.decoder, c))(t)
		e := mat.DenseCopyOf(must.Get(errmodel.NewMixture(t.Context(), c, 0.5, 1.5))(t))
		if informed, ok := d.(decode.Informed); ok {
			d = must.Get(informed.Inform(decode.Model{Errors: e}))(t)
		}
		p := &expect.Problem{Code: c, Decoder: d, Errors: e, Cost: cost.Circular(levels)}
		found := must.Get(expect.Of(t.Context(), 1, p, theory.Uniform(levels), expect.Skip{AnyLaw: true}))(t)
		for i, level := range found.Levels {
			want := 0.0
			for output := range uint64(1) << c.Bits() {
				probability := 1.0
				for k := range c.Bits() {
					if output>>k&1 == 1 == c.Bit(i, k) {
						probability *= 1 - e.At(i, k)
					} else {
						probability *= e.At(i, k)
					}
				}
				want += probability * math.Abs(math.Remainder(decode.Value(d, []uint64{output})-float64(i+1), levels))
			}
			must.Within(t, tt.code+" by "+tt.decoder, level.Mean, want-1e-12, want+1e-12)
			if level.Bound < want-1e-12 {
				t.Errorf("%s by %s, level %d: a bound of %v below %v", tt.code, tt.decoder, i+1, level.Bound, want)
			}
			if tt.code == "johnson" && tt.decoder == "gen" { // whose ties are decided for the lowest level
				must.Within(t, "the bound at another level", level.Bound, found.Levels[0].Bound-1e-12, found.Levels[0].Bound+1e-12)
			}
			if tt.code == "johnson" && tt.decoder == "gen-ex" {
				must.Within(t, "the error at another level", level.Mean, found.Levels[0].Mean-1e-12, found.Levels[0].Mean+1e-12)
			}
		}
	}
}
