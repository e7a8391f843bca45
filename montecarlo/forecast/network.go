package forecast

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"belsim/errmodel"
	"belsim/errmodel/observed"
	"belsim/theory/code"
)

// Network is a trained network, as it was observed.
type Network struct {
	Code     *code.Code
	Training errmodel.Training
	Readers  []observed.Reader
	Errors   []observed.Error // of each reader, against the level of the target
	// Rates is the share of the samples in which each bit is wrong, length M; NaN for a bit
	// that is set aside. It means nothing after a training for the decoder.
	Rates   []float64
	Samples float64
	Counts  *errmodel.Counts // nil after a training for the decoder
}

// trusted is the largest |error|, as a share of the levels, from which s is estimated: more is
// near the error of an answer without any information.
const trusted = 0.2

// ErrUnread is wrapped by the error for a network whose errors say nothing about s.
var ErrUnread = errors.New("no decoder's error says how large the label noise is")

// Leading returns the reader whose error sets s: hard decisions of gen after a training bit by
// bit, where they are worth something, and else gen-ex on logits. The error wraps ErrUnread.
func (n *Network) Leading() (int, error) {
	rank := func(r observed.Reader) int {
		gen, ex := r.Decoder.Name() == "gen", r.Decoder.Name() == "gen-ex"
		switch bits := n.Training == errmodel.BitByBit; {
		case bits && !r.Logits && gen:
			return 5
		case !bits && r.Logits && ex:
			return 5
		case bits && !r.Logits:
			return 4
		case r.Logits && ex:
			return 3
		case r.Logits && gen:
			return 2
		case r.Logits:
			return 1
		}
		return 0
	}
	best := -1
	for i, r := range n.Readers {
		if e := n.Errors[i].Mean; rank(r) > 0 && e > 0 && e < trusted*float64(n.Code.Levels()) && (best < 0 || rank(r) > rank(n.Readers[best])) {
			best = i
		}
	}
	if best < 0 {
		return 0, fmt.Errorf("%s of %d levels: %w", n.Code.Name(), n.Code.Levels(), ErrUnread)
	}
	return best, nil
}

// usable reports whether a reader's error is one that the model forecasts.
func (n *Network) usable(i int) bool {
	return n.Training == errmodel.BitByBit || n.Readers[i].Logits
}

// Fit fits the perceived-label model to networks of one task, of which the first is the easiest
// to learn: s, and where they show it κ and the floor of the misfit. See errmodel.FitPerceived.
// places are of the networks' prior. The errors wrap ErrUnread, errmodel.ErrNothingObserved or
// errmodel.ErrNoNoise, or are the context's.
func Fit(ctx context.Context, workers int, networks []*Network, places *Places, misfit float64) (*Forecaster, error) {
	var observed []errmodel.Network
	for i, n := range networks {
		x := errmodel.Network{Code: n.Code, Training: n.Training, Counts: n.Counts, Prior: places.prior}
		for k, rate := range n.Rates {
			if math.IsNaN(rate) {
				x.Dead = append(x.Dead, k)
			}
		}
		readers, err := n.fitted()
		if err != nil && i == 0 {
			return nil, err
		}
		for k, j := range readers {
			e := errmodel.NetworkError{Value: n.Errors[j].Mean, Stderr: n.Errors[j].StdErr, Model: func(l *errmodel.Learned) (float64, error) {
				v, err := expected(ctx, 1, places, l, n.Code, n.Readers[j:j+1])
				if err != nil {
					return 0, err
				}
				return v[0], nil
			}}
			if wrong := n.wrong(); k == 0 && wrong > 0 {
				e.Stderr *= wrong / e.Value
				e.Value = wrong
				e.Model = func(l *errmodel.Learned) (float64, error) {
					m, err := places.moments(ctx, 1, n.Code, l, nil)
					return m.wrong, err
				}
			}
			x.Errors = append(x.Errors, e)
		}
		observed = append(observed, x)
	}
	fit, err := errmodel.FitPerceived(ctx, workers, observed, errmodel.Perceived{Misfit: misfit})
	if err != nil {
		return nil, err
	}
	f := &Forecaster{Model: fit.Model, Noise: EstimateOf(fit.Noise.Value, fit.Noise.Hi), Cutoff: Estimate{fit.Cutoff.Value, spreadCutoff}, CutoffFitted: fit.CutoffFitted, Prior: places.prior}
	if fit.CutoffFitted {
		f.Cutoff.Spread = min(spreadCutoff, fit.LogCutoffSD)
	}
	f.Tail, err = f.tail(ctx, workers, networks[0], places)
	return f, err
}

// tail is the root mean square error of a network over the model's, as its leading reader reads it;
// 0 where it is unknown.
func (f *Forecaster) tail(ctx context.Context, workers int, n *Network, places *Places) (float64, error) {
	lead, err := n.Leading()
	if err != nil || !(n.Samples > 0) || !(n.Errors[lead].StdErr > 0) {
		return 0, nil
	}
	p := f.Model
	p.Training = n.Training
	l, err := p.Learn(ctx, workers, n.Code, places.prior)
	if err != nil {
		return 0, err
	}
	m, err := places.moments(ctx, workers, n.Code, l, n.Readers[lead:lead+1])
	if err != nil {
		return 0, err
	}
	e := n.Errors[lead]
	factor := 1.0
	if n.Training == errmodel.ForDecoder {
		factor = errmodel.DecoderFactor(n.Code)
	}
	return math.Sqrt((e.Mean*e.Mean+e.StdErr*e.StdErr*n.Samples)/m.squares[0]) / factor, nil
}

