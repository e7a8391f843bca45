package fitdecoder

import (
	"math"

	"belsim/errmodel/observed"
	"belsim/theory/code"
)

// recalibration is the calibration of every bit by an affine map of its logit (Platt scaling):
// slope_k·z_k + shift_k.
type recalibration struct{ slope, shift []float64 }

// steps is the largest number of Newton's steps.
const steps = 12

// recalibrate fits the logistic regression of every bit on its own output, by Newton's method, for
// some samples. A weak prior holds the map near the identity, so that a bit without errors has a finite
// one.
func recalibrate(c *code.Code, s *observed.Samples, of []int, scale []float64) *recalibration {
	m := c.Bits()
	out := &recalibration{make([]float64, m), make([]float64, m)}
	const prior = 0.1
	for k := range m {
		x := func(i int) float64 { return s.Outputs[i*m+k] / scale[k] }
		a, b := scale[k], 0.0
		for range steps {
			ga, gb := -prior*(a/scale[k]-1)/scale[k], -prior*b
			haa, hab, hbb := prior/(scale[k]*scale[k]), 0.0, prior
			for _, i := range of {
				v := x(i)
				p := 1 / (1 + math.Exp(-a*v-b))
				w, g := p*(1-p), -p
				if c.Bit(s.Level[i]-1, k) {
					g++
				}
				ga, gb = ga+g*v, gb+g
				haa, hab, hbb = haa+w*v*v, hab+w*v, hbb+w
			}
			det := haa*hbb - hab*hab
			if !(det > 0) {
				break
			}
			da, db := (hbb*ga-hab*gb)/det, (haa*gb-hab*ga)/det
			damp := min(1, 2/max(math.Abs(da), math.Abs(db), 1e-300))
			a, b = max(a+damp*da, 0), b+damp*db
			if math.Abs(da)+math.Abs(db) < 1e-6 {
				break
			}
		}
		out.slope[k], out.shift[k] = a/scale[k], b
	}
	return out
}
