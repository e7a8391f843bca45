// Package expect says what theory knows of the error of a problem, a code with a decoder and error
// probabilities: bounds, exact values or intervals that hold them, and what holds under any law of the
// bits.
package expect

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	"gonum.org/v1/gonum/mat"

	"belsim/theory"
	"belsim/theory/anylaw"
	"belsim/theory/base/matrix"
	"belsim/theory/base/parallel"
	"belsim/theory/base/table"
	"belsim/theory/code"
	"belsim/theory/cost"
	"belsim/theory/decode"
	"belsim/theory/enclose"
)

// Problem is a code with a decoder that fits it, and what it reads.
type Problem struct {
	Code    *code.Code
	Decoder decode.Decoder
	Errors  mat.Matrix // L × M: how probable it is that a bit is wrong, given the level; nil where no value is computed
	Logits  bool       // the decoder reads logits, and not bits
	Cost    cost.Cost  // whose expectation is asked for; the zero value is |answer − n|, in levels
	// Shared is noise that all bits share, so that Errors are those of independent bits given the
	// level that they are read at; nil for none.
	Shared *theory.Shared
}

// Level is the bound and the exact mean of the cost of one label, and what else the law of its answer
// says; NaN where there are none.
type Level struct {
	Bound      float64
	Mean       float64 // exact expectation of the cost
	MeanSquare float64 // exact second moment of the cost
	Square     float64 // exact mean of the squared distance of the answer
	// AnyLaw is the smallest and the largest expectation under any joint law of the bits; nil for none.
	AnyLaw *[2]float64
}

// Theory is what theory says of a problem.
type Theory struct {
	Levels []Level        // of every level; NaN where a value is left out or does not exist
	Laws   []anylaw.Level // what holds under any law of the bits, of every level; nil where it is left out
	Mean   Expected       // over the prior
	RMS    float64        // exact root of the mean squared distance, over the prior; NaN where a level has none
	Bound  string         // which bound it is, for people; "" where it is left out or there is none
	// Intervals hold the exact values of the levels, where no formula gives them; nil where there
	// are none, or they are left out.
	Intervals []enclose.Interval
}

// Expected is the mean |error| over the labels, in levels.
type Expected struct {
	Bound float64 `json:"bound" text:"bound"`
	Exact float64 `json:"exact" text:"exact"`
	// lower end of the interval of the exact mean; missing where a formula gives exact, or where
	// there is none
	ExactLo *float64 `json:"exact_lo,omitempty" csv:"-"`
	// end of the interval; exact is its middle where it is narrow
	ExactHi *float64 `json:"exact_hi,omitempty" csv:"-"`
	// smallest and largest mean cost over all joint laws of the bits with these error
	// probabilities; missing where there are none, or where they take long; in CSV any_law_lo and any_law_hi
	AnyLaw *[2]float64 `json:"any_law,omitempty" text:"any law"`

	Later bool `json:"-"` // any law takes long, and was left out
}

// Skip says which values are left out, because they take long.
type Skip struct {
	Bounds, Exact, Intervals, AnyLaw bool
	Limit                            bool // which only package compare computes
	SlowLaw                          bool // of any law, what takes more than about a second of a processor
	Slow                             bool // of everything, what does
}

// Patience is how long any law may take on a processor where slow values are not left out.
const Patience = 5 * time.Minute

// LawTime is about how long any law of a problem takes on a processor; 0 where it has none.
func LawTime(p *Problem) time.Duration {
	if p.Logits || !anylaw.Fits(p.Code, p.Decoder) {
		return 0
	}
	return anylaw.Time(p.Code, p.Decoder, p.Cost, p.Errors)
}

// The work that is done where what is slow is left out: outputs that are compared with words, nodes
// of decision diagrams, and scores of candidates of an interval.
const (
	quickOutcomes = 1 << 26
	quickNodes    = 1 << 28
	quickInterval = 1 << 28
	quickPairs    = 1 << 20 // of a true word and another one, unless the words form a path
)

