package errmodel

import (
	"context"
	"errors"
	"fmt"

	"belsim/theory/code"
)

// PrintedTransitions returns the transitions of the paper's Eq. 4 as it is printed,
// μ1 = N/2−k+1.5 and μ2 = N−k+1.5 with N = 2M, for the code johnson-nonzero. They lie one
// level above the transitions of the code, and partly outside the labels. This is a slip
// of the paper; it is kept for comparison with the paper's Figure 3(c). For unary, Eq. 3
// is right, and the result is the transitions of the code. Other codes have no printed
// transitions, and the result is an error. Other errors are the context's.
func PrintedTransitions(ctx context.Context, c *code.Code) ([][]int, error) {
	switch {
	case c.Circular():
		return nil, errors.New("the paper prints transitions for levels on a line only, and these are on a circle")
	case c.Name() == "unary":
		return c.TransitionsContext(ctx)
	case c.Name() == "johnson-nonzero":
		m := c.Bits()
		positions := make([][]int, m)
		for k := range positions {
			positions[k] = []int{m - k, 2*m - k} // bit k+1: N/2−(k+1)+1 and N−(k+1)+1
		}
		return positions, nil
	}
	return nil, fmt.Errorf("the paper prints transitions for johnson-nonzero and unary only, not for %s", c.Name())
}
