package montecarlo

import (
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"belsim/montecarlo/tables"
	"belsim/theory/base/must"
	"belsim/theory/base/philox"
	"belsim/theory/decode"
)

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
