package forecast

import (
	"cmp"
	"context"
	"math"
	"slices"

	"belsim/errmodel"
	"belsim/errmodel/observed"
	"belsim/theory/code"
	"belsim/theory/decode"
	"belsim/theory/parallel"
)

// Seed is the seed of the misfits in forecasts, so that equal questions have equal answers.
const Seed = 1

// Estimate is a positive number, and the standard deviation of its logarithm.
type Estimate struct{ Value, Spread float64 }

// Interval returns the 95 % interval of the number.
func (e Estimate) Interval() (lo, hi float64) {
	f := math.Exp(confidence * e.Spread)
	return e.Value / f, e.Value * f
}

// Forecaster forecasts the errors of codes.
type Forecaster struct {
	Model        errmodel.Perceived // its cutoff 0 stands for errmodel.DefaultCutoff; its training does not matter
	Noise        Estimate           // s, in levels: Model's, with its uncertainty
	Cutoff       Estimate           // κ; its value 0 stands for the default, with the default's spread
	CutoffFitted bool               // κ was estimated from networks
	Prior        []float64          // share of each level, length L
	// Decoders are the decoders that are tried, with Options.
	Decoders decode.Registry
	Options  decode.Options
}

// NewForecaster returns a forecaster for networks of label noise s, in levels, of which nothing else
// is known. relative is the standard deviation of ln s.
func NewForecaster(s, relative float64, prior []float64, decoders decode.Registry) *Forecaster {
	return &Forecaster{
		Model: errmodel.Perceived{Noise: s, Misfit: errmodel.DefaultMisfit}, Noise: Estimate{s, relative},
		Cutoff: Estimate{errmodel.DefaultCutoff(len(prior), s), spreadCutoff}, Prior: prior, Decoders: decoders,
	}
}

// Forecast is the expected error of a code, a training and a decoder.
type Forecast struct {
	Code     *code.Code
	Training errmodel.Training
	Reader   observed.Reader
	Error    float64 // expected |error|, in levels
	Lo, Hi   float64 // 95 % interval of the error of one trained network
	// OwnLo and OwnHi are the interval without the part that all codes share, the uncertainty
	// of s: for comparisons of two codes.
	OwnLo, OwnHi float64
}

// Trainings lists the trainings.
func Trainings() []errmodel.Training {
	return []errmodel.Training{errmodel.BitByBit, errmodel.ForDecoder}
}

// Readers lists what can read the outputs of a code after a training. The threshold at 0 means
// nothing after a training for the decoder, so nothing reads hard decisions then.
func (f *Forecaster) Readers(c *code.Code, t errmodel.Training) ([]observed.Reader, error) {
	readers, err := observed.Readers(f.Decoders, c, observed.Logits, f.Options)
	if t == errmodel.ForDecoder {
		readers = slices.DeleteFunc(readers, func(r observed.Reader) bool { return !r.Logits })
	}
	return readers, err
}

// Codes forecasts codes after both trainings, with each decoder that fits, the smallest error
// first. Codes of real numbers are left out: the model has none. done, which may be nil, is told
// how many of the 2·len(codes) steps were finished since its last call. The errors are about the
// model or the prior, or the context's.
func (f *Forecaster) Codes(ctx context.Context, workers int, codes []*code.Code, done func(uint64)) ([]Forecast, error) {
	most := 0
	for _, c := range codes {
		most = max(most, c.Bits())
	}
	places, err := NewPlaces(f.Prior, most, Seed)
	if err != nil {
		return nil, err
	}
	type job struct {
		code     *code.Code
		training errmodel.Training
	}
	var jobs []job
	for _, t := range []errmodel.Training{errmodel.ForDecoder, errmodel.BitByBit} { // the longest first
		for _, c := range codes {
			if !c.Real() {
				jobs = append(jobs, job{c, t})
			}
		}
	}
	slices.SortStableFunc(jobs, func(a, b job) int { return cmp.Compare(b.code.Bits(), a.code.Bits()) })
	results := make([][]Forecast, len(jobs))
	steps := make(chan struct{}, len(jobs))
	finished := make(chan struct{})
	go func() {
		defer close(finished)
		for range steps {
			if done != nil {
				done(1)
			}
		}
	}()
	err = parallel.Each(ctx, workers, len(jobs), func() (func(context.Context, int) error, error) {
		return func(ctx context.Context, i int) (err error) {
			results[i], err = f.code(ctx, places, jobs[i].code, jobs[i].training)
			steps <- struct{}{}
			return err
		}, nil
	})
	close(steps)
	<-finished
	if err != nil {
		return nil, err
	}
	all := slices.Concat(results...)
	slices.SortStableFunc(all, func(a, b Forecast) int { return cmp.Compare(a.Error, b.Error) })
	return all, nil
}

