package forecast

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"reflect"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"gonum.org/v1/gonum/stat/distuv"

	"belsim/errmodel/observed"
	"belsim/errmodel/perceived"
	"belsim/theory"
	"belsim/theory/base/must"
	"belsim/theory/code"
	"belsim/theory/decode"
)

// departure is a departure as the doc comment of Law writes it: its mean, and a standard deviation
// for each independent cause.
func departure(l *Law, x Forecast, network int, sampled float64) (mean float64, causes map[string]float64) {
	b, gex, ce, direct, through := 1.0, 0.0, 0.0, 0.0, 0.0
	switch {
	case x.Code.Name() == Direct:
		direct = 1
	case x.Training == perceived.BCE:
		if x.Decoding.Decoder.Name() == "gen-ex" {
			gex = 1
		}
	default:
		b, ce = 0.5, 1
		if x.Training == perceived.L1 || x.Training == perceived.L2 {
			through = 1
		}
	}
	name := x.Code.Name()
	causes = map[string]float64{
		"ce": l.Shared * ce, "often": l.Shared * b * x.often, "falls": l.Falls * b * x.falls,
		"direct": l.Shared * direct, "through gen-ex": l.Shared * through,
		"falls of " + name: l.Falls * b * math.Abs(x.falls), "uneven of " + name: l.Uneven * b * x.uneven,
	}
	for k := range causes {
		causes[k] *= x.part
	}
	causes[fmt.Sprint("network ", network)], causes[fmt.Sprint("samples ", network)] = l.Network, 0.5*sampled
	return x.part * l.Mean * (gex + ce + b*x.often + direct + through), causes
}

// TestLaw holds forecasts to the law as it is written, for random laws, networks and measurements:
// the ratios to the measured network, what a second network tells, and how far the network is from
// the model.
func TestLaw(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	const levels = 16
	var codes []*code.Code
	for _, name := range []string{"unary", "johnson", "b1jdj", "b1jdj-nr", "hexj", "gray"} {
		codes = append(codes, mustCode(t, name, levels))
	}
	codes = append(codes, codes[0].As(Direct))
	count := 60
	if os.Getenv("BELSIM_LONG") != "" {
		count = 300
	}
	for range count {
		law := Fitted()
		for fields, i := reflect.ValueOf(&law).Elem(), 0; i < fields.NumField(); i++ {
			fields.Field(i).SetFloat(0.05 + rng.Float64())
		}
		var all []Forecast
		for _, c := range codes {
			for _, training := range perceived.Trainings() {
				for _, name := range []string{"gen", "gen-ex"} {
					d := observed.Decoding{Decoder: must.Get(decode.New(name, c))(t), Soft: name == "gen-ex"}
					if rng.IntN(3) > 0 && sensible(c, training, d) {
						all = append(all, Forecast{
							Code: c, Training: training, Decoding: d, model: 0.5 + rng.Float64(),
							falls: rng.NormFloat64(), part: 0.3 + 0.7*rng.Float64(), often: often(c), uneven: uneven(c),
						})
					}
				}
			}
		}
		rng.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		const relative, off, more = 0.02, 0.1, -0.2
		measure := func(x Forecast, number int, off float64) Measured {
			mean := x.model * math.Exp(off)
			return Measured{x.Code, x.Training, x.Decoding, observed.Error{Mean: mean, StdErr: relative * mean}, number}
		}
		own, second := all[0], all[len(all)-1]
		if own.Code.Name() == second.Code.Name() && own.Training == second.Training {
			continue
		}
		f := &Forecaster{Law: law, Tail: 0.5 + 2*rng.Float64(), Prior: theory.Uniform(levels),
			Measured: []Measured{measure(own, 0, off), measure(second, 1, off+more)}}
		scale := 1 + law.Tail*math.Log(max(f.Tail, 1))
		// Contrasts with the measured network, as vectors of causes.
		meanOwn, causesOwn := departure(&law, own, 0, relative)
		contrast := func(x Forecast) (float64, map[string]float64) {
			number := 0
			if x.Code.Name() != own.Code.Name() || x.Training != own.Training {
				number = 10 + 10*int(x.Code.Bits()) + slices.Index(perceived.Trainings(), x.Training) +
					len(x.Code.Name())*1000
			}
			if x.Code.Name() == second.Code.Name() && x.Training == second.Training && x.Decoding == second.Decoding {
				number = 1
			}
			mean, causes := departure(&law, x, number, relative)
			for k, v := range causesOwn {
				causes[k] -= v
			}
			return mean - meanOwn, causes
		}
		dot := func(a, b map[string]float64) (sum float64) {
			for k, v := range a {
				sum += v * b[k]
			}
			return sum * scale * scale
		}
		f.Relate(all)
		mean2, causes2 := contrast(second)
		v2 := dot(causes2, causes2)*(1+1e-9) + least*least
		itself := scale*scale*(2*law.Network*law.Network+relative*relative/4) + least*least
		far := off*off/itself + (more-mean2)*(more-mean2)/v2
		for _, x := range all {
			if x.Measured || x.Code.Name() == second.Code.Name() && x.Training == second.Training {
				continue
			}
			mean, causes := contrast(x)
			both := dot(causes, causes2)
			want := x.model * math.Exp(off+mean+both/v2*(more-mean2))
			student := (2 + far) / (2 + 2)
			variance := (dot(causes, causes)*(1+1e-9) + least*least - both*both/v2) * student
			if !near(x.Error, want) || !near(x.marginal.Sigma, math.Sqrt(variance)) || x.marginal.Nu != 4 {
				t.Fatalf("%+v beside %+v: %v ± %v, want %v ± %v", x.Design(), own.Design(), x.Error, x.marginal.Sigma,
					want, math.Sqrt(variance))
			}
			for _, y := range all {
				if y.Measured || y.posterior == nil || y.at == x.at || y.Code.Name() == second.Code.Name() &&
					y.Training == second.Training {
					continue
				}
				_, other := contrast(y)
				covariance := (dot(causes, other) - both*dot(other, causes2)/v2) * student
				want := math.Sqrt(square(x.marginal.Sigma) + square(y.marginal.Sigma) - 2*covariance)
				if d := x.difference(y); !near(d.Sigma, want) || !near(d.Mu, math.Log(x.Error/y.Error)) {
					t.Fatalf("%+v and %+v differ by %+v, want ± %v", x.Design(), y.Design(), d, want)
				}
			}
		}
	}
}

