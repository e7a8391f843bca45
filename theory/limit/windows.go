package limit

import (
	"cmp"
	"context"
	"math"
	"math/bits"
	"slices"
)

// windows has what a bit contributes to tests of levels near a place, for every pattern of its transitions in a
// window around that place. Transitions outside add at most tail to an error probability.
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

// test has what a bit says of two levels at most: the corners of the error probabilities that the window leaves
// open, as probabilities p ≤ q of an output, and −ln BC.
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
	shareOfTests = iota // the rest of 1 is the share of the rate
	perLevel            // β of the rate: nats per unit of the cost
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

// of is what a bit is booked at in a test, as references or as s, and the amounts of references, of certainty (which
// costs φ) and of s.
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

// hull is the price of the cheapest mixture of no output (0), a reference (λ₁) and certainty (φ) from which an
// output can be made that is one with probabilities p ≤ q: the lower convex hull of their ROC points.
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

// byWindows is the limit of tests and of the rate together.
func byWindows(ctx context.Context, p Problem) (float64, error) {
	best := 0.0
	var starts [][]float64
	states := 0
	for _, stage := range []struct{ patterns, hops, steps int }{{1 << 7, 3, 80}, {1 << 9, 1, 60}, {1 << 11, 0, 40}, {1 << 13, 0, 30}} {
		w := newWindows(p, stage.patterns)
		if len(w.masks) == states {
			continue
		}
		states = len(w.masks)
		upper := make([]float64, perTest+2*len(w.distances))
		for j := range upper {
			upper[j] = math.Inf(1)
		}
		upper[shareOfTests] = 1
		if starts == nil {
			var err error
			if starts, err = w.starts(ctx); err != nil {
				return 0, err
			}
		}
		v, at, err := hop(ctx, w.lagrangian, starts, upper, stage.hops, stage.steps)
		if err != nil {
			return 0, err
		}
		best, starts = max(best, v), [][]float64{at}
	}
	return best, nil
}

// starts are multipliers to begin from: the best of those that fit numbers of references, for several shares of the
// tests.
func (w *windows) starts(ctx context.Context) (out [][]float64, err error) {
	for _, share := range []float64{0.97, 0.85, 0.6} {
		var tried [][]float64
		values := map[*float64]float64{}
		for k := 0; k <= mostCounted-2 && k <= w.Bits; k += 1 + k/2 {
			for at := range 4 {
				x := make([]float64, perTest+2*len(w.distances))
				x[shareOfTests], x[perLevel] = share, []float64{1, 2.5}[at%2]
				x[perTransition] = []float64{0.005, 0.1}[at/2] / float64(w.Levels)
				for i := range w.distances {
					g, _ := w.counted[i][k].at(0)
					other, _ := w.counted[i][k].at(0.1)
					more, _ := w.counted[i][min(k+2, len(w.counted[i])-1)].at(0)
					x[perTest+2*i], x[perTest+2*i+1] = share*max((g-more)/2, g/20, 1e-4), share*(g-other)*10
				}
				v, _, err := w.lagrangian(ctx, x)
				if err != nil {
					return nil, err
				}
				values[&x[0]] = v
				tried = append(tried, x)
			}
		}
		slices.SortStableFunc(tried, func(a, b []float64) int { return cmp.Compare(values[&b[0]], values[&a[0]]) })
		out = append(out, tried[:2]...)
	}
	return out, nil
}

// lagrangian is a lower bound of the mean cost, for any multipliers.
func (w *windows) lagrangian(ctx context.Context, x []float64) (float64, []float64, error) {
	gradient, value := make([]float64, len(x)), 0.0
	levels, m := float64(w.Levels), float64(w.Bits)
	beta := x[perLevel]
	rest := (1 - x[shareOfTests]) / beta
	z, slope := w.logZ(beta)
	rate := math.Log(levels) - z // less what the bits tell
	prices := make([]price, len(w.distances))
	for i, d := range w.distances {
		at := perTest + 2*i
		pr := newPrice(w.reference(d), w.counted[i], w.Bits > mostCounted, x[shareOfTests], x[at], x[at+1])
		prices[i] = pr
		share := w.weights[i] * 2 * float64(w.Levels-d) / levels
		value += share * pr.phi
		w.book(gradient, at, share, pr.gradient)
	}
	gains := make([][]float64, len(w.distances)+1)
	for i, pr := range prices {
		gains[i] = make([]float64, len(w.masks))
		for s, t := range w.tests[i] {
			v, _ := pr.of(t)
			gains[i][s] = v * w.weights[i] * 2 / levels
		}
	}
	info := make([]float64, len(w.masks))
	for s, v := range w.info {
		info[s] = v * rest / levels
	}
	gains[len(prices)] = info
	most, path, err := w.column(ctx, gains, x[perTransition])
	if err != nil {
		return 0, nil, err
	}
	value -= m * (most + x[perTransition]*float64(w.Transitions))
	value += rest * rate
	gradient[perTransition] -= m * float64(w.Transitions)
	for _, step := range path {
		s := step.pattern
		if w.masks[s]>>(w.span-1) == 1 || step.first {
			ones := 1
			if step.first {
				ones = bits.OnesCount64(w.masks[s])
			}
			gradient[perTransition] += m * step.times * float64(ones)
		}
		rate -= m * step.times * w.info[s] / levels
		for i, pr := range prices {
			if !step.has[i] {
				continue
			}
			share := m * step.times * w.weights[i] * 2 / levels
			_, amounts := pr.of(w.tests[i][s])
			at := perTest + 2*i
			gradient[at] -= share * amounts[0]
			gradient[at+1] -= share * amounts[2]
			w.book(gradient, at, -share*amounts[1], pr.gradient)
		}
	}
	gradient[shareOfTests] -= rate / beta
	gradient[perLevel] -= rest * (rate/beta + slope)
	return value, gradient, nil
}

