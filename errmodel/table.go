package errmodel

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"

	"belsim/theory/base/position"
)

// CheckTable refuses an L × M table of error probabilities that was read from a file: it wants one row per level, one
// column per bit, and every entry in [0, 1]. Where bits is 0, any number of columns will do.
func CheckTable(path string, e *mat.Dense, levels, bits int) error {
	r, c := e.Dims()
	if !slices.ContainsFunc(e.RawMatrix().Data, func(v float64) bool { return v != 1 && v != -1 }) &&
		slices.Contains(e.RawMatrix().Data, -1) {
		return fmt.Errorf("%s: all numbers are ±1, as in a code; want error probabilities, from 0 to 1", path)
	}
	if bits == 0 {
		bits = c
	}
	if r != levels && r == bits && c == levels {
		return fmt.Errorf("%s: table of %d × %d error probabilities looks transposed: want %d levels × %d bits",
			path, r, c, levels, bits)
	}
	if r != levels || c != bits {
		return fmt.Errorf("%s: table of %d × %d error probabilities, but the code has %d levels and %d bits",
			path, r, c, levels, bits)
	}
	for i := range levels {
		for k, v := range e.RawRowView(i) {
			if !(v >= 0 && v <= 1) {
				return fmt.Errorf("%s: row %s, column %s: %v is no probability; want a number from 0 to 1", path,
					position.At(i+1), position.At(k+1), v)
			}
		}
	}
	return nil
}

// Random returns an L × M table whose entries are uniform on [0, 1), as in the
// paper's check of its bounds. The same seed gives the same table.
func Random(levels, bits int, seed uint64) *mat.Dense {
	rng := rand.New(rand.NewPCG(seed, 0x62656c73696d)) // the second word separates this stream from others
	e := mat.NewDense(levels, bits, nil)
	for i := range levels {
		row := e.RawRowView(i)
		for k := range row {
			row[k] = rng.Float64()
		}
	}
	return e
}
