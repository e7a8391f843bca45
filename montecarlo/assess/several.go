package assess

import (
	"fmt"
	"math"

	"belsim/montecarlo/forecast"
	"belsim/theory/base/table"
)

// Several are the fits of a network of several outputs, such as the angles of a head pose.
type Several struct {
	Verdict        []string        `json:"verdict" doc:"the verdict for all outputs, in sentences"`
	Rows           []OutputRow     `json:"rows" doc:"a row for each output"`
	Recommendation *Recommendation `json:"recommendation,omitempty" doc:"codes by the mean of their forecasts over the outputs, in the unit of the targets, and one decision for the network; only where asked for"`
	Outputs        []*Fit          `json:"outputs" doc:"the fit of each output"`
}

// OutputRow is one output of a network.
type OutputRow struct {
	Output    int     `json:"output" text:"output" doc:"output, from 1"`
	Code      string  `json:"code" text:"code" doc:"shared"`
	Levels    int     `json:"levels" text:"levels" doc:"shared"`
	Decoder   string  `json:"decoder" text:"best decoder" doc:"shared"`
	Reads     string  `json:"reads" text:"reads" doc:"shared"`
	Error     float64 `json:"error" text:"|error|" doc:"observed mean |answer − target| of this decoder, in the unit of the targets"`
	Noise     float64 `json:"label_noise" text:"s, levels" doc:"shared"`
	Describes bool    `json:"describes" doc:"shared"`
}

// NewSeveral collects the reports of the outputs, in order.
func NewSeveral(reports []*Report) *Several {
	out := &Several{}
	described, sum := 0, 0.0
	unit := " levels"
	var warnings []string
	for i, r := range reports {
		f := r.Fit
		row := OutputRow{Output: i + 1, Code: f.Code, Levels: f.Levels, Error: math.NaN(), Noise: math.NaN()}
		if best := f.bestDecoder(); best >= 0 {
			d := f.Decoders[best]
			row.Decoder, row.Reads, row.Error = d.Decoder, d.Outputs, d.Observed
		}
		if p := f.Perceived; p != nil {
			row.Noise, row.Describes = p.Noise, p.Describes
		}
		if row.Describes {
			described++
		}
		if f.Range != nil {
			unit = ""
		}
		if n := r.network; n.warning != "" {
			warnings = append(warnings, fmt.Sprintf("Output %d: %s. Next: %s.", i+1, n.warning, n.remedy))
		}
		if text := f.directText(); text != "" {
			warnings = append(warnings, fmt.Sprintf("Output %d: %s", i+1, text))
		}
		sum += row.Error / float64(len(reports))
		out.Rows, out.Outputs = append(out.Rows, row), append(out.Outputs, f)
	}
	which, next := fmt.Sprintf("%d of the %d outputs", described, len(reports)), string(ForecastCodes)+"."
	switch described {
	case len(reports):
		which = "each output"
	case 0:
		which, next = "none of the outputs", "train a network with a code that is easy to learn, such as unary or johnson."
	}
	out.recommend(reports)
	if rec := out.Recommendation; rec != nil && rec.Decision != nil {
		next = decisionText(rec.Decision, nil, reports[0].Fit.called())
	}
	out.Verdict = append([]string{fmt.Sprintf("The network has %d outputs. With the best decoder of each, they are wrong by %s%s on average.",
		len(reports), table.Short(sum), unit)}, warnings...)
	out.Verdict = append(out.Verdict, "One noisy label for all bits describes "+which+".", "Next: "+next)
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
	all := forecast.Together(outputs, units,
		func(k int, x *forecast.Forecast) bool { return reports[k].network.owns(x) })
	first := reports[0].network
	rec := &Recommendation{Ranking: forecast.Rows(all, func(int) float64 { return 1 })}
	for i := range all {
		rec.Ranking[i].Trained = first.owns(&all[i]) && all[i].Measured
	}
	rec.Notes = []string{"Errors are means over the outputs, each read as it is read best. The ranking of each output is in the JSON and on the page."}
	if text := forecast.Cheapest(rec.Ranking); text != "" {
		rec.Notes = append(rec.Notes, text)
	}
	s.Recommendation = rec
	rec.Decision = decide(first, ended, all)
}

// bestDecoder is the decoder with the smallest observed error against the target, or −1.
func (f *Fit) bestDecoder() int {
	return leastOf(f.Decoders, func(d DecoderResult) float64 { return d.Observed })
}

// leastOf is the first row with the smallest number, or −1.
func leastOf[R any](rows []R, number func(R) float64) int {
	least := -1
	for i, r := range rows {
		if least < 0 || number(r) < number(rows[least]) {
			least = i
		}
	}
	return least
}
