package main

import (
	"context"
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"text/tabwriter"

	"belsim/montecarlo"
	"belsim/plots"
	"belsim/theory"
	"belsim/theory/code"
	"belsim/theory/decode"
)

type compareCmd struct {
	Codes []string `arg:"" optional:"" name:"code" help:"Codes, NAMEs and FILEs; without any, all that belsim knows."`
	levelsFlag
	Decoder string `enum:"auto,bel-u,bel-j,gen" default:"auto" help:"Decoder of every code: ${enum}; auto takes the paper's for each."`
	modelFlags
	priorFlag
	sampleFlags
	backendFlags
	outputFlags
}

func (compareCmd) Help() string {
	return `One row for each code, the smallest error first: bits, bound, exact expectation and sampled mean of |error|, with its standard error; root mean square, share of samples within θ levels, and the worst level.

Example:

  belsim compare unary johnson b1jdj hexj hadamard --levels 64 --r 0.6 --sigma 1.5`
}

// comparison is what compare finds: its JSON.
type comparison struct {
	Levels  int          `json:"levels"`
	R       *float64     `json:"r"`
	Sigma   *float64     `json:"sigma"`
	Seed    uint64       `json:"seed"`
	Theta   int          `json:"within_levels"`
	Results []codeResult `json:"results"`
	provenance
}

// codeResult is the |error| of one code, in levels, over the prior.
type codeResult struct {
	Code       string `json:"code"`
	Bits       int    `json:"bits"`
	Decoder    string `json:"decoder"`
	Bound      number `json:"bound"`
	Exact      number `json:"exact"`
	Mean       number `json:"mean"`
	StdErr     number `json:"stderr"`
	RMS        number `json:"rms"`
	Within     number `json:"within"`
	WorstLevel int    `json:"worst_level"`
	WorstMean  number `json:"worst_mean"`
	Samples    uint64 `json:"samples"`
}

// error is the best figure there is.
func (r codeResult) error() float64 {
	if !math.IsNaN(float64(r.Exact)) {
		return float64(r.Exact)
	}
	return float64(r.Mean)
}

// Run implements the command.
func (cmd *compareCmd) Run(ctx context.Context, env *environment) error {
	restore, err := cmd.use()
	if err != nil {
		return err
	}
	defer restore()
	format, err := cmd.format("csv", "json", "png", "svg", "pdf")
	if err != nil {
		return err
	}
	if err := cmd.check(); err != nil {
		return err
	}
	h, err := cmd.read()
	if err != nil {
		return err
	}
	names := cmd.Codes
	if len(names) == 0 {
		for _, f := range code.Families() {
			names = append(names, f.Name)
		}
	}
	codes, err := openCodes(names, cmd.Levels, defaultLevels, h)
	if err != nil {
		return err
	}
	prior, err := cmd.weights(h, codes[0].Levels())
	if err != nil {
		return err
	}
	problems := make([]*montecarlo.Problem, len(codes))
	for i, c := range codes {
		d, err := decode.New(cmd.Decoder, c)
		if err != nil {
			return err
		}
		e, err := cmd.table(ctx, c)
		if err != nil {
			return err
		}
		problems[i] = &montecarlo.Problem{Code: c, Decoder: d, Errors: e, Seed: cmd.Seed, Within: cmd.Within}
	}

	result := &comparison{Levels: codes[0].Levels(), Seed: cmd.Seed, Theta: cmd.Within, provenance: env.provenance()}
	result.R, result.Sigma = cmd.parameters()
	backend, err := cmd.open(env, cmd.Quiet)
	if err != nil {
		return err
	}
	defer backend.Close()
	bar := env.newProgress(cmd.Quiet, "samples", cmd.most()*uint64(codes[0].Levels()*len(codes)))
	allReached := true
	for _, p := range problems {
		row, reached, err := cmd.one(ctx, backend, p, prior, bar)
		if err != nil {
			bar.stop()
			return bar.interrupted(err)
		}
		allReached = allReached && reached
		result.Results = append(result.Results, row)
	}
	bar.stop()
	cmd.warnUnreached(env, cmd.Quiet, allReached)
	slices.SortStableFunc(result.Results, func(a, b codeResult) int {
		switch {
		case a.error() < b.error():
			return -1
		case a.error() > b.error():
			return 1
		}
		return 0
	})
	if format != "" {
		if err := cmd.write(func(w io.Writer) error { return result.write(w, format, cmd.modelFlags.String()) }); err != nil {
			return err
		}
	}
	if cmd.JSON {
		return writeJSON(env.stdout, result)
	}
	result.print(env.stdout, cmd.modelFlags.String())
	return nil
}

