package errmodel_test

import (
	"context"
	"fmt"

	"gonum.org/v1/gonum/mat"

	"belsim/errmodel"
	"belsim/theory/base/position"
	"belsim/theory/code"
)

// The error probabilities of a code: classifiers err near the transitions of their bits.
func ExampleNewMixture() {
	c, err := code.New("johnson", 8)
	if err != nil {
		fmt.Println(err)
		return
	}
	e, err := errmodel.NewMixture(context.Background(), c, 0.5, 1)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%.3f\n", mat.Formatted(e))
	_, err = errmodel.NewMixture(context.Background(), c, 3, 1)
	fmt.Println(position.Count(err.Error(), 1))
	// Output:
	// ⎡0.000  0.009  0.065  0.176⎤
	// ⎢0.009  0.065  0.176  0.176⎥
	// ⎢0.065  0.176  0.176  0.074⎥
	// ⎢0.176  0.176  0.074  0.074⎥
	// ⎢0.176  0.074  0.074  0.176⎥
	// ⎢0.065  0.074  0.176  0.176⎥
	// ⎢0.009  0.176  0.176  0.065⎥
	// ⎣0.000  0.176  0.065  0.009⎦
	// r = 3 with σ = 1 is invalid: e[n,k] = 1.059 at level 2, bit 4, and a probability is at most 1; take a smaller r or a larger σ
}
