//go:build !purego

package montecarlo

import (
	"math"

	"golang.org/x/sys/cpu"
)

// noiseGroups makes the noise of n bits of a group, or their logits where centers
// is not nil. It reports whether any draw is in the tail, and then of no use.
//
//go:noescape
func noiseGroups(dst *lane, words *uint64, n int, table *normalTable, centers *int32) (tails bool)

// runGroup is the running sums of n candidates, and the largest of each sample.
//
//go:noescape
func runGroup(sums, most, best, logits *lane, fixed *int64, starts, steps *uint32, n int)

// softmaxGroup is the sums of weights, and of weights times offsets, over n
// candidates.
//
//go:noescape
func softmaxGroup(weight, sum *[lanes]float32, sums, most *lane, offsets *float32, n int, limit int32, scale float32, c *[6]float32)

// noise makes the noise of a group of draws, or logits where centers is not nil, with
// AVX2 where the processor has it; false where it has not, or a draw is in the tail.
func noise(dst []lane, words []uint64, table *normalTable, centers []int32) bool {
	if !cpu.X86.HasAVX2 || len(dst) == 0 {
		return false
	}
	var c *int32
	if centers != nil {
		c = &centers[0]
	}
	return !noiseGroups(&dst[0], &words[0], len(dst), table, c)
}

// runNarrow sums up from candidate to candidate, and finds the largest.
func runNarrow(sums []lane, most, best *lane, logits []lane, p *LatentPlan) {
	if !cpu.X86.HasAVX2 || len(p.Steps) == 0 {
		runPortable(sums, most, best, logits, p)
		return
	}
	runGroup(&sums[0], most, best, &logits[0], &p.Fixed[0], &p.Starts[0], &p.Steps[0], len(sums))
}

// softmaxNarrow adds up the candidates' weights.
func softmaxNarrow(weight, sum *[lanes]float32, sums []lane, most *lane, offsets []float32, p *LatentPlan) {
	if !cpu.X86.HasAVX2 {
		softmaxPortable(weight, sum, sums, most, offsets, p)
		return
	}
	softmaxGroup(weight, sum, &sums[0], most, &offsets[0], len(sums), int32(min(p.Limit, math.MaxInt32)), p.Scale, &decayCoefficients)
}
