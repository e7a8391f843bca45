package forecast

import (
	"cmp"
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"

	"belsim/errmodel/observed"
	"belsim/errmodel/perceived"
	"belsim/theory/base/parallel"
	"belsim/theory/code"
	"belsim/theory/decode"
)

// cutoffStep is the change of ln κ by which the sensitivity to κ is measured.
const cutoffStep = 0.4

// Forecaster forecasts the errors of codes.
type Forecaster struct {
	Model perceived.Model // but for its training
	Tail  float64         // that of perceived.Fit; NaN where it is unknown
	Law   Law
	Prior []float64 // share of each level, length L
	// Labels are the real labels, which Noise is around; nil where labels are levels. Errors are
	// |answer − label|.
	Labels *Labels
	// Measured are the errors of trained networks, of the kind that is forecast. Ratios are to the
	// first.
	Measured []Measured
	// Decoders are the decoders that are tried, with Options.
	Decoders decode.Registry
	Options  decode.Options

	// Trainings are those that are forecast; empty for BCE, CE, soft targets, and what was
	// measured.
	Trainings []perceived.Training

	readers []string // names of decoders; empty for all. A decoder of bits reads no logits then
}

// New returns a forecaster for networks of a model, of which nothing else is known, under a prior
// over the levels. labels are nil where they are the levels. A cutoff of 0 is the default.
func New(m perceived.Model, labels *Labels, prior []float64, decoders decode.Registry) *Forecaster {
	m.Within = labels.within()
	if m.Cutoff == 0 {
		m.Cutoff = m.DefaultCutoff(len(prior))
	}
	return &Forecaster{Model: m, Tail: math.NaN(), Law: Fitted(), Prior: prior, Labels: labels, Decoders: decoders}
}

// Like reports whether another forecaster is of networks of the same kind and of the same labels,
// apart from errors that were measured and what is uncertain.
func (f *Forecaster) Like(g *Forecaster) bool {
	near := func(a, b float64) bool { return math.Abs(a-b) <= 1e-9*math.Abs(b) }
	return slices.EqualFunc(f.Prior, g.Prior, near) && f.Model.Within == g.Model.Within &&
		near(f.Model.Noise, g.Model.Noise) &&
		near(f.Model.Cutoff, g.Model.Cutoff) && near(f.Model.Misfit, g.Model.Misfit) &&
		f.Options.Temperature == g.Options.Temperature
}

// Forecast is the expected error of a code, a training and a decoder.
type Forecast struct {
	Code     *code.Code
	Training perceived.Training
	Decoding observed.Decoding
	Error    float64 // expected |error|, in levels
	Lo, Hi   float64 // 95 % interval of the error of one trained network, on the samples of the measured one
	// Ratio is Error over the first of Forecaster.Measured, with the 95 % interval of the error of
	// one trained network over it. Better is the probability that this error is smaller than the
	// measured one. All are NaN where nothing was measured.
	Ratio, RatioLo, RatioHi, Better float64
	Measured                        bool // Error was measured, and not forecast

	// model is the model's error, falls its −d ln(error)/d ln κ, and part the share of it that is
	// in proportion to s.
	model, falls, part float64
	often, uneven      float64 // of the code
	// marginal is the law of ln Error. Of what was not measured it is that of number at of the
	// posterior, which is nil of what was.
	marginal  distuv.StudentsT
	posterior *posterior
	at        int
}

// decodings lists those that fit a code and a training. The threshold at 0 means nothing but after
// a training bit by bit, so there are no hard decisions then. Heads have one training.
func (f *Forecaster) decodings(c *code.Code, t perceived.Training) ([]observed.Decoding, error) {
	if f.predicts(c) {
		if t != perceived.BCE {
			return nil, nil
		}
		return []observed.Decoding{observed.Prediction()}, nil
	}
	all, err := observed.Decodings(f.Decoders, c, observed.Logits, f.Options)
	var last string // of the same decoder, hard decisions come before logits
	return slices.DeleteFunc(all, func(d observed.Decoding) bool {
		name := d.Decoder.Name()
		if !sensible(c, t, d) || len(f.readers) > 0 && (name == last || !slices.Contains(f.readers, name)) {
			return true
		}
		last = name
		return false
	}), err
}