// one computes the row of one code.
func (cmd *compareCmd) one(ctx context.Context, b montecarlo.Backend, p *montecarlo.Problem, prior []float64, bar *progress) (codeResult, bool, error) {
	th, err := theoryOf(ctx, p.Code, p.Decoder, p.Errors)
	if err != nil {
		return codeResult{}, false, err
	}
	sums, reached, err := montecarlo.Estimate(ctx, b, p, cmd.target(prior, false), bar.add)
	if err != nil {
		return codeResult{}, false, err
	}
	o := montecarlo.Weigh(prior, sums)
	bounds, exacts := make([]float64, len(th)), make([]float64, len(th))
	for i, t := range th {
		bounds[i], exacts[i] = t.Bound, t.Mean
	}
	return codeResult{
		Code: p.Code.Name(), Bits: p.Code.Bits(), Decoder: p.Decoder.Name(),
		Bound: number(theory.Average(prior, bounds)), Exact: number(theory.Average(prior, exacts)),
		Mean: number(o.Mean), StdErr: number(o.StdErr), RMS: number(o.RMS), Within: number(o.Within),
		WorstLevel: o.WorstLevel, WorstMean: number(o.WorstMean), Samples: o.Samples,
	}, reached, nil
}

// print writes the table for people.
func (c *comparison) print(w io.Writer, model string) {
	fmt.Fprintf(w, "%d levels, %s, seed %d; |error| in levels\n\n", c.Levels, model, c.Seed)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(t, "code\tbits\tdecoder\tbound\texact\tsampled\t± s.e.\tRMS\twithin %d\tworst level\t\n", c.Theta)
	for _, r := range c.Results {
		fmt.Fprintf(t, "%s\t%d\t%s\t%s\t%s\t%s\t%s\t%s\t%.2f %%\t%d (%s)\t\n", r.Code, r.Bits, r.Decoder,
			r.Bound.short(), r.Exact.short(), r.Mean.short(), r.StdErr.short(), r.RMS.short(), 100*float64(r.Within), r.WorstLevel, r.WorstMean.short())
	}
	t.Flush()
}

// write writes the result to a file.
func (c *comparison) write(w io.Writer, format, model string) error {
	switch format {
	case "json":
		return writeJSON(w, c)
	case "csv":
		out := csv.NewWriter(w)
		if err := out.Write([]string{"code", "bits", "decoder", "bound", "exact", "mean", "stderr", "rms", "within", "worst_level", "worst_mean", "samples"}); err != nil {
			return err
		}
		for _, r := range c.Results {
			if err := out.Write([]string{
				r.Code, strconv.Itoa(r.Bits), r.Decoder, r.Bound.String(), r.Exact.String(), r.Mean.String(), r.StdErr.String(),
				r.RMS.String(), r.Within.String(), strconv.Itoa(r.WorstLevel), r.WorstMean.String(), fmt.Sprint(r.Samples),
			}); err != nil {
				return err
			}
		}
		out.Flush()
		return out.Error()
	}
	d := plots.CompareData{Title: fmt.Sprintf("%d levels, %s", c.Levels, model)}
	for _, r := range c.Results {
		d.Names = append(d.Names, r.Code+" ("+r.Decoder+")")
		d.Bound = append(d.Bound, float64(r.Bound))
		d.Exact = append(d.Exact, float64(r.Exact))
		d.Mean = append(d.Mean, float64(r.Mean))
		d.StdErr = append(d.StdErr, float64(r.StdErr))
	}
	f, err := plots.Compare(d)
	if err != nil {
		return err
	}
	return f.Write(w, format)
}