// code forecasts one code after one training, on one goroutine.
func (f *Forecaster) code(ctx context.Context, places *Places, c *code.Code, t errmodel.Training) ([]Forecast, error) {
	readers, err := f.Readers(c, t)
	if err != nil || len(readers) == 0 {
		return nil, err
	}
	at := func(step float64) ([]float64, error) {
		p := f.Model
		p.Training, p.Cutoff = t, f.Cutoff.Value*math.Exp(step)
		return Expected(ctx, 1, places, p, c, f.Prior, readers)
	}
	mean, err := at(0)
	if err != nil {
		return nil, err
	}
	lower, err := at(-cutoffStep)
	if err != nil {
		return nil, err
	}
	// A training for the decoder is expensive: one side is enough.
	higher, width := mean, cutoffStep
	if t == errmodel.BitByBit {
		if higher, err = at(cutoffStep); err != nil {
			return nil, err
		}
		width = 2 * cutoffStep
	}
	transitions := 0
	for _, at := range c.Transitions() {
		transitions = max(transitions, len(at))
	}
	out := make([]Forecast, len(readers))
	for i, r := range readers {
		slope := math.Abs(math.Log(lower[i]/higher[i])) / width
		if math.IsNaN(slope) { // no error at all
			slope = 0
		}
		x := Forecast{Code: c, Training: t, Reader: r, Error: mean[i]}
		own := spread(transitions, t, slope*f.Cutoff.Spread, 0)
		all := spread(transitions, t, slope*f.Cutoff.Spread, f.Noise.Spread) // errors are about proportional to s
		x.OwnLo, x.OwnHi = x.Error*math.Exp(-confidence*own), x.Error*math.Exp(confidence*above*own)
		x.Lo, x.Hi = x.Error*math.Exp(-confidence*all), x.Error*math.Exp(confidence*above*all)
		out[i] = x
	}
	return out, nil
}

// Expected is the expected |error|, in levels, of each reader of a code that a network of the
// model learns. For networks trained for the decoder it has the factor by which they are better.
func Expected(ctx context.Context, workers int, places *Places, p errmodel.Perceived, c *code.Code, prior []float64, readers []observed.Reader) ([]float64, error) {
	learned, err := p.Learn(ctx, workers, c, prior)
	if err != nil {
		return nil, err
	}
	return expected(ctx, workers, places, learned, c, readers)
}

// expected is Expected of what was learnt.
func expected(ctx context.Context, workers int, places *Places, l *errmodel.Learned, c *code.Code, readers []observed.Reader) ([]float64, error) {
	out, err := places.Errors(ctx, workers, c, l, readers)
	if err != nil || l.Model().Training != errmodel.ForDecoder {
		return out, err
	}
	factor := factorOf(c)
	for i := range out {
		out[i] *= factor
	}
	return out, nil
}

// factorOf is decoderFactor of a code.
func factorOf(c *code.Code) float64 {
	levels, transitions, all := c.Levels(), 0, 0.0
	for k, at := range c.Transitions() {
		transitions += len(at)
		ones := 0.0
		for i := range levels {
			if c.Bit(i, k) {
				ones++
			}
		}
		all += ones * (float64(levels) - ones)
	}
	pairs := float64(levels) * float64(levels-1) / 2
	return decoderFactor(float64(transitions)/float64(levels-1), all/pairs)
}

// Ties reports which of the forecasts, the best first, may be as good as the first: where the
// intervals do not separate.
func Ties(sorted []Forecast) []bool {
	out := make([]bool, len(sorted))
	for i, x := range sorted {
		out[i] = x.OwnLo <= sorted[0].OwnHi
	}
	return out
}
