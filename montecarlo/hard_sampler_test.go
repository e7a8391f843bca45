package montecarlo

import (
	"context"
	"fmt"
	"math"
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
	for _, tt := range []struct {
		code, decoder string
		r, sigma      float64
	}{{"hadamard", "gen", 0.2, 2}, {"hadamard", "gen", 0.12, 2}, {"onehot", "gen", 0.9, 3}, {"gray", "gen", 0.5,
		2}, {"unary", "bel-u", 2, 5}, {"johnson-nonzero", "bel-j", 1, 3}} {
		c := mustCode(t, tt.code, 32)
		p := latentProblem(t, c, tt.decoder, 1, tt.r, tt.sigma, IndependentBits)
		const row = 12
		var of [2][32]float64 // by kind: samples with each |error|
		for i, kind := range []Kind{IndependentBits, DenseBits} {
			q := *p
			q.Kind, q.Seed, q.Answers = kind, uint64(7+i), true
			var w worker
			w.start(&q)
			sums := must.Get(w.sample(context.Background(), Span{Row: row, Samples: n}, func(uint64) {}))(t)
			for j, count := range sums.Answers {
				of[i][int(math.Abs(q.Answer(j)-(row+1)))] += float64(count)
			}
		}
		square, freedom, a, b := 0.0, -1, 0., 0.
		for j := range of[0] {
			if a, b = a+of[0][j], b+of[1][j]; a+b >= 40 || a+b > 0 && j == len(of[0])-1 { // else beside the next
				square += (a - b) * (a - b) / (a + b)
				freedom++
				a, b = 0, 0
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
