package scenario

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"

	"belsim/montecarlo"
	"belsim/theory"
	"belsim/theory/anylaw"
	"belsim/theory/base/inputfile"
	"belsim/theory/base/memory"
	"belsim/theory/base/table"
	"belsim/theory/code"
)

// anyField is what holds under any law of the bits.
type anyField struct {
	// smallest and largest mean |error|, in levels, over all joint laws of the bits with these
	// error probabilities; missing where there are no such bounds, or where they take long
	AnyLaw *[2]float64 `json:"any_law,omitempty" csv:"-" text:"any law"`
}

func (f anyField) text() string {
	if f.AnyLaw == nil {
		return "–"
	}
	return outward(f.AnyLaw[0], math.Floor) + "–" + outward(f.AnyLaw[1], math.Ceil)
}

// outward writes two digits of an end of bounds, rounded so that they still hold; the JSON has all
// digits.
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
	return strings.TrimPrefix(fmt.Sprintf("%.2g", steps*unit), "0")
}

// anyLaw returns the bounds that hold under any law of the bits of a problem, for each level whose
// weight is above zero. There are none, and no error, where the decoder has no such bounds or reads
// logits, nor where quick is asked for and they take long.
func anyLaw(ctx context.Context, workers int, p *montecarlo.Problem, weights []float64, quick bool) ([]anylaw.Level,
	error) {
	if !p.Kind.Hard() || quick && !anylaw.Quick(p.Code, p.Decoder, p.Errors) {
		return nil, nil
	}
	levels, err := anylaw.Levels(ctx, workers, p.Code, p.Decoder, weights, p.Errors)
	if errors.Is(err, theory.ErrNoClosedForm) {
		return nil, nil
	}
	return levels, err
}

// AnyLawMean is the mean of anyLaw over the weights; nil where there is none. The standard
// deviations are those of one sample, under any law, as anylaw.Level has them.
func AnyLawMean(ctx context.Context, workers int, p *montecarlo.Problem, weights []float64,
	quick bool) (mean *[2]float64, sd [2]float64, err error) {
	levels, err := anyLaw(ctx, workers, p, weights, quick)
	if err != nil || levels == nil {
		return nil, sd, err
	}
	for i, w := range weights {
		sd[0] += w * levels[i].LoSD * levels[i].LoSD
		sd[1] += w * levels[i].HiSD * levels[i].HiSD
	}
	lo, hi := anylaw.Mean(weights, levels)
	return &[2]float64{lo, hi}, [2]float64{math.Sqrt(sd[0]), math.Sqrt(sd[1])}, nil
}

// Together is a set of bits that err together under a law.
type Together struct {
	// bits that err, from 1; no others do
	Bits []int `json:"bits"`
	// how probable it is that these bits err, and no others
	Probability float64 `json:"probability"`
}

// lawFields are the laws at the ends of any_law.
type lawFields struct {
	// a joint law of the bits with the smallest mean |error|
	Least []Together `json:"least_law,omitempty" csv:"-"`
	// a joint law of the bits with the largest mean |error|
	Most []Together `json:"most_law,omitempty" csv:"-"`
}

func together(law anylaw.Law) (out []Together) {
	for _, p := range law {
		bits := make([]int, len(p.Bits))
		for b, k := range p.Bits {
			bits[b] = k + 1
		}
		out = append(out, Together{bits, p.Probability})
	}
	return out
}

// AddAnyLaw adds what holds under any law of the bits of the problem that was verified.
func (v *Verification) AddAnyLaw(ctx context.Context, workers int, p *montecarlo.Problem, weights []float64) error {
	levels, err := anyLaw(ctx, workers, p, weights, true)
	if err != nil || levels == nil {
		return err
	}
	for i, l := range levels {
		if weights[i] > 0 {
			v.Labels[i].AnyLaw = &[2]float64{l.Lo, l.Hi}
			v.Labels[i].lawFields = lawFields{together(l.Least), together(l.Most)}
		}
	}
	lo, hi := anylaw.Mean(weights, levels)
	v.Overall.AnyLaw = &[2]float64{lo, hi}
	return nil
}

// mostLaws is the largest file of laws that is read, in bytes.
const mostLaws = 1 << 28

// verification reads what verify wrote. Its laws count, and its size.
func (t Table) verification() (*Verification, error) {
	text, err := inputfile.Read(t.Path, mostLaws)
	if err != nil {
		return nil, fmt.Errorf("reading a joint law: %w", err)
	}
	v := new(Verification)
	if err := table.ReadJSON(text, v); err != nil {
		return nil, fmt.Errorf("%s: %w; want what verify wrote as JSON", t.Path, err)
	}
	return v, nil
}

// laws are the laws with the largest mean |error|. Every level whose weight is above zero has one.
func (t Table) laws(c *code.Code, weights []float64) (*anylaw.Table, error) {
	v, err := t.verification()
	if err != nil {
		return nil, err
	}
	if len(v.Labels) != c.Levels() || v.Bits != c.Bits() {
		return nil, fmt.Errorf("%s: laws of %d levels and %d bits, but %s has %d and %d", t.Path, len(v.Labels), v.Bits,
			c.Name(), c.Levels(), c.Bits())
	}
	if err := memory.Check(t.Path, memory.Product(len(v.Labels), v.Bits, 8)); err != nil {
		return nil, err
	}
	laws := make([]anylaw.Law, len(v.Labels))
	for i, l := range v.Labels {
		switch {
		case l.Level != i+1:
			return nil, fmt.Errorf("%s: level %d stands at the place of level %d", t.Path, l.Level, i+1)
		case l.Most == nil && weights[i] > 0:
			return nil, fmt.Errorf("%s: there is no most_law at level %d", t.Path, i+1)
		case l.Most != nil:
			laws[i] = anylaw.Law{}
		}
		for _, p := range l.Most {
			bits := make([]int, len(p.Bits))
			for b, k := range p.Bits {
				bits[b] = k - 1
			}
			laws[i] = append(laws[i], anylaw.Pattern{Bits: bits, Probability: p.Probability})
		}
	}
	out, err := anylaw.NewTable(v.Bits, laws)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", t.Path, err)
	}
	return out, nil
}
