package paper

import (
	"context"
	"errors"
	"io"
	"math"

	"belsim/errmodel/scenario"
	"belsim/montecarlo"
	"belsim/montecarlo/compare"
	"belsim/montecarlo/search"
	"belsim/plots"
	"belsim/theory/base/table"
	"belsim/theory/code"
	"belsim/theory/decode"
	"belsim/theory/expect"
)

// LimitRow is a row of the CSV of the figure of the limit.
type LimitRow struct {
	Bits int `json:"bits"`
	// no code of as many bits has less, and no decoder; and the same for codes of at most 8 transitions a bit
	Limit      float64 `json:"limit"`
	LimitEight float64 `json:"limit_eight"`
	// the smallest error of a named code of no more bits, read by the best decoder
	Named float64 `json:"named"`
	// error of the code that optimize finds, read by the best decoder
	Found float64 `json:"found"`
}

// limits draws the limit over the bits of 64 levels, with the best named codes and those that a search finds.
func limits(quick bool) func(style plots.Style) (*plots.Figure, WriteCSV, error) {
	return func(style plots.Style) (*plots.Figure, WriteCSV, error) {
		const levels = 64
		at, steps := []int{6, 7, 8, 10, 12, 14, 16}, uint64(8000)
		if quick {
			at, steps = []int{6, 10}, 500
		}
		ctx, s, draw := context.Background(), scenario.New(scenario.Mixture{R: 0.6, Sigma: 1.5}), montecarlo.DefaultSampling()
		least := func(codes ...*code.Code) (float64, error) {
			candidates, err := compare.NewCandidates(ctx, s, codes, []string{decode.Best}, draw)
			if err != nil {
				return 0, err
			}
			candidates.Skip = expect.Skip{Bounds: true, AnyLaw: true, Limit: true}
			ranking, err := compare.Rank(ctx, s, montecarlo.Run{Backend: montecarlo.CPU{}}, candidates, draw)
			if err != nil {
				return 0, err
			}
			best := math.Inf(1)
			for _, r := range ranking.Results {
				best = min(best, r.Best())
			}
			return best, nil
		}
		d := plots.LinesData{Title: "64 levels, r = 0.6, σ = 1.5", XLabel: "bits", YLabel: "mean |error| (levels)", Style: style}
		var rows []LimitRow
		for _, bits := range at {
			row := LimitRow{Bits: bits}
			var named []*code.Code
			for _, f := range code.Families() {
				if c, err := code.New(f.Name, levels); err == nil && c.Bits() <= bits {
					named = append(named, c)
				}
			}
			x, err := search.NewOptimizer(s, draw, search.Options{Levels: levels, Bits: bits, Steps: steps})
			if err != nil {
				return nil, nil, err
			}
			found, err := x.Find(ctx, func(uint64, float64) {})
			if err != nil {
				return nil, nil, err
			}
			var errs [3]error
			row.Limit = found.Limit
			row.LimitEight, errs[0] = s.Limit(ctx, levels, bits, 8, false, quick)
			row.LimitEight = max(row.LimitEight, row.Limit) // of fewer codes
			row.Named, errs[1] = least(named...)
			row.Found, errs[2] = least(found.Found)
			if err := errors.Join(errs[:]...); err != nil {
				return nil, nil, err
			}
			rows, d.Level = append(rows, row), append(d.Level, float64(bits))
		}
		d.Lines = []plots.NamedLine{{Name: "best named code"}, {Name: "found"}, {Name: "limit, 8 transitions"}, {Name: "limit"}}
		for _, r := range rows {
			for i, v := range []float64{r.Named, r.Found, r.LimitEight, r.Limit} {
				d.Lines[i].Values = append(d.Lines[i].Values, v)
			}
		}
		drawn, err := plots.Lines(d)
		return drawn, func(w io.Writer) error { return table.WriteCSV(w, rows) }, err
	}
}
