package main

import (
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"text/tabwriter"

	"gonum.org/v1/gonum/mat"

	"belsim/errmodel"
	"belsim/montecarlo"
	"belsim/plots"
	"belsim/theory/decode"
)

type verifyCmd struct {
	Code string `default:"johnson-nonzero" help:"Code, a NAME or a FILE."`
	levelsFlag
	Decoder string `enum:"${decoders}" default:"auto" help:"Decoder: ${enum}; auto takes the paper's for the code."`
	latentFlags
	modelFlags
	Random bool `help:"Draw the error probabilities uniformly from 0 to 1, as in the paper's check of its bounds."`
	priorFlag
	sampleFlags
	Full bool `help:"Print every level, however many there are."`
	backendFlags
	outputFlags
}

func (verifyCmd) Help() string {
	return `For every level: the closed-form bound, the exact expectation and the sampled mean of |error|. Passes when no sampled mean exceeds its bound and none differs from its exact value by more than chance allows, over all levels together; exits with 1 otherwise. The test is Bernstein's inequality with the exact variance, which holds for any number of samples; when theory is right it fails less than once in a million runs.

Example:

  belsim verify --code johnson-nonzero --levels 255 --r 2 --sigma 5 -o verify.png`
}

// falseAlarms is the probability that verify fails although theory is right.
const falseAlarms = 1e-6

// verification is what verify finds: its JSON.
type verification struct {
	Pass        bool       `json:"pass"`
	Failures    []string   `json:"failures"`
	Code        string     `json:"code"`
	Levels      int        `json:"levels"`
	Bits        int        `json:"bits"`
	Decoder     string     `json:"decoder"`
	Outputs     string     `json:"outputs"`
	R           *float64   `json:"r"`
	Sigma       *float64   `json:"sigma"`
	Temperature float64    `json:"temperature"`
	SharedNoise float64    `json:"shared_noise"`
	LabelKind   string     `json:"label_kind"`
	Seed        uint64     `json:"seed"`
	Alpha       float64    `json:"false_alarm_rate"`
	Overall     levelRow   `json:"overall"`
	Labels      []levelRow `json:"labels"`
	provenance
	bound string // name of the bound, for people
}

// levelRow is the |error| of one level, or of all; in levels.
type levelRow struct {
	Level   int    `json:"level,omitempty"` // from 1
	Bound   number `json:"bound"`
	Exact   number `json:"exact"`
	Mean    number `json:"mean"`
	StdErr  number `json:"stderr"`
	Samples uint64 `json:"samples"`

	sums montecarlo.Sums
}

// Run implements the command.
func (cmd *verifyCmd) Run(ctx context.Context, env *environment) error {
	restore, err := cmd.use()
	if err != nil {
		return err
	}
	defer restore()
	if err := cmd.checkOutput("csv", "json", "png", "svg", "pdf", "tex"); err != nil {
		return err
	}
	if err := errors.Join(cmd.sampleFlags.check(), cmd.latentFlags.check()); err != nil {
		return err
	}
	if cmd.Random && cmd.Errors != "" {
		return errors.New("--random and --errors both give error probabilities; want one of them")
	}
	if cmd.Random && cmd.Model != "" {
		return errors.New("--random and --model both give error probabilities; want one of them")
	}
	if err := cmd.modelFlags.load(env, &cmd.latentFlags); err != nil {
		return err
	}
	h, err := cmd.read()
	if err != nil {
		return err
	}
	codes, err := openCodes([]string{cmd.Code}, cmd.Levels, cmd.fit.usual(defaultLevels), h, realCodes(cmd.Decoder))
	if err != nil {
		return err
	}
	c := codes[0]
	prior, err := cmd.weights(h, cmd.fit, c.Levels())
	if err != nil {
		return err
	}
	d, err := cmd.decoder(cmd.Decoder, c)
	if err != nil {
		return err
	}
	var e mat.Matrix
	if cmd.Random {
		if err := checkMemory("a random table of error probabilities", int64(c.Levels())*int64(c.Bits())*8); err != nil {
			return err
		}
		e = errmodel.Random(c.Levels(), c.Bits(), cmd.Seed)
	} else if e, err = cmd.table(ctx, c); err != nil {
		return err
	}
	latent, err := cmd.latent(c, d, e)
	if err != nil {
		return err
	}
	p := &montecarlo.Problem{Code: c, Decoder: d, Errors: e, Seed: cmd.Seed, Within: cmd.Within, Latent: latent}
	result, err := cmd.verify(ctx, env, p, prior)
	if err != nil {
		return err
	}
	if err := cmd.write(func(w io.Writer, path string) error { return result.write(w, path, cmd.model(), cmd.size()) }); err != nil {
		return err
	}
	if cmd.JSON {
		err = writeJSON(env.stdout, result)
	} else {
		result.print(env.stdout, cmd.model(), cmd.Full)
	}
	if err == nil && !result.Pass {
		return errFailed
	}
	return err
}

// model describes the error probabilities.
func (cmd *verifyCmd) model() string {
	if cmd.Random {
		return "e uniform on [0, 1)" + cmd.latentFlags.String()
	}
	return cmd.modelFlags.String() + cmd.latentFlags.String()
}

