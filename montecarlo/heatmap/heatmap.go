// Package heatmap compares two codes over a plane of error models.
package heatmap

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"belsim/montecarlo"
	"belsim/montecarlo/plane"
	"belsim/montecarlo/scenario"
	"belsim/theory"
	"belsim/theory/base/memory"
	"belsim/theory/base/parallel"
	"belsim/theory/base/table"
	"belsim/theory/code"
	"belsim/theory/decode"
)

// Best is the first of these methods that both codes of a map have: exact values that formulas give
// fast, bounds of the same kind, and samples.
const Best scenario.Method = "auto"

// side is one of the two codes of a map, with its error models in the map's plane.
type side struct {
	code    *code.Code
	decoder decode.Decoder
	models  plane.Lines
}

// Map compares two codes A and B over a plane of error models: what heatmap writes as JSON.
type Map struct {
	// the design A
	A scenario.Design `json:"a"`
	// the design B
	B      scenario.Design `json:"b"`
	Method scenario.Method `json:"method"`
	// which bounds those of A and B are, with method bound
	Bounds []string `json:"bounds,omitempty"`
	Seed   *uint64  `json:"seed,omitempty"`
	plane.Axes[[]float64]
	// a row for each pair of parameters, the first of them the faster
	Cells       []Cell  `json:"cells"`
	Temperature float64 `json:"temperature"`
	Cutoff      float64 `json:"cutoff,omitempty"`
	scenario.Provenance

	Plane plane.Kind `json:"-"` // which parameters the axes are
	LogX  bool       `json:"-"` // pictures show the first parameter on an axis of logarithms
	LogY  bool       `json:"-"` // and the second

	scenario *scenario.Scenario
	sides    [2]side      // A and B
	twoKinds bool         // the bounds of A and B are of two kinds
	largest  *plane.Point // where no cell is valid, the model with the largest valid first parameter
}

// Missing are the columns that the CSV of the cells does not have: the parameters of other planes,
// and the standard errors where nothing was sampled.
func (m *Map) Missing() []string {
	if m.Method == scenario.Sample {
		return m.Plane.Missing()
	}
	return append(m.Plane.Missing(), "a_stderr", "b_stderr", "increase_stderr")
}

// X returns the values of the first parameter.
func (m *Map) X() []float64 { x, _ := m.Axes.Of(m.Plane); return x }

// Y returns the values of the second parameter.
func (m *Map) Y() []float64 { _, y := m.Axes.Of(m.Plane); return y }

// Cell is one pair of parameters, such as r and σ. Errors are in levels; they are null where some
// probability exceeds 1.
type Cell struct {
	plane.Point
	// error of A; null where the parameters are invalid
	A float64 `json:"a"`
	// error of B; null where the parameters are invalid
	B float64 `json:"b"`
	// 100·(a − b)/b; null where b is zero, the parameters are invalid, or, with method mc, no
	// sample of a or b erred, so that only an upper limit is known
	Increase float64 `json:"increase_percent"`
	// standard error of a, with method mc
	StdErrA *float64 `json:"a_stderr,omitempty"`
	// standard error of b, with method mc
	StdErrB *float64 `json:"b_stderr,omitempty"`
	// standard error of increase_percent to first order, with method mc
	StdErr *float64 `json:"increase_stderr,omitempty"`

	unknown bool    // the parameters are valid, and the interval of an exact value is too wide
	unsure  float64 // percent: how far Increase may be from the truth because errors are known within intervals
}

// New returns the map of codes A and B, of as many levels, over a plane, with empty cells. Both
// have the named decoder. The error is a *memory.Error where the cells do not fit in memory; it
// wraps decode.ErrUnfit where the decoder does not fit a code.
func New(ctx context.Context, s *scenario.Scenario, codes [2]*code.Code, decoder string, of plane.Models,
	x, y plane.Axis, method scenario.Method) (*Map, error) {
	const perCell = 320 // with its standard errors, and its numbers in a matrix and a figure
	if err := memory.Check(fmt.Sprintf("a map of %d × %d cells", len(x.Values), len(y.Values)),
		memory.Product(len(x.Values), len(y.Values), perCell)); err != nil {
		return nil, err
	}
	network, perceived := of.(plane.Perceived)
	if perceived { // its training says what decoders read
		own := *s
		own.Model, s = network.Model, &own
	}
	var sides [2]side
	var designs [2]scenario.Design
	for i, c := range codes {
		d, err := s.Decoder(decoder, c)
		if err != nil {
			return nil, err
		}
		models, err := of.Of(ctx, c, x.Values, y.Values)
		if err != nil {
			return nil, err
		}
		sides[i], designs[i] = side{c, d, models}, s.Design(c, d)
	}
	m := Blank(designs, of.Kind(), x, y, method)
	m.scenario, m.sides, m.Temperature = s, sides, s.Temperature
	if perceived {
		m.Cutoff = network.Model.Cutoff
	}
	return m, m.choose(ctx)
}

