//go:build !amd64 || purego

package lanes

import "belsim/montecarlo/tables"

func affine(sums []Ints, most *Ints, x []Ints, f *tables.Affine) { affineGeneric(sums, most, x, f) }

func median(place *Ints, sums []Ints, most *Ints, limit int32, scale float32, scratch []Floats) {
	medianGeneric(place, sums, most, limit, scale, scratch)
}

func first(place *Ints, sums []Ints, most *Ints) { firstGeneric(place, sums, most) }
