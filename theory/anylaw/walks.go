package anylaw

import (
	"math"
	"math/bits"

	"belsim/theory/code"
)

// step is a bit that changes on the way from a word to others. The walk is one higher where the output has
// the changed bit, and one lower where it has the word's. Its allowed heights at this bit are least to most: at most
// `most`, the output is no nearer to the word to which the way comes.
type step struct{ bit, least, most int }

const free = math.MaxInt

// way is a way from a word to the words on both sides, level 1 behind level L, on which no bit changes
// twice.
type way struct {
	code  *code.Code
	from  int
	seen  []uint64
	sides [2][]step
	at    [2]int // the words to which it has come
}

func newWay(c *code.Code, from int) *way {
	return &way{code: c, from: from, seen: make([]uint64, len(c.Word(0))), at: [2]int{from, from}}
}

// extend goes to the next word on a side. It reports whether no bit has changed before.
func (x *way) extend(side int) bool {
	levels := x.code.Levels()
	to := (x.at[side] + 1 + side*(levels-2)) % levels
	word, next := x.code.Word(x.at[side]), x.code.Word(to)
	for w, v := range word {
		if (v^next[w])&x.seen[w] != 0 {
			return false
		}
	}
	for w, v := range word {
		for d := v ^ next[w]; d != 0; d &= d - 1 {
			x.sides[side] = append(x.sides[side], step{64*w + bits.TrailingZeros64(d), -free, free})
		}
		x.seen[w] |= v ^ next[w]
	}
	x.at[side] = to
	if last := &x.sides[side][len(x.sides[side])-1]; to < x.from { // the lower of two levels that are as near
		last.most = -1
	} else {
		last.most = 0
	}
	return true
}

// reaches reports whether from each word of a code there is such a way to every other one: those of unary
// and of Johnson codes.
func reaches(c *code.Code) bool {
	for m := range c.Levels() {
		words := 0
		for side := range 2 {
			for x := newWay(c, m); words < c.Levels()-1 && x.extend(side); words++ {
			}
		}
		if words < c.Levels()-1 {
			return false
		}
	}
	return true
}

// wayBy is a way from a word by that of the row, and as far as it goes on either side.
func (r *row) wayBy(from int) *way {
	side := 0
	if r.i < from || from == r.code.Levels()-1 {
		side = 1
	}
	x := newWay(r.code, from)
	for x.at[side] != r.i {
		if !x.extend(side) { // round the other side
			side, x = 1-side, newWay(r.code, from)
		}
	}
	for on := [2]bool{true, true}; on[0] || on[1]; side = 1 - side {
		on[side] = on[side] && x.extend(side)
	}
	return x
}

// walks looks at the ways from the words of all levels. Of the outputs that are nearest to a word among
// those on its way, it finds the cheapest. Where it is nearer to a word beyond, it looks round.
func (r *row) walks() pricing {
	ways := make([]*way, r.code.Levels())
	for m := range ways {
		ways[m] = r.wayBy(m)
	}
	bits := r.code.Bits()
	zero, one, output := make([]float64, bits), make([]float64, bits), make([]bool, bits)
	var places [][]float64
	return func(plane []float64, add func([]int, float64)) float64 {
		r.costs(plane, zero, one)
		worst := math.Inf(-1)
		for m, x := range ways {
			above := r.cost(m+1) - plane[0]
			for k := range output { // those that are on no side
				if output[k] = one[k] < zero[k]; x.seen[k/64]>>(k%64)&1 == 0 {
					above -= min(zero[k], one[k])
				}
			}
			others := above
			for _, side := range x.sides {
				above -= x.cheapest(side, zero, one, output, &places)
			}
			if above > tolerance && r.value(r.errors(output)) != r.cost(m+1) {
				if v, ok := x.round(zero, one, output, &places); ok {
					above = others - v
				}
			}
			if worst = max(worst, above); above > tolerance {
				set := r.errors(output)
				add(set, r.value(set))
			}
		}
		return worst
	}
}