// Codes forecasts codes after BCE, CE and soft targets, with each decoder that fits, the smallest
// error first: L1 and L2 of the codes that were measured with them. Codes of real numbers are left
// out: the model has none. done, which may be nil, is told how many of the 2·len(codes) steps were
// finished since its last call, from several goroutines. The errors are about the model or the
// prior, or the context's.
func (f *Forecaster) Codes(ctx context.Context, workers int, codes []*code.Code, done func(uint64)) ([]Forecast,
	error) {
	most := 0
	for _, c := range codes {
		most = max(most, c.Bits())
	}
	nodes, fewer, err := f.nodes(most)
	if err != nil {
		return nil, err
	}
	type job struct {
		*code.Code
		perceived.Training
	}
	var jobs []job // the longest first, and heads behind the codes whose errors they may have
	for _, t := range []perceived.Training{perceived.L1, perceived.L2, perceived.CE, perceived.BCE} {
		for _, c := range codes {
			if !c.Real() && f.asks(c, t) {
				jobs = append(jobs, job{c, t})
			}
		}
	}
	slices.SortStableFunc(jobs, func(a, b job) int {
		if x, y := LookupHead(a.Name()).Own, LookupHead(b.Name()).Own; x != y {
			return map[bool]int{true: 1, false: -1}[x]
		}
		return cmp.Compare(b.Bits(), a.Bits())
	})
	results := make([][]Forecast, len(jobs))
	err = parallel.Each(ctx, workers, len(jobs), func() (func(context.Context, int) error, error) {
		return func(ctx context.Context, i int) error {
			c, t := jobs[i].Code, jobs[i].Training
			decodings, err := f.decodings(c, t)
			decodings = f.withMeasured(c, t, decodings)
			if err == nil && len(decodings) > 0 {
				_, results[i], err = f.code(ctx, nodes, fewer, c, t, decodings)
			}
			if done != nil && (len(f.Trainings) > 0 || !t.ThroughGenEx()) {
				done(1)
			}
			return err
		}, nil
	})
	if err != nil {
		return nil, err
	}
	all := slices.Concat(results...)
	for _, x := range all { // soft targets have the errors of CE
		if x.Training == perceived.CE && len(f.Trainings) == 0 {
			x.Training = perceived.Soft
			all = append(all, x)
		}
	}
	if err := f.relateTo(ctx, nodes, fewer, all); err != nil {
		return nil, err
	}
	slices.SortStableFunc(all, smaller)
	return all, nil
}

// smaller orders forecasts by their errors, to nine digits: what is as good in one unit of the labels
// is so in all, and stays in the order in which it came.
func smaller(a, b Forecast) int {
	rounded := func(x float64) float64 {
		fraction, exponent := math.Frexp(x)
		return math.Ldexp(math.Round(fraction*(1<<30)), exponent)
	}
	return cmp.Compare(rounded(a.Error), rounded(b.Error))
}

// asks reports whether a code is forecast after a training.
func (f *Forecaster) asks(c *code.Code, t perceived.Training) bool {
	if len(f.Trainings) > 0 {
		return slices.Contains(f.Trainings, t)
	}
	return !t.ThroughGenEx() || slices.ContainsFunc(f.Measured,
		func(m Measured) bool { return m.Training == t && m.Code.Name() == c.Name() })
}

// withMeasured adds decodings of networks of a code and a training that were measured: of hard
// decisions alone, decoders read bits that else read logits.
func (f *Forecaster) withMeasured(c *code.Code, t perceived.Training,
	decodings []observed.Decoding) []observed.Decoding {
	for _, m := range f.Measured {
		d := m.Decoding
		known := slices.ContainsFunc(decodings, func(x observed.Decoding) bool { return SameReading(x, d) })
		if len(f.readers) == 0 && !known && m.Code.Name() == c.Name() && m.Training == t {
			decodings = append(decodings, d)
		}
	}
	return decodings
}

// predicts reports whether a code stands for direct regression whose predictions are read as they
// are: over levels they are rounded to one.
func (f *Forecaster) predicts(c *code.Code) bool {
	return f.Labels != nil && c.Name() == Direct
}

// nodes are those of forecasts for codes of so many bits at most, and a quarter of them, which tell
// how sensitive forecasts are.
func (f *Forecaster) nodes(most int) (all, fewer *perceived.Nodes, err error) {
	for _, m := range f.Measured { // whose forecasts belong to all others
		most = max(most, m.Code.Bits())
	}
	if all, err = NewNodes(perceived.ManyNodes, f.Prior, f.Labels, most, perceived.Seed); err != nil {
		return nil, nil, err
	}
	if fewer, err = NewNodes(perceived.ManyNodes/4, f.Prior, f.Labels, most, perceived.Seed); err != nil {
		return nil, nil, err
	}
	return all, fewer.Smooth(), nil
}

