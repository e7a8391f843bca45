//go:build !purego

package lanes

import (
	"belsim/montecarlo/internal/processor"
	"belsim/montecarlo/tables"
)

// noiseAVX2 is Noise for n ≥ 1 rows; centers may be nil. It reports whether any draw is
// in the tail: the numbers of such draws are of no use.
//
//go:noescape
func noiseAVX2(dst *Ints, words *uint64, n int, table *tables.NormalTable, centers *int32) (tails bool)

// noiseAVX512 is noiseAVX2 with AVX-512.
//
//go:noescape
func noiseAVX512(dst *Ints, words *uint64, n int, table *tables.NormalTable, centers *int32) (tails bool)

// noise is Noise but for the draws in the tail, and reports whether there are any. It does nothing
// where the processor has no AVX2.
func noise(dst []Ints, words []uint64, centers []int32) (done, tails bool) {
	if !processor.AVX2() {
		return false, false
	}
	var c *int32
	if centers != nil {
		c = &centers[0]
	}
	if processor.AVX512() {
		return true, noiseAVX512(&dst[0], &words[0], len(dst), &tables.Normals, c)
	}
	return true, noiseAVX2(&dst[0], &words[0], len(dst), &tables.Normals, c)
}

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

// softmaxAVX2 is Softmax for n ≥ 1 candidates; c are the coefficients of Decay.
//
//go:noescape
func softmaxAVX2(weight, sum *Floats, sums, most *Ints, offsets *float32, n int, limit int32, scale float32, c *[6]float32)

// softmaxAVX512 is softmaxAVX2 with AVX-512.
//
//go:noescape
func softmaxAVX512(weight, sum *Floats, sums, most *Ints, offsets *float32, n int, limit int32, scale float32, c *[6]float32)

func softmax(weight, sum *Floats, sums []Ints, most *Ints, offsets []float32, limit int32, scale float32) {
	switch {
	case !processor.AVX2():
		softmaxGeneric(weight, sum, sums, most, offsets, limit, scale)
	case processor.AVX512():
		softmaxAVX512(weight, sum, &sums[0], most, &offsets[0], len(sums), limit, scale, &tables.Decay)
	default:
		softmaxAVX2(weight, sum, &sums[0], most, &offsets[0], len(sums), limit, scale, &tables.Decay)
	}
}

// weightsAVX2 is Weights for n ≥ 1 correlations; c are the coefficients of Decay.
//
//go:noescape
func weightsAVX2(dst *Floats, sums, most *Ints, n int, limit int32, scale float32, c *[6]float32)

// weightsAVX512 is weightsAVX2 with AVX-512.
//
//go:noescape
func weightsAVX512(dst *Floats, sums, most *Ints, n int, limit int32, scale float32, c *[6]float32)

func weights(dst []Floats, sums []Ints, most *Ints, limit int32, scale float32) {
	switch {
	case !processor.AVX2():
		weightsGeneric(dst, sums, most, limit, scale)
	case processor.AVX512():
		weightsAVX512(&dst[0], &sums[0], most, len(sums), limit, scale, &tables.Decay)
	default:
		weightsAVX2(&dst[0], &sums[0], most, len(sums), limit, scale, &tables.Decay)
	}
}

// mixAVX2 is Mix for p prefixes, q suffixes and n patterns, at least one of each.
//
//go:noescape
func mixAVX2(weight, sum, prefixes, suffixes, patterns *Floats, offsets *float32, patternOf, order *uint16, p, q, n int)

// mixAVX512 is mixAVX2 with AVX-512.
//
//go:noescape
func mixAVX512(weight, sum, prefixes, suffixes, patterns *Floats, offsets *float32, patternOf, order *uint16, p, q, n int)

func mix(weight, sum *Floats, prefixes, suffixes, patterns []Floats, p *tables.Product) {
	f := mixAVX2
	switch {
	case !processor.AVX2():
		mixGeneric(weight, sum, prefixes, suffixes, patterns, p)
		return
	case processor.AVX512():
		f = mixAVX512
	}
	f(weight, sum, &prefixes[0], &suffixes[0], &patterns[0], &p.Offsets[0], &p.PatternOf[0], &p.Patterns[0], len(prefixes), len(suffixes), len(patterns))
}

// affineAVX2 is Affine for n ≥ 1 groups.
//
//go:noescape
func affineAVX2(sums, most, x *Ints, factors, offsets *float32, lengths *uint32, n int)

