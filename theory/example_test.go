package theory_test

import (
	"context"
	"fmt"

	"gonum.org/v1/gonum/mat"

	"belsim/errmodel"
	"belsim/theory"
	"belsim/theory/code"
	"belsim/theory/cost"
	"belsim/theory/decode"
)

// Which of two codes has the smaller error? A code, a decoder for it, and error
// probabilities give the paper's bound and the exact value.
func Example() {
	ctx := context.Background()
	for _, name := range []string{"unary", "johnson-nonzero"} {
		c, err := code.New(name, 31)
		if err != nil {
			fmt.Println(err)
			return
		}
		d, err := decode.New(decode.Auto, c)
		if err != nil {
			fmt.Println(err)
			return
		}
		e, err := errmodel.NewMixture(ctx, c, 2, 5)
		if err != nil {
			fmt.Println(err)
			return
		}
		b, err := theory.NewBound(c, d, cost.Cost{})
		if err != nil {
			fmt.Println(err)
			return
		}
		exact, err := theory.Means(ctx, 0, c, d, cost.Cost{}, e)
		if err != nil {
			fmt.Println(err)
			return
		}
		prior := theory.Uniform(c.Levels()) // all labels are equally frequent
		bound, mean := 0.0, 0.0
		for i, m := range exact {
			v, err := b.Row(ctx, i, mat.Row(nil, i, e))
			if err != nil {
				fmt.Println(err)
				return
			}
			bound += prior[i] * v
			mean += prior[i] * m
		}
		fmt.Printf("%s, %s: bound %.3f, exact %.3f levels\n", c.Name(), d.Name(), bound, mean)
	}
	// Output:
	// unary, bel-u: bound 1.710, exact 0.961 levels
	// johnson-nonzero, bel-j: bound 2.421, exact 2.319 levels
}
