package main

import (
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"runtime"
	"sync/atomic"

	"golang.org/x/sync/errgroup"
	"gonum.org/v1/gonum/mat"

	"belsim/errmodel"
	"belsim/montecarlo"
	"belsim/plots"
	"belsim/theory"
	"belsim/theory/arrayfile"
	"belsim/theory/code"
	"belsim/theory/decode"
)

type heatmapCmd struct {
	Codes       []string `arg:"" optional:"" name:"code" help:"Two codes A and B, NAMEs or FILEs (default: unary johnson-nonzero)."`
	Levels      int      `placeholder:"L" help:"Number of quantization levels of named codes (default: 255, or as many as a file or --prior has)."`
	R           span     `default:"1:150:100" placeholder:"lo:hi:count[:log]" help:"Range of the weight r (default: ${default}; with --model, a factor of 8 to both sides)."`
	Sigma       span     `default:"1:100:100" placeholder:"lo:hi:count[:log]" help:"Range of the width σ, in levels (default: ${default}; with --model, a factor of 8 to both sides)."`
	Transitions string   `enum:"code,printed" default:"code" help:"Where bits are hard: at the code's own transitions, or where the paper's Eq. 4 prints them."`
	Method      string   `enum:"bound,exact,mc" default:"bound" help:"How each code's error is computed: ${enum} (default: bound; with --model and shared noise, mc)."`
	Decoder     string   `enum:"${decoders}" default:"auto" help:"Decoder of both codes: ${enum}; auto takes the paper's for each."`
	latentFlags
	Samples uint64 `default:"100" help:"Samples of each label in each cell, with --method mc."`
	Seed    uint64 `default:"1" help:"Seed of the random numbers, with --method mc."`
	fitFlag
	priorFlag
	backendFlags
	outputFlags
}

func (heatmapCmd) Help() string {
	return `The increase in expected error of code A over code B, 100·(E_A − E_B)/E_B, over the plane of r and σ: with the default codes and --method bound, the paper's Figure 3(c). Cells where r and σ give a probability above 1 are blank.

Examples:

  belsim heatmap -o heatmap.png

  belsim heatmap unary johnson-nonzero --method exact -o exact.png`
}

// paperLevels is the N−1 of the paper's figures.
const paperLevels = 255

// heatmap is what the command finds: its JSON.
type heatmap struct {
	A           string    `json:"a"`
	B           string    `json:"b"`
	DecoderA    string    `json:"decoder_a"`
	DecoderB    string    `json:"decoder_b"`
	Levels      int       `json:"levels"`
	Method      string    `json:"method"`
	Seed        *uint64   `json:"seed,omitempty"`
	R           []float64 `json:"r"`
	Sigma       []float64 `json:"sigma"`
	Cells       []cell    `json:"cells"`
	Outputs     [2]string `json:"outputs"`
	Temperature float64   `json:"temperature"`
	SharedNoise float64   `json:"shared_noise"`
	LabelKind   string    `json:"label_kind"`
	provenance
	fit            *fitted // the point to mark
	rLog, sigmaLog bool
	model, decoder string // what is not usual about the outputs and the decoder
}

// cell is one pair of r and σ; errors in levels.
type cell struct {
	R        float64 `json:"r"`
	Sigma    float64 `json:"sigma"`
	A        number  `json:"a"`
	B        number  `json:"b"`
	Increase number  `json:"increase_percent"`
	StdErrA  *number `json:"a_stderr,omitempty"`
	StdErrB  *number `json:"b_stderr,omitempty"`
	StdErr   *number `json:"increase_stderr,omitempty"`
}

// side is one of the two codes.
type side struct {
	code      *code.Code
	decoder   decode.Decoder
	positions [][]int
}

