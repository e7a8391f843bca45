//go:build !amd64 || purego

package lanes

func softmax(weight, sum *Floats, sums []Ints, most *Ints, offsets []float32, limit int32, scale float32) {
	softmaxGeneric(weight, sum, sums, most, offsets, limit, scale)
}
