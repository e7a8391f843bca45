package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"belsim/errmodel"
	"belsim/montecarlo"
	"belsim/montecarlo/compare"
	"belsim/montecarlo/heatmap"
	"belsim/montecarlo/plane"
	"belsim/montecarlo/scenario"
	"belsim/theory/code"
	"belsim/theory/decode"
	"belsim/theory/enclose"
)

// Subject is what most questions begin with.
type Subject struct {
	Scene   Scene  `json:"scene"`
	Code    Code   `json:"code"`
	Decoder string `json:"decoder"` // "" stands for the scene's
}

// codeAnswer describes a code.
type codeAnswer struct {
	Name     string    `json:"name"`
	Levels   int       `json:"levels"`
	Bits     int       `json:"bits"`
	Problem  string    `json:"problem"`  // why the matrix is no code; "" where it is one
	Decoders []string  `json:"decoders"` // those that fit it
	Decoder  string    `json:"decoder"`  // the one that the scene's name stands for
	Plain    string    `json:"plain"`    // what the scene's decoder is without changed bits; "" where none are
	Unfit    string    `json:"unfit"`    // why the scene's decoder does not fit
	Prior    []float64 `json:"prior"`    // of length L
}

// code answers with a code's matrix, L × M bytes of 0 and 1, and the decoders that fit it.
func (e *Engine) code(_ context.Context, q Subject) (*Answer, error) {
	s, err := q.Scene.scenario()
	if err != nil {
		return nil, err
	}
	m, err := q.Code.matrix(q.Scene.Levels)
	if err != nil {
		return nil, err
	}
	out := codeAnswer{Name: q.Code.Name, Decoders: []string{}}
	out.Levels, out.Bits = m.Dims()
	if out.Prior, err = s.Weights(out.Levels); err != nil {
		return nil, err
	}
	if c, err := e.open(q.Code, q.Scene.Levels); err != nil {
		out.Problem = err.Error()
	} else {
		out.Name, out.Decoders = c.Name(), reads(s, c)
		if d, err := s.Decoder(q.Scene.Decoder, c); err != nil {
			out.Unfit = err.Error()
		} else {
			out.Decoder = d.Name()
		}
	}
	if len(q.Code.Flips) > 0 {
		plain := q.Code
		plain.Flips = nil
		c, err := e.open(plain, q.Scene.Levels)
		if err != nil {
			return nil, err
		}
		if d, err := s.Decoder(q.Scene.Decoder, c); err == nil {
			out.Plain = d.Name()
		}
	}
	bits := make([]byte, out.Levels*out.Bits)
	for i := range out.Levels {
		for k := range out.Bits {
			bits[i*out.Bits+k] = byte(m.At(i, k))
		}
	}
	return &Answer{JSON: out, Bytes: map[string][]byte{"matrix": bits}}, nil
}

// errorsAnswer says which mixtures are valid for a code.
type errorsAnswer struct {
	Problem string  `json:"problem"` // why the model is not valid for the code; "" where it is
	MaxR    float64 `json:"max_r"`   // the largest valid r for this σ; null in other models
}

// errors answers with the error probabilities of all bits: e, L × M. There are none where the
// model is not valid for the code.
func (e *Engine) errors(ctx context.Context, q Subject) (*Answer, error) {
	s, err := q.Scene.scenario()
	if err != nil {
		return nil, err
	}
	c, err := e.open(q.Code, q.Scene.Levels)
	if err != nil {
		return nil, err
	}
	out := errorsAnswer{MaxR: math.NaN()}
	if q.Scene.Model == mixture {
		p, err := errmodel.NewProfile(ctx, c.Levels(), c.Transitions(), q.Scene.Sigma)
		if err != nil {
			return nil, err
		}
		out.MaxR = p.MaxR()
	}
	probabilities, err := s.Errors(ctx, c)
	if scenario.Invalid(err) {
		out.Problem = err.Error()
		return &Answer{JSON: out}, nil
	}
	if err != nil {
		return nil, err
	}
	return &Answer{JSON: out, Numbers: map[string][]float64{"e": mat.DenseCopyOf(probabilities).RawMatrix().Data}}, nil
}