// Run implements the command.
func (cmd *heatmapCmd) Run(ctx context.Context, env *environment) error {
	restore, err := cmd.use()
	if err != nil {
		return err
	}
	defer restore()
	if err := cmd.checkOutput("csv", "json", "npy", "png", "svg", "pdf", "tex"); err != nil {
		return err
	}
	if err := cmd.check(); err != nil {
		return err
	}
	if cmd.Samples < 2 {
		return fmt.Errorf("--samples %d: a standard error needs at least 2", cmd.Samples)
	}
	if err := cmd.around(env); err != nil {
		return err
	}
	h, err := cmd.read()
	if err != nil {
		return err
	}
	sides, err := cmd.openSides(h)
	if err != nil {
		return err
	}
	prior, err := cmd.weights(h, cmd.fit, sides[0].code.Levels())
	if err != nil {
		return err
	}
	m, err := cmd.compute(ctx, env, sides, prior)
	if err != nil {
		return err
	}
	if err := cmd.write(func(w io.Writer, path string) error { return m.write(w, path, cmd.size()) }); err != nil {
		return err
	}
	if cmd.JSON {
		return writeJSON(env.stdout, m)
	}
	m.print(env.stdout)
	return nil
}

// around reads --model: the map is around its r and σ unless the ranges are given.
func (cmd *heatmapCmd) around(env *environment) error {
	if err := cmd.load(env, &cmd.latentFlags); err != nil || cmd.fit == nil {
		return err
	}
	const factor, count = 8, 61 // the fit is the cell in the middle
	if !env.given["r"] {
		cmd.R = span{lo: float64(cmd.fit.R) / factor, hi: float64(cmd.fit.R) * factor, count: count, log: true}
	}
	if !env.given["sigma"] {
		cmd.Sigma = span{lo: float64(cmd.fit.Sigma) / factor, hi: float64(cmd.fit.Sigma) * factor, count: count, log: true}
	}
	if !env.given["method"] && cmd.SharedNoise > 0 {
		cmd.Method = "mc" // neither bounds nor exact values are for bits that err together
	}
	return nil
}

// openSides opens both codes, of the same number of levels.
func (cmd *heatmapCmd) openSides(h *theory.Histogram) ([2]side, error) {
	var sides [2]side
	names := cmd.Codes
	switch len(names) {
	case 0:
		names = []string{"unary", "johnson-nonzero"}
	case 2:
	default:
		return sides, fmt.Errorf("%d code given; want two to compare, or none for unary and johnson-nonzero", len(names))
	}
	codes, err := openCodes(names, cmd.Levels, cmd.fit.usual(paperLevels), h, realCodes(cmd.Decoder))
	if err != nil {
		return sides, err
	}
	for i, c := range codes {
		d, err := cmd.decoder(cmd.Decoder, c)
		if err != nil {
			return sides, err
		}
		positions, err := transitions(c, cmd.Transitions)
		if err != nil {
			return sides, err
		}
		sides[i] = side{c, d, positions}
	}
	return sides, nil
}

// compute fills the map.
func (cmd *heatmapCmd) compute(ctx context.Context, env *environment, sides [2]side, prior []float64) (*heatmap, error) {
	m := &heatmap{
		A: sides[0].code.Name(), B: sides[1].code.Name(),
		DecoderA: sides[0].decoder.Name(), DecoderB: sides[1].decoder.Name(),
		Levels: sides[0].code.Levels(), Method: cmd.Method,
		R: cmd.R.values(), Sigma: cmd.Sigma.values(), rLog: cmd.R.log, sigmaLog: cmd.Sigma.log,
		Outputs:     [2]string{cmd.outputs(sides[0].code, sides[0].decoder), cmd.outputs(sides[1].code, sides[1].decoder)},
		Temperature: cmd.Temperature, SharedNoise: cmd.SharedNoise, LabelKind: cmd.latentFlags.Labels,
		provenance: env.provenance(), model: cmd.latentFlags.String(), fit: cmd.fit,
	}
	if cmd.Decoder != decode.Auto {
		m.decoder = ", " + cmd.Decoder
	}
	m.Cells = make([]cell, len(m.R)*len(m.Sigma))
	for i := range m.Cells {
		m.Cells[i] = cell{R: m.R[i%len(m.R)], Sigma: m.Sigma[i/len(m.R)], A: none, B: none, Increase: none}
	}
	bar := env.newProgress(cmd.Quiet, "cells", uint64(len(m.Cells)))
	defer bar.stop()
	work := cmd.theory
	if cmd.Method == "mc" {
		m.Seed = &cmd.Seed
		work = cmd.sample
	}
	if err := work(ctx, env, m, sides, prior, bar); err != nil {
		return nil, bar.interrupted(err)
	}
	return m, nil
}

// row returns the cells of one σ.
func (m *heatmap) row(i int) []cell { return m.Cells[i*len(m.R) : (i+1)*len(m.R)] }

