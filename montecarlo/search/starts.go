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

// known lists those of these codes that a search can begin from. Where they have fewer bits, the other
// bits never change.
func (o *Options) known() ([]candidate, error) {
	codes, err := o.codes()
	var out []candidate
	for _, c := range codes {
		if w := o.wordsOf(c); c.Bits() <= o.Bits && o.fits(w) {
			out = append(out, newCandidate(c.Name(), w))
		}
	}
	return out, err
}

// digits returns a code of two digits, as b1jdj and b2jdj are. The less significant digit is
// a Johnson word of m bits, reflected where the other digit is odd. The other digit is in
// Gray code. The remaining bits repeat bits of the Johnson digit. The code is nil where
// there are too few bits.
func (o *Options) digits(m int) *words {
	levels, bitCount := o.Levels, o.Bits
	period := 2 * m
	base := leastBits((levels + period - 1) / period)
	if m+base > bitCount {
		return nil
	}
	w := newWords(levels, bitCount, o.Circular)
	for v := range levels {
		high, low := v/period, v%period
		if high%2 == 1 {
			low = period - 1 - low
		}
		for k := range bitCount {
			j := (k - base) % m // bit of the digit
			if k < base && (high^high>>1)>>k&1 == 1 || k >= base && low > j && low <= j+m {
				w.flip(v, k)
			}
		}
	}
	return w
}

// walk returns a random code whose columns have transitions about spacing levels apart:
// M/spacing bits change from each level to the next. The walk takes these bits at random
// from the bits that have not changed for the longest time. It takes them from more bits
// where it would come back to a word. (A walk that always took the bit that has not changed
// for the longest time would give the Johnson code.) The result is nil where the walk
// cannot go on, where no bit may change any more, or where the context ends.
func (o *Options) walk(ctx context.Context, spacing float64, rng *rand.Rand) *words {
	levels, bitCount, limit := o.Levels, o.Bits, o.MaxTransitions
	w := newWords(levels, bitCount, o.Circular)
	seen := map[uint64]bool{0: true}
	oldest := rng.Perm(bitCount) // the bits; the bit whose last change is the oldest comes first
	changes := make([]int, bitCount)
	each, owed := float64(bitCount)/spacing, 0.0
	if limit > 0 { // so that it lasts
		each = min(each, float64(bitCount)*float64(limit)/float64(levels-1))
	}
	for i := 1; i < levels; i++ {
		if ctx.Err() != nil {
			return nil
		}
		owed += each
		count := min(max(1, int(owed)), bitCount)
		owed = max(0, owed-float64(count))
		again := true
		for try := range 60 {
			word := w.rows[i-1]
			choice := pick(oldest, changes, limit, count, 2*count+try/6, rng)
			for _, k := range choice {
				word ^= 1 << k
			}
			w.rows[i] = word
			if len(choice) > 0 && !seen[word] {
				for _, k := range choice {
					changes[k]++
					at := slices.Index(oldest, k)
					oldest = append(slices.Delete(oldest, at, at+1), k)
				}
				again = false
				break
			}
		}
		if again {
			return nil
		}
		seen[w.rows[i]] = true
	}
	return w
}

// pick takes count bits at random from the first bits of oldest that may still change. So
// the other bits keep their distance to their last transition.
func pick(oldest, changes []int, limit, count, among int, rng *rand.Rand) []int {
	var pool []int
	for _, k := range oldest {
		if limit == 0 || changes[k] < limit {
			if pool = append(pool, k); len(pool) == among {
				break
			}
		}
	}
	rng.Shuffle(len(pool), func(i, j int) { pool[i], pool[j] = pool[j], pool[i] })
	return pool[:min(count, len(pool))]
}

// starts lists the codes that a search begins from: known ones and random ones.
func (o *Options) starts(ctx context.Context, rng *rand.Rand) ([]candidate, error) {
	all, err := o.known()
	if err != nil {
		return nil, err
	}
	for m := 2; m < o.Bits && m <= o.Levels/2 && ctx.Err() == nil; m += 1 + m/8 {
		if w := o.digits(m); w != nil {
			all = append(all, newCandidate(fmt.Sprintf("Johnson digits of %d bits", m), w))
		}
	}
	for spacing, last := 1.5, float64(o.Bits); ; spacing *= 1.3 { // with the last, one bit changes at a time
		spacing = min(spacing, last)
		for tries, found := 0, 0; tries < 20 && found < 2 && ctx.Err() == nil; tries++ {
			if w := o.walk(ctx, spacing, rng); w != nil {
				all = append(all, newCandidate(fmt.Sprintf("random, runs of about %.1f levels", spacing), w))
				found++
			}
		}
		if spacing == last {
			break
		}
	}
	all = slices.DeleteFunc(all, func(c candidate) bool { return ctx.Err() == nil && !o.fits(c.words) })
	return all, ctx.Err()
}

// fits reports whether a code keeps to the limits of transitions and has distinct words.
func (o *Options) fits(w *words) bool {
	for k := range w.bits {
		if !o.allows(len(w.transitions(nil, k))) {
			return false
		}
	}
	return w.distinct()
}

// allows reports whether a bit may have so many transitions.
func (o *Options) allows(transitions int) bool {
	return o.MaxTransitions <= 0 || transitions <= o.MaxTransitions
}

// leastBits is the smallest number of bits that distinguish the given number of levels.
func leastBits(levels int) int { return bits.Len(uint(levels - 1)) }
