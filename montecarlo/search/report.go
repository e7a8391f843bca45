package search

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"

	"belsim/errmodel"
	"belsim/errmodel/scenario"
	"belsim/montecarlo"
	"belsim/theory/base/table"
	"belsim/theory/code"
	"belsim/theory/expect"
)

// Estimate is what the answers of a code cost over the prior: by default |error|, in levels.
type Estimate struct {
	Mean   float64 `json:"error"`
	StdErr float64 `json:"stderr"`
	Exact  float64 `json:"exact"`

	samples uint64 // of all levels
}

// Row is a code beside others: one that was found, or a named one.
type Row struct {
	scenario.Design
	Estimate
}

// Optimized is the best code of a search: what optimize writes as JSON.
type Optimized struct {
	// file that the code was written to; null where there is none
	CodeFile *string `json:"code_file"`
	scenario.Design
	Estimate
	MaxTransitions int  `json:"max_transitions"`
	MinDistance    *int `json:"min_distance"`
	// the code that the search began from
	Start string `json:"start"`
	// number of changes that were tried
	Steps uint64 `json:"steps"`
	Seed  uint64 `json:"seed"`
	scenario.Parameters
	scenario.Measure
	// 100·(1 − error/the best baseline's), of exact values where they exist; null without a
	// baseline
	Improvement float64 `json:"improvement_percent"`
	// 95 % interval of improvement_percent
	ImprovementCI [2]float64 `json:"improvement_interval"`
	// a row for each code that was given, and each named one of no more bits, the smallest error first
	Baselines []Row `json:"baselines"`
	// the code words, a text of 0 and 1 for each level
	Words []string `json:"words"`
	table.Provenance

	Found   *code.Code `json:"-"`
	Stopped bool       `json:"-"` // the context ended: the code is the best until then
}

// Interrupted returns an error where Stopped is set, which says how far the search was; else
// nil.
func (o *Optimized) Interrupted() error {
	if !o.Stopped {
		return nil
	}
	return fmt.Errorf("the search ended after %d steps; the best code so far was written", o.Steps)
}

// Remarks are sentences about the code, for people.
func (o *Optimized) Remarks() []string {
	found := code.Properties{TransitionsPerBit: o.Transitions, MaxTransitions: o.MaxTransitions, MinDistance: o.MinDistance}
	out := []string{fmt.Sprintf("found after %d steps, from %s: %s", o.Steps, o.Start, found.Text())}
	if o.R != nil && code.HardToLearn(o.Transitions) {
		learned := code.Learned{Name: o.Code, Transitions: o.Transitions}
		out = append(out, code.LearnedBadly(learned)+". --max-transitions limits them.")
	}
	if !table.Missing(o.Improvement) {
		out = append(out, o.improvementText())
	}
	return out
}

// improvementText compares the code with the best named one.
func (o *Optimized) improvementText() string {
	best, interval := o.Baselines[0], "exact"
	switch {
	case o.Improvement == 0:
		return fmt.Sprintf("it is as good as %s, and nothing better was found", best.Code)
	case o.Improvement < 0:
		return fmt.Sprintf("its error is %.2f %% above that of %s, a code of %d bits from which this search could not begin",
			-o.Improvement, best.Code, best.Bits)
	case o.ImprovementCI[0] != o.ImprovementCI[1]:
		interval = fmt.Sprintf("95 %% interval: %.2f to %.2f %%", o.ImprovementCI[0], o.ImprovementCI[1])
	}
	return fmt.Sprintf("it improves on %s by %.2f %% (%s)", best.Code, o.Improvement, interval)
}

// Table compares the code with the named ones, for people.
func (o *Optimized) Table() *table.Table {
	t := &table.Table{Head: []string{"code", "bits", "exact", "sampled", "± s.e."}}
	for _, b := range append([]Row{{o.Design, o.Estimate}}, o.Baselines...) {
		sampled := table.Sampled(b.Mean, b.StdErr, b.samples)
		if table.Missing(b.Mean) {
			sampled = "invalid: e > 1"
		}
		t.Rows = append(t.Rows, []string{b.Code, strconv.Itoa(b.Bits), table.Short(b.Exact), sampled,
			table.Short(b.StdErr)})
	}
	return t
}

