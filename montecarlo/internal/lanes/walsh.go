package lanes

import (
	"math"

	"belsim/montecarlo/tables"
	"belsim/theory/base/processor"
)

// Spread makes the logits of group g of hard outputs, ±tables.LogitOne, from words whose bit j
// belongs to sample j, Width samples in a group: those of words[a] become dst[places[a]]. A bit of
// words says that an output is wrong, and ones, of all bits or none, what is right.
func Spread(dst []Ints, places []uint16, words, ones []uint64, g int) {
	if !processor.Vectors || len(words) == 0 {
		spreadGeneric(dst, places, words, ones, g)
		return
	}
	spreadVector(&dst[0], &places[0], &words[0], &ones[0], len(words), g*Width)
}

// spreadGeneric is Spread in Go.
func spreadGeneric(dst []Ints, places []uint16, words, ones []uint64, g int) {
	for a, w := range words {
		w = (w ^ ones[a]) >> (g * Width)
		z := &dst[places[a]]
		for i := range z {
			z[i] = (int32(w&1)*2 - 1) * tables.LogitOne
			w >>= 1
		}
	}
}

// Walsh is the fast Walsh–Hadamard transform of each sample: x[i] becomes Σ_k x[k]·(−1)^(i·k),
// where i·k are the ones that i and k have in common. The length of x is a power of two.
func Walsh(x []Ints) {
	if !processor.Vectors {
		walshGeneric(x)
		return
	}
	h := 1
	for ; 4*h <= len(x); h *= 4 {
		walshVector(&x[0], len(x), h)
	}
	if 2*h == len(x) {
		walshLastVector(&x[0], h)
	}
}

// walshGeneric is Walsh in Go.
func walshGeneric(x []Ints) {
	for h := 1; h < len(x); h *= 2 {
		for i := 0; i < len(x); i += 2 * h {
			for k := i; k < i+h; k++ {
				lo, hi := &x[k], &x[k+h]
				for n, u := range lo {
					v := hi[n]
					lo[n], hi[n] = u+v, u-v
				}
			}
		}
	}
}

// Most finds the largest of the sums of each sample.
func Most(most *Ints, sums []Ints) {
	if !processor.Vectors || len(sums) == 0 {
		mostGeneric(most, sums)
		return
	}
	mostVector(most, &sums[0], len(sums))
}

// mostGeneric is Most in Go.
func mostGeneric(most *Ints, sums []Ints) {
	for i := range most {
		most[i] = math.MinInt32
	}
	for m := range sums {
		for i, v := range sums[m] {
			most[i] = max(most[i], v)
		}
	}
}
