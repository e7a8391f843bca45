package perceived

import (
	"context"

	"gonum.org/v1/gonum/floats"

	"belsim/errmodel/observed"
	"belsim/theory/base/parallel"
	"belsim/theory/code"
	"belsim/theory/decode"
)

// unaryError returns the mean |error|, in levels, of gen on hard decisions of a network that learnt
// the unary code: the mean over the nodes, with exact expectations over the residuals. It is that of
// Errors, and needs no residuals of the nodes.
func (p *Nodes) unaryError(ctx context.Context, workers int, n *Network) (float64, error) {
	parts, noise := make([]float64, len(p.level)), p.noiseOf(n)
	err := parallel.Chunks(ctx, workers, len(parts), 64, func() (func(context.Context, int, int) error, error) {
		g := newOnUnary(n)
		return func(ctx context.Context, first, last int) error {
			for i := first; i < last; i++ {
				g.see(p.label[i] + noise*p.noise[i])
				parts[i] = g.gen(p.label[i]).mean
			}
			return ctx.Err()
		}, nil
	})
	return floats.Sum(parts) / float64(len(parts)), err
}

// onUnary computes the distribution of what gen and bel-u answer on hard decisions of the unary code.
//
// From one level to the next a single bit of the word changes. So the correlation of the decisions
// with the words is a walk over the levels with steps of ±1, which are independent given the
// perceived label, and gen answers the first maximum of the walk. At level m this is so where the
// walk has a new record at m, and never exceeds it later. bel-u counts the steps that rise.
type onUnary struct {
	n         *Network
	bit       []int     // that changes after each level
	different []float64 // probability of each bit to differ from the word of level 1
	up        []float64 // probability of each step to rise
	answers   []float64 // probability of each level to be the answer
	state     []float64 // probability of the walk to be so far below its record
	never     []float64 // probability of a walk that is so far below a record never to exceed it
	// Steps before first are certain to rise, and those from last on to fall.
	first, last int
}

// meanOf returns the method for a decoding's mean over the residuals; nil where it has none. That of gen holds for hard
// decisions.
func meanOf(d observed.Decoding) func(g *onUnary, label float64) moment {
	switch d.Decoder.(type) {
	case decode.Gen:
		return (*onUnary).gen
	case decode.BelU:
		return (*onUnary).count
	}
	return nil
}

// negligible is a probability of what does not happen.
const negligible = 1e-16

// deepest is how far below its record a walk is followed. A walk that is deeper does not come back:
// with 65,536 levels it is about 20 below its record where bits are as likely wrong as right.
const deepest = 256

// likeUnary reports whether one bit of a code changes after each level, another one each time.
func likeUnary(c *code.Code) bool {
	seen := make([]bool, c.Levels())
	for _, at := range c.Transitions() {
		if len(at) != 1 || seen[at[0]] {
			return false
		}
		seen[at[0]] = true
	}
	return c.Bits() == c.Levels()-1
}

func newOnUnary(n *Network) *onUnary {
	levels, bits := n.c.Dims()
	g := &onUnary{n: n, bit: make([]int, bits), different: make([]float64, bits), up: make([]float64, bits),
		answers: make([]float64, levels), state: make([]float64, deepest+2), never: make([]float64, deepest+2)}
	for k, at := range n.c.Transitions() {
		g.bit[at[0]-1] = k
	}
	return g
}

// see takes a perceived label.
func (g *onUnary) see(y float64) {
	g.n.WrongTo(g.different, 0, y)
	for m, k := range g.bit {
		g.up[m] = g.different[k]
	}
	g.first, g.last = 0, len(g.up)
	for g.first < g.last && g.up[g.first] > 1-negligible {
		g.first++
	}
	for g.last > g.first && g.up[g.last-1] < negligible {
		g.last--
	}
}

// gen returns the error of gen.
func (g *onUnary) gen(label float64) moment {
	clear(g.answers)
	g.answers[g.first] = 1
	g.records(g.first, g.last)
	g.kept(g.first, g.last)
	return g.error(label, g.first, g.last)
}

// count returns that of bel-u.
func (g *onUnary) count(label float64) moment {
	clear(g.answers)
	g.answers[g.first] = 1
	from, to := g.first, g.first // of the answers that happen
	for _, up := range g.up[g.first:g.last] {
		g.answers[to+1] = g.answers[to] * up
		for m := to; m > from; m-- {
			g.answers[m] = g.answers[m]*(1-up) + g.answers[m-1]*up
		}
		g.answers[from] *= 1 - up
		if to++; g.answers[to] < negligible {
			to--
		}
		if g.answers[from] < negligible {
			from++
		}
	}
	return g.error(label, from, to)
}

// error is that of answers after from to to.
func (g *onUnary) error(label float64, from, to int) (out moment) {
	for m := from; m <= to; m++ {
		out.add(g.answers[m], float64(m+1)-label)
	}
	return out
}

// records multiplies the answers from first to last with the probability of a new record.
func (g *onUnary) records(first, last int) {
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
func (g *onUnary) kept(first, last int) {
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
