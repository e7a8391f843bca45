package enclose

import (
	"context"
	"fmt"
	"slices"
	"sort"
)

// Part is what an enclosure knows of the error of a level, and what it leaves for samples: outcomes
// in which some bits are decided while the others err independently. It is overwritten by the next
// call of the encloser that returned it.
type Part struct {
	Interval           // holds the mean |error|
	Decided  []Outcome // what is known: the probabilities and Left add up to 1, up to Slack
	Left     float64   // the probability of what is left; 0 where the interval is as narrow as was asked for

	// Known is what the outcomes that are known add to the mean. Known + Left·(the mean of Draw) is
	// the mean up to Slack: words that were left out, roundings, and half of the interval where
	// nothing is left.
	Known, Slack float64

	rest *rest
}

// Outcome is an error, in levels, with its probability.
type Outcome struct{ Error, P float64 }

// Part is Row, and says besides what is known and what is left. The error wraps ErrTooWide where so
// many words can be nearest that the work limit leaves everything.
func (x *Encloser) Part(ctx context.Context, i int, e []float64) (*Part, error) {
	if x.rest == nil {
		x.rest = new(rest)
	}
	x.keep, x.tree.kept = true, x.rest
	defer func() { x.keep, x.tree.kept = false, nil }()
	v, err := x.Row(ctx, i, e)
	if err != nil {
		return nil, err
	}
	out := &x.part
	if v.Hi-v.Lo <= x.options.Width*v.Hi || v.Hi < negligible || x.whole {
		return x.settled(v), nil
	}
	// Once more, for the samples: with so many words that the others are nothing beside a standard
	// error, and with the work spread over all bits.
	c := &x.candidates
	left := c.choose(leftOut * max(v.Lo, v.Hi/1024))
	if x.path.set(c) {
		w, _, err := x.path.mean(ctx, c)
		if err != nil {
			return nil, err
		}
		x.keepPath()
		return x.settled(v.meet(w, left)), nil
	}
	cost := x.tree.cost(c)
	if cost >= x.options.Work {
		return nil, fmt.Errorf("%w: %d words can be nearest to the outputs of level %d", ErrTooWide, len(c.chosen), i+1)
	}
	x.tree.set(c)
	w, _, err := x.tree.mean(ctx, leftOut*v.Lo, cost, x.options.Work, true)
	if err != nil {
		return nil, err
	}
	x.rest.follow()
	*out = Part{Interval: v.meet(w, left), Decided: x.rest.outcomes(out.Decided[:0]), Left: x.rest.mass(), rest: x.rest}
	var known sum
	for _, o := range out.Decided {
		known.add(o.P * o.Error)
	}
	out.Known = known.value()
	out.Slack = max(left.Lo, left.Hi) + (x.rest.rounding+8*unit)*out.Hi + 2*float64(len(x.rest.nodes))*unit*c.most*out.Left
	return out, nil
}

// settled is the part where nothing is left.
func (x *Encloser) settled(v Interval) *Part {
	x.rest.settle()
	x.part = Part{Interval: v, Decided: x.rest.outcomes(x.part.Decided[:0]), Known: v.Middle(), Slack: (v.Hi - v.Lo) / 2}
	return &x.part
}

// leftOut is the part of the error that words may have that are left out of what is sampled.
const leftOut = 1e-9

// rest is what a tree decided, and the states that it bounded.
type rest struct {
	errors   []float64 // by candidate
	law      []sum     // by candidate: the probability that it is nearest, of outcomes that are decided
	rounding float64

	// A node is a state that was bounded: the candidates that it has left, ascending, and by how
	// much they are further from the output than the reference is if no bit is wrong any more.
	nodes []node
	words []int32
	far   []int32

	bits  []treeBit
	ahead []int16   // by depth and candidate: its distance from the reference in the bits from there on
	sound []float64 // by depth: the probability that no bit before it is wrong
	steps bool      // sound is too small to divide by: bits are drawn one by one

	order  []int32
	counts []int32
	sums   []float64 // by place in order: the masses up to there
	now    []int32   // scratch of draw
}

type node struct {
	p     float64
	depth int32 // the first bit that is not decided
	first int32 // of words and far
}

// sure is the rest where a candidate is nearest with the given probabilities, and nothing is left.
func (r *rest) sure(errors []float64, p ...float64) {
	r.errors, r.nodes = append(r.errors[:0], errors...), r.nodes[:0]
	r.law = resize(r.law, len(p))
	for i, p := range p {
		r.law[i] = sum{total: p}
	}
}

