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

// TestFlipsLaw: in each lane bits err with their own probabilities, neighbours independently, and each
// independently of itself in the next group. The sum of the squares of D
// normal numbers has the law of χ² with D degrees of freedom; counts of n = 30000 with a p from
// 1/256 on are within 1 % of normal in their variance's terms, which the last factor allows for.
func TestFlipsLaw(t *testing.T) {
	const n = 30000
	s := hardSampler(t, 48)
	bits := len(s.wrong)
	before := make([]uint64, bits)
	type counts struct{ wrong, pairs, again [tables.FlipLanes]int }
	all := make([]counts, bits)
	for g := range n {
		s.flips(stream{s.keys, 0, uint32(g / 1024)}, g%1024)
		for a, w := range s.wrong {
			for lane := range tables.FlipLanes {
				is := w >> lane & 1
				all[a].wrong[lane] += int(is)
				all[a].pairs[lane] += int(is & (s.wrong[(a+1)%bits] >> lane))
				if g%2 == 1 { // so that no group is in two pairs
					all[a].again[lane] += int(is & (before[a] >> lane))
				}
			}
		}
		copy(before, s.wrong)
	}
	var square [3]float64
	var freedom [3]int
	for a := range all {
		for lane := range tables.FlipLanes {
			p := float64(s.tables.Wrong[a]) * 0x1p-64
			q := float64(s.tables.Wrong[(a+1)%bits]) * 0x1p-64
			for i, x := range []struct {
				got  int
				n, p float64
			}{{all[a].wrong[lane], n, p}, {all[a].pairs[lane], n, p * q}, {all[a].again[lane], n / 2, p * p}} {
				variance := x.n * x.p * (1 - x.p)
				if variance < 50 {
					if d := math.Abs(float64(x.got) - x.n*x.p); d > 60 { // 8.5 deviations and more of a Poisson number
						t.Errorf("bit %d, lane %d: %d, want %v", a, lane, x.got, x.n*x.p)
					}
					continue
				}
				square[i] += (float64(x.got) - x.n*x.p) * (float64(x.got) - x.n*x.p) / variance
				freedom[i]++
			}
		}
	}
	for i, what := range []string{"wrong bits", "neighbours", "groups"} {
		limit := distuv.ChiSquared{K: float64(freedom[i])}.Quantile(1-falseAlarm) * 1.02
		if square[i] > limit {
			t.Errorf("%s: χ² = %v with %d degrees of freedom, limit %v", what, square[i], freedom[i], limit)
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
