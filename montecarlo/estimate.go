package montecarlo

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"belsim/theory/base/matrix"
)

// Target says how much to sample.
type Target struct {
	// Samples is the number of samples of each label. It is not used when
	// RelErr is set.
	Samples uint64
	// RelErr, when positive, samples so many whole blocks that every reported
	// standard error is at most RelErr times its mean, or Max is reached. A pilot says how many:
	// the samples of the pilot are not among the results, so that the number of
	// samples does not depend on what they show, and means have no bias.
	RelErr float64
	// Fixed leaves the number of samples as the pilot says, even where a standard error turns out
	// to be a little larger: up to a tenth counts as reached. Otherwise more blocks follow then,
	// which is rare.
	Fixed bool
	// Max is the largest number of samples of a label with RelErr, the pilot's included; it is
	// never more than Problem.MaxSamples.
	Max uint64
	// EachLabel makes RelErr hold for every label, and not only for the mean
	// over the prior.
	EachLabel bool
	// Prior is the weight of each label, of length L. Labels of weight zero are not sampled
	// unless EachLabel is set.
	Prior []float64
}

// validateSize checks a prior, and a number of samples of each label.
func (p *Problem) validateSize(prior []float64, samples uint64) error {
	if len(prior) != p.Code.Levels() {
		return fmt.Errorf("prior of %d labels for a code of %d levels", len(prior), p.Code.Levels())
	}
	if limit := p.MaxSamples(); samples > limit {
		return fmt.Errorf("%d samples of a label: at most %d keep the sums of squares of %s within 64 bits", samples, limit, p.Code.Name())
	}
	return nil
}

// Estimate samples a problem with a backend until the target is reached. It returns the sums
// of each label and whether RelErr was reached within Max. The samples of a round depend only
// on the sums of earlier rounds, so the result depends only on the problem and the target.
// done is passed to the backend, and hears of the samples of the pilot, too.
//
// When the context ends, the error is the context's, and the sums hold the samples finished
// until then.
func Estimate(ctx context.Context, b Backend, p *Problem, t Target, done func(samples uint64)) (sums []Sums, reached bool, err error) {
	if err := p.Validate(); err != nil {
		return nil, false, err
	}
	levels := p.Code.Levels()
	if t.RelErr > 0 {
		t.Max, t.Samples = min(t.Max, p.MaxSamples()/BlockSize*BlockSize), 0
	}
	if err := p.validateSize(t.Prior, t.Samples); err != nil {
		return nil, false, err
	}
	e := estimation{Target: t, backend: b, problem: p, done: done, sums: make([]Sums, levels)}
	if t.RelErr > 0 {
		return e.relative(ctx)
	}
	wanted := make([]uint64, levels)
	for row := range wanted {
		if e.wants(row) {
			wanted[row] = t.Samples
		}
	}
	err = e.sample(ctx, wanted)
	return e.sums, err == nil, err
}

// estimation is the work of Estimate.
type estimation struct {
	Target
	backend Backend
	problem *Problem
	done    func(samples uint64)
	sums    []Sums
	skip    []uint64 // samples of the pilot, by row
}

// wants reports whether a label is sampled.
func (e *estimation) wants(row int) bool { return e.EachLabel || e.Prior[row] > 0 }

// sample samples until every row has the number of samples that is wanted.
func (e *estimation) sample(ctx context.Context, wanted []uint64) error {
	var spans []Span
	for row, n := range wanted {
		if have := e.sums[row].Samples; n > have {
			first := have
			if e.skip != nil {
				first += e.skip[row]
			}
			spans = append(spans, Span{row, uint32(first / BlockSize), n - have})
		}
	}
	if len(spans) == 0 {
		return nil
	}
	return e.backend.Sample(ctx, []Job{{e.problem, spans, e.sums}}, e.done)
}

// The pilot ends when relative standard errors are at most pilotError times as large as asked for,
// yet at most mostPilotError. Then its size is about 1/pilotError² of the whole, and what it says
// about the whole is known to about the same error.
const (
	pilotError     = 4
	mostPilotError = 0.25
)

