package perceived

import (
	"context"
	"math"

	"gonum.org/v1/gonum/floats"

	"belsim/theory/base/parallel"
)

// unaryError returns the mean |error|, in levels, of gen on hard decisions of a network that learnt
// the unary code: the mean over the nodes, with exact expectations over the residuals.
func (p *Nodes) unaryError(ctx context.Context, workers int, n *Network) (float64, error) {
	parts, noise := make([]float64, len(p.level)), p.noiseOf(n)
	err := parallel.Chunks(ctx, workers, len(parts), 64, func() (func(context.Context, int, int) error, error) {
		g := newGenOnUnary(n)
		return func(ctx context.Context, first, last int) error {
			for i := first; i < last; i++ {
				label := p.label[i]
				parts[i] = g.error(label+noise*p.noise[i], label)
			}
			return ctx.Err()
		}, nil
	})
	return floats.Sum(parts) / float64(len(parts)), err
}

// genOnUnary computes the distribution of what gen answers on hard decisions of the unary code.
//
// From one level to the next a single bit of the word changes. So the correlation of the decisions
// with the words is a walk over the levels with steps of ±1, which are independent given the
// perceived label, and gen answers the first maximum of the walk. At level m this is so where the
// walk has a new record at m, and never exceeds it later.
type genOnUnary struct {
	n         *Network
	bit       []int     // that changes after each level
	different []float64 // probability of each bit to differ from the word of level 1
	up        []float64 // probability of each step to rise
	answers   []float64 // probability of each level to be the answer
	state     []float64 // probability of the walk to be so far below its record
	never     []float64 // probability of a walk that is so far below a record never to exceed it
}

// deepest is how far below its record a walk is followed. A walk that is deeper does not come back:
// with 65,536 levels it is about 20 below its record where bits are as likely wrong as right.
const deepest = 256

func newGenOnUnary(n *Network) *genOnUnary {
	levels, bits := n.Dims()
	g := &genOnUnary{n: n, bit: make([]int, bits), different: make([]float64, bits), up: make([]float64, bits),
		answers: make([]float64, levels), state: make([]float64, deepest+2), never: make([]float64, deepest+2)}
	for k, at := range n.Code().Transitions() {
		g.bit[at[0]-1] = k
	}
	return g
}

// error returns the mean of |answer − label| at a perceived label y.
func (g *genOnUnary) error(y, label float64) (mean float64) {
	g.n.WrongTo(g.different, 0, y)
	for m, k := range g.bit {
		g.up[m] = g.different[k]
	}
	g.answer()
	for m, p := range g.answers {
		mean += p * math.Abs(float64(m+1)-label)
	}
	return mean
}

// answer sets answers. Steps that are certain to rise, and then certain to fall, are skipped.
func (g *genOnUnary) answer() {
	const certain = 1e-16
	clear(g.answers)
	first, last := 0, len(g.up)
	for first < last && g.up[first] > 1-certain {
		first++
	}
	for last > first && g.up[last-1] < certain {
		last--
	}
	g.answers[first] = 1
	g.records(first, last)
	g.kept(first, last)
}

// records multiplies the answers from first to last with the probability of a new record.
func (g *genOnUnary) records(first, last int) {
	clear(g.state)
	g.state[0] = 1
	depth := 0
	for m := first; m < last; m++ {
		up := g.up[m]
		g.answers[m+1] = g.state[0] * up
		depth = min(depth+1, deepest)
		before := g.state[0]
		g.state[0] = up * (before + g.state[1])
		for d := 1; d <= depth; d++ {
			here := g.state[d]
			g.state[d] = (1-up)*before + up*g.state[d+1]
			before = here
		}
	}
}

// kept multiplies the answers from first to last with the probability that a record stays one.
func (g *genOnUnary) kept(first, last int) {
	for d := range g.never {
		g.never[d] = 1
	}
	for m := last - 1; m >= first; m-- {
		up, before := g.up[m], 0.0
		for d := 0; d <= min(last-m, deepest); d++ {
			here := g.never[d]
			g.never[d] = up*before + (1-up)*g.never[d+1]
			before = here
		}
		g.answers[m] *= g.never[0]
	}
}
