package assess

import (
	"fmt"
	"math"

	"belsim/errmodel/forecast"
	"belsim/errmodel/scenario"
	"belsim/theory/base/position"
	"belsim/theory/base/table"
)

// Several are the fits of a network of several outputs, such as the angles of a head pose.
type Several struct {
	// the verdict for all outputs, in sentences
	Verdict []string `json:"verdict"`
	// the error of points, of which outputs 2k−1 and 2k are x and y; only where targets are called
	// points
	Points *Points `json:"points,omitempty"`
	// a row for each output
	Rows []OutputRow `json:"rows"`
	// codes by the mean of their forecasts over the outputs, and one decision for the network; only
	// where asked for
	Recommendation *Recommendation `json:"recommendation,omitempty"`
	// the fit of each output
	Outputs []*Fit `json:"outputs"`
}

// OutputRow is one output of a network.
type OutputRow struct {
	// output, from 1
	Output int `json:"output" text:"output"`
	scenario.Design
	// observed mean |answer − target| of this decoder, in the unit of the targets
	Error     float64 `json:"error" text:"|error|"`
	Noise     float64 `json:"label_noise" text:"s, levels"`
	Describes bool    `json:"describes"`
}

// NewSeveral collects the reports of the outputs, in order.
func NewSeveral(reports []*Report) *Several {
	out, first := &Several{}, reports[0].Fit
	described, sum := 0, 0.0
	var warnings []string
	for i, r := range reports {
		f := r.Fit
		row := OutputRow{Output: i + 1, Error: math.NaN(), Noise: math.NaN()}
		if best := bestDecoder(f.Decoders); best >= 0 {
			d := f.Decoders[best]
			row.Design, row.Error = d.Design, d.Observed
		}
		if p := f.Perceived; p != nil {
			row.Noise, row.Describes = p.Noise, p.Describes
		}
		if row.Describes {
			described++
		}
		if x := r.network.misread; x != nil {
			warnings = append(warnings, fmt.Sprintf("Output %s: %s. Next: %s.", position.At(i+1), x.Text, x.Mend))
		}
		if d := f.Direct; d != nil && d.Warning != "" {
			warnings = append(warnings, fmt.Sprintf("Output %s: %s", position.At(i+1), f.directText()))
		}
		sum += row.Error / float64(len(reports))
		out.Rows, out.Outputs = append(out.Rows, row), append(out.Outputs, f)
	}
	which, next := fmt.Sprintf("%d of the %d outputs", described, len(reports)), string(ForecastCodes)+"."
	switch described {
	case len(reports):
		which = "each output"
	case 0:
		which, next = "none of the outputs", easyToLearn
	}
	out.recommend(reports)
	if rec := out.Recommendation; rec != nil && rec.Decision != nil {
		next = decisionText(rec.Decision, nil, first.Code)
	}
	opening := fmt.Sprintf("The network has %d outputs. With their best decoders, they are wrong by %s%s on average.",
		len(reports), table.Short(sum), first.unit())
	out.Verdict = sentences(append(append([]string{opening}, warnings...),
		"One noisy label for all bits describes "+which+".", "Next: "+next)...)
	return out
}

// recommend ranks codes for all outputs, where each output has a ranking.
func (s *Several) recommend(reports []*Report) {
	var outputs [][]forecast.Forecast
	var units []float64
	ended := true
	for _, r := range reports {
		if r.ranked == nil {
			return
		}
		ended = ended && r.Fit.Recommendation.Decision.Ended
		outputs, units = append(outputs, r.ranked), append(units, r.Fit.LevelWidth)
	}
	all := forecast.MeanOfOutputs(outputs, units,
		func(k int, x *forecast.Forecast) bool { return reports[k].network.owns(x) })
	s.Recommendation = newRecommendation(all, 1, reports[0].network, ended,
		[]string{"Errors are means over the outputs, each read as it is read best."})
}
