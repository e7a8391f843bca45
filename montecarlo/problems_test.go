package montecarlo_test

import (
	"context"
	"testing"

	"belsim/errmodel"
	"belsim/montecarlo"
	"belsim/theory/base/must"
	"belsim/theory/code"
	"belsim/theory/decode"
)

// mixtureProblem is a named code under the Gaussian mixture of one r and σ.
func mixtureProblem(tb testing.TB, name, decoder string, levels int, r, sigma float64) *montecarlo.Problem {
	tb.Helper()
	c := must.Get(code.New(name, levels))(tb)
	d := must.Get(decode.New(decoder, c))(tb)
	e := must.Get(errmodel.NewMixture(context.Background(), c, r, sigma))(tb)
	return &montecarlo.Problem{Code: c, Decoder: d, Errors: e, Seed: 1}
}

// everyRow samples every row of a problem n times.
func everyRow(p *montecarlo.Problem, n uint64) []montecarlo.Span {
	spans := make([]montecarlo.Span, p.Code.Levels())
	for row := range spans {
		spans[row] = montecarlo.Span{Row: row, Samples: n}
	}
	return spans
}
