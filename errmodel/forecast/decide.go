package forecast

import (
	"math"
	"slices"

	"belsim/errmodel/perceived"
	"belsim/errmodel/scenario"
)

const (
	// Worthwhile is the smallest difference of two errors that matters, as a share: heads within it are
	// practically equivalent.
	Worthwhile = 0.02
	// LeastGain is the smallest expected gain for which a network is trained. testdata/forecast has
	// the regrets of others.
	LeastGain = 0.01
)

// Undecided is the probability of being better up to which a network is not told apart from the
// measured one.
const Undecided = 0.6

// lost is what networks of a head lost to the best one in general, where that is more than Worthwhile
// beyond the head that lost least; else it is 0. Direct regression alone has, which is worse than the
// model says, so it looks better beside others than it is.
func lost(c string, t perceived.Training) float64 {
	if c == Direct && t == perceived.BCE {
		return directLost
	}
	return 0
}

// leastLost reports whether a forecast is of the head that lost least in general: no other lost less by
// Worthwhile.
func leastLost(x Forecast) bool { return x.Code.Name() == "unary" && x.Training == perceived.BCE }

// Action is what to do about a network.
type Action string

const (
	// Take is to take another network that was trained: it is better.
	Take Action = "take"
	// Train is to train a network with another code or for something else: it is forecast to be
	// better.
	Train Action = "train"
	// Stay is to keep the network: none is likely to be better by LeastGain.
	Stay Action = "stay"
)

// Decision says what to do next.
type Decision struct {
	// train (a network with the code), take (another network given), or stay (with this one)
	Action Action `json:"action"`
	scenario.Design
	// 1 − ratio; 0 where the network is kept
	Gain float64 `json:"gain"`
	// probability that it is better; null where it is kept
	Better float64 `json:"better"`
	// another network of the same head is as good, so that the training has ended
	Ended bool `json:"ended"`
	// the head lost least in general, and no other is forecast to be 2 % better
	Rule bool `json:"rule,omitempty"`
	// share that the network's own head lost to the best one in general; only where this decides
	Lost float64 `json:"lost,omitempty"`

	// Best is the smallest forecast of another network; nil where there is none.
	Best *Forecast `json:"-"`
}

// Gain is how much smaller the error of a forecast is than the measured one, as a share of it.
func (x Forecast) Gain() float64 { return 1 - x.Ratio }

// Decide says what to do about a network of a code and a training, of forecasts that are sorted:
// train what has the smallest one, where it gains LeastGain with a probability above Undecided.
// Forecasts do not tell heads apart that are nearer than Worthwhile, and experience does. So the
// smallest forecast gives way to the head that lost least in general where that gains as much, and
// is forecast to be less than Worthwhile worse. A head that loses in general is not trained, and is
// left where others are forecast to be less than Worthwhile worse. A network whose own code is not
// among the forecasts is none to stay with. Another reading of it is no reason to train again.
func Decide(c string, t perceived.Training, all []Forecast) *Decision {
	first := func(is func(Forecast) bool) *Forecast {
		if i := slices.IndexFunc(all, is); i >= 0 {
			return &all[i]
		}
		return nil
	}
	own := func(x Forecast) bool { return x.Code.Name() == c && x.Training == t }
	out := &Decision{Action: Stay, Better: math.NaN()}
	if x := first(func(x Forecast) bool { return x.Measured && own(x) }); x != nil {
		out.Design = x.Design()
	}
	best := first(func(x Forecast) bool {
		return !own(x) && (x.Measured || lost(x.Code.Name(), x.Training) == 0)
	})
	if best == nil || math.IsNaN(best.Ratio) { // without an error that ratios are to, nothing is gained
		return out
	}
	lost, need := lost(c, t), LeastGain
	if lost > 0 {
		need = -Worthwhile
	}
	byLoss := best.Gain() < LeastGain
	rule := false
	x := first(leastLost)
	if x != nil && !own(*x) && !best.Measured && x.Gain() >= need && best.Error > (1-Worthwhile)*x.Error {
		best, rule = x, x != best
	}
	out.Best = best
	undecided := best.Gain() < need || lost == 0 && best.Better < Undecided
	if undecided && slices.ContainsFunc(all, own) {
		return out
	}
	out.Action, out.Design, out.Gain, out.Better, out.Rule = Train, best.Design(), best.Gain(), best.Better, rule
	if best.Measured {
		out.Action = Take
	}
	if byLoss {
		out.Lost = lost
	}
	return out
}
