package lanes

import (
	"belsim/montecarlo/tables"
	"belsim/theory/base/processor"
)

// Softmax adds up the weights of candidates, and weights times offsets, one for each
// candidate: a candidate whose correlation is d below the largest weighs 2^(−d·scale),
// and nothing when d is above limit.
func Softmax(weight, sum *Floats, sums []Ints, most *Ints, offsets []float32, limit int64, scale float32) {
	softmax(weight, sum, sums, 1, most, offsets, narrow(limit), scale)
}

// softmax is Softmax of sums that are stride rows apart.
func softmax(weight, sum *Floats, sums []Ints, stride int, most *Ints, offsets []float32, limit int32, scale float32) {
	if !processor.Vectors {
		softmaxGeneric(weight, sum, sums, stride, most, offsets, limit, scale)
		return
	}
	softmaxVector(weight, sum, &sums[0], most, &offsets[0], len(offsets), limit, scale, &tables.Decay, rowBytes*stride)
}

// SoftmaxWide is Softmax in 64 bits.
func SoftmaxWide(weight, sum *Floats, sums []Wide, most *Wide, offsets []float32, limit int64, scale float32) {
	softmaxGeneric(weight, sum, sums, 1, most, offsets, limit, scale)
}

// softmaxGeneric is softmax in Go.
func softmaxGeneric[E int32 | int64](weight, sum *Floats, sums [][Width]E, stride int, most *[Width]E,
	offsets []float32, limit E, scale float32) {
	*weight, *sum = Floats{}, Floats{}
	for m := range offsets {
		for i, v := range sums[m*stride] {
			if d := most[i] - v; d <= limit {
				w := Decay(float32(float32(d) * scale))
				weight[i] += w
				sum[i] += float32(w * offsets[m])
			}
		}
	}
}
