package verdict

import (
	"context"
	"fmt"
	"math"
	"slices"

	"belsim/montecarlo/scenario"
	"belsim/montecarlo/table"
)

// Crossing is where the order of two codes changes when both have the same r and σ: the zero
// contour of their map, along both axes from the fit.
type Crossing struct {
	First  string       `json:"first" doc:"the code with the smaller error at the fit"`
	Second string       `json:"second" doc:"the other code"`
	Tie    bool         `json:"tie" doc:"at the fit the samples do not tell the codes apart"`
	R      table.Number `json:"r" doc:"r at which the order changes, with σ as fitted; null where there is none from 1/16 to 16 times the fit"`
	Sigma  table.Number `json:"sigma" doc:"σ at which the order changes, with r as fitted; null where there is none from 1/16 to 16 times the fit"`
}

// axis leads from the fit to other parameters, by a factor of one of them.
type axis func(fit parameters, factor float64) parameters

func alongR(fit parameters, factor float64) parameters {
	return parameters{fit.r * factor, fit.sigma}
}

func alongSigma(fit parameters, factor float64) parameters {
	return parameters{fit.r, fit.sigma * factor}
}

// cross finds how far r and σ are from changing the ranking: for every code against the
// network's code at the fit, and for the best other code with the same r and σ.
func (s *Study) cross(ctx context.Context, run scenario.Run, rec *Recommendation, trained int, done func(uint64)) error {
	own := &rec.Ranking[trained]
	target, err := s.errorsAt(ctx, run, own.code, own.reader, crossSamples, []parameters{s.fitted()})
	if err != nil {
		return err
	}
	for i := range rec.Ranking {
		r := &rec.Ranking[i]
		done(1)
		if r.Trained || r.Invalid {
			continue
		}
		find := func(to axis) (float64, error) {
			return findFactor(func(factors []float64) ([]float64, error) {
				means, err := s.meansAlong(ctx, run, r, to, factors)
				for j := range means {
					means[j] -= target[0].Mean
				}
				return means, err
			})
		}
		if err := findBoth(find, &r.RFactor, &r.SigmaFactor, parameters{1, 1}); err != nil {
			return err
		}
	}
	other := slices.IndexFunc(rec.Ranking, func(r RankedCode) bool { return !r.Trained && !r.Invalid })
	if other < 0 {
		return nil
	}
	rec.Crossing, err = s.crossing(ctx, run, own, &rec.Ranking[other])
	return err
}

// crossing finds where the order of two codes changes.
func (s *Study) crossing(ctx context.Context, run scenario.Run, first, second *RankedCode) (*Crossing, error) {
	if second.Mean < first.Mean {
		first, second = second, first
	}
	c := &Crossing{First: first.Code, Second: second.Code, R: table.Missing(), Sigma: table.Missing()}
	c.Tie = float64(second.Mean-first.Mean) <= 3*math.Hypot(float64(first.StdErr), float64(second.StdErr))
	if c.Tie {
		return c, nil
	}
	find := func(to axis) (float64, error) {
		return findFactor(func(factors []float64) ([]float64, error) {
			a, err := s.meansAlong(ctx, run, first, to, factors)
			if err != nil {
				return nil, err
			}
			b, err := s.meansAlong(ctx, run, second, to, factors)
			for j := range b {
				a[j] -= b[j]
			}
			return a, err
		})
	}
	return c, findBoth(find, &c.R, &c.Sigma, s.fitted())
}

// findBoth sets r and sigma to the factors along both axes, in units.
func findBoth(find func(to axis) (float64, error), r, sigma *table.Number, unit parameters) error {
	byR, err := find(alongR)
	if err != nil {
		return err
	}
	bySigma, err := find(alongSigma)
	if err != nil {
		return err
	}
	*r, *sigma = table.Number(byR*unit.r), table.Number(bySigma*unit.sigma)
	return nil
}

// meansAlong estimates a code's error at several factors from the fit.
func (s *Study) meansAlong(ctx context.Context, run scenario.Run, r *RankedCode, to axis, factors []float64) ([]float64, error) {
	at := make([]parameters, len(factors))
	for i, v := range factors {
		at[i] = to(s.fitted(), v)
	}
	e, err := s.errorsAt(ctx, run, r.code, r.reader, crossSamples, at)
	if err != nil {
		return nil, err
	}
	means := make([]float64, len(e))
	for i := range e {
		means[i] = e[i].Mean
	}
	return means, nil
}

// findFactor returns the factor nearest to 1, from 1/16 to 16, at which a difference changes
// its sign; NaN where there is none. A difference is NaN where parameters are invalid. A grid
// finds the step with the change, and bisection of the logarithm narrows it to half a percent:
// differences are noisy and cost samples, so that false position gains nothing.
func findFactor(difference func(factors []float64) ([]float64, error)) (float64, error) {
	const steps, each = 8, 2 // to either side, in an octave
	var factors []float64
	for j := -steps; j <= steps; j++ {
		factors = append(factors, math.Exp2(float64(j)/each))
	}
	d, err := difference(factors)
	if err != nil {
		return 0, err
	}
	crosses := func(i int) bool { return (d[i] < 0) != (d[i+1] < 0) && !math.IsNaN(d[i]) && !math.IsNaN(d[i+1]) }
	at := -1
	for j := range steps {
		if crosses(steps + j) {
			at = steps + j
			break
		}
		if crosses(steps - 1 - j) {
			at = steps - 1 - j
			break
		}
	}
	if at < 0 {
		return math.NaN(), nil
	}
	lo, hi, below := math.Log(factors[at]), math.Log(factors[at+1]), d[at] < 0
	const halvings = 6 // to half a percent
	for range halvings {
		middle := (lo + hi) / 2
		v, err := difference([]float64{math.Exp(middle)})
		if err != nil {
			return 0, err
		}
		if (v[0] < 0) == below {
			lo = middle
		} else {
			hi = middle
		}
	}
	return math.Exp((lo + hi) / 2), nil
}

// CrossingText says in a sentence where the order of the two codes of the crossing changes; ""
// without a crossing.
func (f *Fit) CrossingText() string {
	if f.Recommendation == nil || f.Recommendation.Crossing == nil {
		return ""
	}
	c := f.Recommendation.Crossing
	move := func(name string, from, to table.Number) string {
		verb := "rises"
		if to < from {
			verb = "falls"
		}
		return fmt.Sprintf("%s %s to %s", name, verb, to.Short())
	}
	until := ""
	switch r, sigma := !c.R.IsMissing(), !c.Sigma.IsMissing(); {
	case c.Tie:
		return fmt.Sprintf("With the same r and σ for both, %s is as good as %s, as far as these samples tell.", c.First, c.Second)
	case r && sigma:
		until = fmt.Sprintf("until %s, or %s", move("r", f.R, c.R), move("σ", f.Sigma, c.Sigma))
	case r:
		until = fmt.Sprintf("until %s; no σ within a factor of 16 changes that", move("r", f.R, c.R))
	case sigma:
		until = fmt.Sprintf("until %s; no r within a factor of 16 changes that", move("σ", f.Sigma, c.Sigma))
	default:
		until = "for every valid r and σ within a factor of 16 along either"
	}
	return fmt.Sprintf("With the same r and σ for both, %s is better than %s %s.", c.First, c.Second, until)
}
