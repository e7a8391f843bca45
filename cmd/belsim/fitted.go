package main

import (
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"text/tabwriter"

	"gonum.org/v1/gonum/mat"

	"belsim/errmodel"
	"belsim/errmodel/observed"
	"belsim/plots"
	"belsim/theory/arrayfile"
	"belsim/theory/code"
	"belsim/theory/matrix"
)

// fitted is what fit finds: its JSON, and what --model reads.
type fitted struct {
	Code       string      `json:"code"`
	Levels     int         `json:"levels"`
	Bits       int         `json:"bits"`
	Samples    uint64      `json:"samples"`
	Kind       string      `json:"outputs"`
	Range      *[2]float64 `json:"range"`
	LevelWidth float64     `json:"level_width"`
	WrongBits  uint64      `json:"wrong_bits"`

	R             number    `json:"r"`
	RInterval     [2]number `json:"r_interval"`
	Sigma         number    `json:"sigma"`
	SigmaInterval [2]number `json:"sigma_interval"`
	Confidence    float64   `json:"confidence"`
	// Variances of ln r and ln σ over those of independent bits.
	DesignEffect [2]number `json:"design_effect"`
	Limited      bool      `json:"limited"`

	Deviance  number `json:"deviance"`
	DoF       int    `json:"dof"`
	Expected  number `json:"deviance_expected"`
	SD        number `json:"deviance_sd"`
	P         number `json:"p_value"`
	Explained number `json:"explained"`
	Verdict   string `json:"verdict"`
	// Wrong bits in columns without a transition, where the model has none.
	Impossible uint64 `json:"wrong_in_constant_columns"`
	// Bits that are wrong in more than half of the samples: most likely this is not
	// the code, or not the order of bits, that the network was trained with.
	MostlyWrong []int `json:"mostly_wrong_bits"`

	Dispersion          number    `json:"dispersion"`
	Correlation         number    `json:"error_correlation"`
	SharedNoise         number    `json:"shared_noise"`
	SharedNoiseInterval [2]number `json:"shared_noise_interval"`
	LogitScale          number    `json:"logit_scale"`
	Temperature         float64   `json:"temperature"`

	Seed      uint64          `json:"seed"`
	Decoders  []decoderResult `json:"decoders"`
	PerBit    []bitFit        `json:"per_bit,omitempty"`
	Recommend *recommendation `json:"recommendation,omitempty"`
	Prior     []float64       `json:"prior"`
	provenance

	path      string // of a file that was read
	counts    *errmodel.Counts
	code      *code.Code
	errors    mat.Matrix // the fitted e[n,k]
	positions [][]int
	worst     []errmodel.Departure
	used      [2]int // lowest and highest level with samples
}

// decoderResult is the |error| of one decoder, in levels: as the model has it, and as
// it was.
type decoderResult struct {
	Decoder string `json:"decoder"`
	Outputs string `json:"outputs"`
	Bound   number `json:"bound"`
	Exact   number `json:"exact"`
	Mean    number `json:"mean"`
	StdErr  number `json:"stderr"`
	// Independent errors with the observed rates instead of the mixture's.
	Rates       number `json:"observed_rates"`
	RatesStdErr number `json:"observed_rates_stderr"`
	// The mixture with the fitted shared noise.
	Shared         number `json:"shared"`
	SharedStdErr   number `json:"shared_stderr"`
	Observed       number `json:"observed"`
	ObservedStdErr number `json:"observed_stderr"`
	ObservedRMS    number `json:"observed_rms"`
	// Against the targets themselves, quantization included.
	Target       number `json:"observed_target"`
	TargetStdErr number `json:"observed_target_stderr"`
	ModelError   number `json:"model_error_percent"`
	LabelUnits   units  `json:"label_units"`
}

// units are the same in label units.
type units struct {
	Bound    number `json:"bound"`
	Exact    number `json:"exact"`
	Mean     number `json:"mean"`
	Shared   number `json:"shared"`
	Observed number `json:"observed"`
	Target   number `json:"observed_target"`
}

// predicted is the model's best figure: exact where there is one.
func (d decoderResult) predicted() float64 {
	if !math.IsNaN(float64(d.Exact)) {
		return float64(d.Exact)
	}
	return float64(d.Mean)
}

// bitFit is the fit of one bit; null where no output of it is wrong.
type bitFit struct {
	Bit           int       `json:"bit"`
	Wrong         uint64    `json:"wrong"`
	R             number    `json:"r"`
	RInterval     [2]number `json:"r_interval"`
	Sigma         number    `json:"sigma"`
	SigmaInterval [2]number `json:"sigma_interval"`
	Limited       bool      `json:"limited"`
}

