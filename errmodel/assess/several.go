package assess

import (
	"fmt"
	"math"
	"strings"

	"belsim/errmodel/scenario"
	"belsim/theory/base/position"
	"belsim/theory/base/table"
)

// Several are the fits of a network of several outputs, such as the angles of a head pose.
type Several struct {
	// the verdict for all outputs, in sentences
	Verdict []string `json:"verdict"`
	// a row for each output
	Rows []OutputRow `json:"rows"`
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
	described, sum, alike := 0, 0.0, true
	var warnings, steps, errors []string
	for i, r := range reports {
		f := r.Fit
		row := OutputRow{Output: i + 1, Error: math.NaN()}
		if best := bestDecoder(f.Decoders); best >= 0 {
			d := f.Decoders[best]
			row.Design, row.Error = d.Design, d.Observed
		}
		row.Noise, row.Describes = f.Perceived.Noise, f.Perceived.Describes
		if row.Describes {
			described++
		}
		if x := r.network.misread; x != nil {
			warnings = append(warnings, fmt.Sprintf("Output %s: %s. Next: %s.", position.At(i+1), x.Text, x.Mend))
		}
		if d := f.Direct; d != nil && d.Warning != "" {
			warnings = append(warnings, fmt.Sprintf("Output %s: %s", position.At(i+1), f.directText()))
		}
		if f.Recommendation != nil {
			steps = append(steps, fmt.Sprintf("output %s: %s", position.At(i+1), f.next()))
		}
		sum += row.Error / float64(len(reports))
		errors = append(errors, table.Short(row.Error))
		alike = alike && (f.Range == first.Range || f.Range != nil && first.Range != nil && *f.Range == *first.Range)
		out.Rows, out.Outputs = append(out.Rows, row), append(out.Outputs, f)
	}
	which, next := fmt.Sprintf("%d of the %d outputs", described, len(reports)), forecastCodes()
	switch described {
	case len(reports):
		which = "each output"
	case 0:
		which, next = "none of the outputs", easyToLearn
	}
	if len(steps) > 0 {
		next = strings.Join(steps, " ")
	}
	by := table.Short(sum) + first.unit()
	if !alike { // which an average of different units would hide
		by = strings.Join(errors, ", ")
	}
	opening := fmt.Sprintf("The network has %d outputs. With their best decoders, they are wrong by %s on average.",
		len(reports), by)
	out.Verdict = sentences(append(append([]string{opening}, warnings...),
		"One noisy label describes "+which+".", "Next: "+next)...)
	return out
}
