package search

import (
	"math/bits"
	"slices"

	"belsim/theory/code"
)

// ring is a list of levels around a level n, the nearest first, with the bits in which their
// words differ from the word of n.
type ring struct {
	levels, distances []int32
	diffs             []uint64

	// Scratch.
	order, start, unsorted []int32
}

func (r *ring) clear() { r.levels, r.distances, r.diffs = r.levels[:0], r.distances[:0], r.diffs[:0] }

// around lists the levels whose words are within reach of level n's.
func (r *ring) around(w *words, n, reach int) {
	r.clear()
	for m := range w.levels {
		if d := w.distance(n, m); d <= reach && m != n {
			r.levels = append(r.levels, int32(m))
			r.distances = append(r.distances, int32(d))
		}
	}
	r.sort(w, n)
}

// sort puts levels and their distances in order, those of one distance as they are, and adds
// the bits in which they differ from level n.
func (r *ring) sort(w *words, n int) {
	if !slices.IsSorted(r.distances) {
		r.order = slices.Grow(r.order[:0], len(r.levels))[:len(r.levels)]
		r.start = slices.Grow(r.start[:0], w.bits+2)[:w.bits+2]
		code.OrderByDistance(r.order, r.start, r.distances)
		for _, list := range [][]int32{r.levels, r.distances} {
			r.unsorted = append(r.unsorted[:0], list...)
			for at, i := range r.order {
				list[at] = r.unsorted[i]
			}
		}
	}
	r.diffs = slices.Grow(r.diffs[:0], len(r.levels)*w.width)
	own := w.row(n)
	for _, m := range r.levels {
		for x, v := range w.row(int(m)) {
			r.diffs = append(r.diffs, v^own[x])
		}
	}
}

// best finds the nearest word to a sample of level n with f errors, the lowest level of
// several: one of the ring, or the best so far. A word at a distance D of n's is at least D−f
// from the sample.
func (r *ring) best(flips []uint64, f, best, level int32) (int32, int32) {
	if len(flips) == 1 { // the same, a word at a time
		wrong, diffs := flips[0], r.diffs[:len(r.distances)]
		for i, far := range r.distances {
			if far-f > best {
				break
			}
			if d := int32(bits.OnesCount64(wrong ^ diffs[i])); d < best || d == best && r.levels[i] < level {
				best, level = d, r.levels[i]
			}
		}
		return best, level
	}
	for i, far := range r.distances {
		if far-f > best {
			break // and so are all further out
		}
		d := int32(distance(flips, r.diffs[i*len(flips):(i+1)*len(flips)]))
		if d < best || d == best && r.levels[i] < level {
			best, level = d, r.levels[i]
		}
	}
	return best, level
}

// ones returns the number of ones of a word.
func ones(word []uint64) int {
	n := 0
	for _, v := range word {
		n += bits.OnesCount64(v)
	}
	return n
}
