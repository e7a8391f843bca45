// Package theory computes the expected error of a label that is encoded in
// bits, disturbed by independent errors of the bits, and decoded: closed-form
// bounds (Shah, Xue and Aamodt, ICLR 2022, Eq. 2 and 26), a union bound for any
// code, and exact values.
//
// A decoder that this package does not know has no bound, and its exact values are sums over
// all outputs. NewBound and NewLaw list the formulas for the others.
//
// Every exact value is a sum over the law of the answer, P(answer = m | n), with a cost of package
// belsim/theory/cost: by default |decoded − label| in levels. The classifiers' error probabilities are an L × M
// table e[n,k] of plain numbers in [0, 1]; this package does not ask where they come from.
//
// # Packages to combine
//
// A Go program that computes the error of a code uses these packages, in this order:
//
//  1. belsim/theory/code makes a code, or reads it from a file: L levels × M bits.
//  2. belsim/theory/decode makes a decoder for the code.
//  3. belsim/errmodel gives the error probabilities, L × M: from r and σ, from a file,
//     or from a fit to a trained network's outputs, which belsim/errmodel/observed
//     reads. Any mat.Matrix of numbers in [0, 1] will do instead.
//  4. This package gives the bound and the exact value of each level's error. The
//     errors of a code are an average over the levels, whose weights Uniform or
//     ReadHistogram gives.
//  5. belsim/montecarlo samples the same code, decoder and table. It also samples what
//     this package has no formula for: wide codes under gen, logits, and networks that
//     perceive a label.
//  6. belsim/plots draws the numbers.
//
// belsim/errmodel/scenario and belsim/theory/expect do these steps together, as the commands do. The
// packages of montecarlo ask the questions: compare ranks codes, verify checks samples against theory,
// heatmap fills maps, and search looks for a code. belsim/errmodel/assess judges a trained network.
//
// The example of this package does steps 1 to 4. The examples of belsim/montecarlo
// and belsim/plots do the last two.
package theory
