package errmodel_test

import (
	"context"
	"math"
	"testing"

	"belsim/errmodel"
)

func learn(tb testing.TB, p errmodel.Perceived, name string, levels int, prior []float64) *errmodel.Learned {
	tb.Helper()
	l, err := p.Learn(context.Background(), 1, mustNew(tb, name, levels), prior)
	if err != nil {
		tb.Fatal(err)
	}
	return l
}

// TestLearnPrototype compares with an implementation of the same model in NumPy, written by
// itself: Newton's method on a dense matrix of features, and SciPy's L-BFGS-B of 100 steps. The
// numbers are the logits of four bits (first row: their index from 0) at two perceived labels, on
// grid points, by label and bit; their misfits; and their mean error probability, by
// integration over the grid instead of strata. η is 0.25, and the prior is uniform.
//
// Trained bit by bit, both find the minimum: only far logits, without weight, differ by more
// than rounding of the last printed digit. For the decoder, both stop in a flat valley.
func TestLearnPrototype(t *testing.T) {
	for _, c := range []struct {
		code                 string
		levels               int
		noise                float64
		training             errmodel.Training
		bits                 []int
		labels               []float64
		logits, misfits, err []float64
	}{
		{"unary", 64, 1.6, errmodel.BitByBit, []int{0, 21, 31, 62}, []float64{13.95, 34.09}, []float64{11.2584, -9.84794, -21.3921, -41.9744, 27.9652, 13.3525, 1.83045, -25.3332}, []float64{0.287751, 0.35016, 0.350478, 0.287751}, []float64{0.0137492, 0.0199838, 0.019985, 0.0137492}},
		{"hadamard", 64, 1.6, errmodel.BitByBit, []int{0, 21, 32, 63}, []float64{13.95, 34.09}, []float64{20, -0.0636719, 21.3715, 0.0003997, 20, -0.0386789, -1.83019, 0.0374573}, []float64{0, 0.200069, 0.350624, 0.20001}, []float64{0, 0.491207, 0.0199854, 0.49764}},
		{"onehot", 64, 1.6, errmodel.BitByBit, []int{0, 21, 32, 63}, []float64{13.95, 34.09}, []float64{-11.2285, -3.55354, -4.5552, -41.923, -27.894, -4.17626, -3.46027, -25.2632}, []float64{0.287721, 0.200553, 0.200483, 0.287721}, []float64{0.0137488, 0.015625, 0.015625, 0.0137488}},
		{"hexj", 64, 1.6, errmodel.BitByBit, []int{0, 5, 8, 15}, []float64{13.95, 34.09}, []float64{-20, -39.7443, 3.24227, -2.2429, -20, -16.5841, -3.40054, 1.76841}, []float64{0, 0.350289, 0.241212, 0.216152}, []float64{0, 0.0199838, 0.080335, 0.146591}},
		{"gray", 64, 5, errmodel.BitByBit, []int{0, 2, 3, 5}, []float64{7.5, 35.5}, []float64{-9.22503, 0.107967, 0.0643235, 0.00337334, 1.08401, -0.649263, -0.0248543, -0.00131528}, []float64{0.220384, 0.203291, 0.200075, 0.2}, []float64{0.0626954, 0.253676, 0.485516, 0.499918}},
		{"hadamard", 256, 5.0, errmodel.BitByBit, []int{0, 85, 128, 255}, []float64{55.1667, 133.5}, []float64{20, 0.00175691, 26.5883, 9.79977e-05, 20, -0.00254163, -1.81268, -0.000122499}, []float64{0, 0.2, 0.219577, 0.2}, []float64{0, 0.499981, 0.0157126, 0.5}},
		{"unary", 64, 1.6, errmodel.ForDecoder, []int{0, 21, 31, 62}, []float64{13.95, 34.09}, []float64{3.67412, -3.36493, -7.01215, -1.85854, 4.33219, 3.35438, 0.60759, -4.66206}, []float64{0.204405, 0.209505, 0.217695, 0.204404}, []float64{0.0175377, 0.0208155, 0.0208652, 0.0175209}},
		{"onehot", 64, 1.6, errmodel.ForDecoder, []int{0, 21, 32, 63}, []float64{13.95, 34.09}, []float64{21.6535, 37.0916, 21.7513, -145.11, -69.3737, 16.6542, 23.5224, -55.1946}, []float64{1.15791, 0.317341, 0.201094, 1.15788}, []float64{0.268234, 0.785263, 0.984375, 0.268224}},
		{"unary", 256, 5.0, errmodel.ForDecoder, []int{0, 85, 127, 254}, []float64{55.1667, 133.5}, []float64{0.909079, -1.2873, -1.39908, 0.101637, 0.266853, 1.46788, 0.184559, -0.401927}, []float64{0.200019, 0.200103, 0.200046, 0.200019}, []float64{0.26986, 0.0220292, 0.0230669, 0.269835}},
	} {
		l := learn(t, errmodel.Perceived{Noise: c.noise, Misfit: 0.25, Training: c.training}, c.code, c.levels, nil)
		near := func(what string, got, want, tolerance float64) {
			t.Helper()
			if c.training == errmodel.ForDecoder {
				tolerance = 8*tolerance + 0.03
			}
			if !(math.Abs(got-want) <= tolerance*(1+math.Abs(want))) {
				t.Errorf("%s of %d levels, %s: %s is %v, want %v", c.code, c.levels, c.training, what, got, want)
			}
		}
		f := make([]float64, l.Code().Bits())
		for i, y := range c.labels {
			l.Logits(f, y)
			for j, k := range c.bits {
				near("a logit", f[k], c.logits[i*len(c.bits)+j], 1e-3)
			}
		}
		for j, k := range c.bits {
			near("a misfit", l.Misfits()[k], c.misfits[j], 2e-4)
			mean := 0.0
			for i := range c.levels {
				mean += l.At(i, k) / float64(c.levels)
			}
			near("an error rate", mean, c.err[j], 2e-4)
		}
	}
}
