package perceived

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distuv"

	"belsim/errmodel"
	"belsim/errmodel/observed"
	"belsim/theory"
	"belsim/theory/base/must"
	"belsim/theory/code"
	"belsim/theory/decode"
)

// softError is the mean |error|, in levels, of the decoder that takes the mean level of
// softmax(f(ŷ)·Cᵀ), for a network without misfit.
func softError(l *Network) (float64, error) {
	levels, m := l.c.Dims()
	sum, f := 0.0, make([]float64, m)
	for i := range levels {
		for j := 0; j < strata; j += 3 {
			l.Logits(f, float64(i+1)+l.Noise()*stratum(j))
			mean, _ := softmax(l.c, f)
			sum += math.Abs(mean - float64(i+1))
		}
	}
	return sum / float64(levels*((strata+2)/3)), nil
}

// shown is a network of the model with what it shows: the expected counts of n samples of each
// level, and its softError as a target.
func shown(t *testing.T, p Model, c *code.Code, n uint64) (*Observed, []target) {
	t.Helper()
	l := must.Get(p.Learn(t.Context(), 1, c, nil))(t)
	counts := errmodel.NewCounts(c.Dims())
	for i := range c.Levels() {
		counts.Samples[i] = n
		for k, e := range l.Table().RawRowView(i) {
			counts.Row(i)[k] = uint64(math.Round(float64(n) * e))
		}
	}
	v := must.Get(softError(l))(t)
	return &Observed{Code: c, Training: p.Training, Counts: counts, Rates: make([]float64, c.Bits())},
		[]target{{value: v, sd: 0.001 * v, model: softError}}
}

// width is the difference of the logarithms of the ends of an interval; widest is that of the prior
// of a cutoff.
func width(interval [2]float64) float64 { return math.Log(interval[1] / interval[0]) }

const widest = 2 * 1.959963984540054 * 0.35

// TestFitEasy: codes of few transitions tell s, by an error, by the bits alone, and where a bit is
// set aside. After a training for the decoder the counts mean nothing.
func TestFitEasy(t *testing.T) {
	const levels = 32
	start := Model{Misfit: DefaultMisfit}
	for _, s := range []float64{0.8, 1.7} {
		truth := Model{Noise: s, Misfit: DefaultMisfit, Training: BCE}
		johnson, errors := shown(t, truth, named(t, "johnson", levels), 4000)
		truth.Training = CE
		unary, last := shown(t, truth, named(t, "unary", levels), 1000)
		for i := range unary.Counts.Wrong {
			unary.Counts.Wrong[i] = 500
		}
		dead := *johnson
		dead.Rates = slices.Clone(dead.Rates)
		dead.Rates[2] = math.NaN()
		dead.Counts = errmodel.NewCounts(levels, len(dead.Rates))
		for i := range levels {
			dead.Counts.Samples[i] = johnson.Counts.Samples[i]
			copy(dead.Counts.Row(i), johnson.Counts.Row(i))
			dead.Counts.Row(i)[2] = dead.Counts.Samples[i] / 2
		}
		for what, tt := range map[string]struct {
			network *Observed
			errors  []target
			wide    float64 // Hi over Lo: e^(4·0.036) of an error, and e^(4·0.076) of a rate
		}{
			"an error": {johnson, errors, 1.2}, "bits alone": {johnson, nil, 1.4}, "a dead bit": {&dead, nil, 1.4},
			"CE": {unary, last, 1.2},
		} {
			f := must.Get(tt.network.fit(t.Context(), 2, theory.Uniform(levels), tt.errors, start))(t)
			want := start
			want.Training, want.Noise, want.Floor = tt.network.Training, s, DefaultFloor
			want.Cutoff = want.DefaultCutoff(levels)
			at := fmt.Sprintf("s = %v from %s", s, what)
			must.Equal(t, at, want, f.Model, cmpopts.EquateApprox(1e-3, 0))
			if wide := width(f.CutoffInterval); f.CutoffFitted || math.Abs(wide-widest) > 1e-9 {
				t.Errorf("%s: the cutoff is fitted: %v, ln hi/lo %v", at, f.CutoffFitted, wide)
			}
			must.Within(t, at, s, f.NoiseInterval[0], f.NoiseInterval[1])
			must.Within(t, at+": ln hi/lo", width(f.NoiseInterval), 2*1.96*0.03, math.Log(tt.wide))
		}
	}
}

