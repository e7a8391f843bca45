package main

import (
	"cmp"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"text/tabwriter"
	"time"

	"gonum.org/v1/gonum/mat"

	"belsim/errmodel"
	"belsim/montecarlo"
	"belsim/montecarlo/search"
	"belsim/plots"
	"belsim/theory/arrayfile"
	"belsim/theory/code"
)

type optimizeCmd struct {
	levelsFlag
	Bits           bitCounts     `placeholder:"M" help:"Number of bits; with --pareto a range of them, lo:hi:count or lo:hi:count:log (default there: twelve from the fewest possible to as many as levels, and those of the named codes)."`
	Decoder        string        `enum:"gen,gen-ex" default:"gen" help:"Decoder: ${enum}."`
	MaxTransitions int           `placeholder:"T" help:"Most transitions of a bit: few make its classifier easy to learn (default: any number)."`
	Start          string        `placeholder:"CODE" help:"Begin from this code, a NAME or FILE, instead of all named codes and random ones."`
	Fix            string        `placeholder:"LIST" help:"Columns of --start that stay as they are, from 1: 1,2,5-8."`
	Steps          uint64        `default:"100000" help:"Changes to try. The same steps and --seed give the same code on any number of --workers."`
	Time           time.Duration `placeholder:"D" help:"Search for about so long, such as 60s, instead of --steps."`
	Pareto         bool          `help:"Search for every number of bits: the trade-off of bits against error."`
	Keep           string        `placeholder:"FOLDER" help:"With --pareto: write the codes found there, as found-M.csv."`
	latentFlags
	mixtureFlags
	priorFlag
	sampleFlags
	backendFlags
	outputFlags

	errors  mat.Matrix // the table of --errors, L × M
	hurried bool       // after a signal: no exact values
}

func (optimizeCmd) Help() string {
	return `Searches for the code with the smallest expected error for an error model, a decoder and a number of bits, by simulated annealing from the named codes and others. What is reported is estimated anew, from samples that the search has not seen, beside the named codes of no more bits.

Examples:

  belsim optimize --levels 16 --bits 8 --r 0.6 --sigma 1.5 --steps 20000 -o best.csv -o best.png

  belsim optimize --levels 16 --pareto --r 0.6 --sigma 1.5 --steps 2000 -o tradeoff.csv -o tradeoff.png`
}

// bitCounts is one number of bits, or a range of them.
type bitCounts []int

// UnmarshalText implements encoding.TextUnmarshaler.
func (b *bitCounts) UnmarshalText(text []byte) error {
	if !strings.Contains(string(text), ":") {
		n, err := strconv.Atoi(string(text))
		if err != nil {
			return fmt.Errorf("%q: want a number of bits, or a range lo:hi:count", text)
		}
		*b = bitCounts{n}
		return nil
	}
	var s span
	if err := s.UnmarshalText(text); err != nil {
		return err
	}
	for _, v := range s.values() {
		if n := int(math.Round(v)); !slices.Contains(*b, n) {
			*b = append(*b, n)
		}
	}
	return nil
}

// optimized is what optimize finds: its JSON.
type optimized struct {
	CodeFile       *string    `json:"code_file"`
	Levels         int        `json:"levels"`
	Bits           int        `json:"bits"`
	Decoder        string     `json:"decoder"`
	Outputs        string     `json:"outputs"`
	Error          number     `json:"error"`
	StdErr         number     `json:"stderr"`
	Exact          number     `json:"exact"`
	PerBit         float64    `json:"transitions_per_bit"`
	MaxTransitions int        `json:"max_transitions"`
	MinDistance    *int       `json:"min_distance"`
	Start          string     `json:"start"`
	Steps          uint64     `json:"steps"`
	Seed           uint64     `json:"seed"`
	R              *float64   `json:"r"`
	Sigma          *float64   `json:"sigma"`
	SharedNoise    float64    `json:"shared_noise"`
	LabelKind      string     `json:"label_kind"`
	Improvement    number     `json:"improvement_percent"` // over the best baseline; negative where it is worse
	ImprovementCI  [2]number  `json:"improvement_interval"`
	Baselines      []baseline `json:"baselines"`
	Words          []string   `json:"words"`
	provenance

	code *code.Code
}

