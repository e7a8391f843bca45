// Package matrix reads rows of L × M matrices, a row for each level and a column for each bit.
// Some of them, such as the mixtures of package errmodel, make a row when it is read, so that
// a table of many levels costs no memory.
package matrix

import (
	"fmt"
	"slices"

	"gonum.org/v1/gonum/mat"

	"belsim/theory/base/position"
)

// Row copies row i, from 0, of m into dst and returns it, or into a new slice where dst is too
// short. It calls the method RowTo(dst []float64, i int) of matrices that have one, which is
// faster than reading entries.
func Row(dst []float64, i int, m mat.Matrix) []float64 {
	_, columns := m.Dims()
	if cap(dst) < columns {
		dst = make([]float64, columns)
	}
	dst = dst[:columns]
	if r, ok := m.(interface{ RowTo(dst []float64, i int) }); ok {
		r.RowTo(dst, i)
		return dst
	}
	return mat.Row(dst, i, m)
}

// Probabilities is Row for a table of probabilities: the error names an entry that is none.
func Probabilities(dst []float64, i int, m mat.Matrix) ([]float64, error) {
	dst = Row(dst, i, m)
	return dst, CheckProbabilities(dst, i)
}

// CheckProbabilities refuses row i, from 0, of a table if an entry is no probability.
func CheckProbabilities(row []float64, i int) error {
	for k, e := range row {
		if !(e >= 0 && e <= 1) {
			return fmt.Errorf("e[%s,%s] = %v is no probability; want a number from 0 to 1", position.At(i+1), position.At(k+1), e)
		}
	}
	return nil
}

// Certain reports whether nothing is random in a row: every probability is 0 or 1.
func Certain(row []float64) bool {
	return !slices.ContainsFunc(row, func(e float64) bool { return e != 0 && e != 1 })
}
