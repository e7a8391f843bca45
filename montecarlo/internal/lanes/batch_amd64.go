//go:build !purego

package lanes

import (
	"belsim/montecarlo/internal/processor"
	"belsim/montecarlo/tables"
)

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

// tallyBatchAVX512 is TallyBatch in eight parts of each sum; weight may be nil.
//
//go:noescape
func tallyBatchAVX512(parts *[3][8]uint64, sum, weight *[Batch]Floats, e *Errors)

func tallyBatch(sum, weight *[Batch]Floats, e *Errors) (t Tally) {
	if !batches() {
		return tallyBatchGeneric(sum, weight, e)
	}
	var parts [3][8]uint64
	tallyBatchAVX512(&parts, sum, weight, e)
	for i := range parts[0] {
		t.Abs += parts[0][i]
		t.Square += parts[1][i]
		t.Within += parts[2][i]
	}
	return t
}
