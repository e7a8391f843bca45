package lanes

import (
	"math"

	"belsim/montecarlo/tables"
)

// RunWide sums up logits from candidate to candidate, O(Σ distances of neighbours): sums, of the
// length of p.Fixed, are the correlations relative to the first candidate's.
func RunWide(sums []Wide, logits []Ints, p *tables.RunningSum) { addGeneric(sums, 1, logits, p) }

// runGeneric is a group of RunBatch in Go: most is the largest of each sample, and best its place,
// the first of several. The sums of a candidate are stride rows from those of the one before.
func runGeneric(sums []Ints, stride int, most, best *Ints, logits []Ints, p *tables.RunningSum) {
	addGeneric(sums, stride, logits, p)
	for i := range most {
		most[i], best[i] = math.MinInt32, 0
	}
	for m := range p.Fixed {
		for i, v := range sums[m*stride] {
			if v > most[i] {
				most[i], best[i] = v, int32(m)
			}
		}
	}
}

// addGeneric makes the sums of runGeneric.
func addGeneric[E int32 | int64](sums [][Width]E, stride int, logits []Ints, p *tables.RunningSum) {
	var sum [Width]E
	at := 0
	for m, fixed := range p.Fixed {
		for i := range sum {
			sum[i] += E(fixed)
		}
		for end := int(p.Starts[m+1]); at < end; at++ {
			sign := 1 - 2*E(p.Steps[at]&1)
			for i, v := range logits[p.Steps[at]>>1] {
				sum[i] += sign * E(v)
			}
		}
		sums[m*stride] = sum
	}
}
