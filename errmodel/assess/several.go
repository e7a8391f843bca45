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
	Error float64 `json:"error" text:"|error|"`
}

// NewSeveral collects the reports of the outputs, in order.
func NewSeveral(reports []*Report) *Several {
	out, first := &Several{}, reports[0].Fit
	sum, alike := 0.0, true
	var warnings, errors []string
	for i, r := range reports {
		f := r.Fit
		row := OutputRow{Output: i + 1, Error: math.NaN()}
		if best := bestDecoder(f.Decoders); best >= 0 {
			d := f.Decoders[best]
			row.Design, row.Error = d.Design, d.Observed
		}
		if x := r.network.misread; x != nil {
			warnings = append(warnings, fmt.Sprintf("Output %s: %s. Next: %s.", position.At(i+1), x.Text, x.Mend))
		}
		if d := f.Direct; d != nil && d.Warning != "" {
			warnings = append(warnings, fmt.Sprintf("Output %s: %s", position.At(i+1), f.directText()))
		}
		sum += row.Error / float64(len(reports))
		errors = append(errors, table.Short(row.Error))
		alike = alike && (f.Range == first.Range || f.Range != nil && first.Range != nil && *f.Range == *first.Range)
		out.Rows, out.Outputs = append(out.Rows, row), append(out.Outputs, f)
	}
	by := table.Short(sum) + first.unit()
	if !alike { // which an average of different units would hide
		by = strings.Join(errors, ", ")
	}
	opening := fmt.Sprintf("The network has %d outputs. With their best decoders, they are wrong by %s on average.",
		len(reports), by)
	out.Verdict = append([]string{opening}, warnings...)
	return out
}
