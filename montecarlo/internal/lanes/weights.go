package lanes

import (
	"belsim/montecarlo/tables"
	"belsim/theory/base/processor"
)

// weights makes softmax weights of correlations, as Softmax does, and keeps them. Sums are stride rows
// apart, as their weights then are.
func weights(dst []Floats, sums []Ints, stride int, most *Ints, limit int32, scale float32) {
	if !processor.Vectors {
		weightsGeneric(dst, sums, stride, most, limit, scale)
		return
	}
	n := (len(sums) + stride - 1) / stride
	weightsVector(&dst[0], &sums[0], most, n, limit, scale, &tables.Decay, rowBytes*stride)
}

// weightsGeneric is weights in Go.
func weightsGeneric(dst []Floats, sums []Ints, stride int, most *Ints, limit int32, scale float32) {
	for m := 0; m < len(sums); m += stride {
		for i, v := range sums[m] {
			dst[m][i] = 0
			if d := most[i] - v; d <= limit {
				dst[m][i] = Decay(float32(float32(d) * scale))
			}
		}
	}
}
