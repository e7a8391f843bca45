// Package heatmap compares two codes over the plane of r and σ.
package heatmap

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"belsim/errmodel"
	"belsim/errmodel/scenario"
	"belsim/montecarlo"
	"belsim/montecarlo/plane"
	"belsim/theory"
	"belsim/theory/base/memory"
	"belsim/theory/base/parallel"
	"belsim/theory/base/refuse"
	"belsim/theory/base/table"
	"belsim/theory/code"
	"belsim/theory/cost"
	"belsim/theory/decode"
	"belsim/theory/expect"
)

// side is one of the two codes of a map, with the levels after which its bits change: they can be
// millions, and are listed once.
type side struct {
	code        *code.Code
	decoder     decode.Decoder
	transitions [][]int
}

// profile is that of the code's mixtures of a width σ.
func (s side) profile(ctx context.Context, sigma float64) (*errmodel.Profile, error) {
	return errmodel.NewProfile(ctx, s.code, s.transitions, sigma)
}

// Question says which errors a map compares.
type Question struct {
	Codes    [2]*code.Code // A and B, of as many levels
	Decoder  string        // of both
	R, Sigma plane.Axis
	Methods  []plane.Method // none: bounds of the paper and exact values, as far as both codes have them, or samples
}

// Map compares two codes A and B over the plane of r and σ: what heatmap writes as JSON.
type Map struct {
	// the design A
	A scenario.Design `json:"a"`
	// the design B
	B scenario.Design `json:"b"`
	// how errors were computed, in the order of the panels of a picture: bound, exact or mc
	Methods []plane.Method `json:"methods"`
	// which bounds those of A and B are, where bound is one of the methods
	Bounds []string  `json:"bounds,omitempty"`
	Seed   *uint64   `json:"seed,omitempty"`
	R      []float64 `json:"r"`
	Sigma  []float64 `json:"sigma"`
	// a row for each pair of parameters, r the faster
	Cells []Cell `json:"cells"`
	// noise that all bits share: its standard deviation in levels, or its file; missing where there is none
	Shared      string  `json:"shared,omitempty"`
	Temperature float64 `json:"temperature"`
	scenario.Measure
	table.Provenance

	LogR     bool `json:"-"` // pictures show r on an axis of logarithms
	LogSigma bool `json:"-"` // and σ

	scenario *scenario.Scenario
	sides    [2]side      // A and B
	largest  *plane.Point // where no cell is valid, the one with the largest valid r
}

// Missing are the columns that the CSV of the cells does not have: the methods that were not asked
// for.
func (m *Map) Missing() (missing []string) {
	for _, method := range []plane.Method{plane.Bound, plane.Exact, plane.Sample} {
		if !slices.Contains(m.Methods, method) {
			missing = append(missing, string(method))
		}
	}
	return missing
}

// Cell is a pair of r and σ with the errors by each method.
type Cell struct {
	plane.Point
	// errors by bounds
	Bound *Values `json:"bound,omitempty"`
	// exact errors
	Exact *Values `json:"exact,omitempty"`
	// sampled errors
	Sampled *Sampled `json:"mc,omitempty"`
}

// Of returns the errors by a method of the map.
func (c *Cell) Of(method plane.Method) *Values {
	switch method {
	case plane.Bound:
		return c.Bound
	case plane.Exact:
		return c.Exact
	}
	return &c.Sampled.Values
}

// Values are errors, by default in levels, and null where some probability exceeds 1.
type Values struct {
	// error of A; null where the parameters are invalid
	A float64 `json:"a"`
	// error of B; null where the parameters are invalid
	B float64 `json:"b"`
	// 100·(a − b)/b; null where b is zero, the parameters are invalid, or no sample of a or b erred
	Increase float64 `json:"increase_percent"`

	unknown bool    // the parameters are valid, and the interval of an exact value is too wide
	unsure  float64 // percent: how far Increase may be from the truth because errors are known within intervals
}

// Sampled are errors with their standard errors.
type Sampled struct {
	Values
	// standard error of a
	StdErrA float64 `json:"a_stderr"`
	// standard error of b
	StdErrB float64 `json:"b_stderr"`
	// standard error of increase_percent to first order
	StdErr float64 `json:"increase_stderr"`
}

