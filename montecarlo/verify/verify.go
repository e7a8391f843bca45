// Package verify compares samples of a code with theory, level by level.
package verify

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/mat"

	"belsim/errmodel/scenario"
	"belsim/montecarlo"
	"belsim/theory"
	"belsim/theory/base/table"
	"belsim/theory/decode"
	"belsim/theory/expect"
)

// falseAlarms is the probability that Check finds a failure although theory is right.
const falseAlarms = 1e-6

// Report compares samples of a code with theory, level by level: what verify writes as
// JSON.
type Report struct {
	// no sampled mean contradicts theory; null where there is nothing to check
	Pass *bool `json:"pass"`
	// a sentence for each contradiction
	Failures []string `json:"failures"`
	scenario.Design
	scenario.Description
	Seed uint64 `json:"seed"`
	// probability of a failure although theory is right
	Alpha float64 `json:"false_alarm_rate"`
	// probability of a failure where theory is too small by detectable
	Power float64 `json:"power"`
	// the mean over the prior
	Overall Level `json:"overall"`
	// a row for each level
	Labels []Level `json:"labels"`
	// the confusion matrix is exact or sampled, its answers at the nearest level; missing where
	// none was asked for
	Confusion string `json:"confusion,omitempty"`
	table.Provenance

	Matrix *mat.Dense `json:"-"` // P(answer m | label n), L × L; nil where it was not asked for
	Bound  string     `json:"-"` // name of the bound; "" where there is none
	Later  bool       `json:"-"` // any law takes long, and was left out
}

// Level is the cost of the answers to one level, or to all: by default |error|, in levels.
type Level struct {
	Level int     `json:"level,omitempty" text:"level"`
	Bound float64 `json:"bound" text:"bound"`
	Exact float64 `json:"exact" text:"exact"`
	// smallest and largest mean cost over all joint laws of the bits; missing where there are none,
	// or where they take long; in CSV any_law_lo and any_law_hi
	AnyLaw  *[2]float64 `json:"any_law,omitempty" text:"any law"`
	Mean    float64     `json:"mean" text:"sampled"`
	StdErr  float64     `json:"stderr" text:"± s.e."`
	Samples uint64      `json:"samples" text:"samples"`
	// smallest deviation from the exact value, or else the bound, that fails with the probability
	// power; null where nothing is checked
	Detectable float64 `json:"detectable"`

	// sum of |error| over the samples, in units of 1/65536 levels where answers or labels are not
	// levels
	SumAbs uint64 `json:"-" csv:"sum_abs"`
	// sum of the squares of the errors, in the units of sum_abs
	SumSquare uint64 `json:"-" csv:"sum_square"`
}

// Check samples a problem and checks every mean against theory, which expect.Of computes:
// none may exceed its bound, differ from its exact value, or lie outside of what any law can reach by
// more than chance allows (montecarlo.Verify).
func Check(ctx context.Context, s *scenario.Scenario, run montecarlo.Run, p *montecarlo.Problem, th *expect.Theory,
	weights []float64, draw montecarlo.Sampling) (*Report, error) {
	var matrix *mat.Dense
	if draw.Answers {
		var err error
		if matrix, err = expect.Confusion(ctx, run.Workers, p.Expected()); err != nil && !errors.Is(err, theory.ErrNoClosedForm) {
			return nil, err
		}
		of := *p
		of.Answers = matrix == nil // samples are needed where there is no law
		p = &of
	}
	sums, _, err := montecarlo.Estimate(ctx, run.Backend, p, draw, theory.Uniform(p.Code.Levels()), run.Done) // of all labels
	if err != nil {
		return nil, err
	}
	c, d := p.Code, p.Decoder
	lo, hi := decode.Range(c, d)
	worst, levels := 0., th.Levels
	for i := range levels {
		worst = max(worst, p.Cost.Largest(i+1, lo, hi))
	}
	worst += p.Cost.Scale(len(levels)) // of answers between levels
	failures := montecarlo.Verify(sums, levels, weights, worst, falseAlarms)
	detectable, overall := montecarlo.Detectable(sums, levels, weights, worst, falseAlarms)
	o := montecarlo.Average(weights, sums)
	v := &Report{
		Failures: []string{}, Design: s.Design(c, d),
		Description: s.Description(),
		Seed:        draw.Seed, Alpha: falseAlarms, Power: montecarlo.Power,
		Overall: Level{Bound: th.Mean.Bound, Exact: th.Mean.Exact, AnyLaw: th.Mean.AnyLaw, Mean: o.Mean,
			StdErr: o.StdErr, Samples: o.Samples, Detectable: overall},
	}
	switch v.Matrix = matrix; {
	case p.Answers:
		v.Confusion, v.Matrix = "sampled", confusion(p, sums)
	case matrix != nil:
		v.Confusion = "exact"
	}
	if slices.ContainsFunc(detectable, func(d float64) bool { return !math.IsNaN(d) }) {
		pass := len(failures) == 0
		v.Pass = &pass
	}
	v.Bound, v.Later = th.Bound, th.Mean.Later
	for _, f := range failures {
		v.Failures = append(v.Failures, f.String())
	}
	for i, sum := range sums {
		row := Level{
			Level: i + 1, Bound: th.Levels[i].Bound, Exact: th.Levels[i].Mean, AnyLaw: th.Levels[i].AnyLaw,
			Mean: sum.Mean(), StdErr: sum.StdErr(), Samples: sum.Samples, Detectable: detectable[i],
			SumAbs: sum.Abs, SumSquare: sum.Square,
		}
		v.Labels = append(v.Labels, row)
	}
	return v, nil
}

