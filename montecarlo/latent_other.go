//go:build !amd64 || purego

package montecarlo

// noise makes a group's noise where the processor has instructions for it.
func noise([]lane, []uint64, []int32) bool { return false }

// runNarrow sums up from candidate to candidate, and finds the largest.
func runNarrow(sums []lane, most, best *lane, logits []lane, p *LatentPlan) {
	runPortable(sums, most, best, logits, p)
}

// softmaxNarrow adds up the candidates' weights.
func softmaxNarrow(weight, sum *[lanes]float32, sums []lane, most *lane, offsets []float32, p *LatentPlan) {
	softmaxPortable(weight, sum, sums, most, offsets, p)
}