// wrong is the mean number of wrong bits in a sample, where it says how far the perceived label is
// from the level: after a training bit by bit, for unary and johnson, where no bit is set aside.
// It is then the error, but for the few samples at one end of the range that johnson decodes as
// the other end: they have few wrong bits, and an error of all levels. Otherwise it is 0.
func (n *Network) wrong() (sum float64) {
	if n.Training != errmodel.BitByBit || !counting(n.Code) {
		return 0
	}
	for _, rate := range n.Rates {
		if math.IsNaN(rate) {
			return 0
		}
		sum += rate
	}
	return sum
}

// counting reports whether the words of levels that are near each other differ in as many bits as
// they are levels apart.
func counting(c *code.Code) bool {
	levels := c.Levels()
	for i := range levels {
		for _, apart := range []int{1, levels / 8} {
			if i+apart < levels && c.Distance(i, i+apart) != apart {
				return false
			}
		}
	}
	return levels >= 16
}

// fitted lists the readers whose errors are fitted, the leading one first, then gen-ex. There is none
// where bits that are easy to learn are dead: they spoil what every decoder reads, but
// not the rates of the other bits. The error wraps ErrUnread.
func (n *Network) fitted() ([]int, error) {
	for k, at := range n.Code.Transitions() {
		if len(at) <= learnable && math.IsNaN(n.Rates[k]) {
			return nil, nil
		}
	}
	lead, err := n.Leading()
	if err != nil {
		return nil, err
	}
	out := []int{lead}
	for j, r := range n.Readers {
		if j != lead && r.Logits && r.Decoder.Name() == "gen-ex" && n.Errors[j].Mean > 0 {
			out = append(out, j)
		}
	}
	return out, nil
}

// learnable is the largest number of transitions of bits that every network learns: where such a
// bit is dead, the network is broken, while bits with more may be beyond what it can learn.
const learnable = 8

// bitRates is the error rate of each bit of what was learnt, over a prior that adds up to 1.
func bitRates(l *errmodel.Learned, prior []float64) []float64 {
	levels, m := l.Dims()
	rates, row, sum := make([]float64, m), make([]float64, m), 0.0
	for i := range levels {
		l.RowTo(row, i)
		sum += prior[i]
		for k, v := range row {
			rates[k] += prior[i] * v
		}
	}
	for k := range rates {
		rates[k] /= sum
	}
	return rates
}

// Comparison puts a network beside the model.
type Comparison struct {
	Errors []Pair // of each reader; Model is NaN where the model says nothing
	Rates  []Rate // after a training bit by bit: by the number of transitions
	// Distance is the largest distance of an observed error from the model's, and of a rate
	// from the model's, in standard deviations of what networks differ from the model by.
	Distance float64
}

// Pair is a number as it was observed, and under the model.
type Pair struct{ Observed, Model float64 }

// Rate is the mean error rate of the bits with a number of transitions.
type Rate struct {
	Transitions, Bits int
	Pair
}

// Compare puts a network beside the forecaster's model.
func (f *Forecaster) Compare(ctx context.Context, workers int, n *Network, places *Places) (*Comparison, error) {
	p := f.Model
	p.Training = n.Training
	l, err := p.Learn(ctx, workers, n.Code, places.prior)
	if err != nil {
		return nil, err
	}
	model, err := expected(ctx, workers, places, l, n.Code, n.Readers)
	if err != nil {
		return nil, err
	}
	out := &Comparison{}
	transitions, most := n.Code.Transitions(), 0
	for _, at := range transitions {
		most = max(most, len(at))
	}
	for i, e := range n.Errors {
		pair := Pair{e.Mean, model[i]}
		if !n.usable(i) {
			pair.Model = math.NaN()
		} else if e.Mean > 0 && model[i] > 0 {
			sd := math.Hypot(spread(most, n.Training, 0, f.Noise.Spread), e.StdErr/e.Mean)
			out.Distance = max(out.Distance, math.Abs(math.Log(e.Mean/model[i]))/sd)
		}
		out.Errors = append(out.Errors, pair)
	}
	if n.Training != errmodel.BitByBit {
		return out, nil
	}
	rates := bitRates(l, places.prior)
	for k, at := range transitions {
		if math.IsNaN(n.Rates[k]) {
			continue
		}
		i := slices.IndexFunc(out.Rates, func(r Rate) bool { return r.Transitions == len(at) })
		if i < 0 {
			i = len(out.Rates)
			out.Rates = append(out.Rates, Rate{Transitions: len(at)})
		}
		r := &out.Rates[i]
		r.Bits++
		r.Observed += n.Rates[k]
		r.Model += rates[k]
	}
	slices.SortFunc(out.Rates, func(a, b Rate) int { return a.Transitions - b.Transitions })
	for i := range out.Rates {
		r := &out.Rates[i]
		r.Observed /= float64(r.Bits)
		r.Model /= float64(r.Bits)
		// The rate of easy bits is in proportion to s; of others it differs by observedRate.
		sd := math.Hypot(observedRate, relativeRate*r.Model)
		out.Distance = max(out.Distance, math.Abs(r.Observed-r.Model)/math.Hypot(sd, math.Sqrt(r.Model*(1-r.Model)/max(n.Samples, 1))))
	}
	return out, nil
}
