//go:build !purego

package lanes

func spread(dst []Ints, words, ones []uint64) { spreadGeneric(dst, words, ones) }

func walsh(x []Ints) { walshGeneric(x, 1) }

func mostOf(most *Ints, sums []Ints) { mostGeneric(most, sums) }
