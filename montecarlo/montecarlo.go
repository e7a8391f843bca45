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
	"runtime"
	"sort"
	"sync"
	"sync/atomic"

	"golang.org/x/sync/errgroup"
	"gonum.org/v1/gonum/mat"

	"belsim/theory/code"
	"belsim/theory/decode"
)

// Problem is what is sampled: the classifiers' outputs for every label of a
// code, read by a decoder.
type Problem struct {
	Code    *code.Code     // L levels, M bits
	Decoder decode.Decoder // fits Code
	Errors  mat.Matrix     // L × M, e[n,k]: probability that bit k is wrong when the label is n
	Seed    uint64
	Within  int // θ: errors of at most θ levels are counted in Sums.Within
}

// Span is work that any backend can do on its own: Samples samples of one row,
// in consecutive blocks from Block on. Only its last block may be partly used,
// and a block is always sampled from its beginning.
type Span struct {
	Row     int
	Block   uint32
	Samples uint64
}

// Backend samples spans. Every backend gives the same sums.
type Backend interface {
	// Sample adds the results of each span to sums[span.Row] and calls done,
	// which may be nil and must be safe for concurrent use, with the number
	// of samples finished since the last call. When the context ends it stops
	// within a fraction of a second and returns the context's error; sums
	// then hold whole blocks only.
	Sample(ctx context.Context, p *Problem, spans []Span, sums []Sums, done func(samples uint64)) error
}

// Validate checks what a backend relies on.
func (p *Problem) Validate() error {
	if p.Code == nil || p.Decoder == nil || p.Errors == nil {
		return errors.New("a sampling problem needs a code, a decoder and a table of error probabilities")
	}
	if r, c := p.Errors.Dims(); r != p.Code.Levels() || c != p.Code.Bits() {
		return fmt.Errorf("table of error probabilities is %d × %d, but %s has %d levels and %d bits",
			r, c, p.Code.Name(), p.Code.Levels(), p.Code.Bits())
	}
	if p.Within < 0 {
		return fmt.Errorf("θ = %d levels: want 0 or more", p.Within)
	}
	return nil
}

// MaxSamples is the largest number of samples of one label whose sums are sure
// to fit their integers: the sum of squares grows by at most (2L)² a sample.
func (p *Problem) MaxSamples() uint64 {
	lo, hi := p.Decoder.Range()
	worst := uint64(max(hi-1, p.Code.Levels()-lo))
	return min(math.MaxUint64/max(worst*worst, 1), BlockSize<<31)
}

// CPU is the backend that runs on goroutines.
type CPU struct {
	Workers int // 0: as many as there are processors
}

var _ Backend = CPU{}

// Sample implements Backend.
func (b CPU) Sample(ctx context.Context, p *Problem, spans []Span, sums []Sums, done func(samples uint64)) error {
	if err := p.Validate(); err != nil {
		return err
	}
	keys := newRoundKeys(p.Seed)
	workers := b.Workers
	if workers <= 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	if done == nil {
		done = func(uint64) {}
	}
	work := newPieces(spans, workers)
	workers = max(1, min(workers, work.total))

	var next atomic.Int64
	var mu sync.Mutex
	g, ctx := errgroup.WithContext(ctx)
	for range workers {
		g.Go(func() error {
			w, err := newWorker(p, keys)
			if err != nil {
				return err
			}
			for {
				i := int(next.Add(1)) - 1
				if i >= work.total {
					return nil
				}
				span := work.piece(i)
				var s Sums
				err := w.sample(ctx, span, &s, done)
				mu.Lock()
				sums[span.Row].Add(s)
				mu.Unlock()
				if err != nil {
					return err
				}
			}
		})
	}
	return g.Wait()
}

// pieces cuts spans into pieces of whole blocks without listing them, since
// their number grows with that of the samples. A worker prepares a row once a
// piece, so pieces are as long as keeps all workers busy.
type pieces struct {
	spans  []Span
	length uint64 // samples of a piece, a multiple of BlockSize
	ends   []int  // ends[i]: number of pieces of spans 0 … i
	total  int
}

func newPieces(spans []Span, workers int) *pieces {
	var samples uint64
	for _, s := range spans {
		samples += s.Samples
	}
	blocks := samples / BlockSize / uint64(16*workers)
	p := &pieces{spans: spans, length: BlockSize * min(max(blocks, 1), 256), ends: make([]int, len(spans))}
	for i, s := range spans {
		p.total += int((s.Samples + p.length - 1) / p.length)
		p.ends[i] = p.total
	}
	return p
}

// piece returns piece i.
func (p *pieces) piece(i int) Span {
	at := sort.SearchInts(p.ends, i+1)
	s := p.spans[at]
	if at > 0 {
		i -= p.ends[at-1]
	}
	skip := uint64(i) * p.length
	return Span{s.Row, s.Block + uint32(skip/BlockSize), min(p.length, s.Samples-skip)}
}
