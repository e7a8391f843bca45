package mixturefit

import (
	"encoding/binary"
	"math"
	"slices"

	"belsim/errmodel"
)

// likelihood is the likelihood of r and σ, given counts of wrong outputs. Every level and bit has
// a binomial count with the probability
//
//	e = r·u,  u = Σ exp(−d²/(2σ²))/(σ√(2π))
//
// where the sum is over the distances d of the level from the transitions of the bit (Eq. 3 and 4), on
// a circle also over the ways that go round it.
//
// The parameters are a = ln r and b = ln σ. Entries with the same distances
// have the same probability for all r and σ, so their counts are added up. Of the 65,536
// entries of a unary code, a few hundred groups remain.
//
// A likelihood holds the Gaussians of one σ at a time (see at): use it on one goroutine.
type likelihood struct {
	start     []int   // distances[start[i]:start[i+1]] are those of group i, ascending,
	distances []int32 // in halves of a level
	n, wrong  []float64
	places    []places // of the bits
	key       []byte   // scratch
	total     float64  // wrong outputs of all

	// Of the σ that at was called with:
	logU   []float64 // ln u by group
	q1, q2 []float64 // ∂u/∂b and ∂²u/∂b² over u
	most   float64   // the largest ln u: r may be up to e^−most
	gauss  gauss
}

// distance is the distance of row i, from 0, from the transition at+½, in halves of a level. round is
// the way round the circle, and 0 for levels on a line.
func distance(i, at, round int) int32 {
	d := 2*(i-at) + 1
	if d < 0 {
		d = -d
	}
	if round > 0 {
		d = min(d, round-d)
	}
	return int32(d)
}

// mostDistances is how many distances a likelihood may have: a fit goes through them some hundred times.
const mostDistances = 1 << 20

// newLikelihood uses all bits that have transitions. round is that of distance. It is nil where
// there are more than mostDistances.
func newLikelihood(c *errmodel.Counts, positions [][]int, round int) *likelihood {
	l := &likelihood{start: []int{0}, places: make([]places, len(positions))}
	groups, alike := map[string]int{}, map[string][]int{}
	for k, at := range positions {
		if len(at) == 0 {
			continue
		}
		l.places[k] = places{first: at[0], levels: c.Levels}
		l.key = l.key[:0]
		for _, n := range at {
			l.key = binary.LittleEndian.AppendUint32(l.key, uint32(n-at[0]))
		}
		if l.places[k].groups = alike[string(l.key)]; l.places[k].groups == nil {
			l.places[k].groups = slices.Repeat([]int{-1}, 2*c.Levels)
			alike[string(l.key)] = l.places[k].groups
		}
		for i := range c.Samples {
			if g := l.places[k].at(i); *g < 0 {
				*g = l.group(groups, i, at, round)
			}
			if len(l.distances) > mostDistances {
				return nil
			}
		}
	}
	for i, samples := range c.Samples { // as the counts lie in memory
		for k, wrong := range c.Row(i) {
			if len(positions[k]) > 0 {
				g := *l.places[k].at(i)
				l.n[g] += float64(samples)
				l.wrong[g] += float64(wrong)
				l.total += float64(wrong)
			}
		}
	}
	l.gauss.round = round
	return l.clone()
}

// clone is the same likelihood, for another σ. Several goroutines may clone one, so nothing of l is written to.
func (l *likelihood) clone() *likelihood {
	out := *l
	out.gauss = newGauss(int(slices.Max(append(slices.Clip(l.distances), 0))), l.gauss.round)
	out.logU, out.q1, out.q2 = make([]float64, len(l.n)), make([]float64, len(l.n)), make([]float64, len(l.n))
	return &out
}

// places are the groups of a bit's entries, by how far a level is from the bit's first transition.
// Bits whose transitions are as far from each other share them.
type places struct {
	first, levels int
	groups        []int // −1 where it is not known yet
}

