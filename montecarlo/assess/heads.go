package assess

import (
	"fmt"
	"math"

	"belsim/errmodel/observed"
	"belsim/montecarlo/forecast"
	"belsim/theory/base/arrayfile"
	"belsim/theory/code"
)

// How direct regression is written, which has neither the training nor the decoder of a code.
const l1, nearest, predictions = "l1", "nearest", "labels"

// written are the training, the decoder and the outputs of a forecast, as rows have them.
func written(x *forecast.Forecast) (training, decoder, outputs string) {
	if x.Code.Name() == forecast.Direct {
		return l1, nearest, predictions
	}
	return string(x.Training), x.Decoding.Decoder.Name(), x.Decoding.Outputs()
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
	c, err := code.New("unary", levels)
	if err != nil {
		return nil, err
	}
	return c.As(o.Code), nil
}

// mapHead makes bits of unary of a head's outputs: of a prediction those of the nearest level, and of CORN, whose
// outputs are of y > k where y > k−1, the products of the probabilities up to each.
func mapHead(c *code.Code, labels observed.Labels, k observed.Kind, outputs *arrayfile.Rows) {
	switch {
	case c.Name() == forecast.Direct:
		outputs.Map(c.Bits(), func(dst, row []float64) {
			level := int(math.Round(labels.Clipped(row[0])))
			for k := range dst {
				dst[k] = 0
				if c.Bit(level-1, k) {
					dst[k] = 1
				}
			}
		})
	case k == observed.Logits:
		outputs.Map(c.Bits(), func(dst, row []float64) {
			const largest = 700 // beyond it, exp overflows
			sum := 0.0
			for k, z := range row {
				sum += min(z, 0) - math.Log1p(math.Exp(-math.Abs(z)))
				dst[k] = min(sum-math.Log(-math.Expm1(sum)), largest)
			}
		})
	default:
		outputs.Map(c.Bits(), func(dst, row []float64) {
			product := 1.0
			for k, p := range row {
				product *= p
				dst[k] = product
			}
		})
	}
}
