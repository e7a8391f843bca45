package montecarlo

import (
	"math/bits"

	"belsim/montecarlo/tables"
	"belsim/theory/code"
	"belsim/theory/decode"
)

// marks is a set of bits that is emptied in O(1): a bit is in the set iff its
// stamp is the current one.
type marks struct {
	stamp   []uint32
	current uint32
}

func newMarks(n int) marks { return marks{stamp: make([]uint32, n)} }

func (m *marks) empty() {
	if m.current++; m.current == 0 { // 2³² sets later: old stamps would count again
		clear(m.stamp)
		m.current = 1
	}
}

// add puts a bit into the set and reports whether it was not there.
func (m *marks) add(k uint16) bool {
	fresh := m.stamp[k] != m.current
	m.stamp[k] = m.current
	return fresh
}

// distinct makes the set that of some bits, and appends each of them once to dst.
func (m *marks) distinct(dst, places []uint16) []uint16 {
	m.empty()
	for _, p := range places {
		if m.add(p) {
			dst = append(dst, p)
		}
	}
	return dst
}

// bitAt returns bit k of a packed word.
func bitAt(word []uint64, k int) uint64 { return word[k/64] >> (k % 64) & 1 }

// sparseBelU counts the ones that points add and take away: O(points) a sample.
type sparseBelU struct {
	decoder decode.BelU
	marks   marks
	row     int
	base    []uint64
	start   int
}

func sparseBelUOf(c *code.Code, d decode.Decoder) (pointDecoder, bool) {
	u, ok := d.(decode.BelU)
	if !ok {
		return nil, false
	}
	return &sparseBelU{decoder: u, marks: newMarks(c.Bits())}, true
}

func (k *sparseBelU) prepare(p *tables.Bits) {
	k.row, k.base = p.Row, p.Base
	k.start = k.decoder.Decode(p.Base) - (p.Row + 1)
}

func (k *sparseBelU) undisturbed() int { return k.start }

func (k *sparseBelU) single(bit int) int { return k.start + 1 - 2*int(bitAt(k.base, bit)) }

func (k *sparseBelU) add(s *Sums, within int, places []uint16, points int) {
	for ; len(places) > 0; places = places[points:] {
		k.marks.empty()
		err := k.start
		for _, p := range places[:points] {
			if k.marks.add(p) {
				err += k.single(int(p)) - k.start
			}
		}
		s.tally(err, within, 1)
	}
}

// sparseGen finds the nearest code word among the code words that can be nearest. With f bits
// wrong the true word is at distance f, so by the triangle inequality a nearer or equally near
// word is within 2f of the true one: the candidates are a prefix of the levels sorted by
// distance from the true one, and few when f is small.
type sparseGen struct {
	code    *code.Code
	row     int
	word    []uint64 // the true code word
	toggled []uint64 // bits in which the likely output differs from it
	wrong   int      // their number
	order   []int32  // rows by distance from the true one, then by level
	within  []int32  // within[d]: number of rows at distance ≤ d
	dist    []int32  // distance of order[i]

	distances []int32 // by row
	out       []uint64
}

func newSparseGen(c *code.Code) *sparseGen {
	return &sparseGen{
		code:    c,
		toggled: make([]uint64, len(c.Word(0))),
		order:   make([]int32, c.Levels()),
		dist:    make([]int32, c.Levels()),

		distances: make([]int32, c.Levels()),
		within:    make([]int32, c.Bits()+2),
		out:       make([]uint64, len(c.Word(0))),
	}
}

// start implements flipDecoder.
func (k *sparseGen) start(row int, likely []uint64, _ func(int) float64) {
	k.row = row
	k.word = k.code.Word(row)
	k.wrong = 0
	for j := range k.toggled {
		k.toggled[j] = k.word[j] ^ likely[j]
		k.wrong += bits.OnesCount64(k.toggled[j])
	}
	k.code.Distances(k.distances, row)
	code.OrderByDistance(k.order, k.within, k.distances)
	for i, row := range k.order {
		k.dist[i] = k.distances[row]
	}
}

// label implements flipDecoder.
func (k *sparseGen) label(flipped []uint16) float64 { return float64(k.nearest(flipped) + 1) }

// nearest returns the row that gen decodes to when the given bits, all
// different, are toggled in the likely output.
func (k *sparseGen) nearest(flipped []uint16) int {
	copy(k.out, k.toggled)
	for _, p := range flipped {
		k.out[p/64] ^= 1 << (p % 64)
	}
	wrong := k.wrong
	if wrong == 0 {
		wrong = len(flipped)
	} else {
		wrong = 0
		for _, w := range k.out {
			wrong += bits.OnesCount64(w)
		}
	}
	candidates := int(k.within[min(2*wrong, len(k.within)-1)])
	best, least := k.row, wrong
	byBit := k.wrong == 0 && len(flipped) < len(k.out)
	for i := 0; i < candidates; i++ {
		row := int(k.order[i])
		word := k.code.Word(row)
		var distance int
		if byBit {
			// A wrong bit is one more where the candidate agrees with the
			// true word and one less where it does not.
			distance = int(k.dist[i])
			for _, p := range flipped {
				differ := (word[p/64] ^ k.word[p/64]) >> (p % 64) & 1
				distance += 1 - 2*int(differ)
			}
		} else {
			for j, w := range word {
				distance += bits.OnesCount64(w ^ k.word[j] ^ k.out[j])
			}
		}
		if distance < least || distance == least && row < best {
			best, least = row, distance
		}
	}
	return best
}
