package lanes

// Softmax adds up the weights of candidates, and weights times offsets, one for each
// candidate: a candidate whose correlation is d below the largest weighs 2^(−d·scale),
// and nothing when d is above limit.
func Softmax(weight, sum *Floats, sums []Ints, most *Ints, offsets []float32, limit int64, scale float32) {
	softmax(weight, sum, sums, most, offsets, narrow(limit), scale)
}

// softmaxGeneric is Softmax in Go.
func softmaxGeneric(weight, sum *Floats, sums []Ints, most *Ints, offsets []float32, limit int32, scale float32) {
	*weight, *sum = Floats{}, Floats{}
	for m := range sums {
		for i, v := range sums[m] {
			if d := most[i] - v; d <= limit {
				w := Decay(float32(float32(d) * scale))
				weight[i] += w
				sum[i] += float32(w * offsets[m])
			}
		}
	}
}
