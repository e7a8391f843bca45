package errmodel_test

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"belsim/errmodel"
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
	fmt.Println(err)
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

// r and σ of a network, from the numbers of its wrong outputs. Here they are what the
// model predicts of r = 0.5 and σ = 1.
func ExampleNewFit() {
	c, err := code.New("johnson", 32)
	if err != nil {
		fmt.Println(err)
		return
	}
	e, err := errmodel.NewMixture(context.Background(), c, 0.5, 1)
	if err != nil {
		fmt.Println(err)
		return
	}
	counts := errmodel.NewCounts(c.Levels(), c.Bits())
	for i := range c.Levels() {
		counts.Samples[i] = 1000
		for k := range c.Bits() {
			counts.Row(i)[k] = uint64(math.Round(1000 * e.At(i, k)))
		}
	}
	fit, err := errmodel.NewFit(context.Background(), counts, c.Transitions())
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("r = %.3f, %.3f to %.3f\n", fit.R.Value, fit.R.Lo, fit.R.Hi)
	fmt.Printf("σ = %.3f, %.3f to %.3f\n", fit.Sigma.Value, fit.Sigma.Lo, fit.Sigma.Hi)
	// Output:
	// r = 0.500, 0.492 to 0.507
	// σ = 0.994, 0.983 to 1.005
}
