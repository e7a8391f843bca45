package montecarlo

import (
	"context"
	"reflect"
	"sync"

	"belsim/montecarlo/tables"
	"belsim/theory/base/philox"
	"belsim/theory/decode"
)

// worker is what a goroutine samples with.
type worker struct {
	problem *Problem
	keys    *philox.Keys
	sampler
	tally tally
}

// sampler samples a problem.
type sampler interface {
	// row prepares a row, of which samples are drawn next. The error names an entry that is no
	// probability, or is the context's.
	row(ctx context.Context, row int) error
	// block tallies the first n ≤ BlockSize samples of a block of the row. n is part of what
	// decides the samples.
	block(ctx context.Context, st stream, n int, t *tally) error
}

// idle are workers between two spans. The memory of one serves the next problem. What its decoder
// has learned serves problems of the same code and decoder, such as the cells of a map.
var idle = sync.Pool{New: func() any { return new(worker) }}

// start makes p the problem of the samples to come. The pointer stands for the problem: nobody
// changes it.
func (w *worker) start(p *Problem) {
	old := w.problem
	if old == p {
		return
	}
	w.problem, w.keys = p, philox.NewKeys(p.Seed)
	points, ok := w.sampler.(*pointSampler)
	switch {
	case p.Kind != IndependentBits:
		w.sampler = newLatentSampler(p, w.keys)
	case ok && old.Code == p.Code && same(old.Decoder, p.Decoder):
		points.problem, points.bits.Base = p, nil
	default:
		w.sampler = &pointSampler{problem: p, decoder: newPointDecoder(p.Code, p.Decoder),
			onBit: make([]uint32, p.Code.Bits())}
	}
}

// same reports whether two decoders are equal. Those that cannot be compared, such as
// ones that hold a slice, are not.
func same(a, b decode.Decoder) bool {
	return reflect.ValueOf(a).Comparable() && reflect.ValueOf(b).Comparable() && a == b
}

// sample returns the samples of a span, and calls done after each block. When the context ends they
// are whole blocks.
func (w *worker) sample(ctx context.Context, span Span, done func(samples uint64)) (sums Sums, err error) {
	if err := w.row(ctx, span.Row); err != nil {
		return sums, err
	}
	for block := span.Block; span.Samples > 0; block++ {
		n := min(span.Samples, BlockSize)
		w.tally.begin(w.problem, span.Row)
		if err := w.block(ctx, stream{w.keys, uint32(span.Row), block}, int(n), &w.tally); err != nil {
			return sums, err
		}
		w.tally.end()
		sums.Add(w.tally.Sums)
		span.Samples -= n
		done(n)
	}
	return sums, nil
}

// chunkDraws is how many draws a worker holds at once: large enough to
// amortize loops, small enough for the first-level cache.
const chunkDraws = 4096

// pointSampler samples independent bits, by the few that err.
type pointSampler struct {
	problem *Problem
	decoder pointDecoder
	bits    tables.Bits // of the row
	alias   aliasTable
	e       []float64

	reader bitReader
	words  []uint64
	places []uint16
	onBit  []uint32 // samples of one point, by bit
}

// row implements sampler.
func (w *pointSampler) row(_ context.Context, row int) error {
	if w.bits.Base != nil && w.bits.Row == row {
		return nil
	}
	var err error
	if w.e, err = w.problem.Row(w.e, row); err != nil {
		return err
	}
	w.bits.Set(row, w.problem.Code.Word(row), w.e)
	if w.bits.Hazard > 0 {
		w.alias.prepare(w.bits.Columns)
	}
	w.decoder.prepare(&w.bits)
	return nil
}

// block implements sampler. The number is dealt to the groups of the block.
func (w *pointSampler) block(ctx context.Context, st stream, n int, t *tally) error {
	if w.bits.Hazard == 0 {
		t.add(w.decoder.undisturbed(), uint64(n))
		return nil
	}
	w.reader.reset(st, streamCounts)
	return deal(w.bits.Classes, n, &w.reader, func(points, samples int) error {
		switch points {
		case 0:
			t.add(w.decoder.undisturbed(), uint64(samples))
			return nil
		case 1:
			return w.singles(ctx, st, samples, t)
		}
		return w.group(ctx, st, points, samples, t)
	})
}

// singles samples those with one point. There are at most M different ones, so
// each is decoded once.
func (w *pointSampler) singles(ctx context.Context, st stream, samples int, t *tally) error {
	for at := 0; at < samples; at += chunkDraws {
		if err := ctx.Err(); err != nil {
			return err
		}
		places := w.place(st, 1, at, min(chunkDraws, samples-at))
		for _, p := range places {
			w.onBit[p]++
		}
		for _, p := range places {
			if n := w.onBit[p]; n > 0 {
				w.onBit[p] = 0
				t.add(w.decoder.single(int(p)), uint64(n))
			}
		}
	}
	return nil
}

// group samples those with the given number of points, at least two.
func (w *pointSampler) group(ctx context.Context, st stream, points, samples int, t *tally) error {
	// A chunk begins on a call boundary: its samples are a multiple of 8, and
	// a call makes 8 or 4 draws.
	chunk := max(chunkDraws/points&^7, 8)
	for at := 0; at < samples; at += chunk {
		if err := ctx.Err(); err != nil {
			return err
		}
		places := w.place(st, points, at*points, points*min(chunk, samples-at))
		w.decoder.add(t, places, points)
	}
	return nil
}

// place returns where the draws first … first+n−1 of a group fall; first is a
// multiple of 8.
func (w *pointSampler) place(st stream, points, first, n int) []uint16 {
	t := &w.alias
	perWord := 64 / t.drawBits
	words := (n + perWord - 1) / perWord
	words += words & 1 // calls are two words
	if len(w.words) < words {
		w.words = make([]uint64, words)
		w.places = make([]uint16, 4*words)
	}
	philox.Fill(w.words[:words], st.keys, st.at(streamPoints, points, uint32(first/perWord/2)))
	out := w.places[:perWord*words]
	// Where the first bits of a draw do not decide, its own call of another
	// stream does: 64 bits are plenty, so one call per draw.
	low := func(i int) uint64 {
		x := philox.Call(st.keys, st.at(streamRefine, points, uint32(first+i)))
		return uint64(x[0]) | uint64(x[1])<<32
	}
	switch {
	case t.drawBits == 16:
		t.placeNarrow(out, w.words[:words], low)
	default:
		t.placeWide(out, w.words[:words], low)
	}
	return out[:n]
}