// TestFitCutoff: a network of the default cutoff is recovered; of another cutoff, a part of the
// difference is: the prior holds back, and s takes the rest. The interval holds the truth.
func TestFitCutoff(t *testing.T) {
	const levels = 32
	for _, s := range []float64{0.8, 1.7} {
		truth := Model{Noise: s, Misfit: DefaultMisfit, Training: BCE}
		for _, ratio := range []float64{1, 0.6} {
			truth.Cutoff = ratio * truth.DefaultCutoff(levels)
			n, errors := shown(t, truth, named(t, "gray", levels), 4000)
			fit := func(workers int) *Fit {
				return must.Get(n.fit(t.Context(), workers, theory.Uniform(levels), errors,
					Model{Misfit: DefaultMisfit}))(t)
			}
			f := fit(1)
			must.Equal(t, "fit of 3 workers", f, fit(3))
			moved := math.Log(f.Cutoff / f.DefaultCutoff(levels))
			less := math.Abs(math.Log(ratio))
			at := fmt.Sprintf("cutoff %v times the default, s = %v: ", ratio, s)
			must.Within(t, at+"logarithm of the cutoff over the default", moved, -less-0.03, 0.03-0.2*less)
			must.Within(t, at+"error of the noise", f.Noise/s-1, -0.02-0.1*less, 0.02+0.1*less)
			must.Equal(t, at+"the cutoff is fitted", true, f.CutoffFitted)
			must.Within(t, at+"the cutoff", truth.Cutoff, f.CutoffInterval[0], f.CutoffInterval[1])
			must.Within(t, at+"its ln hi/lo", width(f.CutoffInterval), 0, widest-1e-9)
		}
	}
}

// TestFitEnds: inputs that differ in their last digits have the same fit. An error is disturbed, and the disturbance
// is bisected to 10⁻¹³ of the error, towards where the fits beside each other differ most. There last digits decide
// how many steps the search takes. The last step is shorter than 0.01 standard deviations, and one more is about a
// tenth of it.
func TestFitEnds(t *testing.T) {
	const levels, most = 32, 0.01 / 10
	n, errors := shown(t, Model{Noise: 1.2, Misfit: DefaultMisfit, Training: BCE}, named(t, "gray", levels), 4000)
	value := errors[0].value
	fit := func(times float64) *Fit {
		errors[0].value = times * value
		return must.Get(n.fit(t.Context(), 2, theory.Uniform(levels), errors, Model{Misfit: DefaultMisfit}))(t)
	}
	apart := func(a, b *Fit) float64 { // in standard deviations, of the cutoff, which the bits tell least
		return math.Abs(math.Log(a.Cutoff/b.Cutoff)) / (width(a.CutoffInterval) / (2 * 1.96))
	}
	lo, hi := 1.12, 1.13 // times the error that belongs to the bits
	low, high := fit(lo), fit(hi)
	for hi-lo > 1e-13 {
		middle := (lo + hi) / 2
		if f := fit(middle); apart(low, f) > apart(f, high) {
			hi, high = middle, f
		} else {
			lo, low = middle, f
		}
	}
	must.Within(t, "standard deviations between fits", apart(low, high), 0, most)
}