// theoryQuestion asks for the bound and the exact value of every level.
type theoryQuestion struct {
	Subject
	Quick bool `json:"quick"` // leave out bounds and exact values that take long
}

// theoryAnswer has the means over the prior, in levels.
type theoryAnswer struct {
	Decoder   string           `json:"decoder"`
	Outputs   scenario.Outputs `json:"outputs"`
	BoundName string           `json:"bound_name"` // "" where there is none
	BoundKind string           `json:"bound_kind"` // bounds of one kind may be compared
	BoundMean float64          `json:"bound_mean"`
	ExactMean float64          `json:"exact_mean"`
	ExactLo   float64          `json:"exact_lo"` // the exact mean lies between these two, where no formula gives it
	ExactHi   float64          `json:"exact_hi"`
	Later     bool             `json:"later"` // bounds or exact values take long, and were left out
}

// theory answers with the bound and the exact value of every level: NaN where there are none.
func (e *Engine) theory(ctx context.Context, q theoryQuestion) (*Answer, error) {
	s, err := e.subject(ctx, q.Scene, q.Code, q.Decoder)
	if err != nil {
		return nil, err
	}
	omit, later := s.omit(q.Quick)
	omit.Intervals = true // of each level, below
	known, err := scenario.TheoryOf(ctx, run.Workers, s.problem, s.weights, omit)
	if err != nil {
		return nil, err
	}
	th := known.Levels
	out := theoryAnswer{Decoder: s.problem.Decoder.Name(), Outputs: s.outputs(), Later: later, ExactLo: math.NaN(),
		ExactHi: math.NaN()}
	if b, err := scenario.BoundOf(s.problem); err == nil {
		out.BoundName, out.BoundKind = b.Name, b.Kind()
	}
	out.BoundMean, out.ExactMean = known.Mean.Bound, known.Mean.Exact
	if !q.Quick && s.enclosable() {
		if err := s.enclose(ctx, th, &out); err != nil {
			return nil, err
		}
	}
	bound, exact := make([]float64, len(th)), make([]float64, len(th))
	for i, t := range th {
		bound[i], exact[i] = t.Bound, t.Mean
	}
	return &Answer{JSON: out, Numbers: map[string][]float64{"bound": bound, "exact": exact}}, nil
}

// Work of exact values, in additions: what is done at once, some ten milliseconds in a browser,
// and what a page does at all, some seconds.
const (
	quickWork = 1 << 22
	mostWork  = 1 << 29
)

// work is about how many additions the exact values take; 0 where there are none.
func (s *subject) work() int {
	c := s.code
	if !scenario.HasExact(s.problem) {
		return 0
	}
	work := 0
	switch s.problem.Decoder.Name() {
	case decode.BelU{}.Name(), decode.BelJ{}.Name(): // closed forms
		work = 4 * c.Levels() * c.Bits() * c.Bits()
	default: // a sum over all outputs
		if c.Bits() > 20 {
			return 0
		}
		work = 4 * c.Levels() << c.Bits()
	}
	if s.problem.Kind.Perceived() {
		work *= decode.Strata
	}
	return work
}

// enclosable reports whether exact values that no formula gives lie in intervals. A page does
// without those of networks, which take minutes.
func (s *subject) enclosable() bool {
	return s.problem.Kind == montecarlo.IndependentBits && s.work() == 0 && enclose.Fits(s.code, s.problem.Decoder)
}

// levelWidth is the largest relative width of an interval that is shown as the exact value of a
// level: less than the width of a line.
const levelWidth = 1e-3

