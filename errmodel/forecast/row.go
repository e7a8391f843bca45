package forecast

import (
	"fmt"
	"math"
	"slices"

	"belsim/errmodel/observed"
	"belsim/errmodel/perceived"
	"belsim/errmodel/scenario"
	"belsim/theory/base/table"
	"belsim/theory/code"
	"belsim/theory/decode"
)

// Row is the forecast of a network and what reads it: a row of every ranking. Errors are mean
// |answer − label|, in the unit of the ranking.
type Row struct {
	scenario.Design
	// expected mean |answer − label| of such a network, or the measured one
	Forecast float64 `json:"forecast"`
	// interval of the error of one trained network
	Interval [2]float64 `json:"interval"`
	// forecast over the smallest measured error, or else over that of the first row
	Ratio float64 `json:"ratio"`
	// interval of ratio, for one trained network
	RatioCI [2]float64 `json:"ratio_interval" csv:"-"`
	// probability that the error is smaller than the one that the ranking is relative to
	Better float64 `json:"better"`
	// the error was measured: the network is one of those given
	Measured bool `json:"measured"`
	// the smallest forecast of this number of levels, code and training
	Best bool `json:"best"`
	// the first network given was trained with this code, and for this
	Trained bool `json:"trained"`
	// the forecast is at most 2 % above the smallest one of the ranking
	Near bool `json:"near"`
	// tables and pictures have the row: it is best; soft targets of a code also need a decision, a
	// measurement, or a difference from CE of 0.01
	Shown bool `json:"shown"`
}

// DesignOf is the design of a code after a training, and of what reads its outputs. A head has its
// own name, and direct regression its own decoder: the prediction, or the level nearest to it.
func DesignOf(c *code.Code, t perceived.Training, d observed.Decoding) scenario.Design {
	out := scenario.Design{Levels: c.Levels(), Code: Called(c.Name(), t), Bits: c.Bits(), Transitions: c.TransitionsPerBit(),
		Training: t, Decoder: d.Decoder.Name(), Outputs: decode.Outputs(d.Outputs())}
	if out.Code == Direct {
		out.Bits, out.Transitions, out.Training = 1, 0, perceived.L1
		if !d.Predicts() {
			out.Decoder = "nearest"
		}
		out.Outputs = decode.Outputs(observed.Prediction().Outputs())
	}
	return out
}

// Design is the design of the forecast network.
func (x *Forecast) Design() scenario.Design { return DesignOf(x.Code, x.Training, x.Decoding) }

func (x *Forecast) row(unit float64) Row {
	return Row{
		Design: x.Design(), Forecast: unit * x.Error, Interval: [2]float64{unit * x.Lo, unit * x.Hi},
		Ratio: x.Ratio, RatioCI: [2]float64{x.RatioLo, x.RatioHi}, Better: x.Better, Measured: x.Measured,
	}
}

// Rows are the rows of forecasts that are sorted, in a unit of which their own unit has so many.
func Rows(all []Forecast, unit float64) []Row {
	out, seen := make([]Row, len(all)), map[scenario.Design]bool{}
	for i := range all {
		x := all[i].row(unit)
		x.Best, x.Near = !seen[x.Head()], i == 0 || x.Forecast <= (1+Worthwhile)*out[0].Forecast
		x.Shown = x.Best // but for what a recommendation leaves out
		out[i], seen[x.Head()] = x, true
	}
	return out
}

// Name is what people call the code after its training, and whether it was trained.
func (r Row) Name() string {
	switch {
	case r.Trained:
		return "yours: " + r.Code
	case r.Measured:
		return "measured: " + r.Code
	}
	return r.Code
}

// RelateTo makes ratios and better those to a forecast, of rows of other forecasts.
func RelateTo(rows []Row, all []Forecast, to Forecast) {
	for i := range rows {
		r := &rows[i]
		x := &all[i]
		same := x.Code == to.Code && x.Training == to.Training && SameReading(x.Decoding, to.Decoding)
		if r.Ratio, r.RatioCI, r.Better = x.Over(to); same {
			r.RatioCI, r.Better = [2]float64{1, 1}, 0
		}
	}
}

// compared reports whether a row is compared with another one, and is not what ratios are to.
func (r Row) compared() bool { return r.RatioCI != [2]float64{1, 1} && !(r.Trained && r.Measured) }

// Cheapest says which row that is near the smallest one has the fewest outputs: fewer than the
// network that was given, or else than the first row. It is "" where none has.
func Cheapest(rows []Row) string {
	least, than := -1, slices.IndexFunc(rows, func(r Row) bool { return r.Trained && r.Measured && r.Best })
	keep := than >= 0 && rows[than].Near
	if than = max(than, 0); len(rows) == 0 {
		return ""
	}
	for i, r := range rows {
		if r.Near && r.Code != Direct && r.Bits < rows[than].Bits &&
			(least < 0 || r.Bits < rows[least].Bits) {
			least = i
		}
	}
	if least < 0 {
		return ""
	}
	first, r := rows[than], rows[least]
	name, other := r.Code, first.Code
	if r.Levels != first.Levels {
		name = fmt.Sprintf("%s with %d levels", name, r.Levels)
	}
	if keep {
		return fmt.Sprintf("Within %.0f %% of the smallest forecast: keep %s, or take %s with %d outputs for %d.",
			100*Worthwhile, other, name, r.Bits, first.Bits)
	}
	return fmt.Sprintf("Within %.0f %% of the smallest forecast, %s has the fewest outputs: %d for %d of %s.",
		100*Worthwhile, name, r.Bits, first.Bits, other)
}

// The columns of errors, and of the probability that a row is better than what ratios are to.
var (
	Forecasts = table.Append("forecast", func(r Row) string { return table.Short(r.Forecast) })
	Intervals = table.Append("95 % interval",
		func(r Row) string { return table.Short(r.Interval[0]) + " to " + table.Short(r.Interval[1]) })
	Chances = table.Append("better", func(r Row) string {
		if !r.compared() {
			return ""
		}
		return Chance(r.Better)
	})
)

// Chance writes a probability, which is never certain.
func Chance(p float64) string {
	switch {
	case math.IsNaN(p):
		return table.Short(p)
	case p < 0.01:
		return "<0.01"
	case p > 0.99:
		return ">0.99"
	}
	return fmt.Sprintf("%.2f", p)
}

// Table is a ranking for people: what each row is, more columns, and a mark at those that are near
// the smallest forecast.
func Table(rows []Row, levels bool, more ...table.Column[Row]) *table.Table {
	mark := table.Append("~", func(r Row) string {
		if r.Near {
			return "~"
		}
		return ""
	})
	t := table.Of(rows, slices.Concat([]table.Column[Row]{table.Replace("code", "", Row.Name)}, more,
		[]table.Column[Row]{mark})...)
	if levels {
		return t
	}
	return t.Without("levels")
}
