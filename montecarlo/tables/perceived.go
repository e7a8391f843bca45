package tables

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"belsim/theory/decode"
)

// Limits of a logit in fixed point.
const (
	// largestLogit and a rounding stay below 16.5, for which correlations fit 32 bits.
	largestLogit = 16
	// largestNoise is more standard deviations than the noise of a logit has: see NormalTail.
	largestNoise = 9.25
	// largestExponent leaves a logit 5 binary digits after the point.
	largestExponent = 11
	// largestSD is a standard deviation that no network has.
	largestSD = 1 << 40
)

// perceivedRow is Row for logits of a perceived label.
//
// Means and standard deviations are divided by the same power of two, so that no standard deviation
// is cut: the law of a logit's sign hangs on their ratio. largestNoise standard deviations take
// half of the room of a logit at most. The power leaves 5 binary digits to the smallest standard
// deviation, or to 1 where that is less, and a mean that does not fit then is cut. What is left of
// it is half of the room or more, and so no smaller than any noise: a sign that is cut was sure,
// and is. See also SignRounding.
func (l *LogitMaker) perceivedRow(i int) (*Logits, error) {
	p, c := l.model, l.model.Code
	sd := append([]float64(nil), p.Perceived.ResidualSD()...)
	means := make([][]float64, decode.Strata)
	largest := 0.0
	for j := range means {
		y := l.perceived(i, j)
		means[j] = make([]float64, c.Bits())
		p.Perceived.Logits(means[j], y)
		for k, f := range means[j] {
			if math.IsNaN(f) || math.IsInf(f, 0) || !(sd[k] >= 0 && sd[k] <= largestSD) {
				return nil, fmt.Errorf("bit %d at label %v: logit %v ± %v; want finite numbers, and at most ±%.2g",
					k+1, y, f, sd[k], float64(largestSD))
			}
			largest = max(largest, math.Abs(f)+largestNoise*sd[k])
		}
	}
	t := &Logits{Row: i}
	most := slices.Max(sd)
	least := most
	for _, own := range sd {
		if own > 0 { // it is 0 without transitions
			least = min(least, own)
		}
	}
	coarsest := max(least, 1) * (1 << largestExponent)
	for unit := 1.0; 2*largestNoise*most > largestLogit*unit || largest > largestLogit*unit &&
		unit < coarsest; unit *= 2 {
		t.Exponent++
	}
	clear(l.drawn)
	if p.Correlates {
		l.perceivedCandidates(t, means, sd, l.threshold())
		l.orPairs(t)
	} else {
		l.drawAll()
	}
	// From here on in units of 2^Exponent.
	unit := math.Ldexp(1, -int(t.Exponent))
	for k := range sd {
		sd[k] *= unit
	}
	for j := range means {
		for k, f := range means[j] {
			room := largestLogit - largestNoise*sd[k]
			means[j][k] = min(max(f*unit, -room), room)
		}
	}
	l.finish(t, means, sd)
	return t, nil
}

// perceived returns the perceived label of part j of level i+1.
func (l *LogitMaker) perceived(i, j int) float64 {
	return decode.PerceivedLabel(float64(i+1), l.model.Perceived.Noise(), j)
}

// manySteps is how many transitions a code has for each level, at most, for which finding the
// candidates is less work than taking all levels.
const manySteps = 16

// perceivedCandidates is candidates for logits of a perceived label. At a perceived label the
// difference of the correlations of rows r and m is normal, its mean is a sum over the bits in
// which they differ, and its variance the sum of their sd_k². So level m stays out where, at
// every perceived label of the level, it is below the row r with the largest mean correlation
// by the threshold and sureDeviation standard deviations. That r is a candidate.
func (l *LogitMaker) perceivedCandidates(t *Logits, means [][]float64, sd []float64, threshold float64) {
	c := l.model.Code
	if c.TransitionCount() > manySteps*c.Levels() {
		l.everything(t)
		return
	}
	rounding := math.Ldexp(float64(c.Bits()), int(t.Exponent)-LogitFraction)
	correlations, variances := make([]float64, c.Levels()), make([]float64, c.Levels())
	weights := make([]float64, c.Bits())
	candidate := make([]bool, c.Levels())
	candidate[t.Row] = true
	for _, mean := range means {
		c.Along(correlations, mean)
		best := floats.MaxIdx(correlations)
		first := 0.0 // variance of the difference of rows best and 0
		for k, s := range sd {
			weights[k] = s * s
			if c.Bit(best, k) {
				weights[k] = -weights[k]
			}
			if c.Bit(best, k) != c.Bit(0, k) {
				first += s * s
			}
		}
		c.Along(variances, weights)
		for m, v := range variances {
			below := correlations[best] - correlations[m] - rounding
			if below <= threshold+sureDeviation*math.Sqrt(max(first+v, 0)) {
				candidate[m] = true
			}
		}
	}
	for m, is := range candidate {
		if is {
			t.Levels = append(t.Levels, uint16(m))
		}
	}
	l.drawDiffering(t.Levels)
}
