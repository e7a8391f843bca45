package compare

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"belsim/errmodel/scenario"
	"belsim/theory/base/table"
	"belsim/theory/code"
	"belsim/theory/cost"
	"belsim/theory/decode"
	"belsim/theory/expect"
	"belsim/theory/limit"
)

// Table has a row for each code and decoder. Its lines are not wider than a terminal: the worst
// level is in the other formats.
func (c *Ranking) Table() *table.Table {
	ties, rms := c.has(Result.isTie), "RMS"
	if c.Cost != (cost.Cost{}).Name() {
		rms = "RMS, levels"
	}
	both := c.has(Result.readsLogits) && c.has(func(r Result) bool { return !r.isInvalid() && !r.readsLogits() })
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
			if both && r.readsLogits() {
				return r.Decoder + " (logits)"
			}
			return r.Decoder
		}),
		table.Replace("exact", "", func(r Result) string { return r.ExactText() }),
		table.Replace("any_law", "", func(r Result) string { return expect.EndsText(r.AnyLaw, r.Later) }),
		table.Replace("mean", "", func(r Result) string {
			text := r.sampled(table.SampledPlusMinus(r.Mean, r.StdErr, r.Samples))
			switch {
			case r.Tie:
				text += " ~"
			case ties:
				text += "  "
			}
			return text
		}),
		table.Replace("rms", rms, func(r Result) string {
			if r.ExactRMS {
				return table.Short(r.RMS)
			}
			return r.sampled(table.SampledRoot(r.RMS, r.StdErr))
		}),
	}
	t := table.Of(c.Results, columns...).Without("levels", "training", "reads", "min distance", "column distance", "distinct columns")
	t.Spare = []string{rms, "bound", "trans."}
	t.Line = max(0, slices.IndexFunc(c.Results, c.Unlearned))
	return t
}

// Heading says what was compared, and names the error model in plain words.
func (c *Ranking) Heading(s *scenario.Scenario) string {
	law := s.Model.Assumption()
	if c.Shared != "" {
		law = "all bits share an offset of the label, and given it " + law
	}
	return fmt.Sprintf("%d levels, %s, seed %d; %s\nmodel: %s\n", c.Levels, s, c.Seed, c.Expects, law)
}

// Notes are sentences below the table, each on its line: what its marks mean.
func (c *Ranking) Notes() string {
	var out strings.Builder
	var unlearned []code.Learned
	var capped []string // each once
	for _, r := range c.Results {
		if c.Unlearned(r) {
			unlearned = append(unlearned, code.Learned{Name: r.Code, Transitions: r.Transitions})
		}
	}
	if len(unlearned) > 0 {
		out.WriteString("! " + code.LearnedBadly(unlearned...) + ". Such codes stand below the line.\n")
	}
	out.WriteString(c.Results[0].limitText())
	if c.has(Result.isTie) {
		out.WriteString("~ Not told apart from the first row.\n")
	}
	for _, r := range c.Results {
		text := fmt.Sprintf("%s (%s) has %.2g %%", r.Code, r.Decoder, 100*r.StdErr/r.Mean)
		if r.Capped && r.Mean > 0 && !slices.Contains(capped, text) {
			capped = append(capped, text)
		}
	}
	if c.has(func(r Result) bool { return r.Samples > 0 && r.Mean == 0 && r.StdErr != 0 }) {
		const text = "none in N: none of N samples erred, which bounds the error and does not make it 0."
		out.WriteString(text + " --samples takes more.\n")
	}
	if c.has(func(r Result) bool { return r.Later || r.LimitLater }) {
		out.WriteString("… Not computed: takes more than a second. --exact computes what takes up to five minutes.\n")
	}
	if c.has(Result.unknown) {
		out.WriteString("– There is none, or errors are too frequent for an interval.\n")
	}
	if len(capped) > 0 {
		fmt.Fprintf(&out, "± is a standard error. Sampling ended before it was %.2g %% of the mean: %s.", 100*c.RelErr,
			strings.Join(capped, ", "))
		out.WriteString(" --samples takes more.\n")
	}
	if out.Len() == 0 {
		return ""
	}
	return "\n" + out.String()
}

// limitText says what no code of the size of a row is below; "" where there is no limit.
func (r Result) limitText() string {
	switch {
	case r.LimitLater:
		return "limit: …\n"
	case !(r.Limit > 1e-6): // it says nothing
		return ""
	}
	return "limit: " + limit.Text(r.Bits, r.MaxTransitions, r.Limit) + ", whatever decodes the bits.\n"
}

// Unlearned reports whether the error model is a mixture, and networks learn a code worse than it
// says.
func (c *Ranking) Unlearned(r Result) bool {
	return c.R != nil && code.HardToLearn(r.Transitions)
}

// sampled is a figure of samples for people.
func (r Result) sampled(figure string) string {
	if r.Invalid != "" {
		return "–"
	}
	return figure
}

// unknown reports whether a valid row has a dash.
func (r Result) unknown() bool {
	return r.Invalid == "" && (table.Missing(r.Bound) || r.AnyLaw == nil && !r.Later || r.ExactText() == table.Short(math.NaN()))
}

func (r Result) isTie() bool       { return r.Tie }
func (r Result) isInvalid() bool   { return r.Invalid != "" }
func (r Result) readsLogits() bool { return r.Outputs == decode.Logits }

// has reports whether some row is of a kind.
func (c *Ranking) has(kind func(Result) bool) bool {
	return slices.ContainsFunc(c.Results, kind)
}