// New returns the map of a question, with empty cells. The error is a *memory.Error where the cells
// do not fit in memory; it wraps decode.ErrUnfit where the decoder does not fit a code.
func New(ctx context.Context, s *scenario.Scenario, q Question) (*Map, error) {
	const perCell, ofMethod = 128, 192 // with their numbers in a matrix and a figure
	if err := memory.Check(fmt.Sprintf("a map of %d × %d cells", len(q.R.Values), len(q.Sigma.Values)),
		memory.Product(len(q.R.Values), len(q.Sigma.Values), perCell+ofMethod*max(1, len(q.Methods)))); err != nil {
		return nil, err
	}
	if err := cmp.Or(refuse.Twice("method", q.Methods), plane.Check(q.R, q.Sigma)); err != nil {
		return nil, err
	}
	var sides [2]side
	var designs [2]scenario.Design
	var bounds []string
	for i, c := range q.Codes {
		d, err := s.Decoder(q.Decoder, c)
		if err != nil {
			return nil, err
		}
		at, err := scenario.Transitions(ctx, c)
		if err != nil {
			return nil, err
		}
		sides[i], designs[i] = side{c, d, at}, s.Design(c, d)
		if name := expect.BoundName(s.WithoutErrors(c, d)); name != "" {
			bounds = append(bounds, name)
		}
	}
	m := Empty(designs, q.R, q.Sigma)
	m.scenario, m.sides, m.Temperature, m.Measure, m.Shared = s, sides, s.Temperature, s.Measure(), s.Shared.Text
	methods := q.Methods
	if len(methods) == 0 {
		var err error
		if methods, err = m.defaultMethods(ctx, bounds); err != nil {
			return nil, err
		}
	}
	m.AddMethods(bounds, methods...)
	return m, nil
}

// Empty returns the map of the designs A and B, without methods.
func Empty(designs [2]scenario.Design, r, sigma plane.Axis) *Map {
	m := &Map{A: designs[0], B: designs[1], R: r.Values, Sigma: sigma.Values, LogR: r.Logarithmic(),
		LogSigma: sigma.Logarithmic()}
	for _, y := range sigma.Values {
		for _, x := range r.Values {
			m.Cells = append(m.Cells, Cell{Point: plane.Point{R: x, Sigma: y}})
		}
	}
	return m
}

// AddMethods gives empty values to the cells of a map from Empty, by some methods. bounds are the names
// of the bounds of A and B.
func (m *Map) AddMethods(bounds []string, methods ...plane.Method) {
	m.Methods = methods
	if slices.Contains(methods, plane.Bound) {
		m.Bounds = bounds
	}
	none := math.NaN()
	for i := range m.Cells {
		c, empty := &m.Cells[i], Values{A: none, B: none, Increase: none}
		for _, method := range methods {
			switch v := empty; method {
			case plane.Bound:
				c.Bound = &v
			case plane.Exact:
				c.Exact = &v
			case plane.Sample:
				c.Sampled = &Sampled{v, none, none, none}
			}
		}
	}
}

// Fill computes the cells of a map from New, method by method. run.Done is told how many cells were
// finished. The error wraps theory.ErrNoClosedForm where a code has no bound, or no exact value.
func (m *Map) Fill(ctx context.Context, run montecarlo.Run, draw montecarlo.Sampling) error {
	weights, err := m.scenario.Weights(m.A.Levels)
	if err != nil {
		return err
	}
	var formulas, samples []*filler
	for _, method := range m.Methods { // all are known to exist before one is computed
		f := &filler{run: run, m: m, method: method, weights: weights, draw: draw}
		if method == plane.Sample {
			m.Seed = &draw.Seed
			samples = append(samples, f)
			continue
		}
		if err := f.prepare(ctx); err != nil {
			return err
		}
		formulas = append(formulas, f)
	}
	each := func(workers int, fillers []*filler) error {
		if len(fillers) == 0 {
			return nil
		}
		return parallel.Each(ctx, workers, len(m.Sigma), func() (func(context.Context, int) error, error) {
			return func(ctx context.Context, i int) error {
				profiles, err := m.profiles(ctx, m.Sigma[i])
				for j := 0; j < len(fillers) && err == nil; j++ {
					err = fillers[j].row(ctx, i, profiles)
				}
				return err
			}, nil
		})
	}
	if err := each(run.Workers, formulas); err != nil {
		return err
	}
	if err := each(1, samples); err != nil { // the backend has workers of its own
		return err
	}
	valid := 0
	for _, method := range m.Methods {
		valid += m.Summary(method).Valid
	}
	if valid > 0 {
		return nil
	}
	for _, sigma := range m.Sigma {
		profiles, err := m.profiles(ctx, sigma)
		if err != nil {
			return err
		}
		if most := min(profiles[0].MaxR(), profiles[1].MaxR()); m.largest == nil || most > m.largest.R {
			m.largest = &plane.Point{R: most, Sigma: sigma}
		}
	}
	return nil
}

// Row returns the cells of the i-th σ.
func (m *Map) Row(i int) []Cell { return m.Cells[i*len(m.R) : (i+1)*len(m.R)] }

// NotDefault lists the values of the map's scenario that are not the defaults, each after a comma;
// nothing of a map that is not from New.
func (m *Map) NotDefault() string {
	if m.scenario == nil {
		return ""
	}
	text := m.scenario.NotDefault()
	if name := m.scenario.Cost().Name(); name != (cost.Cost{}).Name() {
		text += ", cost " + name
	}
	if m.scenario.Cost().OnCircle() {
		text += ", on the circle"
	}
	return text
}

