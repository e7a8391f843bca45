package perceived

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"belsim/theory/base/must"
	"belsim/theory/code"
)

// farthest is the largest difference of what gen-ex reads from two networks, in levels.
func farthest(a, b *Network) (most float64) {
	levels, bits := a.Dims()
	z := make([]float64, bits)
	label := func(l *Network, y float64) float64 {
		l.Logits(z, y)
		mean, _ := softmax(l.Code(), z)
		return mean
	}
	for y := 1.0; y <= float64(levels); y += 0.25 {
		most = max(most, math.Abs(label(a, y)-label(b, y)))
	}
	return most
}

// TestLearner changes a code column by column. What a learner says exactly is what Learn says, and
// what it says fast is near; a step that is taken back leaves nothing.
func TestLearner(t *testing.T) {
	const levels, bits = 24, 12
	rng := rand.New(rand.NewPCG(1, 2))
	for _, training := range []Training{BCE, CE, L1} {
		// After CE a loss within its last gain leaves logits that are less sure, and L1 ends before
		// its minimum.
		near, exact := 0.2, 1e-5
		switch training {
		case CE:
			exact = 1e-3
		case L1:
			exact = 0.05
		}
		p := Model{Noise: 0.9, Misfit: 0.25, Training: training}
		now := must.Get(code.New("johnson", levels))(t)
		words, prior := mat.NewDense(levels, bits, nil), make([]float64, levels)
		words.Apply(func(i, k int, _ float64) float64 { return now.Value(i, k) }, words)
		for i := range prior {
			prior[i] = 1 + float64(i%3)
		}
		learn := func(c *code.Code) *Network {
			return must.Get(p.Learn(t.Context(), 1, c, prior))(t)
		}
		l := must.Get(p.NewLearner(prior))(t)
		first := must.Get(l.Learn(t.Context(), now))(t)
		if d := farthest(first, learn(now)); d != 0 {
			t.Errorf("%s: a learner begins %v away from what is learnt", training, d)
		}
		for step := range 6 {
			k := rng.IntN(bits)
			i := 1 + rng.IntN(levels-2)
			words.Set(i, k, 1-words.At(i, k))
			next, err := code.FromMatrix("test", words)
			if err != nil { // two words are alike
				words.Set(i, k, 1-words.At(i, k))
				continue
			}
			fast := must.Get(l.Relearn(t.Context(), next, []int{k}))(t)
			if d := farthest(fast, learn(next)); d > near {
				t.Errorf("%s, step %d: %v away from what is learnt", training, step, d)
			}
			if step%2 == 0 { // not taken
				words.Set(i, k, 1-words.At(i, k))
				l.Reject()
				continue
			}
			now = next
		}
		last := must.Get(l.Refresh(t.Context()))(t)
		if last.Code() != now {
			t.Errorf("%s: a step that was taken back is still there", training)
		}
		if d := farthest(last, learn(now)); d > exact {
			t.Errorf("%s: %v away from what is learnt", training, d)
		}
	}
}

// TestLearnerRefusals: codes that a learner cannot learn.
func TestLearnerRefusals(t *testing.T) {
	if _, err := (Model{Noise: -1, Training: BCE}).NewLearner([]float64{1, 1, 1}); err == nil {
		t.Error("a negative label noise was accepted")
	}
	l := must.Get(Model{Noise: 1, Training: BCE}.NewLearner([]float64{1, 1, 1}))(t)
	c := must.Get(code.New("unary", 8))(t)
	if _, err := l.Learn(t.Context(), c); err == nil {
		t.Error("a code of 8 levels was learnt under a prior of 3")
	}
}

// TestRecut: another cutoff is learnt from the functions of the first, and another misfit without
// learning.
func TestRecut(t *testing.T) {
	c, prior := named(t, "b1jdj", 24), slices.Repeat([]float64{1}, 24)
	for training, near := range map[Training]float64{BCE: 1e-5, CE: 1e-3, L1: 0.05} {
		p := Model{Noise: 0.9, Misfit: 0.25, Training: training, Cutoff: 11}
		l := must.Get(p.NewLearner(prior))(t)
		first := must.Get(l.Learn(t.Context(), c))(t)
		recut := must.Get(l.Recut(t.Context(), 5))(t)
		p.Cutoff = 5
		want := must.Get(p.Learn(t.Context(), 1, c, prior))(t)
		if d := farthest(recut, want); d > near || recut.Model().Cutoff != 5 {
			t.Errorf("%s: %v away from what is learnt with the cutoff %v", training, d, recut.Model().Cutoff)
		}
		if farthest(recut, first) < 1e-3 {
			t.Errorf("%s: the cutoff changes nothing", training)
		}
		if _, err := l.Recut(t.Context(), -1); err == nil {
			t.Error("a negative cutoff was accepted")
		}

		other := must.Get(first.WithMisfit(0.7))(t)
		p.Cutoff, p.Misfit = 11, 0.7
		want = must.Get(p.Learn(t.Context(), 1, c, prior))(t)
		if !mat.Equal(other, want) {
			t.Errorf("%s: the misfit is not the one that was asked for", training)
		}
		if _, err := first.WithMisfit(-1); err == nil {
			t.Error("a negative misfit was accepted")
		}
	}
}
