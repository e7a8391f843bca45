package errmodel

import (
	"encoding/binary"
	"math"
	"slices"
)

// likelihood is the likelihood of r and σ, given counts of wrong outputs. Every level and
// bit has a binomial count with the probability
//
//	e = r·u,  u = Σ exp(−d²/(2σ²))/(σ√(2π))
//
// where the sum is over the distances d of the level from the transitions of the bit
// (Eq. 3 and 4). The parameters are a = ln r and b = ln σ. Cells with the same distances
// have the same probability for all r and σ, so their counts are added up. Of the 65,536
// cells of a unary code, a few hundred groups remain.
//
// A likelihood holds the Gaussians of one σ at a time (see at): use it on one goroutine.
type likelihood struct {
	start     []int   // distances[start[i]:start[i+1]] belong to group i,
	distances []int32 // less ½, ascending
	n, wrong  []float64
	total     float64 // wrong outputs of all
	group     []int32 // of every level, in the order of the bits

	// Of the σ that at was called with:
	logU   []float64 // ln u by group
	q1, q2 []float64 // ∂u/∂b and ∂²u/∂b² over u
	most   float64   // the largest ln u: r may be up to e^−most

	g, g1, g2 []float64 // by distance
}

// newLikelihood uses one bit, or all bits that have transitions where bit is negative.
func newLikelihood(c *Counts, positions [][]int, bit int) *likelihood {
	l := &likelihood{start: []int{0}}
	groups := map[string]int{}
	var key []byte
	var distances []int32
	for k, at := range positions {
		if len(at) == 0 || bit >= 0 && bit != k {
			continue
		}
		for i := range c.Levels {
			distances = distances[:0]
			for _, n := range at {
				d := i - n // the distance is d+½, or its negative
				if d < 0 {
					d = -d - 1
				}
				distances = append(distances, int32(d))
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
			l.group = append(l.group, int32(g))
			l.n[g] += float64(c.Samples[i])
			l.wrong[g] += float64(c.Row(i)[k])
			l.total += float64(c.Row(i)[k])
		}
	}
	most := int32(0)
	for _, d := range l.distances {
		most = max(most, d)
	}
	l.g, l.g1, l.g2 = make([]float64, most+1), make([]float64, most+1), make([]float64, most+1)
	l.logU, l.q1, l.q2 = make([]float64, len(l.n)), make([]float64, len(l.n)), make([]float64, len(l.n))
	return l
}

// at sets b = ln σ for the other methods.
func (l *likelihood) at(b float64) {
	sigma := math.Exp(b)
	scale := -b - math.Log(2*math.Pi)/2
	// With z = d/σ a Gaussian g = e^{−z²/2}/(σ√2π) has ∂g/∂b = g·(z²−1) and ∂²g/∂b²
	// = g·((z²−1)² − 2z²).
	square := func(d int32) float64 { z := (float64(d) + 0.5) / sigma; return z * z }
	for d := range l.g {
		zz := square(int32(d))
		l.g[d] = math.Exp(-zz / 2)
		l.g1[d] = l.g[d] * (zz - 1)
		l.g2[d] = l.g[d] * ((zz-1)*(zz-1) - 2*zz)
	}
	l.most = math.Inf(-1)
	for i := range l.n {
		distances := l.distances[l.start[i]:l.start[i+1]]
		var s, s1, s2, log float64
		if l.g[distances[0]] > 1e-200 {
			for _, d := range distances {
				s += l.g[d]
				s1 += l.g1[d]
				s2 += l.g2[d]
			}
			log = math.Log(s)
		} else {
			// The Gaussians underflow this far out: compute them relative to the nearest.
			nearest := square(distances[0])
			for _, d := range distances {
				zz := square(d)
				w := math.Exp((nearest - zz) / 2)
				s += w
				s1 += w * (zz - 1)
				s2 += w * ((zz-1)*(zz-1) - 2*zz)
			}
			log = math.Log(s) - nearest/2
		}
		l.logU[i], l.q1[i], l.q2[i] = log+scale, s1/s, s2/s
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

// derivatives returns the gradient in (a, b) and the observed information, the
// negative of the second derivatives.
func (l *likelihood) derivatives(a float64) (ga, gb, iaa, iab, ibb float64) {
	for i, n := range l.n {
		e := math.Exp(min(a+l.logU[i], 0))
		right := n - l.wrong[i]
		s := l.wrong[i]
		if right > 0 {
			s -= right * e / (1 - e)
			w := right * e / ((1 - e) * (1 - e))
			iaa += w
			iab += w * l.q1[i]
			ibb += w * l.q1[i] * l.q1[i]
		}
		ga += s
		gb += s * l.q1[i]
		ibb -= s * (l.q2[i] - l.q1[i]*l.q1[i])
	}
	return ga, gb, iaa, iab, ibb
}