// near allows for the condition of the matrices: their smallest eigenvalue is least², and their
// largest about 100.
func near(a, b float64) bool { return math.Abs(a-b) <= 1e-6*(math.Abs(a)+math.Abs(b)) }

// related are the forecasts of johnson and of b1jdj, made from the error of johnson; falls and often
// are of their codes.
func related(t *testing.T, tail, falls, often float64, e observed.Error) (f *Forecaster, all []Forecast) {
	c, other := mustCode(t, "johnson", 16), mustCode(t, "b1jdj", 16)
	d := observed.Decoding{Decoder: must.Get(decode.New("gen", c))(t)}
	f = &Forecaster{Law: Fitted(), Tail: tail, Prior: theory.Uniform(16)}
	f.Measured = []Measured{{c, perceived.BCE, d, e, 0}}
	all = []Forecast{{Code: c, Training: perceived.BCE, Decoding: d, model: 1, part: 1, falls: falls},
		{Code: other, Training: perceived.BCE, Decoding: d, model: 0.9, part: 1, falls: -falls, often: often}}
	f.Relate(all)
	return f, all
}

// TestNoCliff: the further a network is from the model, the wider are all intervals, without a
// step; and the density of what is observed is a density.
func TestNoCliff(t *testing.T) {
	last := 0.0
	for off := 0.0; off < 3; off += 0.01 {
		_, all := related(t, 1.1, -0.1, 0.5, observed.Error{Mean: math.Exp(off), StdErr: 0.01})
		width := math.Log(all[1].Hi / all[1].Lo)
		if !(width > last) || last > 0 && width > 1.5*last {
			t.Fatalf("%v from the model: %v, after %v", off, width, last)
		}
		last = width
	}
	f, all := related(t, 1.1, -0.1, 0.5, observed.Error{Mean: 1.02, StdErr: 0.01})
	sum, step := 0.0, 0.01
	for v := -60.0; v < 60; v += step {
		sum += step * math.Exp(f.LogDensity(all[1:], all[0],
			[]observed.Error{{Mean: math.Exp(v), StdErr: 0.01 * math.Exp(v)}}, []int{1}))
	}
	// Beyond 60 lies less than a thousandth: nearly three degrees of freedom, and a scale below 1.
	must.Near(t, "sum of the density", 1, sum, 2e-3)
}

