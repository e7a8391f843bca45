package main

import (
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"runtime"
	"strconv"
	"text/tabwriter"
	"time"

	"belsim/errmodel"
	"belsim/gpu"
	"belsim/montecarlo"
	"belsim/theory/code"
	"belsim/theory/decode"
)

type benchCmd struct {
	Time    time.Duration `default:"1s" help:"Time to measure each workload for, on each backend."`
	Backend string        `enum:"auto,cpu,cuda" default:"auto" help:"What to measure: cpu, cuda, or auto: all there are."`
	workersFlag
	outputFlags
}

func (benchCmd) Help() string {
	return `The throughput of every backend on standard workloads: samples a second over all labels, errors placed a second (the points of the Poisson process that a sample of bits is made of; gen-ex reads logits, which are not made of errors), and, on a device whose peak is known, the share of its 32-bit integer operations that this takes.

Example:

  belsim bench --time 200ms`
}

// workload is something typical to sample.
type workload struct {
	code, decoder string
	levels        int
	r, sigma      float64
}

// workloads are those of the README's table; the first is the reference.
var workloads = []workload{
	{"johnson-nonzero", "bel-j", 255, 2, 5},
	{"johnson-nonzero", "bel-j", 255, 0.5, 5},
	{"unary", "bel-u", 255, 2, 5},
	{"hexj", "gen", 256, 0.6, 1.5},
	{"b1jdj", "gen", 256, 0.6, 1.5},
	{"hadamard", "gen", 256, 0.02, 5},
	{"johnson-nonzero", "bel-j", 1023, 2, 5},
	{"unary", "gen-ex", 256, 0.5, 3}, // on logits, as the next ones
	{"b1jdj", "gen-ex", 256, 0.5, 3},
	{"hexj", "gen-ex", 256, 0.5, 3},
}

// benchmark is what the command finds: its JSON.
type benchmark struct {
	Results []benchResult `json:"results"`
	provenance
}

// benchResult is one workload on one backend.
type benchResult struct {
	Code      string  `json:"code"`
	Levels    int     `json:"levels"`
	Bits      int     `json:"bits"`
	Decoder   string  `json:"decoder"`
	R         float64 `json:"r"`
	Sigma     float64 `json:"sigma"`
	Backend   string  `json:"backend"`
	Device    string  `json:"device"`
	Samples   uint64  `json:"samples"`
	Seconds   float64 `json:"seconds"`
	Rate      float64 `json:"samples_per_second"`
	PointRate number  `json:"errors_placed_per_second"`
	PeakShare number  `json:"integer_peak_share"`
}

// measured is a backend with what is known of its device.
type measured struct {
	backend
	name, device string
	peak         float64 // 32-bit integer operations a second; 0: not known
}

// Run implements the command.
func (cmd *benchCmd) Run(ctx context.Context, env *environment) error {
	restore, err := cmd.use()
	if err != nil {
		return err
	}
	defer restore()
	if err := cmd.checkOutput("csv", "json"); err != nil {
		return err
	}
	if cmd.Time <= 0 || cmd.Time > time.Hour {
		return fmt.Errorf("--time %v: want more than zero and at most an hour", cmd.Time)
	}
	backends, err := cmd.backends(env)
	if err != nil {
		return err
	}
	defer func() {
		for _, b := range backends {
			b.Close()
		}
	}()
	result := &benchmark{provenance: env.provenance()}
	bar := env.newProgress(cmd.Quiet, "workloads", uint64(len(workloads)*len(backends)))
	defer bar.stop()
	for _, w := range workloads {
		for _, b := range backends {
			r, err := w.measure(ctx, b, cmd.Time)
			if err != nil {
				return bar.interrupted(err)
			}
			result.Results = append(result.Results, r)
			bar.add(1)
		}
	}
	bar.stop()
	if err := cmd.write(func(w io.Writer, path string) error { return result.write(w, format(path)) }); err != nil {
		return err
	}
	if cmd.JSON {
		return writeJSON(env.stdout, result)
	}
	result.print(env.stdout)
	return nil
}

// backends opens those to measure.
func (cmd *benchCmd) backends(env *environment) ([]measured, error) {
	var out []measured
	if cmd.Backend != "cuda" {
		out = append(out, measured{cpu{}, "cpu", fmt.Sprintf("%d × %s", runtime.GOMAXPROCS(0), runtime.GOARCH), 0})
	}
	if cmd.Backend == "cpu" {
		return out, nil
	}
	switch device, err := gpu.Open(0); {
	case err == nil:
		out = append(out, measured{insistent{device}, "cuda", device.Info().Name, device.Info().IntegerPeak()})
	case cmd.Backend == "cuda":
		return nil, environmentError{fmt.Errorf("--backend cuda: %w", err)}
	case !cmd.Quiet:
		fmt.Fprintf(env.stderr, "belsim: note: sampling on the CPU: %s\n", oneLine(err))
	}
	return out, nil
}