// theory fills the map by bounds or exact values, a row of one σ at a time on
// every processor.
func (cmd *heatmapCmd) theory(ctx context.Context, _ *environment, m *heatmap, sides [2]side, prior []float64, bar *progress) error {
	var next atomic.Int64
	g, ctx := errgroup.WithContext(ctx)
	for range min(runtime.GOMAXPROCS(0), len(m.Sigma)) {
		g.Go(func() error {
			var evaluators [2]evaluator
			for i, s := range sides {
				var err error
				if evaluators[i], err = cmd.evaluator(s, prior); err != nil {
					return err
				}
			}
			for {
				row := int(next.Add(1)) - 1
				if row >= len(m.Sigma) {
					return nil
				}
				if err := m.fill(ctx, m.row(row), sides, evaluators, bar); err != nil {
					return err
				}
			}
		})
	}
	return g.Wait()
}

// sampledRows is about how many rows of code matrices are sampled together:
// enough to keep a device busy, and their sums take little memory.
const sampledRows = 1 << 18

// sample fills the map by samples, many cells at a time.
func (cmd *heatmapCmd) sample(ctx context.Context, env *environment, m *heatmap, sides [2]side, prior []float64, bar *progress) error {
	backend, err := cmd.open(env, cmd.Quiet)
	if err != nil {
		return err
	}
	defer backend.Close()
	labels := 0
	for _, p := range prior {
		if p > 0 {
			labels++
		}
	}
	perCell := 2 * uint64(labels) * cmd.Samples
	var finished atomic.Uint64
	done := func(n uint64) {
		now := finished.Add(n)
		bar.add(now/perCell - (now-n)/perCell)
	}
	var problems [2][]*montecarlo.Problem
	var cells []*cell
	flush := func() error {
		if len(cells) == 0 {
			return nil
		}
		// All of one code, then all of the other: neighbours share tables.
		sums, err := montecarlo.EstimateEach(ctx, backend, append(problems[0], problems[1]...), cmd.Samples, prior, done)
		if err != nil {
			return err
		}
		for i, c := range cells {
			a, b := montecarlo.Weigh(prior, sums[i]), montecarlo.Weigh(prior, sums[len(cells)+i])
			c.set([2]float64{a.Mean, b.Mean}, [2]float64{a.StdErr, b.StdErr}, true)
		}
		problems, cells = [2][]*montecarlo.Problem{}, nil
		return nil
	}
	for row := range m.Sigma {
		profiles, err := profilesOf(ctx, sides, m.Sigma[row])
		if err != nil {
			return err
		}
		for j := range m.row(row) {
			c := &m.row(row)[j]
			if !profiles[0].Valid(c.R) || !profiles[1].Valid(c.R) {
				bar.add(1)
				continue
			}
			pair, err := cmd.problems(sides, profiles, c.R)
			if errors.Is(err, errBetween) { // blank, as at levels
				bar.add(1)
				continue
			}
			if err != nil {
				return err
			}
			for i, p := range pair {
				problems[i] = append(problems[i], p)
			}
			cells = append(cells, c)
			if 2*len(cells)*m.Levels >= sampledRows {
				if err := flush(); err != nil {
					return err
				}
			}
		}
	}
	return flush()
}

// problems are what is sampled for one cell.
func (cmd *heatmapCmd) problems(sides [2]side, profiles [2]*errmodel.Profile, r float64) (pair [2]*montecarlo.Problem, err error) {
	for i, s := range sides {
		e, err := profiles[i].Mixture(r)
		if err != nil {
			return pair, err
		}
		latent, err := cmd.latent(s.code, s.decoder, e)
		if err != nil {
			return pair, err
		}
		pair[i] = &montecarlo.Problem{Code: s.code, Decoder: s.decoder, Errors: e, Seed: cmd.Seed, Latent: latent}
	}
	return pair, nil
}

// profilesOf returns the error profiles of both codes for one width.
func profilesOf(ctx context.Context, sides [2]side, sigma float64) (profiles [2]*errmodel.Profile, err error) {
	for i, s := range sides {
		if profiles[i], err = errmodel.NewProfile(ctx, s.code.Levels(), s.positions, sigma); err != nil {
			return profiles, err
		}
	}
	return profiles, nil
}

