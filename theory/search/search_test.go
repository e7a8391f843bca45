package search

import (
	"math"
	"math/rand/v2"
	"testing"

	"belsim/errmodel"
	"belsim/theory"
)

// mixture is the column function of r and σ.
func mixture(t testing.TB, levels int, r, sigma float64) Column {
	t.Helper()
	k, err := errmodel.NewKernel(levels, r, sigma)
	if err != nil {
		t.Fatal(err)
	}
	return func(dst []float64, _ int, transitions []int) { k.Column(dst, transitions) }
}

// TestUpdateIsReset: after any sequence of moves, taken back or not, an evaluator
// that has followed them gives what one that begins anew gives, to the last bit.
func TestUpdateIsReset(t *testing.T) {
	for _, at := range []struct {
		levels, bits int
		r, sigma     float64
	}{{12, 7, 0.6, 1.5}, {40, 14, 0.9, 1}, {40, 70, 0.6, 1.5}, {90, 30, 1.5, 4}, {30, 129, 0.5, 0.8}} {
		rng := rand.New(rand.NewPCG(uint64(at.bits), 1))
		prior := theory.Uniform(at.levels)
		prior[3], prior[4] = 0, 2*prior[4]
		column := mixture(t, at.levels, at.r, at.sigma)
		o := Options{Levels: at.levels, Bits: at.bits, Prior: prior, Column: column}
		starts, err := o.starts(rng)
		if err != nil {
			t.Fatal(err)
		}
		tried := 0
		for _, s := range starts {
			evaluators := []evaluator{newSampled(at.levels, at.bits, 64, prior, column)}
			if at.bits < 10 {
				evaluators = append(evaluators, newEnumerated(at.levels, at.bits, prior, column))
			}
			for _, x := range evaluators {
				w := s.words.clone()
				if now, _ := x.reset(w, 5); math.IsInf(now, 1) {
					continue
				}
				tried++
				c := newChain(w, o.free(), 0)
				for range 150 {
					if !c.propose(rng) {
						c.undo()
						continue
					}
					got, _ := x.update(w, c.columns, c.rows, c.old)
					if math.IsInf(got, 1) || rng.IntN(2) == 0 {
						x.reject()
						c.undo()
						continue
					}
					fresh := newSampled(at.levels, at.bits, 64, prior, column)
					var want float64
					if _, ok := x.(*enumerated); ok {
						want, _ = newEnumerated(at.levels, at.bits, prior, column).reset(w, 5)
					} else {
						want, _ = fresh.reset(w, 5)
					}
					if got != want {
						t.Fatalf("%d bits, from %s: updated %v, anew %v", at.bits, s.name, got, want)
					}
				}
			}
		}
		if tried == 0 {
			t.Errorf("%v: no start was valid", at)
		}
	}
}
