package scenario

import (
	"fmt"
	"io"
	"strconv"

	"belsim/theory/base/table"
)

// Report writes the verdict for people, with a table: of a few levels
// where there are many, with a text that says how to see the others. model names the error model.
func (v *Verification) Report(w io.Writer, model, others string) error {
	fmt.Fprintf(w, "%s (%d levels, %d bits), decoder %s, %s, seed %d\n", v.Code, v.Levels, v.Bits, v.Decoder, model,
		v.Seed)
	fmt.Fprintf(w, "expected |error| in levels")
	if v.Bound != "" {
		fmt.Fprintf(w, "; the bound is %s", v.Bound)
	}
	fmt.Fprint(w, "\n\n")
	rows := someLevels(v.Labels)
	t := table.Of(append(rows[:len(rows):len(rows)], v.Overall), table.Replace("level", "", func(r LevelResult) string {
		if r.Level == 0 {
			return "all"
		}
		return strconv.Itoa(r.Level)
	}), table.Replace("any_law", "", func(r LevelResult) string { return r.anyField.text() }), table.Replace("mean", "", func(r LevelResult) string { return table.Sampled(r.Mean, r.StdErr, r.Samples) }))
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
func someLevels(all []LevelResult) []LevelResult {
	const few = 16
	if len(all) <= few {
		return all
	}
	out := make([]LevelResult, few)
	for i := range out {
		out[i] = all[i*(len(all)-1)/(few-1)]
	}
	return out
}

// Report writes a summary of the map of a scenario for people. fit is the point of the plane where
// a network was found; nil without one.
func (m *Map) Report(w io.Writer, s *Scenario, fit *Point) error {
	fmt.Fprintf(w, "A = %s (%s), B = %s (%s), %d levels, method %s%s", m.A.Code, m.A.Decoder, m.B.Code, m.B.Decoder,
		m.A.Levels, m.Method, s.NotDefault())
	if p, ok := s.Model.(Perceived); ok {
		fmt.Fprintf(w, ", %s", p)
	}
	if m.Seed != nil {
		fmt.Fprintf(w, ", seed %d", *m.Seed)
	}
	fmt.Fprintln(w)
	sum := m.Summary()
	x, y := m.Plane.Symbols()
	fmt.Fprintf(w, "%d × %d cells, %d valid\n", len(m.X()), len(m.Y()), sum.Valid)
	if sum.Valid == 0 {
		reason := "every " + x + " is too large for its " + y
		if m.largest != nil {
			mostX, mostY := m.largest.Of(m.Plane)
			reason += fmt.Sprintf("; the largest valid %s is %.3g, for %s = %.3g", x, mostX, y, mostY)
		}
		if sum.Unknown > 0 {
			reason = "no formula gives these exact values, and their intervals are wide; --method mc samples instead"
		} else if sum.WithoutErrors > 0 {
			reason = "B has no errors where " + x + " and " + y + " are valid"
			if m.Method == Sample {
				reason = "no sample of " + m.A.Code + " or " + m.B.Code + " erred where " + x + " and " + y +
					" are valid; --samples N takes more"
			}
		}
		_, err := fmt.Fprintln(w, "no valid cell: "+reason)
		return err
	}
	if m.Method == Sample && sum.WithoutErrors > 0 {
		fmt.Fprintf(w, "%d cells are blank because no sample of a code erred; --samples N takes more\n",
			sum.WithoutErrors)
	}
	if sum.Unknown > 0 {
		fmt.Fprintf(w, "%d cells are blank because no formula gives their exact values, and the intervals are wide\n",
			sum.Unknown)
	}
	if m.twoKinds {
		fmt.Fprintf(w, "the bounds are of two kinds, A's %s and B's %s: what follows says nothing of the errors; --method mc samples them\n", m.Bounds[0], m.Bounds[1])
	}
	least, most := sum.Least, sum.Most
	leastX, leastY := least.Of(m.Plane)
	mostX, mostY := most.Of(m.Plane)
	fmt.Fprintf(w, "increase of A's error over B's: %+.4g %% (%s = %.4g, %s = %.4g) to %+.4g %% (%s = %.4g, %s = %.4g)\n",
		least.Increase, x, leastX, y, leastY, most.Increase, x, mostX, y, mostY)
	if fit != nil {
		fitX, fitY := fit.Of(m.Plane)
		if c := m.Nearest(fitX, fitY); c != nil {
			fmt.Fprintf(w, "at the fit, %s = %.4g and %s = %.4g: %+.4g %%\n", x, fitX, y, fitY, c.Increase)
		}
	}
	_, err := fmt.Fprintf(w, "B has the smaller error in %.1f %% of the valid cells\n",
		100*float64(sum.BetterB)/float64(sum.Valid))
	return err
}
