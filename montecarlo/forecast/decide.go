package forecast

import (
	"cmp"
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"

	"belsim/errmodel/observed"
	"belsim/montecarlo/scenario"
	"belsim/theory/code"
)

// The constants of decisions.
const (
	// Worthwhile is the smallest gain, as a share of the measured error, that is worth the training of a network.
	Worthwhile = 0.02
	// likely is the probability from which a network is taken to be better. On the networks of testdata/forecast, from five codes
	// each, the mean regret was the same with 0.5 and 0.6, a quarter larger with 0.7, and half as large again or twice with 0.8.
	likely = 0.6
	// open is the probability of a worthwhile gain from which another network may be trained to tell.
	open = 0.5
)

// Action is what to do about a network.
type Action string

// The actions, in the order in which Decide thinks of them.
const (
	// Take is to take another network that was trained: it is better by Worthwhile, and likely better.
	Take Action = "take"
	// Train is to train a network with another code or for something else: the forecast is better by
	// Worthwhile, and likely better.
	Train Action = "train"
	// AddNetwork is to train a second network first: a worthwhile gain is more probable than none, but not sure, and the
	// second network would tell.
	AddNetwork Action = "probe"
	// Stay is to keep the network: no gain is likely to be worthwhile.
	Stay Action = "stay"
)

// Decision says what to do about the network that forecasts are relative to.
type Decision struct {
	Action Action
	// Best is the forecast of what is taken or trained, and else the smallest. It is nil where there is none but the
	// network's own.
	Best *Forecast
	// Probe is the second network that would tell Best from the network's own; nil unless it is to be trained first.
	Probe *Probe
}

// FittedDecoding is the decoding of a decoder that was fitted to a network's logits, whose error may be measured.
func FittedDecoding() observed.Decoding { return observed.Decoding{Decoder: fitted{}, Soft: true} }

// Gain is how much smaller the error of a forecast is than the measured one, as a share of it.
func (x Forecast) Gain() float64 { return 1 - x.Ratio }

// Over compares the errors of two forecasts of one forecaster: their ratio, its 95 % interval, and the probability that x's is
// smaller. The logarithm of the ratio has the variance own_x² + own_y² + |shared_x − shared_y|²: what both share, as the label
// noise, does not count.
func (x Forecast) Over(y Forecast) (ratio float64, interval [2]float64, better float64) {
	variance := square(x.own) + square(y.own)
	for i, v := range x.shared {
		variance += square(v - y.shared[i])
	}
	ratio = x.Error / y.Error
	sd := math.Sqrt(variance)
	span := math.Exp(scenario.Confidence * sd)
	return ratio, [2]float64{ratio / span, ratio * span}, distuv.UnitNormal.CDF(-math.Log(ratio) / sd)
}

// chance is the probability that the ratio is below a limit. The forecast is its median, and each half of the interval that of a
// normal number.
func (x Forecast) chance(limit float64) float64 {
	off, half := math.Log(limit/x.Ratio), math.Log(x.RatioHi/x.Ratio)
	switch {
	case off == 0:
		return 0.5
	case off < 0:
		half = math.Log(x.Ratio / x.RatioLo)
	}
	return distuv.UnitNormal.CDF(scenario.Confidence * off / half)
}

// worth is the probability that the gain of a forecast is worthwhile.
func (x Forecast) worth() float64 { return x.chance(1 - Worthwhile) }

// Decide says what to do, of forecasts of Codes, the smallest first. probes are codes for a second network. A
// network whose own code is not among the forecasts is none to stay with. The error is Probe's.
func (f *Forecaster) Decide(ctx context.Context, workers int, all []Forecast, probes []*code.Code) (*Decision, error) {
	if len(f.Measured) == 0 || len(all) == 0 {
		return &Decision{Action: Stay}, nil
	}
	yours := f.Measured[0]
	own := slices.IndexFunc(all, yours.of)
	var others []*Forecast // the smallest first
	for i, x := range all {
		if x.Code.Name() != yours.Code.Name() || x.Training != yours.Training { // another reading is no reason to train again
			others = append(others, &all[i])
		}
	}
	if len(others) == 0 {
		return &Decision{Action: Stay}, nil
	}
	out := &Decision{Action: Stay, Best: others[0]}
	for _, x := range others {
		if own < 0 || x.Gain() >= Worthwhile && x.Better >= likely {
			out.Action, out.Best = Train, x
			if x.Measured {
				out.Action = Take
			}
			return out, nil
		}
	}
	// Of those that may be worth it, the likeliest.
	likeliest := slices.MaxFunc(others, func(a, b *Forecast) int { return cmp.Compare(a.worth(), b.worth()) })
	if likeliest.worth() < open || len(probes) == 0 {
		return out, nil
	}
	p, err := f.Probe(ctx, workers, probes, *likeliest, all[own])
	if p != nil {
		out.Action, out.Best, out.Probe = AddNetwork, likeliest, p
	}
	return out, err
}
