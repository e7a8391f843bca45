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
	lists   [][]rival
	known   []bool
	scratch []rival
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
	r.lists[n], r.known[n] = list, true
	if len(list) <= 12 {
		slices.Sort(list)
		return list
	}
	var at [maxBits + 2]int32 // where the words of a distance begin, once they are counted
	for _, x := range list {
		at[x.distance()+1]++
	}
	for d := range w.bits {
		at[d+1] += at[d]
	}
	r.scratch = append(r.scratch[:0], list...)
	for _, x := range r.scratch {
		list[at[x.distance()]] = x
		at[x.distance()]++
	}
	return list
}
