package decode

import (
	"math"

	"belsim/theory/code"
)

// GenEx is the expected label under a softmax of correlations (Eq. 6):
//
//	Σ_n n · softmax_n(τ · Σ_k z_k·C[n,k])
//
// for logits, or outputs of ±1. On a circle it is the direction of the mean of unit vectors, level n
// at the angle 2π(n−1)/L: a place from 1 to below L+1. The rows of a code hold zeros and ones, as in the
// printed Eq. 6. Rows of ±1 would have the same effect as twice the temperature τ.
type GenEx struct {
	code        *code.Code
	temperature float64
}

var (
	_ Correlator  = GenEx{}
	_ RealDecoder = GenEx{}
	_ Tempered    = GenEx{}
)

var genExEntry = Entry{
	Name:      GenEx{}.Name(),
	Logits:    true,
	RealCodes: true,
	New:       func(c *code.Code, o Options) (Decoder, error) { return NewGenEx(c, o.Temperature) },
}

// NewGenEx returns the decoder for a code and a temperature τ, by which logits are
// multiplied. The error is that of CheckTemperature.
func NewGenEx(c *code.Code, temperature float64) (GenEx, error) {
	if err := CheckTemperature(temperature); err != nil {
		return GenEx{}, err
	}
	return GenEx{c, temperature}, nil
}

// Name implements Decoder.
func (GenEx) Name() string { return "gen-ex" }

// Temperature implements Tempered.
func (d GenEx) Temperature() float64 { return d.temperature }

// AtTemperature implements Tempered.
func (d GenEx) AtTemperature(tau float64) (Decoder, error) { return NewGenEx(d.code, tau) }

// DecodeLogits implements LogitDecoder, in O(L·M).
func (d GenEx) DecodeLogits(z []float64) float64 {
	of := correlations(d.code, z)
	_, mean := d.Weigh(of, of, of[place(of)], math.Exp)
	return mean
}

// FromCorrelations implements Correlator.
func (d GenEx) FromCorrelations(correlations []float64) float64 {
	_, mean := d.Weigh(make([]float64, len(correlations)), correlations, correlations[place(correlations)], math.Exp)
	return mean
}

// Weigh sets weights, of length L, to the probabilities of the levels times total, and returns the
// answer, their mean, by the correlations and the largest of them. Weights may be the correlations. exp is
// Exp or math.Exp. The largest exponent is subtracted from all, so that none overflows.
func (d GenEx) Weigh(weights, correlations []float64, largest float64, exp func(float64) float64) (total,
	mean float64) {
	most := d.temperature * largest
	infinite, sum, places := math.IsInf(most, 0), 0.0, d.code.Places()
	weights = weights[:len(correlations)]
	for i, c := range correlations {
		exponent := d.temperature*c - most
		if infinite {
			exponent = d.temperature * (c - largest)
		}
		w := 0.0
		if exponent >= -80 { // others weigh less than 2·10⁻³⁵, of 65,536 levels less than 10⁻²⁵: no bit of the sums
			w = exp(exponent)
		}
		weights[i] = w
		total += w
		if places == nil {
			sum += w * float64(i+1)
		} else {
			sum += w * places[i]
		}
	}
	if d.code.Circular() {
		return total, d.code.Circle().Mean(weights)
	}
	return total, sum / total
}

// Decode implements Decoder: Value, rounded.
func (d GenEx) Decode(word []uint64) int {
	level := round(d.Value(word))
	if d.code.Circular() && level > d.code.Levels() {
		return 1
	}
	return level
}

// Value implements RealDecoder: the bits of the word are outputs of ±1.
func (d GenEx) Value(word []uint64) float64 { return d.DecodeLogits(signs(word, d.code.Bits())) }
