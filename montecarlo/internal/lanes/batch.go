package lanes

import (
	"math"

	"belsim/montecarlo/tables"
)

// Batch is the number of groups that the routines of a batch take at once. What a candidate takes
// once, such as finding the steps that lead to it, is shared by them; and while one group waits for
// an operation, the others go on. Numbers of a batch are candidate by candidate, the Batch groups
// of one before those of the next; but logits are group by group, as they are drawn. The numbers
// are those of the routines for one group.
const Batch = 4

// Batches reports whether the processor has fast routines for a batch. Where it has none, those for
// one group are faster.
func Batches() bool { return batches() }

// RunBatch is Run for a batch, without the places of the largest. The logits of a group begin
// stride rows after those of the group before.
func RunBatch(sums []Ints, most *[Batch]Ints, logits []Ints, stride int, p *tables.RunningSum) {
	runBatch(sums, most, logits, stride, p)
}

// BestBatch finds the tag of the first of the largest of the correlations that RunBatch makes: tags
// has one for each candidate.
func BestBatch(best *[Batch]Floats, logits []Ints, stride int, p *tables.RunningSum, tags []float32) {
	bestBatch(best, logits, stride, p, tags)
}

// SoftmaxBatch is Softmax for a batch.
func SoftmaxBatch(weight, sum *[Batch]Floats, sums []Ints, most *[Batch]Ints, offsets []float32, limit int64, scale float32) {
	softmaxBatch(weight, sum, sums, most, offsets, narrow(limit), scale)
}

// WeightsBatch is Weights for a batch.
func WeightsBatch(dst []Floats, sums []Ints, most *[Batch]Ints, limit int64, scale float32) {
	weightsBatch(dst, sums, most, narrow(limit), scale)
}

// MixBatch is Mix for a batch: patterns is scratch, Batch for each pattern.
func MixBatch(weight, sum *[Batch]Floats, prefixes, suffixes, patterns []Floats, p *tables.Product) {
	mixBatch(weight, sum, prefixes, suffixes, patterns, p)
}

// Errors says how labels are tallied: the error of label d is |d − Y|, sums of errors and of their
// squares are in units of 1/Scale levels, and errors up to Near are counted.
type Errors struct {
	Base, Y, Scale, Near float64
}

// Tally are sums over samples. Differences is the sum of the squares of the differences of the errors of
// two samples in a row: the first and the second, the third and the fourth, and so on.
type Tally struct {
	Abs, Square, Within, Differences uint64
}

// TallyBatch tallies the labels Base + sum/weight of a batch, or Base + sum where weight is nil.
func TallyBatch(sum, weight *[Batch]Floats, e *Errors) Tally { return tallyBatch(sum, weight, e) }

// of returns the numbers of one group of a batch.
func of[T any](batch []T, g int) []T {
	group := make([]T, len(batch)/Batch)
	for m := range group {
		group[m] = batch[m*Batch+g]
	}
	return group
}

// The routines for a batch in Go: those for one group, group by group.

func runBatchGeneric(sums []Ints, most *[Batch]Ints, logits []Ints, stride int, p *tables.RunningSum) {
	group, best := make([]Ints, len(p.Fixed)), Ints{}
	for g := range most {
		runGeneric(group, &most[g], &best, logits[g*stride:], p)
		for m, v := range group {
			sums[m*Batch+g] = v
		}
	}
}

func bestBatchGeneric(best *[Batch]Floats, logits []Ints, stride int, p *tables.RunningSum, tags []float32) {
	sums, most, place := make([]Ints, len(p.Fixed)), Ints{}, Ints{}
	for g := range best {
		runGeneric(sums, &most, &place, logits[g*stride:], p)
		for i, m := range place {
			best[g][i] = tags[m]
		}
	}
}

func softmaxBatchGeneric(weight, sum *[Batch]Floats, sums []Ints, most *[Batch]Ints, offsets []float32, limit int32, scale float32) {
	for g := range weight {
		softmaxGeneric(&weight[g], &sum[g], of(sums, g), &most[g], offsets, limit, scale)
	}
}

func weightsBatchGeneric(dst []Floats, sums []Ints, most *[Batch]Ints, limit int32, scale float32) {
	group := make([]Floats, len(dst)/Batch)
	for g := range most {
		weightsGeneric(group, of(sums, g), &most[g], limit, scale)
		for m, w := range group {
			dst[m*Batch+g] = w
		}
	}
}

func mixBatchGeneric(weight, sum *[Batch]Floats, prefixes, suffixes, patterns []Floats, p *tables.Product) {
	for g := range weight {
		mixGeneric(&weight[g], &sum[g], of(prefixes, g), of(suffixes, g), of(patterns, g), p)
	}
}

func tallyBatchGeneric(sum, weight *[Batch]Floats, e *Errors) (t Tally) {
	for g := range sum {
		var before float64
		for i, s := range sum[g] {
			label := float64(s)
			if weight != nil {
				label /= float64(weight[g][i])
			}
			err := math.Abs(e.Base + label - e.Y)
			t.Abs += uint64(int64(float64(err*e.Scale) + 0.5))
			t.Square += uint64(int64(float64(float64(err*err)*e.Scale) + 0.5))
			if err <= e.Near {
				t.Within++
			}
			if d := err - before; i%2 == 1 {
				t.Differences += uint64(int64(float64(float64(d*d)*e.Scale) + 0.5))
			}
			before = err
		}
	}
	return t
}
