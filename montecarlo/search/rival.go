package search

import (
	"math"
	"math/bits"
	"slices"
)

// rival is a level that may be the answer to samples of another one: the distance of its word, to that of
// the other or to a sample, and the number of the level. In order the nearest come first, of several the lowest.
type rival uint32

func newRival(distance, level int) rival { return rival(distance<<16 | level) }

func (r rival) distance() int { return int(r >> 16) }

func (r rival) level() int { return int(r & math.MaxUint16) }

// firstOf is the distance of the nearest rival, far beyond the reach of any sample where there is none.
func firstOf(rivals []rival) uint8 {
	if len(rivals) == 0 {
		return math.MaxUint8
	}
	return uint8(rivals[0].distance())
}

// nearestOf returns the nearest word to a sample of f errors, the lowest level of several: one of the
// rivals, in order, or the best so far. A word at a distance D of the sample's own is at least D−f from
// the sample.
func nearestOf(rows []uint64, rivals []rival, sample uint64, f int, best rival) rival {
	for _, r := range rivals {
		if r.distance() > f+best.distance() {
			break // and so are all further out
		}
		best = min(best, newRival(bits.OnesCount64(sample^rows[r.level()]), r.level()))
	}
	return best
}

// sortRivals puts rivals in order. Many of them are counted by their distances, which are few.
func sortRivals(list []rival, bits int, scratch *[]rival) {
	if len(list) <= 12 {
		slices.Sort(list)
		return
	}
	var at [maxBits + 2]int32
	for _, r := range list {
		at[r.distance()+1]++
	}
	for d := range bits {
		at[d+1] += at[d]
	}
	*scratch = append((*scratch)[:0], list...)
	for _, r := range *scratch {
		list[at[r.distance()]] = r
		at[r.distance()]++
	}
}

// rivals are the levels that a move has brought nearer to each level, or further from it.
type rivals struct {
	known            bool
	all              []rival
	ends             []int    // in all: where the nearer ones of each level end, and then the others
	levels           []uint64 // by level: the rivals, modulo 64
	further, scratch []rival
}

// apart reports whether a move has changed the bits in which two levels differ.
func (m *move) apart(n, i int) bool { return m.difference[n] != m.difference[i] }

// findRivals finds the rivals of all levels, once for each move. Of a move of several columns they all
// count as nearer.
func (m *move) findRivals(w *words) {
	r := &m.rivals
	if r.known {
		return
	}
	r.known, r.all, r.ends, r.levels = true, r.all[:0], r.ends[:0], r.levels[:0]
	column := m.column()
	for n, row := range w.rows {
		from := len(r.all)
		r.further, r.levels = r.further[:0], append(r.levels, 0)
		add := func(i int) {
			r.levels[n] |= 1 << (i % 64)
			differ := row ^ w.rows[i]
			if of := newRival(bits.OnesCount64(differ), i); differ&column != 0 {
				r.further = append(r.further, of)
			} else {
				r.all = append(r.all, of)
			}
		}
		if m.difference[n] == 0 {
			for _, i := range m.changed {
				add(i)
			}
		} else {
			for i := range w.rows {
				if m.apart(n, i) {
					add(i)
				}
			}
		}
		sortRivals(r.all[from:], w.bits, &r.scratch)
		sortRivals(r.further, w.bits, &r.scratch)
		r.ends = append(r.ends, len(r.all), len(r.all)+len(r.further))
		r.all = append(r.all, r.further...)
	}
}

// rivalsOf are the rivals of a level, which findRivals has found, and their levels modulo 64.
func (m *move) rivalsOf(n int) (nearer, further []rival, levels uint64) {
	r, from := &m.rivals, 0
	if n > 0 {
		from = r.ends[2*n-1]
	}
	return r.all[from:r.ends[2*n]], r.all[r.ends[2*n]:r.ends[2*n+1]], r.levels[n]
}

// column is the bit that a move of one column changes, and 0 of another move.
func (m *move) column() uint64 {
	if len(m.columns) == 1 {
		return 1 << m.columns[0]
	}
	return 0
}
