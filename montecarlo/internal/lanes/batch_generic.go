//go:build !amd64 || purego

package lanes

import "belsim/montecarlo/tables"

func batches() bool { return false }

func runBatch(sums []Ints, most *[Batch]Ints, logits []Ints, stride int, p *tables.RunningSum) {
	runBatchGeneric(sums, most, logits, stride, p)
}

func bestBatch(best *[Batch]Floats, logits []Ints, stride int, p *tables.RunningSum, tags []float32) {
	bestBatchGeneric(best, logits, stride, p, tags)
}

func softmaxBatch(weight, sum *[Batch]Floats, sums []Ints, most *[Batch]Ints, offsets []float32, limit int32, scale float32) {
	softmaxBatchGeneric(weight, sum, sums, most, offsets, limit, scale)
}

func weightsBatch(dst []Floats, sums []Ints, most *[Batch]Ints, limit int32, scale float32) {
	weightsBatchGeneric(dst, sums, most, limit, scale)
}

func mixBatch(weight, sum *[Batch]Floats, prefixes, suffixes, patterns []Floats, p *tables.Product) {
	mixBatchGeneric(weight, sum, prefixes, suffixes, patterns, p)
}

func tallyBatch(sum, weight *[Batch]Floats, e *Errors) Tally {
	return tallyBatchGeneric(sum, weight, e)
}
