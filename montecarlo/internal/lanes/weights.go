package lanes

// Weights makes softmax weights of correlations, as Softmax does, and keeps them: len(dst) =
// len(sums).
func Weights(dst []Floats, sums []Ints, most *Ints, limit int64, scale float32) {
	weights(dst, sums, most, narrow(limit), scale)
}

// weightsGeneric is Weights in Go.
func weightsGeneric(dst []Floats, sums []Ints, most *Ints, limit int32, scale float32) {
	for m := range sums {
		for i, v := range sums[m] {
			dst[m][i] = 0
			if d := most[i] - v; d <= limit {
				dst[m][i] = Decay(float32(float32(d) * scale))
			}
		}
	}
}
