package enclose

import (
	"context"
	"math/bits"
)

// path computes the law of the nearest of candidates that form a path: from each to the next one
// some bits change, and no bit changes twice.
//
// The agreement V_j of the output with candidate j is then a walk: V_j − V_{j−1} is a sum X_j of ±1
// over the bits of step j, and steps are independent. Candidate j is nearest where no candidate
// before it and none after it agrees better. The two events are independent. The first one is about
// Q_j = max_{i≤j} V_i − V_j, which is a Markov chain: Q_j = max(0, Q_{j−1} − X_j), and Q_j is 0
// where candidate j agrees best so far. The second one is the same, from the other end.
//
// The candidates are in the order of their levels, or in a rotation of it, as words of a Johnson
// code near level 1 need it: first levels from a level on to the largest, then smaller ones. Of
// several candidates that agree equally, the lowest level is nearest. So the law of Q has two
// parts, by the side of the turn on which the maximum is.
type path struct {
	rows  []int
	turn  int      // the first candidate after the turn; 0 where there is none
	steps [][]step // steps[j] leads from candidate j to j+1
	bits  []step
	seen  []uint64

	before, after []float64 // by candidate: the probability that it agrees best of those before, and after
	near, far     walk      // the parts of Q whose maximum is on the candidate's side of the turn, and beyond
}

// step is a bit that changes from a candidate to the next one: the probabilities that the output
// agrees with the next one, and with the one before.
type step struct{ up, down float64 }

// set prepares the path of the chosen candidates. It reports whether they form one.
func (x *path) set(c *candidates) bool {
	x.rows = append(x.rows[:0], c.chosen...)
	x.turn = 0
	if x.link(c) {
		return true
	}
	// The turn is at the widest gap.
	gap := 0
	for j, m := range c.chosen[1:] {
		if g := m - c.chosen[j]; g > gap {
			gap, x.turn = g, len(c.chosen)-1-j
		}
	}
	x.rows = append(append(x.rows[:0], c.chosen[len(c.chosen)-x.turn:]...), c.chosen[:len(c.chosen)-x.turn]...)
	return x.link(c)
}

// link makes the steps between the rows. It reports whether no bit changes twice that can be right
// or wrong.
func (x *path) link(c *candidates) bool {
	own := c.code.Word(c.truth)
	x.seen = resize(x.seen, len(own))
	clear(x.seen)
	x.steps, x.bits = x.steps[:0], x.bits[:0]
	for j, m := range x.rows[1:] {
		word := c.code.Word(m)
		from := len(x.bits)
		for w, v := range c.code.Word(x.rows[j]) {
			for d := v ^ word[w]; d != 0; d &= d - 1 {
				k := 64*w + bits.TrailingZeros64(d)
				if e := c.e[k]; e > 0 && e < 1 { // what is certain may change back
					if x.seen[w]&d&-d != 0 {
						return false
					}
					x.seen[w] |= d & -d
				}
				t := step{c.e[k], 1 - c.e[k]}
				if (word[w]^own[w])>>(k%64)&1 == 0 {
					t = step{t.down, t.up}
				}
				x.bits = append(x.bits, t)
			}
		}
		x.steps = append(x.steps, x.bits[from:len(x.bits):len(x.bits)])
	}
	return true
}

// tiny is a probability that is left out of the laws of walks. It is counted as lost.
const tiny = 0x1p-1000

