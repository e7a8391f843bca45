package heatmap

import (
	"fmt"
	"io"
	"strings"

	"belsim/montecarlo/plane"
	"belsim/theory/base/table"
)

// IncreaseLabel says what the numbers of a map are, in texts and in pictures.
const IncreaseLabel = "how much larger the error of A is than the error of B, in percent"

// Title says how errors were computed by a method of the map.
func (m *Map) Title(method plane.Method) string {
	switch {
	case method == plane.Exact:
		return "exact expected error"
	case method == plane.Sample:
		return "sampled error"
	case twoKinds(m.Bounds):
		return "bounds of two kinds"
	case len(m.Bounds) < 2 || m.Bounds[0] == m.Bounds[1]:
		return "bounds"
	}
	a, _, _ := strings.Cut(m.Bounds[0], ",") // without what is said of the code johnson
	b, _, _ := strings.Cut(m.Bounds[1], ",")
	return fmt.Sprintf("bounds (%s, %s)", a, b)
}

// by says by which numbers a method compares errors.
func by(method plane.Method) string {
	return map[plane.Method]string{
		plane.Bound: "by bounds", plane.Exact: "by exact values", plane.Sample: "by samples",
	}[method]
}

// Warning is a sentence about bounds that may not be compared; "" where there are none.
func (m *Map) Warning() string {
	if !twoKinds(m.Bounds) {
		return ""
	}
	return fmt.Sprintf("the bounds are of two kinds, A's %s and B's %s: do not compare them, "+
		"but exact values or samples", m.Bounds[0], m.Bounds[1])
}

// Report writes a summary of a map from New for people. fit is the point of the plane where
// a network was found; nil without one.
func (m *Map) Report(w io.Writer, fit *plane.Point) error {
	var names []string
	for _, method := range m.Methods {
		names = append(names, string(method))
	}
	plural := map[bool]string{true: "s"}[len(names) > 1]
	fmt.Fprintf(w, "A = %s (%s), B = %s (%s), %d levels, method%s %s%s", m.A.Code, m.A.Decoder, m.B.Code, m.B.Decoder,
		m.A.Levels, plural, strings.Join(names, ", "), m.NotDefault())
	if m.Seed != nil {
		fmt.Fprintf(w, ", seed %d", *m.Seed)
	}
	fmt.Fprintln(w)
	var valid []plane.Method
	most := 0
	for _, method := range m.Methods {
		if n := m.Summary(method).Valid; n > 0 {
			valid, most = append(valid, method), max(most, n)
		}
	}
	fmt.Fprintf(w, "grid: %d × %d cells, %s, %s; %d valid\n", len(m.R), len(m.Sigma), axisText("r", m.R, m.LogR),
		axisText("σ", m.Sigma, m.LogSigma), most)
	for _, method := range m.Methods {
		m.reportBlank(w, method, m.Summary(method), most == 0 || m.Methods[0] == method)
	}
	if text := m.Warning(); text != "" {
		fmt.Fprintln(w, text)
	}
	if len(valid) > 0 {
		m.reportIncreases(w, valid, fit)
	}
	return nil
}

// axisText names an axis and its values: shares of cells depend on them.
func axisText(name string, values []float64, logarithmic bool) string {
	if len(values) == 1 {
		return fmt.Sprintf("%s = %.4g", name, values[0])
	}
	text := fmt.Sprintf("%s from %.4g to %.4g", name, values[0], values[len(values)-1])
	if logarithmic {
		text += " (log)"
	}
	return text
}

// reportIncreases says how much the errors differ by the methods that have valid cells, and where
// B is better.
func (m *Map) reportIncreases(w io.Writer, methods []plane.Method, fit *plane.Point) {
	at := func(p plane.Point) string { return fmt.Sprintf("r = %.4g, σ = %.4g", p.R, p.Sigma) }
	var better, atFit []string
	fmt.Fprintln(w, IncreaseLabel+":")
	for _, method := range methods {
		sum := m.Summary(method)
		fmt.Fprintf(w, "  %s: %+.4g %% (%s) to %+.4g %% (%s)\n", by(method), sum.Least.Of(method).Increase,
			at(sum.Least.Point), sum.Most.Of(method).Increase, at(sum.Most.Point))
		of := " of the grid's valid cells"
		if len(better) > 0 {
			of = ""
		}
		better = append(better, fmt.Sprintf("%.1f %%%s %s", 100*float64(sum.BetterB)/float64(sum.Valid), of, by(method)))
		if fit == nil {
			continue
		}
		if c := m.Nearest(*fit); c != nil && !table.Missing(c.Of(method).Increase) {
			atFit = append(atFit, fmt.Sprintf("%+.4g %% %s", c.Of(method).Increase, by(method)))
		}
	}
	if len(atFit) > 0 {
		fmt.Fprintf(w, "at the fit, r = %.4g and σ = %.4g: %s\n", fit.R, fit.Sigma, strings.Join(atFit, ", "))
	}
	fmt.Fprintln(w, "B has the smaller error in "+strings.Join(better, ", in "))
}

// reportBlank says why cells are blank by a method. invalid asks for what is true of all methods.
func (m *Map) reportBlank(w io.Writer, method plane.Method, sum Summary, invalid bool) {
	cells := fmt.Sprintf("no cell is valid %s: ", by(method))
	switch {
	case sum.Valid > 0 && sum.Unknown > 0:
		fmt.Fprintf(w, "%d cells are blank because no formula gives their exact values, and the intervals are wide\n",
			sum.Unknown)
	case sum.Valid > 0 && method == plane.Sample && sum.WithoutErrors > 0:
		fmt.Fprintf(w, "%d cells are blank because no sample of a code erred; --samples N takes more\n",
			sum.WithoutErrors)
	case sum.Valid > 0:
	case sum.Unknown > 0:
		fmt.Fprintln(w, cells+"no formula gives these exact values, and their intervals are wide; --method mc samples "+
			"instead")
	case sum.WithoutErrors > 0 && method == plane.Sample:
		fmt.Fprintf(w, "%sno sample of %s or %s erred where r and σ are valid; --samples N takes more\n", cells,
			m.A.Code, m.B.Code)
	case sum.WithoutErrors > 0:
		fmt.Fprintf(w, "%sB has no errors where r and σ are valid\n", cells)
	case invalid:
		text := "no valid cell: every r is too large for its σ"
		if m.largest != nil {
			text += fmt.Sprintf("; the largest valid r is %.3g, for σ = %.3g", m.largest.R, m.largest.Sigma)
		}
		fmt.Fprintln(w, text)
	}
}
