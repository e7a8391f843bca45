package lanes

import (
	"math"

	"belsim/montecarlo/tables"
)

// Run sums up logits from candidate to candidate, O(Σ distances of neighbours): sums, of
// the length of p.Fixed, are the correlations relative to the first candidate's, most is
// the largest of each sample, and best its place, the first of several.
func Run(sums []Ints, most, best *Ints, logits []Ints, p *tables.RunningSum) {
	run(sums, most, best, logits, p)
}

// runGeneric is Run in Go.
func runGeneric(sums []Ints, most, best *Ints, logits []Ints, p *tables.RunningSum) {
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
		sums[m] = sum
		for i, v := range sum {
			if v > most[i] {
				most[i], best[i] = v, int32(m)
			}
		}
	}
}
