package lanes

import (
	"math"

	"belsim/montecarlo/tables"
	"belsim/theory/base/processor"
)

// Batch is the number of groups that the routines of a batch take at once. What a candidate takes
// once, such as finding the steps that lead to it, is shared by them; and while one group waits for
// an operation, the others go on. Numbers of a batch are candidate by candidate, the Batch groups
// of one before those of the next; but logits are group by group, as they are drawn. The numbers
// are those of the routines for one group.
const Batch = 4

// RunBatch sums up logits from candidate to candidate, as RunWide does, and finds the largest of each
// sample. The logits of a group begin stride rows after those of the group before.
func RunBatch(sums []Ints, most *[Batch]Ints, logits []Ints, stride int, p *tables.RunningSum) {
	if !processor.Vectors || len(p.Steps) == 0 {
		var best Ints
		for g := range most {
			runGeneric(sums[g:], Batch, &most[g], &best, logits[g*stride:], p)
		}
		return
	}
	runBatchVector(&sums[0], most, &logits[0], rowBytes*stride, &p.Fixed[0], &p.Starts[0], &p.Steps[0], len(p.Fixed))
}

// BestBatch finds the tag of the first of the largest of the correlations that RunBatch makes: tags
// has one for each candidate.
func BestBatch(best *[Batch]Floats, logits []Ints, stride int, p *tables.RunningSum, tags []float32) {
	if !processor.Vectors || len(p.Steps) == 0 {
		bestBatchGeneric(best, logits, stride, p, tags)
		return
	}
	bestBatchVector(best, &logits[0], rowBytes*stride, &p.Fixed[0], &p.Starts[0], &p.Steps[0], &tags[0], len(p.Fixed))
}

// SoftmaxBatch is Softmax for a batch.
func SoftmaxBatch(weight, sum *[Batch]Floats, sums []Ints, most *[Batch]Ints, offsets []float32, limit int64,
	scale float32) {
	if processor.Wide {
		softmaxBatchWide(weight, sum, &sums[0], most, &offsets[0], len(offsets), narrow(limit), scale, &tables.Decay)
		return
	}
	for g := range weight {
		softmax(&weight[g], &sum[g], sums[g:], Batch, &most[g], offsets, narrow(limit), scale)
	}
}

// WeightsBatch makes softmax weights of correlations, as SoftmaxBatch does, and keeps them.
func WeightsBatch(dst []Floats, sums []Ints, most *[Batch]Ints, limit int64, scale float32) {
	if processor.Wide {
		weightsBatchWide(&dst[0], &sums[0], most, len(sums)/Batch, narrow(limit), scale, &tables.Decay)
		return
	}
	for g := range most {
		weights(dst[g:], sums[g:], Batch, &most[g], narrow(limit), scale)
	}
}

// MixBatch is mix for a batch: patterns is scratch, Batch for each pattern.
func MixBatch(weight, sum *[Batch]Floats, prefixes, suffixes, patterns []Floats, p *tables.Product) {
	if processor.Wide {
		mixBatchWide(weight, sum, &prefixes[0], &suffixes[0], &patterns[0], &p.Offsets[0], &p.PatternOf[0],
			&p.Patterns[0], len(prefixes)/Batch, len(suffixes)/Batch, len(patterns)/Batch)
		return
	}
	for g := range weight {
		mix(&weight[g], &sum[g], prefixes[g:], suffixes[g:], patterns[g:], Batch, p)
	}
}

// Errors says how decoded labels are tallied: the error is |decoded − Base|, sums of errors and of
// their squares are in units of 1/Scale levels.
type Errors struct{ Base, Scale float64 }

// Tally are sums over samples.
type Tally struct{ Abs, Square uint64 }

// TallyBatch tallies the labels Base + sum/weight of a batch, or Base + sum where weight is nil.
// Errors and their squares are below 2⁵² units.
func TallyBatch(sum, weight *[Batch]Floats, e *Errors) (t Tally) {
	if !processor.Vectors {
		return tallyBatchGeneric(sum, weight, e)
	}
	var parts [2][8]uint64
	tallyBatchVector(&parts, sum, weight, e)
	for i := range parts[0] {
		t.Abs += parts[0][i]
		t.Square += parts[1][i]
	}
	return t
}

// bestBatchGeneric is BestBatch in Go.
func bestBatchGeneric(best *[Batch]Floats, logits []Ints, stride int, p *tables.RunningSum, tags []float32) {
	var most, place Ints
	sums := make([]Ints, len(p.Fixed))
	for g := range best {
		runGeneric(sums, 1, &most, &place, logits[g*stride:], p)
		for i, m := range place {
			best[g][i] = tags[m]
		}
	}
}

// tallyBatchGeneric is TallyBatch in Go.
func tallyBatchGeneric(sum, weight *[Batch]Floats, e *Errors) (t Tally) {
	for g := range sum {
		for i, s := range sum[g] {
			label := float64(s)
			if weight != nil {
				label /= float64(weight[g][i])
			}
			err := math.Abs(e.Base + label - e.Base)
			t.Abs += uint64(int64(float64(err*e.Scale) + 0.5))
			t.Square += uint64(int64(float64(float64(err*err)*e.Scale) + 0.5))
		}
	}
	return t
}
