package montecarlo

import (
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
	k.base = p.Base
	k.start = k.decoder.Decode(p.Base) - (p.Row + 1)
}

func (k *sparseBelU) undisturbed() int { return k.start }

func (k *sparseBelU) single(bit int) int { return k.start + 1 - 2*int(bitAt(k.base, bit)) }

func (k *sparseBelU) add(t *tally, places []uint16, points int) {
	for ; len(places) > 0; places = places[points:] {
		k.marks.empty()
		err := k.start
		for _, p := range places[:points] {
			if k.marks.add(p) {
				err += k.single(int(p)) - k.start
			}
		}
		t.add(err, 1)
	}
}

// sparseGen finds the nearest code word among the code words that can be nearest. With f bits
// wrong the true word is at distance f, so by the triangle inequality a nearer or equally near
// word is within 2f of the true one: the candidates are a prefix of the levels sorted by
// distance from the true one, and few when f is small.
type sparseGen struct {
	code      *code.Code
	row       int
	likely    []uint64
	order     []int32 // rows by distance from the true one, then by level
	within    []int32 // within[d]: number of rows at distance ≤ d
	distances []int32 // by row
	out       []uint64
}

func newSparseGen(c *code.Code) *sparseGen {
	return &sparseGen{code: c, order: make([]int32, c.Levels()), within: make([]int32, c.Bits()+2),
		distances: make([]int32, c.Levels())}
}

// start implements flipDecoder.
func (k *sparseGen) start(row int, likely []uint64) {
	k.row, k.likely = row, append(k.likely[:0], likely...)
	k.code.Distances(k.distances, row)
	code.OrderByDistance(k.order, k.within, k.distances)
}

// label implements flipDecoder.
func (k *sparseGen) label(flipped []uint16) int {
	k.out = append(k.out[:0], k.likely...)
	toggle(k.out, flipped)
	wrong := k.distance(k.row)
	best, least := k.row, wrong
	for _, row := range k.order[:k.within[min(2*wrong, len(k.within)-1)]] {
		d := k.distance(int(row))
		if d < least || d == least && int(row) < best {
			best, least = int(row), d
		}
	}
	return best + 1
}

// distance is the distance of a row from the output that is decoded.
func (k *sparseGen) distance(row int) int { return code.Apart(k.code.Word(row), k.out) }
