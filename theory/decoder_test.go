package theory_test

import (
	"context"
	"errors"
	"math"
	"math/bits"
	"testing"

	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"

	"belsim/theory"
	"belsim/theory/code"
	"belsim/theory/decode"
)

// parity has nothing but what a decoder must have: the number of ones modulo L.
type parity struct{ levels int }

func (parity) Name() string { return "parity" }

func (p parity) Decode(word []uint64) int {
	n := 0
	for _, w := range word {
		n += bits.OnesCount64(w)
	}
	return n%p.levels + 1
}

// half answers with real numbers: half a level above parity.
type half struct{ parity }

func (h half) Value(word []uint64) float64 { return float64(h.Decode(word)) + 0.5 }

// TestUnknownDecoder: a decoder that the package does not know has no bound, and its
// exact values are those of an enumeration.
func TestUnknownDecoder(t *testing.T) {
	for _, name := range []string{"unary", "johnson", "hexj", "gray"} {
		rapid.Check(t, func(t *rapid.T) {
			c := mustCode(t, name, rapid.IntRange(2, 9).Draw(t, "levels"))
			d := parity{c.Levels()}
			x, err := theory.NewExact(context.Background(), c, d)
			if err != nil {
				t.Fatal(err)
			}
			i, e := rapid.IntRange(0, c.Levels()-1).Draw(t, "row"), drawRow(t, c.Bits())
			got, err := x.Row(context.Background(), i, e)
			if err != nil {
				t.Fatal(err)
			}
			want := enumerate(c, d, i, e)
			near(t, "mean", got.Mean, want.Mean)
			near(t, "mean square", got.MeanSquare, want.MeanSquare)
		})
	}
	c := mustCode(t, "unary", 9)
	d := parity{9}
	if _, err := theory.NewBound(c, d); !errors.Is(err, theory.ErrNoClosedForm) {
		t.Errorf("a bound of hard decisions: %v", err)
	}
	if _, err := theory.NewSoftBound(c, d, 0); !errors.Is(err, theory.ErrNoClosedForm) {
		t.Errorf("a bound of logits: %v", err)
	}
	e := mat.NewDense(9, 8, nil)
	exacts, err := theory.ExactMoments(context.Background(), 0, c, half{d}, e)
	if err != nil {
		t.Fatal(err)
	}
	for i, x := range exacts { // nothing errs, so a word has its level minus one ones
		if x != (theory.Moments{Mean: 0.5, MeanSquare: 0.25}) {
			t.Errorf("level %d of a decoder that answers half a level too much: %+v", i+1, x)
		}
	}
	big := mustCode(t, "unary", 30)
	if _, err := theory.NewExact(context.Background(), big, parity{30}); !errors.Is(err, theory.ErrNoClosedForm) {
		t.Errorf("an enumeration of 2²⁹ outputs: %v", err)
	}
}

// TestDependent: the bound that is said to hold for bits that depend on each other does
// so in the worst case, where all bits err together.
func TestDependent(t *testing.T) {
	known := 0
	for _, f := range code.Families() {
		c := mustCode(t, f.Name, 8)
		for _, name := range decode.Names() {
			d, err := decode.New(name, c)
			if err != nil {
				continue
			}
			b, err := theory.NewBound(c, d)
			if err != nil || !b.Dependent {
				continue
			}
			known++
			const p = 0.01
			e := make([]float64, c.Bits())
			for k := range e {
				e[k] = p
			}
			for i := range c.Levels() {
				word := []uint64{c.Word(i)[0] ^ (1<<c.Bits() - 1)}
				bound, err := b.Row(context.Background(), i, e)
				if err != nil {
					t.Fatal(err)
				}
				if worst := p * math.Abs(float64(d.Decode(word)-(i+1))); worst > bound*(1+1e-12) {
					t.Errorf("%s with %s, level %d: bound %v, but %v where all bits err together", c.Name(), d.Name(), i+1, bound, worst)
				}
			}
		}
	}
	if known == 0 {
		t.Error("no bound is said to hold for bits that depend on each other")
	}
}