// Blank returns the map of the designs A and B over a kind of plane, with empty cells.
func Blank(designs [2]scenario.Design, kind plane.Kind, x, y plane.Axis, method scenario.Method) *Map {
	m := &Map{
		A: designs[0], B: designs[1], Method: method, Plane: kind, Axes: plane.AxesOf(kind, x.Values, y.Values),
		LogX: x.Logarithmic(), LogY: y.Logarithmic(),
	}
	none := math.NaN()
	for _, v := range y.Values {
		for _, u := range x.Values {
			m.Cells = append(m.Cells, Cell{Point: plane.AxesOf(kind, u, v), A: none, B: none, Increase: none})
		}
	}
	return m
}

// choose sets the method, where the best one is asked for, and looks at the bounds.
func (m *Map) choose(ctx context.Context) error {
	var bounds [2]*scenario.Mean
	have, exact := true, m.Method == Best
	for i, of := range m.sides {
		p := m.scenario.Shape(of.code, of.decoder, m.Plane != plane.Mixtures)
		b, err := scenario.BoundOf(p)
		bounds[i], have = b, have && err == nil
		if exact = exact && scenario.QuickExact(p); !exact {
			continue
		}
		x, err := scenario.ExactOf(ctx, p)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		exact = err == nil && x.Width == 0 // intervals take long in many cells, and are wide in some
	}
	m.twoKinds = have && bounds[0].Kind() != bounds[1].Kind()
	switch {
	case m.Method != Best:
	case exact:
		m.Method = scenario.Exact
	case have && !m.twoKinds:
		m.Method = scenario.Bound
	default:
		m.Method = scenario.Sample
	}
	if m.Method == scenario.Bound && have {
		m.Bounds = []string{bounds[0].Name, bounds[1].Name}
	}
	m.twoKinds = m.twoKinds && m.Method == scenario.Bound
	return nil
}

// FitAxes returns the ranges of r and σ of a map of codes where they are empty: σ from a fifth of a
// level to a third of the levels, and r up to the largest one that is valid for all codes.
func FitAxes(ctx context.Context, codes []*code.Code, x, y plane.Axis) (plane.Axis, plane.Axis, error) {
	const count, around = 40, 200
	levels := float64(codes[0].Levels())
	if len(y.Values) == 0 {
		y = plane.NewAxis(max(0.2, levels/300), max(1, levels/3), count, true)
	}
	if len(x.Values) > 0 {
		return x, y, nil
	}
	least := make([]float64, len(y.Values)) // of the largest valid r of the codes
	for i := range least {
		least[i] = levels / 2
	}
	for _, c := range codes {
		lines, err := plane.Mixture{}.Of(ctx, c, []float64{1}, y.Values)
		if err != nil {
			return x, y, err
		}
		for i, sigma := range y.Values {
			l, err := lines(ctx, sigma)
			if err != nil {
				return x, y, err
			}
			least[i] = min(least[i], l.Largest)
		}
	}
	most := slices.Max(least)
	return plane.NewAxis(most/around, most, count, true), y, nil
}

// Title says how the errors of a map were computed.
func (m *Map) Title() string {
	if m.twoKinds {
		return "bounds of two kinds"
	}
	switch m.Method {
	case scenario.Exact:
		return "exact expected error"
	case scenario.Sample:
		return "sampled error"
	}
	return string(m.Method)
}

// Fill computes the cells of a map from New. run.Done is told how many cells were finished. The
// error wraps theory.ErrNoClosedForm where a code has no bound, or no exact value.
func (m *Map) Fill(ctx context.Context, run scenario.Run, draw scenario.Sampling) error {
	weights, err := m.scenario.Weights(m.A.Levels)
	if err != nil {
		return err
	}
	f, workers := &filler{run: run, m: m, weights: weights, draw: draw}, run.Workers
	if m.Method == scenario.Sample {
		m.Seed = &draw.Seed
		workers = 1 // the backend has its own
	} else if err := f.prepare(ctx); err != nil {
		return err
	}
	if err := parallel.Each(ctx, workers, len(m.Y()), func() (func(ctx context.Context, row int) error, error) {
		return f.row, nil
	}); err != nil || m.Plane != plane.Mixtures || m.Summary().Valid > 0 {
		return err
	}
	largest := 0.0
	for _, y := range m.Y() {
		lines, err := m.lines(ctx, y)
		if err != nil {
			return err
		}
		if most := min(lines[0].Largest, lines[1].Largest); most > largest {
			at := plane.AxesOf(m.Plane, most, y)
			largest, m.largest = most, &at
		}
	}
	return nil
}

