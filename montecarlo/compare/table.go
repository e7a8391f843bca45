package compare

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"belsim/montecarlo/scenario"
	"belsim/theory/base/table"
	"belsim/theory/code"
	"belsim/theory/decode"
)

// tableWidth is the widest line of a comparison.
const tableWidth = 100

// Table has a row for each code and decoder. Its lines are not wider than a terminal: the worst
// level is in the other formats.
func (c *Ranking) Table() *table.Table {
	ties := c.has(Result.isTie)
	columns := []table.Column[Result]{
		table.Replace("transitions", "", func(r Result) string {
			text := fmt.Sprintf("%.4g", r.Transitions)
			if c.Unlearned(r) {
				text = "! " + text
			}
			return text
		}),
		table.Replace("decoder", "", func(r Result) string {
			if r.Invalid != "" {
				return "invalid: e > 1"
			}
			return r.Decoder
		}),
		table.Replace("exact", "", func(r Result) string { return r.ExactText() }),
		table.Replace("any_law", "", func(r Result) string { return scenario.EndsText(r.AnyLaw) }),
		table.Replace("mean", "", func(r Result) string {
			return r.sampled(table.SampledPlusMinus(r.Mean, r.StdErr, r.Samples))
		}),
		table.Replace("rms", "", func(r Result) string { return r.sampled(table.SampledRoot(r.RMS, r.StdErr)) }),
		table.Append(fmt.Sprintf("within %d", c.Within), func(r Result) string {
			text := table.SampledShare(r.Within, r.StdErr == 0, r.Samples)
			switch {
			case r.Tie:
				text += " ~"
			case ties:
				text += "  "
			}
			return r.sampled(text)
		}),
	}
	t := table.Of(c.Results, columns...).Without("levels", "training", "reads")
	t.Spare = []string{"RMS", fmt.Sprintf("within %d", c.Within), "bound", "trans."}
	t.Line = max(0, slices.IndexFunc(c.Results, c.Unlearned))
	return t
}

// Heading says what was compared, and names the error model in plain words.
func (c *Ranking) Heading(s *scenario.Scenario) string {
	return fmt.Sprintf("%d levels, %s, seed %d; |error| in %s\nmodel: %s\n", c.Levels, s, c.Seed,
		cmp.Or(c.Unit, InLevels), s.Model.Assumption())
}

// Notes are sentences below the table, each on its line: what its marks mean, and which model
// forecasts trained networks. more are further sentences.
func (c *Ranking) Notes(more ...string) string {
	var out strings.Builder
	for _, b := range c.Baselines {
		out.WriteString(b.Line(c.rivals()) + ".\n")
	}
	var unlearned, capped, transposed []string // each once
	add := func(list *[]string, format string, a ...any) {
		if text := fmt.Sprintf(format, a...); !slices.Contains(*list, text) {
			*list = append(*list, text)
		}
	}
	for _, r := range c.Results {
		if c.Unlearned(r) {
			add(&unlearned, "%s has %.4g", r.Code, r.Transitions)
		}
	}
	if len(unlearned) > 0 {
		out.WriteString("! Networks learn bits of more than 8 transitions badly, which this model leaves out; ")
		out.WriteString("they stand below the line: " + strings.Join(unlearned, ", ") + ".\n")
	}
	if c.has(Result.isTie) {
		out.WriteString("~ Not told apart from the first row.\n")
	}
	for _, r := range c.Results {
		if r.Capped && r.Mean > 0 {
			add(&capped, "%s has %.2g %%", r.Code, 100*r.StdErr/r.Mean)
		}
	}
	if c.has(func(r Result) bool { return r.Samples > 0 && r.Mean == 0 && r.StdErr != 0 }) {
		const text = "none in N: none of N samples erred, which bounds the error and does not make it 0."
		out.WriteString(text + " --samples takes more.\n")
	}
	if len(capped) > 0 {
		fmt.Fprintf(&out, "± is a standard error. Sampling ended before it was %.2g %% of the mean: %s.", 100*c.RelErr,
			strings.Join(capped, ", "))
		out.WriteString(" --rel-err or --samples takes longer.\n")
	}
	for _, r := range c.Results {
		if note := code.TransposedNote(r.Code, c.Levels, r.Bits); note != "" {
			add(&transposed, "%s.", note)
		}
	}
	for _, text := range append(transposed, more...) {
		out.WriteString(text + "\n")
	}
	text := ""
	for line := range strings.Lines(out.String()) {
		text += table.Wrap(strings.TrimSuffix(line, "\n"), tableWidth, "")
	}
	if text != "" {
		return "\n" + text
	}
	return ""
}

// Unlearned reports whether the error model is a mixture, and networks learn a code worse than it
// says.
func (c *Ranking) Unlearned(r Result) bool {
	return c.R != nil && code.HardToLearn(r.Transitions)
}

// sampled is a figure of samples for people: … where there are none yet.
func (r Result) sampled(figure string) string {
	switch {
	case r.Invalid != "":
		return "–"
	case r.Samples == 0:
		return "…"
	}
	return figure
}

func (r Result) isTie() bool     { return r.Tie }
func (r Result) isInvalid() bool { return r.Invalid != "" }

// has reports whether some row is of a kind.
func (c *Ranking) has(kind func(Result) bool) bool {
	return slices.ContainsFunc(c.Results, kind)
}

// DecoderTable is the table encoding × decoder, the shape of the paper's Tables 3 to 13: codes
// by their smallest error. Every error has its standard error.
func (c *Ranking) DecoderTable(decoders decode.Registry) *table.Table {
	// column is one of the table: a decoder with what it reads.
	type column struct {
		decoder string
		outputs scenario.Outputs
	}
	var codes []Result // the first row of each
	var columns []column
	cells := map[string]map[column]string{}
	for _, r := range c.Results { // the smallest error first
		if r.isInvalid() {
			continue
		}
		of := column{r.Decoder, r.Outputs}
		if cells[r.Code] == nil {
			cells[r.Code] = map[column]string{}
			codes = append(codes, r)
		}
		if !slices.Contains(columns, of) {
			columns = append(columns, of)
		}
		cells[r.Code][of] = r.sampled(table.SampledPlusMinus(r.Mean, r.StdErr, r.Samples))
	}
	names := decoders.Names()
	slices.SortStableFunc(columns, func(a, b column) int {
		return slices.Index(names, a.decoder) - slices.Index(names, b.decoder)
	})
	t := &table.Table{Head: []string{"code", "bits"}}
	for _, of := range columns {
		name := of.decoder
		if of.outputs == scenario.Logits {
			name += " (logits)"
		}
		t.Head = append(t.Head, name)
	}
	for _, r := range codes {
		row := []string{r.Code, fmt.Sprint(r.Bits)}
		for _, of := range columns {
			row = append(row, cmp.Or(cells[r.Code][of], "–"))
		}
		t.Rows = append(t.Rows, row)
	}
	for _, r := range c.Results {
		if r.isInvalid() {
			row := append([]string{r.Code, fmt.Sprint(r.Bits), "invalid: e > 1"},
				slices.Repeat([]string{"–"}, len(t.Head)-3)...)
			t.Rows = append(t.Rows, row)
		}
	}
	return t
}
