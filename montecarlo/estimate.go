package montecarlo

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"belsim/theory/matrix"
)

// Target says how much to sample.
type Target struct {
	// Samples is the number of samples of each label. It is not used when
	// RelErr is set.
	Samples uint64
	// RelErr, when positive, samples in whole blocks until every reported
	// standard error is at most RelErr times its mean, or Max is reached.
	RelErr float64
	// Max is the largest number of samples of a label with RelErr; it is never more
	// than Problem.MaxSamples.
	Max uint64
	// EachLabel makes RelErr hold for every label, and not only for the mean
	// over the prior.
	EachLabel bool
	// Prior is the weight of each label, of length L. Labels of weight zero are not sampled
	// unless EachLabel is set.
	Prior []float64
}

// Estimate samples a problem with a backend until the target is reached. It returns the sums
// of each label and whether RelErr was reached within Max. The samples of a round depend only
// on the sums of earlier rounds, so the result depends only on the problem and the target.
// done is passed to the backend.
//
// When the context ends, the error is the context's, and the sums hold the samples finished
// until then.
func Estimate(ctx context.Context, b Backend, p *Problem, t Target, done func(samples uint64)) (sums []Sums, reached bool, err error) {
	if err := p.Validate(); err != nil {
		return nil, false, err
	}
	levels := p.Code.Levels()
	if len(t.Prior) != levels {
		return nil, false, fmt.Errorf("prior of %d labels for a code of %d levels", len(t.Prior), levels)
	}
	limit := p.MaxSamples()
	if t.RelErr > 0 {
		t.Max = min(t.Max, limit/BlockSize*BlockSize)
	} else if t.Samples > limit {
		return nil, false, fmt.Errorf("%d samples of a label: at most %d keep the sums of squares of %s within 64 bits", t.Samples, limit, p.Code.Name())
	}
	sums = make([]Sums, levels)
	wanted := make([]uint64, levels)
	for row := range wanted {
		if t.EachLabel || t.Prior[row] > 0 {
			wanted[row] = t.Samples
			if t.RelErr > 0 {
				wanted[row] = min(BlockSize, t.Max)
			}
		}
	}
	for {
		var spans []Span
		for row, n := range wanted {
			if have := sums[row].Samples; n > have {
				spans = append(spans, Span{row, uint32(have / BlockSize), n - have})
			}
		}
		if len(spans) == 0 {
			break
		}
		if err := b.Sample(ctx, []Job{{p, spans, sums}}, done); err != nil {
			return sums, false, err
		}
		if t.RelErr > 0 {
			t.next(wanted, sums, p.Errors)
		}
	}
	if t.RelErr <= 0 {
		return sums, true, nil
	}
	if t.EachLabel {
		for row, s := range sums {
			if !reaches(s.Mean(), s.StdErr(), t.RelErr, func() bool { return surely(row, p.Errors) }) {
				return sums, false, nil
			}
		}
	}
	o := Average(t.Prior, sums)
	return sums, reaches(o.Mean, o.StdErr, t.RelErr, func() bool { return allSurely(t.Prior, p.Errors) }), nil
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
		if len(prior) != p.Code.Levels() {
			return nil, fmt.Errorf("prior of %d labels for a code of %d levels", len(prior), p.Code.Levels())
		}
		if limit := p.MaxSamples(); n > limit {
			return nil, fmt.Errorf("%d samples of a label: at most %d keep the sums of squares of %s within 64 bits", n, limit, p.Code.Name())
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

// next raises wanted for the labels that need more samples.
func (t Target) next(wanted []uint64, sums []Sums, errors mat.Matrix) {
	// A few more than the estimate asks for, since it is one; at most four
	// times as many as now, since a first estimate can be far off; whole
	// blocks, so that none is sampled twice.
	grow := func(n uint64, mean, stderr float64) uint64 {
		factor := 4.0
		if mean > 0 && stderr > 0 {
			ratio := stderr / (t.RelErr * mean)
			factor = min(4, 1.05*ratio*ratio)
		}
		blocks := uint64(math.Ceil(factor * float64(n) / BlockSize))
		return max(n, min(blocks*BlockSize, t.Max/BlockSize*BlockSize))
	}
	if t.EachLabel {
		for row, s := range sums {
			if !reaches(s.Mean(), s.StdErr(), t.RelErr, func() bool { return surely(row, errors) }) {
				wanted[row] = grow(s.Samples, s.Mean(), s.StdErr())
			}
		}
	}
	if o := Average(t.Prior, sums); !reaches(o.Mean, o.StdErr, t.RelErr, func() bool { return allSurely(t.Prior, errors) }) {
		for row, s := range sums {
			if t.Prior[row] > 0 {
				wanted[row] = max(wanted[row], grow(s.Samples, o.Mean, o.StdErr))
			}
		}
	}
}

// reaches reports whether a standard error is small enough. Where no sample erred, it is zero,
// which means nothing unless no bit can err. Only then reaches calls sure, which makes rows of
// the table.
func reaches(mean, stderr, relErr float64, sure func() bool) bool {
	if mean == 0 {
		return sure()
	}
	return stderr <= relErr*mean
}

// surely reports whether the outputs of a row are certain: every probability is
// 0 or 1.
func surely(row int, errors mat.Matrix) bool {
	for _, e := range matrix.Row(nil, row, errors) {
		if e != 0 && e != 1 {
			return false
		}
	}
	return true
}

func allSurely(prior []float64, errors mat.Matrix) bool {
	for row, p := range prior {
		if p > 0 && !surely(row, errors) {
			return false
		}
	}
	return true
}

// Overall has the estimates over all labels, weighted with a prior.
type Overall struct {
	Mean       float64 // mean |error|, in levels
	StdErr     float64 // its standard error
	RMS        float64 // root of the mean squared error, in levels
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
	for row, s := range sums {
		o.Samples += s.Samples
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
	const rounding = 1e-9 // of a sum of 65,536 shares it is far less
	if o.Within > 1 && o.Within < 1+rounding {
		o.Within = 1
	}
	return o
}
