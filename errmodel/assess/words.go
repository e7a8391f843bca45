package assess

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"belsim/errmodel"
	"belsim/errmodel/forecast"
	"belsim/errmodel/observed"
	"belsim/errmodel/perceived"
	"belsim/theory/base/position"
	"belsim/theory/base/table"
)

// forecastCodes is what a reader may do next.
func forecastCodes() string {
	return "forecast all other codes (" + position.Flag("recommend", "") + ")."
}

const easyToLearn = "train a network with a code that is easy to learn, such as unary or johnson."

// opening is the verdict in some plain sentences: what the network does and what is wrong with it, whether
// the perceived-label model describes it, and what to do next.
func (f *Fit) opening(all []*network) []string {
	own, others := all[0], all[1:]
	out := leftOut(append(slices.Clone(others), own)...)
	for i, n := range others {
		if n.misread != nil {
			out = append(out, fmt.Sprintf("The network of %s is left out of the forecasts: %s. Next: %s.",
				own.options.Others[i].Outputs, n.misread.Text, n.misread.Mend))
		}
	}
	if !own.seen.Same && (f.Fitted == nil || !f.Fitted.Better) {
		out = append(out, f.whatItDoes())
	}
	if f.Fitted != nil {
		out = append(out, f.Fitted.text(f))
	}
	first := own.misread // the fault whose mend is what to do next
	for i := range f.Findings {
		if x := &f.Findings[i]; first == nil && x.Mend != "" {
			first = x
		}
	}
	for i := range f.Findings {
		x := &f.Findings[i]
		out = append(out, sentenceOf(x.Text), when(x != first && !x.Misread(), sentenceOf(x.Mend)))
	}
	if own.misread == nil {
		out = append(out, f.directText(), f.Perceived.Verdict)
	}
	if first != nil {
		return sentences(append(out, "Next: "+first.Mend+".")...)
	}
	return sentences(append(out, "Next: "+f.next())...)
}

// leftOut says which lines of files were taken for names of columns.
func leftOut(networks ...*network) (out []string) {
	for _, n := range networks {
		for _, note := range n.source.Notes() {
			if !slices.Contains(out, note+".") {
				out = append(out, note+".")
			}
		}
	}
	return out
}

// sentences are the texts that say something.
func sentences(texts ...string) []string {
	return slices.DeleteFunc(texts, func(text string) bool { return text == "" })
}

// when is a text under a condition, else "".
func when(so bool, text string) string {
	if so {
		return text
	}
	return ""
}

// sentenceOf begins with a capital letter and ends with a stop.
func sentenceOf(text string) string {
	if text == "" {
		return ""
	}
	return strings.ToUpper(text[:1]) + text[1:] + "."
}

// predicts reports whether the network is direct regression.
func (f *Fit) predicts() bool { return f.Code == forecast.Direct }

// unit is what follows an error: the unit, where it is levels.
func (f *Fit) unit() string { return when(f.Range == nil, " levels") }

// ErrorUnit is the unit of errors.
func (f *Fit) ErrorUnit() string {
	if f.Range == nil {
		return errmodel.InLevels
	}
	return errmodel.InLabelUnits
}

// besideLevels is what follows an error: its unit, or how many levels it is.
func (f *Fit) besideLevels(v float64) string {
	if f.Range == nil || f.LevelWidth == 1 || f.Values != nil {
		return f.unit()
	}
	return fmt.Sprintf(" (%s levels)", table.Short(v/f.LevelWidth))
}

// whatItDoes names the best decoder and its error.
func (f *Fit) whatItDoes() string {
	best := bestDecoder(f.Decoders)
	if best < 0 {
		return "No decoder fits the code."
	}
	d := f.Decoders[best]
	text := fmt.Sprintf("The network's best decoder is %s on %s%s: it is wrong by ", d.Decoder, d.Outputs,
		when(f.Outputs == string(observed.Probabilities), ", for the outputs are read as probabilities"))
	switch {
	case f.predicts() && f.Range != nil:
		text = "These predictions are wrong by "
	case f.predicts():
		text = "These predictions, rounded to levels, are wrong by "
	}
	text += table.Short(d.Observed) + f.besideLevels(d.Observed) + " on average"
	switch {
	case f.Range == nil:
		text += "; the targets are levels, so rounding costs nothing"
	case f.Quantization > 0 && !f.predicts():
		text += fmt.Sprintf("; rounding labels to levels alone costs %s", table.Short(f.Quantization))
	}
	return text + "."
}

// fewSamples is the number of test samples up to which no code is recommended.
const fewSamples = 100

