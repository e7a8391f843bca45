// Package montecarlo samples the outputs of binary classifiers and estimates
// the error of the label decoded from them.
//
// A result depends on the problem, the seed and the number of samples of each
// label, and on nothing else: not on the number of workers, the order of the
// work, or the backend. Random numbers come from a counter-based generator,
// every decision is made in integers, and so are the sums.
package montecarlo

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"

	"gonum.org/v1/gonum/mat"

	"belsim/montecarlo/tables"
	"belsim/theory"
	"belsim/theory/base/matrix"
	"belsim/theory/base/parallel"
	"belsim/theory/code"
	"belsim/theory/cost"
	"belsim/theory/decode"
)

// NumericVersion is the version of all numbers: samples, codes, decoders, error models, bounds and
// exact values. A change of any of them, even by one bit, raises it. Results of different versions
// are never added up.
const NumericVersion = 10

// Problem describes the samples: the classifiers' outputs for every label of a code, read by a
// decoder. See Kind for the law of the outputs.
type Problem struct {
	Code    *code.Code     // L levels, M bits
	Decoder decode.Decoder // fits Code
	// Errors is L × M: e[n,k] is the probability that bit k is wrong when the label is n.
	Errors mat.Matrix
	Kind   Kind
	// Shared is noise that all bits share, so that Errors are given the level at which the bits are
	// read; nil for none. Estimate samples it; a backend does not.
	Shared *theory.Shared
	Seed   uint64
	Cost   cost.Cost
	// Answers asks for Sums.Answers. Costs other than the absolute error ask for them, too. A device
	// has none.
	Answers bool
}

// Span is work that any backend can do on its own: Samples samples of one row,
// in consecutive blocks from Block on. Only its last block may be partly used,
// and a block is always sampled from its beginning.
type Span struct {
	Row     int
	Block   uint32
	Samples uint64
}

// Backend samples problems. Every backend gives the same sums.
type Backend interface {
	// Sample adds the results of a span to sums[span.Row] and calls done, which
	// may be nil and must be safe for concurrent use, with the number of samples
	// finished since the last call. sums has a length of L.
	//
	// When the context ends it stops within a fraction of a second and returns
	// the context's error; the sums then hold whole blocks only.
	Sample(ctx context.Context, p *Problem, spans []Span, sums []Sums, done func(samples uint64)) error
}

// Validate checks what a backend relies on.
func (p *Problem) Validate() error {
	if p.Code == nil || p.Decoder == nil || p.Errors == nil {
		return errors.New("a sampling problem needs a code, a decoder and a table of error probabilities")
	}
	if err := p.Code.CheckTable(p.Errors); err != nil {
		return err
	}
	return p.validateKind()
}

// Row returns e[n,·] of row i (n = i+1) in dst, or in a new slice where dst is too short. The
// error names an entry that is no probability.
func (p *Problem) Row(dst []float64, i int) ([]float64, error) {
	return matrix.Probabilities(dst, i, p.Errors)
}

// BitTables returns what sampling row i takes besides random numbers when its bits err
// independently: what a backend on a device must make to the last bit. The error names
// an entry that is no probability.
func (p *Problem) BitTables(i int) (*tables.Bits, error) {
	if err := p.Validate(); err != nil {
		return nil, err
	}
	e, err := p.Row(nil, i)
	if err != nil {
		return nil, err
	}
	b := new(tables.Bits)
	b.Set(i, p.Code.Word(i), e)
	return b, nil
}

// Prepared checks what a backend is asked for, and returns a copy of the problem with the kind by
// which it is sampled.
func Prepared(p *Problem, spans []Span, sums []Sums) (*Problem, error) {
	if err := p.Validate(); err != nil {
		return nil, err
	}
	levels := p.Code.Levels()
	if len(sums) != levels {
		return nil, fmt.Errorf("sums of %d labels for a code of %d levels", len(sums), levels)
	}
	for _, s := range spans {
		if s.Row < 0 || s.Row >= levels {
			return nil, fmt.Errorf("samples of row %d of a code of %d levels", s.Row, levels)
		}
	}
	prepared := *p
	prepared.Kind = p.sampled()
	return &prepared, nil
}

// MaxSamples is the largest number of samples of one label whose sums are sure to fit their
// integers: the sum of squares grows by at most (2L)² a sample, in units of Sums.Fraction.
func (p *Problem) MaxSamples() uint64 {
	lo, hi := decode.Range(p.Code, p.Decoder)
	worst := uint64(max(hi-1, p.Code.Levels()-lo) + 1)
	// Shifts leave room for Sums.Variance too, whose product of the number and the
	// sum of squares must fit 128 bits with 2^Fraction.
	return min(math.MaxUint64>>p.Fraction()/(worst*worst), BlockSize<<31)
}

// CPU is the backend that runs on goroutines.
type CPU struct {
	Workers int // 0: as many as there are processors
}

var _ Backend = CPU{}

// Sample implements Backend.
func (b CPU) Sample(ctx context.Context, p *Problem, spans []Span, sums []Sums, done func(samples uint64)) error {
	p, err := Prepared(p, spans, sums)
	if err != nil {
		return err
	}
	if done == nil {
		done = func(uint64) {}
	}
	pieces := cut(spans, parallel.Workers(b.Workers))
	var mu sync.Mutex
	return parallel.Each(ctx, b.Workers, len(pieces), func() (func(context.Context, int) error, error) {
		return func(ctx context.Context, i int) error {
			w := idle.Get().(*worker)
			defer idle.Put(w)
			w.start(p)
			s, err := w.sample(ctx, pieces[i], done)
			mu.Lock()
			sums[pieces[i].Row].Add(s)
			mu.Unlock()
			return err
		}, nil
	})
}

// maxPieceBlocks is the largest number of blocks in a piece, so that workers end at about the same
// time. It grows where there would be more than maxPieces.
const (
	maxPieceBlocks = 256
	maxPieces      = 1 << 20
)

// cut cuts spans into pieces of whole blocks. A worker prepares a row once a piece, so pieces are
// as long as keeps all workers busy.
func cut(spans []Span, workers int) []Span {
	var samples uint64
	for _, s := range spans {
		samples += s.Samples
	}
	blocks := samples / BlockSize
	length := BlockSize * max(1, min(blocks/uint64(16*workers), maxPieceBlocks), blocks/maxPieces)
	var out []Span
	for _, s := range spans {
		for skip := uint64(0); skip < s.Samples; skip += length {
			out = append(out, Span{s.Row, s.Block + uint32(skip/BlockSize), min(length, s.Samples-skip)})
		}
	}
	return out
}
