package main

import (
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"gonum.org/v1/gonum/mat"

	"belsim/errmodel"
	"belsim/errmodel/observed"
	"belsim/montecarlo"
	"belsim/plots"
	"belsim/theory"
	"belsim/theory/code"
	"belsim/theory/matrix"
)

type fitCmd struct {
	Code string `required:"" placeholder:"CODE" help:"Code the network was trained with, a NAME or a FILE."`
	levelsFit
	Targets     string   `required:"" placeholder:"FILE" help:"Targets of the test samples, .csv, .npy or FILE.npz:NAME: levels from 1, or real labels with --range."`
	Outputs     string   `required:"" placeholder:"[KIND:]FILE" help:"Outputs of the classifiers, samples × bits: logits, probabilities or bits (0 and 1, or ±1), whichever they are; logits:FILE, probabilities:FILE or bits:FILE says so."`
	Range       interval `placeholder:"a:b" help:"Range of real labels: a is level 1, b the last one."`
	Temperature float64  `default:"1" placeholder:"τ" help:"Temperature τ of gen-ex, by which the network's logits are multiplied (default: 1)."`
	PerBit      bool     `help:"Fit an r and a σ for each bit, too."`
	Bits        []int    `placeholder:"k" help:"Bits to draw, from 1, with a picture as output (default: two with errors)."`
	Recommend   bool     `help:"Rank all codes under the fitted model, and say what it would take to change the ranking."`
	Candidates  []string `placeholder:"FILE" help:"Codes of one's own to rank as well."`
	Samples     uint64   `default:"10000" help:"Simulated samples of each label."`
	Seed        uint64   `default:"1" help:"Seed of the random numbers."`
	backendFlags
	outputFlags
}

// levelsFit is --levels of fit.
type levelsFit struct {
	Levels int `placeholder:"L" help:"Number of quantization levels of a named code (default: the most that need as many bits as there are outputs)."`
}

func (fitCmd) Help() string {
	return `From the test outputs of a trained network: the classifiers' error probabilities, r and σ of the Gaussian-mixture model by maximum likelihood, whether that model describes them, how their errors depend on each other, and for every decoder that fits the code bound, exact value and simulation under the model beside the error observed.

-o FILE.json can be read back by compare, verify and heatmap with --model; -o FILE.csv has the observed error rate of every level and bit; -o FILE.npy is a table for --errors (the model's rows where a level has no samples); a picture is the paper's Figure 3(a, b).

Example, on a network's outputs that lie in belsim's repository:

  belsim fit --code johnson --targets testdata/network/targets.npy --range 2.5:4.3 --outputs testdata/network/logits.npy -o fit.png`
}

// interval is a:b.
type interval struct {
	lo, hi float64
	set    bool
}

// UnmarshalText implements encoding.TextUnmarshaler.
func (r *interval) UnmarshalText(text []byte) error {
	lo, hi, found := strings.Cut(string(text), ":")
	var err [2]error
	r.lo, err[0] = strconv.ParseFloat(lo, 64)
	r.hi, err[1] = strconv.ParseFloat(hi, 64)
	if !found || errors.Join(err[:]...) != nil {
		return fmt.Errorf("range %q: want two numbers, a:b", text)
	}
	// Their difference must be finite, too, and no level of width zero.
	if d := r.hi - r.lo; !(d > 0) || math.IsInf(d, 0) || r.lo+d/(1<<20) == r.lo || math.IsInf(r.lo, 0) {
		return fmt.Errorf("range %q: want finite numbers, a below b", text)
	}
	r.set = true
	return nil
}

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

// Run implements the command.
func (cmd *fitCmd) Run(ctx context.Context, env *environment) error {
	restore, err := cmd.use()
	if err != nil {
		return err
	}
	defer restore()
	if err := cmd.checkOutput("csv", "json", "npy", "png", "svg", "pdf", "tex"); err != nil {
		return err
	}
	switch {
	case cmd.Samples < 2:
		return fmt.Errorf("--samples %d: a standard error needs at least 2", cmd.Samples)
	case !(cmd.Temperature > 0) || math.IsInf(cmd.Temperature, 0):
		return fmt.Errorf("--temperature %v: want a positive finite number", cmd.Temperature)
	case len(cmd.Candidates) > 0 && !cmd.Recommend:
		return errors.New("--candidates are for --recommend")
	}
	source, c, err := cmd.open(ctx)
	if err != nil {
		return err
	}
	defer closeSource(source)
	if err := cmd.checkBits(c); err != nil {
		return err
	}
	result, err := cmd.fit(ctx, env, source, c)
	if err != nil {
		return err
	}
	if err := cmd.write(func(w io.Writer, path string) error { return result.write(w, path, cmd.Bits, cmd.size()) }); err != nil {
		return err
	}
	if cmd.JSON {
		return writeJSON(env.stdout, result)
	}
	result.print(env.stdout)
	return nil
}

