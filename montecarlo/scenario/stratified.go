package scenario

import (
	"context"
	"errors"
	"slices"
	"strings"

	"belsim/montecarlo"
	"belsim/montecarlo/stratified"
	"belsim/theory"
	"belsim/theory/enclose"
)

// The kinds of samples of a comparison.
const (
	plainSamples      = "plain"
	stratifiedSamples = "stratified"
)

// drawn are the samples of a candidate of a comparison.
type drawn struct {
	montecarlo.Overall
	worstErr float64           // the standard error of WorstMean
	reached  bool              // every standard error has the relative size that was asked for
	kind     string            // where stratified samples were asked for: which ones they are
	interval *enclose.Interval // holds the mean; nil unless the samples are stratified
}

// sample samples a candidate. Plain samples take the place of stratified ones that do not apply.
func sample(ctx context.Context, run Run, p *montecarlo.Problem, weights []float64, draw Sampling) (drawn, error) {
	kind := ""
	if draw.Stratified {
		levels, err := stratified.Estimate(ctx, run.Workers, p, weights, draw.Samples, enclose.Usual(), run.Done)
		if err == nil {
			o := stratified.Average(weights, levels)
			interval := stratified.Interval(weights, levels)
			worst := levels[max(o.WorstLevel, 1)-1]
			return drawn{o, worst.StdErr + worst.Slack, true, stratifiedSamples, &interval}, nil
		}
		if !errors.Is(err, theory.ErrNoClosedForm) && !errors.Is(err, enclose.ErrTooWide) {
			return drawn{}, err
		}
		kind = plainSamples
	}
	sums, reached, err := montecarlo.Estimate(ctx, run.Backend, p, draw.Target(weights, false), run.Done)
	if err != nil {
		return drawn{}, err
	}
	o := montecarlo.Average(weights, sums)
	worst := 0.0
	if o.WorstLevel > 0 {
		worst = sums[o.WorstLevel-1].StdErr()
	}
	return drawn{o, worst, reached, kind, nil}, nil
}

// stratified lists the codes of rows with stratified samples, and of rows with plain ones where stratified
// ones were asked for.
func (c *Comparison) stratified() (stratified, plain []string) {
	for _, r := range c.Results {
		switch {
		case r.Sampling == stratifiedSamples && !slices.Contains(stratified, r.Code):
			stratified = append(stratified, r.Code)
		case r.Sampling == plainSamples && !slices.Contains(plain, r.Code):
			plain = append(plain, r.Code)
		}
	}
	return stratified, plain
}

// sampled says in the heading which samples are stratified.
func (c *Comparison) sampled() string {
	switch s, plain := c.stratified(); {
	case len(s)+len(plain) == 0:
		return ""
	case len(plain) == 0:
		return "; stratified samples"
	case len(s) == 0:
		return "; plain samples, for stratified ones do not apply or errors are too frequent"
	default:
		return "; stratified samples, but plain ones of " + strings.Join(plain, ", ")
	}
}
