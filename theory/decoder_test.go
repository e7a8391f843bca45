package theory_test

import (
	"context"
	"errors"
	"math"
	"math/bits"
	"testing"

	"gonum.org/v1/gonum/mat"

	"belsim/theory"
	"belsim/theory/base/must"
	"belsim/theory/cost"
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

// TestBoundsOfCosts: Eq. 26 bounds the absolute error alone, and the other bounds every cost.
func TestBoundsOfCosts(t *testing.T) {
	for name, decoder := range map[string]string{"unary": "bel-u", "johnson": "bel-j", "gray": "gen"} {
		c := mustCode(t, name, 8)
		for _, of := range []cost.Cost{{}, cost.Circular(8), cost.Cost{}.Squared()} {
			_, err := theory.NewBound(c, mustDecoder(t, decoder, c), of)
			if want := decoder != "bel-j" || of.Absolute(); (err == nil) != want {
				t.Errorf("%s, %s: %v", decoder, of.Name(), err)
			}
		}
	}
}

// TestUnknownDecoder: a decoder that the package does not know has no bound, and
// exact values where its outputs can be enumerated.
func TestUnknownDecoder(t *testing.T) {
	c := mustCode(t, "unary", 9)
	d := parity{9}
	if _, err := theory.NewBound(c, d, cost.Cost{}); !errors.Is(err, theory.ErrNoClosedForm) {
		t.Errorf("a bound of hard decisions: %v", err)
	}
	if _, err := theory.NewSoftBound(c, d, cost.Cost{}); !errors.Is(err, theory.ErrNoClosedForm) {
		t.Errorf("a bound of logits: %v", err)
	}
	e := mat.NewDense(9, 8, nil)
	exacts := must.Get(exactMeans(context.Background(), 0, c, half{d}, cost.Cost{}.Squared(), e))(t)
	for i, x := range exacts { // nothing errs, so a word has its level minus one ones
		if x != 0.25 {
			t.Errorf("level %d of a decoder that answers half a level too much: %+v", i+1, x)
		}
	}
	big := mustCode(t, "unary", 30)
	if _, err := theory.NewLaw(t.Context(), math.MaxInt, big, parity{30}); !errors.Is(err, theory.ErrNoClosedForm) {
		t.Errorf("an enumeration of 2²⁹ outputs: %v", err)
	}
}
