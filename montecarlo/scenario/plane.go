package scenario

import (
	"context"

	"gonum.org/v1/gonum/mat"

	"belsim/errmodel"
	"belsim/theory/code"
)

// Plane holds error models with two parameters x and y, the axes of a map and of a sweep. For
// the Gaussian mixture they are r and σ.
type Plane interface {
	// Of prepares the models of a code. The error says that the plane has none for it, or is
	// the context's.
	Of(ctx context.Context, c *code.Code) (Lines, error)
	// Kind says which parameters x and y are.
	Kind() PlaneKind
}

// Lines are the error models of one code in a plane. They are safe for concurrent use.
type Lines interface {
	// Line prepares the models that share y.
	Line(ctx context.Context, y float64) (Line, error)
}

// Line has the error models of one code that share the second parameter. It is safe for
// concurrent use.
type Line interface {
	// Valid reports whether x gives the code probabilities, none of them above 1.
	Valid(x float64) bool
	// Errors returns the L × M table e[n,k] at x. The error may be the context's.
	Errors(ctx context.Context, x float64) (mat.Matrix, error)
	// Proportional returns the largest valid x, where e[n,k] is proportional to x. ok is
	// false where it is not.
	Proportional() (largest float64, ok bool)
}

// MixturePlane is the plane of the Gaussian mixtures: x is r, y is σ in levels.
type MixturePlane struct {
	Printed bool // the transitions are where the paper's Eq. 4 prints them, for its Figure 3(c)
}

// Kind implements Plane.
func (MixturePlane) Kind() PlaneKind { return Mixtures }

// Of implements Plane.
func (p MixturePlane) Of(ctx context.Context, c *code.Code) (Lines, error) {
	of := transitions
	if p.Printed {
		of = errmodel.PrintedTransitions
	}
	positions, err := of(ctx, c)
	if err != nil {
		return nil, err
	}
	return mixtureLines{c.Levels(), positions}, nil
}

// mixtureLines remember the transitions of a code, which can be millions.
type mixtureLines struct {
	levels    int
	positions [][]int
}

func (m mixtureLines) Line(ctx context.Context, sigma float64) (Line, error) {
	profile, err := errmodel.NewProfile(ctx, m.levels, m.positions, sigma)
	if err != nil {
		return nil, err
	}
	return mixtureLine{profile}, nil
}

type mixtureLine struct{ profile *errmodel.Profile }

func (l mixtureLine) Valid(r float64) bool { return l.profile.Valid(r) }

func (l mixtureLine) Errors(_ context.Context, r float64) (mat.Matrix, error) {
	return l.profile.Mixture(r)
}

func (l mixtureLine) Proportional() (float64, bool) { return l.profile.MaxR(), true }
