package forecast

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"belsim/errmodel/observed"
	"belsim/errmodel/perceived"
)

const (
	// Worthwhile is the difference of two errors, as a share of them, within which cost may decide.
	Worthwhile = 0.02
	// LeastGain is the smallest expected gain for which a network is trained. testdata/forecast has
	// the regrets of others.
	LeastGain = 0.01
)

// Experience is what a head has lost to the best one: how much larger its error was, as a share, a
// mean over data sets.
type Experience struct {
	Code     string
	Training perceived.Training
	Loss     float64
	DataSets int
}

// loses reports whether a head lost more than another one, by more than Worthwhile.
func (e Experience) loses(to Experience) bool { return e.Loss > to.Loss+Worthwhile }

// lost is what networks of a head lost in general, where it loses to the head that lost least; else
// it is 0. A head that is worse than the model says, as direct regression is, looks better beside
// others than it is.
func lost(c string, t perceived.Training) float64 {
	for _, e := range known() {
		if e.Code == c && e.Training == t && e.loses(leastLost()) {
			return e.Loss
		}
	}
	return 0
}

// leastLost is the head that lost least in general.
func leastLost() Experience {
	return slices.MinFunc(known(), func(a, b Experience) int { return cmp.Compare(a.Loss, b.Loss) })
}

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

// Decision says what to do about the network that forecasts are relative to.
type Decision struct {
	Action Action
	// Best is the smallest forecast of another network; nil where there is none.
	Best *Forecast
	// Lost is what the network's head lost in general, as a share, where this decides; else 0.
	Lost float64
	// Rule says that the smallest forecast gave way to the head that lost least in general.
	Rule bool
}

// FittedDecoding is the decoding of a decoder that was fitted to a network's logits, whose error
// may be measured.
func FittedDecoding() observed.Decoding { return observed.Decoding{Decoder: fitted{}, Soft: true} }

// Gain is how much smaller the error of a forecast is than the measured one, as a share of it.
func (x Forecast) Gain() float64 { return 1 - x.Ratio }

// Decide says what to do about a network of a code and a training, of forecasts that are sorted:
// train what has the smallest one, where it gains LeastGain. Forecasts do not tell heads apart that
// are nearer than Worthwhile, and experience does. So the smallest forecast gives way to the head
// that lost least in general where that gains as much, and is forecast to be less than Worthwhile
// worse. A head that loses in general is not trained, and is left where others are forecast to be
// less than Worthwhile worse. A network whose own code is not among the forecasts is none to stay
// with. Another reading of it is no reason to train again.
func Decide(c string, t perceived.Training, all []Forecast) Decision {
	own := func(x Forecast) bool { return x.Code.Name() == c && x.Training == t }
	at := slices.IndexFunc(all, func(x Forecast) bool {
		return !own(x) && (x.Measured || lost(x.Code.Name(), x.Training) == 0)
	})
	if at < 0 {
		return Decision{Action: Stay}
	}
	best, out, need := &all[at], Decision{Action: Train}, LeastGain
	if lost := lost(c, t); lost > 0 {
		if need = -Worthwhile; best.Gain() < LeastGain {
			out.Lost = lost
		}
	}
	rule := leastLost()
	if at := slices.IndexFunc(all, func(x Forecast) bool {
		return x.Code.Name() == rule.Code &&
			x.Training == rule.Training
	}); at >= 0 {
		x := &all[at]
		if !own(*x) && !best.Measured && x.Gain() >= need && best.Error > (1-Worthwhile)*x.Error {
			best, out.Rule = x, x != best
		}
	}
	if out.Best = best; best.Measured {
		out.Action = Take
	}
	if slices.ContainsFunc(all, own) && best.Gain() < need {
		return Decision{Action: Stay, Best: best}
	}
	return out
}

// KnownText says what heads have lost in general.
func KnownText() string {
	known := slices.SortedFunc(slices.Values(known()), func(a, b Experience) int { return cmp.Compare(a.Loss, b.Loss) })
	var parts []string
	for _, e := range known {
		name := Called(e.Code, e.Training)
		switch {
		case LookupHead(name).Predicts:
			name = "direct regression"
		case LookupHead(name).Name == "":
			name += " with " + e.Training.Loss()
		}
		parts = append(parts, fmt.Sprintf("%s %.1f %%", name, 100*e.Loss))
	}
	return fmt.Sprintf("In general, over %d data sets, heads lost to the best one of each: %s.", known[0].DataSets,
		strings.Join(parts, ", "))
}