func TestFitRefusals(t *testing.T) {
	good, observed := shown(t, Model{Noise: 1, Misfit: 0.25, Training: BCE}, named(t, "unary", 16), 500)
	start, uniform := Model{Misfit: 0.25}, theory.Uniform(16)
	of := func(value float64) []target { return []target{{value: value, model: softError}} }
	nothing, right := *good, *good
	nothing.Counts, right.Counts = nil, errmodel.NewCounts(16, 15)
	right.Counts.Samples[0] = 9
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for what, tt := range map[string]struct {
		ctx     context.Context
		network *Observed
		prior   []float64
		errors  []target
		start   Model
		want    error
	}{
		"nothing":            {t.Context(), &nothing, uniform, nil, start, ErrNothingObserved},
		"hopeless error":     {t.Context(), &nothing, uniform, of(9), start, ErrNothingObserved},
		"no bit is wrong":    {t.Context(), &right, uniform, nil, start, ErrNothingObserved},
		"misfit":             {t.Context(), good, uniform, observed, Model{Misfit: -1}, nil},
		"prior of 3 levels":  {t.Context(), good, theory.Uniform(3), observed, start, nil},
		"error out of reach": {t.Context(), good, uniform, of(1e-12), start, ErrNoNoise},
		"cancelled":          {ended, good, uniform, observed, start, context.Canceled},
	} {
		if f, err := tt.network.fit(tt.ctx, 1, tt.prior, tt.errors, tt.start); err == nil ||
			tt.want != nil && !errors.Is(err, tt.want) {
			t.Errorf("%s: %v, %v; want an error (%v)", what, f, err, tt.want)
		}
	}
}

// TestSolveNoise has targets that are out of reach or none, errors of the model, and roots at a step and near an end.
func TestSolveNoise(t *testing.T) {
	identity := func(s float64) (float64, error) { return s, nil }
	for _, target := range []float64{1e-9, 17} {
		if _, err := solveNoise(16, target, noiseTolerance, identity); !errors.Is(err, ErrNoNoise) {
			t.Errorf("error %v: %v, want ErrNoNoise", target, err)
		}
	}
	for _, target := range []float64{0, -1, math.NaN(), math.Inf(1)} {
		if _, err := solveNoise(16, target, noiseTolerance, identity); err == nil || errors.Is(err, ErrNoNoise) {
			t.Errorf("error %v is taken: %v", target, err)
		}
	}
	// An error that steps has its root at the step.
	for _, step := range []float64{0.3, 1.234, 2.5, 9} {
		got := must.Get(solveNoise(16, 1, noiseTolerance, func(s float64) (float64, error) {
			if s < step {
				return 0, nil
			}
			return 5, nil
		}))(t)
		must.Within(t, "a step, over where it is", got/step, 1-1e-4, 1+1e-4)
	}
	// The search may begin at an end, and go inward.
	for _, inward := range []struct{ slope, root float64 }{{2, 10}, {0.5, 1.2 * smallestNoise(16)}} {
		got := must.Get(solveNoise(16, inward.slope*inward.root, noiseTolerance, func(s float64) (float64, error) {
			return inward.slope * s, nil
		}))(t)
		must.Within(t, "a root, over where it is", got/inward.root, 1-1e-4, 1+1e-4)
	}
}

// TestOnUnary compares the expected distances of the answers of gen and bel-u with a sum over all words, and with
// the decoders themselves.
func TestOnUnary(t *testing.T) {
	const levels = 9
	c := named(t, "unary", levels)
	gen := must.Get(decode.New("gen", c))(t)
	for _, s := range []float64{0.4, 3} {
		n := learn(t, Model{Noise: s, Misfit: 0.8, Training: BCE}, "unary", levels, nil)
		g, count := newOnUnary(n), must.Get(decode.New("bel-u", c))(t)
		wrong := make([]float64, levels-1)
		for _, y := range []float64{-2, 1, 2.3, 4.5, 7.49, 14} {
			n.WrongTo(wrong, 3, y)
			want := make([][4]float64, levels)
			for word := range uint64(1 << (levels - 1)) {
				p := 1.0
				for k, e := range wrong {
					if c.Bit(3, k) == (word>>k&1 == 1) {
						e = 1 - e
					}
					p *= e
				}
				answer, ones := gen.Decode([]uint64{word}), count.Decode([]uint64{word})
				for i := range want {
					for j, e := range []int{answer - i - 1, ones - i - 1} {
						want[i][2*j] += p * math.Abs(float64(e))
						want[i][2*j+1] += p * float64(e*e)
					}
				}
			}
			g.see(y)
			for i, v := range want {
				gen, count := g.gen(float64(i+1)), g.count(float64(i+1))
				got := [4]float64{gen.mean, gen.square, count.mean, count.square}
				if floats.Distance(got[:], v[:], 1) > 1e-12*levels*levels {
					t.Errorf("s = %v, perceived label %v: errors %v of level %d, want %v", s, y, got, i+1, v)
				}
			}
		}
	}
}

