//go:build !purego

package lanes

import (
	"belsim/montecarlo/internal/processor"
	"belsim/montecarlo/tables"
)

// runAVX2 is Run for n ≥ 1 candidates and at least one step.
//
//go:noescape
func runAVX2(sums, most, best, logits *Ints, fixed *int64, starts, steps *uint32, n int)

// runAVX512 is runAVX2 with AVX-512.
//
//go:noescape
func runAVX512(sums, most, best, logits *Ints, fixed *int64, starts, steps *uint32, n int)

func run(sums []Ints, most, best *Ints, logits []Ints, p *tables.RunningSum) {
	switch {
	case !processor.AVX2() || len(p.Steps) == 0:
		runGeneric(sums, most, best, logits, p)
	case processor.AVX512():
		runAVX512(&sums[0], most, best, &logits[0], &p.Fixed[0], &p.Starts[0], &p.Steps[0], len(sums))
	default:
		runAVX2(&sums[0], most, best, &logits[0], &p.Fixed[0], &p.Starts[0], &p.Steps[0], len(sums))
	}
}