// Increases is the map by a method as a matrix, a row for each σ and a column for each r, in percent;
// NaN where it is blank.
func (m *Map) Increases(method plane.Method) *mat.Dense {
	z := mat.NewDense(len(m.Sigma), len(m.R), nil)
	for i := range m.Cells {
		z.Set(i/len(m.R), i%len(m.R), m.Cells[i].Of(method).Increase)
	}
	return z
}

// Nearest is the cell that a point lies in, or nil.
func (m *Map) Nearest(p plane.Point) *Cell {
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
	i, j := at(m.R, p.R), at(m.Sigma, p.Sigma)
	if i < 0 || j < 0 {
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

// Summary returns the extremes of a map by a method.
func (m *Map) Summary(method plane.Method) Summary {
	const rounding = 1e-9 // percent: less is no difference, nor is what intervals leave open
	var s Summary
	for i := range m.Cells {
		c := m.Cells[i].Of(method)
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
		if s.Least == nil || c.Increase < s.Least.Of(method).Increase {
			s.Least = &m.Cells[i]
		}
		if s.Most == nil || c.Increase > s.Most.Of(method).Increase {
			s.Most = &m.Cells[i]
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

// Set takes the errors of both codes by a method of the map. The standard errors stand in the cell
// where they are sampled.
func (c *Cell) Set(method plane.Method, a, b montecarlo.Overall) {
	v := c.Of(method)
	v.A, v.B, v.Increase = a.Mean, b.Mean, Increase(a.Mean, a.StdErr, b.Mean)
	v.unknown = math.IsNaN(a.Mean) || math.IsNaN(b.Mean)
	if method != plane.Sample {
		return
	}
	c.Sampled.StdErrA, c.Sampled.StdErrB = a.StdErr, b.StdErr
	if !table.Missing(v.Increase) {
		// To first order, and as if the two codes' samples were independent. They come from the
		// same seed, so this is a guide to the increase, unlike the standard errors of a and b.
		c.Sampled.StdErr = 100 * math.Hypot(a.StdErr, a.Mean/b.Mean*b.StdErr) / b.Mean
	}
}

// profiles are those of both codes for σ.
func (m *Map) profiles(ctx context.Context, sigma float64) (p [2]*errmodel.Profile, err error) {
	for i, s := range m.sides {
		if p[i], err = s.profile(ctx, sigma); err != nil {
			return p, err
		}
	}
	return p, nil
}

// filler computes the cells of a map.
type filler struct {
	run     montecarlo.Run
	m       *Map
	method  plane.Method
	weights []float64 // of the labels
	draw    montecarlo.Sampling
	means   [2]*expect.Mean // of A and B; nil where errors are sampled
	unsure  float64         // of the increase, in percent
}

// prepare prepares the formulas of bounds or exact values.
func (f *filler) prepare(ctx context.Context) error {
	for i, s := range f.m.sides {
		mean, err := f.method.MeanOf(ctx, f.m.scenario.WithoutErrors(s.code, s.decoder))
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
func (f *filler) row(ctx context.Context, row int, profiles [2]*errmodel.Profile) (err error) {
	var found [2][]montecarlo.Overall
	for i, l := range profiles {
		found[i] = make([]montecarlo.Overall, len(f.m.R))
		weights, folded := f.weights, false
		for j, x := range f.m.R {
			if err := ctx.Err(); err != nil {
				return err
			}
			valid := profiles[0].Valid(x) && profiles[1].Valid(x)
			if valid {
				p, err := f.m.problem(f.m.sides[i], l, x)
				if err != nil {
					return err
				}
				if !folded && f.means[i] != nil && p.Cost.Absolute() && p.Shared == nil {
					weights, folded = theory.Fold(p.Decoder, p.Errors, weights), true // of all r
				}
				if found[i][j], err = f.error(ctx, f.means[i], p, weights); err != nil {
					return err
				}
			}
			if i == 0 {
				continue
			}
			if valid {
				c := &f.m.Row(row)[j]
				c.Set(f.method, found[0][j], found[1][j])
				c.Of(f.method).unsure = f.unsure
			}
			f.run.Finished(1)
		}
	}
	return nil
}

// error computes the error of a problem: the mean over the labels. mean is nil where it is sampled.
func (f *filler) error(ctx context.Context, mean *expect.Mean, p *expect.Problem,
	weights []float64) (out montecarlo.Overall, err error) {
	if mean != nil {
		out.Mean, err = mean.Mean(ctx, p, weights)
		return out, err
	}
	sums, _, err := montecarlo.Estimate(ctx, f.run.Backend, f.draw.Of(p), f.draw, weights, nil)
	if err != nil {
		return out, err
	}
	return montecarlo.Average(weights, sums), nil
}

// problem is the problem of a side for a mixture.
func (m *Map) problem(of side, l *errmodel.Profile, r float64) (*expect.Problem, error) {
	e, err := l.Mixture(r)
	if err != nil {
		return nil, err
	}
	return m.scenario.ProblemOf(of.code, of.decoder, e)
}
