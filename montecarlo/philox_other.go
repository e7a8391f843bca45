//go:build !amd64 || purego

package montecarlo

// fill is fillPortable; where the processor has AVX2 it is faster.
func fill(dst []uint64, keys *roundKeys, c counter) { fillPortable(dst, keys, c) }