// open opens the files and the code, and finds out what the outputs are.
func (cmd *fitCmd) open(ctx context.Context) (*observed.Source, *code.Code, error) {
	s := &observed.Source{}
	c, err := cmd.prepare(ctx, s)
	if err != nil {
		return nil, nil, errors.Join(err, closeSource(s))
	}
	return s, c, nil
}

// closeSource closes what is open.
func closeSource(s *observed.Source) error {
	var errs []error
	for _, rows := range []*matrix.Rows{s.Targets, s.Outputs} {
		if rows != nil {
			errs = append(errs, rows.Close())
		}
	}
	return errors.Join(errs...)
}

func (cmd *fitCmd) prepare(ctx context.Context, s *observed.Source) (c *code.Code, err error) {
	path := cmd.Outputs
	for _, kind := range []observed.Kind{observed.Logits, observed.Probabilities, observed.Bits} {
		if rest, found := strings.CutPrefix(path, string(kind)+":"); found {
			s.Kind, path = kind, rest
			break
		}
	}
	if s.Targets, err = matrix.OpenRows(cmd.Targets, "targets", "target", "labels", "label", "y"); err != nil {
		return nil, fmt.Errorf("reading targets: %w", err)
	}
	if s.Outputs, err = matrix.OpenRows(path, "outputs", "output", "logits", "probabilities", "bits", "z"); err != nil {
		return nil, fmt.Errorf("reading outputs: %w", err)
	}
	if err := s.Check(); err != nil {
		return nil, err
	}
	if c, err = cmd.openCode(s.Outputs); err != nil {
		return nil, err
	}
	s.Labels = observed.Labels{Levels: c.Levels(), Real: cmd.Range.set, Lo: cmd.Range.lo, Hi: cmd.Range.hi}
	if said := s.Kind; said == "" || said == observed.Bits { // bits may be ±1
		if s.Kind, err = observed.Detect(ctx, s.Outputs); err != nil {
			return nil, err
		}
		if said == observed.Bits && !s.Kind.Hard() {
			s.Kind = observed.Bits // reading them will say where they are none
		}
	}
	return c, nil
}

// openCode opens the code, of as many bits as there are outputs.
func (cmd *fitCmd) openCode(outputs *matrix.Rows) (*code.Code, error) {
	rows, m := outputs.Dims()
	levels := cmd.Levels
	if levels == 0 && !code.IsFile(cmd.Code) {
		for _, f := range code.Families() {
			if f.Name != cmd.Code {
				continue
			}
			if levels = mostLevels(f, m); levels == 0 {
				return nil, fmt.Errorf("%s: %d columns, and no %s code has %d bits; want samples × bits", outputs.Name(), m, f.Name, m)
			}
		}
	}
	codes, err := openCodes([]string{cmd.Code}, levels, defaultLevels, nil, true)
	if err != nil {
		return nil, err
	}
	c := codes[0]
	if c.Bits() != m {
		hint := ""
		if rows == c.Bits() {
			hint = "; it has as many rows, so it may be transposed"
		}
		return nil, fmt.Errorf("%s: %d columns, but %s of %d levels has %d bits%s", outputs.Name(), m, c.Name(), c.Levels(), c.Bits(), hint)
	}
	return c, nil
}

// mostLevels is the largest number of levels for which a code has m bits, 0 where
// there is none: the number of bits does not fall as levels grow.
func mostLevels(f code.Family, m int) int {
	lo, hi := code.MinLevels-1, code.MaxLevels+1 // f.Bits(lo) ≤ m < f.Bits(hi), or the ends
	for hi-lo > 1 {
		if middle := (lo + hi) / 2; f.Bits(middle) <= m {
			lo = middle
		} else {
			hi = middle
		}
	}
	if lo < code.MinLevels || f.Bits(lo) != m {
		return 0
	}
	return lo
}

func (cmd *fitCmd) checkBits(c *code.Code) error {
	for _, k := range cmd.Bits {
		if k < 1 || k > c.Bits() {
			return fmt.Errorf("--bits %d: %s has bits 1 to %d", k, c.Name(), c.Bits())
		}
	}
	return nil
}

