package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"

	"gonum.org/v1/gonum/mat"

	"belsim/errmodel"
	"belsim/montecarlo"
	"belsim/montecarlo/compare"
	"belsim/montecarlo/heatmap"
	"belsim/montecarlo/plane"
	"belsim/theory"
	"belsim/theory/base/refuse"
	"belsim/theory/base/table"
	"belsim/theory/code"
	"belsim/theory/decode"
	"belsim/theory/expect"
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
	Plain    string    `json:"plain"`    // the same of the code without changed bits; "" where there are none
	Unfit    string    `json:"unfit"`    // why the scene's decoder does not fit
	Prior    []float64 `json:"prior"`    // of length L
}

// code answers with a code's matrix, L × M bytes of 0 and 1, and the decoders that fit it.
func (e *Engine) code(_ context.Context, q Subject) (*answer, error) {
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
	if c, err := q.Code.open(q.Scene.Levels); err != nil {
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
		c, err := plain.open(q.Scene.Levels)
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
	return &answer{JSON: out, Bytes: map[string][]byte{"matrix": bits}}, nil
}

// errorsAnswer says which mixtures are valid for a code.
type errorsAnswer struct {
	Problem string  `json:"problem"` // why the model is not valid for the code; "" where it is
	MaxR    float64 `json:"max_r"`   // the largest valid r for this σ
}

// errors answers with the error probabilities of all bits: e, L × M. There are none where the
// model is not valid for the code.
func (e *Engine) errors(ctx context.Context, q Subject) (*answer, error) {
	s, err := q.Scene.scenario()
	if err != nil {
		return nil, err
	}
	c, err := q.Code.open(q.Scene.Levels)
	if err != nil {
		return nil, err
	}
	p, err := errmodel.NewProfile(ctx, c, c.Transitions(), q.Scene.Sigma)
	if err != nil {
		return nil, err
	}
	out := errorsAnswer{MaxR: p.MaxR()}
	probabilities, err := s.Model.Errors(ctx, c)
	if errmodel.Invalid(err) {
		out.Problem = err.Error()
		return &answer{JSON: out}, nil
	}
	if err != nil {
		return nil, err
	}
	return &answer{JSON: out, Numbers: map[string][]float64{"e": mat.DenseCopyOf(probabilities).RawMatrix().Data}}, nil
}

// theoryQuestion asks for the bound and the exact value of every level.
type theoryQuestion struct {
	Subject
	Quick bool `json:"quick"` // leave out bounds and exact values that take long
}

// theoryAnswer has the means over the prior.
type theoryAnswer struct {
	Decoder   string          `json:"decoder"`
	Outputs   decode.Outputs  `json:"outputs"`
	BoundName string          `json:"bound_name"` // "" where there is none
	BoundKind string          `json:"bound_kind"` // bounds of one kind may be compared
	Mean      expect.Expected `json:"mean"`
	Later     bool            `json:"later"` // a bound or an exact value takes long, and was left out
}

// levelWidth is the largest relative width of an interval that is shown as the exact value of a
// level: less than the width of a line.
const levelWidth = 1e-3

// theory answers with the bound and the exact value of every level: NaN where there are none.
func (e *Engine) theory(ctx context.Context, q theoryQuestion) (*answer, error) {
	s, err := e.subject(ctx, q.Scene, q.Code, q.Decoder)
	if err != nil {
		return nil, err
	}
	omit := s.omit(q.Quick)
	th, err := expect.Of(ctx, run.Workers, s.problem.Expected(), s.weights, omit)
	if err != nil {
		return nil, err
	}
	out := theoryAnswer{Decoder: s.problem.Decoder.Name(), Outputs: s.outputs(), Mean: th.Mean,
		Later: q.Quick && s.more(omit, th.Mean)}
	out.BoundName = expect.BoundName(s.problem.Expected())
	out.BoundKind = expect.BoundKind(out.BoundName)
	bound, exact := make([]float64, len(th.Levels)), make([]float64, len(th.Levels))
	for i, t := range th.Levels {
		bound[i], exact[i] = t.Bound, t.Mean
	}
	for i, v := range th.Intervals {
		if s.weights[i] > 0 && v.Width() <= levelWidth {
			exact[i] = v.Middle()
		}
	}
	return &answer{JSON: out, Numbers: map[string][]float64{"bound": bound, "exact": exact}}, nil
}

// omit says what a page does without: of exact values what takes some seconds. A quick answer has no
// intervals, and nothing that takes more than some ten milliseconds in a browser, a hundredth of what
// expect.Skip calls slow. Work is counted in additions.
func (s *subject) omit(quick bool) expect.Skip {
	mostExact, mostBound := 1<<27, math.MaxInt
	if quick {
		mostExact, mostBound = 1<<20, 1<<22
	}
	levels, bits := s.problem.Code.Levels(), s.problem.Code.Bits()
	exact, bound := levels<<min(bits, 32), 0 // all outputs
	switch s.problem.Decoder.(type) {
	case decode.BelU, decode.BelJ: // closed forms
		exact = levels * bits * bits
	case decode.Gen: // the union bound compares pairs of words, by a recurrence over the bits that differ
		for i := range levels {
			d := s.problem.Code.Distance(0, i)
			bound += levels * d * d / 2
		}
	}
	return expect.Skip{
		Bounds: s.problem.Kind.Hard() && bound > mostBound, Exact: exact > mostExact,
		Intervals: quick, AnyLaw: true, Limit: true,
	}
}

// more reports whether there may be more than was found where some was left out.
func (s *subject) more(omit expect.Skip, found expect.Expected) bool {
	return omit.Bounds || table.Missing(found.Exact) && s.problem.Kind.Hard()
}

// mostAnswers is the largest number of levels whose confusion matrix is computed: 2 MiB.
const mostAnswers = 512

// answers answers with the confusion matrix, L × L: how probable each answer is at each level. It is empty where
// no formula gives it, or where it takes some seconds.
func (e *Engine) answers(ctx context.Context, q Subject) (*answer, error) {
	s, err := e.subject(ctx, q.Scene, q.Code, q.Decoder)
	if err != nil {
		return nil, err
	}
	numbers := []float64{}
	if s.problem.Code.Levels() <= mostAnswers && !s.omit(false).Exact {
		m, err := expect.Confusion(ctx, run.Workers, s.problem.Expected())
		if err == nil {
			numbers = m.RawMatrix().Data
		} else if !errors.Is(err, theory.ErrNoClosedForm) {
			return nil, err
		}
	}
	return &answer{Numbers: map[string][]float64{"answers": numbers}}, nil
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
func (e *Engine) samples(ctx context.Context, q samplesQuestion) (*answer, error) {
	s, err := e.subject(ctx, q.Scene, q.Code, q.Decoder)
	if err != nil {
		return nil, err
	}
	if q.From < 0 || q.To > s.problem.Code.Levels() || q.From >= q.To {
		return nil, fmt.Errorf("levels %d to %d: want some of 1 to %d", q.From+1, q.To, s.problem.Code.Levels())
	}
	these := make([]float64, s.problem.Code.Levels())
	for row := q.From; row < q.To; row++ {
		these[row] = 1
	}
	sums, _, err := montecarlo.Estimate(ctx, run.Backend, s.problem, montecarlo.Sampling{Samples: q.Samples}, these, nil)
	if err != nil {
		return nil, err
	}
	n := q.To - q.From
	mean, stderr := make([]float64, n), make([]float64, n)
	for i, sum := range sums[q.From:q.To] {
		mean[i], stderr[i] = sum.Mean(), sum.StdErr()
	}
	return &answer{Numbers: map[string][]float64{"mean": mean, "stderr": stderr}}, nil
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
func (e *Engine) row(ctx context.Context, q rowQuestion) (*answer, error) {
	s, err := e.subject(ctx, q.Scene, q.Code, q.Decoder)
	if err != nil {
		if ctx.Err() != nil { // stopped: this is no problem of the code
			return nil, ctx.Err()
		}
		return &answer{JSON: rowAnswer{Problem: err.Error()}}, nil
	}
	candidates := &compare.Candidates{Problems: []*montecarlo.Problem{s.problem}, Skip: s.omit(q.Quick)}
	c, err := compare.Rank(ctx, s.scenario, run, candidates, q.Scene.draw(q.Samples))
	if err != nil {
		return nil, err
	}
	r := c.Results[0]
	return &answer{JSON: rowAnswer{Result: r, Unlearned: c.Unlearned(r),
		Later: q.Quick && s.more(candidates.Skip, r.Expected)}}, nil
}

// mapQuestion asks for some rows of the map of two codes.
type mapQuestion struct {
	Scene   Scene        `json:"scene"`
	A       Code         `json:"a"`
	B       Code         `json:"b"`
	Method  plane.Method `json:"method"`
	X       string       `json:"x"` // lo:hi:count:log
	Y       string       `json:"y"`
	From    int          `json:"from"` // the first row, from 0
	To      int          `json:"to"`   // the row after the last one
	Samples uint64       `json:"samples"`
}

// mapAnswer describes a map.
type mapAnswer struct {
	DecoderA string `json:"decoder_a"`
	DecoderB string `json:"decoder_b"`
	Valid    int    `json:"valid"`    // cells with an increase
	BetterB  int    `json:"better_b"` // those in which B has the smaller error
}

// mapRows answers with rows of the map of two codes, as heatmap has them: the increase of A's error
// over B's in percent.
func (e *Engine) mapRows(ctx context.Context, q mapQuestion) (*answer, error) {
	m, err := e.fill(ctx, q)
	if err != nil {
		return nil, err
	}
	increase := make([]float64, len(m.Cells))
	for i, c := range m.Cells {
		increase[i] = c.Of(q.Method).Increase
	}
	sum := m.Summary(q.Method)
	return &answer{JSON: mapAnswer{m.A.Decoder, m.B.Decoder, sum.Valid, sum.BetterB},
		Numbers: map[string][]float64{"increase": increase}}, nil
}

// fill computes rows of a map, all of them where q.To is 0.
func (e *Engine) fill(ctx context.Context, q mapQuestion) (*heatmap.Map, error) {
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
	const most = 1 << 18
	y.Values = y.Values[q.From:q.To]
	if cells := len(x.Values) * len(y.Values); cells > most {
		return nil, fmt.Errorf("%d × %d cells of a map: the explorer takes up to %d at a time; the command has no such limit",
			len(x.Values), len(y.Values), most)
	}
	s, err := q.Scene.scenario()
	if err != nil {
		return nil, err
	}
	var codes [2]*code.Code
	for i, c := range []Code{q.A, q.B} {
		if codes[i], err = c.open(q.Scene.Levels); err != nil {
			return nil, err
		}
	}
	if !slices.Contains([]plane.Method{plane.Bound, plane.Exact, plane.Sample}, q.Method) {
		return nil, &refuse.Value{Name: "method", Value: strconv.Quote(string(q.Method)), Want: "bound, exact or mc"}
	}
	m, err := heatmap.New(ctx, s, heatmap.Question{Codes: codes, Decoder: q.Scene.Decoder, R: x, Sigma: y,
		Methods: []plane.Method{q.Method}})
	if err != nil {
		return nil, err
	}
	return m, m.Fill(ctx, run, q.Scene.draw(q.Samples))
}
