package enclose

import (
	"cmp"
	"context"
	"math"
	"math/bits"
	"slices"
)

// maxStates limits the states after a bit; the least important others are bounded.
const maxStates = 1 << 14

// tree computes the law of the nearest candidate by deciding bits one by one.
//
// A state is what is known after some bits: by how much each candidate is further away from the
// output than the nearest one is, so far. A candidate is dropped from a state when another one
// is nearer than it whatever the other bits are. Two outcomes of the bits with the same state
// are merged, for their futures are the same. Where one candidate is left, its error is known.
//
// Bits are taken in an order that lets states merge: first those that change between the candidates
// of the lowest levels. A candidate is in the class of all candidates that agree with it on the
// bits that are left; only the nearest of a class matters. Along a code whose neighbouring words
// differ in one bit this is a sweep from one end, where only the nearest word so far, its distance,
// and the distance of all further words count.
type tree struct {
	errors []float64
	varies []uint64
	start  []int16 // by candidate: distance from the output minus the reference's, by the bits that are certain
	bits   []treeBit
	left   []int16 // S × S: in how many of the bits that are left two candidates differ
	class  []int   // the first candidate that agrees with a candidate on the bits that are left

	now, next       states
	weights, sorted []float64
	child           []int16
	best            []int // by class

	// Of mean, so far.
	known Interval // the part of the mean that is settled
	cut   float64  // weight of the states that were bounded
	work  int
}

// treeBit is a bit that can be wrong and in which candidates differ.
type treeBit struct {
	p      float64 // the probability that it differs from the reference's
	differ []int16 // by candidate: 1 where its word differs from the reference's
}

// cost is the work of set and of the tables of mean.
func (x *tree) cost(c *candidates) int {
	s, m := len(c.chosen), 0
	for _, v := range x.varying(c) {
		m += bits.OnesCount64(v)
	}
	if m > dropped/4 {
		return math.MaxInt
	}
	return 3*s*s*m + s*m
}

// varying are the bits in which the chosen candidates differ.
func (x *tree) varying(c *candidates) []uint64 {
	word := c.code.Word(c.reference)
	x.varies = resize(x.varies, len(word))
	clear(x.varies)
	for _, m := range c.chosen {
		for j, w := range c.code.Word(m) {
			x.varies[j] |= w ^ word[j]
		}
	}
	return x.varies
}

// set prepares the tree of the chosen candidates.
func (x *tree) set(c *candidates) {
	s := len(c.chosen)
	x.start = resize(x.start, s)
	clear(x.start)
	x.errors, x.bits = x.errors[:0], x.bits[:0]
	for _, m := range c.chosen {
		x.errors = append(x.errors, math.Abs(float64(m-c.truth)))
	}
	word := c.code.Word(c.reference)
	for j, v := range x.varying(c) {
		for ; v != 0; v &= v - 1 {
			k := 64*j + bits.TrailingZeros64(v)
			b := treeBit{c.p[k], make([]int16, s)}
			for i, m := range c.chosen {
				b.differ[i] = int16((c.code.Word(m)[j] ^ word[j]) >> (k % 64) & 1)
			}
			if b.p > 0 && b.p < 1 {
				x.bits = append(x.bits, b)
				continue
			}
			for i, d := range b.differ {
				x.start[i] += d * int16(1-2*b.p)
			}
		}
	}
	slices.SortStableFunc(x.bits, func(a, b treeBit) int { return cmp.Compare(a.change(), b.change()) })
}

// change is the first candidate whose bit is not the one of the first candidate.
func (b treeBit) change() int {
	return slices.IndexFunc(b.differ, func(d int16) bool { return d != b.differ[0] })
}

// mean returns an interval of the mean error, and the work up to then. It bounds states whose means
// are uncertain by at most the budget, all together, and more where the work would exceed the
// limit: what work is left is spread over the bits that are left, so that the states of most weight
// get to the end.
func (x *tree) mean(ctx context.Context, budget float64, work, limit int) (v Interval, spent int, err error) {
	s := x.begin(work)
	roundings := 8
	for j, b := range x.bits {
		if len(x.now.p) == 0 {
			break
		}
		if err := ctx.Err(); err != nil {
			return Interval{}, x.work, err
		}
		rest := len(x.bits) - j
		least := x.threshold((budget-x.cut)/float64(rest), max(1, min(maxStates, (limit-x.work)/(rest*stateWork(s)))))
		x.pairs(b, -1)
		x.classify()
		x.next.reset(s)
		// A state has three roundings of its own, and each of these adds to one of the next or to
		// the mean, twice.
		roundings += 3 + 4*len(x.now.p)
		if err := x.decide(ctx, b, least); err != nil {
			return Interval{}, x.work, err
		}
		x.now, x.next = x.next, x.now
	}
	for i, p := range x.now.p { // no bit is left: there is one class
		x.bound(p, x.now.of(i))
	}
	return x.known.widen(float64(roundings) * unit), x.work, nil
}

// stateWork is the work on a state of s candidates: two scores of each, and what takes as long as
// 16 candidates.
func stateWork(s int) int { return 2 * (s + 16) }

