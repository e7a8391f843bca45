package assess

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"belsim/errmodel/perceived"
	"belsim/montecarlo/scenario"
	"belsim/theory/base/table"
)

// Opening is the verdict in two or three plain sentences: what the network does, whether the
// perceived-label model describes it, and what to do next. Call it after Predict.
func (s *Study) Opening() []string {
	if s.observed.Same {
		return []string{"The network's outputs do not depend on its input: they are the same for all samples. No decoder can read a label from them.",
			"Next: check that these are the outputs of the trained network, and that its training did not stop or diverge."}
	}
	out := []string{s.whatItDoes()}
	f := s.Fit
	if s.fitted != nil {
		if text := s.fittedText(); s.fitted.Fitted {
			out[0] = text
		} else {
			out = append(out, text)
		}
		if text := s.savedText(); text != "" {
			out = append(out, text)
		}
	}
	if text := s.besideDirect(); text != "" {
		out = append(out, text)
	}
	if f.Noise {
		out = slices.Insert(out, 0, "None of the network's outputs depends on its target, as far as the samples tell: decoders can only guess.")
	}
	text := ""
	if s.training == perceived.ForDecoder && f.Perceived != nil {
		text = "Its outputs were not trained bit by bit, so their thresholds at 0 mean nothing. "
	}
	if len(f.Dead) > 0 {
		text += deadText(f.Dead, f.Bits) + " "
	}
	if f.Perceived != nil {
		text += f.Perceived.Verdict
	}
	if text = strings.TrimSpace(text); text != "" {
		out = append(out, text)
	}
	next := "Next: " + s.next()
	if s.fitted != nil && f.Recommendation != nil && len(f.Recommendation.Ranking) > 0 {
		next += " Forecasts have fitted decoders as well; they gain most with codes of few bits."
	}
	return append(out, next)
}

// whatItDoes names the best decoder and its error.
func (s *Study) whatItDoes() string {
	f := s.Fit
	best := f.bestDecoder()
	if best < 0 {
		return "No decoder fits the code."
	}
	d := f.Decoders[best]
	text := fmt.Sprintf("The network's best decoder is %s on %s: it is wrong by ", d.Decoder, d.Outputs)
	if f.Range == nil {
		return text + table.Short(d.Observed) + " levels on average; the targets are levels, so this has no quantization."
	}
	text += table.Short(d.LabelUnits.Observed) + " on average"
	if f.LevelWidth != 1 {
		text += fmt.Sprintf(" (%s levels)", table.Short(d.Observed))
	}
	text += fmt.Sprintf(", and by %s with quantization", table.Short(d.LabelUnits.Target))
	for _, b := range f.Baselines {
		if b.Name == scenario.QuantizationAlone {
			text += fmt.Sprintf(" (quantization alone: %s)", table.Short(b.Error))
		}
	}
	return text + "."
}

// besideDirect compares the network with direct regression: both are wrong about the targets
// themselves. It is "" where nobody said how wrong direct regression is.
func (s *Study) besideDirect() string {
	f, direct, best := s.Fit, s.network.options.Baseline, s.Fit.bestDecoder()
	if direct == 0 || best < 0 {
		return ""
	}
	d, width := f.Decoders[best], 1.0
	if f.Range != nil {
		width = f.LevelWidth
	}
	own, half := width*d.Target, width*1.96*d.TargetStdErr
	if s.fitted != nil && s.fitted.Fitted {
		own = width * f.Fitted.Error
		half = width * float64(f.Fitted.Interval[1]-f.Fitted.Interval[0]) / 2
	}
	text := fmt.Sprintf("Direct regression is wrong by %s", table.Short(direct))
	if f.Range == nil {
		text += " levels"
	}
	switch {
	case own+half < direct:
		return fmt.Sprintf("%s: this network is better by %.2g %%.", text, 100*(1-own/direct))
	case own-half > direct:
		if own/direct > 1e4 { // also where the quotient is no number
			return text + ": this network is more than 10,000 times as wrong."
		}
		return fmt.Sprintf("%s: this network is worse by %.2g %%.", text, 100*(own/direct-1))
	}
	return text + ": this network is not told apart from it."
}

// deadText lists the dead classifiers.
func deadText(dead []int, bits int) string {
	if len(dead) == bits {
		return "No classifier has learnt its bit: all are wrong in more than half of the samples, or always answer the same."
	}
	const most = 6
	var names []string
	for _, k := range dead[:min(most, len(dead))] {
		names = append(names, strconv.Itoa(k))
	}
	list := strings.Join(names, ", ")
	if more := len(dead) - most; more > 0 {
		list += fmt.Sprintf(" and %d more", more)
	}
	if len(dead) == 1 {
		return fmt.Sprintf("The classifier of bit %s is dead: it always answers the same, or is mostly wrong. The fits set it aside.", list)
	}
	return fmt.Sprintf("The classifiers of bits %s are dead: they always answer the same, or are mostly wrong. The fits set them aside.", list)
}

// next says what to do.
func (s *Study) next() string {
	f := s.Fit
	switch {
	case f.Noise:
		return "check that targets and outputs are in the same order, and that the code and the range are the network's."
	case 2*len(f.Dead) > f.Bits:
		return "check that the code, the range and the order of the bits are those that the network was trained with."
	case f.Perceived == nil || table.Missing(f.Perceived.Noise):
		return "train a network with a code that is easy to learn, such as unary or johnson."
	case !f.Perceived.Describes:
		return "train a network with a code that is easy to learn, such as unary or johnson; these outputs forecast no other code."
	case f.Recommendation == nil:
		return "a recommendation, which forecasts all other codes from this network."
	case len(f.Recommendation.Ranking) == 0:
		return "train a network with a code that is easy to learn."
	}
	best := f.Recommendation.Ranking[0]
	own := -1
	others := map[string]bool{}
	for i, r := range f.Recommendation.Ranking {
		if r.Trained && own < 0 {
			own = i
		}
		if r.Tie && r.Code != best.Code {
			others[r.Code] = true
		}
	}
	width := f.LevelWidth
	if f.Range == nil {
		width = 1
	}
	unit := ""
	if f.Range == nil {
		unit = " levels"
	}
	in := func(n float64) string { return table.Short((n * width)) }
	forecast := fmt.Sprintf("%s%s, %s to %s", in(best.Forecast), unit, in(best.Interval[0]), in(best.Interval[1]))
	if own >= 0 && (own == 0 || f.Recommendation.Ranking[own].Tie) {
		return fmt.Sprintf("stay with %s: no code is certain to be better. The best forecast is %s on %s, trained for %s: %s.", f.Code, best.Code, best.Decoder, trainingText(best.Training), forecast)
	}
	return fmt.Sprintf("train %s for %s and read it with %s: %s forecast. %s.", best.Code, trainingText(best.Training), best.Decoder, forecast, asGood(len(others)))
}

func asGood(n int) string {
	switch n {
	case 0:
		return "No other code may be as good"
	case 1:
		return "One other code may be as good"
	}
	return fmt.Sprintf("%d other codes may be as good", n)
}

// trainingText says what a network is trained for.
func trainingText(training string) string {
	if training == string(perceived.ForDecoder) {
		return "the decoder (CE)"
	}
	return "its bits (BCE)"
}
