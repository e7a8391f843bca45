package errmodel

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distuv"
)

// Counts are the numbers of wrong outputs of observed classifiers.
type Counts struct {
	Levels, Bits int
	Samples      []uint64 // number of samples of each level; length L
	Wrong        []uint64 // L × M, row by row: the samples of the level in which bit k is wrong

	// Fine holds the same counts by parts of a level, for labels that are real numbers. It is
	// nil where labels are levels.
	Fine *Fine
}

// Fine are counts by parts of a level. The labels of level n, from n−½ to n+½, lie in Parts
// parts of equal width; part j of level n is cell (n−1)·Parts + j, from 0.
type Fine struct {
	Parts   int
	Samples []uint64 // length L·Parts
	Wrong   []uint64 // L·Parts × M, row by row
}

// NewCounts returns counts that are all zero, of labels that are levels.
func NewCounts(levels, bits int) *Counts {
	return &Counts{Levels: levels, Bits: bits, Samples: make([]uint64, levels), Wrong: make([]uint64, levels*bits)}
}

// NewFineCounts returns counts that are all zero, of real labels, with parts of a level.
func NewFineCounts(levels, bits, parts int) *Counts {
	c := NewCounts(levels, bits)
	c.Fine = &Fine{Parts: parts, Samples: make([]uint64, levels*parts), Wrong: make([]uint64, levels*parts*bits)}
	return c
}

// Parts is the number of cells of a level: the parts of real labels, else 1.
func (c *Counts) Parts() int {
	if c.Fine == nil {
		return 1
	}
	return c.Fine.Parts
}

// Cell returns the cell, from 0, of a label y of row i, from 0, in levels.
func (c *Counts) Cell(i int, y float64) int {
	parts := c.Parts()
	j := int(math.Floor((y - float64(i) - 0.5) * float64(parts)))
	return i*parts + min(max(j, 0), parts-1)
}

// Add counts a sample of row i, from 0, with the label y, in levels, and the given wrong bits,
// from 0.
func (c *Counts) Add(i int, y float64, wrong []int) {
	c.Samples[i]++
	row := c.Row(i)
	for _, k := range wrong {
		row[k]++
	}
	if c.Fine == nil {
		return
	}
	cell := c.Cell(i, y)
	c.Fine.Samples[cell]++
	row = c.Fine.Wrong[cell*c.Bits : (cell+1)*c.Bits]
	for _, k := range wrong {
		row[k]++
	}
}

// At returns the samples of a cell, from 0, and its wrong outputs by bit.
func (c *Counts) At(at int) (samples uint64, wrong []uint64) {
	if c.Fine == nil {
		return c.Samples[at], c.Row(at)
	}
	return c.Fine.Samples[at], c.Fine.Wrong[at*c.Bits : (at+1)*c.Bits]
}

// Row returns the wrong outputs of row i, from 0, by bit.
func (c *Counts) Row(i int) []uint64 { return c.Wrong[i*c.Bits : (i+1)*c.Bits] }

// Bit returns how many outputs of bit k, from 0, are wrong at all levels.
func (c *Counts) Bit(k int) (wrong uint64) {
	for i := range c.Levels {
		wrong += c.Row(i)[k]
	}
	return wrong
}

// Total returns the numbers of samples and of wrong bits.
func (c *Counts) Total() (samples, wrong uint64) {
	for _, n := range c.Samples {
		samples += n
	}
	for _, x := range c.Wrong {
		wrong += x
	}
	return samples, wrong
}

// Prior returns the share of each level among the samples.
func (c *Counts) Prior() []float64 {
	samples, _ := c.Total()
	p := make([]float64, c.Levels)
	for i, n := range c.Samples {
		p[i] = float64(n) / float64(max(samples, 1))
	}
	return p
}

// Rates returns the observed table ê[n,k], L × M: the share of wrong outputs. A level
// without samples has the row of other; where other is nil, the row is zero.
func (c *Counts) Rates(other mat.Matrix) *mat.Dense {
	e := mat.NewDense(c.Levels, c.Bits, nil)
	for i, n := range c.Samples {
		row := e.RawRowView(i)
		switch {
		case n > 0:
			for k, x := range c.Row(i) {
				row[k] = float64(x) / float64(n)
			}
		case other != nil:
			mat.Row(row, i, other)
		}
	}
	return e
}

// Check refuses impossible counts.
func (c *Counts) Check() error {
	if c.Levels < 1 || c.Bits < 1 || len(c.Samples) != c.Levels || len(c.Wrong) != c.Levels*c.Bits {
		return fmt.Errorf("counts of %d levels and %d bits with %d and %d entries", c.Levels, c.Bits, len(c.Samples), len(c.Wrong))
	}
	for i, n := range c.Samples {
		for k, x := range c.Row(i) {
			if x > n {
				return fmt.Errorf("level %d, bit %d: %d of %d outputs are wrong", i+1, k+1, x, n)
			}
		}
	}
	if f := c.Fine; f != nil && (f.Parts < 1 || len(f.Samples) != c.Levels*f.Parts || len(f.Wrong) != len(f.Samples)*c.Bits) {
		return fmt.Errorf("counts of %d levels in %d parts and %d bits with %d and %d entries", c.Levels, f.Parts, c.Bits, len(f.Samples), len(f.Wrong))
	}
	return nil
}

// Interval is an estimate with the limits of its confidence interval. Lo is 0 and
// Hi is +Inf where the data give no limit.
type Interval struct{ Value, Lo, Hi float64 }

// Confidence is the level of every interval.
const Confidence = 0.95

// RateInterval returns Wilson's interval for the error rate of a classifier with x wrong
// outputs of n.
func RateInterval(x, n float64) (lo, hi float64) {
	z := distuv.UnitNormal.Quantile((1 + Confidence) / 2)
	p := x / n
	middle := (p + z*z/(2*n)) / (1 + z*z/n)
	half := z / (1 + z*z/n) * math.Sqrt(p*(1-p)/n+z*z/(4*n*n))
	lo, hi = max(0, middle-half), min(1, middle+half)
	if x == 0 {
		lo = 0 // the two terms differ only by a rounding
	}
	if x == n {
		hi = 1
	}
	return lo, hi
}
