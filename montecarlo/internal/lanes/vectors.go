package lanes

import "belsim/montecarlo/tables"

// The routines in assembly, which run where processor.Vectors says so; those whose names end in
// Wide where processor.Wide does. Each does what the routine of its name does. Numbers n of rows,
// candidates or words are at least one, and so are the steps of a running sum. stride is the number
// of bytes from the numbers of one candidate to those of the next, or from one group's logits to
// the next one's; c are the coefficients of Decay.

// noiseVector is Noise but for the draws in the tail, whose numbers are of no use, and reports
// whether there are any.
//
//go:noescape
func noiseVector(dst *Ints, words *uint64, n int, table *tables.NormalTable, centers *int32) (tails bool)

//go:noescape
func softmaxVector(weight, sum *Floats, sums, most *Ints, offsets *float32, n int, limit int32, scale float32,
	c *[6]float32, stride int)

//go:noescape
func weightsVector(dst *Floats, sums, most *Ints, n int, limit int32, scale float32, c *[6]float32, stride int)

// mixVector has p prefixes, q suffixes and n patterns.
//
//go:noescape
func mixVector(weight, sum, prefixes, suffixes, patterns *Floats, offsets *float32, patternOf, order *uint16, p, q, n,
	stride int)

// affineVector has n groups of candidates.
//
//go:noescape
func affineVector(sums, most, x *Ints, factors, offsets *float32, lengths *uint32, n int)

//go:noescape
func medianVector(place, sums, most *Ints, n int, limit int32, scale float32, c *[6]float32, scratch *Floats)

//go:noescape
func firstVector(place, sums, most *Ints, n int)

//go:noescape
func runBatchVector(sums *Ints, most *[Batch]Ints, logits *Ints, stride int, fixed *int64, starts, steps *uint32, n int)

//go:noescape
func bestBatchVector(best *[Batch]Floats, logits *Ints, stride int, fixed *int64, starts, steps *uint32, tags *float32,
	n int)

//go:noescape
func softmaxBatchWide(weight, sum *[Batch]Floats, sums *Ints, most *[Batch]Ints, offsets *float32, n int, limit int32,
	scale float32, c *[6]float32)

//go:noescape
func weightsBatchWide(dst *Floats, sums *Ints, most *[Batch]Ints, n int, limit int32, scale float32, c *[6]float32)

//go:noescape
func mixBatchWide(weight, sum *[Batch]Floats, prefixes, suffixes, patterns *Floats, offsets *float32, patternOf,
	order *uint16, p, q, n int)

// tallyBatchVector is TallyBatch in parts of each sum; weight may be nil.
//
//go:noescape
func tallyBatchVector(parts *[2][8]uint64, sum, weight *[Batch]Floats, e *Errors)

// walshVector does the two steps h and 2h of Walsh; n is a multiple of 4h.
//
//go:noescape
func walshVector(x *Ints, n, h int)

// walshLastVector does the step h of 2h rows.
//
//go:noescape
func walshLastVector(x *Ints, h int)

//go:noescape
func mostVector(most, sums *Ints, n int)

// spreadVector is Spread of the group that begins at bit shift of each word.
//
//go:noescape
func spreadVector(dst *Ints, places *uint16, words, ones *uint64, n, shift int)