// confusion is the share of each answer to each label.
func confusion(p *montecarlo.Problem, sums []montecarlo.Sums) *mat.Dense {
	out := mat.NewDense(len(sums), len(sums), nil)
	for i, s := range sums {
		var a theory.Answers
		for j, n := range s.Answers {
			if n > 0 {
				a.Labels = append(a.Labels, p.Answer(j))
				a.Probabilities = append(a.Probabilities, float64(n)/float64(s.Samples))
			}
		}
		a.Place(out.RawRowView(i), p.Code)
	}
	return out
}

// Failed reports whether a check failed.
func (v *Report) Failed() bool { return v.Pass != nil && !*v.Pass }

// manyTimes is how many times what it deviates from a deviation is that tells nothing of it.
const manyTimes = 1000

// powerText says which deviations the test finds with the probability Power, at the worst level; "" where nothing was checked.
func (v *Report) powerText() string {
	what, of := "exact value", func(r Level) float64 { return r.Exact }
	if table.Missing(v.Overall.Exact) {
		what, of = "bound", func(r Level) float64 { return r.Bound }
	}
	// size is a deviation in levels, and in brackets as a part of what it deviates from.
	size := func(r Level) string {
		text := strings.TrimSpace(table.Short(r.Detectable) + " " + v.Unit)
		switch part := r.Detectable / of(r); {
		case part < 0.1:
			text += fmt.Sprintf(" (%.2g %%)", 100*part)
		case part < 10:
			text += fmt.Sprintf(" (%.0f %%)", 100*part)
		case part < manyTimes:
			text += fmt.Sprintf(" (%.0f times the %s)", part, what)
		case !math.IsNaN(part) && !math.IsInf(part, 0):
			text += fmt.Sprintf(" (the %s is %s: too small to be tested)", what, table.Short(of(r)))
		}
		return text
	}
	var most *Level
	for i := range v.Labels {
		r := &v.Labels[i]
		if !table.Missing(r.Detectable) && (most == nil || r.Detectable > most.Detectable) {
			most = r
		}
	}
	if most == nil {
		return ""
	}
	text := fmt.Sprintf("With a probability of %.0f %%, the test finds a mean", 100*v.Power)
	if !table.Missing(v.Overall.Detectable) {
		text += fmt.Sprintf(" over all levels that is %s above its %s, or a mean", size(v.Overall), what)
	}
	return text + fmt.Sprintf(" of any one level that is %s above its %s", size(*most), what)
}

// conclusion says in words that the verification passed, or that nothing was checked. It is empty
// where it failed.
func (v *Report) conclusion() string {
	switch {
	case v.Pass == nil:
		return "UNCHECKED there is neither a bound nor an exact value to check the samples against"
	case v.Failed():
		return ""
	}
	var agrees []string
	without := ""
	for _, of := range []struct {
		there        bool
		text, absent string
	}{
		{!table.Missing(v.Overall.Exact), "agrees with its exact value", "; there is no exact value"},
		{!table.Missing(v.Overall.Bound), "is within its bound", "; there is no bound"},
		{v.Overall.AnyLaw != nil, "is within any law", ""},
	} {
		if of.there {
			agrees = append(agrees, of.text)
		} else {
			without += of.absent
		}
	}
	text := agrees[len(agrees)-1]
	if first := agrees[:len(agrees)-1]; len(first) > 0 {
		text = strings.Join(first, ", ") + " and " + text
	}
	return fmt.Sprintf("PASS every sampled mean %s%s (Bernstein's inequality, false alarms below %g)", text, without,
		v.Alpha)
}
