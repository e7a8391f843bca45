package verify

import (
	"fmt"
	"io"
	"slices"
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
		fmt.Fprintf(w, "; bound: %s", v.Bound)
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
		table.Replace("any_law", "", func(r Level) string { return expect.EndsText(r.AnyLaw, v.Later) }),
		table.Replace("mean", "", func(r Level) string { return table.Sampled(r.Mean, r.StdErr, r.Samples) }))
	if err := t.Write(w); err != nil {
		return err
	}
	if len(rows) < len(v.Labels) {
		fmt.Fprintf(w, "(%d of %d levels; %s)\n", len(rows), len(v.Labels), others)
	}
	if v.Later {
		fmt.Fprintln(w, "… This takes more than a second: 'belsim compare --exact' computes it.")
	}
	if o := v.Overall; table.Missing(o.Bound) || table.Missing(o.Exact) || o.AnyLaw == nil && !v.Later {
		fmt.Fprintln(w, "– No formula has it.")
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

// someLevels are a few of many levels, evenly spread, and the one whose bound is furthest above its exact value.
func someLevels(all []Level) []Level {
	const few = 16
	if len(all) <= few {
		return all
	}
	loosest, most := 0, 0.0
	for i, l := range all {
		if ratio := l.Bound / l.Exact; ratio > most && l.Exact > 0 { // false where either is missing
			loosest, most = i, ratio
		}
	}
	rows := []int{loosest}
	for i := range few {
		rows = append(rows, i*(len(all)-1)/(few-1))
	}
	slices.Sort(rows)
	var out []Level
	for _, i := range slices.Compact(rows) {
		out = append(out, all[i])
	}
	return out
}
