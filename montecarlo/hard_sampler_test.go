package montecarlo

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distuv"

	"belsim/montecarlo/tables"
	"belsim/theory/base/must"
	"belsim/theory/base/philox"
	"belsim/theory/decode"
)

// Of each test of a law, the probability of a false alarm is at most this.
const falseAlarm = 1e-9

// hardSampler samples the onehot code of bits that err with some probabilities, of which the first
// digits decide, do not decide, or are all that there are.
func hardSampler(t *testing.T, bits int) *latentSampler {
	t.Helper()
	rng := rand.New(rand.NewPCG(1, 2))
	e := mat.NewDense(bits, bits, nil)
	e.Apply(func(int, int, float64) float64 {
		return []float64{0, 1, 0.5, 0x1p-8, 3 * 0x1p-8, 0x1p-9, 1 - 0x1p-10, 0.003, rng.Float64(),
			rng.Float64()}[rng.IntN(10)]
	}, e)
	c := mustCode(t, "onehot", bits)
	p := &Problem{Code: c, Decoder: must.Get(decode.New("gen", c))(t), Errors: e, Kind: DenseBits, Seed: 3}
	s := newLatentSampler(p, philox.NewKeys(p.Seed))
	s.tables = must.Get(s.maker.Row(t.Context(), 0))(t)
	s.wrong, s.words = make([]uint64, len(s.tables.Bits)), make([]uint64, wordsChunk*tables.Digits)
	return s
}

// TestFlips: the words decide as their definition does, lane by lane: a number of 72 digits is
// compared with p.
func TestFlips(t *testing.T) {
	s := hardSampler(t, 70)
	st := stream{s.keys, 0, 5}
	for g := range 40 {
		s.flips(st, g)
		for a := range s.wrong {
			at := g*len(s.wrong) + a
			words := make([]uint64, tables.Digits)
			philox.Fill(words, s.keys, st.at(streamDigits, 0, uint32(at*tables.Digits/2)))
			for lane := range tables.FlipLanes {
				var top uint64
				for _, w := range words {
					top = top<<1 | w>>lane&1
				}
				x := philox.Call(s.keys, st.at(streamUndecided, 0, uint32(at*tables.FlipLanes+lane)))
				p := s.tables.Wrong[a]
				want := top < p>>(64-tables.Digits) ||
					top == p>>(64-tables.Digits) && uint64(x[0])|uint64(x[1])<<32 < p<<tables.Digits
				if got := s.wrong[a]>>lane&1 == 1; got != want {
					t.Fatalf("group %d, bit %d, lane %d: wrong %v, want %v", g, a, lane, got, want)
				}
			}
		}
	}
}

// TestSparseAndDense: bits that err often, and seldom, sampled by the few that err and one by one,
// give |error| the same law: χ² of two samples, over the values of which both have 20 and more.
func TestSparseAndDense(t *testing.T) {
	const n = 1 << 16
	limits := []int{0, 1, 2, 3, 4, 6, 8, 12, 16, 24, 31} // of |error|; each samples anew
	for _, tt := range []struct {
		code, decoder string
		r, sigma      float64
	}{{"hadamard", "gen", 0.2, 2}, {"hadamard", "gen", 0.12, 2}, {"onehot", "gen", 0.9, 3}, {"gray", "gen", 0.5,
		2}, {"unary", "bel-u", 2, 5}, {"johnson-nonzero", "bel-j", 1, 3}} {
		c := mustCode(t, tt.code, 32)
		p := latentProblem(t, c, tt.decoder, 1, tt.r, tt.sigma, IndependentBits)
		var within [2][]uint64 // by kind: samples with |error| up to each limit
		for i, kind := range []Kind{IndependentBits, DenseBits} {
			for _, theta := range limits {
				q := *p
				q.Kind, q.Within, q.Seed = kind, theta, uint64(7+i)
				var w worker
				w.start(&q)
				sums := must.Get(w.sample(context.Background(), Span{Row: 12, Samples: n}, func(uint64) {}))(t)
				within[i] = append(within[i], sums.Within)
			}
		}
		square, freedom := 0.0, -1
		var last [2]uint64
		for i := range limits {
			a, b := float64(within[0][i]-last[0]), float64(within[1][i]-last[1])
			if a+b < 40 && i < len(limits)-1 {
				continue // beside the next
			}
			last = [2]uint64{within[0][i], within[1][i]}
			if a+b > 0 {
				square += (a - b) * (a - b) / (a + b)
				freedom++
			}
		}
		what := fmt.Sprintf("%s with %s, r = %v", tt.code, tt.decoder, tt.r)
		if freedom < 1 {
			t.Fatalf("%s: all errors are alike", what)
		}
		if limit := (distuv.ChiSquared{K: float64(freedom)}).Quantile(1 - falseAlarm); square > limit {
			t.Errorf("%s: χ² = %v with %d degrees of freedom, limit %v", what, square, freedom, limit)
		}
	}
}

// TestErrsOften: bits are sampled one by one where that is faster.
func TestErrsOften(t *testing.T) {
	for _, tt := range []struct {
		code, decoder string
		r, sigma      float64
		want          bool
	}{
		{"hadamard", "gen", 0.5, 3, true}, {"hadamard", "gen", 0.02, 3, false}, {"onehot", "gen", 0.9, 3, true},
		{"unary", "gen", 2, 5, false}, {"unary", "bel-u", 2, 5, false}, {"johnson", "gen", 0.9, 3, false}, {"gray",
			"gen", 0.9, 3, false},
	} {
		p := latentProblem(t, mustCode(t, tt.code, 256), tt.decoder, 1, tt.r, tt.sigma, IndependentBits)
		if got := p.errsOften(); got != tt.want {
			t.Errorf("%s with %s, r = %v: %v, want %v", tt.code, tt.decoder, tt.r, got, tt.want)
		}
	}
}