// Find searches for a code, samples it on a backend, and compares it with the named codes of no more
// bits. progress is told how many changes were tried since the last call, and the smallest error. When
// the context ends, it returns the best code until then and no error; Stopped is set, and the error of
// the code is the search's own estimate. Where there is no code yet, it returns the context's error.
// Another error says that no code can satisfy the options.
func (p *Optimizer) Find(ctx context.Context, b montecarlo.Backend, progress func(steps uint64, best float64)) (
	*Optimized, error) {
	o := p.Options
	steps := uint64(0)
	o.Progress = func(n uint64, best float64) {
		steps += n
		progress(n, best)
	}
	best, searched := search(ctx, o)
	if best == nil {
		return nil, searched
	}
	found, err := p.report(ctx, b, best)
	if ctx.Err() != nil { // in the search or after it: the code is kept
		found, err = p.describe(context.WithoutCancel(ctx), best)
	}
	if err != nil {
		return nil, err
	}
	found.Steps, found.Stopped = steps, ctx.Err() != nil
	return found, nil
}

// report estimates the errors of the code that a search has found, and of the named codes, from a
// seed that the search has not used.
func (p *Optimizer) report(ctx context.Context, b montecarlo.Backend, best *candidate) (*Optimized, error) {
	baselines, err := p.baselines(ctx, b)
	if err != nil {
		return nil, err
	}
	best, estimate, err := p.smallest(ctx, b, best, baselines)
	if err != nil {
		return nil, err
	}
	out, err := p.describe(ctx, best)
	if err != nil {
		return nil, err
	}
	if out.Estimate, out.Baselines = estimate, baselines; len(out.Baselines) > 0 {
		out.Improvement, out.ImprovementCI = out.Estimate.improvement(out.Baselines[0].Estimate)
	}
	return out, nil
}

// smallest returns the code that a search has found and the estimate of its error, or of a known
// code where that is smaller: the search knows errors by its own samples only, by which two codes
// that are nearly as good may change places. The known codes that are named were estimated before.
func (p *Optimizer) smallest(ctx context.Context, b montecarlo.Backend, best *candidate, baselines []Row) (
	*candidate, Estimate, error) {
	least, err := p.estimate(ctx, b, best.Code)
	if err != nil {
		return nil, least, err
	}
	known, err := p.Options.known()
	if err != nil {
		return nil, least, err
	}
	for _, c := range known {
		if c.Code, err = c.words.code(best.Code.Name()); err != nil {
			return nil, least, err
		}
		at := slices.IndexFunc(baselines, func(r Row) bool { return r.Code == c.Start })
		var of Estimate
		if at >= 0 { // which may have fewer bits: one that never changes has no effect
			of = baselines[at].Estimate
		} else if of, err = p.estimate(ctx, b, c.Code); err != nil && !errmodel.Invalid(err) {
			return nil, least, err
		}
		if of.best() < least.best() {
			best, least = &c, of
		}
	}
	return best, least, nil
}

// describe is a report of what is known without samples: the error is the search's own estimate,
// and the code is compared with no other.
func (p *Optimizer) describe(ctx context.Context, found *candidate) (*Optimized, error) {
	decoder, err := p.scenario.Decoder(p.decoder, found.Code)
	if err != nil {
		return nil, err
	}
	properties, err := found.Code.Properties(ctx, p.Options.Workers)
	if err != nil {
		return nil, err
	}
	words, err := found.Code.Words(ctx)
	if err != nil {
		return nil, err
	}
	none := math.NaN()
	out := &Optimized{
		Design:         p.scenario.Design(found.Code.As("found"), decoder),
		Estimate:       Estimate{Mean: found.Mean, StdErr: none, Exact: none},
		MaxTransitions: properties.MaxTransitions, MinDistance: properties.MinDistance,
		Start: found.Start, Seed: p.draw.Seed, Parameters: p.scenario.Model.Parameters(),
		Measure:     p.scenario.Measure(),
		Improvement: none, ImprovementCI: [2]float64{none, none}, Baselines: []Row{}, Words: words, Found: found.Code,
	}
	return out, nil
}

