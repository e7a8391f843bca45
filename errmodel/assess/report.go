package assess

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"belsim/errmodel/forecast"
	"belsim/errmodel/observed"
	"belsim/errmodel/perceived"
	"belsim/theory/base/position"
	"belsim/theory/base/table"
)

// Section is the report for people: the verdict's sentences, the two models, the errors of the
// decoders beside what the models say, the networks, and the forecasts.
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
	if known := f.Perceived; !table.Missing(known.Noise) {
		add("perceived-label model (95 % intervals)", known.table())
		if len(known.Rates) > 0 && !f.predicts() {
			add("rate of wrong bits, by their transitions: model against observed", table.Of(known.Rates))
		}
	}
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
	if last := len(f.Decoders) - 1; last >= 0 && f.Decoders[last].Network > 1 {
		add("all networks, each with its best decoder: mean |answer − target|",
			decoderTable(f.bestOfEach()).Without("levels", "trans."))
	}
	if rec := f.Recommendation; rec != nil {
		if len(rec.Ranking) > 0 {
			add("codes if they were trained, each with its best decoder: mean |answer − target|, over these targets",
				forecast.Table(rec.Shown(), false, table.Append("against yours (95 %)", f.Against), forecast.Chances))
		}
		add("", nil, rec.Notes...)
	}
	return out
}

// Section has the verdicts on all outputs for people, with a row for each.
func (s *Several) Section() table.Section {
	rows := table.Of(s.Rows, table.Append("one noisy label", func(r OutputRow) string {
		if r.Describes {
			return "describes it"
		}
		return "does not"
	}))
	return table.Section{Title: fmt.Sprintf("%d outputs", len(s.Outputs)), Verdict: s.Verdict,
		Details: []table.Block{{Table: rows}}}
}

// decoderTables are the errors of the decoders, and what the mixture says of errors in levels.
func (f *Fit) decoderTables() []table.Block {
	heads := []string{"levels", "code", "bits", "trans.", "training"} // the same in all rows
	out := []table.Block{{
		Head: "mean |answer − target| in " + f.ErrorUnit() + ": observed, and under the perceived-label model; bias: the " +
			"mean of answer − target",
		Table: decoderTable(ownRows(f.Decoders)).Without(append(heads, "network")...),
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

// table has a row for each parameter of the perceived-label model.
func (p *PerceivedFit) table() *table.Table {
	from := "the model's default"
	if p.CutoffFitted {
		from = "fitted"
	}
	return &table.Table{Style: table.List, Rows: [][]string{
		{"label noise s, levels", table.Short(p.Noise), between(p.NoiseInterval), "fitted"},
		{"cutoff κ, cycles over the range", table.Short(p.Cutoff), between(p.CutoffInterval), from},
		{"misfit η, levels", table.Short(p.Misfit), "", "a constant"},
		{"distance of the data", table.Short(p.Distance), "", "1: as trained networks; above 3: rejected"},
	}}
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

// bestOfEach are the rows of each network's best decoder.
func (f *Fit) bestOfEach() (out []DecoderRow) {
	for _, r := range f.Decoders {
		switch last := len(out) - 1; {
		case last < 0 || out[last].Network != r.Network:
			out = append(out, r)
		case r.Observed < out[last].Observed:
			out[last] = r
		}
	}
	return out
}

// decoderTable has a row for each decoder of each network.
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

// show marks the rows for people: each code and training with its best decoder, and soft targets
// only where they are a head, were measured, are the decision, or differ from CE by a hundredth.
func (r *Recommendation) show() {
	ce := map[string]float64{}
	for _, x := range r.Ranking {
		if x.Best && x.Training == perceived.CE {
			ce[x.Code] = x.Ratio
		}
	}
	for i := range r.Ranking {
		x := &r.Ranking[i]
		soft := x.Training == perceived.Soft && forecast.LookupHead(x.Code).Name == ""
		decided := r.Decision != nil && x.Code == r.Decision.Code && x.Training == r.Decision.Training
		x.Shown = x.Best && (!soft || x.Measured || decided || math.Abs(x.Ratio/ce[x.Code]-1) >= 0.01)
	}
}

// Shown are the rows for people.
func (r *Recommendation) Shown() []forecast.Row {
	return slices.DeleteFunc(slices.Clone(r.Ranking), func(x forecast.Row) bool { return !x.Shown })
}

// Against says for people how a row compares with the network's own error, or what that is.
func (f *Fit) Against(r forecast.Row) string {
	if !r.Trained || !r.Measured {
		return relative(r.Ratio, r.RatioCI)
	}
	for _, m := range f.Decoders {
		if m.Network == 1 && m.Design == r.Design {
			return "measured: " + table.PlusMinus(r.Forecast, m.StdErr)
		}
	}
	return "measured: " + table.Short(r.Forecast)
}
