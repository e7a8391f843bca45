package limit

import (
	"context"
	"math"
	"math/bits"
	"slices"
)

// windows has what a bit contributes to tests of levels near a place, for every pattern of its
// transitions in a window around that place. Transitions outside add at most tail to an error
// probability.
type windows struct {
	Problem
	most       int       // patterns
	span, half int       // of the window: places, and those on either side of the levels
	distances  []int     // of the tests
	weights    []float64 // of the tests
	masks      []uint64
	before     [2][]int32 // the pattern one place before, without and with a transition that has left
	tests      [][]test   // by distance and pattern
	info       []float64  // by pattern: the most that the bit tells of the level in the middle, in nats
	counted    [][]references
}

// test has what a bit says of two levels at most: the corners of the error probabilities that the
// window leaves open, as probabilities p ≤ q of an output, and −ln BC.
type test struct {
	corners [][2]float64
	s       float64
}

// add adds a corner, unless another one is above it for all prices: those rise with q and fall with p.
func (t *test) add(p, q float64) {
	t.corners = slices.DeleteFunc(t.corners, func(c [2]float64) bool { return c[0] >= p && c[1] <= q })
	if !slices.ContainsFunc(t.corners, func(c [2]float64) bool { return c[0] <= p && c[1] >= q }) {
		t.corners = append(t.corners, [2]float64{p, q})
	}
}

const (
	mostCounted = 40   // references; more are taken for certainty
	negligible  = 1e-7 // an error probability that needs no window
)

func newWindows(p Problem, most int) *windows {
	w := &windows{Problem: p, most: most}
	for _, d := range []int{1, 3} {
		if weight := p.weight(d); weight > 0 && d < p.Levels {
			w.distances, w.weights = append(w.distances, d), append(w.weights, weight)
		}
	}
	reach := 1
	for reach < min(len(p.Kernel), p.Levels) && p.Kernel[reach] > negligible {
		reach++
	}
	w.half, w.span = 1, w.far()+2
	for w.half < reach && patterns(w.span+2, p.Transitions) <= w.most && w.span < 60 {
		w.half, w.span = w.half+1, w.span+2
	}
	w.enumerate()
	for i, d := range w.distances {
		w.counted = append(w.counted, nil)
		e := w.reference(d)
		for k := range min(p.Bits, mostCounted) + 1 {
			w.counted[i] = append(w.counted[i], newReferences([]int{k}, []float64{e}, []float64{1 - e}))
		}
	}
	return w
}

// reference is the error probability of the symmetric channel that bits are compared with at a distance.
func (w *windows) reference(d int) float64 { return min(w.at(d/2), 0.5) }

// far is the largest distance of a test.
func (w *windows) far() int {
	if n := len(w.distances); n > 0 {
		return w.distances[n-1]
	}
	return 1
}

// patterns is the number of patterns of so many places with at most t transitions.
func patterns(span, t int) (n int) {
	c := 1
	for k := 0; k <= min(t, span) && n <= 1<<20; k++ {
		n += c
		c = c * (span - k) / (k + 1)
	}
	return n
}

// enumerate makes the patterns that give probabilities, and what they contribute.
func (w *windows) enumerate() {
	index := map[uint64]int32{}
	far := w.far()
	tails := make([][]float64, far+1) // by level and number of transitions
	for at := range tails {
		left, right := w.half+at, w.half+far-at
		sum := 0.0
		for range w.Transitions + 1 {
			tails[at] = append(tails[at], sum)
			if w.at(left) > w.at(right) {
				sum += w.at(left)
				left++
			} else {
				sum += w.at(right)
				right++
			}
		}
	}
	w.tests = make([][]test, len(w.distances))
	var add func(mask uint64, from int)
	add = func(mask uint64, from int) {
		w.pattern(mask, tails, index)
		if bits.OnesCount64(mask) == w.Transitions {
			return
		}
		for i := from; i < w.span && (mask == 0 || i < bits.TrailingZeros64(mask)+w.Levels-1); i++ {
			add(mask|1<<i, i+1)
		}
	}
	add(0, 0)
	for c := range w.before {
		for _, mask := range w.masks {
			at, ok := index[mask<<1&(1<<w.span-1)|uint64(c)]
			if !ok {
				at = int32(len(w.masks)) // a pattern that cannot be
			}
			w.before[c] = append(w.before[c], at)
		}
	}
}

