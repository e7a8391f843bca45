package perceived

import (
	"errors"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"gonum.org/v1/gonum/mat"

	"belsim/errmodel"
	"belsim/errmodel/observed"
	"belsim/theory"
	"belsim/theory/base/must"
	"belsim/theory/code"
	"belsim/theory/decode"
)

// stripes is a code of 16 levels: unary, and a column for each of some numbers of transitions.
func stripes(t *testing.T, transitions ...int) *code.Code {
	m := mat.NewDense(16, 15+len(transitions), nil)
	m.Apply(func(i, k int, _ float64) float64 {
		if k >= 15 {
			return float64(min(i, transitions[k-15]) % 2)
		}
		if i > k {
			return 1
		}
		return 0
	}, m)
	return must.Get(code.FromMatrix("stripes", m))(t)
}

// TestPrepare: an error up to a quarter of the levels is fitted, and the rates of bits with four
// transitions or more. Where no error is, the rate of the other bits comes first, which stands for
// one transition.
func TestPrepare(t *testing.T) {
	c := stripes(t, 3, 4, 5)
	type residual struct {
		Transitions int // 0: an error
		Value, SD   float64
	}
	const n, wrong = 1000, 100
	counts := errmodel.NewCounts(16, c.Bits())
	counts.Samples[0] = n
	for k := range c.Bits() {
		counts.Row(0)[k] = wrong
	}
	many, easy := math.Hypot(0.03, math.Sqrt(0.1*0.9/n)), 0.1*math.Hypot(0.07, math.Sqrt((math.Pi/2-1+1/1.6)/n))
	rates := []residual{{4, 0.1, many}, {5, 0.1, many}}
	for _, tt := range []struct {
		errors []float64 // with standard errors of 1 %
		want   []residual
	}{
		{[]float64{4.01, 3.99, 2}, append([]residual{{0, 3.99, math.Hypot(0.02, 0.01)}, {0, 2, math.Hypot(0.05, 0.01)}},
			rates...)},
		{[]float64{4.01}, append([]residual{{1, 0.1, easy}}, rates...)},
	} {
		o := observation{Code: c, Training: BCE, Counts: counts}
		for _, v := range tt.errors {
			o.Errors = append(o.Errors, observedError{Value: v, Stderr: 0.01 * v})
		}
		must.Succeed(t, o.prepare())
		var got []residual
		for _, e := range o.Errors {
			got = append(got, residual{0, e.Value, e.sd})
		}
		for _, r := range o.rates {
			got = append(got, residual{r.transitions, r.value, r.sd})
		}
		if diff := cmp.Diff(tt.want, got, cmpopts.EquateApprox(1e-12, 0)); diff != "" {
			t.Errorf("errors %v: (-want +got)\n%s", tt.errors, diff)
		}
	}
}

// TestFitted: the error that sets s is below a fifth of the levels. Where a bit with eight
// transitions or fewer is dead, no error is fitted; where one with nine is, they are. Wrong bits
// are counted from 16 levels on.
func TestFitted(t *testing.T) {
	for _, tt := range []struct {
		value float64
		dead  int // bit of stripes, from 0, or −1
		want  int // decodings that are fitted; −1: an error
	}{{3.19, -1, 2}, {3.21, -1, -1}, {1, 15, 0}, {1, 16, 2}} {
		c := stripes(t, 8, 9)
		n := &Observed{Code: c, Training: BCE,
			Decodings: must.Get(observed.Decodings(decode.Builtin(), c, observed.Logits,
				decode.Options{}))(t), Rates: make([]float64, c.Bits())}
		for range n.Decodings {
			n.Errors = append(n.Errors, observed.Error{Mean: tt.value})
		}
		if tt.dead >= 0 {
			n.Rates[tt.dead] = math.NaN()
		}
		if got, err := n.fitted(); len(got) != max(tt.want, 0) || errors.Is(err, ErrNothingObserved) != (tt.want < 0) {
			t.Errorf("%+v: %v, %v", tt, got, err)
		}
	}
	for levels, want := range map[int]bool{15: false, 16: true} {
		if counting(named(t, "unary", levels)) != want {
			t.Errorf("%d levels: %v", levels, !want)
		}
	}
}

// TestTail: it is in proportion to the root mean square error, of which a standard error tells the
// part beside the mean.
func TestTail(t *testing.T) {
	c := named(t, "unary", 16)
	l, nodes := learn(t, Model{Noise: 1, Misfit: 0.25, Training: BCE}, "unary", 16,
		nil), must.Get(NewNodes(64, theory.Uniform(16), 15, Seed))(t)
	tail := func(stderr float64) float64 {
		n := &Observed{Code: c, Training: BCE,
			Decodings: []observed.Decoding{{Decoder: must.Get(decode.New("gen",
				c))(t)}}, Samples: 100, Errors: []observed.Error{{Mean: 0.8, StdErr: stderr}}}
		return must.Get(n.tail(t.Context(), 1, l, nodes))(t)
	}
	if got, want := tail(0.06)/tail(0.08), math.Sqrt((0.64+0.36)/(0.64+0.64)); math.Abs(got-want) > 1e-12 ||
		!math.IsNaN(tail(0)) {
		t.Errorf("standard errors of 0.06 and 0.08: tails in the ratio %v, want %v", got, want)
	}
}
