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

// sampled says in the heading which samples are stratified. Where a code has both kinds, its decoders
// tell them apart.
func (c *Comparison) sampled() string {
	var some []string // the codes with stratified samples
	for _, r := range c.Results {
		if r.Sampling == stratifiedSamples {
			some = append(some, r.Code)
		}
	}
	var plain []string
	for _, r := range c.Results {
		name := r.Code
		if slices.Contains(some, r.Code) {
			name = r.Decoder
		}
		if r.Sampling == plainSamples && !slices.Contains(plain, name) {
			plain = append(plain, name)
		}
	}
	switch {
	case len(some)+len(plain) == 0:
		return ""
	case len(plain) == 0:
		return "; stratified samples"
	case len(some) == 0:
		return "; plain samples, for stratified ones do not apply or errors are too frequent"
	default:
		return "; stratified samples, but plain ones of " + strings.Join(plain, ", ")
	}
}
