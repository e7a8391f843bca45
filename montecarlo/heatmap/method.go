package heatmap

import (
	"context"
	"errors"
	"math"
	"slices"

	"belsim/errmodel/scenario"
	"belsim/montecarlo/plane"
	"belsim/theory"
	"belsim/theory/code"
	"belsim/theory/expect"
)

// PaperCodes are the codes A and B of the paper's Figure 3(c), and PaperLevels is its N−1.
func PaperCodes() [2]string { return [2]string{"unary", "johnson-nonzero"} }

// PaperLevels is the number of levels of the paper's figures.
const PaperLevels = 255

// DefaultAxes returns r and σ of a map of codes where they are empty: those of the paper for its two
// codes, and else those of FitAxes.
func DefaultAxes(ctx context.Context, codes [2]*code.Code, x, y plane.Axis) (plane.Axis, plane.Axis, error) {
	if [2]string{codes[0].Name(), codes[1].Name()} == PaperCodes() && codes[0].Levels() == PaperLevels {
		const cells = 100
		return x.Or(plane.NewAxis(1, 150, cells, false)), y.Or(plane.NewAxis(1, 100, cells, false)), nil
	}
	return FitAxes(ctx, codes[:], x, y)
}

// defaultMethods are the methods of m where none is asked for. Where both codes have bounds of the
// paper and exact values, both are taken, because they often disagree on which code is better.
// Union bounds are not taken: they say little of errors. Samples are where there is nothing else.
func (m *Map) defaultMethods(ctx context.Context, bounds []string) (methods []plane.Method, err error) {
	if len(bounds) == 2 && expect.BoundKind(bounds[0]) == expect.PaperBound && !twoKinds(bounds) {
		methods = append(methods, plane.Bound)
	}
	exact := true
	for i := range m.sides {
		if exact = exact && err == nil; exact {
			exact, err = m.quickExact(ctx, i)
		}
	}
	if exact {
		methods = append(methods, plane.Exact)
	}
	if len(methods) == 0 {
		methods = append(methods, plane.Sample)
	}
	return methods, err
}

// twoKinds reports whether the bounds of two codes may not be compared.
func twoKinds(bounds []string) bool {
	return len(bounds) == 2 && expect.BoundKind(bounds[0]) != expect.BoundKind(bounds[1])
}

// quickExact reports whether side at has exact values that are quick in all cells.
func (m *Map) quickExact(ctx context.Context, at int) (bool, error) {
	p := m.scenario.WithoutErrors(m.sides[at].code, m.sides[at].decoder)
	if !expect.QuickExact(p) && !expect.QuickIntervals(p) {
		return false, nil
	}
	mean, err := plane.Exact.MeanOf(ctx, p)
	if errors.Is(err, theory.ErrNoClosedForm) {
		return false, nil
	}
	if err != nil || mean.Width == 0 {
		return err == nil, err
	}
	return m.narrow(ctx, at, *mean)
}

// narrow reports whether intervals are narrow and quick where they are widest: at the largest valid
// r of a few σ.
func (m *Map) narrow(ctx context.Context, at int, mean expect.Mean) (bool, error) {
	of := m.sides[at]
	const all = 1 << 36 // as enclose.Options count work: two minutes of a processor, if all cells are the widest
	mean.Work = min(mean.Work, all/(len(m.R)*len(m.Sigma)*of.code.Levels()))
	weights, err := m.scenario.Weights(of.code.Levels())
	if err != nil {
		return false, err
	}
	last := len(m.Sigma) - 1
	for _, i := range slices.Compact([]int{0, last / 2, last}) {
		profiles, err := m.profiles(ctx, m.Sigma[i])
		if err != nil {
			return false, err
		}
		for _, r := range slices.Backward(m.R) {
			if !profiles[0].Valid(r) || !profiles[1].Valid(r) {
				continue
			}
			p, err := m.problem(of, profiles[at], r)
			if err != nil {
				return false, err
			}
			v, err := mean.Mean(ctx, p, weights)
			if err != nil || math.IsNaN(v) {
				return false, err
			}
			break
		}
	}
	return true, nil
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
		if err := plane.Check(plane.ListAxis([]float64{1}), y); err != nil {
			return x, y, err
		}
		transitions, err := scenario.Transitions(ctx, c)
		if err != nil {
			return x, y, err
		}
		for i, sigma := range y.Values {
			l, err := side{code: c, transitions: transitions}.profile(ctx, sigma)
			if err != nil {
				return x, y, err
			}
			least[i] = min(least[i], l.MaxR())
		}
	}
	most := slices.Max(least)
	return plane.NewAxis(most/around, most, count, true), y, nil
}
