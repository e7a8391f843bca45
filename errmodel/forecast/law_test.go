package forecast

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"reflect"
	"slices"
	"testing"

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
	if math.Abs(sum-1) > 2e-3 {
		t.Errorf("the density adds up to %v", sum)
	}
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
	if v, want := uneven(mustCode(t, "b1jdj-nr", 64)), math.Sqrt(62)/64/0.2; math.Abs(v-want) > 1e-12 {
		t.Errorf("b1jdj-nr has %v, want %v", v, want)
	}
	for name, want := range map[string]float64{"unary": 0, "johnson": 0, "onehot": 0, "b1jdj": math.Log2(63./17) - 1,
		"gray": 1} {
		if v := often(mustCode(t, name, 64)); math.Abs(v-want) > 1e-12 {
			t.Errorf("%s changes %v, want %v", name, v, want)
		}
	}
}