// baseline is a named code of no more bits.
type baseline struct {
	Code   string `json:"code"`
	Bits   int    `json:"bits"`
	Error  number `json:"error"`
	StdErr number `json:"stderr"`
	Exact  number `json:"exact"`
}

// Run implements the command.
func (cmd *optimizeCmd) Run(ctx context.Context, env *environment) error {
	restore, err := cmd.use()
	if err != nil {
		return err
	}
	defer restore()
	endings := []string{"csv", "npy", "json", "png", "svg", "pdf", "tex"}
	if cmd.Pareto {
		endings = []string{"csv", "json", "png", "svg", "pdf", "tex"}
	}
	if err := errors.Join(cmd.checkOutput(endings...), cmd.check(env)); err != nil {
		return err
	}
	o, err := cmd.options(ctx, env)
	if err != nil {
		return err
	}
	backend, err := cmd.open(env, cmd.Quiet)
	if err != nil {
		return err
	}
	defer backend.Close()
	if cmd.Pareto {
		return cmd.pareto(ctx, env, o, backend)
	}
	o.Bits = cmd.Bits[0]
	found, stopped, err := cmd.search(ctx, env, o, backend, map[string]baseline{})
	if err != nil {
		return err
	}
	for _, path := range cmd.Output {
		if f := format(path); found.CodeFile == nil && (f == "csv" || f == "npy") {
			found.CodeFile = &path
		}
	}
	found.provenance = env.provenance()
	if err := cmd.write(func(w io.Writer, path string) error { return cmd.writeFound(w, found, path) }); err != nil {
		return err
	}
	if cmd.JSON {
		err = writeJSON(env.stdout, found)
	} else {
		found.print(env.stdout, cmd.mixtureFlags.String()+cmd.latentFlags.String())
	}
	return errors.Join(err, stopped)
}

// Limits of a search, far beyond any that ends.
const (
	longest   = 10000 * time.Hour
	mostSteps = 1 << 50
)

// check refuses what can be seen without reading anything.
func (cmd *optimizeCmd) check(env *environment) error {
	switch {
	case env.given["time"] && (cmd.Time <= 0 || cmd.Time > longest):
		return fmt.Errorf("--time %v: want more than zero, and at most %v", cmd.Time, longest)
	case cmd.Steps < 1 || cmd.Steps > mostSteps:
		return fmt.Errorf("--steps %d: want 1 to %d", cmd.Steps, uint64(mostSteps))
	case env.given["time"] && env.given["steps"]:
		return errors.New("--time and --steps both say how long to search; want one of them")
	case cmd.MaxTransitions < 0 || env.given["max-transitions"] && cmd.MaxTransitions == 0:
		return fmt.Errorf("--max-transitions %d: want 1 or more", cmd.MaxTransitions)
	case cmd.Fix != "" && cmd.Start == "":
		return errors.New("--fix names columns of --start, which is missing")
	case cmd.Keep != "" && !cmd.Pareto:
		return errors.New("--keep is for --pareto; -o FILE.csv writes the code")
	case cmd.Pareto && (cmd.Start != "" || cmd.Errors != ""):
		return errors.New("--pareto changes the number of bits; --start and --errors are for one number of them")
	case !cmd.Pareto && len(cmd.Bits) > 1:
		return errors.New("--bits: a range of bits is for --pareto")
	case !cmd.Pareto && len(cmd.Bits) == 0 && cmd.Start == "" && cmd.Errors == "":
		return errors.New("--bits is missing: the number of bits of the code, such as --bits 12; or --pareto for all")
	}
	if cmd.Keep != "" {
		if info, err := os.Stat(cmd.Keep); err != nil {
			return fmt.Errorf("--keep: %w", err)
		} else if !info.IsDir() {
			return fmt.Errorf("--keep %s: not a folder", cmd.Keep)
		}
	}
	return errors.Join(cmd.sampleFlags.check(), cmd.latentFlags.check())
}

