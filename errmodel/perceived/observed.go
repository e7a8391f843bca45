package perceived

import (
	"context"
	"fmt"
	"math"

	"belsim/errmodel"
	"belsim/errmodel/observed"
	"belsim/theory/code"
	"belsim/theory/decode"
)

// Observed is a trained network, as it was observed.
type Observed struct {
	Code      *code.Code
	Training  Training
	Decodings []observed.Decoding
	Errors    []observed.Error // of each decoding, against the target itself, in levels
	// Rates is the share of the samples in which each bit is wrong, length M; NaN for a bit
	// that is set aside. It means nothing after a training for the decoder.
	Rates   []float64
	Samples float64
	Counts  *errmodel.Counts // nil after a training for the decoder
	// Dispersion is that of the wrong bits above and below the level, as Network.Dispersion has it;
	// 0 where it is unknown.
	Dispersion float64
}

// trusted is the largest |error|, as a share of the levels, from which s is estimated: more is
// near the error of an answer without any information.
const trusted = 0.2

// leading returns the decoding whose error sets s: gen on hard decisions after a training bit by
// bit, where they are worth something, and else gen-ex on logits. The error wraps
// ErrNothingObserved.
func (n *Observed) leading() (int, error) {
	best, most := -1, 0
	for i, d := range n.Decodings {
		if e, r := n.Errors[i].Mean, n.rank(d); r > most && e > 0 && e < trusted*float64(n.Code.Levels()) {
			best, most = i, r
		}
	}
	if best < 0 {
		return 0, fmt.Errorf("%w: no decoder's error of %s says how large the label noise is", ErrNothingObserved,
			n.Code.Name())
	}
	return best, nil
}

// rank is larger for decodings that tell s better; 0 for those that tell nothing.
func (n *Observed) rank(d observed.Decoding) int {
	gen, genEx := decode.Is[decode.Gen](d.Decoder), decode.Is[decode.GenEx](d.Decoder)
	switch {
	case !n.Training.Describes(d):
		return 0
	case n.Training == BCE && !d.Soft && gen, n.Training != BCE && genEx:
		return 5
	case !d.Soft: // among them predictions
		return 4
	case genEx:
		return 3
	case gen:
		return 2
	}
	return 1
}

// errorTargets are the mean errors that the fit compares with the model, with their standard errors
// for an sd. There are none where bits that are easy to learn are dead. The error wraps
// ErrNothingObserved.
func (n *Observed) errorTargets(ctx context.Context, nodes *Nodes) (out []target, err error) {
	fitted, err := n.fitted()
	for i, j := range fitted {
		e := target{value: n.Errors[j].Mean, sd: n.Errors[j].StdErr, model: func(l *Network) (float64, error) {
			v, err := nodes.Errors(ctx, 1, l, n.Decodings[j:j+1])
			if err != nil {
				return 0, err
			}
			return v[0], nil
		}}
		if wrong := n.wrong(); i == 0 && wrong > 0 && !n.Decodings[j].Predicts() {
			e = target{value: wrong, sd: e.sd * (wrong / e.value), model: func(l *Network) (float64, error) {
				m, err := nodes.moments(ctx, 1, l, nil)
				return m.wrong, err
			}}
		}
		out = append(out, e)
	}
	return out, err
}

// tail is Fit.Tail of a network, which learns l under the model.
func (n *Observed) tail(ctx context.Context, workers int, l *Network, nodes *Nodes) (float64, error) {
	lead, err := n.leading()
	if err != nil || !(n.Samples > 0) || !(n.Errors[lead].StdErr > 0) {
		return math.NaN(), nil
	}
	m, err := nodes.moments(ctx, workers, l, n.Decodings[lead:lead+1])
	if err != nil {
		return 0, err
	}
	e := n.Errors[lead]
	return math.Sqrt((e.Mean*e.Mean + e.StdErr*e.StdErr*n.Samples) / m.squares[0]), nil
}

// wrong is the mean number of wrong bits in a sample, where it says how far the perceived label is
// from the level: after a training bit by bit, for unary and johnson, where no bit is set aside.
// Else it is 0.
//
// It is the error, but for the few samples at one end of the range that johnson decodes as the
// other end: they have few wrong bits, and an error of all levels.
func (n *Observed) wrong() (sum float64) {
	if n.Training != BCE || !counting(n.Code) {
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

// fitted lists the decodings whose errors are fitted, the leading one first, then gen-ex. There is
// none where bits that are easy to learn are dead: they spoil what every decoder reads, but not the
// rates of the other bits. The error wraps ErrNothingObserved.
func (n *Observed) fitted() ([]int, error) {
	for k, at := range n.Code.Transitions() {
		if len(at) <= learnable && math.IsNaN(n.Rates[k]) {
			return nil, nil
		}
	}
	lead, err := n.leading()
	if err != nil {
		return nil, err
	}
	out := []int{lead}
	for j, d := range n.Decodings {
		if j != lead && d.Soft && decode.Is[decode.GenEx](d.Decoder) && n.Errors[j].Mean > 0 {
			out = append(out, j)
		}
	}
	return out, nil
}

// learnable is the largest number of transitions of bits that every network learns: where such a
// bit is dead, the network is broken, while bits with more may be beyond what it can learn.
const learnable = 8
