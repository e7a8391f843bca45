package assess

import (
	"math"

	"belsim/errmodel/observed"
	"belsim/errmodel/scenario"
	"belsim/theory/decode"
)

// DecoderRow is the mean |answer − target| of one decoder, in the unit of the targets.
type DecoderRow struct {
	scenario.Design
	Observed float64 `json:"observed" text:"observed"`
	StdErr   float64 `json:"observed_stderr"`
	// mean answer − target, in the unit of the targets; null for a fitted decoder
	Bias float64 `json:"bias"`
	// standard error of bias
	BiasStdErr float64 `json:"bias_stderr"`
	// of the line of least squares, target = offset + slope·answer; null for a fitted decoder
	Offset float64 `json:"offset"`
	// of the same line
	Slope float64 `json:"slope"`
}

// decoderRows are the rows of all decoders, that of a fitted one last.
func (n *network) decoderRows() []DecoderRow {
	out, width := []DecoderRow{}, n.width()
	add := func(d scenario.Design, e observed.Error, l observed.Line) {
		at := n.source.Labels.Label
		out = append(out, DecoderRow{Design: d, Observed: e.Mean, StdErr: e.StdErr, Bias: width * l.Bias.Mean,
			BiasStdErr: width * l.Bias.StdErr, Offset: at(l.Offset+l.Slope) - l.Slope*at(1), Slope: l.Slope})
	}
	for i, d := range n.decodings {
		add(n.design(d), n.seen.Labels[i].Times(width), n.seen.Lines[i])
	}
	if r := n.fitted; r != nil {
		none, d := math.NaN(), n.design(r.Baseline)
		d.Decoder, d.Outputs = fittedName, decode.Logits
		add(d, observed.Error{Mean: r.Error, StdErr: r.StdErr},
			observed.Line{Bias: observed.Error{Mean: none, StdErr: none}, Offset: none, Slope: none})
	}
	return out
}

// plainRows are the rows without that of the fitted decoder, which no decoder of the code is.
func plainRows(rows []DecoderRow) []DecoderRow {
	if last := len(rows) - 1; last >= 0 && rows[last].Decoder == fittedName {
		return rows[:last]
	}
	return rows
}

// bestDecoder is the decoder with the smallest observed error against the target, or −1.
func bestDecoder(rows []DecoderRow) int {
	return leastOf(plainRows(rows), func(d DecoderRow) float64 { return d.Observed })
}

// leastError is the first of the smallest errors, or −1.
func leastError(errors []observed.Error) int {
	return leastOf(errors, func(e observed.Error) float64 { return e.Mean })
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
