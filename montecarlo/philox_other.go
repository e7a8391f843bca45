//go:build !amd64

package montecarlo

func fill(dst []uint64, keys *roundKeys, c counter) { fillPortable(dst, keys, c) }
