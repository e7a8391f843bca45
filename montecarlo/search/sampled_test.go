package search

import (
	"math/rand/v2"
	"slices"
	"testing"

	"belsim/theory"
)

// TestDraw: of each column, exactly the first samples of its order err, however many words a sample
// has.
func TestDraw(t *testing.T) {
	for _, size := range []int{8, 32, 512} {
		for _, bits := range []int{1, 64, 70, 200} {
			o := Options{Levels: 3, Bits: bits, Prior: theory.Uniform(3)}
			s := o.newSampled(size, 0)
			rng := rand.New(rand.NewPCG(uint64(size), uint64(bits)))
			want := make([]uint64, size*s.width)
			for k := range bits {
				count := int32(rng.Float64() * float64(size))
				s.counts[2*bits+k] = count
				for i := range count {
					want[s.samples(2, k).at(i)*s.width+k/64] |= 1 << (k % 64)
				}
			}
			for i := range s.flips {
				s.flips[i] = rng.Uint64() // of the level before
			}
			if s.begin(newWords(3, bits), 2); !slices.Equal(s.flips[2*len(want):], want) {
				t.Errorf("%d samples of %d bits: other samples err", size, bits)
			}
		}
	}
}