// fit reads the samples, fits the model and compares it with them.
func (cmd *fitCmd) fit(ctx context.Context, env *environment, s *observed.Source, c *code.Code) (*fitted, error) {
	if err := checkMemory("counting the errors of every level and bit", int64(c.Levels())*int64(c.Bits())*(8+16+8)); err != nil {
		return nil, err
	}
	readers, err := observed.Readers(c, s.Kind, cmd.Temperature)
	if err != nil {
		return nil, err
	}
	total, _ := s.Outputs.Dims()
	bar := env.newProgress(cmd.Quiet || total < 0, "samples read", 2*uint64(max(total, 0))) // CSV does not say how much there is
	defer bar.stop()
	seen, err := observed.Scan(ctx, s, c, readers, bar.add)
	if err != nil {
		return nil, bar.interrupted(err)
	}
	f := &fitted{
		Code: c.Name(), Levels: c.Levels(), Bits: c.Bits(), Kind: string(s.Kind), LevelWidth: s.Labels.Width(), Confidence: errmodel.Confidence,
		Dispersion: number(seen.Dispersion), Correlation: number(seen.Correlation), LogitScale: number(seen.LogitScale),
		SharedNoise: none, SharedNoiseInterval: [2]number{none, none}, DesignEffect: [2]number{none, none},
		Temperature: cmd.Temperature, Seed: cmd.Seed, Prior: seen.Counts.Prior(), provenance: env.provenance(),
		counts: seen.Counts, code: c, positions: c.Transitions(),
	}
	if cmd.Range.set {
		f.Range = &[2]float64{cmd.Range.lo, cmd.Range.hi}
	}
	f.Samples, f.WrongBits = seen.Counts.Total()
	if err := f.span(s.Targets.Name()); err != nil {
		return nil, err
	}
	model, err := errmodel.NewFit(ctx, f.counts, f.positions, -1)
	if errors.Is(err, errmodel.ErrNoFit) {
		if f.WrongBits > 0 {
			return nil, fmt.Errorf("%s: all %d wrong outputs are of bits that never change, where the model has no errors: nothing to fit", s.Outputs.Name(), f.WrongBits)
		}
		return nil, fmt.Errorf("%s: none of the %d × %d outputs is on the wrong side, so there are no errors to model: r and σ cannot be told from 0", s.Outputs.Name(), f.Samples, f.Bits)
	}
	if err != nil {
		return nil, err
	}
	depend, err := observed.Depend(ctx, s, c, seen, model, bar.add)
	bar.stop()
	if err != nil {
		return nil, bar.interrupted(err)
	}
	effect, err := model.Inflate(ctx, depend.AA, depend.AB, depend.BB)
	if err != nil {
		return nil, err
	}
	f.DesignEffect = [2]number{number(effect[0]), number(effect[1])}
	f.R, f.RInterval, f.Sigma, f.SigmaInterval, f.Limited = number(model.R.Value), limits(model.R), number(model.Sigma.Value), limits(model.Sigma), model.Limited
	mixture, err := model.Mixture(ctx, c.Levels(), f.positions)
	if err != nil {
		return nil, err
	}
	f.errors = mixture
	parameters := 2
	if cmd.PerBit {
		if parameters, err = f.fitBits(ctx); err != nil {
			return nil, err
		}
	}
	if err := f.judge(parameters); err != nil {
		return nil, err
	}
	if !math.IsNaN(depend.Excess) {
		shared, err := errmodel.NewSharedNoise(ctx, c, f.errors, depend.Prior, depend.Excess, depend.StdErr)
		if err != nil {
			return nil, err
		}
		f.SharedNoise, f.SharedNoiseInterval = number(shared.Rho.Value), [2]number{number(shared.Rho.Lo), number(shared.Rho.Hi)}
	}
	backend, err := cmd.backendFlags.open(env, cmd.Quiet)
	if err != nil {
		return nil, err
	}
	defer backend.Close()
	if err := cmd.predict(ctx, backend, f, readers, seen); err != nil {
		return nil, err
	}
	if cmd.Recommend {
		if f.Recommend, err = cmd.recommend(ctx, env, backend, f, s.Kind); err != nil {
			return nil, err
		}
	}
	return f, nil
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

// fitBits fits every bit by itself, and makes the table of these fits the model's.
func (f *fitted) fitBits(ctx context.Context) (parameters int, err error) {
	fits := make([]*errmodel.Fit, f.Bits)
	for k := range fits {
		b := bitFit{Bit: k + 1, R: none, Sigma: none, RInterval: [2]number{none, none}, SigmaInterval: [2]number{none, none}}
		for i := range f.Levels {
			b.Wrong += f.counts.Row(i)[k]
		}
		fits[k], err = errmodel.NewFit(ctx, f.counts, f.positions, k)
		switch {
		case err == nil:
			b.R, b.RInterval, b.Sigma, b.SigmaInterval, b.Limited = number(fits[k].R.Value), limits(fits[k].R), number(fits[k].Sigma.Value), limits(fits[k].Sigma), fits[k].Limited
			parameters += 2
		case !errors.Is(err, errmodel.ErrNoFit):
			return 0, fmt.Errorf("bit %d: %w", k+1, err)
		}
		f.PerBit = append(f.PerBit, b)
	}
	f.errors, err = errmodel.PerBit(f.Levels, f.positions, fits)
	return parameters, err
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
		wrong := uint64(0)
		for i := range f.Levels {
			wrong += f.counts.Row(i)[k]
		}
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

// predict computes what every decoder's error should be, under the model and its
// variants, beside what it is.
func (cmd *fitCmd) predict(ctx context.Context, backend montecarlo.Backend, f *fitted, readers []observed.Reader, seen *observed.Summary) error {
	rates := f.counts.Rates(f.errors)
	for r, reader := range readers {
		level, target := seen.Levels[r], seen.Labels[r]
		d := decoderResult{
			Decoder: reader.Decoder.Name(), Outputs: reader.Outputs(), Rates: none, RatesStdErr: none, Shared: none, SharedStdErr: none, ModelError: none,
			Observed: number(level.Mean), ObservedStdErr: number(level.StdErr), ObservedRMS: number(level.RMS),
			Target: number(target.Mean), TargetStdErr: number(target.StdErr),
		}
		var err error
		if d.Bound, d.Exact, d.Mean, d.StdErr, err = cmd.errorOf(ctx, backend, f, reader, f.errors, 0); err != nil {
			return err
		}
		_, exact, mean, stderr, err := cmd.errorOf(ctx, backend, f, reader, rates, 0)
		if err != nil {
			return err
		}
		if d.Rates, d.RatesStdErr = exact, 0; math.IsNaN(float64(exact)) {
			d.Rates, d.RatesStdErr = mean, stderr
		}
		if rho := float64(f.SharedNoise); rho > 0 {
			if _, _, d.Shared, d.SharedStdErr, err = cmd.errorOf(ctx, backend, f, reader, f.errors, rho); err != nil {
				return err
			}
		}
		if level.Mean > 0 {
			d.ModelError = number(100 * (d.predicted()/level.Mean - 1))
		}
		w := number(f.LevelWidth)
		d.LabelUnits = units{w * d.Bound, w * d.Exact, w * d.Mean, w * d.Shared, w * d.Observed, w * d.Target}
		f.Decoders = append(f.Decoders, d)
	}
	return nil
}

// problem is what a reader of a code is asked under a table.
func (f *fitted) problem(c *code.Code, reader observed.Reader, e mat.Matrix, rho float64, seed uint64) *montecarlo.Problem {
	p := &montecarlo.Problem{Code: c, Decoder: reader.Decoder, Errors: e, Seed: seed}
	if reader.Logits || rho > 0 || reader.Decoder.Name() == "gen-ex" || c.Real() {
		p.Latent = &montecarlo.Latent{Hard: !reader.Logits, Shared: rho}
	}
	return p
}

// errorOf is bound, exact value and simulation of |error| over the targets' prior.
// The decoder of logits is that of the model's, whose noise is 1.
func (cmd *fitCmd) errorOf(ctx context.Context, backend montecarlo.Backend, f *fitted, reader observed.Reader, e mat.Matrix, rho float64) (bound, exact, mean, stderr number, err error) {
	if reader, err = f.scaled(reader, f.code); err != nil {
		return none, none, none, none, err
	}
	p := f.problem(f.code, reader, e, rho, cmd.Seed)
	th, err := theoryOf(ctx, p)
	if err != nil {
		return none, none, none, none, err
	}
	bounds, exacts := make([]float64, len(th)), make([]float64, len(th))
	for i, t := range th {
		bounds[i], exacts[i] = t.Bound, t.Mean
	}
	sums, _, err := montecarlo.Estimate(ctx, backend, p, montecarlo.Target{Samples: cmd.Samples, Prior: f.Prior}, nil)
	if err != nil {
		return none, none, none, none, err
	}
	o := montecarlo.Weigh(f.Prior, sums)
	return number(theory.Average(f.Prior, bounds)), number(theory.Average(f.Prior, exacts)), number(o.Mean), number(o.StdErr), nil
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
		return matrix.WriteNPY(w, f.counts.Rates(f.errors))
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
