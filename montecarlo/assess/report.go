package assess

import (
	"fmt"
	"io"

	"belsim/errmodel/observed"
	"belsim/theory/base/table"
)

const (
	// openingWidth and lineWidth are the widest lines of the verdict, and of all that follows.
	openingWidth, lineWidth = 100, 120
)

// Report writes the study for people: the verdict's sentences, the two models, the errors of the
// decoders beside what the models say, the networks, and the forecasts. format is that of its
// tables, as in table.Write.
func (s *Study) Report(w io.Writer, format string) error {
	f, r := s.Fit, report{w, format}
	for _, sentence := range s.Opening() {
		fmt.Fprint(w, table.Wrap(sentence, openingWidth, ""))
	}
	fmt.Fprintln(w)
	outputs := f.Outputs
	if outputs == string(observed.Signs) {
		outputs = "bits (±1)"
	}
	head := fmt.Sprintf("%s, %d levels (%d bits); %d samples of levels %d to %d, outputs are %s", f.Code, f.Levels, f.Bits, f.Samples, s.Lowest, s.Highest, outputs)
	if f.Range != nil {
		head += fmt.Sprintf("; a level is %.4g wide", f.LevelWidth)
	}
	fmt.Fprint(w, table.Wrap(head, lineWidth, ""))
	gap := "" // around a list in Markdown, which takes the next line for a row
	if format != "text" {
		gap = "\n"
	}
	if err := r.printPerceived(f, gap); err != nil {
		return err
	}
	fmt.Fprintf(w, "\nmixture model, maximum likelihood (%.0f %% intervals)\n%s", 100*f.Confidence, gap)
	if err := r.print(f.ParameterTable()); err != nil {
		return err
	}
	fmt.Fprint(w, gap)
	for _, remark := range s.Remarks() {
		fmt.Fprint(w, table.Wrap("  "+remark, lineWidth, "    "))
	}
	fmt.Fprintln(w)
	if err := r.printDecoders(f); err != nil {
		return err
	}
	if f.Fitted != nil {
		if err := r.printFitted(f.Fitted); err != nil {
			return err
		}
	}
	if len(f.Networks) > 0 {
		if err := r.printNetworks(f); err != nil {
			return err
		}
	}
	if f.Recommendation == nil {
		return nil
	}
	return r.printRanking(f)
}

// report writes for people.
type report struct {
	w      io.Writer
	format string // of tables
}

// print writes a table.
func (r report) print(t *table.Table) error { return t.Write(r.w, r.format) }

// printPerceived writes the perceived-label model, and the rates of the bits beside it.
func (r report) printPerceived(f *Fit, gap string) error {
	w, p := r.w, f.Perceived
	if p == nil || table.Missing(p.Noise) {
		return nil
	}
	fmt.Fprintf(w, "\nperceived-label model (95 %% intervals)\n%s", gap)
	if err := r.print(f.PerceivedTable()); err != nil || len(p.Rates) == 0 {
		return err
	}
	fmt.Fprint(w, "\nrate of wrong bits, by their transitions: model against observed\n\n")
	return r.print(table.Of(p.Rates))
}

// printDecoders writes the errors of the decoders, in levels and in label units.
func (r report) printDecoders(f *Fit) error {
	w := r.w
	fmt.Fprintf(w, "model against observed: |error| in levels, over these targets; seed %d\n\n", f.Seed)
	if err := r.print(f.DecoderTable()); err != nil {
		return err
	}
	_, err := fmt.Fprint(w, `
bound, exact, simulated: the mixture, bits erring independently; observed rates: independent bits
with the error rates observed instead of the mixture's; perceived: the perceived-label model,
where bits err together, and whose s is fitted to one of these errors.
`)
	if f.Range == nil || f.LevelWidth == 1 {
		return err
	}
	fmt.Fprint(w, "\n|error| in label units\n\n")
	return r.print(f.UnitsTable())
}

// printFitted writes the error of the fitted decoder beside simpler and richer ones.
func (r report) printFitted(f *Fitted) error {
	fmt.Fprintf(r.w, "\nfitted decoders, the best of each kind: |error| in levels, quantization included; %d samples, cross-validated\n\n", f.Samples)
	err := r.print(table.Of(f.Kinds))
	for _, note := range f.Notes {
		fmt.Fprint(r.w, table.Wrap(note, openingWidth, ""))
	}
	return err
}

// printNetworks writes the table of all networks, with the best decoder of each.
func (r report) printNetworks(f *Fit) error {
	fmt.Fprint(r.w, "\nall networks, each with its best decoder; |error| in levels\n\n")
	return r.print(f.NetworkTable())
}

// printRanking writes the forecasts, the best decoder of each code and training.
func (r report) printRanking(f *Fit) error {
	w, rec := r.w, f.Recommendation
	if len(rec.Ranking) > 0 {
		fmt.Fprint(w, "\ncodes if they were trained, each with its best decoder; |error| in levels, over these targets\n\n")
		if err := r.print(rec.Table()); err != nil {
			return err
		}
	}
	fmt.Fprintln(w)
	for _, note := range rec.Notes {
		fmt.Fprint(w, table.Wrap(note, openingWidth, ""))
	}
	return nil
}

// Report writes the verdicts on all outputs for people, with a row for each. format is that of
// the table, as in table.Write.
func (s *Several) Report(w io.Writer, format string) error {
	for _, sentence := range s.Verdict {
		fmt.Fprint(w, table.Wrap(sentence, openingWidth, ""))
	}
	fmt.Fprintln(w)
	return report{w, format}.print(table.Of(s.Rows, table.Append("one noisy label", func(r OutputRow) string {
		if r.Describes {
			return "describes it"
		}
		return "does not"
	})))
}