// fill computes the cells of one σ.
func (m *heatmap) fill(ctx context.Context, cells []cell, sides [2]side, evaluators [2]evaluator, bar *progress) error {
	profiles, err := profilesOf(ctx, sides, cells[0].Sigma)
	if err != nil {
		return err
	}
	var at [2]cellError
	for i := range sides {
		if at[i], err = evaluators[i](profiles[i]); err != nil {
			return err
		}
	}
	for j := range cells {
		if err := ctx.Err(); err != nil {
			return err
		}
		c := &cells[j]
		if profiles[0].Valid(c.R) && profiles[1].Valid(c.R) {
			var value [2]float64
			for i := range sides {
				e, err := profiles[i].Mixture(c.R)
				if err != nil {
					return err
				}
				value[i] = at[i](e)
			}
			c.set(value, [2]float64{}, false)
		}
		bar.add(1)
	}
	return nil
}

// set takes the errors of both codes. The increase is left out where B has no
// error to compare with.
func (c *cell) set(value, stderr [2]float64, sampled bool) {
	c.A, c.B = number(value[0]), number(value[1])
	ratio := value[0] / value[1]
	if value[1] > 0 {
		c.Increase = number(100 * (ratio - 1))
	}
	if sampled {
		a, b, increase := number(stderr[0]), number(stderr[1]), none
		if value[1] > 0 {
			// To first order, and as if the two codes' samples were
			// independent. They come from the same seed, so this is a guide
			// to the increase, unlike the standard errors of a and b.
			increase = number(100 * math.Hypot(stderr[0], ratio*stderr[1]) / value[1])
		}
		c.StdErrA, c.StdErrB, c.StdErr = &a, &b, &increase
	}
}

// evaluator prepares the mean error for the mixtures of one width. It belongs to
// one goroutine.
type evaluator func(p *errmodel.Profile) (cellError, error)

// cellError is the mean error of a code over the prior.
type cellError func(e *errmodel.Mixture) float64

func (cmd *heatmapCmd) evaluator(s side, prior []float64) (evaluator, error) {
	p, err := cmd.kind(context.Background(), s)
	if err != nil {
		return nil, err
	}
	if cmd.Method == "exact" {
		x, err := exactOf(p)
		if err != nil {
			return nil, fmt.Errorf("%w; --method mc samples instead", err)
		}
		return func(*errmodel.Profile) (cellError, error) {
			return func(e *errmodel.Mixture) float64 { return x.Mean(prior, e) }, nil
		}, nil
	}
	b, err := boundOf(p)
	if err != nil {
		return nil, fmt.Errorf("%w; --method mc samples instead", err)
	}
	if !b.Linear {
		return func(*errmodel.Profile) (cellError, error) {
			return func(e *errmodel.Mixture) float64 { return b.Mean(prior, e) }, nil
		}, nil
	}
	// A linear bound is computed once for all r.
	return func(p *errmodel.Profile) (cellError, error) {
		r := min(1, p.MaxR())
		unit, err := p.Mixture(r)
		if err != nil {
			return nil, err
		}
		perR := b.Mean(prior, unit) / r
		return func(e *errmodel.Mixture) float64 { return e.R() * perR }, nil
	}, nil
}

// print writes a summary for people.
func (m *heatmap) print(w io.Writer) {
	fmt.Fprintf(w, "A = %s (%s), B = %s (%s), %d levels, method %s%s", m.A, m.DecoderA, m.B, m.DecoderB, m.Levels, m.Method, m.model)
	if m.Seed != nil {
		fmt.Fprintf(w, ", seed %d", *m.Seed)
	}
	fmt.Fprintln(w)
	const rounding = 1e-9 // percent: less is no difference
	valid, positive := 0, 0
	var least, most *cell
	for i := range m.Cells {
		c := &m.Cells[i]
		if math.IsNaN(float64(c.Increase)) {
			continue
		}
		valid++
		if c.Increase > rounding {
			positive++
		}
		if least == nil || c.Increase < least.Increase {
			least = c
		}
		if most == nil || c.Increase > most.Increase {
			most = c
		}
	}
	fmt.Fprintf(w, "%d × %d cells, %d valid\n", len(m.R), len(m.Sigma), valid)
	if valid == 0 {
		fmt.Fprintln(w, "no valid cell: every r is too large for its σ")
		return
	}
	fmt.Fprintf(w, "increase of A's error over B's: %+.4g %% (r = %.4g, σ = %.4g) to %+.4g %% (r = %.4g, σ = %.4g)\n",
		float64(least.Increase), least.R, least.Sigma, float64(most.Increase), most.R, most.Sigma)
	if c := m.nearest(); c != nil {
		fmt.Fprintf(w, "at the fit, r = %.4g and σ = %.4g: %+.4g %%\n", float64(m.fit.R), float64(m.fit.Sigma), float64(c.Increase))
	}
	fmt.Fprintf(w, "B has the smaller error in %.1f %% of the valid cells\n", 100*float64(positive)/float64(valid))
}

