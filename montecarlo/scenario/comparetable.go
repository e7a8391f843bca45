package scenario

import (
	"fmt"
	"slices"
	"strings"

	"belsim/montecarlo/table"
	"belsim/theory/decode"
)

// Table has a row for each code and decoder.
func (c *Comparison) Table() *table.Table {
	columns := []table.Column[CodeResult]{
		table.Append(fmt.Sprintf("within %d", c.Within), func(r CodeResult) string { return fmt.Sprintf("%.2f %%", 100*float64(r.Within)) }),
		table.Append("worst level", func(r CodeResult) string { return fmt.Sprintf("%d (%s)", r.WorstLevel, r.WorstMean.Short()) }),
	}
	return table.Of(c.Results, columns...)
}

// DecoderTable is the table encoding × decoder, the shape of the paper's Tables 3 to 13: codes
// by their smallest error. Every error has its standard error.
func (c *Comparison) DecoderTable(decoders decode.Registry) *table.Table {
	several := slices.ContainsFunc(c.Results, func(r CodeResult) bool { return r.Training != c.Results[0].Training })
	column := func(r CodeResult) string {
		name := r.Decoder
		if r.Outputs == Logits {
			name += " (logits)"
		}
		if several {
			name += ", " + string(r.Training)
		}
		return name
	}
	var codes, columns []string
	cells := map[[2]string]CodeResult{}
	for _, r := range c.Results { // the smallest error first
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
	return t
}

// decoderOf is the decoder of a column of DecoderTable.
func decoderOf(column string) string {
	name, _, _ := strings.Cut(strings.Fields(column)[0], ",")
	return name
}
