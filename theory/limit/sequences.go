package limit

import (
	"context"
	"math"
	"slices"
)

// sequences has the tests of neighbouring levels by the numbers X of bits that change between them.
// A bit that changes in a test is at most a clean reference: one whose only transition is this one.
// The other bits are booked at what each of their transitions adds to s at most.
type sequences struct {
	Problem
	most   int             // transitions between two levels that are counted; more are taken for certainty
	tests  [4][]references // by distance, and by the numbers of transitions in the test as digits to base most+1
	weight [4]float64      // of the tests, by distance; 0 where there are none
	bill   [4]float64      // what a transition adds to the s of all other tests, by distance
}

// mostOfThree is the largest number of transitions between two levels that tests three levels apart
// are made for.
const mostOfThree = 4

// newSequences returns nil where some bits may be wrong more often than 1 − e(½): such a bit can be
// better than a clean one. Where transitions are many, windows are better.
func newSequences(p Problem) *sequences {
	usual, largest := p.Bits*p.Transitions/p.Levels, 0.0
	for k := range p.Transitions {
		largest += p.at(k / 2)
	}
	if usual > 3 || largest > 1-p.at(0) || p.at(0) == 0 || p.weight(1) == 0 {
		return nil
	}
	q := &sequences{Problem: p, most: min(p.Bits, 2*usual+4), weight: [4]float64{0, p.weight(1), 0, p.weight(3)}}
	if p.Cost.Absolute() {
		q.weight[2] = 1
	}
	for d := 1; d <= 3; d++ {
		var a, b []float64
		for i := range d {
			a, b = append(a, q.at(i)), append(b, 1-q.at(d-1-i))
		}
		for j := range p.Kernel {
			u, v := p.at(j), p.at(j+d)
			by := math.Sqrt(u) - math.Sqrt(v)
			add := by * by / (1 - largest) // on two sides
			if p.Transitions == 1 {
				add = -2 * math.Log(math.Sqrt(u*v)+math.Sqrt((1-u)*(1-v)))
			}
			q.bill[d] += add
		}
		counts := make([]int, d)
		for at := range int(math.Pow(float64(q.most+1), float64(d))) {
			for i := range counts {
				counts[i], at = at%(q.most+1), at/(q.most+1)
			}
			var r references // none: no test
			if q.weight[d] > 0 && (d < 3 || slices.Max(counts) <= mostOfThree) {
				r = newReferences(counts, a, b)
			}
			q.tests[d] = append(q.tests[d], r)
		}
	}
	return q
}

// bySequences is the limit of counts in sequence.
func bySequences(ctx context.Context, p Problem) (float64, error) {
	q := newSequences(p)
	if q == nil {
		return 0, nil
	}
	var starts [][]float64
	for i := range 8 {
		x := []float64{0.1 / float64(p.Levels), 0.05, 0.05, 0.05}
		for j := range 3 {
			if i>>j&1 == 1 {
				x[j] *= 5
			}
		}
		starts = append(starts, x)
	}
	hops, steps := 3, 40
	if p.Quick {
		hops, steps = 0, 20
	}
	v, _, err := hop(ctx, q.lagrangian, starts, hops, steps)
	return v, err
}

// found is min over s of G + λ·s, and that s, each times the weight of the test.
type found struct{ v, s float64 }

// threshold is the cost at a threshold by the transitions there and on either side, and the s by
// distance that it is made of. most+1 transitions stand for more, and most+2 for the ends, where
// there is no level.
func (q *sequences) threshold(tests [4][]found, x, y, z int) (v float64, s [4]float64) {
	n := q.most + 1
	if y >= n {
		return 0, s
	}
	one := tests[1][y]
	v, s[1] = one.v, one.s
	if max(x, z) < n {
		three := tests[3][x+n*(y+n*z)]
		v, s[3] = v+three.v, three.s
	}
	two := found{}
	if x < n {
		two = tests[2][x+n*y]
	}
	if z < n {
		after := tests[2][y+n*z]
		two.v, two.s = two.v+after.v, two.s+after.s
	}
	if two.v > v {
		return two.v, [4]float64{2: two.s}
	}
	return v, s
}

// lagrangian is a lower bound of the mean cost. x are the price of a transition, and those of s by
// distance. The sequence of the least cost is found by dynamic programming over the last two
// numbers.
func (q *sequences) lagrangian(ctx context.Context, x []float64) (float64, []float64, error) {
	var tests [4][]found
	total, value, gradient := float64(q.Bits*q.Transitions), 0.0, make([]float64, 4)
	pay := func(j int, amount float64) {
		value -= x[j] * amount
		gradient[j] -= amount
	}
	pay(0, total)
	for d := 1; d <= 3; d++ {
		unit, start := 2*q.weight[d]/float64(q.Levels), 0.0
		for _, r := range q.tests[d] {
			v, _, s := r.least(1, x[d], start)
			tests[d], start = append(tests[d], found{unit * v, unit * s}), s
		}
		times := []float64{1: 1, 2: 2, 3: 1}[d] // a test two levels apart is used at two thresholds
		pay(d, times*unit*q.bill[d]*total)
	}
	n := q.most + 3
	costs, now, next := make([]float64, n*n*n), make([]float64, n*n), make([]float64, n*n)
	for at := range costs {
		costs[at], _ = q.threshold(tests, at%n, at/n%n, at/n/n)
	}
	end := n - 1
	for at := range now {
		if now[at] = math.Inf(1); at%n == end && at/n < end {
			now[at] = x[0] * float64(at/n)
		}
	}
	from := make([][]int, q.Levels-1) // the number before two of them
	for t := range from {
		if err := ctx.Err(); err != nil {
			return 0, nil, err
		}
		from[t] = make([]int, n*n)
		for at := range next { // y and z
			best := math.Inf(1)
			for a, v := range now[at%n*n : at%n*n+n] {
				if v += costs[a+n*at]; v < best {
					best, from[t][at] = v, a
				}
			}
			if z := at / n; (z == end) != (t == len(from)-1) {
				best = math.Inf(1)
			} else if z < end {
				best += x[0] * float64(z)
			}
			next[at] = best
		}
		now, next = next, now
	}
	at := n * end
	for y := range end {
		if now[y+n*end] < now[at] {
			at = y + n*end
		}
	}
	value += now[at]
	for t := len(from) - 1; t >= 0; t-- {
		before := from[t][at]
		y := at % n
		_, s := q.threshold(tests, before, y, at/n)
		s[0] = float64(y)
		for j, v := range s {
			gradient[j] += v
		}
		at = before + n*y
	}
	return value, gradient, nil
}
