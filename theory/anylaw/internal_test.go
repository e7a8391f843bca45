package anylaw

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"belsim/theory/base/must"
	"belsim/theory/code"
	"belsim/theory/cost"
	"belsim/theory/decode"
)

// TestWalks: walks bound what all sets of bits bound, also with probabilities of 0 and 1, equal ones and
// tiny ones.
func TestWalks(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 45))
	values := []float64{0, 1, 0.5, 0.1, 0.1, 1e-13, 1e-300, 1. / 3}
	for n := range 160 {
		name := []string{"unary", "johnson", "johnson-nonzero"}[n%3]
		c := must.Get(code.New(name, 5+2*rng.IntN(4)))(t).OnCircle(n%4 == 0)
		e := make([]float64, c.Bits())
		for k := range e {
			if e[k] = rng.Float64(); n%2 == 0 {
				e[k] = values[rng.IntN(2+n%7)]
			}
		}
		gen := must.Get(decode.New("gen", c))(t).(decode.Gen)
		level := func(rows []uint32) Level {
			r := row{code: c, decoder: gen, rows: rows, i: n % c.Levels()}
			r.price(cost.Cost{}, 1)
			return must.Get(r.level(t.Context(), e))(t)
		}
		if got, want := level(nil), level(gen.Rows()); math.Abs(got.Lo-want.Lo) > 1e-7 || math.Abs(got.Hi-want.Hi) > 1e-7 {
			t.Errorf("%s of %d levels, row %d, e = %v: %v to %v by walks, %v to %v by sets", c.Name(), c.Levels(),
				n%c.Levels(), e, got.Lo, got.Hi, want.Lo, want.Hi)
		}
	}
	if reaches(must.Get(code.New("gray", 16))(t)) {
		t.Error("gray has ways on which no bit changes twice")
	}
}

// TestDualRounded: the value of a plane holds in exact arithmetic.
func TestDualRounded(t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 45))
	for range 200 {
		plane, right, exact := make([]float64, 12), make([]float64, 12), new(big.Rat)
		for k := range plane {
			plane[k], right[k] = rng.NormFloat64(), rng.Float64()
			exact.Add(exact, new(big.Rat).Mul(new(big.Rat).SetFloat64(plane[k]), new(big.Rat).SetFloat64(right[k])))
		}
		if v := dual(plane, right, 0); exact.Cmp(new(big.Rat).SetFloat64(v)) > 0 {
			t.Fatalf("a plane of %v is %v at %v", plane, v, right)
		}
	}
}

// TestOrdered: rounding puts no lower bound above the upper one.
func TestOrdered(t *testing.T) {
	if l := (Level{Lo: 3.5e-17, Hi: 1.4e-17}).ordered(); l.Lo != 1.4e-17 || l.Hi != 1.4e-17 {
		t.Errorf("%v to %v", l.Lo, l.Hi)
	}
}
