//go:build !amd64 || purego

package lanes

func weights(dst []Floats, sums []Ints, most *Ints, limit int32, scale float32) {
	weightsGeneric(dst, sums, most, limit, scale)
}