// pattern appends a pattern, unless an error probability is above 1.
func (w *windows) pattern(mask uint64, tails [][]float64, index map[uint64]int32) {
	far := w.far()
	e := make([][2]float64, far+1) // by level, from the first one of the tests
	for at := range e {
		lo := 0.0
		for m := mask; m != 0; m &= m - 1 {
			g := bits.TrailingZeros64(m) - w.half // between levels g and g+1
			lo += w.at(max(g-at, at-1-g))
		}
		if lo > 1 {
			return
		}
		e[at] = [2]float64{lo, min(1, lo+tails[at][w.Transitions-bits.OnesCount64(mask)])}
	}
	for i, d := range w.distances {
		from := (far - d) / 2
		odd := bits.OnesCount64(mask>>(w.half+from)&(1<<d-1))%2 == 1
		var t test
		for _, p := range ends(e[from]) {
			for _, q := range ends(e[from+d]) {
				if odd {
					q = 1 - q
				}
				t.add(min(p, q), max(p, q))
				t.s = max(t.s, -math.Log(math.Sqrt(p*q)+math.Sqrt((1-p)*(1-q))))
			}
		}
		w.tests[i] = append(w.tests[i], t)
	}
	info := 0.0
	for _, p := range ends(e[far/2]) {
		info = max(info, math.Ln2-entropy(p))
	}
	index[mask] = int32(len(w.masks))
	w.masks, w.info = append(w.masks, mask), append(w.info, info)
}

// ends are the different ends of an interval.
func ends(e [2]float64) []float64 {
	if e[0] == e[1] {
		return e[:1]
	}
	return e[:]
}

// entropy is that of a binary output, in nats.
func entropy(p float64) float64 {
	if p <= 0 || p >= 1 {
		return 0
	}
	return -p*math.Log(p) - (1-p)*math.Log1p(-p)
}

// multipliers of the Lagrangian. x begins with those that all tests share.
const (
	shareOfRate = iota // at most 1; the rest is the share of the tests
	perLevel           // β of the rate: nats per unit of the cost
	perTransition
	perTest // by distance, per reference, and per unit of s
)

// price is what references and s cost at a distance, and what the test itself has then: φ.
type price struct {
	e, reference, s float64
	phi             float64
	gradient        [3]float64 // of φ by the share of tests, the price of a reference, and that of s
}

// newPrice is min over K and s of a·G(K, s) + λ₁·K + λ₂·s.
func newPrice(e float64, counted []references, more bool, a, reference, s float64) price {
	p := price{e: e, reference: reference, s: s, phi: math.Inf(1)}
	start := 0.0
	for k, of := range counted {
		if float64(k)*reference >= p.phi {
			return p
		}
		v, g, at := of.least(a, s, start)
		start = at
		if v += float64(k) * reference; v < p.phi {
			p.phi, p.gradient = v, [3]float64{g, float64(k), at}
		}
	}
	if v := float64(len(counted)) * reference; more && v < p.phi {
		p.phi, p.gradient = v, [3]float64{0, float64(len(counted)), 0}
	}
	return p
}

// of is what a bit is booked at in a test, as references or as s, and the amounts of references, of
// certainty (which costs φ) and of s.
func (p price) of(t test) (v float64, amounts [3]float64) {
	for _, c := range t.corners {
		if x, a := p.hull(c[0], c[1]); x >= v {
			v, amounts = x, a
		}
	}
	if x := p.s * t.s; x < v {
		return x, [3]float64{0, 0, t.s}
	}
	return v, amounts
}

