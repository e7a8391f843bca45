package assess

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"belsim/errmodel"
	"belsim/errmodel/forecast"
	"belsim/errmodel/perceived"
	"belsim/theory/base/position"
	"belsim/theory/base/table"
	"belsim/theory/decode"
)

// Advice is what a reader may do next. Its words stand in the sentences of a report; Report.Section
// adds how a program does it.
type Advice string

// All advice that a program may have a way for.
const (
	// Options.Recommend
	ForecastCodes Advice = "forecast all other codes"
	// Options.Others
	AddProbe Advice = "train one with the columns of the code probe, and give its outputs, too"
	// Options.Others
	AddCheckpoint Advice = "give the outputs of an earlier checkpoint as another network of the same code"
)

const easyToLearn = "train a network with a code that is easy to learn, such as unary or johnson."

// opening is the verdict in some plain sentences: what the network does, whether the
// perceived-label model describes it, and what to do next.
func opening(f *Fit, own *network, found findings) []string {
	others := found.others
	switch what := sentenceOf(own.warning); {
	case own.seen.Same:
		return []string{what, "Next: " + own.remedy + "."}
	case what != "":
		return sentences(append(leftOut(own), what, f.whatItDoes(), f.emptyText(), "Next: "+own.remedy+".")...)
	}
	out := leftOut(append(slices.Clone(others), own)...)
	for i, n := range others {
		if n.warning != "" {
			out = append(out, fmt.Sprintf("The network of %s is left out of the forecasts: %s. Next: %s.",
				own.options.Others[i].Outputs, n.warning, n.remedy))
		}
	}
	if f.Fitted == nil || !f.Fitted.Better {
		out = append(out, f.whatItDoes())
	}
	if f.Fitted != nil {
		out = append(out, f.Fitted.text(f))
	}
	trained, verdict := "", ""
	if f.Perceived != nil {
		trained = when(own.training != perceived.BCE,
			"Its outputs were not trained bit by bit, so their thresholds at 0 mean nothing.")
		verdict = f.Perceived.Verdict
	}
	model := strings.Join(sentences(trained, deadText(f.Dead, f.Bits), verdict), " ")
	for _, x := range f.Findings {
		out = append(out, sentenceOf(x.Text), sentenceOf(x.Mend))
	}
	return sentences(append(out, f.emptyText(), f.valuesText(own), f.directText(), model, "Next: "+f.next(found.model.siblings))...)
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

// errorUnit is the unit of errors, where these are the labels of the end levels.
func errorUnit(ends *[2]float64) string {
	if ends == nil {
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
	best := f.bestDecoder()
	if best < 0 {
		return "No decoder fits the code."
	}
	d := f.Decoders[best]
	text := fmt.Sprintf("The network's best decoder is %s on %s: it is wrong by ", d.Decoder, d.Outputs)
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
		text += fmt.Sprintf("; the levels nearest to the targets are wrong by %s", table.Short(f.Quantization))
	}
	return strings.Join(sentences(text+".", f.Outside.text(f)), " ")
}

// emptyShare is the share of the levels from which on a report says that those at the ends do not
// occur. Test samples rarely have the very ends of a range.
const emptyShare = 0.1

// fewSamples is the number of test samples up to which no code is recommended, and muchEmpty the
// share of empty levels at the ends from which on.
const fewSamples, muchEmpty = 100, 0.25

// emptyShare is the share of the levels at the ends that no target lies in.
func (f *Fit) emptyShare() float64 {
	lowest, highest := occurring(f.Prior)
	return 1 - float64(highest-lowest+1)/float64(f.Levels)
}

// emptyText says what part of the range no target lies in: levels at its ends. It is "" where few
// are empty.
func (f *Fit) emptyText() string {
	lowest, highest := occurring(f.Prior)
	below, above := lowest-1, f.Levels-highest
	share := f.emptyShare()
	if share < emptyShare || f.Circular { // a circle has no ends
		return ""
	}
	of := func(from, to int) string {
		text := fmt.Sprintf("levels %s to %s", position.At(from), position.At(to))
		if from == to {
			text = fmt.Sprintf("level %s", position.At(from))
		}
		if f.Range != nil {
			ends := [2]float64{f.Range[0] + (float64(from)-1.5)*f.LevelWidth,
				f.Range[0] + (float64(to)-0.5)*f.LevelWidth}
			if v := f.Values; v != nil {
				ends = [2]float64{(v[max(from-2, 0)] + v[from-1]) / 2, (v[to-1] + v[min(to, len(v)-1)]) / 2}
			}
			text += fmt.Sprintf(" (%.4g to %.4g)", max(ends[0], f.Range[0]), min(ends[1], f.Range[1]))
		}
		return text
	}
	var parts []string
	if below > 0 {
		parts = append(parts, of(1, lowest-1))
	}
	if above > 0 {
		parts = append(parts, of(highest+1, f.Levels))
	}
	return fmt.Sprintf("No target is of %s: %s of the levels are empty. Check that the range is the network's.",
		strings.Join(parts, " or "), percent(share))
}

// valuesText says how many targets the end levels clip, and that a Johnson code is wrong for uneven
// levels.
func (f *Fit) valuesText(n *network) string {
	var out []string
	if f.Beyond > 0 {
		out = append(out, beyondText(int(f.Beyond), int(f.Samples)))
	}
	if _, err := decode.New("bel-j", n.code); err == nil && n.code.Uneven() && n.code.Levels() > 3 {
		out = append(out, f.Code+" is the wrong code for uneven levels: its words of levels n and n + L/2 are "+
			"complements, so that it cannot say noise that is broad in levels, as it is where they lie dense.")
	}
	return strings.Join(out, " ")
}

// deadText lists the dead classifiers.
func deadText(dead []int, bits int) string {
	switch len(dead) {
	case 0:
		return ""
	case bits:
		return "No classifier has learnt its bit: all are mostly wrong, or always answer the same."
	}
	const most = 6
	list := position.List(dead[:min(most, len(dead))])
	if more := len(dead) - most; more > 0 {
		list += fmt.Sprintf(" and %d more", more)
	}
	if len(dead) == 1 {
		return "The classifier of bit " + list + " is dead: it always answers the same, or is mostly wrong. " +
			"The fits set it aside."
	}
	return "The classifiers of bits " + list + " are dead: they always answer the same, or are mostly wrong. " +
		"The fits set them aside."
}

// next says what to do.
func (f *Fit) next(of siblings) string {
	switch rec := f.Recommendation; {
	case 4*len(f.Dead) > f.Bits: // of unary in reversed columns, nearly half are
		return "check the code, the range and the order of the bits: all must be the network's."
	case f.WrongBits == 0:
		return "judge it by more test samples: without a wrong output it tells nothing of other codes."
	case f.Circular:
		return "train other codes, and regression of sine and cosine, and judge each by the same samples: no forecast " +
			"knows a circle."
	case f.Values != nil:
		return "train the same network with even levels, too: spacing matters where few levels meet long tails."
	case f.Perceived == nil || table.Missing(f.Perceived.Noise):
		return easyToLearn
	case rec == nil:
		return string(ForecastCodes) + "."
	case len(rec.Ranking) == 0:
		return easyToLearn
	case f.Samples < fewSamples:
		return fmt.Sprintf("judge it by more test samples: %d tell no codes apart; want %d or more.", f.Samples, fewSamples)
	case f.emptyShare() >= muchEmpty:
		return fmt.Sprintf("check the range: %s of the levels are empty.", percent(f.emptyShare()))
	case of.next(f.Code) != "":
		return of.next(f.Code)
	default:
		return decisionText(rec.Decision, f.Fitted, f.Code)
	}
}

// decisionText says what to do about the network, after the fitted decoder where that gains more
// than any code. fitted is nil without one.
func decisionText(d *forecast.Decision, fitted *Fitted, yours string) string {
	first := ""
	if fitted != nil && fitted.Better && fitted.Gain >= forecast.LeastGain*fitted.BaselineErr {
		if gain := fitted.Gain / fitted.BaselineErr; gain > d.Gain || d.Action == forecast.Stay {
			first = fmt.Sprintf("read this network with the fitted decoder: it gains %s%s. Beyond that, ",
				percent(gain), when(gain > d.Gain, ", more than any code is forecast to add"))
		}
	}
	how := forecast.Described(d.Code, d.Training)
	if d.Training == perceived.Soft {
		how += fmt.Sprintf(" (σ = %v levels)", forecast.SoftSigma)
	}
	if d.Code != forecast.Direct {
		how += " and read it with " + d.Decoder
	}
	switch d.Action {
	case forecast.Train:
		text := fmt.Sprintf("%strain %s: expected gain %s, probability %s.", first, how, percent(d.Gain),
			forecast.Chance(d.Better))
		if d.Rule {
			text += " This head lost least in general, and no head is forecast to be 2 % better."
		}
		if d.Lost > 0 {
			text += fmt.Sprintf(" In general %s loses %s to the best head.", yours, forecast.DirectLost)
		}
		return text
	case forecast.Take:
		if d.Code != forecast.Direct {
			how = "the network of " + how
		}
		return fmt.Sprintf("%stake %s: it gains %s.", first, how, percent(d.Gain))
	}
	if !d.Ended { // a longer training may gain more
		return fmt.Sprintf("%strain longer, or keep %s: nothing is told apart from it.", first, yours)
	}
	return fmt.Sprintf("%skeep %s: nothing is told apart from it.", first, yours)
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
	return strings.TrimSuffix(strings.Replace(strconv.FormatFloat(100*share, 'f', placesOf(share), 64), "-", "−", 1),
		".0") + " %"
}

// signed writes a share in percent with its sign, and so many digits after the point.
func signed(share float64, places int) string {
	if table.Missing(share) {
		return table.Short(share)
	}
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
