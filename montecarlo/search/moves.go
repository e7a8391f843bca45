package search

import "math/rand/v2"

// move is a change of a matrix.
type move struct {
	columns, changed []int    // the columns and rows that have changed
	difference       []uint64 // of each row, the bits that have changed
	every            []int    // all rows
	moved, all       rivals   // lists of those that have moved, and of all
}

func newMove(levels int) *move {
	lists := func() rivals { return rivals{lists: make([][]rival, levels), known: make([]bool, levels)} }
	return &move{difference: make([]uint64, levels), every: numbers(levels), moved: lists(), all: lists()}
}

// nearest lists all words in the order of their distances from that of level n.
func (m *move) nearest(w *words, n int) []rival { return m.all.of(w, n, m.every) }

// rivals lists words in this order, among which are all that have not changed in the same bits as that of
// level n.
func (m *move) rivals(w *words, n int) []rival {
	if m.difference[n] != 0 {
		return m.nearest(w, n)
	}
	return m.moved.of(w, n, m.changed)
}

// chain is a code that changes, with the move that is being tried.
type chain struct {
	*words
	*move
	before  *words // the matrix before the move
	options *Options

	positions []int // scratch
}

func newChain(w *words, o *Options) *chain {
	return &chain{words: w, before: w.clone(), options: o, move: newMove(w.levels)}
}

// numbers are 0 … n−1.
func numbers(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	return out
}

// undo takes the move back.
func (c *chain) undo() { copy(c.rows, c.before.rows) }

// flips flips bit k of rows lo to hi−1; on a circle also behind its seam.
func (c *chain) flips(k, lo, hi int) {
	if !c.circular {
		lo, hi = max(lo, 0), min(hi, c.levels)
	}
	for i := lo; i < min(hi, lo+c.levels); i++ {
		c.rows[(i%c.levels+c.levels)%c.levels] ^= 1 << k
	}
}

// invert flips bit k on the shorter side of level at. A column and its inverse give a code the same
// error.
func (c *chain) invert(k, at int) {
	if at < c.levels/2 {
		c.flips(k, 0, at)
	} else {
		c.flips(k, at, c.levels)
	}
}

// allowed reports whether the move keeps to the limits of columns and leaves all words distinct.
func (c *chain) allowed() bool {
	for _, k := range c.columns {
		if !c.options.allows(c.words, k) {
			return false
		}
	}
	for _, m := range c.changed {
		for n, row := range c.rows {
			if n != m && c.rows[m] == row {
				return false
			}
		}
	}
	return true
}

// propose makes a random move. It reports whether there is anything to evaluate.
func (c *chain) propose(rng *rand.Rand) bool {
	copy(c.before.rows, c.rows)
	k := rng.IntN(c.bits)
	c.columns, c.changed = append(c.columns[:0], k), c.changed[:0]
	at := -1 // a transition
	if c.positions = c.transitions(c.positions[:0], k); len(c.positions) > 0 {
		at = c.positions[rng.IntN(len(c.positions))]
	}
	switch p := rng.IntN(85); {
	case p < 45 && at >= 0: // shift a transition
		by := geometric(rng, 0.5)
		if rng.IntN(2) == 0 {
			c.flips(k, at, at+by)
		} else {
			c.flips(k, at-by, at)
		}
	case p < 63: // invert a run: two transitions more, two fewer, or both shifted
		at := rng.IntN(c.levels)
		c.flips(k, at, at+geometric(rng, 1/(1+float64(c.levels)/16)))
	default: // a transition more, or one fewer: invert all from there on
		if at < 0 || rng.IntN(2) == 0 {
			at = 1 + rng.IntN(c.levels-1)
		}
		if c.invert(k, at); rng.IntN(4) == 0 { // the transition moves to another column
			other := rng.IntN(c.bits)
			c.invert(other, at)
			c.columns = append(c.columns, other)
		}
	}
	clear(c.all.known)
	clear(c.moved.known)
	for i, row := range c.rows {
		if c.difference[i] = row ^ c.before.rows[i]; c.difference[i] != 0 {
			c.changed = append(c.changed, i)
		}
	}
	return len(c.changed) > 0 && c.allowed()
}

// geometric returns a random number from 1 with a geometric distribution of mean 1/p.
func geometric(rng *rand.Rand, p float64) int {
	n := 1
	for n < 1<<16 && rng.Float64() >= p {
		n++
	}
	return n
}
