package errmodel

import (
	"math"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distuv"
)

// Counts are the numbers of wrong outputs of observed classifiers.
type Counts struct {
	Levels, Bits int
	Samples      []uint64 // number of samples of each level; length L
	Wrong        []uint64 // L × M, row by row: the samples of the level in which bit k is wrong
}

// NewCounts returns counts that are all zero.
func NewCounts(levels, bits int) *Counts {
	return &Counts{Levels: levels, Bits: bits, Samples: make([]uint64, levels), Wrong: make([]uint64, levels*bits)}
}

// Add counts a sample of row i, from 0, with the given wrong bits, from 0.
func (c *Counts) Add(i int, wrong []int) {
	c.Samples[i]++
	row := c.Row(i)
	for _, k := range wrong {
		row[k]++
	}
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

// All is the number of samples.
func (c *Counts) All() (samples uint64) {
	for _, n := range c.Samples {
		samples += n
	}
	return samples
}

// Total returns the numbers of samples and of wrong bits.
func (c *Counts) Total() (samples, wrong uint64) {
	for _, x := range c.Wrong {
		wrong += x
	}
	return c.All(), wrong
}

// Prior returns the share of each level among the samples.
func (c *Counts) Prior() []float64 {
	p, samples := make([]float64, c.Levels), c.All()
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

// Confidence is the level of every interval.
const Confidence = 0.95

// Errors95 is the number of standard errors to each side in intervals of sampled means, and in
// comparisons of them.
const Errors95 = 1.96

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