// TestExtremes: numbers that no network has make wide intervals, and no panic.
func TestExtremes(t *testing.T) {
	for _, tail := range []float64{math.NaN(), 0, 1e-300, 1e300, math.Inf(1)} {
		for _, v := range []float64{0, 1e-300, 1e10, 1e300} {
			for _, e := range []observed.Error{{Mean: 1, StdErr: v}, {Mean: 1e-300, StdErr: 1e-300}, {Mean: 1e300}} {
				_, all := related(t, tail, v, 1, e)
				if y := all[1]; !(y.Lo <= y.Error && y.Error <= y.Hi) || !(y.Better >= 0 && y.Better <= 1) {
					t.Errorf("tail %v, falls and standard error %v, %+v: %+v", tail, v, e, y)
				}
			}
		}
	}
}

// TestMeasuredRows: what was measured is its measurement.
func TestMeasuredRows(t *testing.T) {
	f, all := related(t, 1, 0, 0, observed.Error{Mean: 1, StdErr: 0.02})
	f.Measured = append(f.Measured, Measured{all[1].Code, perceived.BCE, all[1].Decoding,
		observed.Error{Mean: 1.2, StdErr: 0.02}, 1})
	f.Relate(all)
	x, y, sd := all[0], all[1], math.Sqrt(2*0.25)*0.02/1.2 // of the difference of two that correlate by 0.75
	must.Equal(t, "yours: measured, ratio, better", []any{true, 1.0, 0.5}, []any{x.Measured, x.Ratio, x.Better})
	must.Within(t, "your upper end", x.Hi/math.Exp(1.96*0.02), 1-1e-5, 1+1e-5)
	must.Equal(t, "the second: measured, and its error", []any{true, true}, []any{y.Measured, near(y.Error, 1.2)})
	must.Within(t, "its upper end", y.Hi/y.Error/math.Exp(1.96*sd), 1-1e-5, 1+1e-5)
	must.Within(t, "the chance that it is better", y.Better, 0, 1e-9)
}

// TestUneven: reflected codes, and those whose words are all as far apart, have 0; -nr codes have a
// few steps of two bits, and binary has steps of one bit and of four.
func TestUneven(t *testing.T) {
	for _, name := range []string{"unary", "johnson", "b1jdj", "b2jdj", "hexj", "gray", "hadamard", "onehot"} {
		if v := uneven(mustCode(t, name, 64)); v != 0 {
			t.Errorf("%s has %v", name, v)
		}
	}
	if v := uneven(mustCode(t, "binary", 16)); v != 1 {
		t.Errorf("binary has %v", v)
	}
	// One of 63 steps has two bits: mean 64/63, standard deviation √62/63.
	must.Near(t, "b1jdj-nr", math.Sqrt(62)/64/0.2, uneven(mustCode(t, "b1jdj-nr", 64)), 1e-12)
	for name, want := range map[string]float64{"unary": 0, "johnson": 0, "onehot": 0, "b1jdj": math.Log2(63./17) - 1,
		"gray": 1} {
		must.Near(t, fmt.Sprintf("%s changes", name), want, often(mustCode(t, name, 64)), 1e-12)
	}
}

