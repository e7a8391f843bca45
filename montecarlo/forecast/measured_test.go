package forecast

import (
	"math"
	"testing"

	"belsim/errmodel/observed"
	"belsim/errmodel/perceived"
	"belsim/theory/base/must"
	"belsim/theory/code"
	"belsim/theory/decode"
)

// TestRelate: of one shared departure, a measured error tells what Bayes' rule says, and the rows of
// measured networks are their measurements.
func TestRelate(t *testing.T) {
	row := func(name string, model float64) Forecast {
		c := mustCode(t, name, 16)
		return Forecast{Code: c, Training: perceived.BCE, Decoding: observed.Decoding{Decoder: must.Get(decode.Builtin().New("gen", c, decode.Options{}))(t)}, model: model, part: 1}
	}
	own, other, more := row("johnson", 1), row("unary", 0.9), row("b1jdj", 1.1)
	const s, network, stderr, off = 0.1, 0.02, 0.03, 0.2
	f := &Forecaster{Noise: Estimate{1, s}, Spread: Spread{Network: network}, Excess: math.NaN(), Tail: math.NaN()}
	measure := func(x Forecast, yours bool, number int) Measured {
		mean := x.model * math.Exp(off)
		return Measured{x.Code, x.Training, x.Decoding, observed.Error{Mean: mean, StdErr: stderr * mean}, yours, number}
	}
	f.Measured = []Measured{measure(own, true, 0)}
	all := []Forecast{own, other, more}
	f.Relate(all)
	for networks := 1.0; networks <= 2; networks++ {
		each := network*network + unshared*unshared*stderr*stderr // the samples of all are the same
		noise := each / networks
		shift, left := off*s*s/(s*s+noise), s*s*noise/(s*s+noise)
		x := all[1]
		sd := math.Sqrt(left + each)
		want := x.model * math.Exp(shift) / f.Measured[0].Error.Mean
		if math.Abs(x.Ratio/want-1) > 1e-12 || math.Abs(math.Log(x.RatioHi/x.RatioLo)/(1.96*(1+above)*sd)-1) > 1e-4 {
			t.Errorf("%v networks: ratio %v, %v to %v; want %v, standard deviation %v", networks, x.Ratio, x.RatioLo, x.RatioHi, want, sd)
		}
		if y := all[0]; !y.Measured || y.Ratio != 1 || y.Better != 0.5 || y.Error != f.Measured[0].Error.Mean {
			t.Errorf("%v networks: yours is %+v", networks, y)
		}
		f.Measured = append(f.Measured, measure(more, false, 1))
		f.Relate(all)
	}
	sd := math.Sqrt(network*network + unshared*unshared*stderr*stderr/2) // measured twice
	if y := all[2]; !y.Measured || math.Abs(y.Ratio-1.1) > 1e-12 || math.Abs(math.Log(y.RatioHi/y.RatioLo)/(1.96*(1+above)*sd)-1) > 1e-4 {
		t.Errorf("the second network is %+v", y)
	}
}

// TestDirectTells: direct regression tells s by its paired standard error, and not by a part of it.
func TestDirectTells(t *testing.T) {
	m := Measured{Error: observed.Error{Mean: 2, StdErr: 0.1}}
	if v := m.sampled(); math.Abs(v-0.05*unshared) > 1e-15 {
		t.Errorf("a network: %v", v)
	}
	m.network = -1
	if v := m.sampled(); math.Abs(v-0.05) > 1e-15 {
		t.Errorf("direct regression: %v", v)
	}
}

// TestUneven: reflected codes, and those whose words are all as far apart, have 0; -nr codes have a few steps of two bits, and
// binary has steps of one bit and of four.
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
}