// exactWork is how much work exact values may take where slow ones are left out: any amount where
// there is no interval instead, and none where the enumeration of all outputs takes long.
func exactWork(p *Problem) int {
	switch {
	case !enclose.Fits(p.Code, p.Decoder):
		return math.MaxInt
	case p.Code.Levels()<<min(p.Code.Bits(), 32) > quickOutcomes:
		return 0
	}
	return quickNodes
}

// QuickExact reports whether exact values take no more than about a second of a processor, unless
// they are intervals.
func QuickExact(p *Problem) bool { return exactWork(p) > 0 }

// QuickIntervals reports whether intervals may be quick where no formula gives exact values.
func QuickIntervals(p *Problem) bool {
	return enclose.Fits(p.Code, p.Decoder) && theory.Enumerable(p.Code, p.Decoder) != nil && fewPairs(p)
}

// fewPairs reports whether there are few pairs of words, or words that form a path.
func fewPairs(p *Problem) bool {
	return p.Code.Levels()*p.Code.Levels() <= quickPairs || enclose.Path(p.Code, p.Decoder)
}

// Of computes what theory says of a problem. workers is the number of goroutines, 0 for one on
// each processor. Where no formula gives the exact mean, it is the middle of an interval, if that is
// relatively not wider than ExactWidth.
func Of(ctx context.Context, workers int, p *Problem, prior []float64, omit Skip) (*Theory, error) {
	q := theorist{workers, p, prior, omit}
	return q.theory(ctx)
}

// theorist computes what theory says of a problem.
type theorist struct {
	workers int
	p       *Problem
	prior   []float64
	omit    Skip
}

// theory computes the levels and the mean.
func (q theorist) theory(ctx context.Context) (*Theory, error) {
	t := &Theory{Levels: make([]Level, q.p.Code.Levels())}
	for i := range t.Levels {
		t.Levels[i] = unknown
	}
	if !q.omit.Bounds {
		name, bounds, err := q.p.bounds(ctx, q.workers, nil, nil)
		if err != nil && !errors.Is(err, theory.ErrNoClosedForm) {
			return nil, err
		}
		t.Bound = name
		for i, v := range bounds {
			t.Levels[i].Bound = v
		}
	}
	if err := q.answers(ctx, t.Levels); err != nil {
		return nil, err
	}
	if err := q.laws(ctx, t); err != nil {
		return nil, err
	}
	square := 0.0
	for i, w := range q.prior {
		if w > 0 {
			t.Mean.Bound = math.FMA(w, t.Levels[i].Bound, t.Mean.Bound)
			t.Mean.Exact = math.FMA(w, t.Levels[i].Mean, t.Mean.Exact)
			square = math.FMA(w, t.Levels[i].Square, square)
		}
	}
	t.RMS = math.Sqrt(square)
	return t, q.intervals(ctx, t)
}

// errLogits is the error for a problem of logits.
var errLogits = fmt.Errorf("%w: exact values are for bits that err independently", theory.ErrNoClosedForm)

// unknown is a level of which nothing is known.
var unknown = Level{Bound: math.NaN(), Mean: math.NaN(), MeanSquare: math.NaN(), Square: math.NaN()}

