//go:build !purego

package montecarlo

import (
	"math"

	"golang.org/x/sys/cpu"
)

// The functions on groups are in two forms: with AVX2, and with AVX-512, for which a
// group is one register.

// noiseAVX2 makes the noise of n bits of a group, or their logits where centers
// is not nil. It reports whether any draw is in the tail, and then of no use.
//
//go:noescape
func noiseAVX2(dst *lane, words *uint64, n int, table *NormalTable, centers *int32) (tails bool)

//go:noescape
func noiseAVX512(dst *lane, words *uint64, n int, table *NormalTable, centers *int32) (tails bool)

// runAVX2 is the running sums of n candidates, and the largest of each sample.
//
//go:noescape
func runAVX2(sums, most, best, logits *lane, fixed *int64, starts, steps *uint32, n int)

//go:noescape
func runAVX512(sums, most, best, logits *lane, fixed *int64, starts, steps *uint32, n int)

// softmaxAVX2 is the sums of weights, and of weights times offsets, over n
// candidates.
//
//go:noescape
func softmaxAVX2(weight, sum *weights, sums, most *lane, offsets *float32, n int, limit int32, scale float32, c *[6]float32)

//go:noescape
func softmaxAVX512(weight, sum *weights, sums, most *lane, offsets *float32, n int, limit int32, scale float32, c *[6]float32)

// weighAVX2 makes n weights of correlations.
//
//go:noescape
func weighAVX2(dst *weights, sums, most *lane, n int, limit int32, scale float32, c *[6]float32)

//go:noescape
func weighAVX512(dst *weights, sums, most *lane, n int, limit int32, scale float32, c *[6]float32)

// mixAVX2 sums up weights as ProductPlan says; patterns is scratch.
//
//go:noescape
func mixAVX2(weight, sum, prefixes, suffixes, patterns *weights, offsets *float32, patternOf, order *uint16, p, q, n int)

//go:noescape
func mixAVX512(weight, sum, prefixes, suffixes, patterns *weights, offsets *float32, patternOf, order *uint16, p, q, n int)

// noise makes the noise of a group of draws, or logits where centers is not nil, with
// AVX2 where the processor has it; false where it has not, or a draw is in the tail.
func noise(dst []lane, words []uint64, centers []int32) bool {
	if !cpu.X86.HasAVX2 || len(dst) == 0 {
		return false
	}
	var c *int32
	if centers != nil {
		c = &centers[0]
	}
	if hasAVX512() {
		return !noiseAVX512(&dst[0], &words[0], len(dst), &normalTable, c)
	}
	return !noiseAVX2(&dst[0], &words[0], len(dst), &normalTable, c)
}

// runNarrow sums up from candidate to candidate, and finds the largest.
func runNarrow(sums []lane, most, best *lane, logits []lane, p *RunPlan) {
	switch {
	case !cpu.X86.HasAVX2 || len(p.Steps) == 0:
		runPortable(sums, most, best, logits, p)
	case hasAVX512():
		runAVX512(&sums[0], most, best, &logits[0], &p.Fixed[0], &p.Starts[0], &p.Steps[0], len(sums))
	default:
		runAVX2(&sums[0], most, best, &logits[0], &p.Fixed[0], &p.Starts[0], &p.Steps[0], len(sums))
	}
}

// softmaxNarrow adds up the candidates' weights.
func softmaxNarrow(weight, sum *weights, sums []lane, most *lane, offsets []float32, p *LatentPlan) {
	limit := int32(min(p.Limit, math.MaxInt32))
	switch {
	case !cpu.X86.HasAVX2:
		softmaxPortable(weight, sum, sums, most, offsets, p)
	case hasAVX512():
		softmaxAVX512(weight, sum, &sums[0], most, &offsets[0], len(sums), limit, p.Scale, &decayCoefficients)
	default:
		softmaxAVX2(weight, sum, &sums[0], most, &offsets[0], len(sums), limit, p.Scale, &decayCoefficients)
	}
}

// weigh makes weights of correlations.
func weigh(dst []weights, sums []lane, most *lane, p *LatentPlan) {
	limit := int32(min(p.Limit, math.MaxInt32))
	switch {
	case !cpu.X86.HasAVX2:
		weighPortable(dst, sums, most, p)
	case hasAVX512():
		weighAVX512(&dst[0], &sums[0], most, len(sums), limit, p.Scale, &decayCoefficients)
	default:
		weighAVX2(&dst[0], &sums[0], most, len(sums), limit, p.Scale, &decayCoefficients)
	}
}

// mix sums up weights as ProductPlan says.
func mix(weight, sum *weights, prefixes, suffixes, patterns []weights, p *ProductPlan) {
	f := mixAVX2
	switch {
	case !cpu.X86.HasAVX2:
		mixPortable(weight, sum, prefixes, suffixes, patterns, p)
		return
	case hasAVX512():
		f = mixAVX512
	}
	f(weight, sum, &prefixes[0], &suffixes[0], &patterns[0], &p.Offsets[0], &p.PatternOf[0], &p.Patterns[0], len(prefixes), len(suffixes), len(patterns))
}
