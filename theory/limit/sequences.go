package limit

import (
	"context"
	"math"
	"slices"
)

// sequences has the tests of neighbouring levels by the numbers X of bits that change between them. A bit that
// changes in a test is at most a clean reference: one whose only transition is this one. The other bits are booked
// at what each of their transitions adds to s at most.
type sequences struct {
	Problem
	most   int             // transitions between two levels that are counted; more are taken for certainty
	two    bool            // the cost also has tests two levels apart
	pairs  [4][]references // by distance, and by the numbers of transitions in the test, as a number to base most+1
	weight [4]float64      // of the tests, by distance
	bill   [4]float64      // what a transition adds to the s of all other tests, by distance
}

// newSequences returns nil where some bits may be wrong more often than 1 − e(½): such a bit can be better than a
// clean one.
func newSequences(p Problem) *sequences {
	usual := p.Bits * p.Transitions / p.Levels
	largest := 0.0
	for k := range p.Transitions {
		largest += p.at(k / 2)
	}
	if usual > 3 || largest > 1-p.at(0) || p.at(0) == 0 || p.weight(1) == 0 {
		return nil
	}
	q := &sequences{Problem: p, most: min(p.Bits, max(4, min(2*usual+3, 10))), two: p.Cost.Absolute()}
	for d := 1; d <= 3; d++ {
		if d == 2 && q.two {
			q.weight[d] = 1
		} else if d != 2 {
			q.weight[d] = p.weight(d)
		}
		if q.weight[d] == 0 {
			continue
		}
		for j := range p.Kernel {
			u, v := p.at(j), p.at(j+d)
			if p.Transitions == 1 {
				q.bill[d] -= 2 * math.Log(math.Sqrt(u*v)+math.Sqrt((1-u)*(1-v)))
			} else {
				by := math.Sqrt(u) - math.Sqrt(v)
				q.bill[d] += by * by / (1 - largest) // on two sides
			}
		}
		q.pairs[d] = q.tests(d)
	}
	return q
}

// tests are the references of a test at a distance d.
func (q *sequences) tests(d int) []references {
	var a, b []float64
	for i := range d {
		a, b = append(a, q.at(i)), append(b, 1-q.at(d-1-i))
	}
	size := 1
	for range d {
		size *= q.most + 1
	}
	out, counts := make([]references, size), make([]int, d)
	for at := range out {
		rest := at
		for i := range counts {
			counts[i], rest = rest%(q.most+1), rest/(q.most+1)
		}
		if mirror := q.at3(counts, true); mirror < at {
			out[at] = out[mirror]
			continue
		}
		if d < 3 || slices.Max(counts) <= mostOfThree { // others have no test: 0
			out[at] = newReferences(counts, a, b)
		}
	}
	return out
}

// at3 is the number of some counts to base most+1, in the other order where mirrored.
func (q *sequences) at3(counts []int, mirrored bool) (at int) {
	for i := range counts {
		c := counts[len(counts)-1-i]
		if mirrored {
			c = counts[i]
		}
		at = at*(q.most+1) + c
	}
	return at
}

// mostOfThree is the largest number of transitions between two levels that tests three levels apart are made for.
const mostOfThree = 4

// found is min over s of G + λ·s, and that s.
type found struct{ v, s float64 }

// bySequences is the limit of counts in sequence.
func bySequences(ctx context.Context, p Problem) (float64, error) {
	q := newSequences(p)
	if q == nil {
		return 0, nil
	}
	upper := []float64{math.Inf(1), math.Inf(1), math.Inf(1), math.Inf(1)}
	var starts [][]float64
	for i := range 8 {
		start := []float64{0.1 / float64(p.Levels), 0.05, 0.05, 0.05}
		for j := range 3 {
			if i>>j&1 == 1 {
				start[j] *= 5
			}
		}
		starts = append(starts, start)
	}
	v, _, err := hop(ctx, q.lagrangian, starts, upper, 3, 40)
	return v, err
}

// lagrangian is a lower bound of the mean cost. x are the price of a transition, and those of s by distance.
func (q *sequences) lagrangian(ctx context.Context, x []float64) (float64, []float64, error) {
	var tests [4][]found
	for d, pairs := range q.pairs {
		tests[d] = make([]found, len(pairs))
		start := 0.0
		for i, r := range pairs {
			if r == nil {
				continue
			}
			v, _, s := r.least(1, x[d], start)
			tests[d][i] = found{q.weight[d] * v * 2 / float64(q.Levels), s}
			start = s
		}
	}
	value, path, err := q.least(ctx, tests, x[0])
	if err != nil {
		return 0, nil, err
	}
	total := float64(q.Bits * q.Transitions)
	value -= x[0] * total
	gradient := []float64{path[0] - total, path[1], path[2], path[3]}
	for d := 1; d <= 3; d++ {
		times := 2 / float64(q.Levels) * q.weight[d] * q.bill[d] * total
		if d == 2 {
			times *= 2 // a test two levels apart is used at two thresholds
		}
		value -= x[d] * times
		gradient[d] -= times
	}
	return value, gradient, nil
}