// Row returns the cells of the i-th value of the second parameter.
func (m *Map) Row(i int) []Cell { return m.Cells[i*len(m.X()) : (i+1)*len(m.X())] }

// NotDefault lists the values of the map's scenario that are not the defaults, each after a comma;
// nothing of a map that is not from New.
func (m *Map) NotDefault() string {
	if m.scenario == nil {
		return ""
	}
	s := *m.scenario
	s.Outputs = s.Outputs.Of(m.A.Training)
	return s.NotDefault()
}

// Increases is the map as a matrix, a row for each σ and a column for each r (or the like), in
// percent; NaN where it is blank.
func (m *Map) Increases() *mat.Dense {
	z := mat.NewDense(len(m.Y()), len(m.X()), nil)
	for i, c := range m.Cells {
		z.Set(i/len(m.X()), i%len(m.X()), c.Increase)
	}
	return z
}

// Nearest is the valid cell that a pair of parameters lies in, or nil.
func (m *Map) Nearest(x, y float64) *Cell {
	at := func(values []float64, v float64) int {
		for i := range values {
			// Half-way to the neighbours in proportion; a range of one value is that value.
			lo, hi := values[i], values[i]
			if i > 0 {
				lo = math.Sqrt(values[i-1] * values[i])
			}
			if i+1 < len(values) {
				hi = math.Sqrt(values[i] * values[i+1])
			}
			if v >= lo*(1-1e-9) && v <= hi*(1+1e-9) {
				return i
			}
		}
		return -1
	}
	i, j := at(m.X(), x), at(m.Y(), y)
	if i < 0 || j < 0 || table.Missing(m.Row(j)[i].Increase) {
		return nil
	}
	return &m.Row(j)[i]
}

// Summary says where A and B differ most.
type Summary struct {
	Valid       int   // cells with an increase
	BetterB     int   // cells in which B has the smaller error
	Least, Most *Cell // the cells of the extreme increases; nil where none is valid

	Unknown       int // cells whose exact value no formula gives, and whose interval is wide
	WithoutErrors int // cells without an increase because B has no errors, or no sample of a code erred
}

// Summary returns the extremes of a map.
func (m *Map) Summary() Summary {
	const rounding = 1e-9 // percent: less is no difference, nor is what intervals leave open
	var s Summary
	for i := range m.Cells {
		c := &m.Cells[i]
		if table.Missing(c.Increase) {
			switch {
			case c.unknown:
				s.Unknown++
			case !table.Missing(c.A):
				s.WithoutErrors++
			}
			continue
		}
		s.Valid++
		if c.Increase > rounding+c.unsure {
			s.BetterB++
		}
		if s.Least == nil || c.Increase < s.Least.Increase {
			s.Least = c
		}
		if s.Most == nil || c.Increase > s.Most.Increase {
			s.Most = c
		}
	}
	return s
}

// Increase returns 100·(a − b)/b, the increase of an error from b to a in percent; missing where b
// is not above zero, and where no sample of a erred, so that its standard error is above zero: then
// only an upper limit of a is known.
func Increase(a, stderr, b float64) float64 {
	if !(b > 0) || a == 0 && stderr > 0 {
		return math.NaN()
	}
	return montecarlo.Percent(a, b)
}

// Set takes the errors of both codes. The standard errors stand in the cell where they are sampled.
func (c *Cell) Set(a, b montecarlo.Overall, sampled bool) {
	c.A, c.B, c.Increase = a.Mean, b.Mean, Increase(a.Mean, a.StdErr, b.Mean)
	c.unknown = math.IsNaN(a.Mean) || math.IsNaN(b.Mean)
	if !sampled {
		return
	}
	increase := math.NaN()
	if !table.Missing(c.Increase) {
		// To first order, and as if the two codes' samples were independent. They come from the
		// same seed, so this is a guide to the increase, unlike the standard errors of a and b.
		increase = 100 * math.Hypot(a.StdErr, a.Mean/b.Mean*b.StdErr) / b.Mean
	}
	c.StdErrA, c.StdErrB, c.StdErr = &a.StdErr, &b.StdErr, &increase
}

