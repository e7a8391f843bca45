package montecarlo

import (
	"context"
	"reflect"

	"belsim/montecarlo/philox"
	"belsim/montecarlo/tables"
	"belsim/theory/decode"
)

// chunkDraws is how many draws a worker holds at once: large enough to
// amortize loops, small enough for the first-level cache.
const chunkDraws = 4096

// worker samples spans on one goroutine. Its zero value is ready to start.
type worker struct {
	problem *Problem
	keys    *philox.Keys
	decoder pointDecoder
	bits    tables.Bits // of the row, where ready
	ready   bool
	alias   aliasTable
	e       []float64

	direct    *directTable // nil until it saves time
	useDirect bool         // direct was made from alias

	reader bitReader
	words  []uint64
	places []uint16
	tally  []uint32 // samples of one point, by bit

	latent *latentSampler // of all kinds but IndependentBits
}

// start makes p the problem of the samples to come.
func (w *worker) start(p *Problem) {
	if w.problem == p {
		return
	}
	old := w.problem
	w.problem, w.ready = p, false
	if old == nil || old.Seed != p.Seed {
		w.keys = philox.NewKeys(p.Seed)
	}
	if p.Kind != IndependentBits {
		w.latent = newLatentSampler(p, w.keys)
		return
	}
	if old != nil && old.Kind == IndependentBits && old.Code == p.Code && same(old.Decoder, p.Decoder) {
		return
	}
	w.latent = nil
	w.bits, w.tally = tables.Bits{}, make([]uint32, p.Code.Bits())
	w.decoder = newPointDecoder(p.Code, p.Decoder)
}

// same reports whether two decoders are equal. Those that cannot be compared, such as
// ones that hold a slice, are not.
func same(a, b decode.Decoder) bool {
	return reflect.ValueOf(a).Comparable() && reflect.ValueOf(b).Comparable() && a == b
}

// directDraws is how many draws must be coming for a direct table to pay.
const directDraws = 1 << 16

// sample adds the samples of a span to s, block by block, and calls done after
// each block. When the context ends s holds whole blocks.
func (w *worker) sample(ctx context.Context, span Span, s *Sums, done func(samples uint64)) error {
	if w.latent != nil {
		return w.latent.sample(ctx, span, s, done)
	}
	if !w.ready || w.bits.Row != span.Row {
		if err := w.prepare(span.Row); err != nil {
			return err
		}
	}
	if !w.useDirect && w.bits.Hazard > 0 && w.alias.drawBits == 16 && w.problem.Code.Bits() <= undecidedPlace &&
		float64(span.Samples)*w.bits.Hazard >= directDraws {
		w.multiply()
	}
	for block := span.Block; span.Samples > 0; block++ {
		n := min(span.Samples, BlockSize)
		var part Sums
		if err := w.block(ctx, span.Row, block, int(n), &part); err != nil {
			return err
		}
		s.Add(part)
		span.Samples -= n
		done(n)
	}
	return nil
}

// prepare makes the tables of a row. The error names an entry that is no probability.
func (w *worker) prepare(row int) error {
	w.ready, w.useDirect = false, false
	var err error
	if w.e, err = w.problem.Row(w.e, row); err != nil {
		return err
	}
	w.bits.Set(row, w.problem.Code.Word(row), w.e)
	if w.bits.Hazard > 0 {
		w.alias.prepare(w.bits.Columns)
	}
	w.decoder.prepare(&w.bits)
	w.ready = true
	return nil
}

// multiply makes the direct table of the row.
func (w *worker) multiply() {
	if w.direct == nil {
		w.direct = new(directTable)
	}
	w.alias.multiply(w.direct)
	w.useDirect = true
}

// block adds the first n ≤ BlockSize samples of a block to s. The number is
// dealt to the groups of the block, so n is part of what decides the samples.
func (w *worker) block(ctx context.Context, row int, block uint32, n int, s *Sums) error {
	within := w.problem.Within
	if w.bits.Hazard == 0 {
		s.tally(w.decoder.undisturbed(), within, uint64(n))
		return nil
	}
	st := stream{w.keys, uint32(row), block}
	w.reader.reset(st, streamCounts)
	return deal(w.bits.Classes, n, &w.reader, func(points, samples int) error {
		switch points {
		case 0:
			s.tally(w.decoder.undisturbed(), within, uint64(samples))
			return nil
		case 1:
			return w.singles(ctx, st, samples, s)
		}
		return w.group(ctx, st, points, samples, s)
	})
}

// singles samples those with one point. There are at most M different ones, so
// each is decoded once.
func (w *worker) singles(ctx context.Context, st stream, samples int, s *Sums) error {
	for at := 0; at < samples; at += chunkDraws {
		if err := ctx.Err(); err != nil {
			return err
		}
		places := w.place(st, 1, at, min(chunkDraws, samples-at))
		for _, p := range places {
			w.tally[p]++
		}
		for _, p := range places {
			if n := w.tally[p]; n > 0 {
				w.tally[p] = 0
				s.tally(w.decoder.single(int(p)), w.problem.Within, uint64(n))
			}
		}
	}
	return nil
}

// group samples those with the given number of points, at least two.
func (w *worker) group(ctx context.Context, st stream, points, samples int, s *Sums) error {
	// A chunk begins on a call boundary: its samples are a multiple of 8, and
	// a call makes 8 or 4 draws.
	chunk := max(chunkDraws/points&^7, 8)
	for at := 0; at < samples; at += chunk {
		if err := ctx.Err(); err != nil {
			return err
		}
		places := w.place(st, points, at*points, points*min(chunk, samples-at))
		w.decoder.add(s, w.problem.Within, places, points)
	}
	return nil
}

// place returns where the draws first … first+n−1 of a group fall; first is a
// multiple of 8.
func (w *worker) place(st stream, points, first, n int) []uint16 {
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
	case w.useDirect:
		t.placeDirect(w.direct, out, w.words[:words], low)
	case t.drawBits == 16:
		t.placeNarrow(out, w.words[:words], low)
	default:
		t.placeWide(out, w.words[:words], low)
	}
	return out[:n]
}
