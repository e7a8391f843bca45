package assess

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"belsim/errmodel"
	"belsim/errmodel/observed"
	"belsim/errmodel/perceived"
	"belsim/montecarlo/forecast"
	"belsim/theory/base/arrayfile"
	"belsim/theory/base/must"
)

// TestOneHot: bits of one-hot that were trained by themselves are zero in every sample, and their
// logits tell the level.
func TestOneHot(t *testing.T) {
	for _, levels := range []int{8, 16} {
		d := easy
		d.code, d.levels = "onehot", levels
		s := judge(t, d.save(t, t.TempDir(), "z"))
		text := strings.Join(s.Opening, " ")
		if len(s.Fit.Dead) != 0 || !strings.Contains(text, "best decoder is") || strings.Contains(text, "guess") {
			t.Errorf("%d levels: %q, dead %v", levels, text, s.Fit.Dead)
		}
	}
}

// TestMistaken: outputs and targets that stand in another way than the code's are told so, and
// those that stand as they should are not.
func TestMistaken(t *testing.T) {
	reversed := func(z []float64) { slices.Reverse(z) }
	inverted := func(z []float64) {
		for k := range z {
			z[k] = -z[k]
		}
	}
	nothing := func([]float64) {}
	for i, tt := range []struct {
		code    string
		change  func(z []float64)
		targets bool // are reversed
		want    string
	}{
		{"johnson", inverted, false, "The outputs look inverted"}, {"unary", inverted, false,
			"The outputs look inverted"},
		{"johnson", reversed, false, "The columns of the outputs look reversed"}, {"unary", reversed, false,
			"The columns of the outputs look reversed"},
		{"hexj", reversed, false, "The columns of the outputs look reversed"}, {"onehot", reversed, false,
			"The columns of the outputs look reversed"},
		{"unary", nothing, true, "The levels look reversed"}, {"b1jdj", nothing, true, "The levels look reversed"},
		{"b1jdj", nothing, false, "The network's best decoder"}, {"gray", nothing, false,
			"The network's best decoder"}, {"hadamard", nothing, false, "The network's best decoder"},
	} {
		noises := []float64{0.9, 1.5}
		if strings.Contains(tt.want, "look") { // by turns: each mistake has two codes
			noises = noises[i%2:][:1]
		}
		for _, noise := range noises {
			d := easy
			d.code, d.change, d.noise = tt.code, tt.change, noise
			if tt.code == "hexj" {
				d.levels = 32 // of 16, its first digit is constant
			}
			o := d.save(t, t.TempDir(), "z")
			if tt.targets {
				y := d.targets()
				y.Apply(func(_, _ int, v float64) float64 { return float64(d.levels+1) - v }, y)
				o.Targets = save(t, o.Targets, y)
			}
			s := judge(t, o)
			text := strings.Join(s.Opening, " ")
			if !strings.HasPrefix(text, tt.want) || strings.Contains(text, "look") &&
				(strings.Contains(text, "easy to learn") || !strings.Contains(text, "fit again.")) ||
				s.Fit.Verdict != text {
				t.Errorf("%s, noise %v: %q, want %q", tt.code, noise, text, tt.want)
			}
		}
	}
}

// TestShuffled: an output of several, and another network, whose samples are in another order than
// the targets are told so.
func TestShuffled(t *testing.T) {
	dir := t.TempDir()
	o := easy.save(t, dir, "z")
	other := easy
	other.code = "unary"
	var of [2]string // unary, and unary shuffled
	for i := range of {
		other.seed = uint64(5 + i)
		of[i] = other.save(t, dir, fmt.Sprint("unary", i)).Outputs
	}
	z := must.Get(arrayfile.ReadFile(of[1]))(t)
	shuffle(z)
	save(t, of[1], z)
	for i, outputs := range of {
		o.Others = []Other{{Code: "unary", Outputs: outputs, Training: perceived.BCE}}
		s := judge(t, o)
		text := strings.Join(s.Opening, " ")
		if shuffled := i == 1; strings.Contains(text,
			filepath.Base(outputs)+" is left out of the forecasts: the error is that of guessing") != shuffled ||
			!s.Fit.Perceived.Describes {
			t.Errorf("%s: %q, %+v", outputs, text, s.Fit.Perceived)
		}
	}
	whole := judge(t, o)
	o.Code, o.Outputs, o.Others = "unary", of[1], nil
	several := NewSeveral([]*Report{whole, judge(t, o)})
	text := strings.Join(several.Verdict, " ")
	if strings.Contains(text, "Output 1:") || !strings.Contains(text, "Output 2: the error is that of guessing") ||
		!strings.Contains(text, "same order") || !strings.Contains(text, "describes 1 of the 2 outputs") {
		t.Errorf("%q", text)
	}
}

// TestGuesses: an error is that of guessing up to three standard errors below it. The median of
// three levels that are equally frequent is wrong by 2/3 of a level.
func TestGuesses(t *testing.T) {
	n := &network{seen: &observed.Summary{Counts: &errmodel.Counts{Levels: 3, Samples: []uint64{5, 5, 5}}}}
	for below, want := range map[float64]bool{-1: true, 0: true, 2.9: true, 3.1: false} {
		n.seen.Levels = []observed.Error{{Mean: 9, StdErr: 1}, {Mean: 2./3 - below*0.01, StdErr: 0.01}}
		if n.guesses() != want {
			t.Errorf("%v standard errors below: %v", below, !want)
		}
	}
}

// TestJudge: what is close to the model, and what is far.
func TestJudge(t *testing.T) {
	for distance, want := range map[float64]string{2.9: "behaves as if", 3.1: "does not behave"} {
		p := PerceivedFit{Noise: 1.5}.judged(&forecast.Comparison{Distance: distance})
		if p.Describes != (distance < 3) || !strings.HasPrefix(p.Verdict, "The network "+want) {
			t.Errorf("%v: %+v", distance, p)
		}
	}
}

// shuffle puts rows into another order.
func shuffle(m *mat.Dense) {
	n, columns := m.Dims()
	rand.New(rand.NewPCG(1, 2)).Shuffle(n, func(i, j int) {
		for k := range columns {
			a, b := m.At(i, k), m.At(j, k)
			m.Set(i, k, b)
			m.Set(j, k, a)
		}
	})
}
