package search

import (
	"context"
	"fmt"
	"math/bits"
	"math/rand/v2"
	"slices"

	"belsim/theory/code"
)

// codes lists the caller's codes, and the named ones of no more bits than the search has.
func (o *Options) codes() ([]*code.Code, error) {
	out := slices.Clone(o.Codes)
	for _, f := range code.Families() {
		given := slices.ContainsFunc(o.Codes, func(c *code.Code) bool { return c.Name() == f.Name })
		if given || f.Bits(o.Levels) > o.Bits {
			continue
		}
		c, err := code.New(f.Name, o.Levels)
		if err != nil {
			return nil, err
		}
		out = append(out, c.OnCircle(o.Circular))
	}
	return out, nil
}

// known returns a code to begin from. Where it has fewer bits, the other bits never change. It is false
// where the code has more bits, or does not keep to the limits.
func (o *Options) known(c *code.Code) (candidate, bool) {
	if c.Bits() > o.Bits {
		return candidate{}, false
	}
	w := o.wordsOf(c)
	return newCandidate(c.Name(), w), o.fits(w)
}

// Repeating lists the codes of no more bits than the search has from which it does not begin because they
// have columns that are equal or complementary.
func (o *Options) Repeating() (out []*code.Code) {
	for _, c := range o.Codes {
		if !o.Repeat && c.Bits() <= o.Bits {
			w := o.wordsOf(c)
			if slices.ContainsFunc(numbers(w.bits), w.repeats) {
				out = append(out, c)
			}
		}
	}
	return out
}

// starts lists the codes that a search begins from: known ones, and random ones.
func (o *Options) starts(ctx context.Context, rng *rand.Rand) ([]candidate, error) {
	codes, err := o.codes()
	if err != nil {
		return nil, err
	}
	var all []candidate
	for _, c := range codes {
		if k, ok := o.known(c); ok {
			all = append(all, k)
		}
	}
	add := func(start string, w *words) {
		if w != nil && (o.Repeat || o.separate(w, rng)) && o.fits(w) {
			all = append(all, newCandidate(start, w))
		}
	}
	for m := 2; m < o.Bits && m <= o.Levels/2; m += 1 + m/8 {
		add(fmt.Sprintf("Johnson digits of %d bits", m), o.digits(m))
	}
	for spacing := 1.5; ctx.Err() == nil; spacing *= 1.3 {
		spacing = min(spacing, float64(o.Bits)) // then, one bit changes at a time
		for range 4 {
			add(fmt.Sprintf("random, runs of about %.1f levels", spacing), o.walk(ctx, spacing, rng))
		}
		if spacing == float64(o.Bits) {
			break
		}
	}
	return all, ctx.Err()
}

// digits returns a code of two digits, as b1jdj and b2jdj are. The less significant digit is a Johnson word
// of m bits, reflected where the other digit is odd. The other digit is in Gray code. The remaining bits
// repeat bits of the Johnson digit. The code is nil where there are too few bits.
func (o *Options) digits(m int) *words {
	period := 2 * m
	base := leastBits((o.Levels + period - 1) / period)
	if m+base > o.Bits {
		return nil
	}
	w := o.newWords()
	for v := range w.rows {
		high, low := v/period, v%period
		if high%2 == 1 {
			low = period - 1 - low
		}
		w.rows[v] = uint64(high^high>>1) & (1<<base - 1)
		for k := base; k < o.Bits; k++ {
			if j := (k - base) % m; low > j && low <= j+m {
				w.rows[v] |= 1 << k
			}
		}
	}
	return w
}

// separate shifts a random transition of each column that is equal or complementary to another one,
// until none is. It reports whether it has succeeded.
func (o *Options) separate(w *words, rng *rand.Rand) bool {
	for k := range w.bits {
		for tries := 0; w.repeats(k); tries++ {
			at := w.transitions(nil, k)
			if tries == 60 {
				return false
			}
			// the level on one side or the other
			w.rows[(at[rng.IntN(len(at))]-rng.IntN(2))%w.levels] ^= 1 << k
		}
	}
	return true
}

// walk returns a random code whose columns have transitions about spacing levels apart: M/spacing bits
// change from each level to the next. The walk takes these bits at random from those that have not
// changed for the longest time, and from more bits where it would come back to a word. (A walk that always
// took the bit that has not changed for the longest time would give the Johnson code.) The result is nil
// where the walk cannot go on, and where the context ends.
func (o *Options) walk(ctx context.Context, spacing float64, rng *rand.Rand) *words {
	w, seen := o.newWords(), map[uint64]bool{0: true}
	oldest := rng.Perm(o.Bits) // the bits; the bit whose last change is the oldest comes first
	left := make([]int, o.Bits)
	each, owed := float64(o.Bits)/spacing, 0.0
	for k := range left {
		left[k] = o.Levels
		if o.MaxTransitions > 0 {
			left[k] = o.MaxTransitions
		}
	}
	if o.MaxTransitions > 0 { // so that it lasts
		each = min(each, float64(o.Bits)*float64(o.MaxTransitions)/float64(o.Levels-1))
	}
	for i := 1; i < o.Levels; i++ {
		count := min(max(1, int(owed+each)), o.Bits)
		owed = max(0, owed+each-float64(count))
		change := uint64(0)
		for try := 0; seen[w.rows[i-1]^change]; try++ {
			pool := slices.DeleteFunc(slices.Clone(oldest), func(k int) bool { return left[k] == 0 })
			pool = pool[:min(len(pool), 2*count+try/6)]
			rng.Shuffle(len(pool), func(i, j int) { pool[i], pool[j] = pool[j], pool[i] })
			change = 0
			for _, k := range pool[:min(count, len(pool))] {
				change |= 1 << k
			}
			if try == 60 || ctx.Err() != nil {
				return nil
			}
		}
		slices.SortStableFunc(oldest, func(a, b int) int { return int(change>>a&1) - int(change>>b&1) })
		w.rows[i] = w.rows[i-1] ^ change
		seen[w.rows[i]] = true
		for ; change != 0; change &= change - 1 {
			left[bits.TrailingZeros64(change)]--
		}
	}
	return w
}

// fits reports whether a code keeps to the limits of columns and has distinct words.
func (o *Options) fits(w *words) bool {
	for k := range w.bits {
		if !o.allows(w, k) {
			return false
		}
	}
	return w.distinct()
}

// allows reports whether a column keeps to the limits: it has few transitions, and, unless columns may
// repeat others, it is constant, or neither equal nor complementary to another one.
func (o *Options) allows(w *words, k int) bool {
	return (o.MaxTransitions <= 0 || len(w.transitions(nil, k)) <= o.MaxTransitions) && (o.Repeat || !w.repeats(k))
}

// leastBits is the smallest number of bits that distinguish the given number of levels.
func leastBits(levels int) int { return bits.Len(uint(levels - 1)) }
