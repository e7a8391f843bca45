package assess

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"belsim/errmodel/observed"
	"belsim/errmodel/perceived"
	"belsim/montecarlo/forecast"
	"belsim/theory/base/table"
)

const (
	// openingWidth and lineWidth are the widest lines of the verdict, and of all that follows.
	openingWidth, lineWidth = 100, 120
)

// Write writes the report for people: the verdict's sentences, the two models, the errors of the
// decoders beside what the models say, the networks, and the forecasts. ways are
// how a program follows advice; they stand in brackets after it.
func (r *Report) Write(w io.Writer, ways map[Advice]string) error {
	p := newPrinter(w, ways)
	p.sentences(r.Opening)
	r.details(p)
	return p.err
}

// details writes what follows the verdict.
func (r *Report) details(p *printer) {
	f := r.Fit
	outputs := f.Outputs
	switch {
	case f.Code == forecast.Direct:
		outputs = "predictions, read as bits of unary"
	case outputs == string(observed.Signs):
		outputs = "bits (±1)"
	}
	lowest, highest := f.occurring()
	head := fmt.Sprintf("%s, %d levels (%d bits); %d samples of levels %d to %d, outputs are %s", f.called(), f.Levels, f.Bits, f.Samples, lowest, highest, outputs)
	if f.Range != nil {
		head += fmt.Sprintf("; a level is %.4g wide", f.LevelWidth)
	}
	p.text("\n" + table.Wrap(head, lineWidth, ""))
	if known := f.Perceived; known != nil && !table.Missing(known.Noise) {
		p.table("\nperceived-label model (95 % intervals)\n", known.table())
		if len(known.Rates) > 0 {
			p.table("\nrate of wrong bits, by their transitions: model against observed\n\n", table.Of(known.Rates))
		}
	}
	p.table("\nmixture model, maximum likelihood (95 % intervals)\n", &table.Table{Style: table.List, Rows: [][]string{
		{"r", table.Short(f.R), between(f.RInterval)},
		{"σ, levels", table.Short(f.Sigma), between(f.SigmaInterval)},
	}})
	for _, remark := range r.Remarks {
		p.text(table.Wrap("  "+remark, lineWidth, "    "))
	}
	p.decoders(f)
	if d := f.Fitted; d != nil {
		p.table(fmt.Sprintf("\nfitted decoders, the best of each kind: |error| in levels, quantization included; %d samples, cross-validated\n\n", d.Samples), table.Of(d.Kinds))
		p.sentences(d.Notes)
	}
	if len(f.Networks) > 0 {
		p.table("\nall networks, each with its best decoder; |error| in levels\n\n", networkTable(f.Networks))
	}
	if rec := f.Recommendation; rec != nil {
		if len(rec.Ranking) > 0 {
			p.table("\ncodes if they were trained, each with its best decoder; |error| in levels, over these targets\n\n", rankingTable(f))
		}
		p.text("\n")
		p.sentences(rec.Notes)
	}
}

// Write writes the verdicts on all outputs for people, with a row for each, as Report.Write does.
func (s *Several) Write(w io.Writer, ways map[Advice]string) error {
	p := newPrinter(w, ways)
	p.sentences(s.Verdict)
	s.details(p)
	return p.err
}

// details writes what follows the verdict.
func (s *Several) details(p *printer) {
	p.table("\n", table.Of(s.Rows, table.Append("one noisy label", func(r OutputRow) string {
		if r.Describes {
			return "describes it"
		}
		return "does not"
	})))
}

// printer writes for people, until there is an error: lines of text, or the blocks of a page.
type printer struct {
	w      io.Writer         // nil for a page
	ways   *strings.Replacer // of advice
	blocks []Block           // of a page
	err    error
}

func newPrinter(w io.Writer, ways map[Advice]string) *printer {
	var pairs []string
	for advice, way := range ways {
		pairs = append(pairs, string(advice), fmt.Sprintf("%s (%s)", advice, way))
	}
	return &printer{w: w, ways: strings.NewReplacer(pairs...)}
}

// text writes a paragraph, which is broken into lines.
func (p *printer) text(lines string) {
	switch paragraph := strings.Join(strings.Fields(lines), " "); {
	case p.w != nil:
		if p.err == nil {
			_, p.err = io.WriteString(p.w, lines)
		}
	case paragraph != "":
		p.blocks = append(p.blocks, Block{Text: table.Visible(paragraph)})
	}
}

