package assess

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"belsim/errmodel/observed"
	"belsim/theory/base/position"
	"belsim/theory/base/table"
)

// Section is the report for people: the verdict's sentences, the mixture, and the errors of the
// decoders beside what the mixture says.
func (r *Report) Section() table.Section {
	title := fmt.Sprintf("%s, %d levels", r.Fit.Code, r.Fit.Levels)
	if k := r.network.options.Output; k > 0 {
		title = fmt.Sprintf("output %s: %s", position.At(k), title)
	}
	return table.Section{Title: title, Verdict: r.Opening, Details: r.details()}
}

// details is what follows the verdict.
func (r *Report) details() (out []table.Block) {
	f := r.Fit
	add := func(head string, t *table.Table, sentences ...string) {
		out = append(out, table.Block{Head: head, Table: t, Sentences: sentences})
	}
	outputs := f.Outputs
	switch {
	case f.predicts():
		outputs = "predictions"
	case outputs == string(observed.Signs):
		outputs = "bits (±1)"
	}
	lowest, highest := occurring(f.Prior)
	head := fmt.Sprintf("%s, %d levels%s; %d samples of levels %s to %s, outputs are %s", f.Code, f.Levels,
		when(!f.predicts(), fmt.Sprintf(" (%d bits)", f.Bits)), f.Samples, position.At(lowest), position.At(highest), outputs)
	if f.Range != nil {
		head += fmt.Sprintf("; a level is %.4g wide", f.LevelWidth) + when(f.Values != nil, " on average")
	}
	add(head, nil)
	errors := f.decoderTables()
	if r.network.misread != nil { // the mixture of outputs that are misread says nothing
		errors = errors[:1]
	} else {
		add("mixture model, maximum likelihood (95 % intervals)", &table.Table{Style: table.List, Rows: [][]string{
			{"r", table.Short(f.R), between(f.RInterval)},
			{"σ, levels", table.Short(f.Sigma), between(f.SigmaInterval)},
		}}, r.Remarks...)
	}
	out = append(out, errors...)
	if p := f.Probabilities; p != nil {
		add("", nil, p.Text(f))
	}
	if d := f.Fitted; d != nil {
		add(fmt.Sprintf("fitted decoders, the best of each kind: mean |answer − target|; %d samples, cross-validated",
			d.Samples), table.Of(d.Kinds), append([]string{d.IntervalsText(f)}, d.Notes...)...)
	}
	return out
}

// Section has the verdicts on all outputs for people, with a row for each.
func (s *Several) Section() table.Section {
	return table.Section{Title: fmt.Sprintf("%d outputs", len(s.Outputs)), Verdict: s.Verdict,
		Details: []table.Block{{Table: table.Of(s.Rows)}}}
}

// decoderTables are the errors of the decoders, and what the mixture says of errors in levels.
func (f *Fit) decoderTables() []table.Block {
	heads := []string{"levels", "code", "bits", "trans.", "training"} // the same in all rows
	out := []table.Block{{
		Head:  "observed mean |answer − target| in " + f.ErrorUnit() + "; bias: the mean of answer − target",
		Table: decoderTable(plainRows(f.Decoders)).Without(heads...),
	}}
	if len(f.Mixture) == 0 {
		return out
	}
	in := "levels"
	if f.Values != nil {
		in = "mean widths of a level"
	}
	head := "mixture against observed: |error| in levels, over these targets"
	if f.Range != nil {
		head = "mixture against observed, with targets rounded to levels: |error| in " + in
	}
	notes := sentences("bound, exact: the mixture, bits erring independently; observed rates: independent bits "+
		"with the error rates observed instead of the mixture's.",
		when(slices.ContainsFunc(f.Mixture, func(m MixtureRow) bool { return !table.Missing(m.Loss) }),
			"by the loss: a bound for gen on logits, by the mean loss of the bits, under any dependence."), f.anyLawText())
	return append(out,
		table.Block{Head: head, Table: table.Of(f.Mixture,
			table.Replace("observed", "", func(d MixtureRow) string {
				return table.PlusMinus(d.Observed, d.ObservedStdErr)
			})).Without(heads...)},
		table.Block{Sentences: notes})
}

// anyLawText says what holds whatever the dependence of the bits, for the best decoder of bits; ""
// where nothing is known.
func (f *Fit) anyLawText() string {
	var best *MixtureRow
	for i := range f.Mixture {
		if m := &f.Mixture[i]; m.AnyLaw != nil && (best == nil || m.Observed <= best.Observed) {
			best = m
		}
	}
	if best == nil {
		return ""
	}
	return fmt.Sprintf("Whatever the dependence of its bits, a network whose bits err so often on these samples is "+
		"wrong by %s levels with %s; yours is at %s. On new samples it is wrong by %s, with the sampling error of "+
		"the rates.", between(*best.AnyLaw), best.Decoder, table.Short(best.Observed), between(*best.AnyInterval))
}

// between writes an interval.
func between(i [2]float64) string {
	switch lo, hi := table.Missing(i[0]), table.Missing(i[1]); {
	case lo && hi:
		return ""
	case hi:
		return fmt.Sprintf("from %s", table.Short(i[0]))
	}
	return fmt.Sprintf("%s to %s", table.Short(i[0]), table.Short(i[1]))
}

// decoderTable has a row for each decoder.
func decoderTable(rows []DecoderRow) *table.Table {
	return table.Of(rows, table.Replace("observed", "",
		func(d DecoderRow) string { return table.PlusMinus(d.Observed, d.StdErr) }),
		table.Append("bias", DecoderRow.bias))
}

// bias is the mean signed error, with the digits that its standard error tells.
func (d DecoderRow) bias() string {
	if table.Missing(d.Bias) || !(d.BiasStdErr > 0) {
		return table.Short(d.Bias)
	}
	places := max(0, int(math.Ceil(-math.Log10(d.BiasStdErr))))
	return strings.Replace(fmt.Sprintf("%+.*f ± %.1g", places, d.Bias, d.BiasStdErr), "-", "−", 1)
}
