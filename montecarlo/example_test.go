package montecarlo_test

import (
	"context"
	"fmt"

	"belsim/errmodel"
	"belsim/montecarlo"
	"belsim/theory"
	"belsim/theory/code"
	"belsim/theory/decode"
)

// The error of a code that has no exact value. The same seed gives the same numbers on
// any machine.
func ExampleEstimate() {
	ctx := context.Background()
	c, err := code.New("hadamard", 64)
	if err != nil {
		fmt.Println(err)
		return
	}
	d, err := decode.New("gen", c)
	if err != nil {
		fmt.Println(err)
		return
	}
	e, err := errmodel.NewMixture(ctx, c, 0.6, 1.5)
	if err != nil {
		fmt.Println(err)
		return
	}
	prior := theory.Uniform(c.Levels())
	problem := &montecarlo.Problem{Code: c, Decoder: d, Errors: e, Seed: 1, Within: 5}
	sums, _, err := montecarlo.Estimate(ctx, montecarlo.CPU{}, problem, montecarlo.Sampling{Samples: 2_000},
		prior, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	o := montecarlo.Average(prior, sums)
	fmt.Printf("%.4f ± %.4f levels, %.2f %% within 5\n", o.Mean, o.StdErr, 100*o.Within)
	fmt.Printf("level %d is the worst: %.3f\n", o.WorstLevel, o.WorstMean)
	// Output:
	// 1.1031 ± 0.0136 levels, 96.81 % within 5
	// level 60 is the worst: 2.632
}