// measure samples a workload for about so long, in ever longer runs of which the
// last one counts.
func (w workload) measure(ctx context.Context, b measured, long time.Duration) (benchResult, error) {
	none := benchResult{}
	c, err := code.New(w.code, w.levels)
	if err != nil {
		return none, err
	}
	d, err := decode.New(w.decoder, c)
	if err != nil {
		return none, err
	}
	e, err := errmodel.NewMixture(ctx, c, w.r, w.sigma)
	if err != nil {
		return none, err
	}
	p := &montecarlo.Problem{Code: c, Decoder: d, Errors: e, Seed: 1}
	points := math.NaN() // logits are not made of errors
	if w.decoder == "gen-ex" {
		p.Latent = &montecarlo.Latent{}
	} else {
		points = 0
		for i := range w.levels {
			bits, err := p.BitTables(i)
			if err != nil {
				return none, err
			}
			points += bits.Hazard / float64(w.levels)
		}
	}
	job := []montecarlo.Job{{Problem: p, Sums: make([]montecarlo.Sums, w.levels)}}
	var took time.Duration
	for n := uint64(1 << 10); ; {
		job[0].Spans = job[0].Spans[:0]
		for i := range w.levels {
			job[0].Spans = append(job[0].Spans, montecarlo.Span{Row: i, Samples: n})
		}
		start := time.Now()
		if err := b.Sample(ctx, job, nil); err != nil {
			return none, err
		}
		if took = time.Since(start); took >= long*3/4 || n >= p.MaxSamples()/64 {
			return w.result(b, c, n*uint64(w.levels), took, points), nil
		}
		n *= uint64(min(64, max(2, math.Ceil(1.1*long.Seconds()/max(took.Seconds(), 1e-9)))))
	}
}

func (w workload) result(b measured, c *code.Code, samples uint64, took time.Duration, points float64) benchResult {
	rate := float64(samples) / took.Seconds()
	r := benchResult{
		Code: w.code, Levels: w.levels, Bits: c.Bits(), Decoder: w.decoder, R: w.r, Sigma: w.sigma,
		Backend: b.name, Device: b.device, Samples: samples, Seconds: took.Seconds(),
		Rate: rate, PointRate: number(rate * points), PeakShare: none,
	}
	if operations, ok := gpu.Operations(w.decoder, c.Bits(), points); ok && b.peak > 0 {
		r.PeakShare = number(rate * operations / b.peak)
	}
	return r
}

// print writes the table for people.
func (b *benchmark) print(w io.Writer) {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(t, "code\tlevels\tbits\tdecoder\tr\tσ\tbackend\tdevice\tsamples/s\terrors placed/s\tof integer peak\t\n")
	for _, r := range b.Results {
		share := "–"
		if !math.IsNaN(float64(r.PeakShare)) {
			share = fmt.Sprintf("%.0f %%", 100*float64(r.PeakShare))
		}
		fmt.Fprintf(t, "%s\t%d\t%d\t%s\t%g\t%g\t%s\t%s\t%s\t%s\t%s\t\n", r.Code, r.Levels, r.Bits, r.Decoder, r.R, r.Sigma,
			r.Backend, r.Device, metric(r.Rate), metric(float64(r.PointRate)), share)
	}
	t.Flush()
}

// metric writes a rate with three digits and a prefix.
func metric(x float64) string {
	if math.IsNaN(x) {
		return "–"
	}
	for _, p := range []struct {
		unit float64
		name string
	}{{1e12, " T"}, {1e9, " G"}, {1e6, " M"}, {1e3, " k"}} {
		if x >= p.unit {
			return fmt.Sprintf("%.3g%s", x/p.unit, p.name)
		}
	}
	return fmt.Sprintf("%.3g", x)
}

// write writes the result to a file.
func (b *benchmark) write(w io.Writer, format string) error {
	if format == "json" {
		return writeJSON(w, b)
	}
	out := csv.NewWriter(w)
	all := [][]string{{"code", "levels", "bits", "decoder", "r", "sigma", "backend", "device", "samples", "seconds",
		"samples_per_second", "errors_placed_per_second", "integer_peak_share"}}
	for _, r := range b.Results {
		all = append(all, []string{r.Code, strconv.Itoa(r.Levels), strconv.Itoa(r.Bits), r.Decoder, number(r.R).String(), number(r.Sigma).String(),
			r.Backend, r.Device, fmt.Sprint(r.Samples), number(r.Seconds).String(), number(r.Rate).String(), r.PointRate.String(), r.PeakShare.String()})
	}
	return errors.Join(out.WriteAll(all), out.Error())
}
