package perceived

import (
	"errors"
	"fmt"
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

// TestTargets: an error up to a quarter of the levels is fitted, and the rates of bits with four
// transitions or more. Where no error is, the rate of the other bits comes first, which stands for
// one transition.
func TestTargets(t *testing.T) {
	const samples, wrong = 1000, 100
	n := &Observed{Code: stripes(t, 3, 4, 5), Training: BCE, Rates: make([]float64, 18)}
	n.Counts = errmodel.NewCounts(n.Code.Dims())
	n.Counts.Samples[0] = samples
	for k := range n.Code.Bits() {
		n.Counts.Row(0)[k] = wrong
	}
	many := math.Hypot(0.03, math.Sqrt(0.1*0.9/samples))
	easy := 0.1 * math.Hypot(0.07, math.Sqrt((math.Pi/2-1+1/1.6)/samples))
	four, five := target{value: 0.1, sd: many, transitions: 4}, target{value: 0.1, sd: many, transitions: 5}
	for _, tt := range []struct {
		errors []float64 // with standard errors of 1 %
		want   []target
	}{
		{[]float64{4.01, 3.99, 2}, []target{{value: 3.99, sd: math.Hypot(0.02, 0.01)},
			{value: 2, sd: math.Hypot(0.05, 0.01)}, four, five}},
		{[]float64{4.01}, []target{{value: 0.1, sd: easy, transitions: 1}, four, five}},
	} {
		var errors []target
		for _, v := range tt.errors {
			errors = append(errors, target{value: v, sd: 0.01 * v})
		}
		must.Equal(t, fmt.Sprint("errors ", tt.errors), tt.want, n.targets(errors, theory.Uniform(16)),
			cmp.AllowUnexported(target{}), cmpopts.IgnoreFields(target{}, "model"), cmpopts.EquateApprox(1e-12, 0))
	}
}

// TestFitted: the error that sets s is below a fifth of the levels. Where a bit with eight
// transitions or fewer is dead, no error is fitted; where one with nine is, they are. Wrong bits
// are counted from 16 levels on, where neighbouring words differ in as many bits as they are levels
// apart.
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
	for _, tt := range []struct {
		name   string
		levels int
		want   bool
	}{
		{"unary", 15, false}, {"unary", 16, true}, {"unary", 32, true}, {"johnson", 32, true}, {"b1jdj", 32, false},
		{"onehot", 32, false},
	} {
		if counting(named(t, tt.name, tt.levels)) != tt.want {
			t.Errorf("%s of %d levels: %v, want %v", tt.name, tt.levels, !tt.want, tt.want)
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
