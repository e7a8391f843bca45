package assess

import (
	"fmt"
	"math"

	"belsim/errmodel/observed"
	"belsim/errmodel/perceived"
	"belsim/montecarlo/forecast"
	"belsim/theory/base/arrayfile"
	"belsim/theory/code"
)

// How direct regression is written, which has neither the training nor the decoder of a code.
const l1, nearest, predictions = "l1", "nearest", "labels"

// written are the training, the decoder and the outputs of a forecast, as rows have them.
func written(x *forecast.Forecast) (training, decoder, outputs string) {
	switch {
	case x.Decoding.Predicts():
		return l1, x.Decoding.Decoder.Name(), x.Decoding.Outputs()
	case x.Code.Name() == forecast.Direct:
		return l1, nearest, predictions
	}
	return string(x.Training), x.Decoding.Decoder.Name(), x.Decoding.Outputs()
}

// trained are the trainings of the heads that have a name of their own.
var trained = map[string]perceived.Training{softmax: perceived.CE, hlGauss: perceived.Soft, forecast.Direct: perceived.BCE, forecast.CORN: perceived.BCE}

// Softmax and HL-Gauss are one-hot after a training.
const softmax, hlGauss, oneHot = "softmax", "hl-gauss", "onehot"

// resolve puts the code and the training of softmax or HL-Gauss in the place of its name. The error says that the options have another
// training.
func (o *Options) resolve() error {
	if o.Code != softmax && o.Code != hlGauss {
		return nil
	}
	t := trained[o.Code]
	if o.Training != "" && o.Training != t {
		return fmt.Errorf("%s is trained with %s, and not with %s", o.Code, t.Loss(), o.Training.Loss())
	}
	o.Code, o.Training = oneHot, t
	return nil
}

// called is what people call a code after a training.
func called(name string, t perceived.Training) string {
	switch {
	case name != oneHot:
	case t == perceived.CE:
		return softmax
	case t == perceived.Soft:
		return hlGauss
	}
	return name
}

// isHead reports whether a name is that of a head whose outputs are no bits of a code: they are read as those of unary.
func isHead(name string) bool { return name == forecast.Direct || name == forecast.CORN }

// parts is the number K of a network's outputs that have targets of their own.
func parts(o Options, outputs *arrayfile.Rows) int {
	if o.Code == forecast.Direct {
		_, k := outputs.Dims()
		return k
	}
	return outputs.Parts()
}

// openHead is unary under the name of a head, with as many levels as its outputs have or the options say.
func openHead(o Options, outputs *arrayfile.Rows) (*code.Code, error) {
	_, m := outputs.Dims()
	levels := o.Levels
	switch direct := o.Code == forecast.Direct; {
	case direct && levels == 0:
		return nil, fmt.Errorf("%s has predictions, which have no number of levels; say how many levels the codes have that they are compared with", outputs.Name())
	case !direct && levels == 0:
		levels = m + 1
	case !direct && levels != m+1:
		return nil, fmt.Errorf("%s: %d columns, but %s of %d levels has %d outputs", outputs.Name(), m, o.Code, levels, levels-1)
	}
	return unaryAs(o.Code, levels)
}

// unaryAs is unary under the name of a head.
func unaryAs(head string, levels int) (*code.Code, error) {
	c, err := code.New("unary", levels)
	if err != nil {
		return nil, err
	}
	return c.As(head), nil
}

// mapHead makes a head's outputs those of a code: of a prediction the bits of unary of the nearest level, of CORN, whose outputs are of
// y > k where y > k−1, the products of the probabilities up to each, and of a distribution over the levels, whose sum is one, the
// probabilities that have its logarithms as logits. c is nil for a fitted decoder, which reads no predictions. predicted is the last
// prediction that was read, where these are predictions, else nil.
func (o Options) mapHead(c *code.Code, labels observed.Labels, k observed.Kind, outputs *arrayfile.Rows) (predicted *float64) {
	_, m := outputs.Dims()
	switch {
	case o.Code == forecast.Direct && c != nil:
		predicted = new(float64)
		outputs.Map(c.Bits(), func(dst, row []float64) {
			*predicted = row[0]
			level := int(math.Round(labels.Clipped(row[0])))
			for k := range dst {
				dst[k] = 0
				if c.Bit(level-1, k) {
					dst[k] = 1
				}
			}
		})
	case o.Code == forecast.CORN && k == observed.Logits:
		outputs.Map(m, func(dst, row []float64) {
			const largest = 700 // beyond it, exp overflows
			sum := 0.0
			for k, z := range row {
				sum += min(z, 0) - math.Log1p(math.Exp(-math.Abs(z)))
				dst[k] = min(sum-math.Log(-math.Expm1(sum)), largest)
			}
		})
	case o.Code == forecast.CORN:
		outputs.Map(m, func(dst, row []float64) {
			product := 1.0
			for k, p := range row {
				product *= p
				dst[k] = product
			}
		})
	case o.Code == oneHot && k == observed.Probabilities && (o.Training == perceived.CE || o.Training == perceived.Soft):
		outputs.Map(m, func(dst, row []float64) {
			for k, p := range row {
				dst[k] = p / (1 + p)
			}
		})
	}
	return predicted
}
