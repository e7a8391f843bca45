package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/mat"

	"belsim/errmodel"
	"belsim/errmodel/observed"
	"belsim/montecarlo"
	"belsim/theory/arrayfile"
	"belsim/theory/code"
	"belsim/theory/decode"
)

type fitCmd struct {
	Code        string   `required:"" placeholder:"CODE" help:"Code the network was trained with, a NAME or a FILE."`
	Levels      int      `placeholder:"L" help:"Number of quantization levels of a named code (default: the most that need as many bits as there are outputs)."`
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
	for _, rows := range []*arrayfile.Rows{s.Targets, s.Outputs} {
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
	if s.Targets, err = arrayfile.OpenRows(cmd.Targets, "targets", "target", "labels", "label", "y"); err != nil {
		return nil, fmt.Errorf("reading targets: %w", err)
	}
	if s.Outputs, err = arrayfile.OpenRows(path, "outputs", "output", "logits", "probabilities", "bits", "z"); err != nil {
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
func (cmd *fitCmd) openCode(outputs *arrayfile.Rows) (*code.Code, error) {
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

// fitBytes is the most memory that a fit of a code takes: four numbers for every level
// and bit, and for the likelihood the distances of every level from every transition of
// a bit, twice (they are looked up by what they are) and with room to grow.
func fitBytes(c *code.Code) int64 {
	levels := int64(c.Levels())
	return levels*int64(c.Bits())*4*8 + levels*int64(c.TransitionCount())*4*4
}

// fit reads the samples, fits the model and compares it with them.
func (cmd *fitCmd) fit(ctx context.Context, env *environment, s *observed.Source, c *code.Code) (*fitted, error) {
	if err := checkMemory(fmt.Sprintf("fitting %s of %d levels", c.Name(), c.Levels()), fitBytes(c)); err != nil {
		if cmd.Levels == 0 && !code.IsFile(cmd.Code) {
			err = fmt.Errorf("%w; --levels says how many levels there are, if fewer", err)
		}
		return nil, err
	}
	readers, err := observed.Readers(decode.Builtin(), c, s.Kind, decode.Options{Temperature: cmd.Temperature})
	if err != nil {
		return nil, err
	}
	total, _ := s.Outputs.Dims()
	bar := env.newProgress(cmd.Quiet || total < 0, "samples read", 2*uint64(max(total, 0))) // CSV does not say how much there is
	defer bar.stop()
	seen, err := observed.Scan(ctx, 0, s, c, readers, bar.add)
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
		shared, err := errmodel.NewSharedNoise(ctx, 0, c, f.errors, depend.Prior, depend.Excess, depend.StdErr)
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

// fitBits fits every bit by itself, and makes the table of these fits the model's.
func (f *fitted) fitBits(ctx context.Context) (parameters int, err error) {
	fits := make([]*errmodel.Fit, f.Bits)
	for k := range fits {
		b := bitFit{Bit: k + 1, Wrong: f.counts.Bit(k), R: none, Sigma: none, RInterval: [2]number{none, none}, SigmaInterval: [2]number{none, none}}
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
		reader, err := f.scaled(reader, f.code)
		if err != nil {
			return err
		}
		independent := f.problem(f.code, reader, f.errors, 0)
		if d.Bound, d.Exact, err = averageTheory(ctx, independent, f.Prior); err != nil {
			return err
		}
		if d.Mean, d.StdErr, err = cmd.sampled(ctx, backend, independent, f.Prior); err != nil {
			return err
		}
		observedRates := f.problem(f.code, reader, rates, 0)
		if _, d.Rates, err = averageTheory(ctx, observedRates, f.Prior); err != nil {
			return err
		}
		d.RatesStdErr = 0
		if math.IsNaN(float64(d.Rates)) {
			if d.Rates, d.RatesStdErr, err = cmd.sampled(ctx, backend, observedRates, f.Prior); err != nil {
				return err
			}
		}
		if rho := float64(f.SharedNoise); rho > 0 {
			if d.Shared, d.SharedStdErr, err = cmd.sampled(ctx, backend, f.problem(f.code, reader, f.errors, rho), f.Prior); err != nil {
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
func (f *fitted) problem(c *code.Code, reader observed.Reader, e mat.Matrix, rho float64) *montecarlo.Problem {
	p := &montecarlo.Problem{Code: c, Decoder: reader.Decoder, Errors: e, Seed: f.Seed}
	if reader.Logits || rho > 0 || reader.Decoder.Name() == "gen-ex" || c.Real() {
		p.Latent = &montecarlo.Latent{Hard: !reader.Logits, Shared: rho}
	}
	return p
}

// sampled is the simulated |error| over a prior.
func (cmd *fitCmd) sampled(ctx context.Context, backend montecarlo.Backend, p *montecarlo.Problem, prior []float64) (mean, stderr number, err error) {
	sums, _, err := montecarlo.Estimate(ctx, backend, p, montecarlo.Target{Samples: cmd.Samples, Prior: prior}, nil)
	if err != nil {
		return none, none, err
	}
	o := montecarlo.Weigh(prior, sums)
	return number(o.Mean), number(o.StdErr), nil
}
