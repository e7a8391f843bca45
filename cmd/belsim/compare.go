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

	"belsim/montecarlo"
	"belsim/plots"
	"belsim/theory/code"
	"belsim/theory/decode"
)

type compareCmd struct {
	Codes []string `arg:"" optional:"" name:"code" help:"Codes, NAMEs and FILEs; without any, all that belsim knows."`
	levelsFlag
	Decoder []string `enum:"${decoders}" default:"auto" help:"Decoder of every code, or several, with commas between them: ${enum}; auto takes the paper's for each."`
	latentFlags
	modelFlags
	priorFlag
	sampleFlags
	backendFlags
	outputFlags
}

func (compareCmd) Help() string {
	return `One row for each code, the smallest error first: bits, bound, exact expectation and sampled mean of |error|, with its standard error; root mean square, share of samples within θ levels, and the worst level. With several decoders, a table of the errors of all codes with all decoders that fit them.

Examples:

  belsim compare unary johnson b1jdj hexj hadamard --levels 64 --r 0.6 --sigma 1.5

  belsim compare unary johnson hexj --levels 64 --decoder bel-u,bel-j,gen,gen-ex --labels continuous`
}

// comparison is what compare finds: its JSON.
type comparison struct {
	Levels      int          `json:"levels"`
	R           *float64     `json:"r"`
	Sigma       *float64     `json:"sigma"`
	Temperature float64      `json:"temperature"`
	SharedNoise float64      `json:"shared_noise"`
	LabelKind   string       `json:"label_kind"`
	Seed        uint64       `json:"seed"`
	Theta       int          `json:"within_levels"`
	Results     []codeResult `json:"results"`
	provenance
	decoders []string // as they were asked for
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
	Outputs    string `json:"outputs"`
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
	if err := cmd.checkOutput("csv", "json", "png", "svg", "pdf", "tex"); err != nil {
		return err
	}
	if err := errors.Join(cmd.sampleFlags.check(), cmd.latentFlags.check()); err != nil {
		return err
	}
	if err := cmd.modelFlags.load(env, &cmd.latentFlags); err != nil {
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
	codes, err := openCodes(names, cmd.Levels, cmd.fit.usual(defaultLevels), h, realCodes(cmd.Decoder...))
	if err != nil {
		return err
	}
	prior, err := cmd.weights(h, cmd.fit, codes[0].Levels())
	if err != nil {
		return err
	}
	problems, err := cmd.problems(ctx, codes)
	if err != nil {
		return err
	}

	result := &comparison{
		Levels: codes[0].Levels(), Temperature: cmd.Temperature, SharedNoise: cmd.SharedNoise, LabelKind: cmd.latentFlags.Labels,
		Seed: cmd.Seed, Theta: cmd.Within, provenance: env.provenance(), decoders: cmd.Decoder,
	}
	result.R, result.Sigma = cmd.parameters()
	backend, err := cmd.open(env, cmd.Quiet)
	if err != nil {
		return err
	}
	defer backend.Close()
	bar := env.newProgress(cmd.Quiet, "samples", cmd.most()*uint64(codes[0].Levels()*len(problems)))
	allReached := true
	for _, p := range problems {
		row, reached, err := cmd.one(ctx, backend, p, prior, bar)
		if err != nil {
			bar.stop()
			return bar.interrupted(err)
		}
		allReached = allReached && reached
		row.Outputs = cmd.outputs(p.Code, p.Decoder)
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
	if err := cmd.write(func(w io.Writer, path string) error {
		return result.write(w, path, cmd.modelFlags.String()+cmd.latentFlags.String(), cmd.size())
	}); err != nil {
		return err
	}
	if cmd.JSON {
		return writeJSON(env.stdout, result)
	}
	result.print(env.stdout, cmd.modelFlags.String()+cmd.latentFlags.String())
	return nil
}

// problems pairs codes with the decoders that fit them. One decoder must fit every
// code; of several, each must fit one, and each code must have one.
func (cmd *compareCmd) problems(ctx context.Context, codes []*code.Code) ([]*montecarlo.Problem, error) {
	var out []*montecarlo.Problem
	for i, name := range cmd.Decoder {
		if slices.Contains(cmd.Decoder[:i], name) {
			return nil, fmt.Errorf("--decoder %s is given twice", name)
		}
	}
	fits := make([]bool, len(cmd.Decoder))
	for _, c := range codes {
		e, err := cmd.table(ctx, c)
		if err != nil {
			return nil, err
		}
		before := len(out)
		var unfit error
		for i, name := range cmd.Decoder {
			d, err := cmd.decoder(name, c)
			if errors.Is(err, decode.ErrUnfit) {
				unfit = err
				continue
			}
			if err != nil {
				return nil, err
			}
			latent, err := cmd.latent(c, d, e)
			if err != nil {
				return nil, err
			}
			fits[i] = true
			out = append(out, &montecarlo.Problem{Code: c, Decoder: d, Errors: e, Seed: cmd.Seed, Within: cmd.Within, Latent: latent})
		}
		if len(out) == before {
			return nil, unfit
		}
	}
	for i, ok := range fits {
		if !ok {
			return nil, fmt.Errorf("%w: --decoder %s fits none of the codes", decode.ErrUnfit, cmd.Decoder[i])
		}
	}
	return out, nil
}

// one computes the row of one code.
func (cmd *compareCmd) one(ctx context.Context, b montecarlo.Backend, p *montecarlo.Problem, prior []float64, bar *progress) (codeResult, bool, error) {
	bound, exact, err := averageTheory(ctx, p, prior)
	if err != nil {
		return codeResult{}, false, err
	}
	sums, reached, err := montecarlo.Estimate(ctx, b, p, cmd.target(prior, false), bar.add)
	if err != nil {
		return codeResult{}, false, err
	}
	o := montecarlo.Weigh(prior, sums)
	return codeResult{
		Code: p.Code.Name(), Bits: p.Code.Bits(), Decoder: p.Decoder.Name(),
		Bound: bound, Exact: exact,
		Mean: number(o.Mean), StdErr: number(o.StdErr), RMS: number(o.RMS), Within: number(o.Within),
		WorstLevel: o.WorstLevel, WorstMean: number(o.WorstMean), Samples: o.Samples,
	}, reached, nil
}

// print writes the table for people.
func (c *comparison) print(w io.Writer, model string) {
	fmt.Fprintf(w, "%d levels, %s, seed %d; |error| in levels\n\n", c.Levels, model, c.Seed)
	if len(c.decoders) > 1 {
		c.matrix(w)
		return
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(t, "code\tbits\tdecoder\tbound\texact\tsampled\t± s.e.\tRMS\twithin %d\tworst level\t\n", c.Theta)
	for _, r := range c.Results {
		fmt.Fprintf(t, "%s\t%d\t%s\t%s\t%s\t%s\t%s\t%s\t%.2f %%\t%d (%s)\t\n", r.Code, r.Bits, r.Decoder,
			r.Bound.short(), r.Exact.short(), r.Mean.short(), r.StdErr.short(), r.RMS.short(), 100*float64(r.Within), r.WorstLevel, r.WorstMean.short())
	}
	t.Flush()
}

// matrix writes the table encoding × decoder, the shape of the paper's Tables 3 to
// 13: codes by their smallest error. Every error has its standard error.
func (c *comparison) matrix(w io.Writer) {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	var codes, columns []string
	cells := map[[2]string]codeResult{}
	for _, r := range c.Results { // the smallest error first
		if !slices.Contains(codes, r.Code) {
			codes = append(codes, r.Code)
		}
		column := r.Decoder
		if r.Outputs == "logits" {
			column += " (logits)"
		}
		if !slices.Contains(columns, column) {
			columns = append(columns, column)
		}
		cells[[2]string{r.Code, column}] = r
	}
	slices.SortStableFunc(columns, func(a, b string) int {
		at := func(column string) int { return slices.Index(decode.Names(), strings.Fields(column)[0]) }
		return at(a) - at(b)
	})
	fmt.Fprintf(t, "code\tbits\t%s\t\n", strings.Join(columns, "\t"))
	for _, name := range codes {
		row, bits := "", 0
		for _, column := range columns {
			r, ok := cells[[2]string{name, column}]
			if !ok {
				row += "–\t"
				continue
			}
			bits = r.Bits
			row += fmt.Sprintf("%s ± %.1g\t", r.Mean.short(), float64(r.StdErr))
		}
		fmt.Fprintf(t, "%s\t%d\t%s\n", name, bits, row)
	}
	t.Flush()
}

// write writes the result to a file.
func (c *comparison) write(w io.Writer, path, model string, size plots.Size) error {
	switch format(path) {
	case "json":
		return writeJSON(w, c)
	case "csv":
		out := csv.NewWriter(w)
		if err := out.Write([]string{"code", "bits", "decoder", "bound", "exact", "mean", "stderr", "rms", "within", "worst_level", "worst_mean", "samples", "outputs"}); err != nil {
			return err
		}
		for _, r := range c.Results {
			if err := out.Write([]string{
				r.Code, strconv.Itoa(r.Bits), r.Decoder, r.Bound.String(), r.Exact.String(), r.Mean.String(), r.StdErr.String(),
				r.RMS.String(), r.Within.String(), strconv.Itoa(r.WorstLevel), r.WorstMean.String(), fmt.Sprint(r.Samples), r.Outputs,
			}); err != nil {
				return err
			}
		}
		out.Flush()
		return out.Error()
	}
	d := plots.CompareData{Title: fmt.Sprintf("%d levels, %s", c.Levels, model), Size: size}
	for _, r := range c.Results {
		name := r.Code + " (" + r.Decoder
		if r.Outputs == "logits" {
			name += ", logits"
		}
		d.Names = append(d.Names, name+")")
		d.Bound = append(d.Bound, float64(r.Bound))
		d.Exact = append(d.Exact, float64(r.Exact))
		d.Mean = append(d.Mean, float64(r.Mean))
		d.StdErr = append(d.StdErr, float64(r.StdErr))
	}
	f, err := plots.Compare(d)
	if err != nil {
		return err
	}
	return writeFigure(w, f, path)
}
