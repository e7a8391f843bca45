package theory

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"gonum.org/v1/gonum/mat"

	"belsim/theory/base/matrix"
	"belsim/theory/base/parallel"
	"belsim/theory/code"
	"belsim/theory/cost"
	"belsim/theory/decode"
)

// Answers is the law of a level's answer: the labels that can be answered, in levels, and their
// probabilities, whose sum is 1.
type Answers struct{ Labels, Probabilities []float64 }

// Mean is the mean cost of the answers to level n, from 1, and the mean of its square.
func (a Answers) Mean(c cost.Cost, n int) (mean, square float64) {
	for k, p := range a.Probabilities {
		v := c.Of(n, a.Labels[k])
		mean += float64(p * v)
		square += float64(p * float64(v*v))
	}
	return mean, square
}

// Place adds the law to a row of the confusion matrix of a code, of length L: an answer counts at
// the nearest level, which on a line is the end for those beyond it.
func (a Answers) Place(row []float64, c *code.Code) {
	levels := c.Levels()
	for k, p := range a.Probabilities {
		m := decode.Nearest(a.Labels[k]) - 1
		if c.Circular() {
			m = (m%levels + levels) % levels
		}
		row[min(max(m, 0), levels-1)] += p
	}
}

// Law has the laws of the answers of a code and its decoder, prepared for many tables. It is safe for
// concurrent use.
type Law struct {
	code    *code.Code
	decoder decode.Decoder
	forms   sync.Pool // of form: one for each goroutine
}

// form has the law of a row's answer in memory of its own.
type form interface {
	// set prepares row i of a code, whose bits err independently with probabilities e, of length M. The
	// error is the context's.
	set(ctx context.Context, i int, e []float64) error
	// answers is the law of the row, until the next one is set.
	answers() Answers
	// mean is the mean cost of the row, where the form has it sooner than the law.
	mean(c cost.Cost) (mean float64, ok bool)
}

// cutForm is a form that leaves out what is too unlikely to change the mean error in levels.
type cutForm interface {
	form
	// whole makes answers leave out nothing of the row, but what is too small for a double. The error is the
	// context's.
	whole(ctx context.Context) error
	// left is above the probability of all that answers leave out.
	left() float64
}

// complete makes the law of the row one that has the mean cost to 2⁻³⁶ of it: of costs that likely
// answers do not have, such as those of a far answer alone, unlikely answers are all that counts.
func complete(ctx context.Context, f form, c cost.Cost, n int, levels int) error {
	of, ok := f.(cutForm)
	if !ok || c.Absolute() {
		return nil
	}
	a := of.answers()
	mean, _ := a.Mean(c, n)
	most := c.Largest(n, min(1, int(slices.Min(a.Labels))), max(levels, int(slices.Max(a.Labels))))
	if of.left()*most <= 0x1p-36*mean {
		return nil
	}
	return of.whole(ctx)
}

// tableForm is a form that may have a faster way to the mean errors of all rows of a table.
type tableForm interface {
	form
	// means sets out, by row, where a weight is above zero or there are no weights. It reports whether there was one.
	means(ctx context.Context, weights []float64, e mat.Matrix, out []float64) (bool, error)
}

// NewLaw prepares the law for a code and its decoder: for bel-u and bel-j of any size, for any other
// decoder by enumeration of all 2^M outputs where that is at most 2³¹ operations and M ≤ 20. The error
// wraps ErrNoClosedForm elsewhere, and where a row takes more than most products, beside the
// enumeration itself; or it is the context's.
func NewLaw(ctx context.Context, most int, c *code.Code, d decode.Decoder) (*Law, error) {
	x := &Law{code: c, decoder: d}
	switch d := d.(type) {
	case decode.BelU:
		x.forms.New = func() any { return &belUForm{x: newCountLaws(c.Bits()), y: newCountLaws(c.Bits())} }
	case decode.BelJ:
		x.forms.New = func() any { return newBelJForm(c, d) }
	default:
		t, err := newOutcomes(ctx, c, d)
		if err != nil {
			return nil, err
		}
		if n := t.nodes(); n > most {
			return nil, fmt.Errorf("%w: an exact value takes a decision diagram of %d nodes, and only %d are quick",
				ErrNoClosedForm, n, most)
		}
		x.forms.New = func() any { return t.form() }
	}
	return x, nil
}