// limits are an interval's; null where there is none.
func limits(i errmodel.Interval) [2]number {
	out := [2]number{number(i.Lo), number(i.Hi)}
	if math.IsInf(i.Hi, 0) {
		out[1] = none
	}
	return out
}

// span finds the levels that occur, and refuses targets that are all alike.
func (f *fitted) span(name string) error {
	for i, n := range f.counts.Samples {
		if n == 0 {
			continue
		}
		if f.used[0] == 0 {
			f.used[0] = i + 1
		}
		f.used[1] = i + 1
	}
	if f.used[0] == f.used[1] {
		return fmt.Errorf("%s: all %d targets are level %d; r and σ need errors at several distances from a transition, so at least two levels", name, f.Samples, f.used[0])
	}
	return nil
}

// judge measures how well the model describes the counts, and says so.
func (f *fitted) judge(parameters int) error {
	g, err := errmodel.NewGoodness(f.counts, f.positions, f.errors, parameters)
	if err != nil {
		return err
	}
	f.Deviance, f.DoF, f.Expected, f.SD, f.P, f.Explained = number(g.Deviance), g.DoF, number(g.Expected), number(g.SD), number(g.P), number(g.Explained())
	f.worst = g.Worst
	f.MostlyWrong = []int{}
	for k, at := range f.positions {
		wrong := f.counts.Bit(k)
		if len(at) == 0 {
			f.Impossible += wrong
		}
		if 2*wrong > f.Samples {
			f.MostlyWrong = append(f.MostlyWrong, k+1)
		}
	}
	const chance = 0.01
	share := ""
	if !math.IsNaN(g.Explained()) {
		share = fmt.Sprintf("%.3g %% of how the error rate varies over levels and bits", 100*g.Explained())
	}
	switch {
	case g.DoF <= 0:
		f.P, f.Explained = none, none
		f.Verdict = "there are too few errors to judge the mixture's shape"
	case g.P >= chance:
		f.Verdict = fmt.Sprintf("the mixture describes these classifiers: a deviance this large is nothing unusual (p = %.2g)", g.P)
	case g.Explained() >= 0.9:
		f.Verdict = fmt.Sprintf("the mixture is close, but not all there is: it explains %s, and the rest is more than chance (%.3g times the deviance expected)", share, g.Deviance/g.Expected)
	case g.Explained() <= 0:
		f.Verdict = fmt.Sprintf("the mixture does not describe these classifiers: one error rate for all levels and bits would do as well (%.3g times the deviance expected); take the observed rates instead: -o FILE.npy, then --errors FILE.npy", g.Deviance/g.Expected)
	case share != "":
		f.Verdict = fmt.Sprintf("the mixture does not describe these classifiers: it explains %s (%.3g times the deviance expected); take the observed rates instead: -o FILE.npy, then --errors FILE.npy", share, g.Deviance/g.Expected)
	default:
		f.Verdict = fmt.Sprintf("the mixture does not describe these classifiers: %.3g times the deviance expected", g.Deviance/g.Expected)
	}
	if g.DoF > 0 && g.P < chance && f.Dispersion > 1.1 {
		f.Verdict += "; chance leaves somewhat more than expected where bits err together, as here"
	}
	return nil
}

// profile is what is drawn of bit k, from 0. Points are of single levels, or of
// several where there are too many to tell apart.
func (f *fitted) profile(k int) plots.BitProfile {
	r, sigma := float64(f.R), float64(f.Sigma)
	if len(f.PerBit) > 0 {
		r, sigma = float64(f.PerBit[k].R), float64(f.PerBit[k].Sigma)
	}
	b := mixtureProfile(f.code, f.positions, k, r, sigma)
	if math.IsNaN(r) { // a bit without errors has no fit
		b.X, b.Fitted = nil, nil
	}
	const most = 64 // points of a panel
	width := (f.Levels + most - 1) / most
	for from := 0; from < f.Levels; from += width {
		var n, x, at float64
		for i := from; i < min(from+width, f.Levels); i++ {
			n += float64(f.counts.Samples[i])
			x += float64(f.counts.Row(i)[k])
			at += float64(f.counts.Samples[i]) * float64(i+1)
		}
		if n == 0 {
			continue
		}
		lo, hi := errmodel.RateInterval(x, n)
		b.Label, b.Rate = append(b.Label, at/n), append(b.Rate, x/n)
		b.Lo, b.Hi = append(b.Lo, lo), append(b.Hi, hi)
	}
	return b
}

// target is the target bit of a level as text.
func target(c *code.Code, i, k int) string {
	if c.Bit(i, k) {
		return "1"
	}
	return "0"
}