// bounds computes the bounds of all levels whose weight is above zero, of all without weights, and says
// which they are. b is the bound that one goroutine has for problems of the code and the decoder, or nil. The error
// wraps theory.ErrNoClosedForm where there are none, or is the context's.
func (p *Problem) bounds(ctx context.Context, workers int, weights []float64, b *theory.Bound) (name string,
	out []float64, err error) {
	if p.Shared != nil {
		return p.sharedBounds(ctx, workers)
	}
	if b == nil {
		if b, err = p.bound(); err != nil {
			return "", nil, err
		}
	}
	if b.OfTable != nil {
		if out = b.OfTable(p.Errors, weights); out != nil {
			return b.Name, out, nil
		}
	}
	out = make([]float64, p.Code.Levels())
	return b.Name, out, parallel.Each(ctx, workers, len(out), func() (func(context.Context, int) error, error) {
		b, err := p.bound() // a goroutine's own, with its scratch memory
		var row []float64
		return func(ctx context.Context, i int) (err error) {
			if weights != nil && weights[i] == 0 {
				return nil
			}
			row = matrix.Row(row, i, p.Errors)
			out[i], err = b.Row(ctx, i, row)
			return err
		}, err
	})
}

// answers computes the exact values of all levels, where a formula gives them.
func (q theorist) answers(ctx context.Context, out []Level) error {
	p, most := q.p, math.MaxInt
	if q.omit.Slow {
		most = exactWork(p)
	}
	if q.omit.Exact || most == 0 && p.Shared == nil || p.Logits {
		return nil
	}
	if p.Shared != nil {
		return q.sharedAnswers(ctx, most, out)
	}
	exact, err := theory.NewLaw(ctx, most/len(out), p.Code, p.Decoder)
	if errors.Is(err, theory.ErrNoClosedForm) {
		return nil
	}
	if err != nil {
		return err
	}
	squared := p.Cost.Squared()
	return exact.Levels(ctx, q.workers, p.Errors, p.Cost, func(i int, mean float64, a theory.Answers) {
		l := &out[i]
		l.Mean = mean
		_, l.MeanSquare = a.Mean(p.Cost, i+1)
		l.Square, _ = a.Mean(squared, i+1)
	})
}

// Confusion returns the law of the answer to every level, L × L: row n has the probabilities of the
// levels that are answered, and sums to 1. An answer between levels counts at the nearest one, and one
// beyond an end at the end. The error wraps theory.ErrNoClosedForm where there is no such law, or is the
// context's.
func Confusion(ctx context.Context, workers int, p *Problem) (*mat.Dense, error) {
	if p.Logits {
		return nil, errLogits
	}
	out := mat.NewDense(p.Code.Levels(), p.Code.Levels(), nil)
	err := p.eachLaw(ctx, workers, math.MaxInt, !p.Cost.Absolute(), func(i int, a theory.Answers) { a.Place(out.RawRowView(i), p.Code) })
	if err != nil || p.Shared == nil {
		return out, err
	}
	w, err := p.Shared.Seen(p.Code)
	if err == nil {
		out.Mul(w.Matrix(), mat.DenseCopyOf(out))
	}
	return out, err
}

// eachLaw calls f with the law of the answer of independent bits to every level, from several
// goroutines, where a row takes no more than most products. whole is as for theory.Law.Answers. The
// error wraps theory.ErrNoClosedForm where there is no such law, or is the context's.
func (p *Problem) eachLaw(ctx context.Context, workers, most int, whole bool, f func(i int, a theory.Answers)) error {
	law, err := theory.NewLaw(ctx, most, p.Code, p.Decoder)
	if errors.Is(err, theory.ErrNoClosedForm) && enclose.Fits(p.Code, p.Decoder) && enclose.Path(p.Code, p.Decoder) {
		return parallel.Each(ctx, workers, p.Code.Levels(), func() (func(context.Context, int) error, error) {
			x, err := enclose.New(p.Code, p.Decoder, nil, enclose.Options{})
			var row []float64
			return func(ctx context.Context, i int) error {
				row = matrix.Row(row, i, p.Errors)
				a, err := x.Answers(ctx, i, row)
				if err == nil {
					f(i, a)
				}
				return err
			}, err
		})
	}
	if err != nil {
		return err
	}
	return law.Answers(ctx, workers, whole, p.Errors, f)
}