// next says what to do.
func (f *Fit) next() string {
	const much = 0.2 // more error than direct regression; those in testdata/heads had at most 18 %
	switch rec, best := f.Recommendation, bestDecoder(f.Decoders); {
	case f.Direct != nil && f.Direct.Told && f.Direct.Difference > much*f.Direct.Error && !f.predicts():
		return "train longer, or keep direct regression: forecasts hold for networks that were trained to the end."
	case f.predicts() && best >= 0 && f.Decoders[best].Observed < 1e-9*f.LevelWidth:
		return "give the network's predictions: these are the targets."
	case f.WrongBits == 0:
		return "judge it by more test samples: without an error it tells nothing of other codes."
	case f.Circular:
		return "train other codes, and regression of sine and cosine, and judge each by the same samples: no forecast " +
			"knows a circle."
	case f.Perceived.Postponed:
		return forecastCodes()
	case table.Missing(f.Perceived.Noise) || rec != nil && len(rec.Ranking) == 0:
		return easyToLearn
	case f.Samples < fewSamples:
		return fmt.Sprintf("judge it by more test samples: %d tell no codes apart; want %d or more.", f.Samples, fewSamples)
	case rec == nil:
		return forecastCodes()
	default:
		return decisionText(rec.Decision, f.Fitted, f.Code)
	}
}

// decisionText says what to do about the network, after the fitted decoder where that gains more
// than any code. fitted is nil without one.
func decisionText(d *forecast.Decision, fitted *Fitted, yours string) string {
	first := ""
	if fitted != nil && fitted.Better {
		gain := fitted.Gain / fitted.BaselineErr
		if more := gain > d.Gain; gain >= forecast.LeastGain && (more || d.Action == forecast.Stay) {
			first = fmt.Sprintf("read this network with the fitted decoder: it gains %s%s. Beyond that, ", percent(gain),
				when(more, ", more than any code is forecast to add"))
		}
	}
	how := forecast.Described(d.Code, d.Training) +
		when(d.Training == perceived.Soft, fmt.Sprintf(" (σ = %v levels)", forecast.SoftSigma)) +
		when(d.Code != forecast.Direct, " and read it with "+d.Decoder)
	switch d.Action {
	case forecast.Train:
		rule := when(d.Rule, "No head is forecast to be 2 % better than yours. "+forecast.LeastLost+", and no other had less. ")
		return fmt.Sprintf("%strain %s. %sForecast: %s than yours; the probability that it has less is %s.", first, how, rule,
			moreError(-d.Gain, "no more error"), forecast.Chance(d.Better)) +
			when(d.Lost > 0, " On other data sets "+yours+" had more error than the best head: "+forecast.DirectLost+".")
	case forecast.Take:
		return fmt.Sprintf("%stake %s%s: it gains %s.", first, when(d.Code != forecast.Direct, "the network of "), how,
			percent(d.Gain))
	}
	return first + when(!d.Ended, "train longer, or ") + "keep " + yours + ": no head is forecast to be clearly better."
}

// placesOf is how many digits after the point a share has in percent: one, or none from 10 % on.
func placesOf(share float64) int {
	if math.Abs(share) >= 0.0995 {
		return 0
	}
	return 1
}

// percent writes a share.
func percent(share float64) string {
	if table.Missing(share) {
		return table.Short(share)
	}
	return strings.TrimSuffix(strings.TrimPrefix(signed(share, placesOf(share)), "+"), ".0") + " %"
}

// moreError writes a difference of two errors, as a share of one, or what none is.
func moreError(share float64, none string) string {
	text := strings.TrimPrefix(percent(share), "−")
	switch {
	case text == "0 %":
		return none
	case share < 0:
		return text + " less error"
	}
	return text + " more error"
}

// signed writes a share in percent with its sign, and so many digits after the point.
func signed(share float64, places int) string {
	text := strings.Replace(fmt.Sprintf("%+.*f", places, 100*share), "-", "−", 1)
	if strings.Trim(text, "+−0.") == "" {
		return "0"
	}
	return text
}

// relative writes a ratio and its interval as differences from 1, in percent.
func relative(ratio float64, interval [2]float64) string {
	if table.Missing(ratio) {
		return table.Short(ratio)
	}
	between := 0
	if interval[1]-interval[0] < 0.03 {
		between = 1
	}
	return fmt.Sprintf("%s %% (%s to %s %%)", signed(ratio-1, placesOf(ratio-1)), signed(interval[0]-1, between),
		signed(interval[1]-1, between))
}
