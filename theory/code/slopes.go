package code

import (
	"context"
	"sort"
)

// Slopes says how the bits of a code change with a small shift of the label.
type Slopes struct {
	code      *Code
	positions [][]int
}

// Slopes prepares the slopes of a code.
func (c *Code) Slopes() *Slopes { return &Slopes{c, c.Transitions()} }

// SlopesContext is Slopes for large codes: it ends with the context's error when ctx ends.
func (c *Code) SlopesContext(ctx context.Context) (*Slopes, error) {
	positions, err := c.TransitionsContext(ctx)
	if err != nil {
		return nil, err
	}
	return &Slopes{c, positions}, nil
}

// Row sets dst, of length M, to the direction in which each bit changes at the
// transition nearest to row i: +1 where it becomes one as the label grows, −1 where it
// becomes zero. The direction is 0 where the bit has no transition, or where two opposite
// transitions are equally near.
func (s *Slopes) Row(dst []int8, i int) {
	for k, positions := range s.positions {
		dst[k] = 0
		// Transitions at position t lie between rows t−1 and t.
		above := sort.SearchInts(positions, i+1)
		below := above - 1
		up, down := above < len(positions), below >= 0
		if up && down {
			// Twice the distances from row i.
			switch a, b := 2*(positions[above]-i)-1, 2*(i-positions[below])+1; {
			case a < b:
				down = false
			case b < a:
				up = false
			}
		}
		if up {
			dst[k] += s.rise(k, positions[above])
		}
		if down {
			dst[k] += s.rise(k, positions[below])
		}
	}
}

// rise is +1 where bit k becomes one at a transition.
func (s *Slopes) rise(k, position int) int8 {
	if s.code.Bit(position, k) {
		return 1
	}
	return -1
}
