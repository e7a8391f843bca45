package tables

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"belsim/theory/base/matrix"
	"belsim/theory/decode"
)

// lightOfMedian is how far below the largest a score of L levels does not matter to a median: all
// such levels together weigh 2⁻²⁰, and it changes only where half of the weight is as near as that.
func lightOfMedian(levels int) float64 { return 20*math.Ln2 + math.Log(float64(levels)) }

// AffineRows is the number of candidates that Affine has side by side.
const AffineRows = 4

// Affine gives the scores of the candidates of a label from independent standard normal numbers,
// in units of 2⁻¹⁶:
//
//	s_m = Offsets[m] + Σ_k Factors[m,k]·ε_k.
//
// The scores of C candidates, relative to one of them, are normal with a covariance of rank C−1 at
// most. So they take min(A, C−1) numbers, with A the number of bits at which candidates differ: not
// logits, but numbers that give the scores the same law. Candidates stand in groups of AffineRows;
// the last ones may be repeated to fill a group, with scores that are never large.
type Affine struct {
	Lengths []uint32  // of each group: the numbers that its factors take
	Factors []float32 // group after group, number after number: AffineRows of them
	Offsets []float32 // AffineRows of each group
}

// lowest is the score of what is no candidate, in units of 2⁻¹⁶: the smallest that is used.
const lowest = -1 << 30

// affineRow makes the tables of row i for a decoder that reads scores. With r the level of the
// largest mean score, level m is no candidate where its score stays below r's by lightOfMedian, up
// to 7 standard deviations of their difference.
func (l *LogitMaker) affineRow(ctx context.Context, i int) (*Logits, error) {
	p, c := l.model, l.model.Code
	var err error
	if l.e, err = matrix.Probabilities(l.e, i, p.Errors); err != nil {
		return nil, err
	}
	center := make([]float64, c.Bits())
	for k, e := range l.e {
		center[k] = decode.MeanLogit(e)
		if !c.Bit(i, k) {
			center[k] = -center[k]
		}
	}
	w, light := p.Scores.Weights, lightOfMedian(c.Levels())
	means := make([]float64, c.Levels())
	for m := range means {
		means[m] = p.Scores.Offsets[m] + dot(w.RawRowView(m), center)
	}
	best := floats.MaxIdx(means)
	t := &Logits{Row: i}
	var rows [][]float64 // the candidates' weights, relative to the best
	reference, row := w.RawRowView(best), make([]float64, c.Bits())
	for m, v := range means {
		if m%64 == 0 {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
		}
		square := 0.0
		for k, x := range w.RawRowView(m) {
			row[k] = x - reference[k]
			square += row[k] * row[k]
		}
		if v-means[best]+sureDeviation*math.Sqrt(square) >= -light {
			rows = append(rows, slices.Clone(row))
			t.Levels = append(t.Levels, uint16(m))
		}
	}
	offsets := make([]float32, len(rows))
	for r, m := range t.Levels {
		offsets[r] = float32(max((means[m]-means[best])*LogitOne, lowest))
	}
	rows, numbers := fewest(rows)
	for k := range numbers {
		t.Bits = append(t.Bits, uint16(k))
	}
	t.Centers = make([]int32, numbers)
	for len(rows)%AffineRows != 0 { // fill the last group
		rows, offsets = append(rows, nil), append(offsets, lowest)
		t.Levels = append(t.Levels, t.Levels[len(t.Levels)-1])
	}
	t.Affine = newAffine(rows, offsets)
	t.Limit = int64(light * LogitOne)
	t.Scale = float32(1 / (LogitOne * math.Ln2))
	return t, nil
}

// newAffine arranges the factors of whole groups of candidates.
func newAffine(rows [][]float64, offsets []float32) *Affine {
	a := &Affine{Offsets: offsets}
	for group := range slices.Chunk(rows, AffineRows) {
		length := 0
		for _, row := range group {
			for k, v := range row {
				if v != 0 {
					length = max(length, k+1)
				}
			}
		}
		a.Lengths = append(a.Lengths, uint32(length))
		for k := range length {
			for _, row := range group {
				f := 0.0
				if k < len(row) {
					f = row[k]
				}
				a.Factors = append(a.Factors, float32(f))
			}
		}
	}
	return a
}

func dot(a, b []float64) float64 {
	sum := 0.0
	for k, v := range a {
		sum += v * b[k]
	}
	return sum
}

// fewest returns rows of the fewest numbers whose products with independent standard normal numbers
// have the same law as the products of the given rows: their columns that are not zero, or, where
// this is less, the factor of Cholesky of their products with each other.
func fewest(rows [][]float64) (out [][]float64, numbers int) {
	var columns []int
	for k := range rows[0] {
		if slices.ContainsFunc(rows, func(r []float64) bool { return r[k] != 0 }) {
			columns = append(columns, k)
		}
	}
	out = make([][]float64, len(rows))
	for m, r := range rows {
		out[m] = make([]float64, 0, len(columns))
		for _, k := range columns {
			out[m] = append(out[m], r[k])
		}
	}
	if len(rows) > len(columns) {
		return out, len(columns)
	}
	const rounding = 1e-12 // of a variance: what is less depends on the rows before
	var pivots []int
	factor := make([][]float64, len(rows))
	for m := range rows {
		f := make([]float64, 0, len(pivots)+1)
		rest := dot(out[m], out[m])
		whole := rest
		for j, at := range pivots {
			v := dot(out[m], out[at])
			for n, x := range f {
				v -= x * factor[at][n]
			}
			v /= factor[at][j]
			f = append(f, v)
			rest -= v * v
		}
		if rest > rounding*whole {
			f = append(f, math.Sqrt(rest))
			pivots = append(pivots, m)
		}
		factor[m] = f
	}
	return factor, len(pivots)
}
