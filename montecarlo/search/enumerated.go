package search

import (
	"context"
	"math"
	"math/bits"

	"belsim/theory"
)

// enumerated is the exact expected error of gen on bits that err independently: a sum
// over all 2^M outputs.
type enumerated struct {
	probabilities
	prior []float64

	table   []float64 // L × M
	old     []float64 // the columns before the last update
	columns []int
	label   []int32 // by output
	prob    []float64

	zero, one []float64 // by column: probabilities at one level
}

// maxOutputs is the largest L·2^M at which a sum over all outputs is faster than samples.
const maxOutputs = 1 << 16

func newEnumerated(levels, bitCount int, prior []float64, column Column) *enumerated {
	return &enumerated{
		probabilities: newProbabilities(levels, column), prior: prior, table: make([]float64, levels*bitCount),
		label: make([]int32, 1<<bitCount), prob: make([]float64, 1<<bitCount),
		zero: make([]float64, bitCount), one: make([]float64, bitCount),
	}
}

func (x *enumerated) reset(_ context.Context, w *words, _ uint64) (float64, error) {
	return x.update(w, move{columns: w.allColumns()}, math.Inf(1))
}

func (x *enumerated) update(w *words, by move, limit float64) (float64, error) {
	x.columns, x.old = append(x.columns[:0], by.columns...), x.old[:0]
	for _, k := range by.columns {
		for n := range w.levels {
			x.old = append(x.old, x.table[n*w.bits+k])
		}
	}
	for _, k := range by.columns {
		if !x.of(w, k) {
			return math.Inf(1), nil
		}
		for n, e := range x.e {
			x.table[n*w.bits+k] = e
		}
	}
	for output := range x.label {
		best, level := w.bits+1, 0
		for n, word := range w.rows { // M is small: a row is a word
			if d := bits.OnesCount64(word ^ uint64(output)); d < best {
				best, level = d, n
			}
		}
		x.label[output] = int32(level)
	}
	sum := 0.0
	for n, p := range x.prior {
		if sum > limit {
			break // no level's error is below 0
		}
		if p > 0 {
			sum += p * x.level(w, n)
		}
	}
	return sum, nil
}

// level is the expected error of a level.
func (x *enumerated) level(w *words, n int) float64 {
	for k, e := range x.table[n*w.bits : (n+1)*w.bits] {
		if w.bit(n, k) {
			e = 1 - e
		}
		x.zero[k], x.one[k] = 1-e, e
	}
	theory.OutputProbabilities(x.prob, x.zero, x.one)
	sum := 0.0
	for output, q := range x.prob {
		sum += q * math.Abs(float64(int(x.label[output])-n))
	}
	return sum
}

func (x *enumerated) reject() {
	i, bitCount := 0, len(x.table)/len(x.prior)
	for _, k := range x.columns {
		for n := range x.prior {
			x.table[n*bitCount+k] = x.old[i]
			i++
		}
	}
}
