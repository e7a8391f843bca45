//go:build !amd64 || purego

package montecarlo

// noise makes a group's noise where the processor has instructions for it.
func noise([]lane, []uint64, []int32) bool { return false }

// runNarrow sums up from candidate to candidate, and finds the largest.
func runNarrow(sums []lane, most, best *lane, logits []lane, p *RunPlan) {
	runPortable(sums, most, best, logits, p)
}

// softmaxNarrow adds up the candidates' weights.
func softmaxNarrow(weight, sum *weights, sums []lane, most *lane, offsets []float32, p *LatentPlan) {
	softmaxPortable(weight, sum, sums, most, offsets, p)
}

// weigh makes weights of correlations.
func weigh(dst []weights, sums []lane, most *lane, p *LatentPlan) { weighPortable(dst, sums, most, p) }

// mix sums up weights as ProductPlan says.
func mix(weight, sum *weights, prefixes, suffixes, patterns []weights, p *ProductPlan) {
	mixPortable(weight, sum, prefixes, suffixes, patterns, p)
}
