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
	"belsim/montecarlo/compare"
	"belsim/theory/base/refuse"
	"belsim/theory/base/table"
	"belsim/theory/code"
	"belsim/theory/decode"
	"belsim/theory/expect"
	"belsim/theory/limit"
)

// maxSteps limits Options.Steps, far beyond any useful search.
const maxSteps uint64 = 1 << 50

// DefaultSteps is the length of a search.
const DefaultSteps = 35000

// Optimizer searches for codes under a scenario, and reports how good they are beside the named codes. It
// is not safe for concurrent use.
type Optimizer struct {
	// Options are the options of every search. NewOptimizer fills in what the scenario says.
	Options  Options
	Subject  string // the scenario in words
	scenario scenario.Scenario
	draw     montecarlo.Sampling
}

// NewOptimizer prepares searches for codes with a small expected error, read by gen, under a scenario whose
// model is a mixture. The options say the number of levels and everything that the scenario does not:
// NewOptimizer sets Prior, Cost, Column and Seed, and Steps where nothing says them. draw says how the
// codes are sampled that have no exact error, and has the seed.
func NewOptimizer(s *scenario.Scenario, draw montecarlo.Sampling, o Options) (*Optimizer, error) {
	if o.Levels < code.MinLevels || o.Levels > code.MaxLevels {
		return nil, &refuse.Value{Name: "levels", Value: o.Levels, Want: fmt.Sprintf("%d to %d", code.MinLevels,
			code.MaxLevels)}
	}
	if o.Steps > maxSteps {
		return nil, &refuse.Value{Name: "steps", Value: o.Steps, Want: fmt.Sprintf("1 to %d", maxSteps)}
	}
	m, ok := s.Model.(scenario.Mixture)
	if !ok {
		return nil, fmt.Errorf("a search is for bits that err independently, near their transitions; want a mixture, "+
			"not %s", s.Model)
	}
	p, err := &Optimizer{scenario: *s, draw: draw, Subject: s.String()}, error(nil)
	p.scenario.Outputs = decode.Bits
	if o.Prior, err = s.Weights(o.Levels); err != nil {
		return nil, err
	}
	if o.Column, err = errmodel.MixtureColumn(o.Levels, o.Circular, m.R, m.Sigma); err != nil {
		return nil, err
	}
	o.Seed, o.Cost, o.Steps = draw.Seed, s.CostOf(o.Levels, o.Circular), cmp.Or(o.Steps, DefaultSteps)
	p.Options = o
	return p, nil
}

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
	MaxTransitions int `json:"max_transitions"`
	code.Separation
	// the code that the search began from
	Start string `json:"start"`
	// number of changes that were tried
	Steps uint64 `json:"steps"`
	Seed  uint64 `json:"seed"`
	scenario.Parameters
	scenario.Measure
	// 100·(1 − error/the best baseline's), of exact values where they exist; null without a
	// baseline, and where an error is 0
	Improvement float64 `json:"improvement_percent"`
	// no code of as many bits and most transitions, and no decoder of bits, has less; null where
	// there is no such limit
	Limit float64 `json:"limit"`
	// a row for each code that was given, and each named one of no more bits, the smallest error first
	Baselines []Row `json:"baselines"`
	// the code words, a text of 0 and 1 for each level
	Words []string `json:"words"`
	table.Provenance

	Found   *code.Code `json:"-"`
	Stopped bool       `json:"-"` // the context ended: the code is the best until then

	Allowed int `json:"-"` // most transitions of a bit that the search allowed; 0 for any number
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
	found := code.Properties{TransitionsPerBit: o.Transitions, MaxTransitions: o.MaxTransitions, Separation: o.Separation}
	out := []string{fmt.Sprintf("found after %d steps, from %s: %s", o.Steps, o.Start, found.Text())}
	if o.R != nil && code.HardToLearn(o.Transitions) {
		learned := code.Learned{Name: o.Code, Transitions: o.Transitions}
		out = append(out, code.LearnedBadly(learned)+". --max-transitions limits them.")
	}
	if o.Limit > 1e-6 {
		out = append(out, fmt.Sprintf("found %s; %s", table.Short(o.best()), limit.Text(o.Bits, o.Allowed, o.Limit)))
	}
	switch best := o.Improvement; {
	case best == 0:
		out = append(out, fmt.Sprintf("it is as good as %s, and nothing better was found", o.Baselines[0].Code))
	case best < 0:
		out = append(out, fmt.Sprintf("its error is %.2f %% above that of %s, from which this search could not begin", -best,
			o.Baselines[0].Code))
	case best > 0:
		out = append(out, fmt.Sprintf("it improves on %s by %.2f %%", o.Baselines[0].Code, best))
	}
	return out
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