// errors are the kept bits that an output has wrong.
func (r *row) errors(output []bool) (set []int) {
	for b, k := range r.kept {
		if output[k] != r.code.Bit(r.i, k) {
			set = append(set, b)
		}
	}
	return set
}

// round is the smallest cost of an output that is nearest to the word among those all round a Johnson code,
// on the way from which all M bits change, one after another, to its complement. The words on the other side
// are complements of those on it: where the output differs from the word in c bits, and the walk is at w for
// a word, it is at 2c−M−w for the complement. It is false for other codes.
func (x *way) round(zero, one []float64, output []bool, scratch *[][]float64) (cost float64, ok bool) {
	n := x.code.Bits()
	first := 0 // the bit that changes first is the last one of the first run
	for first+1 < n && x.code.Bit(x.from, first+1) == x.code.Bit(x.from, 0) {
		first++
	}
	steps, complements := make([]step, n), make([]int, n)
	for t := range steps {
		steps[t], complements[t] = step{(first - t + n) % n, -free, free}, free
	}
	for j := range x.code.Levels() {
		differs := func(t int) bool { return x.code.Bit(j, steps[t].bit) != x.code.Bit(x.from, steps[t].bit) }
		runs := 0
		for t := range n - 1 {
			if differs(t) != differs(t+1) {
				runs++
			}
		}
		most := 0
		if j < x.from {
			most = -1
		}
		switch changed := x.code.Distance(x.from, j); {
		case runs > 1:
			return 0, false
		case changed > 0 && differs(0):
			steps[changed-1].most = most
		case changed > 0:
			complements[n-1-changed] = most
		}
	}
	end := steps[n-1].most
	of := func(c int) float64 {
		for t, most := range complements {
			if most != free {
				steps[t].least = 2*c - n - most
			}
		}
		if 2*c-n > end {
			return math.Inf(1)
		}
		steps[n-1].least, steps[n-1].most = 2*c-n, 2*c-n
		return x.cheapest(steps, zero, one, output, scratch)
	}
	best, least := 0, math.Inf(1)
	for c := range n + 1 {
		if v := of(c); v < least {
			best, least = c, v
		}
	}
	return of(best), true
}

// cheapest is the smallest cost of the bits of a side, for which it sets output. The agreement of an output
// with the words of a side is a walk, and the cheapest walk to a place comes from one of the two beside it.
func (x *way) cheapest(side []step, zero, one []float64, output []bool, scratch *[][]float64) float64 {
	n := len(side)
	for len(*scratch) <= n {
		*scratch = append(*scratch, make([]float64, 2*len(output)+5))
	}
	places := *scratch // by steps before it, and by place from −n−2 to n+2
	costs := func(k int) (down, up float64) {
		if x.code.Bit(x.from, k) {
			return one[k], zero[k]
		}
		return zero[k], one[k]
	}
	lo, hi := n+2, n+2 // the places to which walks come; the two beside them are read, too
	beside := func(of []float64) {
		for _, at := range [...]int{lo - 2, lo - 1, hi + 1, hi + 2} {
			of[at] = math.Inf(1)
		}
	}
	places[0][lo] = 0
	beside(places[0])
	for t, s := range side {
		down, up := costs(s.bit)
		from, to := places[t], places[t+1]
		if math.IsInf(down, 1) {
			lo += 2
		}
		if math.IsInf(up, 1) {
			hi -= 2
		}
		lo, hi = max(lo-1, n+2+max(s.least, -n)), min(hi+1, n+2+min(s.most, n))
		if lo > hi {
			return math.Inf(1)
		}
		for at := lo; at <= hi; at++ {
			to[at] = min(from[at+1]+down, from[at-1]+up)
		}
		beside(to)
	}
	at := lo
	for place := lo; place <= hi; place++ {
		if places[n][place] < places[n][at] {
			at = place
		}
	}
	least := places[n][at]
	for t := n - 1; t >= 0 && !math.IsInf(least, 1); t-- {
		k := side[t].bit
		down, _ := costs(k)
		if output[k] = x.code.Bit(x.from, k); places[t+1][at] == places[t][at+1]+down {
			at++
		} else {
			output[k] = !output[k]
			at--
		}
	}
	return least
}