// hull is the price of the cheapest mixture of no output (0), a reference (λ₁) and certainty (φ)
// from which an output can be made that is one with probabilities p ≤ q: the lower convex hull of
// their ROC points.
func (p price) hull(x, y float64) (v float64, amounts [3]float64) {
	apex := 1 - 2*p.e
	if p.phi*apex <= p.reference || p.e < 1e-12 {
		return p.phi * (y - x), [3]float64{0, y - x, 0}
	}
	v, amounts = p.reference*(y-x)/apex, [3]float64{(y - x) / apex, 0, 0}
	for _, side := range [2][2]float64{{x, y}, {1 - y, 1 - x}} {
		of := side[0] / p.e
		rest := side[1] - of*(1-p.e)
		if c := p.reference*of + p.phi*rest; c > v {
			v, amounts = c, [3]float64{of, rest, 0}
		}
	}
	return v, amounts
}

// byWindows is the limit of tests and of the rate together. Small windows find where large ones begin.
func byWindows(ctx context.Context, p Problem) (best float64, err error) {
	var starts [][]float64
	stages := []struct{ patterns, hops, steps int }{{1 << 7, 2, 80}, {1 << 9, 1, 60}, {1 << 11, 0, 40}, {1 << 13, 0, 30}}
	if p.Quick {
		stages = stages[:2]
		stages[0].hops, stages[0].steps, stages[1].hops, stages[1].steps = 0, 40, 0, 40
	}
	for _, stage := range stages {
		w := newWindows(p, stage.patterns)
		if starts == nil {
			starts = w.starts()
		}
		v, at, err := hop(ctx, w.lagrangian, starts, stage.hops, stage.steps)
		if err != nil {
			return 0, err
		}
		best, starts = max(best, v), [][]float64{at}
		if len(w.masks) < stage.patterns/2 { // the window has all that counts
			break
		}
	}
	return best, nil
}

// starts are multipliers that fit numbers of references.
func (w *windows) starts() (out [][]float64) {
	for _, share := range []float64{0.03, 0.3} {
		for k := 0; k <= mostCounted-2 && k <= w.Bits; k += 1 + k {
			x := make([]float64, perTest+2*len(w.distances))
			x[shareOfRate], x[perLevel], x[perTransition] = share, 1.5, 0.01/float64(w.Levels)
			for i := range w.distances {
				g, _ := w.counted[i][k].at(0)
				other, _ := w.counted[i][k].at(0.1)
				more, _ := w.counted[i][min(k+2, len(w.counted[i])-1)].at(0)
				x[perTest+2*i], x[perTest+2*i+1] = (1-share)*max((g-more)/2, g/20, 1e-4), (1-share)*(g-other)*10
			}
			out = append(out, x)
		}
	}
	return out
}

