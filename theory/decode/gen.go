package decode

import (
	"fmt"
	"math"
	"math/bits"

	"belsim/theory/code"
)

// Gen is the generic decoder (Eq. 5) on hard decisions: the label whose ±1 code
// word correlates best with the ±1 outputs. The correlation of two words is
// M − 2·(their Hamming distance), so the nearest code word wins; of several
// equally near ones the lowest level, as argmax takes it.
type Gen struct{ code *code.Code }

func newGen(c *code.Code) Gen { return Gen{c} }

// Name implements Decoder.
func (Gen) Name() string { return "gen" }

// Code returns the code whose words Gen compares with.
func (d Gen) Code() *code.Code { return d.code }

// Decode implements Decoder in O(L·M/64); in O(L·M) for a code of real numbers.
func (d Gen) Decode(word []uint64) int {
	if d.code.Real() {
		return d.DecodeLogits(signs(word, d.code.Bits()))
	}
	best, least := 0, d.code.Bits()+1
	for i := range d.code.Levels() {
		distance := 0
		for j, w := range d.code.Word(i) {
			distance += bits.OnesCount64(w ^ word[j])
		}
		if distance < least {
			best, least = i, distance
		}
	}
	return best + 1
}

// DecodeLogits returns the level whose code word has the largest correlation
// Σ_k z_k·C[n,k] with M logits, the lowest of several. Code words of 0 and 1
// give the same level as words of ±1, whose correlations are twice these less a
// number that is the same for all.
func (d Gen) DecodeLogits(z []float64) int {
	return d.Nearest(d.correlations(z))
}

// Nearest returns the level with the largest of L correlations (see Correlations),
// the lowest of several.
func (Gen) Nearest(correlations []float64) int {
	best, most := 0, math.Inf(-1)
	for i, c := range correlations {
		if c > most {
			best, most = i, c
		}
	}
	return best + 1
}

func (d Gen) correlations(z []float64) []float64 {
	c := make([]float64, d.code.Levels())
	for i := range c {
		c[i] = correlation(d.code, i, z)
	}
	return c
}

// correlation is Σ_k z_k·C[i,k].
func correlation(c *code.Code, i int, z []float64) float64 {
	sum := 0.0
	for k, v := range z {
		sum += v * c.Value(i, k)
	}
	return sum
}

// signs are the outputs ±1 of a packed word.
func signs(word []uint64, m int) []float64 {
	z := make([]float64, m)
	for k := range z {
		z[k] = float64(word[k/64]>>(k%64)&1)*2 - 1
	}
	return z
}

// Range implements Decoder.
func (d Gen) Range() (lo, hi int) { return 1, d.code.Levels() }

// GenEx is the expected label under a softmax of correlations (Eq. 6):
//
//	Σ_n n · softmax_n(τ · Σ_k z_k·C[n,k])
//
// for logits, or outputs of ±1. The code's rows are taken as they are, zeros and
// ones, as Eq. 6 is printed; rows of ±1 would be the same as twice the temperature
// τ.
type GenEx struct {
	code        *code.Code
	temperature float64
}

// NewGenEx returns the decoder for a code and a temperature τ, by which logits are
// multiplied. The error says that τ is no positive finite number.
func NewGenEx(c *code.Code, temperature float64) (GenEx, error) {
	if !(temperature > 0) || math.IsInf(temperature, 0) {
		return GenEx{}, fmt.Errorf("temperature τ = %v: want a positive finite number", temperature)
	}
	return GenEx{c, temperature}, nil
}

// Name implements Decoder.
func (GenEx) Name() string { return "gen-ex" }

// Code returns the code whose words GenEx compares with.
func (d GenEx) Code() *code.Code { return d.code }

// Temperature returns τ.
func (d GenEx) Temperature() float64 { return d.temperature }

// Expect returns the label for M logits or outputs of ±1.
func (d GenEx) Expect(z []float64) float64 { return d.Mean(Gen{d.code}.correlations(z)) }

// Mean returns the label for L correlations (see Correlations). The largest
// exponent is taken out of the softmax, so that none overflows.
func (d GenEx) Mean(correlations []float64) float64 {
	most := math.Inf(-1)
	for _, c := range correlations {
		most = max(most, d.temperature*c)
	}
	var weight, sum float64
	for i, c := range correlations {
		exponent := d.temperature*c - most
		if exponent < -80 { // less than 2·10⁻³⁵, of 65,536 levels less than 10⁻²⁵: no bit of the sums
			continue
		}
		w := math.Exp(exponent)
		weight += w
		sum += w * float64(i+1)
	}
	return sum / weight
}

// Decode implements Decoder: Value, rounded.
func (d GenEx) Decode(word []uint64) int { return int(math.Round(d.Value(word))) }

// Value returns the label of a packed word, whose bits are outputs of ±1.
func (d GenEx) Value(word []uint64) float64 { return d.Expect(signs(word, d.code.Bits())) }

// Range implements Decoder.
func (d GenEx) Range() (lo, hi int) { return 1, d.code.Levels() }
