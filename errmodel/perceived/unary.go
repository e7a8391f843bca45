package perceived

import (
	"context"
	"math"
	"sort"

	"belsim/theory/base/parallel"
)

// The integral over the perceived label is a trapezoidal rule whose step is halved until the mean
// error changes by less than integralTolerance of itself.
const (
	integralTolerance = 1e-5
	mostHalvings      = 8
	// tails is where the normal distribution is cut off, in standard deviations.
	tails = 8
)

// unaryError returns the mean |error|, in levels, of gen on hard decisions of a network that learnt
// the unary code, for labels that it perceives with the noise s.
//
// What gen answers depends on the perceived label only. So the error is one integral over the
// perceived label, of D(y) = Σ_m P(gen answers m | ŷ)·|m − y|, averaged over the labels y that may
// be behind it. D is linear between levels, so that averages over real labels are exact.
func unaryError(ctx context.Context, workers int, n *Network, s float64, labels Labels) (float64, error) {
	of := newLabelDistribution(labels, s)
	lo, hi := 1-tails*s, float64(len(labels.Prior))+tails*s
	// Steps that no distance of levels is a multiple of see other parts of each level.
	step := min(s/4, max(0.125, s/16)) / 1.0301
	at := func(first float64) (float64, error) { return unaryIntegral(ctx, workers, n, of, first, hi, step) }
	mean, err := at(lo)
	for range mostHalvings {
		if err != nil {
			return 0, err
		}
		between, err := at(lo + step/2)
		if err != nil {
			return 0, err
		}
		before := mean
		mean, step = (mean+between)/2, step/2
		if math.Abs(mean-before) <= integralTolerance*mean {
			break
		}
	}
	return mean, err
}

// unaryIntegral is the sum of the trapezoidal rule at first, first + step, … up to last.
func unaryIntegral(ctx context.Context, workers int, n *Network, of *labelDistribution, first, last, step float64) (float64, error) {
	points := int((last-first)/step) + 1
	parts := make([]float64, points)
	err := parallel.Chunks(ctx, workers, points, 64, func() (func(context.Context, int, int) error, error) {
		g := newGenOnUnary(n)
		return func(ctx context.Context, from, to int) error {
			for i := from; i < to; i++ {
				if y := first + float64(i)*step; of.reaches(y) {
					parts[i] = step * of.mean(y, g.distances(y))
				}
			}
			return ctx.Err()
		}, nil
	})
	sum := 0.0
	for _, v := range parts {
		sum += v
	}
	return sum, err
}

// labelDistribution is the distribution of labels, in uniform pieces that no level divides. A piece without a
// width is a level.
type labelDistribution struct {
	pieces []Uniform // ascending
	s      float64
}

func newLabelDistribution(labels Labels, s float64) *labelDistribution {
	out := &labelDistribution{s: s}
	if labels.Real == nil {
		total := 0.0
		for _, v := range labels.Prior {
			total += v
		}
		for i, v := range labels.Prior {
			if v > 0 {
				out.pieces = append(out.pieces, Uniform{float64(i + 1), float64(i + 1), v / total})
			}
		}
		return out
	}
	for _, p := range labels.Real {
		for from := p.From; from < p.To; {
			to := min(math.Floor(from)+1, p.To)
			out.pieces = append(out.pieces, Uniform{from, to, p.Share * (to - from) / (p.To - p.From)})
			from = to
		}
	}
	return out
}

// near returns the pieces from which a label may be perceived as y.
func (l *labelDistribution) near(y float64) []Uniform {
	first := sort.Search(len(l.pieces), func(i int) bool { return l.pieces[i].To >= y-tails*l.s })
	last := sort.Search(len(l.pieces), func(i int) bool { return l.pieces[i].From > y+tails*l.s })
	return l.pieces[first:last]
}

// reaches reports whether a label may be perceived as y.
func (l *labelDistribution) reaches(y float64) bool { return len(l.near(y)) > 0 }

// mean returns the density of the perceived label y times the mean of a function of the label,
// given y. The function is linear between levels, where it has the values distances. Outside them it
// continues with a slope of 1.
func (l *labelDistribution) mean(y float64, distances []float64) float64 {
	sum := 0.0
	for _, p := range l.near(y) {
		n := math.Floor(p.From)
		at, slope := 0.0, 0.0
		switch i := int(n) - 1; {
		case i < 0:
			at, slope = distances[0]+1-n, -1
		case i >= len(distances)-1:
			at, slope = distances[len(distances)-1]+n-float64(len(distances)), 1
		default:
			at, slope = distances[i], distances[i+1]-distances[i]
		}
		a, b := (p.From-y)/l.s, (p.To-y)/l.s
		if a == b {
			sum += p.Share * density(a) / l.s * (at + slope*(p.From-n))
			continue
		}
		mass := (math.Erfc(a/math.Sqrt2) - math.Erfc(b/math.Sqrt2)) / 2
		first := (y-n)*mass - l.s*(density(b)-density(a)) // of label − n
		sum += p.Share / (p.To - p.From) * (at*mass + slope*first)
	}
	return sum
}

// density is that of the standard normal distribution.
func density(x float64) float64 { return math.Exp(-x*x/2) / math.Sqrt(2*math.Pi) }

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
	distance  []float64 // D of each level
}

// deepest is how far below its record a walk is followed. A walk that is deeper does not come back:
// with 65,536 levels it is about 20 below its record where bits are as likely wrong as right.
const deepest = 256

func newGenOnUnary(n *Network) *genOnUnary {
	levels, bits := n.Dims()
	g := &genOnUnary{n: n, bit: make([]int, bits), different: make([]float64, bits), up: make([]float64, bits),
		answers: make([]float64, levels), state: make([]float64, deepest+2), never: make([]float64, deepest+2), distance: make([]float64, levels)}
	for k, at := range n.Code().Transitions() {
		g.bit[at[0]-1] = k
	}
	return g
}

// distances returns D of all levels at a perceived label.
func (g *genOnUnary) distances(y float64) []float64 {
	g.n.WrongTo(g.different, 0, y)
	for m, k := range g.bit {
		g.up[m] = g.different[k]
	}
	g.answer()
	above, total := 0.0, 0.0 // Σ P(m)·(m − 1), and Σ P(m)
	for m, p := range g.answers {
		above += p * float64(m)
		total += p
	}
	// From one level to the next D grows by P(answer ≤ level) − P(answer > level).
	d, below := above, 0.0
	for m, p := range g.answers {
		g.distance[m] = d
		below += p
		d += 2*below - total
	}
	return g.distance
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