// estimate is the error of a code over the prior, from the seed that no search has used.
func (p *Optimizer) estimate(ctx context.Context, b montecarlo.Backend, c *code.Code) (Estimate, error) {
	out := Estimate{Mean: math.NaN(), StdErr: math.NaN(), Exact: math.NaN()}
	problem, err := p.problem(ctx, c, p.draw.Seed)
	if err != nil {
		return out, err
	}
	theory, err := expect.Of(ctx, p.Options.Workers, problem.Expected(), p.Options.Prior,
		expect.Skip{Bounds: true, AnyLaw: true})
	if err != nil {
		return out, err
	}
	out.Exact = theory.Mean.Exact
	sums, _, err := montecarlo.Estimate(ctx, b, problem, p.draw.CheckingExact(out.Exact), p.Options.Prior, nil)
	if err != nil {
		return out, err
	}
	m := montecarlo.Average(p.Options.Prior, sums)
	out.Mean, out.StdErr, out.samples = m.Mean, m.StdErr, m.Samples
	return out, nil
}

// baselines estimates the caller's codes and the named ones of no more bits, the smallest error first
// and those for which the model is invalid last. Where the model wants one number of bits,
// the named codes have that number.
func (p *Optimizer) baselines(ctx context.Context, b montecarlo.Backend) ([]Row, error) {
	out := []Row{}
	codes, err := p.Options.codes()
	if err != nil {
		return nil, err
	}
	for _, c := range codes {
		if c.Bits() < p.bits {
			continue
		}
		row, err := p.named(ctx, b, c)
		if err != nil {
			return nil, err
		}
		out = append(out, row)
	}
	slices.SortStableFunc(out, func(a, b Row) int {
		if table.Missing(a.Mean) || table.Missing(b.Mean) { // cmp.Compare puts them first
			return cmp.Compare(b.Mean, a.Mean)
		}
		return cmp.Compare(a.best(), b.best())
	})
	return out, nil
}

// named is the row of a named code.
func (p *Optimizer) named(ctx context.Context, b montecarlo.Backend, c *code.Code) (Row, error) {
	d, err := p.scenario.Decoder(p.decoder, c)
	if err != nil {
		return Row{}, err
	}
	row := Row{Design: p.scenario.Design(c, d)}
	if row.Estimate, err = p.estimate(ctx, b, c); errmodel.Invalid(err) {
		err = nil
	}
	return row, err
}

// best is the best figure for the error: the exact one where it exists.
func (e Estimate) best() float64 {
	if !table.Missing(e.Exact) {
		return e.Exact
	}
	return e.Mean
}

// stderr is the standard error of best.
func (e Estimate) stderr() float64 {
	if !table.Missing(e.Exact) {
		return 0
	}
	return e.StdErr
}

// improvement returns 100·(1 − a/b), in percent, and its 95 % interval, of exact values where they
// exist. The interval is 1.96 standard errors to both sides, by the delta method, as if the samples
// of the two codes were independent. Both results are missing where the error of b is 0, and where
// no sample of a was wrong, because then only an upper limit of its error is known.
func (e Estimate) improvement(b Estimate) (percent float64, interval [2]float64) {
	none, of := math.NaN(), b.best()
	if !(of > 0) || e.best() == 0 && table.Missing(e.Exact) {
		return none, [2]float64{none, none}
	}
	ratio := e.best() / of
	half := errmodel.Errors95 * math.Hypot(e.stderr()/of, ratio*b.stderr()/of)
	percent = -montecarlo.Percent(e.best(), of) + 0 // no −0
	return percent, [2]float64{percent - 100*half, percent + 100*half}
}
