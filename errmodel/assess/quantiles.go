package assess

import (
	"fmt"

	"belsim/errmodel/observed"
	"belsim/errmodel/scenario"
	"belsim/theory/base/table"
)

// ErrorQuantiles tell how the errors of the best decoder spread.
type ErrorQuantiles struct {
	scenario.Design
	Quantiles
	// a row for each level; neighbours share one below 100 samples, or above 64 levels
	Rows []LevelQuantiles `json:"rows"`
}

// LevelQuantiles are the quantiles of neighbouring levels.
type LevelQuantiles struct {
	From int `json:"level"`
	// the last level of its row
	To      int    `json:"last_level"`
	Samples uint64 `json:"samples"`
	Quantiles
}

// Quantiles are those of |decoded − target| of some samples.
type Quantiles struct {
	Median float64 `json:"median"`
	P90    float64 `json:"p90"`
	P99    float64 `json:"p99"`
}

// quantilesOf are in units of which a level has so many.
func quantilesOf(s *observed.Spread, width float64) Quantiles {
	return Quantiles{width * s.Quantile(0.5), width * s.Quantile(0.9), width * s.Quantile(0.99)}
}

// errorQuantiles are those of the best decoder; nil where no decoder fits the code.
func errorQuantiles(n *network) *ErrorQuantiles {
	best := leastError(n.seen.Labels)
	if best < 0 {
		return nil
	}
	levels := n.code.Levels()
	width := observed.SpreadWidth(levels)
	out := &ErrorQuantiles{Design: n.design(n.decodings[best]), Rows: []LevelQuantiles{}}
	var all observed.Spread
	spreads, counts := n.seen.Spreads[best], []uint64{}
	for i := range spreads {
		all.Merge(&spreads[i])
		counts = append(counts, spreads[i].Samples())
	}
	for from, to := range observed.Groups(counts) {
		var some observed.Spread
		for i := from; i < to; i++ {
			some.Merge(&spreads[i])
		}
		out.Rows = append(out.Rows, LevelQuantiles{from*width + 1, min(to*width, levels), some.Samples(),
			quantilesOf(&some, n.width())})
	}
	out.Quantiles = quantilesOf(&all, n.width())
	return out
}

// Text says the quantiles of all samples of a fit.
func (q *ErrorQuantiles) Text(f *Fit) string {
	return fmt.Sprintf("With %s on %s, half of the samples are wrong by at most %s, 90 %% by at most %s, "+
		"and 99 %% by at most %s%s.",
		q.Decoder, q.Outputs, table.Short(q.Median), table.Short(q.P90), table.Short(q.P99), f.unit())
}
