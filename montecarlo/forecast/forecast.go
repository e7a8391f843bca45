package forecast

import (
	"cmp"
	"context"
	"math"
	"slices"

	"belsim/errmodel"
	"belsim/errmodel/observed"
	"belsim/theory/base/parallel"
	"belsim/theory/code"
	"belsim/theory/decode"
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

// EstimateOf is the estimate with a 95 % interval that ends at hi.
func EstimateOf(value, hi float64) Estimate { return Estimate{value, math.Log(hi/value) / confidence} }

// Forecaster forecasts the errors of codes.
type Forecaster struct {
	Model        errmodel.Perceived // its cutoff 0 stands for errmodel.DefaultCutoff; its training does not matter
	Noise        Estimate           // s, in levels: Model's, with its uncertainty
	Cutoff       Estimate           // κ; its value 0 stands for the default, with the default's spread
	CutoffFitted bool               // κ was estimated from networks
	// Tail is the root mean square error of the network that set s, over the model's; 0 where it
	// is unknown. Above 1, large errors are more frequent than the model says, and intervals are
	// wider.
	Tail  float64
	Prior []float64 // share of each level, length L
	// Decoders are the decoders that are tried, with Options.
	Decoders decode.Registry
	Options  decode.Options
	// Fitted adds the decoder FittedDecoder to those of every code.
	Fitted bool

	real    *Labels                                                        // labels are real numbers, and Noise is around them; nil for levels
	readers func(*code.Code, errmodel.Training) ([]observed.Reader, error) // of every code; nil for Readers
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

	own, cutoff float64 // standard deviations of ln(observed/Error): the code's own, and with its sign what κ causes
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
	return f.codes(ctx, workers, codes, Trainings(), done)
}

// codes is Codes for some trainings.
func (f *Forecaster) codes(ctx context.Context, workers int, codes []*code.Code, trainings []errmodel.Training, done func(uint64)) ([]Forecast, error) {
	most := 0
	for _, c := range codes {
		most = max(most, c.Bits())
	}
	places, fewer, err := f.places(most)
	if err != nil {
		return nil, err
	}
	readersOf := f.Readers
	if f.readers != nil {
		readersOf = f.readers
	}
	type job struct {
		code     *code.Code
		training errmodel.Training
	}
	var jobs []job
	for _, t := range []errmodel.Training{errmodel.ForDecoder, errmodel.BitByBit} { // the longest first
		for _, c := range codes {
			if !c.Real() && slices.Contains(trainings, t) {
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
		return func(ctx context.Context, i int) error {
			c, t := jobs[i].code, jobs[i].training
			readers, err := readersOf(c, t)
			if err == nil && len(readers) > 0 {
				results[i], err = f.code(ctx, places, fewer, c, t, readers)
			}
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

// places are the places of forecasts, and those that tell how sensitive they are.
func (f *Forecaster) places(most int) (all, fewer *Places, err error) {
	if f.real != nil {
		if all, err = NewFewPlaces(realPlaces, f.Prior, most, Seed); err != nil {
			return nil, nil, err
		}
		if fewer, err = NewPlaces(f.Prior, most, Seed); err != nil {
			return nil, nil, err
		}
		labels := f.real.pieces(len(f.Prior))
		return all.between(labels), fewer.between(labels), nil
	}
	if all, err = NewPlaces(f.Prior, most, Seed); err != nil {
		return nil, nil, err
	}
	fewer, err = NewFewPlaces(places/4, f.Prior, most, Seed)
	return all, fewer, err
}

// Code forecasts one code after one training, read by one reader. The numbers are those of Codes.
// The errors are about the model, the prior or the code, or the context's.
func (f *Forecaster) Code(ctx context.Context, c *code.Code, t errmodel.Training, r observed.Reader) (*Forecast, error) {
	places, fewer, err := f.places(c.Bits())
	if err != nil {
		return nil, err
	}
	out, err := f.code(ctx, places, fewer, c, t, []observed.Reader{r})
	if err != nil {
		return nil, err
	}
	return &out[0], nil
}

// code forecasts one code after one training, on one goroutine.
func (f *Forecaster) code(ctx context.Context, places, fewer *Places, c *code.Code, t errmodel.Training, readers []observed.Reader) ([]Forecast, error) {
	if f.Fitted {
		readers = append(slices.Clip(readers), observed.Reader{Decoder: fitted{}, Logits: true})
	}
	p := f.model(t)
	learner, err := p.NewLearner(f.Prior)
	if err != nil {
		return nil, err
	}
	l, err := learner.Learn(ctx, c)
	if err != nil {
		return nil, err
	}
	mean, err := f.errors(ctx, 1, places, l, readers)
	if err != nil {
		return nil, err
	}
	// The sensitivity to κ is a difference, which fewer places tell as well.
	center, err := f.errors(ctx, 1, fewer, l, readers)
	if err != nil {
		return nil, err
	}
	at := func(step float64) ([]float64, error) {
		l, err := learner.Recut(ctx, l.Model().Cutoff*math.Exp(step))
		if err != nil {
			return nil, err
		}
		return f.errors(ctx, 1, fewer, l, readers)
	}
	lower, err := at(-cutoffStep)
	if err != nil {
		return nil, err
	}
	// A training for the decoder is expensive: one side is enough.
	higher, width := center, cutoffStep
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
		noise := f.Noise.Spread // errors are about proportional to s
		falls := math.Log(lower[i]/higher[i]) / width
		if math.IsNaN(falls) { // no error at all
			falls = 0
		}
		own := math.Hypot(spread(transitions, t, 0, 0), tailSpread(f.Tail))
		if part := f.fromNoise(r, mean[i]); part < 1 {
			own *= part
			noise *= part
		}
		x := Forecast{Code: c, Training: t, Reader: r, Error: mean[i], own: own, cutoff: falls * f.Cutoff.Spread}
		all := math.Hypot(math.Hypot(own, noise), x.cutoff)
		x.Lo, x.Hi = x.Error*math.Exp(-confidence*all), x.Error*math.Exp(confidence*above*all)
		out[i] = x
	}
	return out, nil
}

// FittedDecoder is the name of the decoder that stands for those that are fitted to a network's
// logits, as 'belsim fit --fit-decoder' does: the median of the level given the logits, by a decoder
// that knows what the network has learned.
const FittedDecoder = "fitted"

// fitted is that decoder, of one network.
type fitted struct{ decode.Informed }

// Name implements decode.Decoder.
func (fitted) Name() string { return FittedDecoder }

// model is what networks of a training learn with.
func (f *Forecaster) model(t errmodel.Training) errmodel.Perceived {
	p := f.Model
	p.Training, p.Cutoff = t, f.Cutoff.Value
	if f.real != nil { // the perceived label of a level is that of all labels in it
		p.Noise = math.Hypot(p.Noise, math.Sqrt(withinLevel))
	}
	return p
}

// errors is expected for the labels that the forecaster and the places are for.
func (f *Forecaster) errors(ctx context.Context, workers int, places *Places, l *errmodel.Learned, readers []observed.Reader) ([]float64, error) {
	if f.Fitted {
		d, err := decode.NewPosterior(decode.Median, l.Code(), decode.Model{Prior: f.Prior, Logits: true, Perceived: l})
		if err != nil {
			return nil, err
		}
		readers = slices.Clone(readers)
		readers[len(readers)-1].Decoder = fitted{d}
	}
	if f.real == nil {
		return expected(ctx, workers, places, l, l.Code(), readers)
	}
	s := f.Model.Noise
	if l.Model().Training == errmodel.ForDecoder {
		s *= errmodel.DecoderFactor(l.Code())
	}
	return places.Errors(ctx, workers, l.Code(), noisy{l, s}, readers)
}

// fromNoise is the part of the logarithm of an error, in levels, that follows the logarithm of the
// noise. The rest is quantization, which is known: a decoder that answers in levels has an
// error² of about 2/π·(s² + 1/12). Real answers have no such part.
func (f *Forecaster) fromNoise(r observed.Reader, e float64) float64 {
	if f.real == nil || decode.Real(r.Decoder) || e == 0 {
		return 1
	}
	return max(1-2/math.Pi*withinLevel/(e*e), 0)
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
	factor := errmodel.DecoderFactor(c)
	for i := range out {
		out[i] *= factor
	}
	return out, nil
}

// Expected is the expected |error|, in levels, of what was learnt of a code, read by one reader. It has
// the factor of networks trained for the decoder.
func (p *Places) Expected(ctx context.Context, workers int, l *errmodel.Learned, r observed.Reader) (float64, error) {
	out, err := expected(ctx, workers, p, l, l.Code(), []observed.Reader{r})
	if err != nil {
		return 0, err
	}
	return out[0], nil
}

// oneSided is the number of standard deviations that a normal number exceeds with 5 %.
const oneSided = 1.645

// Below reports whether x's error is smaller than y's with at least 95 %, as far as the
// intervals' constants say. It takes the difference of the logarithms. A network's noise and
// cutoff are the same for all codes, so s does not count, nor what κ does to both in the same
// way:
//
//	ln(y/x) > 1.645·√(own_x² + own_y² + (κ_x − κ_y)²),
//
// own being the standard deviation of what networks of one code differ by, and κ what the
// uncertainty of the cutoff does, with its sign. Both codes are taken to differ
// independently, also where one network is read by two decoders.
func (x Forecast) Below(y Forecast) bool {
	return math.Log(y.Error/x.Error) > oneSided*math.Sqrt(x.own*x.own+y.own*y.own+(x.cutoff-y.cutoff)*(x.cutoff-y.cutoff))
}

// Ties reports which of the forecasts, the best first, may be as good as the first: of which the
// first is not Below.
func Ties(sorted []Forecast) []bool {
	out := make([]bool, len(sorted))
	for i, x := range sorted {
		out[i] = i == 0 || !sorted[0].Below(x)
	}
	return out
}
