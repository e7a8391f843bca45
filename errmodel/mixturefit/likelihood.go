package mixturefit

import (
	"encoding/binary"
	"math"
	"slices"

	"belsim/errmodel"
)

// likelihood is the likelihood of r and σ, given counts of wrong outputs. Every cell
// (a level, or a part of a level) and bit has a binomial count with the probability
//
//	e = r·u,  u = Σ exp(−d²/(2s²))/(s√(2π))
//
// where the sum is over the distances d of the cell's middle from the transitions of the bit
// (Eq. 3 and 4). Where labels are levels, s is σ. Real labels are spread over the cell: the mean of
// a Gaussian over a part of the width w is, but for (w²/(12σ²))² of itself, the Gaussian of the
// variance
//
//	s² = σ² + w²/12.
//
// The parameters are a = ln r and b = ln s. Cells with the same distances
// have the same probability for all r and σ, so their counts are added up. Of the 65,536
// cells of a unary code, a few hundred groups remain.
//
// A likelihood holds the Gaussians of one s at a time (see at): use it on one goroutine.
type likelihood struct {
	grid      grid
	start     []int   // distances[start[i]:start[i+1]] are those of group i, ascending,
	distances []int32 // in units of the grid
	n, wrong  []float64
	total     float64 // wrong outputs of all

	// Of the s that at was called with:
	logU   []float64 // ln u by group
	q1, q2 []float64 // ∂u/∂b and ∂²u/∂b² over u
	most   float64   // the largest ln u: r may be up to e^−most
	gauss  gauss
}

// grid says where the middles of cells are.
type grid struct {
	parts  int     // cells of a level
	spread float64 // w²/12; 0 where labels are levels
}

// newGrid is the grid of real labels in so many parts of a level.
func newGrid(parts int) grid {
	return grid{parts: parts, spread: 1 / (12 * float64(parts) * float64(parts))}
}

// gridOf is the grid of counts.
func gridOf(c *errmodel.Counts) grid {
	if c.Fine == nil {
		return grid{parts: 1}
	}
	return newGrid(c.Fine.Parts)
}

// unit is the unit of distances, in levels: half of a cell.
func (g grid) unit() float64 { return 1 / float64(2*g.parts) }

// distance is the distance of the middle of a cell, from 0, from the transition at+½.
func (g grid) distance(cell, at int) int { return abs(2*(cell-at*g.parts) + 1) }

// wide is s for σ, and narrow is σ for s.
func (g grid) wide(sigma float64) float64 { return math.Sqrt(sigma*sigma + g.spread) }
func (g grid) narrow(s float64) float64 {
	if g.spread == 0 {
		return s
	}
	return math.Sqrt(max(0, s*s-g.spread))
}

func abs(d int) int {
	if d < 0 {
		return -d
	}
	return d
}

// newLikelihood uses all bits that have transitions. Of parts of levels, it uses those with
// samples. For the largest valid r, it has all levels, and with real labels the transitions, where a
// Gaussian is largest.
func newLikelihood(c *errmodel.Counts, positions [][]int) *likelihood {
	l := &likelihood{start: []int{0}, grid: gridOf(c)}
	parts := l.grid.parts
	groups := map[string]int{}
	var key []byte
	var distances []int32
	// add adds counts whose distances from the transitions at are known.
	add := func(at []int, distance func(n int) int, samples, wrong uint64) {
		distances = distances[:0]
		for _, n := range at {
			distances = append(distances, int32(abs(distance(n))))
		}
		slices.Sort(distances)
		key = key[:0]
		for _, d := range distances {
			key = binary.LittleEndian.AppendUint32(key, uint32(d))
		}
		g, ok := groups[string(key)]
		if !ok {
			g = len(l.n)
			groups[string(key)] = g
			l.distances = append(l.distances, distances...)
			l.start = append(l.start, len(l.distances))
			l.n, l.wrong = append(l.n, 0), append(l.wrong, 0)
		}
		l.n[g] += float64(samples)
		l.wrong[g] += float64(wrong)
		l.total += float64(wrong)
	}
	for k, at := range positions {
		if len(at) == 0 {
			continue
		}
		for cell := range c.Levels * parts {
			if samples, wrong := c.At(cell); samples > 0 || c.Fine == nil {
				add(at, func(n int) int { return l.grid.distance(cell, n) }, samples, wrong[k])
			}
		}
		if c.Fine == nil {
			continue
		}
		for i := range c.Levels { // level i+1 is at the distance i+½−n
			add(at, func(n int) int { return (2*(i-n) + 1) * parts }, 0, 0)
		}
		for _, top := range at {
			add(at, func(n int) int { return 2 * (top - n) * parts }, 0, 0)
		}
	}
	l.gauss = newGauss(l.grid, int(slices.Max(append(l.distances, 0))))
	l.logU, l.q1, l.q2 = make([]float64, len(l.n)), make([]float64, len(l.n)), make([]float64, len(l.n))
	return l
}

// width is the width s of Gaussians, with the unit of distances, in levels.
type width struct{ unit, s float64 }

// square is (d/s)² of a distance d.
func (w width) square(d int32) float64 { z := float64(d) * w.unit / w.s; return z * z }

// gauss holds Gaussians of one width by distance, without their factor 1/(s√(2π)).
type gauss struct {
	width
	g, g1, g2 []float64
}

// newGauss makes room for distances up to most units of a grid.
func newGauss(g grid, most int) gauss {
	return gauss{width: width{unit: g.unit()}, g: make([]float64, most+1), g1: make([]float64, most+1), g2: make([]float64, most+1)}
}

