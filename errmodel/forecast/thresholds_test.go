package forecast

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"

	"belsim/errmodel/observed"
	"belsim/errmodel/perceived"
	"belsim/theory"
	"belsim/theory/base/must"
	"belsim/theory/decode"
)

// TestThresholds: probabilities, differences and losses are told apart at both sides of what is
// said of them.
func TestThresholds(t *testing.T) {
	for p, want := range map[float64]string{0.0099: "<0.01", 0.0101: "0.01", 0.9899: "0.99", 0.9901: ">0.99"} {
		if got := Chance(p); got != want {
			t.Errorf("the chance %v is %s, want %s", p, got, want)
		}
	}
	// The quantile of 97.5 % is 1.95996.
	law := distuv.StudentsT{Sigma: 0.1, Nu: 1e9}
	for sd, want := range map[float64]bool{-1.955: false, 1.955: false, 1.965: true} {
		x, y := Forecast{Error: 1, marginal: law}, Forecast{Error: math.Exp(0.1 * sd),
			marginal: distuv.StudentsT{Nu: 1e9}}
		_, interval, better := x.Over(y)
		if (better >= 1-tail) != want || math.Abs(math.Log(interval[1]/interval[0])/0.2-1.95996) > 1e-5 {
			t.Errorf("%v standard deviations smaller: below %v, interval %v", sd, !want, interval)
		}
	}
}

// TestFromNoise: of an error² of 2/π·(s² + 1/12), d ln error/d ln s is s²/(s² + 1/12). Real answers
// and labels that are levels have no quantization.
func TestFromNoise(t *testing.T) {
	c := mustCode(t, "unary", 8)
	hard, real := observed.Decoding{Decoder: must.Get(decode.New("gen",
		c))(t)}, observed.Decoding{Decoder: must.Get(decode.New("gen-ex", c))(t), Soft: true}
	on, off := &Forecaster{Model: perceived.Model{Within: perceived.WithinLevel}}, &Forecaster{}
	for _, s := range []float64{0, 0.1, 0.5, 3} {
		e, want := math.Sqrt(2/math.Pi*(s*s+1./12)), s*s/(s*s+1./12)
		if got := on.fromNoise(hard, e); math.Abs(got-want) > 1e-12 || on.fromNoise(hard, e/2) > want ||
			on.fromNoise(real, e) != 1 || off.fromNoise(hard, e) != 1 {
			t.Errorf("s = %v: %v, want %v", s, got, want)
		}
	}
}

// TestSensitivity: falls is the slope of the forecast's own error over κ, from both sides after BCE
// and from below else. It is of a quarter of the nodes.
func TestSensitivity(t *testing.T) {
	f, c := New(modelOf(1), nil, theory.Uniform(16), decode.Builtin()), mustCode(t, "gray", 16)
	for training, up := range map[perceived.Training]float64{perceived.BCE: 0.4, perceived.CE: 0} {
		var at [3]*Forecast
		for i, step := range []float64{-0.4, 0, up} {
			g := *f
			g.Model.Cutoff *= math.Exp(step)
			at[i] = must.Get(g.Code(t.Context(), c, training,
				observed.Decoding{Decoder: must.Get(decode.New("gen-ex", c))(t), Soft: true}))(t)
		}
		if want := math.Log(at[0].model/at[2].model) / (0.4 + up); math.Abs(at[1].falls/want-1) > 0.1 {
			t.Errorf("%s: %v, want %v", training, at[1].falls, want)
		}
	}
}

// TestLike: forecasters of other temperatures are not alike; label noise has the unit of the labels,
// and so have errors and misfit.
func TestLike(t *testing.T) {
	f, g := New(modelOf(1), nil, theory.Uniform(4), nil), New(modelOf(1), nil, theory.Uniform(4), nil)
	if g.Options.Temperature = 2; f.Like(g) || !f.Like(f) {
		t.Error("another temperature is alike")
	}
	q, p := question(Labels{Lo: 0, Hi: 1}, []int{16}), question(Labels{Lo: 0, Hi: 10}, []int{16})
	q.Misfit, p.Misfit = 0.05, 0.5
	one, ten := must.Get(q.noiseOf(t.Context(), 1, UnaryError{0.1, 16}))(t),
		must.Get(p.noiseOf(t.Context(), 1, UnaryError{1, 16}))(t)
	if math.Abs(ten/one-10) > 1e-6 {
		t.Errorf("label noise %v, and %v of ten times the range", one, ten)
	}
}

// TestSeedSD: two networks of one head differ by what the law says of any two networks.
func TestSeedSD(t *testing.T) {
	l, c := Fitted(), mustCode(t, "b1jdj-nr", 64)
	x := Forecast{Code: c, Training: perceived.CE, Decoding: observed.Prediction(), falls: 0.3, part: 1,
		often: often(c), uneven: uneven(c)}
	a, b, of := unit{&x, 1, 0.02}, unit{&x, 2, 0.02}, x.traits()
	for _, tail := range []float64{math.NaN(), 0.5, 1, 1.5} {
		want := l.scale(tail) * math.Sqrt(2*(l.covariance(a, a, of, of)-l.covariance(a, b, of, of)))
		if got := l.SeedSD(tail, 0.02); math.Abs(got/want-1) > 1e-9 {
			t.Errorf("tail %v: %v, want %v", tail, got, want)
		}
	}
}

// TestSampledRates: the sampling error of a rate of wrong bits adds to what networks differ by.
func TestSampledRates(t *testing.T) {
	f := New(modelOf(1.6), nil, theory.Uniform(16), decode.Builtin())
	n := &perceived.Observed{Code: mustCode(t, "gray", 16), Training: perceived.BCE, Samples: 25,
		Rates: []float64{0.5, 0.5, 0.5, 0.5}}
	nodes, _, err := f.nodes(4)
	must.Succeed(t, err)
	got, want := must.Get(f.Compare(t.Context(), n, nodes))(t), 0.0
	for _, r := range got.Rates {
		variance := 0.03*0.03 + 0.15*0.15*r.Model*r.Model + r.Model*(1-r.Model)/25
		want = max(want, (0.5-r.Model)/math.Sqrt(variance))
	}
	if math.Abs(got.Distance-want) > 1e-12 {
		t.Errorf("distance %v, want %v", got.Distance, want)
	}
}
