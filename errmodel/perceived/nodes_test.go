package perceived

import (
	"context"
	"errors"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"

	"belsim/errmodel/observed"
	"belsim/theory"
	"belsim/theory/base/must"
	"belsim/theory/code"
	"belsim/theory/decode"
)

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
			if math.Abs(got[i]/want-1) > 0.01 {
				t.Errorf("s = %v, %s on %s: %v, want %v", s, r[i].Decoder.Name(), r[i].Outputs(), got[i], want)
			}
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
	for _, other := range []*code.Code{named(t, "unary", levels-1), named(t, "onehot", levels)} {
		if _, err := nodes.Errors(t.Context(), 1, thresholds(other, 1), nil); err == nil {
			t.Errorf("%s of %d levels was taken", other.Name(), other.Levels())
		}
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
			if got := answer(y); math.Abs(got-math.Round(got)) > 1e-9 {
				t.Errorf("s = %v: %v for %v, which is no level", s, got, y)
			}
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
		if got, want := stratum(j), strata*(density(j)-density(j+1)); math.Abs(got-want) > 1e-13 {
			t.Errorf("part %d: %v, want %v", j, got, want)
		}
	}
}