// TestProbe: a second network tells what it shares with a forecast; what it does not share it does not tell.
func TestProbe(t *testing.T) {
	const levels = 32
	f := NewForecaster(1.2, 0.05, uniform(levels), decode.Builtin())
	f.Excess, f.Spread.Columns, f.Spread.Gross = f.Spread.Excess, 0.1, 0.08 // as networks of images have it
	c := mustCode(t, "johnson", levels)
	gen := observed.Decoding{Decoder: must.Get(decode.Builtin().New("gen", c, decode.Options{}))(t)}
	f.Measured = []Measured{{c, perceived.BCE, gen, observed.Error{Mean: 1, StdErr: 0.01}, true, 0}}
	all := must.Get(f.Codes(t.Context(), 2, []*code.Code{c, mustCode(t, "b1jdj", levels)}, nil))(t)
	find := func(name string) Forecast {
		for _, x := range all {
			if x.Code.Name() == name && x.Training == perceived.BCE && x.Decoding.Decoder.Name() == "gen" && !x.Decoding.Soft {
				return x
			}
		}
		t.Fatal(name)
		return Forecast{}
	}
	probes := []*code.Code{mustCode(t, "gray", levels), mustCode(t, "johnson-nonzero", levels)}
	p := must.Get(f.Probe(t.Context(), 2, probes, find("b1jdj"), find("johnson")))(t)
	if p == nil || p.Code.Name() != "gray" || p.Narrows < narrows || p.Narrows > 0.9 {
		t.Errorf("for b1jdj: %+v", p)
	}
	if p := must.Get(f.Probe(t.Context(), 2, probes, find("johnson"), find("johnson")))(t); p != nil {
		t.Errorf("for the network itself: %+v", p)
	}
}

// TestOwn: a code that is as sensitive to κ as another departs less where its network is read as it was trained. A quarter of the variance of coarse
// counts here.
func TestOwn(t *testing.T) {
	c := mustCode(t, "hexj", 16)
	s := &Spread{Network: 0.1, Cutoff: 0.2, Coarse: 0.3, Logits: 0.4}
	for _, tt := range []struct {
		training perceived.Training
		decoder  string
		squares  float64
	}{{perceived.BCE, "gen-ex", 0.01 + 0.04*math.Pow(0.5, 2.5) + 0.09/4}, {perceived.CE, "gen", 0.01 + 0.04*math.Pow(0.5, 2.5) + 0.16}, {perceived.CE, "gen-ex", 0.01}} {
		d := observed.Decoding{Decoder: must.Get(decode.Builtin().New(tt.decoder, c, decode.Options{}))(t), Soft: true}
		x := &Forecast{Code: c, Training: tt.training, Decoding: d, falls: -0.5, coarse: 1}
		if got := s.own(x, 0.25); math.Abs(got-math.Sqrt(tt.squares)) > 1e-12 {
			t.Errorf("%s, %s: %v, want %v", tt.training, tt.decoder, got, math.Sqrt(tt.squares))
		}
	}
}

// TestMean: after CE, codes depart by the distances of their words, which are those of all pairs here, and networks of images have
// less error where something shows that they are such.
func TestMean(t *testing.T) {
	const levels, gain, far, share, part = 16, 0.08, 0.02, 0.5, 0.7
	unary := mustCode(t, "unary", levels)
	distances := func(c *code.Code) (neighbours, all float64) {
		for i := range levels {
			for j := range i {
				d := float64(c.Distance(i, j))
				all += d / (levels * (levels - 1) / 2)
				if j == i-1 {
					neighbours += d / (levels - 1)
				}
			}
		}
		return neighbours, all
	}
	near, every := distances(unary)
	for _, name := range []string{"unary", "johnson", "hexj", "gray", "hadamard"} {
		c := mustCode(t, name, levels)
		n, a := distances(c)
		want := 1 - (near/every)/(n/a)
		if got := apart(c); math.Abs(got-want) > 1e-12 {
			t.Errorf("%s is %v apart, want %v", name, got, want)
		}
		for source, less := range map[string]float64{"johnson": gain * share, Direct: 0, "": 0} {
			f := &Forecaster{Spread: Spread{Gain: gain, Apart: far}}
			if source != "" {
				f.Measured = []Measured{{Code: unary.As(source)}}
			}
			for training, want := range map[perceived.Training]float64{perceived.BCE: 0, perceived.CE: part * (far*want - less)} {
				x := &Forecast{Code: c, Training: training, part: part, apart: apart(c)}
				if got := f.mean(x, share); math.Abs(got-want) > 1e-12 {
					t.Errorf("%s after %s, from %q: %v, want %v", name, training, source, got, want)
				}
			}
		}
	}
}
