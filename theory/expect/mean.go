package expect

import (
	"context"
	"errors"
	"math"
	"strings"
	"sync"

	"belsim/theory"
	"belsim/theory/cost"
	"belsim/theory/decode"
	"belsim/theory/enclose"
)

// Mean computes means over the labels, of a bound or of exact values, as Of does. It is
// prepared for many problems of a code and a decoder, and safe for concurrent use.
type Mean struct {
	Name  string  // which bound it is, for people; "" for exact values
	Width float64 // values may be wrong by this relative amount; 0 for formulas
	Work  int     // of an interval, where there is no formula: see enclose.Options

	exact  *theory.Law // nil for bounds, intervals and decoders that know the error model
	bounds *sync.Pool  // of *theory.Bound
	shared *sharedMean // with shared noise; nil without
}

// PaperBound is the kind of the paper's formulas for its decoders, which count how often bits are
// wrong.
const PaperBound = "the paper's"

// BoundKind is what bounds that may be compared have in common, by the name of one: the paper's
// formulas are one kind. A union bound counts all other levels, and is looser.
func BoundKind(name string) string {
	if strings.HasPrefix(name, "Eq. ") {
		return PaperBound
	}
	return name
}

// Mean returns Σ prior·value over the levels of a problem of the code and the decoder. It is NaN
// where an interval is relatively wider than ExactWidth. With shared noise all calls have the same
// prior. The error is the context's.
func (m *Mean) Mean(ctx context.Context, p *Problem, prior []float64) (float64, error) {
	switch {
	case m.Width > 0 && m.shared != nil: // words that form a path
		t := &Theory{Levels: make([]Level, len(prior))}
		err := theorist{1, p, prior, Skip{}}.sharedAnswers(ctx, math.MaxInt, t.Levels)
		for i, w := range prior {
			t.Mean.Exact = math.FMA(w, t.Levels[i].Mean, t.Mean.Exact)
		}
		return t.Mean.Exact, err
	case m.Width > 0:
		rows, err := enclose.Rows(ctx, 1, p.Code, p.Decoder, []cost.Cost{p.Cost}, prior, p.Errors,
			enclose.Options{Width: ExactWidth / 10, Work: m.Work})
		if errors.Is(err, theory.ErrNoClosedForm) || errors.Is(err, enclose.ErrTooWide) {
			return math.NaN(), nil
		}
		if err != nil {
			return 0, err
		}
		v := enclose.Mean(prior, rows[0])
		if v.Width() > ExactWidth {
			return math.NaN(), nil
		}
		return v.Middle(), nil
	case m.Name != "":
		b, _ := m.bounds.Get().(*theory.Bound)
		if b == nil {
			var err error
			if b, err = p.bound(); err != nil {
				return 0, err
			}
		}
		defer m.bounds.Put(b)
		_, bounds, err := p.bounds(ctx, 1, prior, b)
		return average(prior, bounds), err
	}
	exact, err := m.exact, error(nil)
	if exact == nil {
		exact, err = theory.NewLaw(ctx, math.MaxInt, p.Code, p.Decoder)
	}
	if err != nil {
		return 0, err
	}
	if m.shared != nil {
		return m.shared.mean(ctx, p, exact, prior)
	}
	means, err := exact.Means(ctx, 1, prior, p.Errors, p.Cost)
	return average(prior, means), err
}

// average is Σ prior·value over the levels whose weight is above zero.
func average(prior, values []float64) (sum float64) {
	for i, w := range prior {
		if w > 0 && values != nil {
			sum = math.FMA(w, values[i], sum)
		}
	}
	return sum
}

// BoundName says which bound a problem has, for people; "" where it has none.
func BoundName(p *Problem) string {
	b, err := p.bound()
	if err != nil {
		return ""
	}
	return b.Name
}

// bound is the bound that holds for a problem: that for hard decisions, or the union bound on logits.
// The error wraps theory.ErrNoClosedForm where there is none.
func (p *Problem) bound() (*theory.Bound, error) {
	if p.Logits {
		return theory.NewSoftBound(p.Code, p.Decoder, p.Cost)
	}
	b, err := theory.NewBound(p.Code, p.Decoder, p.Cost)
	if err == nil && p.Shared != nil && decode.Is[decode.BelJ](p.Decoder) {
		b.Name += ", plus the mean shared noise"
	}
	return b, err
}

// NewMean prepares the means of exact values or bounds, for a problem that needs no table. The error
// wraps theory.ErrNoClosedForm where there are none, or is the context's.
func NewMean(ctx context.Context, p *Problem, exact bool) (*Mean, error) {
	if exact {
		return newExact(ctx, p)
	}
	b, err := p.bound()
	if err != nil {
		return nil, err
	}
	return &Mean{Name: b.Name, bounds: new(sync.Pool)}, nil
}

// newExact prepares exact values: the formulas of package theory, or else the middles of intervals,
// which are NaN where an interval is relatively wider than ExactWidth.
func newExact(ctx context.Context, p *Problem) (*Mean, error) {
	if p.Logits {
		return nil, errLogits
	}
	var shared *sharedMean
	if p.Shared != nil {
		shared = new(sharedMean)
	}
	if decode.Is[decode.Informed](p.Decoder) { // which is another decoder for every table
		return &Mean{shared: shared}, theory.Enumerable(p.Code, p.Decoder)
	}
	exact, err := theory.NewLaw(ctx, math.MaxInt, p.Code, p.Decoder)
	if errors.Is(err, theory.ErrNoClosedForm) && enclose.Fits(p.Code, p.Decoder) &&
		(shared == nil || enclose.Path(p.Code, p.Decoder)) {
		const work = 1 << 23 // maps have many cells
		return &Mean{Width: ExactWidth, Work: work, shared: shared}, nil
	}
	if err != nil {
		return nil, err
	}
	return &Mean{exact: exact, shared: shared}, nil
}

// ExactWidth is the largest relative width of an interval whose middle is an exact value: it is
// right to four digits.
const ExactWidth = 1e-5
