package verify

import (
	"fmt"
	"io"
	"strconv"

	"belsim/theory/base/table"
	"belsim/theory/expect"
)

// Write writes the verdict for people, with a table: of a few levels
// where there are many, with a text that says how to see the others. model names the error model.
func (v *Report) Write(w io.Writer, model, others string) error {
	fmt.Fprintf(w, "%s (%d levels, %d bits), decoder %s, %s, seed %d\n", v.Code, v.Levels, v.Bits, v.Decoder, model,
		v.Seed)
	fmt.Fprintf(w, "expected %s", v.Expects)
	if v.Bound != "" {
		fmt.Fprintf(w, "; the bound is %s", v.Bound)
	}
	fmt.Fprint(w, "\n\n")
	rows := someLevels(v.Labels)
	t := table.Of(append(rows[:len(rows):len(rows)], v.Overall),
		table.Replace("level", "", func(r Level) string {
			if r.Level == 0 {
				return "all"
			}
			return strconv.Itoa(r.Level)
		}),
		table.Replace("any_law", "", func(r Level) string { return expect.EndsText(r.AnyLaw) }),
		table.Replace("mean", "", func(r Level) string { return table.Sampled(r.Mean, r.StdErr, r.Samples) }))
	if err := t.Write(w); err != nil {
		return err
	}
	if len(rows) < len(v.Labels) {
		fmt.Fprintf(w, "(%d of %d levels; %s)\n", len(rows), len(v.Labels), others)
	}
	fmt.Fprintln(w)
	const shownFailures = 10
	for i, f := range v.Failures {
		if i == shownFailures {
			fmt.Fprintf(w, "FAIL and %d more\n", len(v.Failures)-i)
			break
		}
		fmt.Fprintln(w, "FAIL", f)
	}
	if text := v.conclusion(); text != "" {
		fmt.Fprintln(w, text)
	}
	if text := v.powerText(); text != "" && !v.Failed() {
		fmt.Fprintln(w, text)
	}
	return nil
}

// someLevels are a few of many levels, evenly spread.
func someLevels(all []Level) []Level {
	const few = 16
	if len(all) <= few {
		return all
	}
	out := make([]Level, few)
	for i := range out {
		out[i] = all[i*(len(all)-1)/(few-1)]
	}
	return out
}