// threshold is the cost at a threshold by the transitions there and on either side, −1 where there is no level, and
// the amounts of s that it is made of.
func (q *sequences) threshold(tests [4][]found, x, y, z int) (v float64, s [4]float64) {
	n := q.most + 1
	if y == n {
		return 0, s
	}
	unit := 2 / float64(q.Levels)
	one := tests[1][y]
	v, s[1] = one.v, unit*q.weight[1]*one.s
	if q.weight[3] > 0 && min(x, z) >= 0 && max(x, z) < n {
		three := tests[3][x+n*(y+n*z)]
		v += three.v
		s[3] = unit * q.weight[3] * three.s
	}
	if !q.two {
		return v, s
	}
	sum, amount := 0.0, 0.0
	if x >= 0 && x < n {
		two := tests[2][x+n*y]
		sum, amount = sum+two.v, amount+unit*two.s
	}
	if z >= 0 && z < n {
		two := tests[2][y+n*z]
		sum, amount = sum+two.v, amount+unit*two.s
	}
	if sum > v {
		return sum, [4]float64{0, 0, amount, 0}
	}
	return v, s
}

// least is the sequence of the least cost, at a price of each transition, and its sums of transitions and of s by
// distance: by dynamic programming over the last two numbers. Where the increments are nearly equal, the
// smallest is taken for each of the thresholds that follow, because it never falls.
func (q *sequences) least(ctx context.Context, tests [4][]found, price float64) (float64, [4]float64, error) {
	n := q.most + 2
	values, amounts := make([]float64, n*n*n), make([][4]float64, n*n*n)
	for x := range n {
		for y := range n {
			for z := range n {
				at := x + n*(y+n*z)
				values[at], amounts[at] = q.threshold(tests, x, y, z)
				values[at] += float64(z) * price
				amounts[at][0] = float64(z)
			}
		}
	}
	type state struct {
		v    float64
		sums [4]float64
	}
	add := func(a state, v float64, sums [4]float64, times float64) state {
		a.v += v * times
		for i, s := range sums {
			a.sums[i] += s * times
		}
		return a
	}
	now, next := make([]state, n*n), make([]state, n*n) // by X of the threshold before, and its own
	if q.Levels == 2 {
		now, next = nil, nil
	}
	for y := range n {
		for z := range n {
			if q.Levels == 2 {
				break
			}
			v, s := q.threshold(tests, -1, y, z)
			s[0] = float64(y + z)
			now[y+n*z] = add(state{}, v+price*float64(y+z), s, 1)
		}
	}
	for t := 2; t < q.Levels-1; t++ {
		if err := ctx.Err(); err != nil {
			return 0, [4]float64{}, err
		}
		lowest := math.Inf(1)
		highest := math.Inf(-1)
		for z := range n {
			for y := range n {
				best, from := math.Inf(1), 0
				for x := range n {
					if v := now[x+n*y].v + values[x+n*(y+n*z)]; v < best {
						best, from = v, x
					}
				}
				at := from + n*(y+n*z)
				next[y+n*z] = add(now[from+n*y], values[at], amounts[at], 1)
				rise := best - now[y+n*z].v
				lowest, highest = min(lowest, rise), max(highest, rise)
			}
		}
		if left := q.Levels - 2 - t; left > 4 && float64(left)*(highest-lowest) < 1e-5 {
			for i, s := range next {
				var mean [4]float64
				for j := range mean {
					mean[j] = (s.sums[j] - now[i].sums[j]) * float64(left)
				}
				next[i] = add(s, lowest*float64(left), mean, 1)
			}
			t += left
		}
		now, next = next, now
	}
	best := state{v: math.Inf(1)}
	for y := range n {
		if q.Levels == 2 {
			v, s := q.threshold(tests, -1, y, -1)
			s[0] = float64(y)
			if end := add(state{}, v+price*float64(y), s, 1); end.v < best.v {
				best = end
			}
			continue
		}
		for x := range n {
			v, s := q.threshold(tests, x, y, -1)
			if end := add(now[x+n*y], v, s, 1); end.v < best.v {
				best = end
			}
		}
	}
	return best.v, best.sums, nil
}
