package assess

import (
	"fmt"
	"math"

	"belsim/theory/base/table"
)

// PerceivedTable has a row for each parameter of the perceived-label model, which must not be nil.
func (f *Fit) PerceivedTable() *table.Table {
	p, from := f.Perceived, "the model's default"
	if p.CutoffFitted {
		from = "fitted"
	}
	return &table.Table{Style: table.List, Rows: [][]string{
		{"label noise s, levels", table.Short(p.Noise), between(p.NoiseInterval), "fitted"},
		{"cutoff κ, cycles over the range", table.Short(p.Cutoff), between(p.CutoffInterval), from},
		{"misfit η, levels", table.Short(p.Misfit), "", "a constant"},
		{"distance of the data", table.Short(p.Distance), "", "in standard deviations of what networks differ from it by"},
	}}
}

// ParameterTable has a row for each parameter of the mixture.
func (f *Fit) ParameterTable() *table.Table {
	wider := func(effect float64) string {
		if table.Missing(effect) {
			return ""
		}
		return fmt.Sprintf("%.2g times as wide as for independent bits", math.Sqrt(effect))
	}
	return &table.Table{Style: table.List, Rows: [][]string{
		{"r", table.Short(f.R), between(f.RInterval), wider(f.DesignEffect[0])},
		{"σ, levels", table.Short(f.Sigma), between(f.SigmaInterval), wider(f.DesignEffect[1])},
	}}
}

// between writes an interval.
func between(i [2]float64) string {
	switch lo, hi := table.Missing(i[0]), table.Missing(i[1]); {
	case lo && hi:
		return ""
	case hi:
		return fmt.Sprintf("from %s", table.Short(i[0]))
	}
	return fmt.Sprintf("%s to %s", table.Short(i[0]), table.Short(i[1]))
}

// DecoderTable has a row for each decoder, in levels.
func (f *Fit) DecoderTable() *table.Table {
	return table.Of(f.Decoders,
		table.Replace("mean", "", func(d DecoderResult) string { return table.PlusMinus(d.Mean, d.StdErr) }),
		table.Replace("observed", "", func(d DecoderResult) string { return table.PlusMinus(d.Observed, d.ObservedStdErr) }))
}

// UnitsTable has a row for each decoder, in label units.
func (f *Fit) UnitsTable() *table.Table {
	type row struct {
		Decoder string `text:"decoder"`
		Outputs string `text:"reads"`
		Units
	}
	var rows []row
	for _, d := range f.Decoders {
		rows = append(rows, row{d.Decoder, d.Outputs, d.LabelUnits})
	}
	return table.Of(rows)
}

// NetworkTable has a row for the networks of each code and training, with their best decoder.
func (f *Fit) NetworkTable() *table.Table {
	var rows []NetworkRow
	for _, r := range f.Networks {
		if r.Best {
			rows = append(rows, r)
		}
	}
	return table.Of(rows, table.Replace("interval", "", func(r NetworkRow) string { return between(r.Interval) }))
}

// Table has a row for each code and training, with the best decoder.
func (r *Recommendation) Table() *table.Table {
	var rows []RankedCode
	for _, c := range r.Ranking {
		if c.Best {
			rows = append(rows, c)
		}
	}
	t := table.Of(rows,
		table.Replace("code", "", func(r RankedCode) string {
			if r.Trained {
				return "yours: " + r.Code
			}
			return r.Code
		}),
		table.Replace("interval", "", func(r RankedCode) string { return between(r.Interval) }),
		table.Replace("tie", "~", func(r RankedCode) string {
			if r.Tie {
				return "~"
			}
			return ""
		}))
	t.Emphasis = []table.Emphasis{table.Best}
	return t
}
