package search

import "math/rand/v2"

// move is a change of a matrix.
type move struct {
	columns, changed []int    // the columns and rows that have changed
	difference       []uint64 // of each row, the bits that have changed
	before           *words   // the matrix before the move
	rivals           rivals
}

// chain is a code that changes, with the move that is being tried.
type chain struct {
	*words
	move
	options *Options

	// Scratch.
	positions []int
}

func newChain(w *words, o *Options) *chain {
	return &chain{words: w, move: move{before: w.clone(), difference: make([]uint64, w.levels)}, options: o}
}

// undo takes the move back.
func (c *chain) undo() { c.copyFrom(c.before) }

// flips flips bit k of rows lo to hi−1; on a circle also behind its seam.
func (c *chain) flips(k, lo, hi int) {
	if c.circular {
		for i := lo; i < min(hi, lo+c.levels); i++ {
			c.flip((i%c.levels+c.levels)%c.levels, k)
		}
		return
	}
	for i := max(lo, 0); i < min(hi, c.levels); i++ {
		c.flip(i, k)
	}
}

// invert flips bit k on the shorter side of level at. A column and its inverse give a code
// the same error.
func (c *chain) invert(k, at int) {
	if at < c.levels/2 {
		c.flips(k, 0, at)
	} else {
		c.flips(k, at, c.levels)
	}
}

// compare lists the rows that have changed.
func (c *chain) compare() {
	c.rivals.known = false
	for i, row := range c.rows {
		if c.difference[i] = row ^ c.before.rows[i]; c.difference[i] != 0 {
			c.changed = append(c.changed, i)
		}
	}
}

// allowed reports whether the move keeps to the limits of transitions and leaves all
// words distinct.
func (c *chain) allowed() bool {
	for _, k := range c.columns {
		if !c.options.allows(len(c.transitions(c.positions[:0], k))) {
			return false
		}
	}
	for _, m := range c.changed {
		for n := range c.levels {
			if n != m && c.rows[m] == c.rows[n] {
				return false
			}
		}
	}
	return true
}

// propose makes a random move. It reports whether there is anything to evaluate.
func (c *chain) propose(rng *rand.Rand) bool {
	c.columns, c.changed = c.columns[:0], c.changed[:0]
	c.before.copyFrom(c.words)
	k := rng.IntN(c.bits)
	c.columns = append(c.columns, k)
	c.positions = c.transitions(c.positions[:0], k)
	switch p := rng.IntN(89); {
	case p < 45 && len(c.positions) > 0: // shift a transition
		at, by := c.positions[rng.IntN(len(c.positions))], geometric(rng, 0.5)
		if rng.IntN(2) == 0 {
			c.flips(k, at, at+by)
		} else {
			c.flips(k, at-by, at)
		}
	case p < 63: // invert a run: two transitions more, two fewer, or both shifted
		at := rng.IntN(c.levels)
		c.flips(k, at, at+geometric(rng, 1/(1+float64(c.levels)/16)))
	case p < 78: // a transition more, or one fewer: invert all from there on
		at := 1 + rng.IntN(c.levels-1)
		if len(c.positions) > 0 && rng.IntN(2) == 0 {
			at = c.positions[rng.IntN(len(c.positions))]
		}
		c.invert(k, at)
	case p < 85: // a transition moves from one column to another
		if len(c.positions) == 0 || c.bits == 1 {
			return false
		}
		at := c.positions[rng.IntN(len(c.positions))]
		other := rng.IntN(c.bits)
		if other == k {
			return false
		}
		c.columns = append(c.columns, other)
		c.invert(k, at)
		c.invert(other, at)
	default:
		if !c.swap(rng) {
			return false
		}
	}
	c.compare()
	return len(c.changed) > 0 && c.allowed()
}

// swap swaps the words of two levels, neighbours mostly. It reports whether there are two.
func (c *chain) swap(rng *rand.Rand) bool {
	i := rng.IntN(c.levels)
	j := i + geometric(rng, 0.5)
	if rng.IntN(4) == 0 {
		j = rng.IntN(c.levels)
	}
	if j >= c.levels || i == j {
		return false
	}
	c.columns = c.columns[:0]
	for k := range c.bits {
		if c.bit(i, k) != c.bit(j, k) {
			c.columns = append(c.columns, k)
			c.flip(i, k)
			c.flip(j, k)
		}
	}
	return true
}

// geometric returns a random number from 1 with a geometric distribution of mean 1/p.
func geometric(rng *rand.Rand, p float64) int {
	n := 1
	for n < 1<<16 && rng.Float64() >= p {
		n++
	}
	return n
}