// relative samples to a relative standard error.
func (e *estimation) relative(ctx context.Context) (sums []Sums, reached bool, err error) {
	levels := len(e.Prior)
	whole := e.Target
	wanted := make([]uint64, levels)
	start := func(n uint64) {
		for row := range wanted {
			wanted[row] = 0
			if e.wants(row) {
				wanted[row] = n
			}
		}
	}
	if e.Max >= 2*BlockSize {
		pilot := whole
		pilot.RelErr = max(whole.RelErr, min(pilotError*whole.RelErr, mostPilotError))
		pilot.Max = max(whole.Max/4, BlockSize)
		start(BlockSize)
		for again := true; again; {
			if err := e.sample(ctx, wanted); err != nil {
				return e.sums, false, err
			}
			again = pilot.next(wanted, e.sums, e.problem.Errors)
		}
		e.skip = make([]uint64, levels)
		for row, s := range e.sums {
			e.skip[row] = s.Samples
		}
		// A standard error over its mean is known to about the relative error of the pilot, so
		// that its square is to about twice as much.
		margin := 1 + 3*pilot.RelErr
		start(BlockSize)
		whole.plan(wanted, e.sums, e.problem.Errors, margin)
		for row := range wanted {
			wanted[row] = min(wanted[row], (whole.Max-e.skip[row])/BlockSize*BlockSize)
		}
		e.sums = make([]Sums, levels)
	} else {
		start(min(BlockSize, e.Max))
	}
	for again := true; again; {
		if err := e.sample(ctx, wanted); err != nil {
			return e.sums, false, err
		}
		again = false
		if !whole.Fixed {
			rest := whole
			if e.skip != nil {
				rest.Max -= slices.Max(e.skip)
			}
			again = rest.next(wanted, e.sums, e.problem.Errors)
		}
	}
	return e.sums, e.reached(), nil
}

// reached reports whether all standard errors are small enough.
func (e *estimation) reached() bool {
	limit, all := e.RelErr, true
	if e.Fixed {
		limit *= 1.1
	}
	e.counted(e.sums, e.problem.Errors, func(_ []int, m counted) { all = all && m.reaches(limit) })
	return all
}

// EstimateEach samples every label of weight above zero in each of several
// problems n times, in one call of the backend, and returns the sums of each
// problem's labels.
func EstimateEach(ctx context.Context, b Backend, problems []*Problem, n uint64, prior []float64, done func(samples uint64)) ([][]Sums, error) {
	jobs := make([]Job, len(problems))
	out := make([][]Sums, len(problems))
	for i, p := range problems {
		if err := p.Validate(); err != nil {
			return nil, err
		}
		if err := p.validateSize(prior, n); err != nil {
			return nil, err
		}
		out[i] = make([]Sums, len(prior))
		jobs[i] = Job{Problem: p, Sums: out[i]}
		for row, weight := range prior {
			if weight > 0 {
				jobs[i].Spans = append(jobs[i].Spans, Span{row, 0, n})
			}
		}
	}
	return out, b.Sample(ctx, jobs, done)
}

// counted is a mean whose standard error counts. Where no sample erred, the standard error is zero,
// which means nothing unless no bit can err: then the mean is certain.
type counted struct {
	mean, stderr float64
	certain      bool
}

func (m counted) reaches(relErr float64) bool {
	if m.mean == 0 {
		return m.certain
	}
	return m.stderr <= relErr*m.mean
}

// counted calls f for every such mean, with the rows it is over.
func (t Target) counted(sums []Sums, errors mat.Matrix, f func(rows []int, m counted)) {
	var rows []int
	for row, s := range sums {
		if t.Prior[row] > 0 {
			rows = append(rows, row)
		}
		if mean := s.Mean(); t.EachLabel {
			f([]int{row}, counted{mean, s.StdErr(), mean == 0 && certain(errors, row)})
		}
	}
	o := Average(t.Prior, sums)
	f(rows, counted{o.Mean, o.StdErr, o.Mean == 0 && certain(errors, rows...)})
}

