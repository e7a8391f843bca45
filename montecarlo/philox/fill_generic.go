//go:build !amd64 || purego

package philox

func fill(dst []uint64, keys *Keys, c Counter) { fillGeneric(dst, keys, c) }