// affineAVX512 is affineAVX2 with AVX-512.
//
//go:noescape
func affineAVX512(sums, most, x *Ints, factors, offsets *float32, lengths *uint32, n int)

func affine(sums []Ints, most *Ints, x []Ints, f *tables.Affine) {
	if !processor.AVX2() || len(f.Factors) == 0 {
		affineGeneric(sums, most, x, f)
		return
	}
	if processor.AVX512() {
		affineAVX512(&sums[0], most, &x[0], &f.Factors[0], &f.Offsets[0], &f.Lengths[0], len(f.Lengths))
		return
	}
	affineAVX2(&sums[0], most, &x[0], &f.Factors[0], &f.Offsets[0], &f.Lengths[0], len(f.Lengths))
}

// medianAVX2 is Median for n ≥ 1 candidates; c are the coefficients of Decay.
//
//go:noescape
func medianAVX2(place, sums, most *Ints, n int, limit int32, scale float32, c *[6]float32, scratch *Floats)

// medianAVX512 is medianAVX2 with AVX-512.
//
//go:noescape
func medianAVX512(place, sums, most *Ints, n int, limit int32, scale float32, c *[6]float32, scratch *Floats)

func median(place *Ints, sums []Ints, most *Ints, limit int32, scale float32, scratch []Floats) {
	switch {
	case !processor.AVX2():
		medianGeneric(place, sums, most, limit, scale, scratch)
	case processor.AVX512():
		medianAVX512(place, &sums[0], most, len(sums), limit, scale, &tables.Decay, &scratch[0])
	default:
		medianAVX2(place, &sums[0], most, len(sums), limit, scale, &tables.Decay, &scratch[0])
	}
}

// firstAVX2 is First for n ≥ 1 candidates.
//
//go:noescape
func firstAVX2(place, sums, most *Ints, n int)

// firstAVX512 is firstAVX2 with AVX-512.
//
//go:noescape
func firstAVX512(place, sums, most *Ints, n int)

func first(place *Ints, sums []Ints, most *Ints) {
	switch {
	case !processor.AVX2():
		firstGeneric(place, sums, most)
	case processor.AVX512():
		firstAVX512(place, &sums[0], most, len(sums))
	default:
		firstAVX2(place, &sums[0], most, len(sums))
	}
}

func batches() bool { return processor.AVX512() }

// runBatchAVX512 is RunBatch for n ≥ 1 candidates and at least one step; stride is in bytes.
//
//go:noescape
func runBatchAVX512(sums *Ints, most *[Batch]Ints, logits *Ints, stride int, fixed *int64, starts, steps *uint32, n int)

func runBatch(sums []Ints, most *[Batch]Ints, logits []Ints, stride int, p *tables.RunningSum) {
	if !batches() || len(p.Steps) == 0 {
		runBatchGeneric(sums, most, logits, stride, p)
		return
	}
	runBatchAVX512(&sums[0], most, &logits[0], 4*Width*stride, &p.Fixed[0], &p.Starts[0], &p.Steps[0], len(p.Fixed))
}

// bestBatchAVX512 is BestBatch for n ≥ 1 candidates and at least one step; stride is in bytes.
//
//go:noescape
func bestBatchAVX512(best *[Batch]Floats, logits *Ints, stride int, fixed *int64, starts, steps *uint32, tags *float32, n int)

func bestBatch(best *[Batch]Floats, logits []Ints, stride int, p *tables.RunningSum, tags []float32) {
	if !batches() || len(p.Steps) == 0 {
		bestBatchGeneric(best, logits, stride, p, tags)
		return
	}
	bestBatchAVX512(best, &logits[0], 4*Width*stride, &p.Fixed[0], &p.Starts[0], &p.Steps[0], &tags[0], len(p.Fixed))
}

// softmaxBatchAVX512 is SoftmaxBatch for n ≥ 1 candidates; c are the coefficients of Decay.
//
//go:noescape
func softmaxBatchAVX512(weight, sum *[Batch]Floats, sums *Ints, most *[Batch]Ints, offsets *float32, n int, limit int32, scale float32, c *[6]float32)

func softmaxBatch(weight, sum *[Batch]Floats, sums []Ints, most *[Batch]Ints, offsets []float32, limit int32, scale float32) {
	if !batches() {
		softmaxBatchGeneric(weight, sum, sums, most, offsets, limit, scale)
		return
	}
	softmaxBatchAVX512(weight, sum, &sums[0], most, &offsets[0], len(offsets), limit, scale, &tables.Decay)
}

