package montecarlo

import (
	"cmp"
	"context"
	"math"
	"slices"

	"belsim/montecarlo/tables"
	"belsim/theory/base/philox"
)

// mostParts limits the spans that are held at once.
const mostParts = 1 << 20

// draw samples spans with a backend. With shared noise each block's samples are dealt to the
// offsets by a multinomial draw from a stream of the block's own, and those of an offset are
// samples of independent bits, with a seed of their own: any backend makes them.
func (e *estimation) draw(ctx context.Context, spans []Span, sums []Sums) error {
	p := e.problem
	if p.Shared == nil {
		return e.backend.Sample(ctx, p, spans, sums, e.done)
	}
	keys, classes := philox.NewKeys(p.Seed), offsetClasses(p.Shared.Weights)
	parts, count := make([][]Span, len(classes)), 0
	flush := func() error {
		for j, of := range parts {
			if len(of) == 0 {
				continue
			}
			given := *p
			x := philox.Call(keys, philox.Counter{uint32(p.Shared.Offsets[j]), streamOffsetSeed, 0, 0})
			given.Shared, given.Seed = nil, uint64(x[0])|uint64(x[1])<<32
			given.Errors = p.Shared.Given(j, p.Code, p.Errors)
			if err := e.backend.Sample(ctx, &given, of, sums, e.done); err != nil {
				return err
			}
			parts[j] = parts[j][:0]
		}
		count = 0
		return nil
	}
	var r bitReader
	for _, span := range spans {
		for block := span.Block; span.Samples > 0; block++ {
			n := min(span.Samples, BlockSize)
			span.Samples -= n
			r.reset(stream{keys, uint32(span.Row), block}, streamOffsets)
			if err := deal(classes, int(n), &r, func(j, samples int) error {
				parts[j] = append(parts[j], Span{span.Row, block, uint64(samples)})
				count++
				return nil
			}); err != nil {
				return err
			}
			if count > mostParts {
				if err := flush(); err != nil {
					return err
				}
			}
		}
	}
	return flush()
}

// offsetClasses are the offsets, by index, for deal: the likeliest first.
func offsetClasses(weights []float64) []tables.Class {
	order, rest := make([]int, len(weights)), 0.0
	for j := range order {
		order[j] = j
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(weights[b], weights[a]) })
	out := make([]tables.Class, len(weights))
	for at, j := range slices.Backward(order) { // the smallest first, so that sums are accurate
		rest += weights[j]
		share := weights[j] / rest
		out[at] = tables.Class{Points: j, Share: math.MaxUint64}
		if share < 1 {
			out[at].Share = uint64(math.Ldexp(share, 64))
		}
	}
	return out
}