// nearest is the valid cell that the fitted r and σ lie in, if there is one.
func (m *heatmap) nearest() *cell {
	if m.fit == nil {
		return nil
	}
	at := func(values []float64, v float64) int {
		for i := range values {
			// Half-way to the neighbours in proportion; a range of one value is that value.
			lo, hi := values[i], values[i]
			if i > 0 {
				lo = math.Sqrt(values[i-1] * values[i])
			}
			if i+1 < len(values) {
				hi = math.Sqrt(values[i] * values[i+1])
			}
			if v >= lo*(1-1e-9) && v <= hi*(1+1e-9) {
				return i
			}
		}
		return -1
	}
	i, j := at(m.R, float64(m.fit.R)), at(m.Sigma, float64(m.fit.Sigma))
	if i < 0 || j < 0 || math.IsNaN(float64(m.row(j)[i].Increase)) {
		return nil
	}
	return &m.row(j)[i]
}

// increases is the map as a matrix, a row for each σ; NaN where it is blank.
func (m *heatmap) increases() *mat.Dense {
	z := mat.NewDense(len(m.Sigma), len(m.R), nil)
	for i, c := range m.Cells {
		z.Set(i/len(m.R), i%len(m.R), float64(c.Increase))
	}
	return z
}

// write writes the map to a file.
func (m *heatmap) write(w io.Writer, path string, size plots.Size) error {
	switch format(path) {
	case "json":
		return writeJSON(w, m)
	case "npy":
		return arrayfile.WriteNPY(w, m.increases())
	case "csv":
		out := csv.NewWriter(w)
		header := []string{"r", "sigma", "a", "b", "increase_percent"}
		if m.Method == "mc" {
			header = append(header, "a_stderr", "b_stderr", "increase_stderr")
		}
		if err := out.Write(header); err != nil {
			return err
		}
		for _, c := range m.Cells {
			record := []string{number(c.R).String(), number(c.Sigma).String(), c.A.String(), c.B.String(), c.Increase.String()}
			if m.Method == "mc" {
				for _, n := range []*number{c.StdErrA, c.StdErrB, c.StdErr} {
					if n == nil {
						n = &none
					}
					record = append(record, n.String())
				}
			}
			if err := out.Write(record); err != nil {
				return err
			}
		}
		out.Flush()
		return out.Error()
	}
	z := m.increases()
	rows := make([][]float64, len(m.Sigma))
	for i := range rows {
		rows[i] = z.RawRowView(i)
	}
	var mark *plots.Mark
	if m.fit != nil {
		mark = m.fit.mark()
	}
	f, err := increaseMap(plots.HeatmapData{
		Title: fmt.Sprintf("A = %s, B = %s: %s, %d levels%s%s", m.A, m.B, methodText(m.Method), m.Levels, m.decoder, m.model),
		X:     m.R, Y: m.Sigma, XLog: m.rLog, YLog: m.sigmaLog, Z: rows, Mark: mark, Size: size,
	})
	if err != nil {
		return err
	}
	return writeFigure(w, f, path)
}

// increaseMap draws the increase of A's error over B's, in percent.
func increaseMap(d plots.HeatmapData) (*plots.Figure, error) {
	d.XLabel, d.YLabel, d.ZLabel = "r", "σ (levels)", "increase of error from B to A (%)"
	d.Positive, d.Negative, d.Blank = "B is better", "A is better", "invalid: e > 1"
	return plots.Heatmap(d)
}

// methodText is a method in the titles of maps.
func methodText(method string) string {
	switch method {
	case "exact":
		return "exact expected error"
	case "mc":
		return "sampled error"
	}
	return method
}