// NewNodes returns nodes for real labels, or for levels where labels is nil, with this prior over
// the levels.
func NewNodes(count int, prior []float64, labels *Labels, most int, seed uint64) (*perceived.Nodes, error) {
	n, err := perceived.NewNodes(count, prior, most, seed)
	if err != nil || labels == nil {
		return n, err
	}
	return n.Real(labels.pieces(len(prior))), nil
}

// Code forecasts one code after one training and one decoding. The numbers are those of Codes.
// The errors are about the model, the prior or the code, or the context's.
func (f *Forecaster) Code(ctx context.Context, c *code.Code, t perceived.Training, d observed.Decoding) (*Forecast,
	error) {
	nodes, fewer, err := f.nodes(c.Bits())
	if err != nil {
		return nil, err
	}
	_, out, err := f.code(ctx, nodes, fewer, c, t, []observed.Decoding{d})
	if err != nil {
		return nil, err
	}
	if err := f.relateTo(ctx, nodes, fewer, out); err != nil {
		return nil, err
	}
	return &out[0], nil
}

// code forecasts one code after one training, on one goroutine. l is what a network of the model
// learns of it.
func (f *Forecaster) code(ctx context.Context, nodes, fewer *perceived.Nodes, c *code.Code, t perceived.Training,
	decodings []observed.Decoding) (l *perceived.Network, out []Forecast, err error) {
	model := f.Model
	model.Training = t
	learner, err := model.NewLearner(1, f.Prior)
	if err != nil {
		return nil, nil, err
	}
	if l, err = learner.Learn(ctx, c); err != nil {
		return nil, nil, err
	}
	mean, err := nodes.Errors(ctx, 1, l, decodings)
	if err != nil {
		return nil, nil, err
	}
	falls, err := f.sensitivity(ctx, learner, l, fewer, decodings)
	if err != nil {
		return nil, nil, err
	}
	out = make([]Forecast, len(decodings))
	for i, d := range decodings {
		out[i] = Forecast{Code: c, Training: t, Decoding: d, model: mean[i], falls: falls[i],
			part: min(f.fromNoise(d, mean[i]), 1), often: often(c), uneven: uneven(c)}
	}
	return l, out, nil
}

// relateTo is Relate for forecasts that may lack those of the measured networks.
func (f *Forecaster) relateTo(ctx context.Context, nodes, fewer *perceived.Nodes, all []Forecast) error {
	raw := slices.Clip(all)
	for _, m := range f.Measured {
		if slices.ContainsFunc(raw, m.of) {
			continue
		}
		_, more, err := f.code(ctx, nodes, fewer, m.Code, m.Training, []observed.Decoding{m.Decoding})
		if err != nil {
			return err
		}
		raw = append(raw, more...)
	}
	f.relate(all, raw)
	return nil
}

// sensitivity is −d ln(error)/d ln κ for each decoding of what was learnt. It is a difference,
// which few smooth nodes tell as well as many.
func (f *Forecaster) sensitivity(ctx context.Context, learner *perceived.Learner, l *perceived.Network,
	nodes *perceived.Nodes, decodings []observed.Decoding) ([]float64, error) {
	at := func(step float64) ([]float64, error) {
		l, err := learner.Recut(ctx, l.Model().Cutoff*decode.Exp(step))
		if err != nil {
			return nil, err
		}
		return nodes.Errors(ctx, 1, l, decodings)
	}
	lower, err := at(-cutoffStep)
	if err != nil {
		return nil, err
	}
	var higher []float64
	width := 2 * cutoffStep
	if l.Model().Training == perceived.BCE {
		higher, err = at(cutoffStep)
	} else { // a training for the decoder is expensive: one side is enough
		higher, err = nodes.Errors(ctx, 1, l, decodings)
		width = cutoffStep
	}
	if err != nil {
		return nil, err
	}
	falls := make([]float64, len(decodings))
	for i := range falls {
		if v := math.Log(lower[i]/higher[i]) / width; !math.IsNaN(v) { // without errors it is not a number
			falls[i] = v
		}
	}
	return falls, nil
}

// fromNoise is the share of a change of ln s that changes the logarithm of an error e, in levels.
// The rest of the error is quantization, which does not depend on s: a decoder that answers in
// levels has an error² of about 2/π·(s² + 1/12). Real answers have no such part.
func (f *Forecaster) fromNoise(d observed.Decoding, e float64) float64 {
	if decode.Real(d.Decoder) || e == 0 {
		return 1
	}
	return max(1-2/math.Pi*f.Model.Within/(e*e), 0)
}

// MostTransitions is the largest number of transitions of a bit of a code.
func MostTransitions(c *code.Code) int {
	most := 0
	for _, at := range c.Transitions() {
		most = max(most, len(at))
	}
	return most
}