// reset begins with a tree, whose bits are in order.
func (r *rest) reset(x *tree) {
	s, n := len(x.levels), len(x.bits)
	r.errors = append(r.errors[:0], x.errors...)
	r.law = resize(r.law, s)
	clear(r.law)
	r.nodes, r.words, r.far = r.nodes[:0], r.words[:0], r.far[:0]
	r.bits = x.bits
	r.ahead, r.sound = resize(r.ahead, (n+1)*s), resize(r.sound, n+1)
	clear(r.ahead[n*s:])
	for j := n - 1; j >= 0; j-- {
		for i, d := range x.bits[j].differ {
			r.ahead[j*s+i] = r.ahead[(j+1)*s+i] + d
		}
	}
	r.sound[0] = 1
	for j, b := range x.bits {
		r.sound[j+1] = r.sound[j] * (1 - b.p)
	}
	r.steps = r.sound[n] < 1e-200
}

// add adds a state with its probability, and whether all of its candidates have the same error.
func (r *rest) add(depth int, p float64, state []int16, alike bool) {
	if alike {
		r.law[slices.IndexFunc(state, func(d int16) bool { return d != dropped })].add(p)
		return
	}
	r.nodes = append(r.nodes, node{p, int32(depth), int32(len(r.words))})
	ahead := r.ahead[depth*len(state):]
	for i, d := range state {
		if d != dropped {
			r.words = append(r.words, int32(i))
			r.far = append(r.far, int32(d+ahead[i]))
		}
	}
}

// of returns the candidates of node i, and their distances.
func (r *rest) of(i int) (words, far []int32) {
	first, last := r.nodes[i].first, int32(len(r.words))
	if i+1 < len(r.nodes) {
		last = r.nodes[i+1].first
	}
	return r.words[first:last], r.far[first:last]
}

// nearest is the place of the first of the smallest distances: of candidates that are equally
// near the lowest level is decoded.
func nearest(far []int32) int {
	best := 0
	for i, d := range far {
		if d < far[best] {
			best = i
		}
	}
	return best
}

// settle gives what is left to the candidate that is likely to be nearest.
func (r *rest) settle() {
	for i, n := range r.nodes {
		words, far := r.of(i)
		r.law[words[nearest(far)]].add(n.p)
	}
	r.nodes = r.nodes[:0]
}

// follow orders the nodes by the error that is likely, so that neighbours are alike.
func (r *rest) follow() {
	most := 0.0
	for _, e := range r.errors {
		most = max(most, e)
	}
	likely := func(i int) int {
		words, far := r.of(i)
		return int(r.errors[words[nearest(far)]])
	}
	r.counts = resize(r.counts, int(most)+2)
	clear(r.counts)
	for i := range r.nodes {
		r.counts[likely(i)+1]++
	}
	for k := 1; k < len(r.counts); k++ {
		r.counts[k] += r.counts[k-1]
	}
	r.order, r.sums = resize(r.order, len(r.nodes)), resize(r.sums, len(r.nodes))
	for i := range r.nodes {
		at := &r.counts[likely(i)]
		r.order[*at] = int32(i)
		*at++
	}
	total := 0.0
	for j, i := range r.order {
		total += r.nodes[i].p
		r.sums[j] = total
	}
}

// mass is the probability of what is left.
func (r *rest) mass() float64 {
	if len(r.sums) == 0 {
		return 0
	}
	return r.sums[len(r.sums)-1]
}

// outcomes appends what is decided.
func (r *rest) outcomes(dst []Outcome) []Outcome {
	for i := range r.law {
		if p := r.law[i].value(); p > 0 {
			dst = append(dst, Outcome{r.errors[i], p})
		}
	}
	return dst
}

// Draw draws an outcome of what is left, and returns its |error| in levels. at, from 0 to 1, chooses
// among the undecided states, of which neighbours are alike: uniform numbers of a narrow range
// vary less. next gives the random words for the bits that are not decided. Left is above 0.
func (v *Part) Draw(at float64, next func() uint64) float64 {
	r := v.rest
	i := int(r.order[min(sort.SearchFloat64s(r.sums, at*v.Left), len(r.order)-1)])
	words, far := r.of(i)
	r.now = append(r.now[:0], far...)
	n := len(r.bits)
	for k := int(r.nodes[i].depth); k < n; k++ {
		u := float64(next()>>11+1) * 0x1p-53 // from 2⁻⁵³ to 1
		if r.steps {
			if u > r.bits[k].p {
				continue
			}
		} else {
			// No bit from k up to m is wrong with probability sound[m+1]/sound[k]: the first one
			// that is wrong is where this falls below u.
			u *= r.sound[k]
			if r.sound[n] >= u {
				break
			}
			after := r.sound[k+1:]
			k += sort.Search(len(after)-1, func(m int) bool { return after[m] < u })
		}
		differ := r.bits[k].differ
		for j, w := range words {
			r.now[j] -= 2 * int32(differ[w])
		}
	}
	return r.errors[words[nearest(r.now)]]
}