// enclose sets exact values to the middles of intervals, where they are narrow, and the interval
// of the mean.
func (s *subject) enclose(ctx context.Context, th []montecarlo.Theory, out *theoryAnswer) error {
	rows, err := enclose.Rows(ctx, run.Workers, s.code, s.problem.Decoder, s.weights, []mat.Matrix{s.problem.Errors},
		enclose.DefaultOptions())
	if errors.Is(err, enclose.ErrTooWide) {
		return nil
	}
	if err != nil {
		return err
	}
	for i, v := range rows {
		if s.weights[i] > 0 && v.Width() <= levelWidth {
			th[i].Mean = v.Middle()
		}
	}
	mean := enclose.Mean(s.weights, rows)
	out.ExactLo, out.ExactHi = mean.Lo, mean.Hi
	if mean.Width() <= scenario.ExactWidth {
		out.ExactMean = mean.Middle()
	}
	return nil
}

// boundWork is about how many additions the bounds take: the union bound of gen compares all
// pairs of code words, by a recurrence over the bits in which they differ.
func (s *subject) boundWork() int {
	if s.problem.Decoder.Name() != (decode.Gen{}).Name() || s.outputs() != scenario.Bits {
		return 0
	}
	squares := 0
	for i := 1; i < s.code.Levels(); i++ {
		d := s.code.Distance(0, i)
		squares += d * d
	}
	work := s.code.Levels() * squares / 2
	if s.problem.Kind.Perceived() {
		work *= decode.Strata
	}
	return work
}

// omit says what is left out: what takes more than mostWork always, and more than quickWork where
// quick says so. Intervals of networks would take minutes. later is true where something is left
// out that takes less than mostWork.
func (s *subject) omit(quick bool) (o scenario.Omit, later bool) {
	work := s.work()
	o = scenario.Omit{
		Bounds: quick && s.boundWork() > quickWork, Exact: work > mostWork || quick && work > quickWork,
		Intervals: quick || work > mostWork || s.problem.Kind.Perceived(), AnyLaw: true,
	}
	return o, quick && (o.Bounds || o.Exact && work <= mostWork || s.enclosable())
}

// samplesQuestion asks for samples of some levels, From to To−1, from 0.
type samplesQuestion struct {
	Subject
	Samples uint64 `json:"samples"` // of each level
	From    int    `json:"from"`
	To      int    `json:"to"`
}

// samples answers with the mean |error| of every level and its standard error: those of the command
// for as many samples.
func (e *Engine) samples(ctx context.Context, q samplesQuestion) (*Answer, error) {
	s, err := e.subject(ctx, q.Scene, q.Code, q.Decoder)
	if err != nil {
		return nil, err
	}
	if q.From < 0 || q.To > s.code.Levels() || q.From >= q.To {
		return nil, fmt.Errorf("levels %d to %d: want some of 1 to %d", q.From+1, q.To, s.code.Levels())
	}
	these := make([]float64, s.code.Levels())
	for row := q.From; row < q.To; row++ {
		these[row] = 1
	}
	target := montecarlo.Target{Samples: q.Samples, Prior: these}
	sums, _, err := montecarlo.Estimate(ctx, run.Backend, s.problem, target, nil)
	if err != nil {
		return nil, err
	}
	n := q.To - q.From
	mean, stderr := make([]float64, n), make([]float64, n)
	for i, sum := range sums[q.From:q.To] {
		mean[i], stderr[i] = sum.Mean(), sum.StdErr()
	}
	return &Answer{Numbers: map[string][]float64{"mean": mean, "stderr": stderr}}, nil
}

// rowQuestion asks for a row of the table of codes.
type rowQuestion struct {
	Subject
	Samples uint64 `json:"samples"` // of each level
	Quick   bool   `json:"quick"`   // leave out a bound or an exact value that takes long
}

// rowAnswer is a row of the table, or why there is none.
type rowAnswer struct {
	compare.Result
	Later     bool   `json:"later"`     // a bound or an exact value takes long, and was left out
	Unlearned bool   `json:"unlearned"` // networks learn the code badly, and the model does not know it
	Problem   string `json:"problem"`   // why there are no numbers; "" where there are
}

