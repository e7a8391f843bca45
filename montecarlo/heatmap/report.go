package heatmap

import (
	"fmt"
	"io"

	"belsim/montecarlo/plane"
	"belsim/montecarlo/scenario"
)

// Report writes a summary of a map from New for people. fit is the point of the plane where
// a network was found; nil without one.
func (m *Map) Report(w io.Writer, fit *plane.Point) error {
	fmt.Fprintf(w, "A = %s (%s), B = %s (%s), %d levels, method %s%s", m.A.Code, m.A.Decoder, m.B.Code, m.B.Decoder,
		m.A.Levels, m.Method, m.NotDefault())
	if p, ok := m.scenario.Model.(scenario.Perceived); ok && p.Path != "" {
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
			if m.Method == scenario.Sample {
				reason = "no sample of " + m.A.Code + " or " + m.B.Code + " erred where " + x + " and " + y +
					" are valid; --samples N takes more"
			}
		}
		_, err := fmt.Fprintln(w, "no valid cell: "+reason)
		return err
	}
	if m.Method == scenario.Sample && sum.WithoutErrors > 0 {
		fmt.Fprintf(w, "%d cells are blank because no sample of a code erred; --samples N takes more\n",
			sum.WithoutErrors)
	}
	if sum.Unknown > 0 {
		fmt.Fprintf(w, "%d cells are blank because no formula gives their exact values, and the intervals are wide\n",
			sum.Unknown)
	}
	if m.twoKinds {
		fmt.Fprintf(w, "the bounds are of two kinds, A's %s and B's %s: ", m.Bounds[0], m.Bounds[1])
		fmt.Fprintln(w, "what follows says nothing of the errors; --method mc samples them")
	}
	least, most := sum.Least, sum.Most
	at := func(p plane.Point) string {
		u, v := p.Of(m.Plane)
		return fmt.Sprintf("%s = %.4g, %s = %.4g", x, u, y, v)
	}
	fmt.Fprintf(w, "increase of A's error over B's: %+.4g %% (%s) to %+.4g %% (%s)\n", least.Increase, at(least.Point),
		most.Increase, at(most.Point))
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