// certain reports whether no output of some rows is random.
func certain(errors mat.Matrix, rows ...int) bool {
	var e []float64
	for _, row := range rows {
		e = matrix.Row(e, row, errors)
		if !matrix.Certain(e) {
			return false
		}
	}
	return true
}

// A round asks for a few more samples than an estimate says, since it is one, and for at most some
// times as many as there are, since a first estimate can be far off.
const (
	roundMargin = 1.05
	roundGrowth = 4
)

// next raises wanted for the labels that need more samples, and reports whether there are any. It
// asks for whole blocks, so that none is sampled twice.
func (t Target) next(wanted []uint64, sums []Sums, errors mat.Matrix) (more bool) {
	t.counted(sums, errors, func(rows []int, m counted) {
		if m.reaches(t.RelErr) {
			return
		}
		factor := float64(roundGrowth)
		if m.mean > 0 && m.stderr > 0 {
			ratio := m.stderr / (t.RelErr * m.mean)
			factor = min(factor, roundMargin*ratio*ratio)
		}
		for _, row := range rows {
			n := sums[row].Samples
			blocks := uint64(math.Ceil(min(factor*float64(n), float64(t.Max)) / BlockSize))
			if n = max(n, min(blocks*BlockSize, t.Max/BlockSize*BlockSize)); n > wanted[row] {
				wanted[row], more = n, true
			}
		}
	})
	return more
}

// plan sets wanted to the numbers of samples that a pilot asks for, at least what they are.
func (t Target) plan(wanted []uint64, pilot []Sums, errors mat.Matrix, margin float64) {
	t.counted(pilot, errors, func(rows []int, m counted) {
		if m.certain {
			return
		}
		for _, row := range rows {
			samples := float64(t.Max)
			if m.mean > 0 {
				ratio := m.stderr / (t.RelErr * m.mean)
				samples = min(samples, margin*ratio*ratio*float64(pilot[row].Samples))
			}
			wanted[row] = max(wanted[row], min(uint64(math.Ceil(samples/BlockSize))*BlockSize, t.Max))
		}
	})
}

// Overall has the estimates over all labels, weighted with a prior. Without samples they are NaN.
type Overall struct {
	Mean       float64 // mean |error|, in levels
	StdErr     float64 // its standard error
	RMS        float64 // root of the mean squared error, in levels; NaN where it is less than 0.016 and rounding decides it
	Within     float64 // share of samples with |error| ≤ θ
	WorstLevel int     // level, from 1, with the largest mean
	WorstMean  float64
	Samples    uint64 // in all
}

// Average returns the estimates over all labels, Σ prior·mean among them. Labels are sampled
// independently.
func Average(prior []float64, sums []Sums) Overall {
	var o Overall
	var variance, square float64
	var all Sums
	for row, s := range sums {
		o.Samples += s.Samples
		all.Fraction = max(all.Fraction, s.Fraction)
		p := prior[row]
		if p == 0 || s.Samples == 0 {
			continue
		}
		mean := s.Mean()
		o.Mean += p * mean
		square += p * s.MeanSquare()
		o.Within += p * float64(s.Within) / float64(s.Samples)
		variance += p * p * s.Variance() / float64(s.Samples)
		if o.WorstLevel == 0 || mean > o.WorstMean {
			o.WorstLevel, o.WorstMean = row+1, mean
		}
	}
	o.RMS = math.Sqrt(square)
	o.StdErr = math.Sqrt(variance)
	switch none := math.NaN(); {
	case o.WorstLevel == 0:
		o.Mean, o.StdErr, o.RMS, o.Within, o.WorstMean = none, none, none, none, none
	case all.rounded(square):
		o.RMS = none
	}
	const rounding = 1e-9 // of a sum of 65,536 shares it is far less
	if o.Within > 1 && o.Within < 1+rounding {
		o.Within = 1
	}
	return o
}