// TestThresholds: probabilities, differences and losses are told apart at both sides of what is
// said of them.
func TestThresholds(t *testing.T) {
	for p, want := range map[float64]string{0.0099: "<0.01", 0.0101: "0.01", 0.9899: "0.99", 0.9901: ">0.99"} {
		must.Equal(t, fmt.Sprintf("the chance %v", p), want, Chance(p))
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
		slope := math.Log(at[0].model/at[2].model) / (0.4 + up)
		must.Near(t, fmt.Sprint(training, ": falls, over the slope"), 1, at[1].falls/slope, 0.1)
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
	must.Near(t, "label noise of ten times the range, over that of the range", 10, ten/one, 1e-6)
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
	must.Near(t, "distance", want, got.Distance, 1e-12)
}

// TestDecide has every rule, at both sides of its constants.
func TestDecide(t *testing.T) {
	row := func(name string, ratio float64) Forecast {
		return Forecast{Code: must.Get(OpenCode(name, 8))(t), Training: perceived.BCE, Decoding: observed.Prediction(),
			Error: ratio, Ratio: ratio, Better: 0.7}
	}
	trained := func(name string, ratio float64) Forecast {
		x := row(name, ratio)
		x.Measured = true
		return x
	}
	chance := func(name string, better float64) Forecast {
		x := row(name, 0.95)
		x.Better = better
		return x
	}
	own := trained("johnson", 1)
	type list = []Forecast
	for _, tt := range []struct {
		name, own string
		all       list
		want      Action
		best      string
	}{
		{"a gain of 1.01 %", "johnson", list{row("unary", 0.9899), own}, Train, "unary"},
		{"a gain of 0.99 %", "johnson", list{row("unary", 0.9901), own}, Stay, "unary"},
		{"a probability of 0.599", "johnson", list{chance("unary", 0.599), own}, Stay, "unary"},
		{"a probability of 0.6", "johnson", list{chance("unary", 0.6), own}, Train, "unary"},
		{"another reading gains", "johnson", list{row("johnson", 0.9), own, row("unary", 1.1)}, Stay, "unary"},
		{"another network that is better", "johnson", list{trained("unary", 0.9), row("gray", 0.95), own}, Take,
			"unary"},
		{"no code is better", "johnson", list{own, row("unary", 1.02)}, Stay, "unary"},
		{"the network's own code is not among them", "johnson", list{row("unary", 1.3)}, Train, "unary"},
		{"the best head in general is 1.9 % worse", "johnson", list{row("gray", 0.962), row("unary", 0.98), own},
			Train, "unary"},
		{"it is 2.1 % worse", "johnson", list{row("gray", 0.959), row("unary", 0.98), own}, Train, "gray"},
		{"it gains 0.9 %", "johnson", list{row("gray", 0.98), row("unary", 0.991), own}, Train, "gray"},
		{"another network, and that head", "johnson", list{trained("gray", 0.97), row("unary", 0.975), own}, Take,
			"gray"},
		{"that head is the network's", "unary", list{row("gray", 0.985), trained("unary", 1)}, Train, "gray"},
		{"nothing else", "johnson", list{own}, Stay, ""},
		{"nothing", "johnson", nil, Stay, ""},
		{"direct regression, a loss of 1.9 %", Direct, list{trained(Direct, 1), row("unary", 1.019)}, Train, "unary"},
		{"direct regression, a loss of 2.1 %", Direct, list{trained(Direct, 1), row("unary", 1.021)}, Stay, "unary"},
		{"direct regression, a gain of 1.1 %", Direct, list{row("unary", 0.989), trained(Direct, 1)}, Train, "unary"},
		{"direct regression is not trained", "johnson", list{row(Direct, 0.9), own, row("unary", 1.001)}, Stay,
			"unary"},
	} {
		d, best := Decide(tt.own, perceived.BCE, tt.all), ""
		if d.Best != nil {
			best = d.Best.Code.Name()
		}
		// The decision is of the network to train, or of the one to keep, where that was measured.
		code, gain, better := tt.best, 0.0, math.NaN()
		if d.Action != Stay {
			gain, better = 1-d.Best.Ratio, d.Best.Better
		} else if code = tt.own; len(tt.all) == 0 {
			code = ""
		}
		type said struct {
			Action       Action
			Best, Code   string
			Gain, Better float64
			Lost, Rule   bool
		}
		want := said{tt.want, tt.best, code, gain, better, tt.name == "direct regression, a loss of 1.9 %",
			tt.name == "the best head in general is 1.9 % worse"}
		got := said{d.Action, best, d.Code, d.Gain, d.Better, d.Lost > 0, d.Rule}
		if text := cmp.Diff(want, got, cmpopts.EquateNaNs()); text != "" {
			t.Errorf("%s: %s", tt.name, text)
		}
	}
}
