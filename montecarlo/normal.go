package montecarlo

import (
	"math"
	"math/bits"

	"gonum.org/v1/gonum/stat/distuv"
)

// Standard normal numbers in fixed point, normalOne to a standard deviation,
// made from uniform ones by operations that are the same on every processor and
// device.
//
// A draw of 32 bits is a sign and a probability p < ½; the number is the
// magnitude that is exceeded with probability p (the inverse of the normal
// distribution function). p is split as floating point splits a number: into its
// octave, [2^(−2−o), 2^(−1−o)), and where it lies there; on each octave the inverse
// is a polynomial (normalTable) in single precision. It is within 2·10⁻⁶ of the true
// one, see TestNormal. In the far tail, p < 2⁻¹⁷, 64 further bits of another stream
// continue p, so that the tail is as fine as the rest and ends at 9.2 standard
// deviations.
const (
	normalFraction = 24
	normalOne      = 1 << normalFraction
	normalOctaves  = 64
	normalDegree   = 7
	normalTail     = 1 << 15 // draws below it, sign left out, continue
)

// NormalTable are the coefficients of the polynomials, normalOne to a standard
// deviation: element [k][o] is that of (m − 1.5)ᵏ on octave o, for p = m·2^(−2−o), 1
// ≤ m < 2. Part of the numeric contract, for backends.
type NormalTable [normalDegree + 1][normalOctaves]float32

// Normals returns the table, for backends.
func Normals() NormalTable { return normalTable }

// exceededWith returns the x that a standard normal number exceeds with
// probability p, 0 < p < 1: −Φ⁻¹(p).
func exceededWith(p float64) float64 { return -distuv.UnitNormal.Quantile(p) }

// normal returns the number that a draw stands for; refine gives the 64 bits that
// continue a draw in the tail.
func normal(draw uint32, refine func() uint64) int32 {
	v := draw &^ (1 << 31)
	var octave, m uint32
	if v >= normalTail {
		w := v<<1 | 1
		octave = uint32(bits.LeadingZeros32(w))
		m = w << (octave & 31)
	} else {
		w := uint64(v)<<49 | refine()>>15 | 1
		z := uint32(bits.LeadingZeros64(w))
		octave, m = z+normalOctaves/4, uint32(w<<(z&63)>>32)
		if octave >= normalOctaves {
			octave, m = normalOctaves-1, 1<<31
		}
	}
	f := math.Float32frombits(m>>8&(1<<23-1)|0x3F800000) - 1.5
	t := &normalTable
	octave &= normalOctaves - 1
	p := t[normalDegree][octave]
	for k := normalDegree - 1; k >= 0; k-- {
		p = float32(p*f) + t[k][octave]
	}
	sign := int32(draw) >> 31 // 0 or −1
	return (int32(p) ^ sign) - sign
}

// decay is 2^−t for softmax weights, 0 ≤ t < 120, within 3·10⁻⁷ of it: 2^−n by the
// exponent, 2^−f by a polynomial on [0, 1). Single precision is enough for weights,
// and its operations, rounded one by one, are the same everywhere.
func decay(t float32) float32 {
	n := int32(t)
	f := t - float32(n)
	p := float32(decayCoefficients[5])
	for i := 4; i >= 0; i-- {
		p = float32(p*f) + decayCoefficients[i]
	}
	return math.Float32frombits(math.Float32bits(p) - uint32(n)<<23)
}

// decayCoefficients are of the polynomial that is nearest to 2^−f on Chebyshev's
// points of [0, 1].
var decayCoefficients = [6]float32{
	0.9999999403953552, -0.6931431889533997, 0.24017949402332306, -0.055299606174230576,
	0.009210875257849693, -0.0009475536644458771,
}
