package montecarlo

import (
	"math"
	"math/bits"
	"sync"

	"gonum.org/v1/gonum/stat/distuv"
)

// Standard normal numbers in fixed point, normalOne to a standard deviation,
// made from uniform ones by integer operations alone, so that every processor
// and device makes the same.
//
// A draw of 32 bits is a sign and a probability p < ½; the number is the
// magnitude that is exceeded with probability p (the inverse of the normal
// distribution function). p is split as floating point splits a number, octave by
// octave towards zero, each octave into normalSegments parts, and on each part the
// inverse is a parabola through its ends and its middle. It is within 3·10⁻⁷
// of the true one, see TestNormal. In the far tail, p < 2⁻¹⁷, 64 further
// bits of another stream continue p, so that the tail is as fine as the rest and
// ends at 9.2 standard deviations.
const (
	normalFraction = 24
	normalOne      = 1 << normalFraction
	normalOctaves  = 64
	normalSegments = 64
	normalTail     = 1 << 15 // draws below it, sign left out, continue
)

// NormalPart is the parabola c0 − t·(c1 − t·c2) on one part, t in [0, 1) as a
// fraction of 2³².
type NormalPart struct{ C0, C1, C2 uint32 }

// normalTable are the parabolas, part by part within octave by octave.
type normalTable [normalOctaves * normalSegments]NormalPart

// NormalTable returns the parabolas: part of the numeric contract, for
// backends. It must not be changed.
var NormalTable = sync.OnceValue(func() *normalTable {
	t := new(normalTable)
	for octave := range normalOctaves {
		for s := range normalSegments {
			at := func(f float64) float64 {
				p := math.Ldexp(1+(float64(s)+f)/normalSegments, -octave-2)
				return normalOne * exceededWith(p)
			}
			x0, xh, x1 := at(0), at(0.5), at(1)
			c2 := 2 * (x0 + x1 - 2*xh)
			t[octave*normalSegments+s] = NormalPart{
				uint32(math.Round(x0)), uint32(math.Round(x0 - x1 + c2)), uint32(math.Round(max(0, c2))),
			}
		}
	}
	return t
})

// exceededWith returns the x that a standard normal number exceeds with
// probability p, 0 < p < 1: −Φ⁻¹(p).
func exceededWith(p float64) float64 { return -distuv.UnitNormal.Quantile(p) }

// normal returns the number that a draw stands for; refine gives the 64 bits that
// continue a draw in the tail.
func normal(table *normalTable, draw uint32, refine func() uint64) int32 {
	v := draw &^ (1 << 31)
	var index, t uint32
	if v >= normalTail {
		w := v<<1 | 1
		z := uint32(bits.LeadingZeros32(w))
		m := w << (z & 31)
		index, t = z*normalSegments+m>>25&(normalSegments-1), m<<7
	} else {
		w := uint64(v)<<49 | refine()>>15 | 1
		z := uint32(bits.LeadingZeros64(w))
		m := uint32(w << (z & 63) >> 32)
		z += 16
		if z >= normalOctaves {
			z, m = normalOctaves-1, 1<<31
		}
		index, t = z*normalSegments+m>>25&(normalSegments-1), m<<7
	}
	part := &table[index&(normalOctaves*normalSegments-1)]
	x := int32(part.C0 - mulHigh(t, part.C1-mulHigh(t, part.C2)))
	sign := int32(draw) >> 31 // 0 or −1
	return (x ^ sign) - sign
}

func mulHigh(a, b uint32) uint32 { return uint32(uint64(a) * uint64(b) >> 32) }

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