// options are those of the search, but for the number of bits.
func (cmd *optimizeCmd) options(ctx context.Context, env *environment) (*search.Options, error) {
	if err := cmd.mixtureFlags.load(env, &cmd.latentFlags); err != nil {
		return nil, err
	}
	h, err := cmd.read()
	if err != nil {
		return nil, err
	}
	o := &search.Options{MaxTransitions: cmd.MaxTransitions, Seed: cmd.Seed, Steps: cmd.Steps, Time: cmd.Time}
	switch {
	case cmd.Start != "":
		codes, err := openCodes([]string{cmd.Start}, cmd.Levels, cmd.fit.usual(defaultLevels), h, false)
		if err != nil {
			return nil, err
		}
		o.Start, o.Levels = codes[0], codes[0].Levels()
		if len(cmd.Bits) == 0 {
			cmd.Bits = bitCounts{o.Start.Bits()}
		}
		if o.Fixed, err = columnList(cmd.Fix); err != nil {
			return nil, err
		}
	default:
		o.Levels = namedLevels(cmd.Levels, cmd.fit.usual(defaultLevels), h)
	}
	if o.Levels < code.MinLevels || o.Levels > code.MaxLevels {
		return nil, fmt.Errorf("--levels %d: want %d to %d", o.Levels, code.MinLevels, code.MaxLevels)
	}
	if o.Prior, err = cmd.weights(h, cmd.fit, o.Levels); err != nil {
		return nil, err
	}
	if cmd.Errors != "" {
		wanted := 0
		if len(cmd.Bits) > 0 {
			wanted = cmd.Bits[0]
		}
		if cmd.errors, err = errmodel.ReadTable(cmd.Errors, o.Levels, wanted); err != nil {
			return nil, err
		}
		_, columns := cmd.errors.Dims()
		cmd.Bits = bitCounts{columns}
		o.Column = func(dst []float64, k int, _ []int) { mat.Col(dst, k, cmd.errors) }
	} else {
		kernel, err := errmodel.NewKernel(o.Levels, cmd.R, cmd.Sigma)
		if err != nil {
			return nil, err
		}
		o.Column = func(dst []float64, _ int, transitions []int) { kernel.Column(dst, transitions) }
	}
	if len(cmd.Bits) == 0 { // --pareto
		cmd.Bits = usualBits(o.Levels)
	}
	most := cmd.Bits[0]
	for _, m := range cmd.Bits {
		o.Bits = m
		if err := o.Check(); err != nil {
			return nil, fmt.Errorf("--bits %d: %w", m, err)
		}
		most = max(most, m)
	}
	if err := checkMemory(fmt.Sprintf("a search for %d levels and %d bits", o.Levels, most), search.Bytes(o.Levels, most, 0)); err != nil {
		return nil, err
	}
	if cmd.Decoder != "gen" || cmd.Outputs == "logits" || cmd.SharedNoise > 0 || cmd.latentFlags.Labels == "continuous" {
		o.Error = func(ctx context.Context, c *code.Code, samples int, seed uint64) (float64, error) {
			p, err := cmd.problem(ctx, c, seed)
			if errors.Is(err, errBetween) {
				return math.Inf(1), nil
			}
			if err != nil {
				return 0, err
			}
			sums, err := montecarlo.EstimateEach(ctx, montecarlo.CPU{Workers: 1}, []*montecarlo.Problem{p}, uint64(samples), o.Prior, nil)
			if err != nil {
				return 0, err
			}
			return montecarlo.Weigh(o.Prior, sums[0]).Mean, nil
		}
	}
	return o, nil
}

// columnList reads numbers from 1 such as 1,2,5-8, and counts them from 0.
func columnList(text string) ([]int, error) {
	var out []int
	if text == "" {
		return nil, nil
	}
	for _, part := range strings.Split(text, ",") {
		from, to, isRange := strings.Cut(part, "-")
		if !isRange {
			to = from
		}
		a, err := strconv.Atoi(from)
		b, err2 := strconv.Atoi(to)
		if err != nil || err2 != nil || a < 1 || b < a || b > code.MaxLevels {
			return nil, fmt.Errorf("--fix %s: %q is no column; want numbers from 1 and ranges of them, such as 1,2,5-8", text, part)
		}
		for k := a - 1; k < b; k++ {
			if !slices.Contains(out, k) {
				out = append(out, k)
			}
		}
	}
	return out, nil
}

// usualBits are the numbers of bits of a trade-off: twelve from the fewest to as many as
// levels, and those of the named codes between.
func usualBits(levels int) bitCounts {
	least := search.LeastBits(levels)
	var out bitCounts
	add := func(n int) {
		if n >= least && n <= max(levels, least) && !slices.Contains(out, n) {
			out = append(out, n)
		}
	}
	for _, v := range (span{float64(least), float64(max(levels, least+1)), 12, true}).values() {
		add(int(math.Round(v)))
	}
	for _, f := range code.Families() {
		add(f.Bits(levels))
	}
	slices.Sort(out)
	return out
}

