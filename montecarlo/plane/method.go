package plane

import (
	"context"

	"belsim/theory/expect"
)

// Method says how an expected error is computed.
type Method string

// The methods.
const (
	Bound  Method = "bound"
	Exact  Method = "exact"
	Sample Method = "mc"
)

// MeanOf prepares the means of a method with a formula.
func (m Method) MeanOf(ctx context.Context, p *expect.Problem) (*expect.Mean, error) {
	return expect.NewMean(ctx, p, m == Exact)
}