// row answers with a row of the table of codes, as compare has it.
func (e *Engine) row(ctx context.Context, q rowQuestion) (*Answer, error) {
	s, err := e.subject(ctx, q.Scene, q.Code, q.Decoder)
	if err != nil {
		if ctx.Err() != nil { // stopped: this is no problem of the code
			return nil, ctx.Err()
		}
		return &Answer{JSON: rowAnswer{Problem: err.Error()}}, nil
	}
	out := rowAnswer{}
	if out.Result, out.Unlearned, out.Later, err = s.result(ctx, q.Samples, q.Quick); err != nil {
		return nil, err
	}
	return &Answer{JSON: out}, nil
}

// draw is the sampling of the subject's problem.
func (s *subject) draw(samples uint64) scenario.Sampling {
	return scenario.Sampling{Samples: samples, Seed: s.problem.Seed, Within: s.problem.Within}
}

// result is the row of compare, and whether compare has it below its line. later is true where a
// value is left out that takes long.
func (s *subject) result(ctx context.Context, samples uint64, quick bool) (r compare.Result, unlearned, later bool,
	err error) {
	omit, later := s.omit(quick)
	c, err := compare.Rank(ctx, s.scenario, run, &compare.Candidates{
		Problems: []*montecarlo.Problem{s.problem}, Omit: omit,
	}, s.draw(samples))
	if err != nil {
		return r, false, false, err
	}
	return c.Results[0], c.Unlearned(c.Results[0]), later, nil
}

// MapQuestion asks for some rows of the map of two codes.
type MapQuestion struct {
	Scene   Scene           `json:"scene"`
	A       Code            `json:"a"`
	B       Code            `json:"b"`
	Method  scenario.Method `json:"method"`
	X       string          `json:"x"` // lo:hi:count:log
	Y       string          `json:"y"`
	From    int             `json:"from"` // the first row, from 0
	To      int             `json:"to"`   // the row after the last one
	Samples uint64          `json:"samples"`
}

// mapAnswer describes a map.
type mapAnswer struct {
	DecoderA string `json:"decoder_a"`
	DecoderB string `json:"decoder_b"`
}

// mapRows answers with rows of the map of two codes, as heatmap has them: the increase of A's error
// over B's in percent.
func (e *Engine) mapRows(ctx context.Context, q MapQuestion) (*Answer, error) {
	m, err := e.fill(ctx, q)
	if err != nil {
		return nil, err
	}
	increase := make([]float64, len(m.Cells))
	for i, c := range m.Cells {
		increase[i] = c.Increase
	}
	return &Answer{JSON: mapAnswer{m.A.Decoder, m.B.Decoder}, Numbers: map[string][]float64{"increase": increase}}, nil
}

// fill computes rows of a map, all of them where q.To is 0.
func (e *Engine) fill(ctx context.Context, q MapQuestion) (*heatmap.Map, error) {
	var x, y plane.Axis
	if err := cmp.Or(x.UnmarshalText([]byte(q.X)), y.UnmarshalText([]byte(q.Y))); err != nil {
		return nil, err
	}
	if q.To == 0 {
		q.To = len(y.Values)
	}
	if q.From < 0 || q.To > len(y.Values) || q.From >= q.To {
		return nil, fmt.Errorf("rows %d to %d of the map: want some of %d", q.From, q.To, len(y.Values))
	}
	s, err := q.Scene.scenario()
	if err != nil {
		return nil, err
	}
	var models plane.Models = plane.Mixture{}
	if p, ok := s.Model.(scenario.Perceived); ok {
		models = plane.Perceived{Model: p, Prior: s.Prior}
	}
	var codes [2]*code.Code
	for i, c := range []Code{q.A, q.B} {
		if codes[i], err = e.open(c, q.Scene.Levels); err != nil {
			return nil, err
		}
	}
	m, err := heatmap.New(ctx, s, codes, q.Scene.Decoder, models, x, y, q.Method)
	if err != nil {
		return nil, err
	}
	m.Cells = m.Cells[q.From*len(m.X()) : q.To*len(m.X())]
	m.Axes = plane.AxesOf(m.Plane, m.X(), m.Y()[q.From:q.To])
	return m, m.Fill(ctx, s, run, q.Scene.draw(q.Samples))
}
