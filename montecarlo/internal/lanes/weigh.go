package lanes

// Weigh makes weights of correlations, as Softmax does, and keeps them: len(dst) =
// len(sums).
func Weigh(dst []Floats, sums []Ints, most *Ints, limit int64, scale float32) {
	weigh(dst, sums, most, narrow(limit), scale)
}

// weighGeneric is Weigh in Go.
func weighGeneric(dst []Floats, sums []Ints, most *Ints, limit int32, scale float32) {
	for m := range sums {
		for i, v := range sums[m] {
			dst[m][i] = 0
			if d := most[i] - v; d <= limit {
				dst[m][i] = Decay(float32(float32(d) * scale))
			}
		}
	}
}