// mean returns intervals of the mean costs, and their work.
func (x *path) mean(ctx context.Context, c *candidates) (out intervals, work int, err error) {
	n := len(x.rows)
	x.before, x.after = resize(x.before, n), resize(x.after, n)
	lost := 0.0
	x.start()
	x.before[0] = 1
	for j, bits := range x.steps {
		if err := ctx.Err(); err != nil { // 65,536 bits take some milliseconds a step
			return out, work, err
		}
		if j+1 == x.turn {
			x.near, x.far = x.far, x.near
		}
		for _, t := range bits {
			work += x.near.add(t.down, t.up) + x.far.add(t.down, t.up)
		}
		// A candidate of a lower level is nearest where the two agree equally. Those before the
		// turn are of higher levels than those after it.
		x.before[j+1] = x.near.below(0) + x.far.below(1)
		lost += x.clamp(0)
	}
	x.start()
	x.after[n-1] = 1
	for j := n - 2; j >= 0; j-- {
		if err := ctx.Err(); err != nil {
			return out, work, err
		}
		if j+1 == x.turn {
			x.near, x.far = x.far, x.near
		}
		for _, t := range x.steps[j] {
			work += x.near.add(t.up, t.down) + x.far.add(t.up, t.down)
		}
		x.after[j] = x.near.below(1) + x.far.below(0)
		lost += x.clamp(1)
	}
	for k, costs := range c.costs {
		v := 0.0
		for j, m := range x.rows {
			v += x.before[j] * x.after[j] * costs[m]
		}
		// A probability has at most three roundings a bit on either side, and those of its sums.
		out[k] = Interval{v, v + lost*c.errors(k, x.rows).Hi}.widen(float64(8*len(x.bits)+4*n+16) * unit)
	}
	return out, work, nil
}

// start begins at an end of the path.
func (x *path) start() {
	x.near.reset(len(x.bits))
	x.far.reset(len(x.bits))
	x.near.put(0, 1)
}

// clamp makes the present candidate the best one where it is: in the near part below own, in the
// far part below 1−own.
func (x *path) clamp(own int) float64 {
	x.near.put(0, x.near.take(own)+x.far.take(1-own))
	return x.near.trim() + x.far.trim()
}

// walk is a part of the law of a walk.
type walk struct {
	law    []float64 // law[zero+q]
	zero   int
	lo, hi int // q outside is impossible; lo > hi where all are
}

// reset forgets the law. The next walk has at most so many steps.
func (w *walk) reset(steps int) {
	w.law = resize(w.law, 2*steps+5)
	clear(w.law)
	w.zero, w.lo, w.hi = steps+2, 1, 0
}

// put adds a probability to a place.
func (w *walk) put(q int, p float64) {
	if p == 0 {
		return
	}
	if w.lo > w.hi {
		w.lo, w.hi = q, q
	}
	w.lo, w.hi = min(w.lo, q), max(w.hi, q)
	w.law[w.zero+q] += p
}

// add adds a step of +1 or −1, with the given probabilities. It returns its work.
func (w *walk) add(up, down float64) int {
	if w.lo > w.hi {
		return 0
	}
	p := w.law[w.zero+w.lo-1 : w.zero+w.hi+2]
	before := 0.0 // the old probability of the place before
	for q := range len(p) - 1 {
		now := p[q]
		p[q] = before*up + p[q+1]*down
		before = now
	}
	p[len(p)-1] = before * up
	w.lo--
	w.hi++
	return len(p)
}

// below is the probability below q.
func (w *walk) below(q int) float64 {
	s := 0.0
	for i := w.lo; i < min(q, w.hi+1); i++ {
		s += w.law[w.zero+i]
	}
	return s
}

// take removes what is below q, and returns its probability.
func (w *walk) take(q int) float64 {
	s := w.below(q)
	for ; w.lo <= w.hi && w.lo < q; w.lo++ {
		w.law[w.zero+w.lo] = 0
	}
	return s
}

// trim drops what is tiny at either end, and returns how much.
func (w *walk) trim() (lost float64) {
	for ; w.hi >= w.lo && w.law[w.zero+w.hi] < tiny; w.hi-- {
		lost += w.law[w.zero+w.hi]
		w.law[w.zero+w.hi] = 0
	}
	for ; w.lo <= w.hi && w.law[w.zero+w.lo] < tiny; w.lo++ {
		lost += w.law[w.zero+w.lo]
		w.law[w.zero+w.lo] = 0
	}
	return lost
}

// resize returns a slice of length n, with unknown values.
func resize[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n)
	}
	return s[:n]
}