// Row returns the law of the answer to row i of the code (level i+1), whose bits err independently
// with probabilities e, of length M. The error is the context's.
func (x *Law) Row(ctx context.Context, i int, e []float64) (Answers, error) {
	f := x.forms.Get().(form)
	defer x.forms.Put(f)
	if err := f.set(ctx, i, e); err != nil {
		return Answers{}, err
	}
	a := f.answers()
	return Answers{slices.Clone(a.Labels), slices.Clone(a.Probabilities)}, nil
}

// Means returns the mean cost of every level whose weight is above zero; of all where weights are nil.
// The table e is L × M. workers is the number of goroutines, 0 for all processors; it changes no
// number. The error may be the context's.
//
// The absolute error of bel-u and bel-j takes O(M·width) and O(M) in the place of the law's O(M·width +
// width²), and enumerated means have fewer roundings than the sum over the law, from which all of
// them differ by less than 10⁻¹² of it.
func (x *Law) Means(ctx context.Context, workers int, weights []float64, e mat.Matrix, c cost.Cost) ([]float64, error) {
	out := make([]float64, x.code.Levels())
	f := x.forms.Get().(form)
	if t, ok := f.(tableForm); ok && c.Absolute() {
		if err := x.code.CheckTable(e); err != nil {
			return nil, err
		}
		if done, err := t.means(ctx, weights, e, out); done || err != nil {
			x.forms.Put(f)
			return out, err
		}
	}
	x.forms.Put(f)
	return out, x.each(ctx, workers, weights, e, c, func(i int, f form) { out[i] = meanOf(f, c, i+1) })
}

// Levels calls f with the law of the answer to every level, and its mean cost, from several goroutines. See Means.
func (x *Law) Levels(ctx context.Context, workers int, e mat.Matrix, c cost.Cost,
	f func(i int, mean float64, a Answers)) error {
	return x.each(ctx, workers, nil, e, c, func(i int, of form) { f(i, meanOf(of, c, i+1), of.answers()) })
}

// meanOf is the mean cost of the answers to level n.
func meanOf(f form, c cost.Cost, n int) float64 {
	if mean, ok := f.mean(c); ok {
		return mean
	}
	mean, _ := f.answers().Mean(c, n)
	return mean
}

// Answers calls f with the law of the answer to every level, from several goroutines: the whole law
// where so is asked for, else without what is too unlikely to change the mean |error|. See Means.
func (x *Law) Answers(ctx context.Context, workers int, whole bool, e mat.Matrix, f func(i int, a Answers)) error {
	return x.each(ctx, workers, nil, e, cost.Cost{}, func(i int, of form) {
		if cut, ok := of.(cutForm); ok && whole {
			_ = cut.whole(ctx) // the error is the context's, which ends the loop
		}
		f(i, of.answers())
	})
}

func (x *Law) each(ctx context.Context, workers int, weights []float64, e mat.Matrix, c cost.Cost,
	use func(i int, f form)) error {
	err := x.code.CheckTable(e)
	if err == nil {
		err = parallel.Each(ctx, workers, x.code.Levels(), func() (func(context.Context, int) error, error) {
			var row []float64
			return func(ctx context.Context, i int) (err error) {
				if weights != nil && weights[i] == 0 {
					return nil
				}
				if row, err = matrix.Probabilities(row, i, e); err != nil {
					return err
				}
				f := x.forms.Get().(form)
				defer x.forms.Put(f)
				if err = f.set(ctx, i, row); err == nil {
					err = complete(ctx, f, c, i+1, x.code.Levels())
				}
				if err == nil {
					use(i, f)
				}
				return err
			}, nil
		})
	}
	if err != nil {
		return fmt.Errorf("exact error of %s with %s: %w", x.code.Name(), x.decoder.Name(), err)
	}
	return nil
}
