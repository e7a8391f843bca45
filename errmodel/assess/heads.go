package assess

import (
	"context"
	"fmt"
	"math"

	"belsim/errmodel/head"
	"belsim/errmodel/observed"
	"belsim/theory/base/arrayfile"
	"belsim/theory/base/position"
	"belsim/theory/code"
	"belsim/theory/decode"
)

// predicts reports whether outputs are predictions of direct regression.
func (o Options) predicts() bool { return o.Code == head.Direct }

// resolve puts the code and the training of a head that is one in the place of its name. The error
// says that the options have another training.
func (o *Options) resolve() error {
	h := head.Lookup(o.Code)
	if h.Name == head.CORN {
		o.Decoders = o.Decoders.With(decode.CumulativeEntry())
	}
	if h.Name == "" || h.Own {
		return nil
	}
	if o.Training != "" && o.Training != h.Training {
		return fmt.Errorf("%s is trained with %s, and not with %s", o.Code, h.Training.Loss(), o.Training.Loss())
	}
	o.Code, o.Training = h.Code, h.Training
	return nil
}

// parts is the number K of a network's outputs that have targets of their own.
func parts(o Options, outputs *arrayfile.Rows) int {
	if o.predicts() {
		_, k := outputs.Dims()
		return k
	}
	return outputs.Parts()
}

// distribution reports whether outputs of a code are probabilities of a softmax over its levels,
// and says which rows do not add up to 1: of a head with a softmax, or where half of the rows of
// one-hot, which was not trained bit by bit, add up to 1. It refuses a row of zeros.
func (o Options) distribution(ctx context.Context, onehot bool, k observed.Kind, outputs *arrayfile.Rows) (softmax bool,
	note string, err error) {
	if !onehot || k != observed.Probabilities || o.Training == head.BCE {
		return false, "", nil
	}
	s, err := observed.FindSoftmax(ctx, outputs)
	named := head.Of(o.Code, o.Training)
	switch softmax = named.Name != "" || 2*s.Sums >= s.Rows; {
	case err != nil || !softmax:
		return false, "", err
	case s.Zeros > 0:
		return false, "", fmt.Errorf("%s: row %s: no probability is above 0; want those of a softmax, which add up to 1", outputs.Name(),
			position.At(s.Zeros))
	case s.Off > 0:
		note = fmt.Sprintf("%s: %d of %d rows of probabilities do not add up to 1, such as row %s with %.3g; each is divided by its sum",
			outputs.Name(), s.Rows-s.Sums, s.Rows, position.At(s.Off), s.Sum)
	}
	return true, note, nil
}

// mapHead makes a head's outputs those of a code: of a prediction the bits of unary of the nearest
// level, of CORN, whose outputs are of y > k where y > k−1, the products of the probabilities up to
// each, and of a distribution over the levels, whose sum is one, the probabilities that have its
// logarithms as logits. c is nil for a fitted decoder, which reads no predictions. predicted is the
// last prediction that was read, where these are predictions, else nil.
func (o Options) mapHead(c *code.Code, labels observed.Labels, k observed.Kind, distribution bool,
	outputs *arrayfile.Rows) (predicted *float64) {
	_, m := outputs.Dims()
	switch {
	case o.predicts() && c != nil:
		predicted = new(float64)
		outputs.Map(c.Bits(), func(dst, row []float64) {
			*predicted = row[0]
			level := labels.Nearest(row[0])
			for k := range dst {
				dst[k] = 0
				if c.Bit(level-1, k) {
					dst[k] = 1
				}
			}
		})
	case o.Code == head.CORN && k == observed.Logits:
		outputs.Map(m, func(dst, row []float64) {
			const largest = 700 // beyond it, exp overflows
			sum := 0.0
			for k, z := range row {
				sum -= decode.Softplus(-z)
				dst[k] = min(sum-math.Log(-math.Expm1(sum)), largest)
			}
		})
	case o.Code == head.CORN:
		outputs.Map(m, func(dst, row []float64) {
			product := 1.0
			for k, p := range row {
				product *= p
				dst[k] = product
			}
		})
	case distribution:
		outputs.Map(m, func(dst, row []float64) {
			for k, p := range row {
				dst[k] = p / (1 + p)
			}
		})
	}
	return predicted
}