// lines prepares the models of both codes that share σ.
func (m *Map) lines(ctx context.Context, sigma float64) (lines [2]*plane.Line, err error) {
	for i, s := range m.sides {
		if lines[i], err = s.models(ctx, sigma); err != nil {
			return lines, err
		}
	}
	return lines, nil
}

// filler computes the cells of a map.
type filler struct {
	run     scenario.Run
	m       *Map
	weights []float64 // of the labels
	draw    scenario.Sampling
	means   [2]*scenario.Mean // of A and B; nil where errors are sampled
	unsure  float64           // of the increase, in percent
}

// prepare prepares the formulas of bounds or exact values.
func (f *filler) prepare(ctx context.Context) error {
	for i, s := range f.m.sides {
		mean, err := f.m.Method.MeanOf(ctx, f.m.scenario.Shape(s.code, s.decoder, f.m.Plane != plane.Mixtures))
		if errors.Is(err, theory.ErrNoClosedForm) {
			err = fmt.Errorf("%w; method mc samples instead", err)
		}
		if err != nil {
			return err
		}
		f.means[i] = mean
		f.unsure += 100 * mean.Width
	}
	return nil
}

// row computes the cells of one σ, first for A and then for B: a device loads each code once.
func (f *filler) row(ctx context.Context, row int) error {
	lines, err := f.m.lines(ctx, f.m.Y()[row])
	if err != nil {
		return err
	}
	var found [2][]montecarlo.Overall
	for i, l := range lines {
		at, err := f.along(ctx, i, l)
		if err != nil {
			return err
		}
		found[i] = make([]montecarlo.Overall, len(f.m.X()))
		for j, x := range f.m.X() {
			if err := ctx.Err(); err != nil {
				return err
			}
			valid := lines[0].Valid(x) && lines[1].Valid(x)
			if valid {
				if found[i][j], err = at(ctx, x); err != nil {
					return err
				}
			}
			if i == 0 {
				continue
			}
			if valid {
				c := &f.m.Row(row)[j]
				c.Set(found[0][j], found[1][j], f.m.Method == scenario.Sample)
				c.unsure = f.unsure
			}
			f.run.Finished(1)
		}
	}
	return nil
}

// errorAt computes the error of a code at x.
type errorAt func(ctx context.Context, x float64) (montecarlo.Overall, error)

// along computes errors of a side for the models of a line. A linear bound is concave in x where
// levels are cut, so that it is proportional to x between two x where its slopes are equal.
func (f *filler) along(ctx context.Context, side int, l *plane.Line) (errorAt, error) {
	at := func(ctx context.Context, x float64) (montecarlo.Overall, error) { return f.error(ctx, side, l, x) }
	valid := slices.DeleteFunc(slices.Clone(f.m.X()), func(x float64) bool { return !l.Valid(x) || x == 0 })
	if m := f.means[side]; len(valid) < 3 || m == nil || !m.Linear {
		return at, nil
	}
	var slopes [2]float64
	for i, x := range []float64{slices.Min(valid), slices.Max(valid)} {
		of, err := at(ctx, x)
		if err != nil {
			return nil, err
		}
		slopes[i] = of.Mean / x
	}
	if slopes[0]-slopes[1] > 1e-12*slopes[0] { // more than sums of 2¹² terms are rounded
		return at, nil
	}
	return func(_ context.Context, x float64) (montecarlo.Overall, error) {
		return montecarlo.Overall{Mean: x * slopes[0]}, nil
	}, nil
}

// error computes the error of a side for a model: the mean over the labels.
func (f *filler) error(ctx context.Context, side int, l *plane.Line, x float64) (out montecarlo.Overall, err error) {
	e, err := l.Errors(ctx, x)
	if err != nil {
		return out, err
	}
	s := f.m.sides[side]
	p, err := f.m.scenario.ProblemOf(ctx, s.code, s.decoder, e, scenario.Sampling{Seed: f.draw.Seed})
	if err != nil {
		return out, err
	}
	if m := f.means[side]; m != nil {
		out.Mean, err = m.Mean(ctx, p, f.weights)
		return out, err
	}
	sums, _, err := montecarlo.Estimate(ctx, f.run.Backend, p, f.draw.Target(f.weights, false), nil)
	if err != nil {
		return out, err
	}
	return montecarlo.Average(f.weights, sums), nil
}