// problem is what is sampled of a code.
func (cmd *optimizeCmd) problem(ctx context.Context, c *code.Code, seed uint64) (*montecarlo.Problem, error) {
	d, err := cmd.decoder(cmd.Decoder, c)
	if err != nil {
		return nil, err
	}
	e := cmd.errors
	if e == nil {
		if e, err = errmodel.NewMixture(ctx, c, cmd.R, cmd.Sigma); err != nil {
			return nil, err
		}
	}
	latent, err := cmd.latent(c, d, e)
	if err != nil {
		return nil, err
	}
	return &montecarlo.Problem{Code: c, Decoder: d, Errors: e, Seed: seed, Within: cmd.Within, Latent: latent}, nil
}

// estimate is the error of a code over the prior, with a seed that no search has
// used.
func (cmd *optimizeCmd) estimate(ctx context.Context, b montecarlo.Backend, c *code.Code, prior []float64) (baseline, error) {
	p, err := cmd.problem(ctx, c, cmd.Seed)
	if err != nil {
		return baseline{}, err
	}
	exact := none
	if !cmd.hurried {
		if _, exact, err = averageTheory(ctx, p, prior); err != nil {
			return baseline{}, err
		}
	}
	sums, _, err := montecarlo.Estimate(ctx, b, p, cmd.target(prior, false), nil)
	if err != nil {
		return baseline{}, err
	}
	m := montecarlo.Weigh(prior, sums)
	return baseline{Code: c.Name(), Bits: c.Bits(), Error: number(m.Mean), StdErr: number(m.StdErr), Exact: exact}, nil
}

// choose is the number of samples of a label that decide between the codes that a
// search ends with.
const choose = 20000

// interruptedSamples is the most samples of a label after a signal.
const interruptedSamples = 2000

// search searches for a code of o.Bits bits and estimates its error and the
// baselines'. After a signal it does so with few samples, and stopped says so.
func (cmd *optimizeCmd) search(ctx context.Context, env *environment, o *search.Options, backend montecarlo.Backend, known map[string]baseline) (found *optimized, stopped, err error) {
	bar := cmd.progress(env, o)
	defer bar.stop()
	var steps atomic.Uint64
	began, seconds := time.Now(), uint64(0)
	o.Progress = func(n uint64, best float64) {
		steps.Add(n)
		if bar.say(fmt.Sprintf("best so far about %.4g levels", best)); cmd.Time == 0 {
			bar.add(n)
		} else if now := uint64(time.Since(began) / time.Second); now > seconds {
			bar.add(now - seconds)
			seconds = now
		}
	}
	results, err := search.Run(ctx, *o)
	bar.stop()
	if len(results) == 0 {
		return nil, nil, err
	}
	if ctx.Err() == nil {
		found, err = cmd.report(ctx, o, backend, results, steps.Load(), known)
	}
	if ctx.Err() != nil { // in the search or after it: what was found is kept
		stopped = fmt.Errorf("the search ended after %d steps; the best code so far is what was written", steps.Load())
		cmd.Samples, cmd.RelErr, cmd.hurried = min(cmd.Samples, interruptedSamples), 0, true
		found, err = cmd.report(context.WithoutCancel(ctx), o, backend, results, steps.Load(), known)
	}
	return found, stopped, err
}