// at sets the width to s = eᵇ.
func (g *gauss) at(b float64) {
	g.s = math.Exp(b)
	// With z = d/s a Gaussian g = e^{−z²/2}/(s√2π) has ∂g/∂b = g·(z²−1) and ∂²g/∂b²
	// = g·((z²−1)² − 2z²).
	for d := range g.g {
		zz := g.square(int32(d))
		g.g[d] = math.Exp(-zz / 2)
		g.g1[d] = g.g[d] * (zz - 1)
		g.g2[d] = g.g[d] * ((zz-1)*(zz-1) - 2*zz)
	}
}

// sum returns, of the sum u of the Gaussians at some distances, ln u, and ∂u/∂b and ∂²u/∂b²
// over u. The first distance is the smallest.
func (g *gauss) sum(distances []int32) (log, q1, q2 float64) {
	var s, s1, s2 float64
	if g.g[distances[0]] > 1e-200 {
		for _, d := range distances {
			s += g.g[d]
			s1 += g.g1[d]
			s2 += g.g2[d]
		}
		log = math.Log(s)
	} else {
		// The Gaussians underflow this far out: compute them relative to the nearest.
		nearest := g.square(distances[0])
		for _, d := range distances {
			zz := g.square(d)
			w := math.Exp((nearest - zz) / 2)
			s += w
			s1 += w * (zz - 1)
			s2 += w * ((zz-1)*(zz-1) - 2*zz)
		}
		log = math.Log(s) - nearest/2
	}
	return log - math.Log(g.s) - math.Log(2*math.Pi)/2, s1 / s, s2 / s
}

// at sets b = ln s for the other methods.
func (l *likelihood) at(b float64) {
	l.gauss.at(b)
	l.most = math.Inf(-1)
	for i := range l.n {
		l.logU[i], l.q1[i], l.q2[i] = l.gauss.sum(l.distances[l.start[i]:l.start[i+1]])
		l.most = max(l.most, l.logU[i])
	}
	// The largest probability is the Gaussian's of σ itself, which is higher than its mean over
	// a cell.
	if sigma := l.grid.narrow(math.Exp(b)); l.grid.spread > 0 && sigma > 0 {
		l.most += b - math.Log(sigma)
	}
}

// value is the log-likelihood at a and the b of at, without the binomial
// coefficients; −Inf where some probability exceeds 1.
func (l *likelihood) value(a float64) float64 {
	sum, slack := 0.0, 1e-12
	if a+l.most > slack {
		return math.Inf(-1)
	}
	for i, n := range l.n {
		if n == 0 {
			continue
		}
		logE := min(a+l.logU[i], 0)
		if x := l.wrong[i]; x > 0 {
			sum += x * logE
		}
		if right := n - l.wrong[i]; right > 0 {
			sum += right * math.Log1p(-math.Exp(logE))
		}
	}
	return sum
}

// score is ∂/∂a of the log-likelihood and its negative derivative.
func (l *likelihood) score(a float64) (score, information float64) {
	score = l.total
	for i, n := range l.n {
		if right := n - l.wrong[i]; right > 0 {
			e := math.Exp(min(a+l.logU[i], 0))
			score -= right * e / (1 - e)
			information += right * e / ((1 - e) * (1 - e))
		}
	}
	return score, information
}

// profile returns the a with the largest likelihood for the b of at, and this
// likelihood. The likelihood is a sum of concave logarithms, hence concave in r, and its
// score has one zero. Where this zero is beyond the largest valid r, profile returns the
// largest valid r and limited is true.
func (l *likelihood) profile() (a, value float64, limited bool) {
	hi := -l.most
	if s, _ := l.score(hi); s >= 0 { // not NaN: a right output at e = 1 makes it −Inf
		return hi, l.value(hi), true
	}
	// e/(1−e) ≥ e, so the zero is not above the r of total = Σ right·r·u.
	var right float64
	for i, n := range l.n {
		right += (n - l.wrong[i]) * math.Exp(l.logU[i])
	}
	if right > 0 {
		hi = min(hi, math.Log(l.total)-math.Log(right))
	}
	lo := hi - 1
	for step := 1.0; ; step *= 2 {
		if s, _ := l.score(lo); s > 0 {
			break
		}
		lo -= step
	}
	a = (lo + hi) / 2
	for range 200 {
		s, information := l.score(a)
		if s > 0 {
			lo = a
		} else {
			hi = a
		}
		next := a + s/information
		if !(next > lo && next < hi) {
			next = (lo + hi) / 2
		}
		done := math.Abs(next-a) < 1e-14*(1+math.Abs(a))
		a = next
		if done {
			break
		}
	}
	return a, l.value(a), false
}

// derivatives are the gradient of the log-likelihood in (a, b), and the observed information, the
// negative of its second derivatives.
type derivatives struct{ ga, gb, iaa, iab, ibb float64 }

func (d *derivatives) det() float64  { return d.iaa*d.ibb - d.iab*d.iab }
func (d *derivatives) concave() bool { return d.det() > 0 && d.iaa > 0 }

// derivatives are those at a and the b of at.
func (l *likelihood) derivatives(a float64) (d derivatives) {
	for i, n := range l.n {
		e := math.Exp(min(a+l.logU[i], 0))
		right := n - l.wrong[i]
		s := l.wrong[i]
		if right > 0 {
			s -= right * e / (1 - e)
			w := right * e / ((1 - e) * (1 - e))
			d.iaa += w
			d.iab += w * l.q1[i]
			d.ibb += w * l.q1[i] * l.q1[i]
		}
		d.ga += s
		d.gb += s * l.q1[i]
		d.ibb -= s * (l.q2[i] - l.q1[i]*l.q1[i])
	}
	return d
}
