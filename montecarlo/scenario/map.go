package scenario

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync/atomic"

	"gonum.org/v1/gonum/mat"

	"belsim/errmodel/perceived"
	"belsim/montecarlo"
	"belsim/theory"
	"belsim/theory/base/memory"
	"belsim/theory/base/parallel"
	"belsim/theory/base/table"
	"belsim/theory/code"
	"belsim/theory/decode"
)

// Method says how an expected error is computed.
type Method string

// The methods.
const (
	Bound  Method = "bound"
	Exact  Method = "exact"
	Sample Method = "mc"
)

// Text is the method in titles.
func (m Method) Text() string {
	switch m {
	case Exact:
		return "exact expected error"
	case Sample:
		return "sampled error"
	}
	return string(m)
}

// Side is one of the two codes of a map.
type Side struct {
	Code    *code.Code
	Decoder decode.Decoder
	Models  Lines // from Plane.Of
	Plane   PlaneKind
}

// Side returns a code with its named decoder and its models in a plane.
func (s *Scenario) Side(ctx context.Context, c *code.Code, decoder string, plane Plane) (side Side, err error) {
	side.Code = c
	if side.Decoder, err = s.Decoder(decoder, c); err != nil {
		return side, err
	}
	side.Plane = plane.Kind()
	side.Models, err = plane.Of(ctx, c)
	return side, err
}

// Map compares two codes A and B over a plane of error models: what heatmap writes as JSON.
type Map struct {
	A        string  `json:"a" doc:"code A"`
	B        string  `json:"b" doc:"code B"`
	DecoderA string  `json:"decoder_a" doc:"decoder of A"`
	DecoderB string  `json:"decoder_b" doc:"decoder of B"`
	Levels   int     `json:"levels" doc:"number of levels L of both codes"`
	Method   Method  `json:"method" doc:"bound, exact or mc"`
	Seed     *uint64 `json:"seed,omitempty" doc:"seed of the random numbers, with method mc"`
	Axes[[]float64]
	Cells   []Cell     `json:"cells" doc:"a row for each pair of parameters, the first of them the faster"`
	Outputs [2]Outputs `json:"outputs" doc:"what the decoders of A and B read: bits or logits"`
	Reading
	Cutoff   float64            `json:"cutoff,omitempty" doc:"cutoff κ of what networks learn, in cycles over the range; missing for the default, and in other models"`
	Training perceived.Training `json:"training,omitempty" doc:"bits: each bit was trained by itself; decoder: all together; missing in other models"`
	Provenance

	Plane PlaneKind `json:"-"` // which parameters the axes are
	LogX  bool      `json:"-"` // pictures show the first parameter on an axis of logarithms
	LogY  bool      `json:"-"` // and the second
}

// Columns leaves out of the CSV of the cells the parameters of other planes, and the standard
// errors where nothing was sampled.
func (m *Map) Columns() []table.Option {
	without := table.Without(m.Plane.Missing()...)
	if m.Method == Sample {
		return []table.Option{without}
	}
	return []table.Option{without, table.Without("a_stderr", "b_stderr", "increase_stderr")}
}

// X returns the values of the first parameter.
func (m *Map) X() []float64 { x, _ := m.Axes.Of(m.Plane); return x }

// Y returns the values of the second parameter.
func (m *Map) Y() []float64 { _, y := m.Axes.Of(m.Plane); return y }

// Cell is one pair of parameters, such as r and σ. Errors are in levels; they are null where some probability
// exceeds 1.
type Cell struct {
	Point
	A        float64  `json:"a" doc:"error of A, in levels; null where the parameters are invalid"`
	B        float64  `json:"b" doc:"error of B, in levels; null where the parameters are invalid"`
	Increase float64  `json:"increase_percent" doc:"100·(a − b)/b; null where b is zero, or the parameters are invalid"`
	StdErrA  *float64 `json:"a_stderr,omitempty" doc:"standard error of a, with method mc"`
	StdErrB  *float64 `json:"b_stderr,omitempty" doc:"standard error of b, with method mc"`
	StdErr   *float64 `json:"increase_stderr,omitempty" doc:"standard error of increase_percent to first order, with method mc"`

	unsure float64 // percent: how far Increase may be from the truth because errors are known within intervals
}