// report estimates the errors of the codes that a search has ended with, and of the
// named ones.
func (cmd *optimizeCmd) report(ctx context.Context, o *search.Options, backend montecarlo.Backend, results []search.Found, steps uint64, known map[string]baseline) (*optimized, error) {
	// The search's own samples have been optimized on, and those that picked the winner are
	// the luckiest of several; neither seed is that of the figure reported.
	best, smallest := 0, math.Inf(1)
	var outputs string
	for i, r := range results {
		p, err := cmd.problem(ctx, r.Code, cmd.Seed^0x6368_6f6f_7365)
		if err != nil {
			return nil, err
		}
		sums, err := montecarlo.EstimateEach(ctx, backend, []*montecarlo.Problem{p}, min(choose, cmd.Samples), o.Prior, nil)
		if err != nil {
			return nil, err
		}
		if mean := montecarlo.Weigh(o.Prior, sums[0]).Mean; mean < smallest {
			best, smallest, outputs = i, mean, cmd.outputs(r.Code, p.Decoder)
		}
	}
	c := results[best].Code
	f, err := cmd.estimate(ctx, backend, c, o.Prior)
	if err != nil {
		return nil, err
	}
	properties, err := c.Properties(ctx, 0)
	if err != nil {
		return nil, err
	}
	found := &optimized{
		Levels: o.Levels, Bits: o.Bits, Decoder: cmd.Decoder, Outputs: outputs,
		Error: f.Error, StdErr: f.StdErr, Exact: f.Exact,
		PerBit: properties.TransitionsPerBit, MaxTransitions: properties.MaxTransitions, MinDistance: properties.MinDistance,
		Start: results[best].Start, Steps: steps, Seed: cmd.Seed, SharedNoise: cmd.SharedNoise, LabelKind: cmd.latentFlags.Labels,
		Improvement: none, ImprovementCI: [2]number{none, none}, Words: codeWords(c), code: c,
	}
	found.R, found.Sigma = cmd.parameters()
	if found.Baselines, err = cmd.baselines(ctx, backend, o, known); err != nil {
		return nil, err
	}
	found.compare()
	return found, nil
}

// progress shows how far the search is: steps, or seconds of --time.
func (cmd *optimizeCmd) progress(env *environment, o *search.Options) *progress {
	what, total := "steps", o.Steps
	if cmd.Time > 0 {
		what, total = "seconds", uint64(cmd.Time/time.Second)
	}
	if cmd.Pareto {
		what = fmt.Sprintf("%d bits, %s", o.Bits, what)
	}
	return env.newProgress(cmd.Quiet, what, total)
}

// baselines are the named codes of at most o.Bits bits that are valid, of the same bits
// with --errors. Those known have been estimated before.
func (cmd *optimizeCmd) baselines(ctx context.Context, b montecarlo.Backend, o *search.Options, known map[string]baseline) ([]baseline, error) {
	out := []baseline{}
	for _, f := range code.Families() {
		if m := f.Bits(o.Levels); m > o.Bits || cmd.Errors != "" && m != o.Bits {
			continue
		}
		row, ok := known[f.Name]
		if !ok {
			c, err := openNamed(f.Name, o.Levels)
			if err != nil {
				return nil, err
			}
			row, err = cmd.estimate(ctx, b, c, o.Prior)
			var invalid *errmodel.InvalidError
			switch {
			case errors.As(err, &invalid) || errors.Is(err, errBetween):
				row = baseline{Code: f.Name, Bits: c.Bits(), Error: none, StdErr: none, Exact: none}
			case err != nil:
				return nil, err
			}
			known[f.Name] = row
		}
		out = append(out, row)
	}
	slices.SortStableFunc(out, func(a, b baseline) int {
		if x, y := math.IsNaN(float64(a.Error)), math.IsNaN(float64(b.Error)); x != y {
			return cmp.Compare(map[bool]int{true: 1}[x], map[bool]int{true: 1}[y])
		}
		return cmp.Compare(float64(a.Error), float64(b.Error))
	})
	return out, nil
}

// compare sets the improvement over the best baseline, with its 95 % interval.
func (o *optimized) compare() {
	if len(o.Baselines) == 0 || math.IsNaN(float64(o.Baselines[0].Error)) || o.Baselines[0].Error == 0 {
		return
	}
	o.Improvement, o.ImprovementCI = improvement(baseline{Error: o.Error, StdErr: o.StdErr, Exact: o.Exact}, o.Baselines[0])
}

// improvement is 1 − a/b in percent: of exact values where both have one, and else with
// an interval of 1.96 standard errors by the delta method, as if the samples of the
// two codes were independent.
func improvement(a, b baseline) (percent number, interval [2]number) {
	if exact := 100 * (1 - a.Exact/b.Exact); !math.IsNaN(float64(exact)) && b.Exact > 0 {
		return exact, [2]number{exact, exact}
	}
	if a.Error == 0 { // among the samples: nobody knows how far below it is
		return none, [2]number{none, none}
	}
	ratio := float64(a.Error / b.Error)
	half := 1.96 * math.Hypot(float64(a.StdErr/b.Error), ratio*float64(b.StdErr/b.Error))
	return number(100 * (1 - ratio)), [2]number{number(100 * (1 - ratio - half)), number(100 * (1 - ratio + half))}
}

