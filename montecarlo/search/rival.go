package search

import (
	"math"
	"math/bits"
	"slices"
)

// rival is a level with the distance of its word. In order the nearest come first, of several the lowest.
type rival uint32

// undecoded is the answer to a sample that must be decoded again.
const undecoded rival = math.MaxUint16 << 16

func newRival(distance, level int) rival { return rival(distance<<16 | level) }
func (r rival) distance() int            { return int(r >> 16) }
func (r rival) level() int               { return int(r & math.MaxUint16) }

// rivals are lists of the words that may be the answers to samples, by the level of these.
type rivals struct {
	lists [][]rival
	known []bool
}

// of lists the words of some levels in the order of their distances from that of level n, once for a move.
func (r *rivals) of(w *words, n int, levels []int) []rival {
	if r.known[n] {
		return r.lists[n]
	}
	list := slices.Grow(r.lists[n][:0], len(levels))
	for _, i := range levels {
		list = append(list, newRival(bits.OnesCount64(w.rows[n]^w.rows[i]), i))
	}
	slices.Sort(list)
	r.lists[n], r.known[n] = list, true
	return list
}
