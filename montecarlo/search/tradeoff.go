package search

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"belsim/errmodel/forecast"
	"belsim/errmodel/scenario"
	"belsim/montecarlo"
	"belsim/theory/base/table"
)

// Tradeoff is the trade-off of bits against error: what optimize --pareto writes as JSON.
type Tradeoff struct {
	Levels  int    `json:"levels"`
	Decoder string `json:"decoder"`
	scenario.Parameters
	scenario.Measure
	LabelKind forecast.LabelKind `json:"label_kind"`
	Seed      uint64             `json:"seed"`
	// the best code of each number of bits, the fewest bits first
	Found []*Optimized `json:"found"`
	// a row for each named code of no more bits, the smallest error first
	Baselines []Row `json:"baselines"`
	table.Provenance

	Impossible []error `json:"-"` // of the numbers of bits that are left out
	Stopped    bool    `json:"-"` // the context ended before the last search did
}

// Rows returns the codes that were found, and then the named ones: the rows of the CSV.
func (t *Tradeoff) Rows() []Row {
	var out []Row
	for _, f := range t.Found {
		out = append(out, f.row())
	}
	return append(out, t.Baselines...)
}

// Interrupted returns an error where Stopped is set; else nil.
func (t *Tradeoff) Interrupted() error {
	if !t.Stopped {
		return nil
	}
	return fmt.Errorf("the search ended at %d bits; the best codes so far were written", t.Found[len(t.Found)-1].Bits)
}

// Table has a row for each number of bits, for people.
func (t *Tradeoff) Table() *table.Table {
	more := []string{"± s.e.", "± s.e."}
	if t.Found[0].Interval != nil {
		more = []string{"95 % interval", "95 % interval"}
	}
	out := &table.Table{Head: []string{"bits", "found", more[0], "transitions per bit",
		"best named code of no more bits", more[1], "improvement"}}
	spread := func(e Estimate) string {
		if i := e.Interval; i != nil {
			return table.Short(i[0]) + " to " + table.Short(i[1])
		}
		return table.Short(e.StdErr)
	}
	for _, f := range t.Found {
		name, stderr, better := "–", "–", "–"
		if !table.Missing(f.Improvement) {
			b := f.Baselines[0]
			name, stderr = fmt.Sprintf("%s (%d): %s", b.Code, b.Bits, b.Estimate.text()), spread(b.Estimate)
			better = fmt.Sprintf("%.1f %%", f.Improvement)
		}
		out.Rows = append(out.Rows, []string{strconv.Itoa(f.Bits), f.Estimate.text(), spread(f.Estimate),
			fmt.Sprintf("%.3g", f.Transitions), name, stderr, better})
	}
	return out
}

// Remarks are sentences below the table, for people.
func (t *Tradeoff) Remarks() []string {
	if text := unlearned(t.Found...); text != "" {
		return []string{text}
	}
	return nil
}

// text is the error for people.
func (e Estimate) text() string {
	if e.Interval != nil {
		return table.Short(e.Mean)
	}
	return table.Sampled(e.Mean, e.StdErr, e.samples)
}

// Tradeoff searches for a code of each number of bits, the fewest first, as Find does. Each
// search also begins from the code that was found with fewer bits. Numbers of bits for which
// there is no code are left out. When the context ends after the first code was found, the
// trade-off has the codes until then, and Stopped is set.
func (p *Optimizer) Tradeoff(ctx context.Context, b montecarlo.Backend, bits []int) (*Tradeoff, error) {
	out := &Tradeoff{
		Levels: p.Options.Levels, Decoder: p.decoder, Parameters: p.scenario.Parameters(),
		LabelKind: p.labelKind(), Seed: p.draw.Seed, Measure: p.scenario.Measure(),
	}
	one := *p // each search begins from more codes
	why := errImpossible
	for _, m := range slices.Sorted(slices.Values(bits)) {
		found, err := one.Find(ctx, b, m)
		if errors.Is(err, errImpossible) { // too few bits for the error model
			why = fmt.Errorf("%d bits: %w", m, err)
			out.Impossible = append(out.Impossible, why)
			continue
		}
		if err != nil {
			if out.Stopped = ctx.Err() != nil && len(out.Found) > 0; out.Stopped {
				break
			}
			return nil, err
		}
		if p.Found != nil {
			if err := p.Found(found); err != nil {
				return nil, err
			}
		}
		out.Found = append(out.Found, found)
		one.Options.Also = found.Found
		if out.Stopped = found.Stopped; out.Stopped {
			break
		}
	}
	if len(out.Found) == 0 {
		return nil, fmt.Errorf("no code was found for any of %d numbers of bits: %w", len(bits), why)
	}
	out.Baselines = out.Found[len(out.Found)-1].Baselines
	return out, nil
}