// print writes the result for people.
func (o *optimized) print(w io.Writer, model string) {
	fmt.Fprintf(w, "%d levels, %d bits, decoder %s, %s, seed %d; |error| in levels\n\n", o.Levels, o.Bits, o.Decoder, model, o.Seed)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(t, "code\tbits\texact\tsampled\t± s.e.\t\n")
	row := func(name string, bits int, exact, mean, stderr number) {
		sampled, se := mean.short(), stderr.short()
		if math.IsNaN(float64(mean)) {
			sampled, se = "invalid: e > 1", "–"
		}
		fmt.Fprintf(t, "%s\t%d\t%s\t%s\t%s\t\n", name, bits, exact.short(), sampled, se)
	}
	row("found", o.Bits, o.Exact, o.Error, o.StdErr)
	for _, b := range o.Baselines {
		row(b.Code, b.Bits, b.Exact, b.Error, b.StdErr)
	}
	t.Flush()
	distance := 0
	if o.MinDistance != nil {
		distance = *o.MinDistance
	}
	fmt.Fprintf(w, "\nfound after %d steps, from %s: %.3g transitions a bit, at most %d; smallest distance of two words %d\n", o.Steps, o.Start, o.PerBit, o.MaxTransitions, distance)
	if !math.IsNaN(float64(o.Improvement)) {
		interval := "exact"
		if o.ImprovementCI[0] != o.ImprovementCI[1] {
			interval = fmt.Sprintf("95 %% interval: %.2f to %.2f %%", float64(o.ImprovementCI[0]), float64(o.ImprovementCI[1]))
		}
		fmt.Fprintf(w, "its error is %.2f %% below that of %s (%s)\n", float64(o.Improvement), o.Baselines[0].Code, interval)
	}
	if o.Error == 0 && math.IsNaN(float64(o.Exact)) {
		fmt.Fprintf(w, "no sample of it was wrong: more --samples or --rel-err would tell its error\n")
	}
	if o.CodeFile != nil {
		fmt.Fprintf(w, "written to %s\n", *o.CodeFile)
	}
}

// writeFound writes the code, or with .json the whole result.
func (cmd *optimizeCmd) writeFound(w io.Writer, found *optimized, path string) error {
	switch format(path) {
	case "csv":
		return arrayfile.WriteCSV(w, found.code)
	case "npy":
		return arrayfile.WriteBitsNPY(w, found.code)
	case "json":
		return writeJSON(w, found)
	}
	title := fmt.Sprintf("found: %d levels, %d bits, %s, %s%s", found.Levels, found.Bits, found.Decoder, cmd.mixtureFlags.String(), cmd.latentFlags.String())
	return drawCode(w, found.code, title, path, cmd.size())
}

// tradeoff is what --pareto finds: its JSON.
type tradeoff struct {
	Levels      int          `json:"levels"`
	Decoder     string       `json:"decoder"`
	R           *float64     `json:"r"`
	Sigma       *float64     `json:"sigma"`
	SharedNoise float64      `json:"shared_noise"`
	LabelKind   string       `json:"label_kind"`
	Seed        uint64       `json:"seed"`
	Found       []*optimized `json:"found"` // the fewest bits first
	Baselines   []baseline   `json:"baselines"`
	provenance
}