// drawn chooses the bits to draw where none are named: of those with a transition
// among the levels that occur, two at a third and two thirds.
func (f *fitted) drawn() []int {
	var bits []int
	for k, at := range f.positions {
		if slices.ContainsFunc(at, func(n int) bool { return n >= f.used[0] && n < f.used[1] }) {
			bits = append(bits, k+1)
		}
	}
	switch len(bits) {
	case 0:
		return []int{1}
	case 1, 2:
		return bits
	}
	return []int{bits[len(bits)/3], bits[2*len(bits)/3]}
}

// write writes the result to a file.
func (f *fitted) write(w io.Writer, path string, bits []int, size plots.Size) error {
	switch format(path) {
	case "json":
		return writeJSON(w, f)
	case "npy":
		return arrayfile.WriteNPY(w, f.counts.Rates(f.errors))
	case "csv":
		out := csv.NewWriter(w)
		if err := out.Write(ratesHeader); err != nil {
			return err
		}
		var row []float64
		for i, n := range f.counts.Samples {
			row = matrix.Row(row, i, f.errors)
			for k, x := range f.counts.Row(i) {
				rate, lo, hi := none, none, none
				if n > 0 {
					l, h := errmodel.RateInterval(float64(x), float64(n))
					rate, lo, hi = number(float64(x)/float64(n)), number(l), number(h)
				}
				if err := out.Write([]string{
					strconv.Itoa(i + 1), strconv.Itoa(k + 1), target(f.code, i, k), fmt.Sprint(n), fmt.Sprint(x), rate.String(), lo.String(), hi.String(), number(row[k]).String(),
				}); err != nil {
					return err
				}
			}
		}
		out.Flush()
		return out.Error()
	}
	if len(bits) == 0 {
		bits = f.drawn()
	}
	d := plots.ProfileData{Size: size, Title: fmt.Sprintf("%s, %d levels, %d samples: r = %.3g, σ = %.3g", f.Code, f.Levels, f.Samples, float64(f.R), float64(f.Sigma))}
	if len(f.PerBit) > 0 {
		d.Title = fmt.Sprintf("%s, %d levels, %d samples: r and σ of each bit", f.Code, f.Levels, f.Samples)
	}
	for _, k := range bits {
		d.Bits = append(d.Bits, f.profile(k-1))
	}
	fig, err := plots.Profile(d)
	if err != nil {
		return err
	}
	return writeFigure(w, fig, path)
}

// print writes the result for people.
func (f *fitted) print(w io.Writer) {
	kind := f.Kind
	if kind == string(observed.Signs) {
		kind = "bits (±1)"
	}
	fmt.Fprintf(w, "%s, %d levels (%d bits); %d samples of levels %d to %d, outputs are %s", f.Code, f.Levels, f.Bits, f.Samples, f.used[0], f.used[1], kind)
	if f.Range != nil {
		fmt.Fprintf(w, "; a level is %.4g wide", f.LevelWidth)
	}
	fmt.Fprint(w, "\n\n")

	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	row := func(name string, v number, i [2]number, note string) {
		fmt.Fprintf(t, "  %s\t%s\t%s\t%s\n", name, v.short(), between(i), note)
	}
	effect := func(v number) string {
		if math.IsNaN(float64(v)) {
			return ""
		}
		return fmt.Sprintf("%.2g times as wide as for independent bits", math.Sqrt(float64(v)))
	}
	fmt.Fprintf(w, "error model, maximum likelihood (%.0f %% intervals)\n", 100*f.Confidence)
	row("r", f.R, f.RInterval, effect(f.DesignEffect[0]))
	row("σ, levels", f.Sigma, f.SigmaInterval, effect(f.DesignEffect[1]))
	row("shared noise ρ", f.SharedNoise, f.SharedNoiseInterval, "")
	t.Flush()
	fmt.Fprintf(w, "  deviance %s on %d degrees of freedom; %s ± %s expected\n", f.Deviance.short(), f.DoF, f.Expected.short(), f.SD.short())
	fmt.Fprintf(w, "  %s\n", f.Verdict)
	if f.P < 0.01 && len(f.worst) > 0 {
		fmt.Fprint(w, "  furthest from it:")
		for i, d := range f.worst[:min(3, len(f.worst))] {
			if i > 0 {
				fmt.Fprint(w, ";")
			}
			fmt.Fprintf(w, " level %d, bit %d: %d of %d wrong, %.3g expected", d.Level, d.Bit, d.Wrong, d.Samples, d.Fitted*float64(d.Samples))
		}
		fmt.Fprintln(w)
	}
	if f.Limited {
		fmt.Fprintln(w, "  r is as large as it can be: some error probability of the fit is 1")
	}
	if n := len(f.MostlyWrong); n > 0 {
		fmt.Fprintf(w, "  bit %d is wrong in more than half of the samples", f.MostlyWrong[0])
		if n > 1 {
			fmt.Fprintf(w, ", and %d others", n-1)
		}
		fmt.Fprintln(w, ": is this the code, the range and the order of bits that the network was trained with?")
	}
	if lo := f.SigmaInterval[0]; lo == 0 {
		fmt.Fprintln(w, "  σ cannot be told from 0, nor r from any larger one: nearly all errors are right beside their transitions")
	}
	if math.IsNaN(float64(f.SigmaInterval[1])) {
		fmt.Fprintln(w, "  σ cannot be told from any larger one: errors hardly depend on the distance from a transition")
	}
	if f.Impossible > 0 {
		fmt.Fprintf(w, "  %d wrong outputs of bits that never change: the model has none there, and the fit leaves them out\n", f.Impossible)
	}
	fmt.Fprintf(w, "  %.3g %% of the bits are wrong", 100*float64(f.WrongBits)/float64(f.Samples)/float64(f.Bits))
	if !math.IsNaN(float64(f.Dispersion)) {
		fmt.Fprintf(w, "; their number in a sample varies %.3g times as much as if they erred independently", float64(f.Dispersion))
		if !math.IsNaN(float64(f.Correlation)) {
			fmt.Fprintf(w, " (mean correlation %.2g)", float64(f.Correlation))
		}
	}
	fmt.Fprint(w, "\n\n")
	f.printPerBit(w)
	f.printDecoders(w)
	if f.Recommend != nil {
		f.Recommend.print(w, f)
	}
}

