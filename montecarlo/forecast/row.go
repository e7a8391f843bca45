package forecast

import (
	"fmt"
	"slices"

	"belsim/errmodel/observed"
	"belsim/theory/base/table"
)

// Row is the forecast of a network and what reads it: a row of every ranking. Errors are mean
// |answer − label|, in the unit of the ranking.
type Row struct {
	Levels      int     `json:"levels"`
	Code        string  `json:"code"`
	Bits        int     `json:"bits"`
	Transitions float64 `json:"transitions"`
	Training    string  `json:"training"`
	Decoder     string  `json:"decoder"`
	Outputs     string  `json:"outputs"`
	// expected mean |answer − label| of such a network, or the measured one
	Forecast float64 `json:"forecast"`
	// interval of the error of one trained network
	Interval [2]float64 `json:"interval" csv:"-"`
	// lower end of interval
	Lo float64 `json:"-" csv:"interval_lo"`
	// upper end of interval
	Hi float64 `json:"-" csv:"interval_hi"`
	// forecast over the error that the ranking is relative to: the smallest measured one of the
	// network that was given, and else that of the first row
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
}

// Row is the row of a forecast, in a unit of which a level has so many.
func (x *Forecast) Row(unit float64) Row {
	r := Row{
		Levels: x.Code.Levels(), Code: Called(x.Code.Name(),
			x.Training), Bits: x.Code.Bits(), Transitions: x.Code.TransitionsPerBit(), Training: string(x.Training),
		Decoder: x.Decoding.Decoder.Name(), Outputs: x.Decoding.Outputs(), Forecast: unit * x.Error, Lo: unit * x.Lo, Hi: unit * x.Hi,
		Ratio: x.Ratio, RatioCI: [2]float64{x.RatioLo, x.RatioHi}, Better: x.Better, Measured: x.Measured,
	}
	r.Interval = [2]float64{r.Lo, r.Hi}
	if h := LookupHead(r.Code); h.Predicts {
		r.Bits, r.Transitions, r.Training = 1, 0, h.Loss
		if !x.Decoding.Predicts() {
			r.Decoder, r.Outputs = "nearest", observed.Prediction().Outputs()
		}
	}
	return r
}

// Rows are the rows of forecasts that are sorted. width is that of a level, in the unit of the
// ranking, where there are so many.
func Rows(all []Forecast, width func(levels int) float64) []Row {
	type of struct {
		levels         int
		code, training string
	}
	out, seen := make([]Row, len(all)), map[of]bool{}
	for i := range all {
		x := all[i].Row(width(all[i].Code.Levels()))
		key := of{x.Levels, x.Code, x.Training}
		x.Best, x.Near = !seen[key], i == 0 || x.Forecast <= (1+Worthwhile)*out[0].Forecast
		out[i], seen[key] = x, true
	}
	return out
}

// Name is what people call the code after its training, and whether it was trained.
func (r Row) Name() string {
	switch {
	case r.Trained:
		return "yours: " + r.Code
	case r.Measured:
		return "trained: " + r.Code
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
		if r.Near && !LookupHead(r.Code).Predicts && r.Bits < rows[than].Bits &&
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

// Column is a column of a ranking.
type Column struct {
	Head string
	Cell func(Row) string
}

// The columns of errors, and of the probability that a row is better than what ratios are to.
var (
	Forecasts = Column{"forecast", func(r Row) string { return table.Short(r.Forecast) }}
	Intervals = Column{"95 % interval",
		func(r Row) string { return fmt.Sprintf("%s to %s", table.Short(r.Lo), table.Short(r.Hi)) }}
	Chances = Column{"better", func(r Row) string {
		if !r.compared() {
			return ""
		}
		return Chance(r.Better)
	}}
)

// Chance writes a probability, which is never certain.
func Chance(p float64) string {
	switch {
	case p < 0.01:
		return "<0.01"
	case p > 0.99:
		return ">0.99"
	}
	return fmt.Sprintf("%.2f", p)
}

// Table is a ranking for people: what each row is, more columns, and a mark at those that are near
// the smallest forecast.
func Table(rows []Row, levels bool, more ...Column) *table.Table {
	columns := []Column{
		{"code", Row.Name}, {"bits", func(r Row) string { return fmt.Sprint(r.Bits) }}, {"trans.",
			func(r Row) string { return fmt.Sprintf("%.4g", r.Transitions) }},
		{"training", func(r Row) string { return r.Training }}, {"decoder",
			func(r Row) string { return r.Decoder }}, {"reads", func(r Row) string { return r.Outputs }},
	}
	if levels {
		columns = append([]Column{{"levels", func(r Row) string { return fmt.Sprint(r.Levels) }}}, columns...)
	}
	mark := Column{"~", func(r Row) string {
		if r.Near {
			return "~"
		}
		return ""
	}}
	var all []table.Column[Row]
	for _, c := range append(append(columns, more...), mark) {
		all = append(all, table.Append(c.Head, c.Cell))
	}
	return table.Of(rows, all...)
}