// begin makes the state in which no bit is decided, and returns the number of candidates.
func (x *tree) begin(work int) int {
	s := len(x.errors)
	x.left = resize(x.left, s*s)
	clear(x.left)
	for _, b := range x.bits {
		x.pairs(b, 1)
	}
	x.child, x.best, x.class = resize(x.child, s), resize(x.best, s), resize(x.class, s)
	x.now.reset(s)
	x.classify()
	x.known, x.cut, x.work = Interval{}, 0, work
	copy(x.child, x.start)
	x.settle(1, &x.now)
	return s
}

// decide makes the next states from the outcomes of a bit. It bounds states whose weight is below
// least.
func (x *tree) decide(ctx context.Context, b treeBit, least float64) error {
	right, wrong := 1-b.p, b.p
	for i, p := range x.now.p {
		parent := x.now.of(i)
		if !(x.weights[i] >= least) {
			x.bound(p, parent)
			x.cut += x.weights[i]
			continue
		}
		for t, d := range b.differ {
			x.child[t] = parent[t] + d
		}
		x.settle(p*right, &x.next)
		for t, d := range b.differ {
			x.child[t] = parent[t] - d
		}
		x.settle(p*wrong, &x.next)
		x.work += stateWork(len(x.errors))
		if i%1024 == 1023 && ctx.Err() != nil {
			return ctx.Err()
		}
	}
	return nil
}

// bound adds a state of probability p to the mean, by the errors that are possible in it.
func (x *tree) bound(p float64, state []int16) {
	least, most := x.span(state)
	x.known.Lo += p * least
	x.known.Hi += p * most
}

// settle adds the state in child, of probability p, to the mean where its error is known, and else
// to other states.
func (x *tree) settle(p float64, to *states) {
	if several := x.reduce(x.child); several {
		to.add(x.child, p)
	} else {
		x.bound(p, x.child)
	}
}

// dropped is the distance of a candidate that cannot be nearest.
const dropped = math.MaxInt16 / 2

// pairs counts a bit as one of those that are left, or not.
func (x *tree) pairs(b treeBit, by int16) {
	s := len(x.errors)
	for i, d := range b.differ {
		row := x.left[i*s : (i+1)*s]
		for m, o := range b.differ {
			row[m] += by * (d ^ o)
		}
	}
}

// classify finds the classes.
func (x *tree) classify() {
	s := len(x.errors)
	for i := range x.class {
		x.class[i] = slices.Index(x.left[i*s:(i+1)*s], 0)
	}
}

// reduce drops the candidates of a state that cannot be nearest, and subtracts the smallest
// distance. It reports whether several candidates are left.
func (x *tree) reduce(v []int16) (several bool) {
	best := 0
	for i, d := range v {
		if d < v[best] {
			best = i
		}
	}
	base := v[best]
	near := x.left[best*len(v) : (best+1)*len(v)]
	left := 0
	for i, d := range v {
		x.best[i] = -1
		d -= base
		// Candidates stay out that were dropped before, or are not nearest even if all bits that
		// are left speak for them.
		if d > dropped/2 || d > near[i] || d == near[i] && i > best {
			v[i] = dropped
			continue
		}
		v[i] = d
		other := x.best[x.class[i]]
		switch {
		case other < 0:
			left++
		case v[other] <= d: // of the same distance, the lower level
			v[i] = dropped
			continue
		default:
			v[other] = dropped
		}
		x.best[x.class[i]] = i
	}
	return left > 1
}

// span returns the smallest and the largest error that are possible in a state.
func (x *tree) span(v []int16) (least, most float64) {
	least = math.Inf(1)
	for i, d := range v {
		if d != dropped {
			least, most = min(least, x.errors[i]), max(most, x.errors[i])
		}
	}
	return least, most
}

// threshold sets weights to what is not known of each state: its probability times the
// difference of its possible errors. It returns the weight below which states are bounded,
// so that their weights are together at most budget, but no more states are left than most.
func (x *tree) threshold(budget float64, most int) float64 {
	x.weights = resize(x.weights, len(x.now.p))
	for i, p := range x.now.p {
		lo, hi := x.span(x.now.of(i))
		x.weights[i] = p * (hi - lo)
	}
	x.sorted = append(x.sorted[:0], x.weights...)
	slices.Sort(x.sorted)
	weight := 0.0
	for i, w := range x.sorted {
		if weight += w; weight > budget && len(x.sorted)-i <= most {
			return w
		}
	}
	return math.Inf(1)
}

// states are different states with their probabilities.
type states struct {
	size int
	v    []int16
	p    []float64
	at   map[string]int // by the bytes of a state
	key  []byte
}

func (t *states) reset(size int) {
	t.size, t.v, t.p = size, t.v[:0], t.p[:0]
	if t.at == nil {
		t.at = map[string]int{}
	}
	clear(t.at)
}

func (t *states) of(i int) []int16 { return t.v[i*t.size : (i+1)*t.size : (i+1)*t.size] }

// add adds a probability to a state.
func (t *states) add(v []int16, p float64) {
	t.key = t.key[:0]
	for _, d := range v {
		t.key = append(t.key, byte(d), byte(d>>8))
	}
	if i, ok := t.at[string(t.key)]; ok {
		t.p[i] += p
		return
	}
	t.at[string(t.key)] = len(t.p)
	t.v, t.p = append(t.v, v...), append(t.p, p)
}
