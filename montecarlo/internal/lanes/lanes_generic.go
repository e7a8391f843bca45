//go:build !amd64 || purego

package lanes

import (
	"belsim/montecarlo/tables"
)

func noise([]Ints, []uint64, []int32) (done, tails bool) { return false, false }

func run(sums []Ints, most, best *Ints, logits []Ints, p *tables.RunningSum) {
	runGeneric(sums, most, best, logits, p)
}

func softmax(weight, sum *Floats, sums []Ints, most *Ints, offsets []float32, limit int32, scale float32) {
	softmaxGeneric(weight, sum, sums, most, offsets, limit, scale)
}

func weights(dst []Floats, sums []Ints, most *Ints, limit int32, scale float32) {
	weightsGeneric(dst, sums, most, limit, scale)
}

func mix(weight, sum *Floats, prefixes, suffixes, patterns []Floats, p *tables.Product) {
	mixGeneric(weight, sum, prefixes, suffixes, patterns, p)
}

func affine(sums []Ints, most *Ints, x []Ints, f *tables.Affine) { affineGeneric(sums, most, x, f) }

func median(place *Ints, sums []Ints, most *Ints, limit int32, scale float32, scratch []Floats) {
	medianGeneric(place, sums, most, limit, scale, scratch)
}

func first(place *Ints, sums []Ints, most *Ints) { firstGeneric(place, sums, most) }

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

func spread(dst []Ints, places []uint16, words, ones []uint64, g int) {
	spreadGeneric(dst, places, words, ones, g)
}

func walsh(x []Ints) { walshGeneric(x) }

func mostOf(most *Ints, sums []Ints) { mostGeneric(most, sums) }

func stretch(z []Ints, centers []int32, deviations []int64) { stretchGeneric(z, centers, deviations) }