func (p *printer) sentences(all []string) {
	for _, text := range all {
		p.text(table.Wrap(p.ways.Replace(text), openingWidth, ""))
	}
}

func (p *printer) table(head string, t *table.Table) {
	if p.w != nil {
		if p.text(head); p.err == nil {
			p.err = t.Write(p.w)
		}
		return
	}
	p.blocks = append(p.blocks, Block{Head: strings.TrimSpace(head), Table: t})
}

// decoders writes the errors of the decoders, in levels and in label units.
func (p *printer) decoders(f *Fit) {
	p.table(fmt.Sprintf("\nmodel against observed: |error| in levels, over these targets; seed %d\n\n", f.Seed), table.Of(f.Decoders,
		table.Replace("mean", "", func(d DecoderResult) string { return table.PlusMinus(d.Mean, d.StdErr) }),
		table.Replace("observed", "", func(d DecoderResult) string { return table.PlusMinus(d.Observed, d.ObservedStdErr) })))
	p.text(`
bound, exact, simulated: the mixture, bits erring independently; observed rates: independent bits
with the error rates observed instead of the mixture's; perceived: the perceived-label model,
where bits err together, and whose s is fitted to one of these errors.
`)
	if f.Range == nil || f.LevelWidth == 1 {
		return
	}
	type row struct {
		Decoder  string  `text:"decoder"`
		Outputs  string  `text:"reads"`
		Bound    float64 `text:"bound"`
		Exact    float64 `text:"exact"`
		Mean     float64 `text:"simulated"`
		Observed float64 `text:"observed"`
		Target   float64 `text:"observed, quantization included"`
	}
	var rows []row
	for _, d := range f.Decoders {
		w := f.LevelWidth
		rows = append(rows, row{d.Decoder, d.Outputs, w * d.Bound, w * d.Exact, w * d.Mean, w * d.Observed, w * d.Target})
	}
	p.table("\n|error| in label units\n\n", table.Of(rows))
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
		{"distance of the data", table.Short(p.Distance), "", "in standard deviations of what networks differ from it by"},
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

// networkTable has a row for the networks of each code and training, with their best decoder.
func networkTable(all []NetworkRow) *table.Table {
	best := slices.DeleteFunc(slices.Clone(all), func(r NetworkRow) bool { return !r.Best })
	return table.Of(best, table.Replace("interval", "", func(r NetworkRow) string { return between(r.Interval) }))
}

// rankingTable has a row for each code and training, with the best decoder: of the network itself what was
// measured, and of others how they compare with it.
func rankingTable(f *Fit) *table.Table {
	t := table.Of(f.Recommendation.Shown(),
		table.Replace("code", "", RankedCode.Name),
		table.Replace("ratio", "", f.Against),
		table.Replace("better", "", func(r RankedCode) string {
			if r.Trained {
				return ""
			}
			return chanceText(r.Better)
		}))
	t.Emphasis = []table.Emphasis{table.Best}
	return t
}

// Shown are the rows for people: each code and training with its best decoder, and soft targets only for HL-Gauss, where they were
// measured, or where they differ from CE by a hundredth.
func (r *Recommendation) Shown() (out []RankedCode) {
	ce := map[string]float64{}
	for _, x := range r.Ranking {
		if x.Best && x.Training == string(perceived.CE) {
			ce[x.Code] = x.Ratio
		}
	}
	for _, x := range r.Ranking {
		if x.Best && (x.Training != string(perceived.Soft) || x.Code == oneHot || x.Measured || math.Abs(x.Ratio/ce[x.Code]-1) >= 0.01) {
			out = append(out, x)
		}
	}
	return out
}

// Name is the name of the code for people, which says whether it was trained.
func (r RankedCode) Name() string {
	name := called(r.Code, perceived.Training(r.Training))
	switch {
	case r.Trained:
		return "yours: " + name
	case r.Measured:
		return "trained: " + name
	}
	return name
}

// Against says for people how a row compares with the network's own error, or what that is.
func (f *Fit) Against(r RankedCode) string {
	if r.Trained {
		return "measured: " + table.PlusMinus(r.Forecast, f.measuredStdErr(r))
	}
	return relative(r.Ratio, r.RatioCI)
}

// measuredStdErr is the standard error of what was measured with the decoder of a row.
func (f *Fit) measuredStdErr(r RankedCode) float64 {
	for _, d := range f.Decoders {
		if d.Decoder == r.Decoder && d.Outputs == r.Outputs || r.Code == forecast.Direct {
			return d.ObservedStdErr
		}
	}
	return f.Fitted.LevelSE
}
