package lanes

import (
	"math"

	"belsim/montecarlo/tables"
	"belsim/theory/base/processor"
)

// Affine makes the scores of candidates from normal numbers, in units of 1/tables.LogitOne, and
// the largest of each sample: sums has tables.AffineRows for each of f's groups, of which there is
// at least one.
func Affine(sums []Ints, most *Ints, x []Ints, f *tables.Affine) {
	if !processor.Vectors || len(f.Factors) == 0 {
		affineGeneric(sums, most, x, f)
		return
	}
	affineVector(&sums[0], most, &x[0], &f.Factors[0], &f.Offsets[0], &f.Lengths[0], len(f.Lengths))
}

// affineGeneric is Affine in Go.
func affineGeneric(sums []Ints, most *Ints, x []Ints, f *tables.Affine) {
	for i := range most {
		most[i] = math.MinInt32
	}
	at := 0
	for g, length := range f.Lengths {
		var scores [tables.AffineRows]Floats
		for r := range scores {
			for i := range scores[r] {
				scores[r][i] = f.Offsets[g*tables.AffineRows+r]
			}
		}
		for k := range length {
			for r := range scores {
				factor := f.Factors[at]
				at++
				for i, v := range x[k] {
					scores[r][i] += float32(factor * float32(v))
				}
			}
		}
		for r := range scores {
			for i, s := range scores[r] {
				v := int32(math.RoundToEven(float64(s)))
				sums[g*tables.AffineRows+r][i] = v
				most[i] = max(most[i], v)
			}
		}
	}
}

// Median finds the place of the median of each sample: of the first candidate up to which half of
// the weights are. The weights are those of Softmax. scratch has the length 2·len(sums) + 2.
func Median(place *Ints, sums []Ints, most *Ints, limit int64, scale float32, scratch []Floats) {
	if !processor.Vectors {
		medianGeneric(place, sums, most, narrow(limit), scale, scratch)
		return
	}
	medianVector(place, &sums[0], most, len(sums), narrow(limit), scale, &tables.Decay, &scratch[0])
}

// medianGeneric is Median in Go.
func medianGeneric(place *Ints, sums []Ints, most *Ints, limit int32, scale float32, scratch []Floats) {
	weights := scratch[:len(sums)]
	weightsGeneric(weights, sums, 1, most, limit, scale)
	var half, below Floats
	for m := range weights {
		for i, w := range weights[m] {
			half[i] += w
		}
	}
	for i := range half {
		half[i] *= 0.5
	}
	*place = Ints{}
	for m := range weights {
		for i, w := range weights[m] {
			below[i] += w
			if below[i] < half[i] {
				place[i]++
			}
		}
	}
}

// First finds the place of the first of the largest scores of each sample.
func First(place *Ints, sums []Ints, most *Ints) {
	if !processor.Vectors {
		firstGeneric(place, sums, most)
		return
	}
	firstVector(place, &sums[0], most, len(sums))
}

// firstGeneric is First in Go.
func firstGeneric(place *Ints, sums []Ints, most *Ints) {
	for m := len(sums) - 1; m >= 0; m-- {
		for i, v := range sums[m] {
			if v == most[i] {
				place[i] = int32(m)
			}
		}
	}
}