// laws computes what holds under any law of the bits. There is nothing, and no error, where the
// decoder reads logits or has no such bounds.
func (q theorist) laws(ctx context.Context, t *Theory) error {
	if q.p.Logits || q.omit.AnyLaw && q.p.Shared != nil {
		return nil
	}
	p, err := q.p.marginal()
	if err != nil {
		return err
	}
	most := Patience
	if q.omit.Slow || q.omit.SlowLaw {
		most = time.Second
	}
	if t.Mean.Later = LawTime(p) > most; p.Logits || q.omit.AnyLaw || t.Mean.Later {
		return nil
	}
	laws, err := anylaw.Levels(ctx, q.workers, p.Code, p.Decoder, p.Cost, q.prior, p.Errors)
	if errors.Is(err, theory.ErrNoClosedForm) {
		return nil
	}
	if err != nil {
		return err
	}
	for i, l := range laws {
		if q.prior[i] > 0 {
			t.Levels[i].AnyLaw = &[2]float64{l.Lo, l.Hi}
		}
	}
	lo, hi := anylaw.Mean(q.prior, laws)
	t.Laws, t.Mean.AnyLaw = laws, &[2]float64{lo, hi}
	return nil
}

// intervals looks for intervals that hold the exact values, where no formula gives them.
func (q theorist) intervals(ctx context.Context, t *Theory) error {
	p, x, o, levels := q.p, &t.Mean, enclose.DefaultOptions(), len(q.prior)
	if q.omit.Intervals || !table.Missing(x.Exact) || p.Logits || p.Shared != nil {
		return nil
	}
	if q.omit.Slow {
		o.Work = min(o.Work, quickInterval/levels)
		if !fewPairs(p) {
			return nil
		}
	}
	costs := []cost.Cost{p.Cost, p.Cost.Squared()}
	rows, err := enclose.Rows(ctx, q.workers, p.Code, p.Decoder, costs, q.prior, p.Errors, o)
	if errors.Is(err, theory.ErrNoClosedForm) || errors.Is(err, enclose.ErrTooWide) {
		return nil
	}
	if err != nil {
		return err
	}
	t.Intervals = rows[0]
	v := enclose.Mean(q.prior, rows[0])
	x.ExactLo, x.ExactHi = &v.Lo, &v.Hi
	if v.Width() > ExactWidth {
		return nil
	}
	x.Exact = v.Middle()
	if square := enclose.Mean(q.prior, rows[1]); square.Width() <= ExactWidth {
		t.RMS = math.Sqrt(square.Middle())
	}
	return nil
}

// ExactText is the exact value for people: one number where four digits are known, or the interval.
func (x Expected) ExactText() string {
	if x.ExactLo == nil || !table.Missing(x.Exact) {
		return table.Short(x.Exact)
	}
	return table.Short(*x.ExactLo) + " to " + table.Short(*x.ExactHi)
}

// EndsText writes the ends of any_law for people: rounded outward, – where there are none, and … where they take
// long.
func EndsText(ends *[2]float64, later bool) string {
	switch {
	case later:
		return "…"
	case ends == nil:
		return "–"
	}
	return outward(ends[0], math.Floor) + "–" + outward(ends[1], math.Ceil)
}

// outward writes an end of bounds with two digits, also where the second is 0, rounded so that the
// bounds still hold; the JSON has all digits.
func outward(v float64, round func(float64) float64) string {
	if v == 0 {
		return "0"
	}
	unit := math.Pow(10, math.Floor(math.Log10(v))-1)
	// A number of two digits that lies on the grid, but for the rounding of the division, stays
	// what it is.
	steps := v / unit
	if near := math.Round(steps); math.Abs(steps-near) > 1e-9 {
		steps = round(steps)
	} else {
		steps = near
	}
	if v = steps * unit; v > 99 {
		return fmt.Sprintf("%.0f", v)
	}
	return strings.TrimSuffix(strings.TrimPrefix(fmt.Sprintf("%#.2g", v), "0"), ".")
}
