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

// MeanOf prepares the means of a method with a formula: expect.BoundOf or expect.ExactOf.
func (m Method) MeanOf(ctx context.Context, p *expect.Problem) (*expect.Mean, error) {
	if m == Exact {
		return expect.ExactOf(ctx, p)
	}
	return expect.BoundOf(p)
}
