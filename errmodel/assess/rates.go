package assess

import (
	"io"
	"math"

	"belsim/errmodel"
	"belsim/theory/base/matrix"
	"belsim/theory/base/table"
)

// Rate is the error rate of one bit at one level: a row of the CSV of a fit.
type Rate struct {
	Level int `json:"level"`
	Bit   int `json:"bit"`
	// the bit of the level's code word, 0 or 1
	Target  int    `json:"target"`
	Samples uint64 `json:"samples"`
	// samples of the level whose bit is wrong
	Wrong uint64 `json:"wrong"`
	// wrong over samples; empty where the level has no samples
	Rate float64 `json:"rate"`
	// lower end of the interval of rate (Wilson)
	Lo float64 `json:"lo"`
	// upper end of the interval of rate (Wilson)
	Hi float64 `json:"hi"`
	// error probability of the fitted mixture; the observed rate of a bit that is set aside
	Fitted float64 `json:"fitted"`
}

// WriteRates writes the observed error rate of every level and bit as CSV, a Rate for each.
func (r *Report) WriteRates(w io.Writer) error {
	c, counts := r.network.code, r.network.seen.Counts
	return table.WriteCSVSeq(w, func(yield func(Rate) bool) {
		var fitted []float64
		for i, n := range counts.Samples {
			fitted = matrix.Row(fitted, i, r.mixture.errors)
			for k, x := range counts.Row(i) {
				rate := Rate{Level: i + 1, Bit: k + 1, Samples: n, Wrong: x, Rate: math.NaN(), Lo: math.NaN(),
					Hi: math.NaN(), Fitted: fitted[k]}
				if c.Bit(i, k) {
					rate.Target = 1
				}
				if n > 0 {
					lo, hi := errmodel.RateInterval(float64(x), float64(n))
					rate.Rate, rate.Lo, rate.Hi = float64(x)/float64(n), lo, hi
				}
				if !yield(rate) {
					return
				}
			}
		}
	})
}