// lagrangian is a lower bound of the mean cost, for any multipliers.
func (w *windows) lagrangian(ctx context.Context, x []float64) (float64, []float64, error) {
	gradient, levels, m := make([]float64, len(x)), float64(w.Levels), float64(w.Bits)
	b, beta := min(x[shareOfRate], 1), max(x[perLevel], 1e-6)
	z, slope := w.logZ(beta)
	rate := math.Log(levels) - z // less what the bits tell
	value := b / beta * rate
	prices, gains := make([]price, len(w.distances)), make([][]float64, len(w.distances)+1)
	book := func(i int, amount float64, amounts [3]float64) { // of references, certainty and s
		certain := amount * amounts[1]
		gradient[shareOfRate] -= certain * prices[i].gradient[0]
		gradient[perTest+2*i] += amount*amounts[0] + certain*prices[i].gradient[1]
		gradient[perTest+2*i+1] += amount*amounts[2] + certain*prices[i].gradient[2]
	}
	for i, d := range w.distances {
		at, share := perTest+2*i, w.weights[i]*2/levels
		prices[i] = newPrice(w.reference(d), w.counted[i], w.Bits > mostCounted, 1-b, x[at], x[at+1])
		value += share * float64(w.Levels-d) * prices[i].phi
		book(i, share*float64(w.Levels-d), [3]float64{1: 1})
		for _, t := range w.tests[i] {
			v, _ := prices[i].of(t)
			gains[i] = append(gains[i], v*share)
		}
	}
	for _, v := range w.info {
		gains[len(prices)] = append(gains[len(prices)], v*b/beta/levels)
	}
	gain, path, err := w.column(ctx, gains, x[perTransition])
	if err != nil {
		return 0, nil, err
	}
	value -= m * (gain + x[perTransition]*float64(w.Transitions))
	gradient[perTransition] -= m * float64(w.Transitions)
	for i, s := range path {
		at := w.first() + i
		if w.enters(s) {
			gradient[perTransition] += m
		}
		if w.counts(len(prices), at) {
			rate -= m * w.info[s] / levels
		}
		for i, pr := range prices {
			if w.counts(i, at) {
				_, amounts := pr.of(w.tests[i][s])
				book(i, -m*w.weights[i]*2/levels, amounts)
			}
		}
	}
	if b < 1 {
		gradient[shareOfRate] += rate / beta
	}
	gradient[perLevel] -= b / beta * (rate/beta + slope)
	return value, gradient, nil
}

// first is the first place of the windows, the level of the first test, where the last place of the
// window is before level 1.
func (w *windows) first() int { return w.half - w.span + 1 }

// counts reports whether the levels of a test, or the level of the rate, are levels where the
// window is at a place.
func (w *windows) counts(i, at int) bool {
	d := 0
	if i < len(w.distances) {
		d = w.distances[i]
	}
	from := at + (w.far()-d)/2
	return from >= 1 && from+d <= w.Levels
}

// enters reports whether a pattern has a transition at its last place.
func (w *windows) enters(s int32) bool { return w.masks[s]>>(w.span-1) == 1 }

// column finds the bit that gains the most, less a price of each transition, and its pattern at
// each place, by dynamic programming. The last of the gains are of the level in the middle, the
// others of the tests.
func (w *windows) column(ctx context.Context, gains [][]float64, price float64) (float64, []int32, error) {
	states := len(w.masks)
	value, next, gain := make([]float64, states+1), make([]float64, states+1), make([]float64, states)
	for s := range value {
		value[s] = math.Inf(-1)
	}
	value[0], next[states] = 0, math.Inf(-1) // the pattern without transitions, and the one that cannot be
	var chosen [][]bool
	now := -1 // the gains that are added up, a bit each
	for at := w.first(); at <= w.Levels; at++ {
		if err := ctx.Err(); err != nil {
			return 0, nil, err
		}
		counted, place := 0, at+w.span-1-w.half
		for i := range gains {
			if w.counts(i, at) {
				counted |= 1 << i
			}
		}
		if place >= w.Levels {
			counted |= 1 << len(gains)
		}
		if counted != now || place == 1 {
			clear(gain)
			for s := range gain {
				for i, g := range gains {
					if counted>>i&1 == 1 {
						gain[s] += g[s]
					}
				}
				if w.enters(int32(s)) {
					if gain[s] -= price; place < 1 || place >= w.Levels {
						gain[s] = math.Inf(-1)
					}
				}
			}
			now = counted
		}
		choice, old, gone := make([]bool, states), w.before[0], w.before[1]
		for s, g := range gain {
			v := value[old[s]]
			if u := value[gone[s]]; u > v {
				v, choice[s] = u, true
			}
			next[s] = v + g
		}
		value, next = next, value
		chosen = append(chosen, choice)
	}
	best := int32(0)
	for s, v := range value {
		if v > value[best] {
			best = int32(s)
		}
	}
	path := make([]int32, len(chosen))
	for i, s := len(path)-1, best; i >= 0; i-- {
		path[i] = s
		if chosen[i][s] {
			s = w.before[1][s]
		} else {
			s = w.before[0][s]
		}
	}
	return value[best], path, nil
}
