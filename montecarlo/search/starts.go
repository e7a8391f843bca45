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

// Repeating lists the caller's codes from which the search does not begin because they have columns that are
// equal or complementary.
func (o *Options) Repeating() []*code.Code {
	return slices.DeleteFunc(slices.Clone(o.Codes), func(c *code.Code) bool {
		return o.Repeat || c.Bits() > o.Bits || !slices.ContainsFunc(numbers(o.Bits), o.wordsOf(c).repeats)
	})
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
	for range 16 {
		add("random", o.walk(ctx, rng))
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

// walk returns a random code of which one bit changes from each level to the next: one of those that have
// not changed for the longest time, or of more where the walk would come back to a word. (A walk that always
// took the bit that has not changed for the longest time would give the Johnson code.) The result is nil
// where the walk cannot go on, and where the context ends.
func (o *Options) walk(ctx context.Context, rng *rand.Rand) *words {
	w, seen := o.newWords(), map[uint64]bool{0: true}
	oldest, changes := rng.Perm(o.Bits), make([]int, o.Bits) // the bit whose last change is the oldest comes first
	for i := 1; i < o.Levels; i++ {
		at := -1
		for try := 0; at < 0 || seen[w.rows[i]]; try++ {
			if try == 60 || len(oldest) == 0 || ctx.Err() != nil {
				return nil
			}
			at = rng.IntN(min(len(oldest), 2+try/6))
			w.rows[i] = w.rows[i-1] ^ 1<<oldest[at]
		}
		seen[w.rows[i]] = true
		k := oldest[at]
		oldest = slices.Delete(oldest, at, at+1)
		if changes[k]++; changes[k] != o.MaxTransitions {
			oldest = append(oldest, k)
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