// NewMap returns the map with empty cells. The error is a *memory.Error where they do not fit
// in memory.
func (s *Scenario) NewMap(sides [2]Side, x, y Axis, method Method) (*Map, error) {
	const perCell = 320 // with its standard errors, and its numbers in a matrix and a figure
	if err := memory.Check(fmt.Sprintf("a map of %d × %d cells", len(x.Values), len(y.Values)), memory.Product(len(x.Values), len(y.Values), perCell)); err != nil {
		return nil, err
	}
	a, b := sides[0], sides[1]
	m := &Map{
		A: a.Code.Name(), B: b.Code.Name(), DecoderA: a.Decoder.Name(), DecoderB: b.Decoder.Name(),
		Levels: a.Code.Levels(), Method: method,
		Outputs: [2]Outputs{s.OutputsOf(a.Code, a.Decoder), s.OutputsOf(b.Code, b.Decoder)},
		Reading: s.Reading(), Plane: a.Plane, Axes: AxesOf(a.Plane, x.Values, y.Values),
		LogX: x.Logarithmic(), LogY: y.Logarithmic(),
	}
	if l, ok := a.Models.(perceivedLines); ok {
		m.Cutoff, m.Training = l.model.Cutoff, l.model.Training
	}
	m.Cells = make([]Cell, len(m.X())*len(m.Y()))
	for i := range m.Cells {
		m.Cells[i] = Cell{Point: m.Plane.Point(m.X()[i%len(m.X())], m.Y()[i/len(m.X())]), A: math.NaN(), B: math.NaN(), Increase: math.NaN()}
	}
	return m, nil
}

// Fill computes the cells of a map from NewMap, over the weights of the labels. run.Done is
// told how many cells were finished. The error wraps theory.ErrNoClosedForm where a code has no
// bound, or no exact value.
func (s *Scenario) Fill(ctx context.Context, run Run, m *Map, sides [2]Side, weights []float64, draw Sampling) error {
	f := &filler{s, run, m, sides, weights, draw}
	if m.Method == Sample {
		m.Seed = &draw.Seed
		return f.sample(ctx)
	}
	return f.theory(ctx)
}

// filler computes the cells of a map.
type filler struct {
	s       *Scenario
	run     Run
	m       *Map
	sides   [2]Side
	weights []float64
	draw    Sampling
}

// Row returns the cells of the i-th value of the second parameter.
func (m *Map) Row(i int) []Cell { return m.Cells[i*len(m.X()) : (i+1)*len(m.X())] }

// Increases is the map as a matrix, a row for each σ and a column for each r (or the like), in percent; NaN
// where it is blank.
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

// MapSummary says where A and B differ most.
type MapSummary struct {
	Valid       int   // cells with an increase
	BetterB     int   // cells in which B has the smaller error
	Least, Most *Cell // the cells of the extreme increases; nil where none is valid

	WithoutErrors int // cells without an increase because B has no errors
}

