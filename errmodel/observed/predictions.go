package observed

import (
	"fmt"
	"math"
)

// predictions collects what tells whether numbers can be predictions of the labels.
type predictions struct {
	count, outside  int
	least, most     float64
	line, unclipped LineSums // of predictions and the targets, in levels
}

// add adds a prediction of a target in levels, and returns it in levels. The error refuses a prediction whose square
// would be no number.
func (p *predictions) add(l Labels, prediction, y float64) (float64, error) {
	at := l.inLevels(prediction)
	if !(math.Abs(at) <= mostLogit) {
		return 0, fmt.Errorf("prediction %v is more than %.1g levels beyond the range", prediction, mostLogit)
	}
	if l.Circle == nil && (at < 0.5 || at > float64(l.Levels)+0.5) {
		p.outside++
	}
	if p.count++; p.count == 1 {
		p.least, p.most = prediction, prediction
	}
	p.least, p.most = min(p.least, prediction), max(p.most, prediction)
	p.line.Add(l.Clipped(prediction), y) // a far one is no reason to take all for those of another unit
	p.unclipped.Add(at, y)               // of standardized ones half are beyond an end
	return at, nil
}

const (
	// guessed is the mean square of the error, over the variance of the targets, from which
	// predictions are hardly better than a constant: where they are 1/8 of what they should be, it
	// is (7/8)².
	guessed = 0.75
	// explained is the share of the variance of the targets that a line through such predictions
	// explains where they have another unit.
	explained = 0.75
	// fewest is the number of predictions from which they are judged so: of fewer, a line explains
	// much by chance. Of 30 that do not depend on their targets it explains 0.75 with a probability
	// of 6e-10.
	fewest = 30
)

// check refuses what cannot be predictions of these labels, in a file: most lie outside of the
// range, all are the same, or a line through them is near to the targets, and they are not.
func (p *predictions) check(l Labels, name string) error {
	lo, hi := 1.0, float64(l.Levels)
	if l.Real {
		lo, hi = l.Lo, l.Hi
	}
	switch {
	case 2*p.outside > p.count:
		return fmt.Errorf("%s: %d of %d predictions are outside %v to %v; want the units of the targets", name,
			p.outside, p.count, lo, hi)
	case p.count < fewest || !(p.line.yy > 0):
	case p.most-p.least <= 1e-6*max(math.Abs(p.least), math.Abs(p.most)): // the rounding of a float32
		return fmt.Errorf("%s: all %d predictions are %.6g; want those of a trained network, one for each sample", name,
			p.count, p.most)
	case l.Circle != nil: // where there are no lines
	case p.line.bias.square >= guessed*p.line.yy:
		for _, s := range []LineSums{p.line, p.unclipped} {
			if s.xx > 0 && s.xy*s.xy >= explained*s.xx*s.yy {
				return fmt.Errorf("%s: the predictions are hardly nearer than a constant, and near once multiplied by %.3g "+
					"and shifted; want the units of the targets", name, s.Line().Slope)
			}
		}
	}
	return nil
}