// TestNoiseOf: the noise leads back to the error of unary that a forecast has. ln s is found to
// noiseTolerance, and errors from 0.05 levels on grow by less than its sixth power. Around real labels
// the noise is less than around levels, because quantization is a part of the error.
func TestNoiseOf(t *testing.T) {
	const levels = 32
	prior := theory.Uniform(levels)
	whole := must.Get(NewNodes(ManyNodes, prior, levels-1, Seed))(t)
	few := [2]*Nodes{whole, whole.Real([]Uniform{{0.5, levels + 0.5, 1}})}
	gen := []observed.Decoding{{Decoder: must.Get(decode.New("gen", named(t, "unary", levels)))(t)}}
	for _, mae := range []float64{0.06, 0.4, 1.3} {
		var s [2]float64
		for i, nodes := range few {
			if i == 1 && mae < 0.25 { // less than quantization
				continue
			}
			m := Model{Misfit: DefaultMisfit, Within: WithinLevel * float64(i)}
			s[i] = must.Get(m.NoiseOf(t.Context(), 2, nodes, mae))(t)
			p := m
			p.Noise, p.Training = s[i], BCE
			got := must.Get(nodes.Errors(t.Context(), 0, learn(t, p, "unary", levels, prior), gen))(t)[0]
			must.Near(t, fmt.Sprintf("error of s = %v, over that wanted", s[i]), 1, got/mae, 6*noiseTolerance)
		}
		// Rounding makes the squared error of levels 2/π·(s² − 1/12), by the midpoint rule, and
		// that of real labels 2/π·(s² + 1/12).
		if off := math.Sqrt(s[0]*s[0]-2./12) / s[1]; mae > 1 && math.Abs(off-1) > 0.01 {
			t.Errorf("error %v: s = %v around levels, and %v around real labels", mae, s[0], s[1])
		}
	}
	m := Model{Misfit: DefaultMisfit}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := m.NoiseOf(ended, 1, few[1], 1); !errors.Is(err, context.Canceled) {
		t.Errorf("%v, want the context's error", err)
	}
	if _, err := m.NoiseOf(t.Context(), 1, few[0], 25); !errors.Is(err, ErrNoNoise) {
		t.Errorf("%v, want ErrNoNoise", err)
	}
}

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

// thresholds is a network of the unary code that compares the perceived label with each transition,
// without a misfit: its decoders round the perceived label. Its logits are lines, which are exact
// between the points of a grid.
func thresholds(c *code.Code, s float64) *Network {
	n := &Network{p: Model{Noise: s}, c: c, first: -100, step: 80, residualSD: make([]float64, c.Bits()),
		inverse: make([]float64, c.Bits())}
	for g := range 4 {
		for k := range c.Bits() {
			n.logits = append(n.logits, 400*(n.first+float64(g)*n.step-float64(k)-1.5))
		}
	}
	return n
}

func decodings(t testing.TB, c *code.Code) []observed.Decoding {
	t.Helper()
	return must.Get(observed.Decodings(decode.Builtin(), c, observed.Logits, decode.Options{}))(t)
}