// Summary returns the extremes of a map.
func (m *Map) Summary() MapSummary {
	const rounding = 1e-9 // percent: less is no difference, nor is what intervals leave open
	var s MapSummary
	for i := range m.Cells {
		c := &m.Cells[i]
		if table.Missing(c.Increase) {
			if c.B == 0 {
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

// Increase returns 100·(a − b)/b, the increase of an error from b to a in percent; missing
// where b is not above zero.
func Increase(a, b float64) float64 {
	if !(b > 0) {
		return math.NaN()
	}
	return 100 * (a/b - 1)
}

// set takes the errors of both codes.
func (c *Cell) set(value, stderr [2]float64, sampled bool) {
	c.A, c.B = value[0], value[1]
	c.Increase = Increase(value[0], value[1])
	if sampled {
		a, b, increase := stderr[0], stderr[1], math.NaN()
		if value[1] > 0 {
			// To first order, and as if the two codes' samples were
			// independent. They come from the same seed, so this is a guide
			// to the increase, unlike the standard errors of a and b.
			increase = 100 * math.Hypot(stderr[0], value[0]/value[1]*stderr[1]) / value[1]
		}
		c.StdErrA, c.StdErrB, c.StdErr = &a, &b, &increase
	}
}

// lines prepares the models of both codes that share σ.
func (f *filler) lines(ctx context.Context, sigma float64) (lines [2]Line, err error) {
	for i, s := range f.sides {
		if lines[i], err = s.Models.Line(ctx, sigma); err != nil {
			return lines, err
		}
	}
	return lines, nil
}

// theory fills the map by bounds or exact values, the cells of one σ at a time on each worker.
func (f *filler) theory(ctx context.Context) error {
	return parallel.Each(ctx, f.run.Workers, len(f.m.Y()), func() (func(ctx context.Context, row int) error, error) {
		var means [2]lineMean
		unsure := 0.0
		for i, s := range f.sides {
			var err error
			var width float64
			if means[i], width, err = f.s.lineMean(ctx, s, f.m.Method, f.weights); err != nil {
				if errors.Is(err, theory.ErrNoClosedForm) {
					err = fmt.Errorf("%w; method mc samples instead", err)
				}
				return nil, err
			}
			unsure += 100 * width
		}
		return func(ctx context.Context, row int) error { return f.fill(ctx, f.m.Row(row), means, unsure) }, nil
	})
}

// fill computes the cells of one σ.
func (f *filler) fill(ctx context.Context, cells []Cell, means [2]lineMean, unsure float64) error {
	lines, err := f.lines(ctx, cells[0].Y())
	if err != nil {
		return err
	}
	var at [2]func(x float64) (float64, error)
	for i := range f.sides {
		if at[i], err = means[i](ctx, lines[i]); err != nil {
			return err
		}
	}
	for j := range cells {
		if err := ctx.Err(); err != nil {
			return err
		}
		c := &cells[j]
		if lines[0].Valid(c.X()) && lines[1].Valid(c.X()) {
			var value [2]float64
			for i := range f.sides {
				if value[i], err = at[i](c.X()); err != nil {
					return err
				}
			}
			c.set(value, [2]float64{}, false)
			c.unsure = unsure
		}
		f.run.done(1)
	}
	return nil
}

// lineMean prepares the mean error of a code, over the weights, for the models of one line. It
// belongs to one goroutine.
type lineMean func(ctx context.Context, l Line) (func(x float64) (float64, error), error)

// lineMean returns the mean errors by bounds or exact values, and their relative width.
func (s *Scenario) lineMean(ctx context.Context, side Side, method Method, weights []float64) (_ lineMean, width float64, err error) {
	p := s.Shape(side.Code, side.Decoder, side.Models)
	var mean func(ctx context.Context, weights []float64, e mat.Matrix) (float64, error)
	linear := false
	if method == Exact {
		x, err := ExactOf(ctx, p)
		if err != nil {
			return nil, 0, err
		}
		mean, width = x.Mean, x.Width
	} else {
		b, err := BoundOf(p)
		if err != nil {
			return nil, 0, err
		}
		mean, linear = b.Mean, b.Linear
	}
	return func(ctx context.Context, l Line) (func(x float64) (float64, error), error) {
		if largest, ok := l.Proportional(); ok && linear { // computed once for all x
			x := min(1, largest)
			unit, err := l.Errors(ctx, x)
			if err != nil {
				return nil, err
			}
			sum, err := mean(ctx, weights, unit)
			if err != nil {
				return nil, err
			}
			slope := sum / x
			return func(x float64) (float64, error) { return x * slope, nil }, nil
		}
		return func(x float64) (float64, error) {
			e, err := l.Errors(ctx, x)
			if err != nil {
				return 0, err
			}
			return mean(ctx, weights, e)
		}, nil
	}, width, nil
}

// SampledRows is about how many rows of code matrices are sampled together: enough to keep a
// device busy, and their sums take little memory.
const SampledRows = 1 << 18

// sample fills the map by samples, many cells at a time.
func (f *filler) sample(ctx context.Context) error {
	labels := 0
	for _, w := range f.weights {
		if w > 0 {
			labels++
		}
	}
	perCell := 2 * uint64(labels) * f.draw.Samples
	var finished atomic.Uint64
	done := func(n uint64) {
		now := finished.Add(n)
		f.run.done(now/perCell - (now-n)/perCell)
	}
	var problems [2][]*montecarlo.Problem
	var cells []*Cell
	flush := func() error {
		if len(cells) == 0 {
			return nil
		}
		// All of one code, then all of the other: neighbours share tables.
		sums, err := montecarlo.EstimateEach(ctx, f.run.Backend, append(problems[0], problems[1]...), f.draw.Samples, f.weights, done)
		if err != nil {
			return err
		}
		for i, c := range cells {
			a, b := montecarlo.Average(f.weights, sums[i]), montecarlo.Average(f.weights, sums[len(cells)+i])
			c.set([2]float64{a.Mean, b.Mean}, [2]float64{a.StdErr, b.StdErr}, true)
		}
		problems, cells = [2][]*montecarlo.Problem{}, nil
		return nil
	}
	for row, sigma := range f.m.Y() {
		lines, err := f.lines(ctx, sigma)
		if err != nil {
			return err
		}
		for j := range f.m.Row(row) {
			c := &f.m.Row(row)[j]
			pair, err := f.problems(ctx, lines, c.X())
			if err != nil {
				return err
			}
			if pair[0] == nil {
				f.run.done(1)
				continue
			}
			for i, p := range pair {
				problems[i] = append(problems[i], p)
			}
			cells = append(cells, c)
			if 2*len(cells)*f.m.Levels >= SampledRows {
				if err := flush(); err != nil {
					return err
				}
			}
		}
	}
	return flush()
}

// problems are sampled for one cell; nil where the parameters are invalid for one of the codes.
func (f *filler) problems(ctx context.Context, lines [2]Line, r float64) (pair [2]*montecarlo.Problem, err error) {
	if !lines[0].Valid(r) || !lines[1].Valid(r) {
		return pair, nil
	}
	for i, s := range f.sides {
		e, err := lines[i].Errors(ctx, r)
		if err != nil {
			return pair, err
		}
		pair[i], err = f.s.ProblemOf(ctx, s.Code, s.Decoder, e, Sampling{Seed: f.draw.Seed})
		if errors.Is(err, ErrBetween) {
			return [2]*montecarlo.Problem{}, nil // blank, as at levels
		}
		if err != nil {
			return pair, err
		}
	}
	return pair, nil
}