// book adds a share of the gradient of φ.
func (w *windows) book(gradient []float64, at int, share float64, phi [3]float64) {
	gradient[shareOfTests] += share * phi[0]
	gradient[at] += share * phi[1]
	gradient[at+1] += share * phi[2]
}

// step is a place of the best bit: its pattern, which stands for several where places are alike.
type step struct {
	pattern int32
	times   float64
	first   bool // the transitions of the whole window are new
	has     [2]bool
}

// column finds the transitions of the bit that gains the most, less a price of each transition, by dynamic
// programming. The last of the gains are of single levels, the others of pairs of levels at the distances.
//
// Where the increments of the values of all patterns are nearly equal, the largest is taken for each of the places
// that follow, because the largest never grows.
func (w *windows) column(ctx context.Context, gains [][]float64, price float64) (float64, []step, error) {
	far, states := w.far(), len(w.masks)
	middle := far / 2
	all := make([]float64, states)
	for _, g := range gains {
		for s, v := range g {
			all[s] += v
		}
	}
	value, next, entry := make([]float64, states+1), make([]float64, states+1), make([]float64, states)
	value[states], next[states] = math.Inf(-1), math.Inf(-1)
	enters := func(s int) bool { return w.masks[s]>>(w.span-1) == 1 }
	for s := range entry {
		if enters(s) {
			entry[s] = price
		}
	}
	var path []step
	var chosen [][]bool
	first, last := 1-middle, w.Levels-middle
	full := w.Levels - w.span + w.half // the last place whose window has no place beyond the levels
	gain := make([]float64, states)
	jumped := false
	for at := first; at <= last; at++ {
		if err := ctx.Err(); err != nil {
			return 0, nil, err
		}
		place := step{times: 1, first: at == first}
		of, whole := gain, true
		for i, d := range w.distances {
			from := at + (far-d)/2
			place.has[i] = from >= 1 && from+d <= w.Levels
			whole = whole && place.has[i]
		}
		if whole {
			of = all
		} else {
			copy(gain, gains[len(w.distances)])
			for i := range w.distances {
				if place.has[i] {
					for s, v := range gains[i] {
						gain[s] += v
					}
				}
			}
		}
		if at == first {
			allowed := ^uint64(0) << (w.half + 1 - at) // of places 1 … L−1
			if beyond := w.Levels - at + w.half; beyond < 64 {
				allowed &= 1<<beyond - 1
			}
			for s, mask := range w.masks {
				value[s] = of[s] - price*float64(bits.OnesCount64(mask))
				if mask&^allowed != 0 {
					value[s] = math.Inf(-1)
				}
			}
			path, chosen = append(path, place), append(chosen, nil)
			continue
		}
		choice := make([]bool, states)
		if at == full+1 {
			for s := range entry {
				if enters(s) {
					entry[s] = math.Inf(1)
				}
			}
		}
		old, new := w.before[0], w.before[1]
		for s, g := range of {
			v := value[old[s]]
			if u := value[new[s]]; u > v {
				v, choice[s] = u, true
			}
			next[s] = v + g - entry[s]
		}
		value, next = next, value
		path, chosen = append(path, place), append(chosen, choice)
		left := min(full, w.Levels-far) - at
		if whole && !jumped && at > w.span && left > 4 {
			least, most := math.Inf(1), math.Inf(-1)
			for s, v := range next[:states] {
				rise := value[s] - v
				least, most = min(least, rise), max(most, rise)
			}
			if !(float64(left*w.Bits)*(most-least) <= 1e-5) {
				continue
			}
			for s := range value {
				value[s] += float64(left) * most
			}
			like := min(w.span, len(path)-1)
			for i := len(path) - like; i < len(path); i++ {
				path[i].times += float64(left) / float64(like)
			}
			at += left
			jumped = true
		}
	}
	best := 0
	for s, v := range value[:states] {
		if v > value[best] {
			best = s
		}
	}
	top, s := value[best], int32(best)
	for i := len(path) - 1; i >= 0; i-- {
		path[i].pattern = s
		if i > 0 {
			c := 0
			if chosen[i][s] {
				c = 1
			}
			s = w.before[c][s]
		}
	}
	return top, path, nil
}
