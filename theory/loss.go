package theory

import (
	"math/bits"
	"slices"

	"gonum.org/v1/gonum/mat"

	"belsim/theory/code"
	"belsim/theory/cost"
)

// LossWeights returns the weights w[n,k], L × M, of a bound that holds whatever the law of the logits.
// With the margins u_k = z_k of a one and −z_k of a zero, gen on logits has
//
//	E C(n, answer) ≤ (1/ln 2)·Σ_k w[n,k]·E ln(1 + exp(−τ·u_k)), τ > 0,
//	w[n,k] = max over the levels m whose words differ from n's in bit k of C(n, m)/distance(n, m).
//
// So unary of even levels is wrong by the summed binary cross-entropy in bits at most. The loss of a
// level's words takes O(L²·M/64 + L²·log L).
func LossWeights(c *code.Code, of cost.Cost) *mat.Dense {
	levels, m := c.Dims()
	out, order, share := mat.NewDense(levels, m, nil), make([]int, levels), make([]float64, levels)
	left := make([]uint64, len(c.Word(0))) // bits without a weight
	for i := range levels {
		for j := range order {
			order[j], share[j] = j, 0
			if j != i {
				share[j] = of.Of(i+1, float64(j+1)) / float64(c.Distance(i, j))
			}
		}
		slices.SortFunc(order, func(a, b int) int {
			switch {
			case share[a] > share[b]:
				return -1
			case share[a] < share[b]:
				return 1
			}
			return 0
		})
		for w := range left {
			left[w] = ^uint64(0)
		}
		for _, j := range order { // the first of them that differs in a bit has its weight
			for w, word := range c.Word(j) {
				differ := (word ^ c.Word(i)[w]) & left[w]
				left[w] &^= differ
				for ; differ != 0; differ &= differ - 1 {
					out.Set(i, 64*w+bits.TrailingZeros64(differ), share[j])
				}
			}
		}
	}
	return out
}