func (cmd *verifyCmd) verify(ctx context.Context, env *environment, p *montecarlo.Problem, prior []float64) (*verification, error) {
	c, d := p.Code, p.Decoder
	th, err := theoryOf(ctx, p)
	if err != nil {
		return nil, err
	}
	backend, err := cmd.open(env, cmd.Quiet)
	if err != nil {
		return nil, err
	}
	defer backend.Close()
	bar := env.newProgress(cmd.Quiet, "samples", cmd.most()*uint64(c.Levels()))
	sums, reached, err := montecarlo.Estimate(ctx, backend, p, cmd.target(prior, true), bar.add)
	bar.stop()
	if err != nil {
		return nil, bar.interrupted(err)
	}
	cmd.warnUnreached(env, cmd.Quiet, reached)

	lo, hi := decode.Range(c, d)
	failures := montecarlo.Verify(sums, th, prior, max(hi-1, c.Levels()-lo)+1, falseAlarms)
	o := montecarlo.Weigh(prior, sums)
	v := &verification{
		Pass: len(failures) == 0, Failures: []string{}, Code: c.Name(), Levels: c.Levels(), Bits: c.Bits(), Decoder: d.Name(), Outputs: cmd.outputs(c, d),
		Temperature: cmd.Temperature, SharedNoise: cmd.SharedNoise, LabelKind: cmd.latentFlags.Labels,
		Seed: cmd.Seed, Alpha: falseAlarms, provenance: env.provenance(),
		Overall: levelRow{Mean: number(o.Mean), StdErr: number(o.StdErr), Samples: o.Samples},
	}
	if !cmd.Random {
		v.R, v.Sigma = cmd.parameters()
	}
	if b, err := boundOf(p); err == nil {
		v.bound = b.Name
	}
	for _, f := range failures {
		v.Failures = append(v.Failures, f.String())
	}
	for i, s := range sums {
		v.Labels = append(v.Labels, levelRow{
			Level: i + 1, Bound: number(th[i].Bound), Exact: number(th[i].Mean),
			Mean: number(s.Mean()), StdErr: number(s.StdErr()), Samples: s.Samples, sums: s,
		})
	}
	v.Overall.Bound, v.Overall.Exact = average(th, prior)
	return v, nil
}

// print writes the verdict for people. Of many levels it shows some, evenly
// spread, unless all are asked for.
func (v *verification) print(w io.Writer, model string, full bool) {
	fmt.Fprintf(w, "%s (%d levels, %d bits), decoder %s, %s, seed %d\n", v.Code, v.Levels, v.Bits, v.Decoder, model, v.Seed)
	fmt.Fprintf(w, "expected |error| in levels")
	if v.bound != "" {
		fmt.Fprintf(w, "; the bound is %s", v.bound)
	}
	fmt.Fprint(w, "\n\n")
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(t, "level\tbound\texact\tsampled\t± s.e.\tsamples\t\n")
	row := func(name string, r levelRow) {
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%d\t\n", name, r.Bound.short(), r.Exact.short(), r.Mean.short(), r.StdErr.short(), r.Samples)
	}
	const few = 16
	shown := min(len(v.Labels), few)
	if full {
		shown = len(v.Labels)
	}
	for i := range shown {
		l := v.Labels[i*(len(v.Labels)-1)/max(shown-1, 1)]
		row(strconv.Itoa(l.Level), l)
	}
	row("all", v.Overall)
	t.Flush()
	if shown < len(v.Labels) {
		fmt.Fprintf(w, "(%d of %d levels; --full prints all)\n", shown, len(v.Labels))
	}
	fmt.Fprintln(w)
	const shownFailures = 10
	for i, f := range v.Failures {
		if i == shownFailures {
			fmt.Fprintf(w, "FAIL and %d more\n", len(v.Failures)-i)
			break
		}
		fmt.Fprintf(w, "FAIL %s\n", f)
	}
	const test = "(Bernstein's inequality, false alarms below %g)\n"
	bound, exact := !math.IsNaN(float64(v.Overall.Bound)), !math.IsNaN(float64(v.Overall.Exact))
	switch {
	case !v.Pass:
	case bound && exact:
		fmt.Fprintf(w, "PASS every sampled mean agrees with its exact value and is within its bound "+test, v.Alpha)
	case bound:
		fmt.Fprintf(w, "PASS every sampled mean is within its bound; there is no exact value "+test, v.Alpha)
	case exact:
		fmt.Fprintf(w, "PASS every sampled mean agrees with its exact value; there is no bound "+test, v.Alpha)
	default:
		fmt.Fprintln(w, "UNCHECKED there is neither a bound nor an exact value to check the samples against")
	}
}

// write writes the result to a file.
func (v *verification) write(w io.Writer, path, model string, size plots.Size) error {
	switch format(path) {
	case "json":
		return writeJSON(w, v)
	case "csv":
		out := csv.NewWriter(w)
		if err := out.Write([]string{"level", "bound", "exact", "mean", "stderr", "samples", "sum_abs", "sum_square", "sum_within"}); err != nil {
			return err
		}
		for _, l := range v.Labels {
			s := l.sums
			if err := out.Write([]string{
				strconv.Itoa(l.Level), l.Bound.String(), l.Exact.String(), l.Mean.String(), l.StdErr.String(),
				fmt.Sprint(s.Samples), fmt.Sprint(s.Abs), fmt.Sprint(s.Square), fmt.Sprint(s.Within),
			}); err != nil {
				return err
			}
		}
		out.Flush()
		return out.Error()
	}
	d := plots.VerifyData{Title: fmt.Sprintf("%s, %d levels, %s, %s", v.Code, v.Levels, v.Decoder, model), Size: size}
	for _, l := range v.Labels {
		d.Level = append(d.Level, float64(l.Level))
		d.Bound = append(d.Bound, float64(l.Bound))
		d.Exact = append(d.Exact, float64(l.Exact))
		d.Mean = append(d.Mean, float64(l.Mean))
		d.StdErr = append(d.StdErr, float64(l.StdErr))
	}
	f, err := plots.Verify(d)
	if err != nil {
		return err
	}
	return writeFigure(w, f, path)
}
