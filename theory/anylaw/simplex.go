package anylaw

import (
	"math"

	"gonum.org/v1/gonum/mat"
)

// column is a column of a linear program: the rows in which it is 1, and not 0, and what a share of it adds
// to the value.
type column struct {
	rows  []int
	value float64
}

// dot is the product of the column and a row.
func (c column) dot(row []float64) (sum float64) {
	for _, k := range c.rows {
		sum += row[k]
	}
	return sum
}

// simplex maximizes Σ share·value over the shares of columns, none of them negative, whose sum is
// the right side, by the revised simplex method. Columns may be added at any time. The multipliers
// of the rows are a plane; where no column is above it, the shares are the best ones.
type simplex struct {
	right   []float64
	columns []column
	basis   []int      // a column for each row
	inverse *mat.Dense // of the matrix of these columns
	share   []float64  // by place in the basis
	plane   []float64
	step    []float64 // scratch
}

// newSimplex begins with a basis whose inverse is known, and whose shares are not negative.
func newSimplex(right []float64, columns []column, basis []int, inverse *mat.Dense) *simplex {
	n := len(right)
	s := &simplex{right, columns, basis, inverse, make([]float64, n), make([]float64, n), make([]float64, n)}
	s.refresh()
	return s
}

// refresh computes the shares anew.
func (s *simplex) refresh() {
	clear(s.share)
	for j := range s.share {
		for k, b := range s.inverse.RawRowView(j) {
			s.share[j] += b * s.right[k]
		}
	}
}

// invert computes the inverse anew, without the roundings of the steps before.
func (s *simplex) invert() error {
	b := mat.NewDense(len(s.basis), len(s.basis), nil)
	for j, at := range s.basis {
		for _, k := range s.columns[at].rows {
			b.Set(k, j, 1)
		}
	}
	if err := s.inverse.Inverse(b); err != nil {
		return err
	}
	s.refresh()
	return nil
}

// lay lays the plane through the columns of the basis.
func (s *simplex) lay() {
	clear(s.plane)
	for j, at := range s.basis {
		if v := s.columns[at].value; v != 0 {
			for k, b := range s.inverse.RawRowView(j) {
				s.plane[k] += v * b
			}
		}
	}
}

// forget drops the columns outside the basis.
func (s *simplex) forget() {
	kept := make([]column, len(s.basis))
	for j, at := range s.basis {
		kept[j], s.basis[j] = s.columns[at], j
	}
	s.columns = kept
}

// highest is the column that is most above the plane, of those from a number on; −1 where none is
// above it by more than least.
func (s *simplex) highest(from int, least float64) (at int, above float64) {
	at, above = -1, least
	for j, c := range s.columns[from:] {
		if v := c.value - c.dot(s.plane); v > above {
			at, above = from+j, v
		}
	}
	return at, above
}

// smallest is a step that is taken for a rounding.
const smallest = 1e-9

// enter puts a column into the basis. It is false where no column can leave it, so that the value
// has no largest one.
func (s *simplex) enter(at int) bool {
	leave, least := -1, math.Inf(1)
	for j := range s.step {
		s.step[j] = s.columns[at].dot(s.inverse.RawRowView(j))
		if s.step[j] > smallest {
			ratio := max(s.share[j], 0) / s.step[j]
			if ratio < least || ratio == least && s.step[j] > s.step[leave] {
				leave, least = j, ratio
			}
		}
	}
	if leave < 0 {
		return false
	}
	out := s.inverse.RawRowView(leave)
	for k := range out {
		out[k] /= s.step[leave]
	}
	for j, t := range s.step {
		if j != leave && t != 0 {
			row := s.inverse.RawRowView(j)
			for k, b := range out {
				row[k] -= t * b
			}
		}
		s.share[j] -= t * least
	}
	s.share[leave], s.basis[leave] = least, at
	return true
}
