package montecarlo

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"belsim/theory/base/matrix"
	"belsim/theory/base/memory"
)

// LeastSamples is the smallest number of samples of a label, and of its pilot, that Sampling.Work
// leaves.
const LeastSamples = 64

// Effort is about what a sample of a problem takes, in units of some 20 ns of a processor, from
// above. It is counted, not measured, so that what depends on it is the same on every machine.
func (p *Problem) Effort() (float64, error) {
	if p.sampled() != IndependentBits {
		return 1 + float64(p.Code.Bits())/8, nil
	}
	const most = 16 // levels that are looked at
	levels := p.Code.Levels()
	n, points := min(most, levels), 0.0
	for j := range n {
		bits, err := p.BitTables((2*j + 1) * levels / (2 * n))
		if err != nil {
			return 0, err
		}
		points += bits.Hazard
	}
	return 1 + points/float64(n), nil
}

// limit is the largest number of samples of each of so many labels.
func (s Sampling) limit(p *Problem, labels int) (uint64, error) {
	most := min(s.MaxSamples, p.MaxSamples())
	if s.Work == 0 {
		return most, nil
	}
	effort, err := p.Effort()
	return min(most, max(2*LeastSamples, uint64(s.Work/(effort*float64(labels))))), err
}

// Estimate samples a problem with a backend, whose labels have the weights of a prior. It returns the
// sums of each label and whether RelErr was reached. The seed is that of the problem. done is
// passed to the backend.
//
// With RelErr, every reported standard error is RelErr times its mean, or up to a tenth more, or
// MaxSamples is reached. A pilot, whose samples count in MaxSamples and for done, says how many
// samples that takes: its own are not among the results, so that the number of samples does not
// depend on what they show, and means have no bias.
//
// When the context ends, the error is the context's, and the sums hold the samples finished
// until then.
func Estimate(ctx context.Context, b Backend, p *Problem, s Sampling, prior []float64,
	done func(samples uint64)) (sums []Sums, reached bool, err error) {
	if err := p.Validate(); err != nil {
		return nil, false, err
	}
	levels := p.Code.Levels()
	if len(prior) != levels {
		return nil, false, fmt.Errorf("prior of %d labels for a code of %d levels", len(prior), levels)
	}
	if limit := p.MaxSamples(); s.RelErr == 0 && s.Samples > limit {
		return nil, false, fmt.Errorf("%d samples of a label: at most %d keep the sums of squares of %s within 64 bits",
			s.Samples, limit, p.Code.Name())
	}
	if p.counted() {
		const copies = 2 // of a row and of a worker's
		if err := memory.Check(fmt.Sprintf("counting the answers of %d levels", levels),
			memory.Product(levels, p.answers(), 8*copies)); err != nil {
			return nil, false, err
		}
	}
	e := estimation{Sampling: s, prior: prior, backend: b, problem: p, marginal: p, done: done}
	if p.Shared != nil {
		w, err := p.Shared.Seen(p.Code)
		if err != nil {
			return nil, false, err
		}
		of := *p
		if of.Errors, err = w.Marginals(p.Code, p.Errors); err != nil {
			return nil, false, err
		}
		e.marginal = &of
	}
	if s.RelErr > 0 {
		return e.relative(ctx)
	}
	sums = make([]Sums, levels)
	err = e.sample(ctx, s.Samples, sums)
	return sums, err == nil, err
}

// estimation is the work of Estimate. All labels with a weight have as many samples.
type estimation struct {
	Sampling
	prior   []float64
	backend Backend
	problem *Problem
	// marginal has the marginal error probabilities: those of unseen errors
	marginal *Problem
	done     func(samples uint64)
	block    uint32 // the blocks before it are used up
}

// sample adds so many samples of each label to sums, from blocks that no sample has come from.
func (e *estimation) sample(ctx context.Context, n uint64, sums []Sums) error {
	var spans []Span
	for row, p := range e.prior {
		if p > 0 {
			spans = append(spans, Span{row, e.block, n})
		}
	}
	e.block += uint32((n + BlockSize - 1) / BlockSize)
	err := e.draw(ctx, spans, sums)
	var errors []float64
	for _, s := range spans {
		sum := &sums[s.Row]
		sum.problem, sum.row = e.marginal, s.Row
		if !e.problem.Cost.Absolute() && sum.Samples > 0 {
			sum.Costs = e.problem.costs(s.Row, sum)
		}
		if sum.Variance() == 0 {
			errors = matrix.Row(errors, s.Row, e.marginal.Errors)
			sum.Certain = matrix.Certain(errors)
		}
	}
	return err
}

// The pilot ends when its relative standard error is at most pilotError times as large as asked for,
// yet at most mostPilotError. Then its size is about 1/pilotError² of the whole, and what it says
// about the whole is known to about the same error. It begins with firstPilot samples of a label.
const (
	pilotError     = 4
	mostPilotError = 0.1
	firstPilot     = 256
)

// A round of the pilot asks for a few more samples than an estimate says, since it is one, and for at
// most some times as many as there are, since a first estimate can be far off.
const (
	roundMargin = 1.05
	roundGrowth = 4
)

