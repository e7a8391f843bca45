package assess

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"belsim/errmodel"
	"belsim/errmodel/fault"
	"belsim/errmodel/head"
	"belsim/errmodel/observed"
	"belsim/theory/base/table"
)

// opening is the verdict in some plain sentences: what the network does, what is wrong with it, and what
// to do next.
func (f *Fit) opening(n *network) []string {
	var out []string
	for _, note := range n.source.Notes() { // which lines of files were taken for names of columns
		out = append(out, note+".")
	}
	if n.note != "" && f.finding("sigmoid") == nil {
		out = append(out, n.note+".")
	}
	if !n.seen.Same && (f.Fitted == nil || !f.Fitted.Better) {
		out = append(out, f.whatItDoes())
	}
	if f.Fitted != nil {
		out = append(out, f.Fitted.text(f))
	}
	first := n.misread // the fault whose mend is what to do next
	for i := range f.Findings {
		if x := &f.Findings[i]; first == nil && x.Mend != "" && x.Helps() {
			first = x
		}
	}
	for i := range f.Findings {
		if x := &f.Findings[i]; x.Told() {
			out = append(out, sentenceOf(x.Text), when(x != first && math.IsNaN(x.Error), sentenceOf(x.Mend)))
		}
	}
	if n.misread == nil {
		out = append(out, f.directText())
	}
	if first != nil {
		return sentences(append(out, "Next: "+first.Mend+".")...)
	}
	return sentences(append(out, f.next(n))...)
}

// finding is that of a name; nil where there is none.
func (f *Fit) finding(name string) *fault.Finding {
	if i := slices.IndexFunc(f.Findings, func(x fault.Finding) bool { return x.Name == name }); i >= 0 {
		return &f.Findings[i]
	}
	return nil
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
func (f *Fit) predicts() bool { return f.Code == head.Direct }

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

// next says what to do where nothing is wrong: else the rule of the head's kind.
func (f *Fit) next(n *network) string {
	const (
		much = 0.2 // more error than direct regression; networks in testdata/heads had at most 18 %
		few  = 100 // test samples
	)
	switch best := bestDecoder(f.Decoders); {
	case f.Direct != nil && f.Direct.Told && f.Direct.Difference > much*f.Direct.Error && !f.predicts():
		return "Next: train longer, or keep direct regression."
	case f.predicts() && best >= 0 && f.Decoders[best].Observed < 1e-9*f.LevelWidth:
		return "Next: give the network's predictions: these are the targets."
	case f.WrongBits == 0 || f.Samples < few:
		return fmt.Sprintf("Next: judge the network by more test samples, at least %d that it finds difficult.", few)
	}
	return f.rule(n)
}

// rule says how much more error than the best head networks of this head had on the data sets of
// testdata/heads, and those of the heads that had least; "" where this head was not measured there.
func (f *Fit) rule(n *network) string {
	measure := head.ToLabel
	if f.Range == nil {
		measure = head.ToLevel
	}
	all, err := head.Losses()
	if err != nil { // TestLosses reads the table that is in the program
		return ""
	}
	excess := func(c string, t head.Training) (text string, ok bool) {
		table, on := head.FindLost(all, c, t, measure, head.Tables)
		image, of := head.FindLost(all, c, t, measure, head.Images)
		return fmt.Sprintf("%s %.1f and %.1f %%", head.Described(c, t), table.Median, image.Median), on && of
	}
	var heads []string
	for _, h := range head.Rules {
		text, _ := excess(h.Code, h.Training)
		heads = append(heads, text)
	}
	yours, ok := excess(n.code.Name(), n.training)
	if !ok || f.Circular || f.Values != nil {
		return ""
	}
	if !slices.Contains(heads, yours) {
		heads = append(heads, yours)
	}
	return fmt.Sprintf("Heads have more error than the best one (medians, of tables and of images): %s (testdata/heads/README.md).",
		strings.Join(heads, ", "))
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