// at is where the group of row i is.
func (p places) at(i int) *int { return &p.groups[i-p.first+p.levels-1] }

// group is the group of row i of a bit with these transitions, a new one where there is none yet.
func (l *likelihood) group(groups map[string]int, i int, at []int, round int) int {
	from := len(l.distances)
	for _, n := range at {
		l.distances = append(l.distances, distance(i, n, round))
	}
	slices.Sort(l.distances[from:])
	l.key = l.key[:0]
	for _, d := range l.distances[from:] {
		l.key = binary.LittleEndian.AppendUint32(l.key, uint32(d))
	}
	g, ok := groups[string(l.key)]
	if ok {
		l.distances = l.distances[:from]
		return g
	}
	g = len(l.n)
	groups[string(l.key)] = g
	l.start = append(l.start, len(l.distances))
	l.n, l.wrong = append(l.n, 0), append(l.wrong, 0)
	return g
}

// gauss holds Gaussians of one width by distance, without their factor 1/(σ√(2π)).
type gauss struct {
	sigma     float64
	round     int // the way round the circle, in halves of a level; 0 on a line
	g, g1, g2 []float64
}

// newGauss makes room for distances up to most halves of a level.
func newGauss(most, round int) gauss {
	return gauss{round: round, g: make([]float64, most+1), g1: make([]float64, most+1), g2: make([]float64, most+1)}
}

// square is (d/σ)² of a distance d.
func (g *gauss) square(d int32) float64 { z := float64(d) * 0.5 / g.sigma; return z * z }

// at sets the width to σ = eᵇ.
func (g *gauss) at(b float64) {
	g.sigma = math.Exp(b)
	for d := range g.g {
		g.g[d], g.g1[d], g.g2[d] = g.add(int32(d), 0)
	}
}

// add returns, at a distance d, the Gaussian times e^{base/2}, and its derivatives by b. With z = d/σ a
// Gaussian g = e^{−z²/2}/(σ√2π) has ∂g/∂b = g·(z²−1) and ∂²g/∂b² = g·((z²−1)² − 2z²). On a circle it is the
// sum over both ways, and over those that go round it once more.
func (g *gauss) add(d int32, base float64) (s, s1, s2 float64) {
	one := func(d int32) (w float64) {
		zz := g.square(d)
		w = math.Exp((base - zz) / 2)
		s += w
		s1 += w * (zz - 1)
		s2 += w * ((zz-1)*(zz-1) - 2*zz)
		return w
	}
	one(d)
	const ways = 64 // σ is at most one way round
	for w := int32(1); g.round > 0 && w < ways; w++ {
		far := w * int32(g.round)
		if near := one(far - d); near+one(far+d) <= 1e-24*s {
			break
		}
	}
	return s, s1, s2
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
			w, w1, w2 := g.add(d, nearest)
			s, s1, s2 = s+w, s1+w1, s2+w2
		}
		log = math.Log(s) - nearest/2
	}
	return log - math.Log(g.sigma) - math.Log(2*math.Pi)/2, s1 / s, s2 / s
}

// at sets b = ln σ for the other methods.
func (l *likelihood) at(b float64) {
	l.gauss.at(b)
	l.most = math.Inf(-1)
	for i := range l.n {
		l.logU[i], l.q1[i], l.q2[i] = l.gauss.sum(l.distances[l.start[i]:l.start[i+1]])
		l.most = max(l.most, l.logU[i])
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

// score is ∂/∂a of the log-likelihood and its negative derivative, in half the time of all derivatives.
func (l *likelihood) score(a float64) (score, information float64) {
	score = l.total
	for i, n := range l.n {
		if right, e := n-l.wrong[i], math.Exp(min(a+l.logU[i], 0)); right > 0 {
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
	const widest = 1 << 12 // e^−8191 is below the smallest number
	for step := 1.0; step <= widest; step *= 2 {
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