// between writes an interval.
func between(i [2]number) string {
	switch lo, hi := math.IsNaN(float64(i[0])), math.IsNaN(float64(i[1])); {
	case lo && hi:
		return ""
	case hi:
		return fmt.Sprintf("from %s", i[0].short())
	}
	return fmt.Sprintf("%s to %s", i[0].short(), i[1].short())
}

// printPerBit writes the bits' own fits.
func (f *fitted) printPerBit(w io.Writer) {
	if len(f.PerBit) == 0 {
		return
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(t, "bit\twrong\tr\t\tσ\t\t\n")
	for _, b := range f.PerBit {
		fmt.Fprintf(t, "%d\t%d\t%s\t%s\t%s\t%s\t\n", b.Bit, b.Wrong, b.R.short(), between(b.RInterval), b.Sigma.short(), between(b.SigmaInterval))
	}
	t.Flush()
	fmt.Fprintln(w)
}

// printDecoders writes the verdict.
func (f *fitted) printDecoders(w io.Writer) {
	fmt.Fprintf(w, "|error| in levels, over these targets; seed %d\n\n", f.Seed)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(t, "decoder\treads\tbound\texact\tsimulated\tobserved rates\tshared noise\tobserved\tmodel's error\t\n")
	for _, d := range f.Decoders {
		gap := "–"
		if !math.IsNaN(float64(d.ModelError)) && d.Observed > 0 {
			gap = fmt.Sprintf("%+.1f %%", float64(d.ModelError))
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t\n", d.Decoder, d.Outputs, d.Bound.short(), d.Exact.short(),
			plusMinus(d.Mean, d.StdErr), d.Rates.short(), d.Shared.short(), plusMinus(d.Observed, d.ObservedStdErr), gap)
	}
	t.Flush()
	fmt.Fprint(w, `
bound, exact, simulated: the mixture, bits erring independently; observed rates: independent bits
with the error rates observed instead of the mixture's; shared noise: the mixture with ρ. What
separates observed rates from exact is the mixture's shape; what separates them from observed is
that bits do not err independently. The model's error is exact (or simulated) against observed.
`)
	if f.Range == nil {
		return
	}
	fmt.Fprint(w, "\n|error| in label units\n\n")
	t = tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(t, "decoder\treads\tbound\texact\tsimulated\tshared noise\tobserved\tobserved, quantization included\t\n")
	for _, d := range f.Decoders {
		u := d.LabelUnits
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t\n", d.Decoder, d.Outputs, u.Bound.short(), u.Exact.short(), u.Mean.short(), u.Shared.short(), u.Observed.short(), u.Target.short())
	}
	t.Flush()
}

// plusMinus is a mean with its standard error.
func plusMinus(mean, stderr number) string {
	return fmt.Sprintf("%s ± %.1g", mean.short(), float64(stderr))
}