// TestErrors compares with the expected error of a normal number that is rounded and cut off.
func TestErrors(t *testing.T) {
	const levels = 20
	c := named(t, "unary", levels)
	prior := theory.Uniform(levels)
	prior[2] = 0.5 // not normalized
	nodes := must.Get(NewNodes(ManyNodes, prior, c.Bits(), 1))(t)
	for _, s := range []float64{0.3, 1, 4} {
		want, sum := 0.0, 0.0
		for n := 1; n <= levels; n++ {
			sum += prior[n-1]
			for d := 1; d <= levels; d++ {
				above, below := 1.0, 0.0
				if d < levels {
					above = distuv.Normal{Mu: float64(n), Sigma: s}.CDF(float64(d) + 0.5)
				}
				if d > 1 {
					below = distuv.Normal{Mu: float64(n), Sigma: s}.CDF(float64(d) - 0.5)
				}
				want += prior[n-1] * (above - below) * math.Abs(float64(d-n))
			}
		}
		want /= sum
		r := decodings(t, c)
		got := must.Get(nodes.Errors(t.Context(), 2, thresholds(c, s), r))(t)
		for i := range r {
			must.Near(t, fmt.Sprintf("s = %v, %s on %s: over the law", s, r[i].Decoder.Name(), r[i].Outputs()), 1, got[i]/want, 0.01)
		}
		one, err := nodes.Errors(t.Context(), 1, thresholds(c, s), r)
		if err != nil || !slices.Equal(one, got) {
			t.Errorf("one worker: %v, %v; two: %v", one, err, got)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := nodes.Errors(ctx, 1, thresholds(c, 1), decodings(t, c)); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

// TestSmooth: a difference of errors of hard decisions by ln κ, which half-widths of forecasts are in
// proportion to, is smooth in s: a difference of samples of 4,096 nodes jumps there by 0.05 to 0.2.
func TestSmooth(t *testing.T) {
	const levels = 32
	nodes := must.Get(NewNodes(ManyNodes/4, theory.Uniform(levels), levels-1, Seed))(t).Smooth()
	for _, name := range []string{"johnson", "gray"} {
		c := named(t, name, levels)
		gen := []observed.Decoding{{Decoder: must.Get(decode.New("gen", c))(t)}}
		var falls []float64
		for s := 0.1; s < 1; s *= 1.05 {
			p := Model{Noise: s, Misfit: DefaultMisfit, Training: BCE}
			var errors [2]float64
			for i, step := range []float64{-0.4, 0.4} {
				p.Cutoff = Model{Noise: s}.DefaultCutoff(levels) * math.Exp(step)
				errors[i] = must.Get(nodes.Errors(t.Context(), 2, learn(t, p, name, levels, nil), gen))(t)[0]
			}
			falls = append(falls, math.Log(errors[0]/errors[1])/0.8)
		}
		for i := range falls[2:] {
			// off the line between its neighbours
			if off := math.Abs(falls[i+1] - (falls[i]+falls[i+2])/2); off > 0.02 {
				t.Errorf("%s: −d ln error/d ln κ is %.4f, between %.4f and %.4f", name, falls[i+1], falls[i], falls[i+2])
			}
		}
	}
}

// TestRealNodes: nodes of real labels have the labels' mean, also where some levels have none.
// Networks learn with the variance of labels within a level, but where all labels are points.
func TestRealNodes(t *testing.T) {
	nodes := must.Get(NewNodes(ManyNodes, theory.Uniform(9), 1, Seed))(t)
	for _, tt := range []struct {
		labels []Uniform
		within float64
	}{
		{[]Uniform{{1, 9, 1}}, WithinLevel}, {[]Uniform{{1, 1, 0.5}, {9, 9, 0.5}}, 0},
		{[]Uniform{{1, 1.5, 0.1}, {4.2, 6, 0.6}, {8, 9, 0.3}}, WithinLevel},
	} {
		sum, mean, real := 0.0, 0.0, nodes.Real(tt.labels)
		for _, y := range real.label {
			sum += y / ManyNodes
		}
		for _, p := range tt.labels {
			mean += p.Share * (p.From + p.To) / 2
		}
		// Each label is the middle of a part of 1/N of the law, but at a gap between the labels.
		if math.Abs(sum-mean) > 9./ManyNodes || real.within != tt.within {
			t.Errorf("%v: mean of the nodes %v, want %v; the variance within a level %v, want %v", tt.labels, sum, mean,
				real.within, tt.within)
		}
	}
}

// TestPrediction: direct regression answers the median of the label, given the perceived one. Far
// from the ends of uniform labels that is the perceived label, and no other answer has less error:
// neither this label itself, nor that of a network of levels.
func TestPrediction(t *testing.T) {
	const levels = 32
	prior := slices.Repeat([]float64{1}, levels)
	prior[0], prior[levels-1] = 0.5, 0.5
	nodes := must.Get(NewNodes(ManyNodes, prior, levels, Seed))(t).Real([]Uniform{{From: 1, To: levels, Share: 1}})
	whole := must.Get(NewNodes(ManyNodes, prior, levels, Seed))(t)
	for _, s := range []float64{0.1, 0.9, 6} {
		answer := whole.median(levels, s) // of labels that are levels it is one, at the points of the grid
		for g := range gridPoints(levels, s) {
			y := 1 - reach*s + float64(g)*(levels-1+2*reach*s)/float64(gridPoints(levels, s)-1)
			must.Near(t, fmt.Sprintf("s = %v: answer to %v, a level", s, y), math.Round(answer(y)), answer(y), 1e-9)
		}
		answer = nodes.median(levels, s)
		for y := 4*s + 1; y < levels-4*s; y += 0.37 {
			if got := answer(y); math.Abs(got-y) > 0.05 { // the labels are 1/33 of a level apart
				t.Errorf("s = %v: %v for %v", s, got, y)
			}
		}
		least, plain := 0.0, 0.0
		for i := range nodes.level {
			y := nodes.label[i] + s*nodes.noise[i]
			least += math.Abs(answer(y)-nodes.label[i]) / ManyNodes
			plain += math.Abs(min(max(y, 1), levels)-nodes.label[i]) / ManyNodes
		}
		gen := must.Get(decode.Builtin().New("gen", must.Get(code.New("unary", levels))(t), decode.Options{}))(t)
		l := must.Get(Model{Noise: s, Within: WithinLevel, Misfit: 0.25, Training: BCE}.Learn(t.Context(), 1,
			must.Get(code.New("unary", levels))(t), prior))(t)
		got := must.Get(nodes.Errors(t.Context(), 1, l, []observed.Decoding{observed.Prediction(), {Decoder: gen},
			{Decoder: gen, Soft: true}}))(t)
		if math.Abs(got[0]-least) > 1e-12 || least > 1.001*plain || least > got[1] || least > got[2] || s < 2 &&
			math.Abs(least/(s*math.Sqrt(2/math.Pi))-1) > 0.04 {
			t.Errorf("s = %v: %v; %v, and %v of the label itself", s, got, least, plain)
		}
	}
}

// TestResiduals: the residuals are normal, and of each place and bit its own.
func TestResiduals(t *testing.T) {
	p := must.Get(NewNodes(ManyNodes, theory.Uniform(8), 6, 3))(t)
	sum, square, product := 0.0, 0.0, 0.0
	for i := range ManyNodes {
		row := p.row(i)
		for k, v := range row {
			sum += float64(v)
			square += float64(v) * float64(v)
			product += float64(v) * float64(row[(k+1)%6])
		}
	}
	n := float64(ManyNodes * 6)
	if limit := 4 / math.Sqrt(n); math.Abs(sum/n) > limit || math.Abs(square/n-1) > 2*limit ||
		math.Abs(product/n) > limit {
		t.Errorf("mean %v, variance %v, covariance %v", sum/n, square/n, product/n)
	}
	for _, prior := range [][]float64{{0, 0}, {1, -1}, {math.NaN(), 1}, {math.Inf(1), 1}} {
		if _, err := NewNodes(ManyNodes, prior, 2, 1); err == nil {
			t.Errorf("the prior %v was taken", prior)
		}
	}
}

// TestStrata: the strata are the means of a standard normal number over equally probable parts
// of its law, ascending, up to the roundings of the formula.
func TestStrata(t *testing.T) {
	density := func(j int) float64 {
		return distuv.UnitNormal.Prob(distuv.UnitNormal.Quantile(float64(j) / strata))
	}
	for j := range strata {
		must.Near(t, fmt.Sprint("part ", j), strata*(density(j)-density(j+1)), stratum(j), 1e-13)
	}
}