// pareto searches for every number of bits, the fewest first; each begins from what
// was found with fewer, too.
func (cmd *optimizeCmd) pareto(ctx context.Context, env *environment, o *search.Options, backend montecarlo.Backend) error {
	slices.Sort(cmd.Bits)
	out := &tradeoff{
		Levels: o.Levels, Decoder: cmd.Decoder, SharedNoise: cmd.SharedNoise, LabelKind: cmd.latentFlags.Labels, Seed: cmd.Seed,
		provenance: env.provenance(),
	}
	out.R, out.Sigma = cmd.parameters()
	known := map[string]baseline{}
	var stopped error
	for _, m := range cmd.Bits {
		o.Bits = m
		var found *optimized
		var err error
		if found, stopped, err = cmd.search(ctx, env, o, backend, known); err != nil {
			if ctx.Err() != nil && len(out.Found) > 0 {
				stopped = fmt.Errorf("the search for %d bits had not begun; those with fewer are what was written", m)
				break
			}
			if errors.Is(err, search.ErrImpossible) { // too few bits for r and σ
				if !cmd.Quiet {
					fmt.Fprintf(env.stderr, "belsim: note: %d bits: %v\n", m, err)
				}
				continue
			}
			return err
		}
		if cmd.Keep != "" {
			path := filepath.Join(cmd.Keep, fmt.Sprintf("found-%d.csv", m))
			if err := cmd.writeFile(path, func(w io.Writer) error { return arrayfile.WriteCSV(w, found.code) }); err != nil {
				return err
			}
			found.CodeFile = &path
		}
		found.provenance = out.provenance
		out.Found = append(out.Found, found)
		o.Also = []*code.Code{found.code}
		if stopped != nil {
			break
		}
	}
	if len(out.Found) == 0 {
		return fmt.Errorf("no code was found for any of %d numbers of bits", len(cmd.Bits))
	}
	out.Baselines = out.Found[len(out.Found)-1].Baselines
	model := cmd.mixtureFlags.String() + cmd.latentFlags.String()
	if err := cmd.write(func(w io.Writer, path string) error { return out.write(w, path, model, cmd.size()) }); err != nil {
		return err
	}
	var err error
	if cmd.JSON {
		err = writeJSON(env.stdout, out)
	} else {
		out.print(env.stdout, model)
	}
	return errors.Join(err, stopped)
}

// print writes the trade-off for people.
func (p *tradeoff) print(w io.Writer, model string) {
	fmt.Fprintf(w, "%d levels, decoder %s, %s, seed %d; |error| in levels\n\n", p.Levels, p.Decoder, model, p.Seed)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(t, "bits\tfound\t± s.e.\ttransitions per bit\tbest named code of no more bits\t± s.e.\timprovement\t\n")
	for _, f := range p.Found {
		name, se, better := "–", "–", "–"
		if !math.IsNaN(float64(f.Improvement)) {
			b := f.Baselines[0]
			name, se = fmt.Sprintf("%s (%d): %s", b.Code, b.Bits, b.Error.short()), b.StdErr.short()
			better = fmt.Sprintf("%.1f %%", float64(f.Improvement))
		}
		fmt.Fprintf(t, "%d\t%s\t%s\t%.3g\t%s\t%s\t%s\t\n", f.Bits, f.Error.short(), f.StdErr.short(), f.PerBit, name, se, better)
	}
	t.Flush()
}

// write writes the trade-off to a file.
func (p *tradeoff) write(w io.Writer, path, model string, size plots.Size) error {
	switch format(path) {
	case "json":
		return writeJSON(w, p)
	case "csv":
		out := csv.NewWriter(w)
		if err := out.Write([]string{"code", "bits", "error", "stderr", "exact", "transitions_per_bit", "max_transitions", "code_file"}); err != nil {
			return err
		}
		for _, f := range p.Found {
			file := ""
			if f.CodeFile != nil {
				file = *f.CodeFile
			}
			if err := out.Write([]string{"found", strconv.Itoa(f.Bits), f.Error.String(), f.StdErr.String(), f.Exact.String(), fmt.Sprint(f.PerBit), strconv.Itoa(f.MaxTransitions), file}); err != nil {
				return err
			}
		}
		for _, b := range p.Baselines {
			if err := out.Write([]string{b.Code, strconv.Itoa(b.Bits), b.Error.String(), b.StdErr.String(), b.Exact.String(), "", "", ""}); err != nil {
				return err
			}
		}
		out.Flush()
		return out.Error()
	}
	d := plots.TradeoffData{Title: fmt.Sprintf("%d levels, %s, %s", p.Levels, p.Decoder, model), Size: size}
	for _, f := range p.Found {
		d.Found = append(d.Found, plots.TradeoffPoint{Bits: f.Bits, Error: float64(f.Error), StdErr: float64(f.StdErr)})
	}
	for _, b := range p.Baselines {
		if !math.IsNaN(float64(b.Error)) {
			d.Codes = append(d.Codes, plots.TradeoffPoint{Name: b.Code, Bits: b.Bits, Error: float64(b.Error), StdErr: float64(b.StdErr)})
		}
	}
	f, err := plots.Tradeoff(d)
	if err != nil {
		return err
	}
	return writeFigure(w, f, path)
}
