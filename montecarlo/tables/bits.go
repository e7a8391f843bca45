package tables

// Bits holds the numbers that turn random numbers into samples of the hard decisions of one
// label, when the bits err independently. Its zero value is ready for Set.
//
// Independent bits that err with probabilities e_k are a Poisson process of
// unit rate on an axis where bit k owns a stretch of its hazard −ln(1−e_k): bit
// k errs iff a point lands on its stretch, which leaves it untouched with
// probability exp(−hazard) = 1−e_k. So a sample is a Poisson number of points
// and a place for each. A bit with e > ½ is toggled beforehand and errs with
// 1−e from there, so that no hazard exceeds ln 2 and e = 1 is exact.
type Bits struct {
	Row     int      // of the code matrix, from 0
	Base    []uint64 // the likeliest output: the code word, bits with e > ½ toggled
	Hazard  float64  // sum of the hazards: mean number of points of a sample; 0 where no bit can err
	Classes []Class  // the law of the number of points; none when no bit can err
	Columns []Column // where points fall: a power of two of them; none when no bit can err

	hazards []float64
	points  pointScratch
	alias   aliasScratch
}

// Set makes b the tables of row i, whose code word is word and whose bits err with
// probabilities e, of length M. It uses the memory that b has.
func (b *Bits) Set(i int, word []uint64, e []float64) {
	b.Row = i
	b.Base = append(b.Base[:0], word...)
	b.hazards = b.hazards[:0]
	b.Hazard = 0
	for k, e := range e {
		if e > 0.5 {
			b.Base[k/64] ^= 1 << (k % 64)
			e = 1 - e // exact for e in [½, 1]
		}
		h := hazard(e)
		b.hazards = append(b.hazards, h)
		b.Hazard += h
	}
	if b.Hazard == 0 {
		b.Classes, b.Columns = b.Classes[:0], b.Columns[:0]
		return
	}
	b.Classes = newClasses(b.Classes, b.Hazard, &b.points)
	b.Columns = newColumns(b.Columns, b.hazards, &b.alias)
}

// hazard returns −ln(1−e) for e in [0, ½].
//
// It is 2·artanh(s) with s = e/(2−e) ≤ ⅓, a series of odd powers of s. The terms after s³⁵/35
// are left out; their sum is below s³⁷/37/(1−s²) < 2⁻⁶³·s. math.Log1p is not used, because
// every processor and device must give the same bits: the operations are operations of IEEE
// 754, in this order, and the conversions keep a compiler from fusing a product with a sum.
func hazard(e float64) float64 {
	if e == 0 {
		return 0
	}
	s := e / (2 - e)
	x := float64(s * s)
	sum := 0.0
	for n := hazardTerms - 1; n > 0; n-- {
		sum = float64(x * (sum + hazardSeries[n]))
	}
	return 2 * (s + float64(s*sum))
}

const hazardTerms = 18

// hazardSeries[n] is 1/(2n+1), the coefficient of s²ⁿ⁺¹.
var hazardSeries = [hazardTerms]float64{
	1, 1. / 3, 1. / 5, 1. / 7, 1. / 9, 1. / 11, 1. / 13, 1. / 15, 1. / 17,
	1. / 19, 1. / 21, 1. / 23, 1. / 25, 1. / 27, 1. / 29, 1. / 31, 1. / 33, 1. / 35,
}

// MaxClasses is the largest number of classes, and of likely numbers of points
// before they are chosen from, that any row of the given number of bits has.
func MaxClasses(bits int) int {
	// No hazard exceeds ln 2, and a larger mean has a wider law.
	below, above := likelyPoints(nil, nil, float64(bits)*hazard(0.5))
	return len(below) + len(above) + 2
}
