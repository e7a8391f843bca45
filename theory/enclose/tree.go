package enclose

import (
	"context"
	"math"
	"math/bits"
	"slices"
)

// Limits of a tree.
const (
	maxStates = 1 << 14 // at one depth; the least important others are bounded
)

// tree computes the law of the nearest candidate by deciding bits one by one.
//
// A state is what is known after some bits: by how much each candidate is further away from the
// output than the nearest one is, so far. A candidate is dropped from a state when another one
// is nearer than it whatever the other bits are. Two outcomes of the bits with the same state
// are merged, for their futures are the same. Where one candidate is left, its error is known.
//
// Bits are taken in an order that lets states merge. A candidate is in the class of all
// candidates that agree with it on the bits that are left; only the nearest of a class matters.
// So a class is known by the outcomes so far of its members, and classes with the same outcomes
// share their numbers. The next bit is the one that leaves the fewest different sets of
// outcomes. Along a code whose neighbouring words differ in one bit this is a sweep from one
// end, where only the nearest word so far, its distance, and the distance of all
// further words count.
type tree struct {
	levels []int // rows of the candidates, ascending
	errors []float64
	varies []uint64
	start  []int16 // by candidate: distance from the output minus the reference's, by the bits that are certain
	bits   []treeBit
	left   []int16 // S × S: in how many of the bits that are left two candidates differ
	class  []int   // the first candidate that agrees with a candidate on the bits that are left

	now, next states
	weights   []float64
	child     []int16
	best      []int // by class
	keys      []uint64
	bins      [binCount]struct {
		weight float64
		states int
	}

	// Of mean, so far.
	lo, hi sum
	cut    float64 // weight of the states that were bounded
	work   int

	// Scratch of order.
	done, rest []uint64
	classes    counter
	sets       counter
}

// treeBit is a bit that can be wrong and in which candidates differ.
type treeBit struct {
	bit    int
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
	return s*m*m/2*4 + 3*s*s*m
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
	x.levels = append(x.levels[:0], c.chosen...)
	x.errors = x.errors[:0]
	x.start = resize(x.start, s)
	clear(x.start)
	for len(x.keys) < s {
		x.keys = append(x.keys, mix(uint64(len(x.keys)+1))|1)
	}
	word := c.code.Word(c.reference)
	for _, m := range c.chosen {
		x.errors = append(x.errors, math.Abs(float64(m-c.truth)))
	}
	x.bits = x.bits[:0]
	for j, v := range x.varying(c) {
		for ; v != 0; v &= v - 1 {
			k := 64*j + bits.TrailingZeros64(v)
			b := treeBit{bit: k, p: c.p[k], differ: make([]int16, s)}
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
	x.order()
}

// order sorts the bits, as tree says.
func (x *tree) order() {
	s := len(x.levels)
	x.done, x.rest = resize(x.done, s), resize(x.rest, s)
	clear(x.done)
	clear(x.rest)
	for _, b := range x.bits {
		for i, d := range b.differ {
			x.rest[i] ^= uint64(d) * mix(uint64(b.bit))
		}
	}
	for j := range x.bits {
		best, least := j, math.MaxInt
		for k := j; k < len(x.bits); k++ {
			if n := x.variables(x.bits[k]); n < least {
				best, least = k, n
			}
		}
		// The others keep their order.
		b := x.bits[best]
		copy(x.bits[j+1:best+1], x.bits[j:best])
		x.bits[j] = b
		for i, d := range b.differ {
			z := uint64(d) * mix(uint64(b.bit))
			x.done[i] ^= z
			x.rest[i] ^= z
		}
	}
}

// variables is the number of different sets of outcomes when b is the next bit.
func (x *tree) variables(b treeBit) int {
	x.classes.reset(len(x.levels))
	x.sets.reset(len(x.levels))
	z := mix(uint64(b.bit))
	for i, d := range b.differ {
		z := z * uint64(d)
		*x.classes.at(x.rest[i] ^ z) += mix(x.done[i] ^ z)
	}
	for _, i := range x.classes.used {
		x.sets.at(x.classes.values[i])
	}
	return len(x.sets.used)
}

// mean returns an interval of the mean error, and the work up to then. It bounds states whose
// means are uncertain by at most the budget, all together, and all states where the work
// exceeds the limit. With spread the work that is left is spread over the bits that are left, so
// that the states of the least weight are bounded all along, and the others get to the end.
func (x *tree) mean(ctx context.Context, budget float64, work, limit int, spread bool) (v Interval, spent int, err error) {
	s := x.begin(work)
	roundings := 8
	for j, b := range x.bits {
		if len(x.now.p) == 0 {
			break
		}
		if err := ctx.Err(); err != nil {
			return Interval{}, x.work, err
		}
		atMost := (budget - x.cut) / float64(len(x.bits)-j)
		if x.work > limit {
			atMost = math.Inf(1)
		}
		most := maxStates
		if spread {
			most = min(most, max(1, (limit-x.work)/(2*s*(len(x.bits)-j))))
		}
		least := x.threshold(atMost, most)
		x.pairs(b, -1)
		x.classify()
		x.next.reset(s)
		if err := x.decide(ctx, b, least); err != nil {
			return Interval{}, x.work, err
		}
		roundings += 3 + x.next.merged()
		x.now, x.next = x.next, x.now
	}
	for i, p := range x.now.p { // no bit is left: there is one class
		x.bound(p, x.now.of(i))
	}
	return Interval{x.lo.value(), x.hi.value()}.widen(float64(roundings) * unit), x.work, nil
}

// begin makes the state in which no bit is decided, and returns the number of candidates.
func (x *tree) begin(work int) int {
	s := len(x.levels)
	x.left = resize(x.left, s*s)
	clear(x.left)
	for _, b := range x.bits {
		x.pairs(b, 1)
	}
	x.child = resize(x.child, s)
	x.best = resize(x.best, s)
	x.class = resize(x.class, s)
	x.now.reset(s)
	x.next.reset(s)
	x.classify()
	x.lo, x.hi, x.cut, x.work = sum{}, sum{}, 0, work
	copy(x.child, x.start)
	x.settle(1, &x.now)
	return s
}

// decide makes the next states from the outcomes of a bit. It bounds states whose weight is below least.
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
		x.work += 2 * len(x.levels)
		if i%1024 == 1023 && ctx.Err() != nil {
			return ctx.Err()
		}
	}
	return nil
}