// relative samples to a relative standard error.
func (e *estimation) relative(ctx context.Context) (sums []Sums, reached bool, err error) {
	labels := 0
	for _, p := range e.prior {
		if p > 0 {
			labels++
		}
	}
	most, err := e.limit(e.problem, labels)
	if err != nil {
		return nil, false, err
	}
	// factor is how many times as many samples as there are a relative error takes: 0 for none.
	factor := func(sums []Sums, relErr float64) float64 {
		mean, spread, unseen := average(e.prior, sums)
		if spread = cmp.Or(spread, unseen); spread == 0 {
			return 0
		}
		ratio := spread / (relErr * mean)
		return ratio * ratio
	}
	relErr := max(e.RelErr, min(pilotError*e.RelErr, mostPilotError))
	pilot, have, mostOfPilot := make([]Sums, len(e.prior)), uint64(0), max(most/4, LeastSamples)
	for next := min(firstPilot, mostOfPilot); next > have; {
		if err := e.sample(ctx, next-have, pilot); err != nil {
			return pilot, false, err
		}
		have = next
		if times := factor(pilot, relErr); times > 1 {
			next = uint64(math.Ceil(min(min(roundGrowth, roundMargin*times)*float64(have), float64(mostOfPilot))))
		}
	}
	// A standard error over its mean is known to about the relative error of the pilot, so
	// that its square is to about twice as much.
	wanted := (1 + 3*relErr) * factor(pilot, e.RelErr) * float64(have)
	n := uint64(min(max(wanted, float64(have)), float64(max(most, have)-have)))
	sums = make([]Sums, len(e.prior))
	if err := e.sample(ctx, max(1, n/LeastSamples)*LeastSamples, sums); err != nil {
		return sums, false, err
	}
	const slack = 1.1
	return sums, factor(sums, e.RelErr) <= slack*slack, nil
}

// Overall has the estimates over all labels, weighted with a prior. Without samples they are NaN.
type Overall struct {
	Mean   float64 // mean cost
	StdErr float64 // its standard error
	// root of the mean squared error, in levels; NaN where it is less than 0.016 and rounding
	// decides it
	RMS        float64
	WorstLevel int // level, from 1, with the largest mean
	WorstMean  float64
	Samples    uint64 // in all
}

// Percent is by how many percent an error a is larger than b: 0 where they differ by rounding alone,
// as those of codes that are the same but for their order do.
func Percent(a, b float64) float64 {
	const rounding = 1e-12 // of sums over 65,536 levels; a sampled error is never as sure
	more := a/b - 1
	if math.Abs(more) <= rounding {
		return 0
	}
	return 100 * more // NaN where an error is missing
}

// Average returns the estimates over all labels, Σ prior·mean among them. Labels are sampled
// independently.
func Average(prior []float64, sums []Sums) Overall {
	var o Overall
	var square float64
	var all Sums
	for row, s := range sums {
		o.Samples += s.Samples
		all.Fraction = max(all.Fraction, s.Fraction)
		all.Costs = cmp.Or(all.Costs, s.Costs)
		p := prior[row]
		if p == 0 || s.Samples == 0 {
			continue
		}
		mean := s.Mean()
		square += p * s.MeanSquare()
		if o.WorstLevel == 0 || mean > o.WorstMean {
			o.WorstLevel, o.WorstMean = row+1, mean
		}
	}
	mean, spread, unseen := average(prior, sums)
	o.Mean, o.StdErr = mean, math.Hypot(spread, unseen)
	o.RMS = math.Sqrt(square)
	if all.Costs == nil {
		o.RMS = max(o.Mean, o.RMS) // the unit of squares may put it below
	}
	switch none := math.NaN(); {
	case o.WorstLevel == 0:
		o.Mean, o.StdErr, o.RMS, o.WorstMean = none, none, none, none
	case all.tooSmall(square):
		o.RMS = none
	}
	return o
}

// average is Σ prior·mean, its standard error by the differences of the samples, and that of two
// errors that no sample shows: of all labels together they are two, of the label where they count
// most. It is looked for among a few labels.
func average(prior []float64, sums []Sums) (mean, spread, unseen float64) {
	const few = 8
	var random []int // labels with samples that can differ
	most, variance := 0, 0.0
	for row, s := range sums {
		p := prior[row]
		if p == 0 || s.Samples == 0 {
			continue
		}
		mean += p * s.Mean()
		spread := p * s.spread()
		variance += spread * spread
		if !s.Certain {
			random = append(random, row)
			if p > prior[most] {
				most = row
			}
		}
	}
	if len(random) == 0 {
		return mean, math.Sqrt(variance), 0
	}
	rows := []int{most}
	for i := range few {
		rows = append(rows, random[i*(len(random)-1)/(few-1)])
	}
	slices.Sort(rows)
	for _, row := range slices.Compact(rows) {
		unseen = max(unseen, prior[row]*sums[row].unseen())
	}
	return mean, math.Sqrt(variance), unseen
}
