package expect

import (
	"fmt"
	"testing"

	"gonum.org/v1/gonum/mat"

	"belsim/errmodel"
	"belsim/theory"
	"belsim/theory/base/must"
	"belsim/theory/base/table"
	"belsim/theory/code"
	"belsim/theory/cost"
	"belsim/theory/decode"
	"belsim/theory/enclose"
)

// TestQuick: exact values are quick up to 2²⁶ comparisons of an output with a word.
func TestQuick(t *testing.T) {
	for _, tt := range []struct {
		levels, bits int
		exact        bool
	}{{1024, 16, true}, {1025, 16, false}, {2048, 15, true}, {64, 64, false}} {
		words := mat.NewDense(tt.levels, tt.bits, nil)
		for i := range tt.levels {
			for k := range tt.bits {
				words.Set(i, k, float64(i>>(k%12)&1))
			}
		}
		c := must.Get(code.FromMatrix("numbers", words))(t)
		p := &Problem{Code: c, Decoder: must.Get(decode.New("gen", c))(t)}
		must.Equal(t, fmt.Sprintf("%+v: exact values", tt), tt.exact, QuickExact(p))
	}
}

// TestSlow: where what is slow is left out, there are intervals up to 2²⁰ pairs of words, and of all
// codes whose words form a path; and what holds under any law, where it is quick.
func TestSlow(t *testing.T) {
	for _, tt := range []struct {
		code           string
		levels         int
		interval, laws bool
	}{
		{"unary", 64, true, true}, {"unary", 1025, true, false},
		{"johnson", 1024, true, false}, {"johnson", 1025, false, false},
	} {
		prior := make([]float64, tt.levels)
		prior[tt.levels/2] = 1
		c := must.Get(code.New(tt.code, tt.levels))(t)
		p := &Problem{Code: c, Decoder: must.Get(decode.New("gen", c))(t),
			Errors: must.Get(errmodel.NewMixture(t.Context(), c, 0.01, 0.5))(t)}
		slow := must.Get(Of(t.Context(), 1, p, prior, Skip{Slow: true, Bounds: true}))(t)
		law := must.Get(Of(t.Context(), 1, p, prior, Skip{SlowLaw: true, Bounds: true, Intervals: true}))(t)
		must.Equal(t, fmt.Sprintf("%+v: an interval, laws, laws", tt), [3]bool{tt.interval, tt.laws, tt.laws},
			[3]bool{slow.Intervals != nil, slow.Laws != nil, law.Laws != nil})
	}
}

// TestExactWidth: the middle of an interval is an exact value up to a relative width of 1e-5.
func TestExactWidth(t *testing.T) {
	c := must.Get(code.New("b1jdj", 32))(t)
	p := &Problem{Code: c, Decoder: must.Get(decode.New("gen", c))(t),
		Errors: must.Get(errmodel.NewMixture(t.Context(), c, 0.2, 1.5))(t)}
	prior, narrow := theory.Uniform(32), map[bool]bool{}
	for work := 1 << 10; work <= 1<<24; work *= 4 {
		rows, err := enclose.Rows(t.Context(), 1, p.Code, p.Decoder, []cost.Cost{{}}, prior, p.Errors,
			enclose.Options{Width: ExactWidth / 10, Work: work})
		want := err == nil && enclose.Mean(prior, rows[0]).Width() <= ExactWidth
		mean := must.Get((&Mean{Width: ExactWidth, Work: work}).Mean(t.Context(), p, prior))(t)
		must.Equal(t, fmt.Sprintf("work %d: the middle is known", work), want, !table.Missing(mean))
		narrow[want] = true
	}
	must.Equal(t, "narrow and wide intervals", 2, len(narrow))
}

// TestEndsText: two digits, rounded outward, also where the second is 0.
func TestEndsText(t *testing.T) {
	for want, ends := range map[string][2]float64{
		".29–.80": {0.298, 0.8}, ".049–.10": {0.0499, 0.0996}, "0–12": {0, 11.3}, "1.0–130": {1.02, 121},
		"1.6e-07–.020": {1.66e-7, 0.02},
	} {
		must.Equal(t, want, want, EndsText(&ends, false))
	}
}