// bound adds a state of probability p to the mean, by the errors that are possible in it.
func (x *tree) bound(p float64, state []int16) {
	least, most := x.span(state)
	x.lo.add(p * least)
	x.hi.add(p * most)
}

// settle adds the state in child, of probability p, to the mean where its error is known, and else
// to other states.
func (x *tree) settle(p float64, to *states) {
	if alone := x.reduce(x.child); alone >= 0 {
		x.lo.add(p * x.errors[alone])
		x.hi.add(p * x.errors[alone])
		return
	}
	to.add(x.child, p, x.keys)
}

// dropped is the distance of a candidate that cannot be nearest.
const dropped = math.MaxInt16 / 2

// pairs counts a bit as one of those that are left, or not.
func (x *tree) pairs(b treeBit, by int16) {
	s := len(x.levels)
	for i, d := range b.differ {
		row := x.left[i*s : (i+1)*s]
		for m, o := range b.differ {
			row[m] += by * (d ^ o)
		}
	}
}

// classify finds the classes.
func (x *tree) classify() {
	s := len(x.levels)
	for i := range x.class {
		x.class[i] = i
		for m := range i {
			if x.left[i*s+m] == 0 {
				x.class[i] = m
				break
			}
		}
	}
}

// reduce drops the candidates of a state that cannot be nearest, and subtracts the smallest
// distance. It returns the only candidate that is left, or −1 where several are.
func (x *tree) reduce(v []int16) (alone int) {
	best := 0
	for i, d := range v {
		if d < v[best] {
			best = i
		}
	}
	base := v[best]
	near := x.left[best*len(v) : (best+1)*len(v)]
	alone, several := -1, false
	for i, d := range v {
		x.best[i] = -1
		if d > dropped/2 {
			v[i] = dropped
			continue
		}
		d -= base
		// Not even if all bits that are left speak for it.
		if d > near[i] || d == near[i] && i > best {
			v[i] = dropped
			continue
		}
		v[i] = d
		class := x.class[i]
		if other := x.best[class]; other >= 0 {
			if v[other] <= d { // of the same distance, the lower level
				v[i] = dropped
				continue
			}
			v[other] = dropped
			x.best[class] = i
			if alone == other {
				alone = i
			}
			continue
		}
		x.best[class] = i
		several = several || alone >= 0
		alone = i
	}
	if several {
		return -1
	}
	return alone
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

// binCount is the number of the powers of two that threshold tells apart.
const binCount = 1100

// threshold sets weights to what is not known of each state: its probability times the
// difference of its possible errors. It returns the weight below which states are bounded,
// so that their weights are together at most budget, but no more states are left than most.
func (x *tree) threshold(budget float64, most int) float64 {
	x.weights = resize(x.weights, len(x.now.p))
	clear(x.bins[:])
	for i, p := range x.now.p {
		lo, hi := x.span(x.now.of(i))
		x.weights[i] = p * (hi - lo)
		b := &x.bins[bin(x.weights[i])]
		b.weight += x.weights[i]
		b.states++
	}
	left, weight := len(x.now.p), 0.0
	for i, b := range x.bins {
		if weight += b.weight; weight > budget && left <= most {
			return math.Ldexp(1, i-binCount+15) // the smallest of bin i
		}
		left -= b.states
	}
	return math.Inf(1)
}

// bin is the number of the power of two of a weight; 0 for those that are smallest.
func bin(weight float64) int {
	if weight == 0 {
		return 0
	}
	_, e := math.Frexp(weight) // weight ≥ 2^(e−1)
	return min(max(e-1+binCount-15, 0), binCount-1)
}

// states are different states with their probabilities.
type states struct {
	size   int
	v      []int16
	p      []float64
	merges []int32
	slots  []slot // an open hash table, whose length is a power of two
	turn   uint32
}

type slot struct {
	turn uint32
	at   int32
}

func (t *states) reset(size int) {
	t.size = size
	t.v, t.p, t.merges = t.v[:0], t.p[:0], t.merges[:0]
	if t.turn++; t.turn == 0 || t.slots == nil {
		t.slots = make([]slot, 4*maxStates)
		t.turn = 1
	}
}

func (t *states) of(i int) []int16 { return t.v[i*t.size : (i+1)*t.size : (i+1)*t.size] }

// add adds a probability to a state.
func (t *states) add(v []int16, p float64, keys []uint64) {
	hash := uint64(0)
	for i, d := range v {
		hash += keys[i] * uint64(d)
	}
	for at := mix(hash) & uint64(len(t.slots)-1); ; at = (at + 1) & uint64(len(t.slots)-1) {
		s := &t.slots[at]
		if s.turn != t.turn {
			*s = slot{t.turn, int32(len(t.p))}
			t.v, t.p, t.merges = append(t.v, v...), append(t.p, p), append(t.merges, 0)
			return
		}
		if slices.Equal(t.of(int(s.at)), v) {
			t.p[s.at] += p
			t.merges[s.at]++
			return
		}
	}
}

// merged is the largest number of additions to a state.
func (t *states) merged() int {
	most := int32(0)
	for _, m := range t.merges {
		most = max(most, m)
	}
	return int(most)
}

// counter is a small hash table of numbers.
type counter struct {
	keys   []uint64
	values []uint64
	turns  []uint32
	turn   uint32
	used   []int
}

func (t *counter) reset(n int) {
	t.used = t.used[:0]
	if t.turn++; len(t.turns) < 2*n || t.turn == 0 {
		size := 1 << bits.Len(uint(4*n))
		t.keys, t.values, t.turns = make([]uint64, size), make([]uint64, size), make([]uint32, size)
		t.turn = 1
	}
}

// at returns the number of a key, 0 at first.
func (t *counter) at(key uint64) *uint64 {
	mask := uint64(len(t.turns) - 1)
	for i := mix(key) & mask; ; i = (i + 1) & mask {
		if t.turns[i] != t.turn {
			t.turns[i], t.keys[i], t.values[i] = t.turn, key, 0
			t.used = append(t.used, int(i))
			return &t.values[i]
		}
		if t.keys[i] == key {
			return &t.values[i]
		}
	}
}

// mix is the finalizer of SplitMix64.
func mix(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
