package perceived

import (
	"cmp"
	"math"
	"math/bits"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"

	"belsim/theory/base/memory"
	"belsim/theory/base/philox"
	"belsim/theory/code"
)

// Seed is the seed of the residuals in forecasts, so that equal questions have equal answers.
const Seed = 1

// ManyNodes is the number of nodes of everything: the solver of the noise, fits and forecasts.
const ManyNodes = 1 << 14

// Nodes are the points of quasi-Monte Carlo over which errors are averaged: pairs of a level and of
// noise ε, and the residuals of the logits. All codes, trainings and parameters share the nodes
// (common random numbers), so that chance hardly changes a comparison. Nodes are immutable.
//
// The levels are quantiles of the prior at (i + ½)/N, i < N; the noise is the quantile of
// the normal distribution at the bit reversal of i, plus ½/N. The residuals are normal random
// numbers of Philox, a number for each node and bit.
type Nodes struct {
	level    []int     // from 0
	label    []float64 // in levels from 1, ascending: those of the levels, or real ones
	real     bool
	within   float64   // the variance of labels within a level that networks learn with
	noise    []float64 // ε
	residual []float32 // N × bits
	bits     int
	prior    []float64
	smooth   bool
	ordered  bool
}

// NewNodes returns a number of nodes, a power of two, for a prior over the levels, of length L, and
// codes of so many bits at most. The error says that the prior is no distribution, or that memory
// is short.
func NewNodes(count int, prior []float64, most int, seed uint64) (*Nodes, error) {
	if err := memory.Check("the random numbers of a forecast", memory.Product(count, most, 4)); err != nil {
		return nil, err
	}
	sum, err := total(prior)
	if err != nil {
		return nil, err
	}
	p := &Nodes{level: make([]int, count), label: make([]float64, count), noise: make([]float64, count),
		residual: make([]float32, count*most), bits: most, prior: prior}
	keys, n, below := philox.NewKeys(seed), 0, prior[0]
	for i := range count {
		for at := sum * (float64(i) + 0.5) / float64(count); below <= at && n < len(prior)-1; {
			n++
			below += prior[n]
		}
		reversed := bits.Reverse64(uint64(i)) >> (65 - bits.Len(uint(count)))
		p.level[i], p.label[i] = n, float64(n+1)
		p.noise[i] = distuv.UnitNormal.Quantile((float64(reversed) + 0.5) / float64(count))
		row := p.row(i)
		for k := 0; k < most; k += 4 {
			x := philox.Call(keys, philox.Counter{uint32(k / 4), uint32(i), 0, stream})
			var g [4]float64
			g[0], g[1] = normals(x[0], x[1])
			g[2], g[3] = normals(x[2], x[3])
			for j := range min(4, most-k) {
				row[k+j] = float32(g[j])
			}
		}
	}
	return p, nil
}

// stream tells the random numbers of forecasts apart from others of the same seed.
const stream = 0xF04ECA57

// row holds the residual of each bit at node i, in standard deviations.
func (p *Nodes) row(i int) []float32 { return p.residual[i*p.bits : (i+1)*p.bits] }

// normals makes two normal random numbers of two uniform ones (Box and Muller).
func normals(a, b uint32) (float64, float64) {
	const unit = 1.0 / (1 << 32)
	radius := math.Sqrt(-2 * math.Log((float64(a)+0.5)*unit))
	sin, cos := math.Sincos(2 * math.Pi * (float64(b) + 0.5) * unit)
	return radius * cos, radius * sin
}

// Smooth are the same nodes for a difference of errors: those of hard decisions are means over the
// residuals of bits that these decide, where at most three bits are so near their threshold. Else
// a difference of rare errors is a count of a few nodes.
func (p *Nodes) Smooth() *Nodes {
	out := *p
	out.smooth = true
	return &out
}

// inOrder are the same nodes with the residuals of bits in an order that does not depend on that of the
// columns: those of many columns by ascending transitions, and those of few by descending ones, as the
// columns of most codes come.
func (p *Nodes) inOrder() *Nodes {
	out := *p
	out.ordered = true
	return &out
}

// places are those of a code's bits among the residuals of a node.
func (p *Nodes) places(c *code.Code) []int {
	bits, places := make([]int, c.Bits()), make([]int, c.Bits())
	for k := range bits {
		bits[k] = k
	}
	if p.ordered {
		transitions, sign := c.Transitions(), -1
		if c.Bits() >= c.Levels()-1 {
			sign = 1
		}
		slices.SortFunc(bits, func(a, b int) int {
			return cmp.Or(sign*slices.Compare(transitions[a], transitions[b]), cmp.Compare(c.Value(0, a), c.Value(0, b)))
		})
	}
	for at, k := range bits {
		places[k] = at
	}
	return places
}

// Uniform are labels that are uniform from From to To, in levels, and their share of all labels.
type Uniform struct{ From, To, Share float64 }

// Real are the nodes of the same levels and noise with real labels instead: label i is the quantile
// of the labels at (i + ½)/N. Where all labels are points, they are those of levels.
func (p *Nodes) Real(labels []Uniform) *Nodes {
	out := *p
	if slices.ContainsFunc(labels, func(u Uniform) bool { return u.To > u.From }) {
		out.within = WithinLevel
	}
	out.real, out.label = true, make([]float64, len(p.level))
	k, below := 0, 0.0
	for i := range out.label {
		at := (float64(i) + 0.5) / float64(len(out.label))
		for at > below+labels[k].Share && k < len(labels)-1 {
			below += labels[k].Share
			k++
		}
		q := labels[k]
		out.label[i] = q.From + (q.To-q.From)*min((at-below)/q.Share, 1)
	}
	return &out
}
