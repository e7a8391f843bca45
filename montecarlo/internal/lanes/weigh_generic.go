//go:build !amd64 || purego

package lanes

func weigh(dst []Floats, sums []Ints, most *Ints, limit int32, scale float32) {
	weighGeneric(dst, sums, most, limit, scale)
}
