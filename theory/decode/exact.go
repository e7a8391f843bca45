package decode

import (
	"math"
	"math/big"
	"math/bits"
	"slices"

	"belsim/theory/code"
)

const (
	coarse = 1e-6 // in a correlation: what gen-ex may be wrong by is of this size
	far    = 1e5  // below the largest correlation, no level has a weight in gen-ex for any τ above 0.001
)

// settle makes the first of the largest sums the row whose exact sum Σ_k z_k·C[n,k] is the largest,
// the first of several. Each of the sums has so many roundings at most.
//
// Each rounding is at most 2⁻⁵³ of a partial sum, and no partial sum is above Σ_k |z_k·C[n,k]|: a
// row whose sum is further below the largest than twice all roundings is not the largest. The
// others are compared exactly, unless they had no rounding.
//
// Where roundings reach what gen-ex sees, the sums become exact differences from the largest.
func settle(sums []float64, c *code.Code, z []float64, roundings int) {
	size := 0.0 // of the largest partial sum
	for _, v := range z {
		size += math.Abs(v)
	}
	if c.Real() {
		roundings *= 2 // products are rounded too
		size = 0
		for i := range sums {
			row := 0.0
			for k, v := range z {
				row += math.Abs(v * c.Value(i, k))
			}
			size = max(size, row)
		}
	}
	// One factor of two is for the two sums, the other for what is of second order.
	// The products of a real code may lose what is below 2⁻¹⁰⁷⁴ as well.
	largest, near := sums[place(sums)], 4*float64(roundings+1)*(0x1p-53*size+math.SmallestNonzeroFloat64)
	first, count := -1, 0
	for i, s := range sums {
		if s >= largest-near {
			if first < 0 {
				first = i
			}
			count++
		}
	}
	if near <= coarse && count < 2 || math.IsInf(near, 0) || !c.Real() && unrounded(z, size) {
		return
	}
	best := first
	for i := first + 1; i < len(sums); i++ {
		if sums[i] >= largest-near && difference(c, i, best, z).Sign() > 0 {
			best = i
		}
	}
	if near > coarse {
		for i, s := range sums {
			if sums[i] -= largest; s >= largest-near-far {
				sums[i], _ = difference(c, i, best, z).Float64()
			}
		}
		return
	}
	if slices.Index(sums, largest) != best {
		sums[best] = math.Nextafter(largest, math.Inf(1))
	}
}

// place is that of the largest of some numbers, the first of several. It takes a third of the time
// of functions that look for what is no number.
func place(sums []float64) int {
	at, largest := 0, sums[0]
	for i, s := range sums {
		if s > largest {
			at, largest = i, s
		}
	}
	return at
}

// unrounded reports whether no sum of some of the outputs is rounded; size is the sum of their
// magnitudes. All are multiples of a power of two, and so are their sums, which are exact where
// they have 53 digits of it at most. Bits, ±1 and most logits of half precision are such outputs.
func unrounded(z []float64, size float64) bool {
	unit := math.MaxInt
	for _, v := range z {
		if v != 0 {
			fraction, exponent := math.Frexp(v)
			digits := uint64(int64(math.Ldexp(fraction, 53))) // a negative number ends with as many zeros
			unit = min(unit, exponent-53+bits.TrailingZeros64(digits))
		}
	}
	return unit == math.MaxInt || size < math.Ldexp(1, unit+53)
}

// difference is that of the correlations of rows i and j, without rounding.
func difference(c *code.Code, i, j int, z []float64) *big.Float {
	const enough = 1 << 13 // digits of any sum of products of float64
	exact := func() *big.Float { return new(big.Float).SetPrec(enough) }
	sum, value, product := exact(), exact(), exact()
	for k, v := range z {
		if a, b := c.Value(i, k), c.Value(j, k); a != b {
			value.SetFloat64(v)
			sum.Add(sum, product.Mul(value, big.NewFloat(a)))
			sum.Sub(sum, product.Mul(value, big.NewFloat(b)))
		}
	}
	return sum
}
