package mixturefit_test

import (
	"context"
	"fmt"
	"math"

	"belsim/errmodel"
	"belsim/errmodel/mixturefit"
	"belsim/theory/code"
)

// r and σ of a network, from the numbers of its wrong outputs. Here they are what the
// model predicts of r = 0.5 and σ = 1.
func ExampleNew() {
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
	fit, err := mixturefit.New(context.Background(), counts, c.Transitions())
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("r = %.3f, σ = %.3f\n", fit.R, fit.Sigma)
	// Output:
	// r = 0.500, σ = 0.994
}
