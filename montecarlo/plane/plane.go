// Package plane has planes of error models, over which codes are compared: r and σ of a mixture, or
// the label noise and the misfit of networks. An [Axis] is the numbers along one side of a plane, and
// [Models] make the error probabilities of a code along a line of it.
package plane

import (
	"context"
	"sync"

	"gonum.org/v1/gonum/mat"

	"belsim/errmodel"
	"belsim/errmodel/perceived"
	"belsim/montecarlo/scenario"
	"belsim/theory/code"
)

// Models holds error models with two parameters x and y, the axes of a map and of a sweep.
type Models interface {
	// Of prepares the models of a code with some values of x and y. The error says that the plane
	// has none for it, or that a value is outside of the range in which the model was tried, or is
	// the context's.
	Of(ctx context.Context, c *code.Code, x, y []float64) (Lines, error)
	// Kind says which parameters x and y are.
	Kind() Kind
}

// Lines prepares the error models of one code in a plane that share y. It is safe for concurrent
// use.
type Lines func(ctx context.Context, y float64) (*Line, error)

// Line has the error models of one code that share the second parameter. It is safe for
// concurrent use.
type Line struct {
	// Valid reports whether x gives the code probabilities, none of them above 1.
	Valid func(x float64) bool
	// Errors returns the L × M table e[n,k] at x. The error may be the context's.
	Errors func(ctx context.Context, x float64) (mat.Matrix, error)
	// Largest is the largest valid x, where e[n,k] is proportional to x; 0 where it is not.
	Largest float64
}

// Mixture is the plane of the Gaussian mixtures: x is r, y is σ in levels.
type Mixture struct {
	Printed bool // the transitions are where the paper's Eq. 4 prints them, for its Figure 3(c)
}

// Kind implements Models.
func (Mixture) Kind() Kind { return Mixtures }

// Of implements Models. The transitions of a code can be millions, and are listed once.
func (p Mixture) Of(ctx context.Context, c *code.Code, x, y []float64) (Lines, error) {
	for i := range max(len(x), len(y)) {
		if err := errmodel.Check(x[min(i, len(x)-1)], y[min(i, len(y)-1)]); err != nil {
			return nil, err
		}
	}
	of := scenario.Transitions
	if p.Printed {
		of = errmodel.PrintedTransitions
	}
	positions, err := of(ctx, c)
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context, sigma float64) (*Line, error) {
		profile, err := errmodel.NewProfile(ctx, c.Levels(), positions, sigma)
		if err != nil {
			return nil, err
		}
		errors := func(_ context.Context, r float64) (mat.Matrix, error) { return profile.Mixture(r) }
		return &Line{Valid: profile.Valid, Errors: errors, Largest: profile.MaxR()}, nil
	}, nil
}

// Perceived is the plane of the perceived labels: x is the label noise s and y the misfit η,
// both in levels.
type Perceived struct {
	Model scenario.Perceived // its other parameters
	Prior scenario.Prior     // of the labels that networks learn
}

// Kind implements Models.
func (Perceived) Kind() Kind { return PerceivedLabels }

// Of implements Models.
func (p Perceived) Of(_ context.Context, c *code.Code, x, y []float64) (Lines, error) {
	prior, err := p.Prior.Weights(c.Levels())
	if err != nil {
		return nil, err
	}
	if err := p.Model.Fits(c); err != nil {
		return nil, err
	}
	model := p.Model
	for i := range max(len(x), len(y)) {
		model.Noise, model.Misfit = x[min(i, len(x)-1)], y[min(i, len(y)-1)]
		if err := model.Check(c.Levels()); err != nil {
			return nil, err
		}
	}
	learnt := learner(c, prior, model)
	return func(_ context.Context, misfit float64) (*Line, error) {
		return &Line{
			Valid: func(float64) bool { return true },
			Errors: func(ctx context.Context, noise float64) (mat.Matrix, error) {
				l, err := learnt(ctx, noise)
				if err != nil {
					return nil, err
				}
				return l.WithMisfit(misfit)
			},
		}, nil
	}, nil
}

// learner learns a code at a label noise. What is learnt is the same for all misfits, so it is
// kept: 64 MiB of it at most.
func learner(c *code.Code, prior []float64,
	m scenario.Perceived) func(ctx context.Context, noise float64) (*perceived.Network, error) {
	const all, points = 1 << 26, 600
	most := all / (8 * points * c.Bits())
	var mu sync.Mutex
	kept := map[float64]func() (*perceived.Network, error){}
	return func(ctx context.Context, noise float64) (*perceived.Network, error) {
		mu.Lock()
		learn := kept[noise]
		if learn == nil {
			learn = sync.OnceValues(func() (*perceived.Network, error) {
				of := m
				of.Noise = noise
				return of.Learn(ctx, of.Workers, c, prior)
			})
			if len(kept) < most {
				kept[noise] = learn
			}
		}
		mu.Unlock()
		return learn()
	}
}
