package assess

import (
	"math"
	"strings"
	"testing"
)

// TestCurve: profiles have the curve of the model that describes the network.
func TestCurve(t *testing.T) {
	o := easy.save(t, t.TempDir(), "z")
	for k := range 8 {
		o.Bits = append(o.Bits, k+1)
	}
	r := judge(t, o)
	if !strings.Contains(r.Fit.Curve, "one noisy label") {
		t.Fatalf("the curve is of %q", r.Fit.Curve)
	}
	// Their means are the rates of the model by transitions, over the same prior.
	prior, sums, bits := r.Fit.smoothed(), map[int]float64{}, map[int]float64{}
	for k, p := range r.Fit.Profiles {
		transitions := len(r.network.transitions[k])
		bits[transitions]++
		for i, e := range p.Fitted {
			sums[transitions] += prior[i] * e
		}
	}
	for _, rate := range r.Fit.Perceived.Rates {
		if got := sums[rate.Transitions] / bits[rate.Transitions]; math.Abs(got-rate.Model) > 1e-12 {
			t.Errorf("%d transitions: the curves have the mean %v, the model %v", rate.Transitions, got, rate.Model)
		}
	}
	// Where the data reject the label, there is the mixture's curve.
	d := easy
	d.change = func(z []float64) {
		for k := range z {
			z[k] /= 20
		}
	}
	o = d.save(t, t.TempDir(), "z")

	r = judge(t, o)
	if !strings.HasPrefix(r.Fit.Curve, "Gaussian mixture: r = ") || len(r.Fit.Profiles[0].Fitted) == 0 {
		t.Errorf("the curve is of %q", r.Fit.Curve)
	}
}
