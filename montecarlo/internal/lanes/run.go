package lanes

import (
	"math"

	"belsim/montecarlo/tables"
	"belsim/theory/base/processor"
)

// Run sums up logits from candidate to candidate, O(Σ distances of neighbours): sums, of
// the length of p.Fixed, are the correlations relative to the first candidate's, most is
// the largest of each sample, and best its place, the first of several.
func Run(sums []Ints, most, best *Ints, logits []Ints, p *tables.RunningSum) {
	if !processor.Vectors || len(p.Steps) == 0 {
		runGeneric(sums, 1, most, best, logits, p)
		return
	}
	runVector(&sums[0], most, best, &logits[0], &p.Fixed[0], &p.Starts[0], &p.Steps[0], len(sums), rowBytes)
}

// runGeneric is Run in Go. The sums of a candidate are stride rows from those of the one before, or
// kept nowhere where sums is nil.
func runGeneric(sums []Ints, stride int, most, best *Ints, logits []Ints, p *tables.RunningSum) {
	var sum Ints
	at := 0
	for i := range most {
		most[i], best[i] = math.MinInt32, 0
	}
	for m, fixed := range p.Fixed {
		for i := range sum {
			sum[i] += int32(fixed)
		}
		for end := int(p.Starts[m+1]); at < end; at++ {
			z := &logits[p.Steps[at]>>1]
			if p.Steps[at]&1 == 0 {
				for i, v := range z {
					sum[i] += v
				}
			} else {
				for i, v := range z {
					sum[i] -= v
				}
			}
		}
		if sums != nil {
			sums[m*stride] = sum
		}
		for i, v := range sum {
			if v > most[i] {
				most[i], best[i] = v, int32(m)
			}
		}
	}
}