// weightsBatchAVX512 is WeightsBatch for n ≥ 1 correlations; c are the coefficients of Decay.
//
//go:noescape
func weightsBatchAVX512(dst *Floats, sums *Ints, most *[Batch]Ints, n int, limit int32, scale float32, c *[6]float32)

func weightsBatch(dst []Floats, sums []Ints, most *[Batch]Ints, limit int32, scale float32) {
	if !batches() {
		weightsBatchGeneric(dst, sums, most, limit, scale)
		return
	}
	weightsBatchAVX512(&dst[0], &sums[0], most, len(sums)/Batch, limit, scale, &tables.Decay)
}

// mixBatchAVX512 is MixBatch for p prefixes, q suffixes and n patterns, at least one of each.
//
//go:noescape
func mixBatchAVX512(weight, sum *[Batch]Floats, prefixes, suffixes, patterns *Floats, offsets *float32, patternOf, order *uint16, p, q, n int)

func mixBatch(weight, sum *[Batch]Floats, prefixes, suffixes, patterns []Floats, p *tables.Product) {
	if !batches() {
		mixBatchGeneric(weight, sum, prefixes, suffixes, patterns, p)
		return
	}
	mixBatchAVX512(weight, sum, &prefixes[0], &suffixes[0], &patterns[0], &p.Offsets[0], &p.PatternOf[0], &p.Patterns[0], len(prefixes)/Batch, len(suffixes)/Batch, len(patterns)/Batch)
}

// tallyBatchAVX512 is TallyBatch in eight parts of each sum; weight may be nil. The last sum has each
// difference twice.
//
//go:noescape
func tallyBatchAVX512(parts *[4][8]uint64, sum, weight *[Batch]Floats, e *Errors)

func tallyBatch(sum, weight *[Batch]Floats, e *Errors) (t Tally) {
	if !batches() {
		return tallyBatchGeneric(sum, weight, e)
	}
	var parts [4][8]uint64
	tallyBatchAVX512(&parts, sum, weight, e)
	for i := range parts[0] {
		t.Abs += parts[0][i]
		t.Square += parts[1][i]
		t.Within += parts[2][i]
		t.Differences += parts[3][i]
	}
	t.Differences /= 2
	return t
}

// walshAVX2 does the two steps h and 2h of Walsh; n is a multiple of 4h.
//
//go:noescape
func walshAVX2(x *Ints, n, h int)

// walshLastAVX2 does the step h of 2h rows.
//
//go:noescape
func walshLastAVX2(x *Ints, h int)

func walsh(x []Ints) {
	if !processor.AVX2() {
		walshGeneric(x)
		return
	}
	h := 1
	for ; 4*h <= len(x); h *= 4 {
		walshAVX2(&x[0], len(x), h)
	}
	if 2*h == len(x) {
		walshLastAVX2(&x[0], h)
	}
}

// mostAVX2 is Most for n ≥ 1 sums.
//
//go:noescape
func mostAVX2(most, sums *Ints, n int)

func mostOf(most *Ints, sums []Ints) {
	if !processor.AVX2() || len(sums) == 0 {
		mostGeneric(most, sums)
		return
	}
	mostAVX2(most, &sums[0], len(sums))
}

// spreadAVX2 is Spread for n ≥ 1 words; shift is where a group begins in a word.
//
//go:noescape
func spreadAVX2(dst *Ints, places *uint16, words, ones *uint64, n, shift int)

func spread(dst []Ints, places []uint16, words, ones []uint64, g int) {
	if !processor.AVX2() || len(words) == 0 {
		spreadGeneric(dst, places, words, ones, g)
		return
	}
	spreadAVX2(&dst[0], &places[0], &words[0], &ones[0], len(words), g*Width)
}

// stretchAVX2 is Stretch for n ≥ 1 rows.
//
//go:noescape
func stretchAVX2(z *Ints, centers *int32, deviations *int64, n int)

func stretch(z []Ints, centers []int32, deviations []int64) {
	if !processor.AVX2() || len(deviations) == 0 {
		stretchGeneric(z, centers, deviations)
		return
	}
	stretchAVX2(&z[0], &centers[0], &deviations[0], len(deviations))
}
