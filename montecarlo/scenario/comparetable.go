package scenario

import (
	"fmt"
	"slices"
	"strings"

	"belsim/errmodel/perceived"
	"belsim/theory/base/table"
	"belsim/theory/code"
	"belsim/theory/decode"
)

// Table has a row for each code and decoder.
func (c *Comparison) Table() *table.Table {
	columns := []table.Column[CodeResult]{
		table.Replace("transitions", "", func(r CodeResult) string {
			text := fmt.Sprintf("%.4g", r.Transitions)
			if c.unlearned(r) {
				text = "! " + text
			}
			return text
		}),
		table.Replace("decoder", "", func(r CodeResult) string {
			if r.Invalid != "" {
				return "invalid: e > 1"
			}
			return r.Decoder
		}),
		table.Replace("exact", "", func(r CodeResult) string { return r.exactFields.text(r.Exact) }),
		table.Append(fmt.Sprintf("within %d", c.Within), func(r CodeResult) string {
			if r.Invalid != "" {
				return "–"
			}
			return fmt.Sprintf("%.2f %%", 100*r.Within)
		}),
		table.Append("worst level", func(r CodeResult) string {
			switch {
			case r.Invalid != "":
				return "–"
			case r.WorstErr == 0:
				return fmt.Sprintf("%d (%s)", r.WorstLevel, table.Short(r.WorstMean))
			}
			return fmt.Sprintf("%d (%s)", r.WorstLevel, table.PlusMinus(r.WorstMean, r.WorstErr))
		}),
	}
	if c.trainedForDecoder() {
		columns = append(columns, table.Append("forecast", func(r CodeResult) string {
			if r.Forecast == nil {
				return "–"
			}
			return table.Short(*r.Forecast)
		}))
	}
	if c.hasTies() {
		columns = append(columns, table.Append("~", func(r CodeResult) string {
			if r.Tie {
				return "~"
			}
			return ""
		}))
	}
	return table.Of(c.Results, columns...)
}

// Heading says what was compared, and names the error model in plain words.
func (c *Comparison) Heading(s *Scenario) string {
	model := "bits err independently, with the probabilities of the table"
	switch s.Model.(type) {
	case Perceived:
		model = "networks that know one noisy label, the same for every code; their bits err together"
	case Mixture:
		model = "bits err independently, near their transitions, with the same r and σ for every code"
	}
	return fmt.Sprintf("%d levels, %s, seed %d; |error| in levels\nmodel: %s\n", c.Levels, s, c.Seed, model)
}

// Notes are sentences below the table, each on its line: what its marks mean, and which model
// forecasts trained networks. more are further sentences.
func (c *Comparison) Notes(more ...string) string {
	var out strings.Builder
	for _, b := range c.Baselines {
		out.WriteString(b.Line(c.rivals()) + ".\n")
	}
	var unlearned []string
	for _, r := range c.Results {
		if name := fmt.Sprintf("%s has %.4g", r.Code, r.Transitions); c.unlearned(r) && !slices.Contains(unlearned, name) {
			unlearned = append(unlearned, name)
		}
	}
	if len(unlearned) > 0 {
		fmt.Fprintf(&out, "! Networks learn bits of more than 8 transitions badly, and this model does not know it: %s.\n", strings.Join(unlearned, ", "))
	}
	if c.hasTies() {
		out.WriteString("~ Not told apart from the first row.\n")
	}
	if c.trainedForDecoder() {
		var factors []string
		for _, r := range c.Results {
			if r.Training == perceived.ForDecoder && r.Best() > 0 {
				if text := fmt.Sprintf("%.3f (%s)", *r.Forecast/r.Best(), r.Code); !slices.Contains(factors, text) {
					factors = append(factors, text)
				}
			}
		}
		fmt.Fprintf(&out, "forecast: the error to expect of networks trained for the decoder, the model's times %s.\n", strings.Join(factors, ", "))
	}
	for _, r := range c.Results {
		if code.IsFile(r.Code) && r.Bits > c.Levels {
			fmt.Fprintf(&out, "%s has more bits (%d columns) than levels (%d rows): transpose it if its rows are the bits.\n", r.Code, r.Bits, c.Levels)
		}
	}
	for _, text := range more {
		out.WriteString(text + "\n")
	}
	if out.Len() > 0 {
		return "\n" + out.String()
	}
	return ""
}

// unlearned reports whether networks learn a code worse than the mixture says, which is the only
// model that does not know how codes are learned.
func (c *Comparison) unlearned(r CodeResult) bool {
	return c.R != nil && code.HardToLearn(r.Transitions)
}

// trainedForDecoder reports whether some network is trained for the decoder, whose forecast is not
// the model's error.
func (c *Comparison) trainedForDecoder() bool {
	return slices.ContainsFunc(c.Results, func(r CodeResult) bool { return r.Training == perceived.ForDecoder && r.Forecast != nil })
}

// hasTies reports whether some row is not told from the first one.
func (c *Comparison) hasTies() bool {
	return slices.ContainsFunc(c.Results, func(r CodeResult) bool { return r.Tie })
}

// DecoderTable is the table encoding × decoder, the shape of the paper's Tables 3 to 13: codes
// by their smallest error. Every error has its standard error.
func (c *Comparison) DecoderTable(decoders decode.Registry) *table.Table {
	several := slices.ContainsFunc(c.Results, func(r CodeResult) bool { return r.Training != c.Results[0].Training })
	named := func(name string, r CodeResult) string {
		if r.Outputs == Logits {
			name += " (logits)"
		}
		if several {
			name += ", " + string(r.Training)
		}
		return name
	}
	column := func(r CodeResult) string { return named(r.Decoder, r) }
	var codes, columns []string
	cells := map[[2]string]CodeResult{}
	for _, r := range c.Results { // the smallest error first
		if r.Invalid != "" {
			continue
		}
		if !slices.Contains(codes, r.Code) {
			codes = append(codes, r.Code)
		}
		if !slices.Contains(columns, column(r)) {
			columns = append(columns, column(r))
		}
		cells[[2]string{r.Code, column(r)}] = r
	}
	names := decoders.Names()
	slices.SortStableFunc(columns, func(a, b string) int {
		return slices.Index(names, decoderOf(a)) - slices.Index(names, decoderOf(b))
	})
	t := &table.Table{Head: append([]string{"code", "bits"}, columns...)}
	for _, name := range codes {
		bits := 0
		row := []string{name, ""}
		for _, column := range columns {
			r, ok := cells[[2]string{name, column}]
			if !ok {
				row = append(row, "–")
				continue
			}
			bits = r.Bits
			row = append(row, table.PlusMinus(r.Mean, r.StdErr))
		}
		row[1] = fmt.Sprint(bits)
		t.Rows = append(t.Rows, row)
	}
	for _, r := range c.Results {
		if r.Invalid != "" {
			row := append([]string{r.Code, fmt.Sprint(r.Bits), "invalid: e > 1"}, slices.Repeat([]string{"–"}, len(t.Head)-3)...)
			t.Rows = append(t.Rows, row)
		}
	}
	return t
}

// decoderOf is the decoder of a column of DecoderTable.
func decoderOf(column string) string {
	name, _, _ := strings.Cut(strings.Fields(column)[0], ",")
	return name
}
