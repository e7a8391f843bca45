package montecarlo_test

import (
	"testing"

	"belsim/montecarlo"
	"belsim/theory/base/must"
	"belsim/theory/decode"
)

// informed is a problem whose decoder knows the error probabilities and a prior.
func informed(tb testing.TB, code string, levels int, r, sigma float64, logits bool,
	prior []float64) *montecarlo.Problem {
	tb.Helper()
	p := mixtureProblem(tb, code, "median", levels, r, sigma)
	d := must.Get(p.Decoder.(decode.Informed).Inform(decode.Model{Errors: p.Errors, Logits: logits, Prior: prior}))(tb)
	p.Decoder = d
	if logits {
		p.Kind = montecarlo.IndependentLogits
	}
	return p
}