// Find searches for a code, and compares it with the caller's codes and the named ones of no more bits, by
// seeds that the search has not used. progress is told how many changes were tried since the last call,
// and the smallest error. When the context ends, Find returns the best code until then and no error;
// Stopped is set, and the error of the code is the search's own estimate. Where there is no code yet, it
// returns the context's error. Another error says that no code can satisfy the options.
func (p *Optimizer) Find(ctx context.Context, progress func(steps uint64, best float64)) (*Optimized, error) {
	o := p.Options
	var err error
	if o.Limit, err = p.scenario.Limit(ctx, o.Levels, o.Bits, max(o.MaxTransitions, 0), o.Circular, false); err != nil {
		return nil, err
	}
	steps := uint64(0)
	o.Progress = func(n uint64, best float64) {
		steps += n
		progress(n, best)
	}
	best, searched := search(ctx, o)
	if best == nil {
		return nil, searched
	}
	none := math.NaN()
	estimate, rows := Estimate{Mean: best.Mean, StdErr: none, Exact: none}, []Row{}
	if ranked, of, all, err := p.compare(ctx, best); err == nil {
		best, estimate, rows = ranked, of, all
	} else if ctx.Err() == nil {
		return nil, err
	}
	out, err := p.describe(context.WithoutCancel(ctx), best)
	if err != nil {
		return nil, err
	}
	if o.MaxTransitions > 0 && o.MaxTransitions < o.Levels {
		out.Allowed = o.MaxTransitions
	}
	out.Limit = o.Limit
	out.Estimate, out.Baselines, out.Steps, out.Stopped = estimate, rows, steps, ctx.Err() != nil
	if len(rows) > 0 && estimate.best() > 0 && rows[0].best() > 0 {
		out.Improvement = -montecarlo.Percent(estimate.best(), rows[0].best()) + 0 // no −0
	}
	return out, nil
}

// compare ranks the code that a search has found beside the others, the smallest error first and those
// for which the model is invalid last. It returns the code and the estimate of its error, or a code to
// begin from where that is better: the search knows errors by its own samples only, by which two codes that
// are nearly as good may change places.
func (p *Optimizer) compare(ctx context.Context, best *candidate) (*candidate, Estimate, []Row, error) {
	var least Estimate
	codes, err := p.Options.codes()
	if err != nil {
		return nil, least, nil, err
	}
	const found = "" // no other code has this name
	candidates, err := compare.NewCandidates(ctx, &p.scenario, append(codes, best.Code.As(found)),
		[]string{decode.Gen{}.Name()}, p.draw)
	if err != nil {
		return nil, least, nil, err
	}
	candidates.Skip = expect.Skip{Bounds: true, AnyLaw: true, Limit: true}
	run := montecarlo.Run{Backend: montecarlo.CPU{Workers: p.Options.Workers}, Workers: p.Options.Workers}
	ranking, err := compare.Rank(ctx, &p.scenario, run, candidates, p.draw)
	if err != nil {
		return nil, least, nil, err
	}
	rows := []Row{}
	for _, r := range ranking.Results {
		e := Estimate{r.Mean, r.StdErr, r.Exact, r.Samples}
		if r.Code == found {
			least = e
		} else {
			rows = append(rows, Row{r.Design, e})
		}
	}
	slices.SortStableFunc(rows, func(a, b Row) int {
		if table.Missing(a.best()) || table.Missing(b.best()) { // cmp.Compare puts them first
			return cmp.Compare(b.best(), a.best())
		}
		return cmp.Compare(a.best(), b.best())
	})
	for _, r := range rows {
		c := codes[slices.IndexFunc(codes, func(c *code.Code) bool { return c.Name() == r.Code })]
		if k, ok := p.Options.known(c); ok && r.best() < least.best() {
			if k.Code, err = k.words.code(c.Name()); err != nil {
				return nil, least, nil, err
			}
			best, least = &k, r.Estimate
		}
	}
	return best, least, rows, nil
}

// describe is what is known of a code without samples, and of the search.
func (p *Optimizer) describe(ctx context.Context, best *candidate) (*Optimized, error) {
	found := best.Code.As("found")
	properties, err := found.Properties(ctx, p.Options.Workers)
	if err != nil {
		return nil, err
	}
	words, err := found.Words(ctx)
	if err != nil {
		return nil, err
	}
	return &Optimized{
		Design: p.scenario.Design(found, decode.Gen{}), MaxTransitions: properties.MaxTransitions, Separation: properties.Separation,
		Start: best.Start, Seed: p.draw.Seed, Parameters: p.scenario.Model.Parameters(), Measure: p.scenario.Measure(),
		Improvement: math.NaN(), Words: words, Found: found,
	}, nil
}

// best is the best figure for the error: the exact one where it exists.
func (e Estimate) best() float64 {
	if !table.Missing(e.Exact) {
		return e.Exact
	}
	return e.Mean
}
