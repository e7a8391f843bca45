package code

import (
	"context"
	"encoding/binary"
	"slices"

	"belsim/theory/base/parallel"
)

// Separation has the two criteria of Dietterich and Bakiri ("Solving multiclass learning problems via
// error-correcting output codes", JAIR 2, 1995). Words that are far apart correct errors. Columns that are
// equal or complementary, or nearly so, are learned alike by a network, so that their bits err together,
// and the distance of the words corrects less.
type Separation struct {
	// smallest Hamming distance of two code words; null where it takes long
	MinDistance *int `json:"min_distance" text:"min distance"`
	// smallest distance of two columns that have transitions: the number of levels in which they differ or in
	// which they agree, whichever is smaller; 0 where two are equal or complementary; null where it takes
	// long, and where fewer than two have transitions
	MinColumnDistance *int `json:"min_column_distance" text:"column distance"`
	// number of different columns that have transitions, of which complementary ones count as equal; null
	// where it takes long
	DistinctColumns *int `json:"distinct_columns" text:"distinct columns"`
}

// maxSeparationWork limits the number of 64-bit words that Separation compares, to about a second.
const maxSeparationWork = 1 << 30

// Separation compares words, in O(L²·M/64), and columns, in O(M²·L/64): what takes longer than about a
// second is nil. The error is the context's.
func (c *Code) Separation(ctx context.Context, workers int) (s Separation, err error) {
	if c.pairWork() <= maxSeparationWork {
		if s.MinDistance, err = c.nearest(ctx, workers, false); err != nil {
			return s, err
		}
	}
	return s, s.columns(ctx, c, workers, maxSeparationWork)
}

// pairWork is the number of 64-bit words to compare for all pairs of rows.
func (c *Code) pairWork() int64 { return int64(c.levels) * int64(c.levels) / 2 * int64(c.stride) }

// columns compares the columns of a code, unless that is more work than the most.
func (s *Separation) columns(ctx context.Context, c *Code, workers int, most int64) error {
	if newSize(c.bits, c.levels).pairWork() > most {
		return nil
	}
	t, err := c.transposed(ctx)
	if err != nil {
		return err
	}
	seen, key := map[string]bool{}, []byte(nil)
	for k := range t.levels {
		key, _ = binary.Append(key[:0], binary.LittleEndian, t.Word(k))
		seen[string(key)] = true
	}
	s.DistinctColumns = new(len(seen))
	switch {
	case len(seen) < t.levels:
		s.MinColumnDistance = new(0)
	case t.levels > 1:
		s.MinColumnDistance, err = t.nearest(ctx, workers, true)
	}
	return err
}

// newSize is a code without words.
func newSize(levels, m int) *Code { return &Code{levels: levels, bits: m, stride: (m + 63) / 64} }

// transposed has a row for each column with a transition: of the column and its complement the one whose
// first bit is zero.
func (c *Code) transposed(ctx context.Context) (*Code, error) {
	counts, err := c.countTransitions(ctx)
	if err != nil {
		return nil, err
	}
	row, since := make([]int, c.bits), make([]int, c.bits) // of a column: its row, and where its ones begin
	rows := 0
	for k, n := range counts {
		if row[k] = rows; n > 0 {
			rows++
		}
	}
	t := newCode(c.name, rows, c.levels)
	ends := func(n, k int) {
		switch {
		case n == c.levels: // the seam of a circle
		case since[k] == 0:
			since[k] = n
		default:
			t.set(row[k], since[k], n)
			since[k] = 0
		}
	}
	if err := c.eachTransition(ctx, ends); err != nil {
		return nil, err
	}
	for k, from := range since {
		if from > 0 {
			t.set(row[k], from, c.levels)
		}
	}
	return t, nil
}

// nearest is the smallest distance of two rows, of two or more; of a row and its complement, the nearer one
// counts where complements are equal.
func (c *Code) nearest(ctx context.Context, workers int, complements bool) (*int, error) {
	least := make([]int, c.levels) // to the rows before
	err := parallel.Each(ctx, workers, c.levels, func() (func(context.Context, int) error, error) {
		return func(_ context.Context, i int) error {
			least[i] = c.bits
			for j := range i {
				d := c.Distance(i, j)
				if complements {
					d = min(d, c.bits-d)
				}
				least[i] = min(least[i], d)
			}
			return nil
		}, nil
	})
	return new(slices.Min(least)), err
}
