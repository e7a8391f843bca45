package search

import (
	"context"
	"math"
	"math/bits"

	"belsim/theory/code"
)

// evaluator computes the expected error of a matrix that changes little from one
// call to the next.
type evaluator interface {
	// reset evaluates a matrix from the beginning, with the random numbers of a seed. The
	// expected error is +Inf where a probability is above 1. When the context ends, reset
	// returns the error of the context.
	reset(ctx context.Context, w *words, seed uint64) (float64, error)
	// update evaluates the matrix after a change of the listed columns and rows. Everything
	// else is as reset or the last update has seen it. old holds the words that the rows
	// had before.
	update(w *words, columns, rows []int, old []uint64) (float64, error)
	// reject takes back the last update: the matrix is again as it was before.
	reject()
}

// Column sets dst, of length L, to the error probabilities e[·,k] of bit k, from 0,
// with transitions after the given levels, ascending and from 1. A value above 1
// says that the code is invalid.
type Column func(dst []float64, k int, transitions []int)

// probabilities makes the error probabilities of a column.
type probabilities struct {
	column Column
	e      []float64 // length L: the probabilities of the column last made
	at     []int     // scratch: the transitions of this column
}

func newProbabilities(levels int, column Column) probabilities {
	return probabilities{column: column, e: make([]float64, levels)}
}

// of sets p.e to the error probabilities of column k. It reports whether they are
// probabilities.
func (p *probabilities) of(w *words, k int) bool {
	p.at = w.transitions(p.at[:0], k)
	p.column(p.e, k, p.at)
	for _, e := range p.e {
		if !(e <= 1) {
			return false
		}
	}
	return true
}

// sampled estimates the expected error of gen on bits that err independently, from a
// Latin hypercube of S samples of every level (McKay, Beckman and Conover,
// Technometrics 21, 1979): of the S samples of level n, bit k errs in
// ⌊S·e[n,k] + u⌋ samples, where u is uniform. These are the first samples of a random
// order that depends on n and k only. So the number of errors of every bit is right to
// within one sample, and codes are compared by common random numbers: when e[n,k] changes
// a little, the bit errs in nearly the same samples.
//
// The evaluator remembers the level to which it decoded each sample. After a change it
// decodes again only the samples that the change can affect:
//
//   - samples in which a bit errs now and did not err before, or the other way round;
//   - samples that were decoded to a level m, where the bits in which the words of m and of
//     their level n differ have changed. (A sample is the word of n with some wrong bits,
//     so nothing else about the two words matters. Inverting a bit in all words from a
//     level on affects only pairs of levels on both sides of this level.)
//
// For all other samples, only such levels m can win anew, and they are compared with the
// level that had won. Let D be the distance of the words of m and n, and let no sample of
// n have more than F errors. Then m is at least D−F from any sample, and n is at most F
// from it. So where D > 2·F, before and after the change, m is not compared.
type sampled struct {
	probabilities
	size  int // S, a power of two
	shift int
	width int
	prior []float64
	seed  uint64

	counts  []int32  // L × M: samples in which the bit errs
	most    []int32  // by level: no sample has more errors
	sums    []int64  // by level, of |error|
	flips   []uint64 // L × S × width: wrong bits
	nearest []nearest
	stamp   []uint32 // L × S: the update in which the sample was last kept in log
	updates uint32
	anew    bool // reset is at work: nothing is kept

	// The changes of the last update.
	columns   []int
	oldCounts []int32
	oldSums   []levelSum
	log       []logged
	oldFlips  []uint64

	// Scratch.
	delta   []uint64 // L × width: the bits in which words have changed
	changed []bool   // levels whose word has changed
	rivals  []int    // near levels that now differ in other bits
	dirty   []int32
	near    []int32 // levels
	places  []int32 // of near, by distance
	order   []neighbour
	diffs   []uint64 // the bits in which the neighbours differ
	start   []int32

	distances []int32 // of near

	diff []uint64
	memo [1 << memoBits]memo
}

// nearest is the result of decoding a sample.
type nearest struct{ distance, level int32 }

// absError is |decoded − n| of a sample of level n.
func (a nearest) absError(n int) int64 { return int64(max(int(a.level)-n, n-int(a.level))) }

// neighbour is a level to which samples of another level may be decoded.
type neighbour struct{ level, distance int32 }

type levelSum struct {
	level int
	sum   int64
}

// logged is a sample as it was before an update; its wrong bits are in oldFlips.
type logged struct {
	sample int
	at     nearest
}

func newSampled(levels, bitCount, size int, prior []float64, column Column) *sampled {
	width := (bitCount + 63) / 64
	return &sampled{
		probabilities: newProbabilities(levels, column),
		size:          size, shift: max(1, bits.Len(uint(size-1))/2), width: width, prior: prior,
		counts: make([]int32, levels*bitCount), most: make([]int32, levels), sums: make([]int64, levels),
		flips: make([]uint64, levels*size*width), nearest: make([]nearest, levels*size), stamp: make([]uint32, levels*size),
		delta: make([]uint64, levels*width), changed: make([]bool, levels), start: make([]int32, bitCount+2), diff: make([]uint64, width),
	}
}

// sampledBytes is the memory that a sampled evaluator takes.
func sampledBytes(levels, bitCount, size int) int64 {
	return int64(levels) * (int64(size)*int64(8*((bitCount+63)/64)+8+4) + int64(4*bitCount))
}

func (s *sampled) reset(ctx context.Context, w *words, seed uint64) (float64, error) {
	s.seed = seed
	s.forget()
	clear(s.flips)
	for g := range s.nearest {
		s.nearest[g] = nearest{0, -1}
	}
	clear(s.most)
	clear(s.sums)
	clear(s.counts)
	for k := range w.bits {
		if !s.of(w, k) {
			return math.Inf(1), nil
		}
		for n := range w.levels {
			s.counts[n*w.bits+k] = s.count(n, k)
		}
	}
	s.anew = true
	defer func() { s.anew = false }()
	for n := range w.levels {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		if s.prior[n] == 0 {
			continue
		}
		for k, c := range s.counts[n*w.bits : (n+1)*w.bits] {
			o := s.samples(n, k)
			for i := range c {
				s.flips[(n*s.size+o.place(i))*s.width+k/64] |= 1 << (k % 64)
			}
		}
		s.decodeAll(w, n)
	}
	return s.total(), nil
}

// forget begins another update.
func (s *sampled) forget() {
	s.columns, s.oldCounts, s.oldSums, s.log, s.oldFlips = s.columns[:0], s.oldCounts[:0], s.oldSums[:0], s.log[:0], s.oldFlips[:0]
	if s.updates++; s.updates == 0 { // the number has wrapped around: stamps may be of its last turn
		clear(s.stamp)
		s.updates = 1
	}
}

func (s *sampled) total() float64 {
	sum := 0.0
	for n, p := range s.prior {
		sum += p * float64(s.sums[n])
	}
	return sum / float64(s.size)
}

// count is the number of samples of level n in which bit k errs, with the
// probabilities of the column in s.e.
func (s *sampled) count(n, k int) int32 {
	if s.e[n] == 0 {
		return 0
	}
	u := float64(mix(s.key(n, k)+1)>>11) / (1 << 53)
	return int32(min(float64(s.size), math.Floor(float64(s.size)*s.e[n]+u)))
}

func (s *sampled) update(w *words, columns, rows []int, old []uint64) (float64, error) {
	s.forget()
	s.columns = append(s.columns, columns...)
	for _, k := range columns {
		for n := range w.levels {
			s.oldCounts = append(s.oldCounts, s.counts[n*w.bits+k])
		}
	}
	for _, k := range columns {
		if !s.of(w, k) {
			return math.Inf(1), nil
		}
		for n := range w.levels {
			s.counts[n*w.bits+k] = s.count(n, k)
		}
	}
	for j, m := range rows {
		s.changed[m] = true
		for x, v := range w.row(m) {
			s.delta[m*s.width+x] = v ^ old[j*s.width+x]
		}
	}
	for n, p := range s.prior {
		if p > 0 {
			s.level(w, n, rows)
		}
	}
	for _, m := range rows {
		s.changed[m] = false
		clear(s.delta[m*s.width : (m+1)*s.width])
	}
	return s.total(), nil
}

// level brings the samples of a level up to date.
func (s *sampled) level(w *words, n int, rows []int) {
	s.oldSums = append(s.oldSums, levelSum{n, s.sums[n]})
	s.dirty = s.dirty[:0]
	for j, k := range s.columns {
		// The bit errs in the first samples of its order, so the samples between the old count
		// and the new count change.
		was, is := s.oldCounts[j*w.levels+n], s.counts[n*w.bits+k]
		if was == is {
			continue
		}
		o := s.samples(n, k)
		for i := min(was, is); i < max(was, is); i++ {
			x := o.place(i)
			s.keep(n*s.size+x, true)
			s.flips[(n*s.size+x)*s.width+k/64] ^= 1 << (k % 64)
		}
	}
	s.rivals = s.rivals[:0]
	if s.changed[n] {
		for m := range w.levels {
			s.rival(w, n, m)
		}
	} else {
		for _, m := range rows {
			s.rival(w, n, m)
		}
	}
	const few = 8 // number of comparisons that cost as much as decoding
	if len(s.rivals) > few {
		s.decodeAll(w, n)
		return
	}
	for _, m := range s.rivals {
		s.challenge(w, n, m)
	}
	if len(s.dirty) > 0 {
		s.decodeDirty(w, n)
	}
}

// decodeDirty decodes the samples of a level that must be decoded again. Most samples have
// one of a few patterns of errors. So the result for a pattern is kept, in the place that
// its hash gives, until another pattern needs this place.
func (s *sampled) decodeDirty(w *words, n int) {
	s.neighbours(w, n, s.reach(n, s.dirty))
	if s.width > 1 {
		for _, x := range s.dirty {
			g := n*s.size + int(x)
			s.set(g, s.decode(n, s.flips[g*s.width:(g+1)*s.width]))
		}
		return
	}
	clear(s.memo[:])
	s.memo[0].at = nearest{0, int32(n)}
	for _, x := range s.dirty {
		g := n*s.size + int(x)
		flips := s.flips[g : g+1]
		m := &s.memo[flips[0]*0x9e3779b97f4a7c15>>(64-memoBits)]
		if m.flips != flips[0] {
			m.flips, m.at = flips[0], s.decode(n, flips)
		}
		s.set(g, m.at)
	}
}

const memoBits = 8

// memo is the result of decoding a pattern of errors.
type memo struct {
	flips uint64
	at    nearest
}

// rival notes m where it is near and now differs from n in other bits.
func (s *sampled) rival(w *words, n, m int) {
	reach := 2 * int(s.most[n])
	if s.width == 1 {
		if moved := s.delta[n] ^ s.delta[m]; moved != 0 {
			diff := w.rows[n] ^ w.rows[m]
			if bits.OnesCount64(diff) <= reach || bits.OnesCount64(diff^moved) <= reach {
				s.rivals = append(s.rivals, m)
			}
		}
		return
	}
	is, was, moved := 0, 0, uint64(0)
	for x, v := range w.row(n) {
		diff, by := v^w.rows[m*s.width+x], s.delta[n*s.width+x]^s.delta[m*s.width+x]
		is += bits.OnesCount64(diff)
		was += bits.OnesCount64(diff ^ by)
		moved |= by
	}
	if moved != 0 && min(is, was) <= reach {
		s.rivals = append(s.rivals, m)
	}
}

// reach is the largest distance of a word to which some sample of the level may be decoded.
// It raises s.most.
func (s *sampled) reach(n int, samples []int32) int {
	most := 0
	for _, x := range samples {
		g := (n*s.size + int(x)) * s.width
		most = max(most, ones(s.flips[g:g+s.width]))
	}
	s.most[n] = max(s.most[n], int32(most))
	return 2 * most
}

// keep stores a sample as it is now, unless this update has stored it already. Where dirty,
// it notes that the sample must be decoded again.
func (s *sampled) keep(g int, dirty bool) {
	switch {
	case s.anew: // there is nothing to go back to
	case s.stamp[g] != s.updates:
		s.stamp[g] = s.updates
		s.log = append(s.log, logged{g, s.nearest[g]})
		s.oldFlips = append(s.oldFlips, s.flips[g*s.width:(g+1)*s.width]...)
	case s.nearest[g].level < 0:
		return
	}
	if dirty {
		s.leave(g)
		s.nearest[g] = nearest{0, -1} // until the sample is decoded
		s.dirty = append(s.dirty, int32(g%s.size))
	}
}

// leave subtracts the error of a sample from the sum.
func (s *sampled) leave(g int) {
	n := g / s.size
	s.sums[n] -= s.nearest[g].absError(n)
}

// set stores the result of decoding a sample, after leave.
func (s *sampled) set(g int, to nearest) {
	n := g / s.size
	s.nearest[g] = to
	s.sums[n] += to.absError(n)
}

// challenge compares a word that has changed with the words to which the samples of a level
// were decoded.
func (s *sampled) challenge(w *words, n, m int) {
	own, word := w.row(n), w.row(m)
	for x := range s.diff {
		s.diff[x] = own[x] ^ word[x]
	}
	base, diff, level := n*s.size, s.diff[0], int32(m)
	for x, at := range s.nearest[base : base+s.size] {
		if at.level == level {
			s.keep(base+x, true)
			continue
		}
		if at.distance == 0 {
			continue // the sample is a code word already, or must be decoded again
		}
		d := int32(0)
		if s.width == 1 {
			d = int32(bits.OnesCount64(s.flips[base+x] ^ diff))
		} else {
			d = int32(distance(s.flips[(base+x)*s.width:(base+x+1)*s.width], s.diff))
		}
		if d < at.distance || d == at.distance && level < at.level {
			s.keep(base+x, false)
			s.leave(base + x)
			s.set(base+x, nearest{d, level})
		}
	}
}

// decodeAll decodes all samples of a level.
func (s *sampled) decodeAll(w *words, n int) {
	s.most[n] = 0
	s.dirty = s.dirty[:0]
	for x := range s.size {
		g := n*s.size + x
		s.keep(g, false)
		if s.nearest[g].level >= 0 {
			s.leave(g)
		}
		s.dirty = append(s.dirty, int32(x))
	}
	s.decodeDirty(w, n)
}

func (s *sampled) reject() {
	i, bitCount := 0, len(s.counts)/len(s.sums)
	for _, k := range s.columns {
		for n := range s.sums {
			s.counts[n*bitCount+k] = s.oldCounts[i]
			i++
		}
	}
	for i, l := range s.log {
		s.nearest[l.sample] = l.at
		copy(s.flips[l.sample*s.width:], s.oldFlips[i*s.width:(i+1)*s.width])
		// No sample has more errors than s.most says.
		s.most[l.sample/s.size] = max(s.most[l.sample/s.size], int32(ones(s.oldFlips[i*s.width:(i+1)*s.width])))
	}
	for _, l := range s.oldSums {
		s.sums[l.level] = l.sum
	}
	s.forget()
}

// noise estimates the standard error of the difference that the last update made, which is
// a sum over the samples whose errors have changed.
func (s *sampled) noise() float64 {
	sum := 0.0
	for _, l := range s.log {
		n := l.sample / s.size
		if d := s.prior[n] * float64(s.nearest[l.sample].absError(n)-l.at.absError(n)); d != 0 {
			sum += d * d
		}
	}
	return math.Sqrt(sum) / float64(s.size)
}

// key is the key of the random numbers for bit k of level n.
func (s *sampled) key(n, k int) uint64 {
	return mix(mix(s.seed^uint64(n)<<32) + uint64(k)*0x9e3779b97f4a7c15)
}

// mix is the finalizer of SplitMix64.
func mix(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// order is a random order of the samples. place(i) is the i-th sample in which a bit errs.
// Additions, products with odd numbers, and shifts of the upper bits onto the lower bits
// are bijections of the numbers below a power of two, so no sample comes twice.
type order struct {
	mask, a, b, c, d, e uint64
	shift               int
}

// samples is the order of the samples in which bit k of level n errs.
func (s *sampled) samples(n, k int) order {
	x := mix(s.key(n, k) + 2)
	y := mix(x)
	return order{uint64(s.size - 1), x | 1, x >> 32, y | 1, y >> 32, y>>16 | 1, s.shift}
}

func (o order) place(i int32) int {
	x := (uint64(i)*o.a + o.b) & o.mask
	x ^= x >> o.shift
	x = (x*o.c + o.d) & o.mask
	x ^= x >> o.shift
	x = x * o.e & o.mask
	return int(x ^ x>>o.shift)
}

// neighbours lists the levels whose words are within reach of level n's, the nearest
// first.
func (s *sampled) neighbours(w *words, n, reach int) {
	reach = min(reach, w.bits)
	s.near, s.distances = s.near[:0], s.distances[:0]
	for m := range w.levels {
		if d := w.distance(n, m); d <= reach && m != n {
			s.near = append(s.near, int32(m))
			s.distances = append(s.distances, int32(d))
		}
	}
	if need := len(s.near); cap(s.places) < need {
		s.places, s.order, s.diffs = make([]int32, need), make([]neighbour, need), make([]uint64, need*s.width)
	}
	s.places, s.order, s.diffs = s.places[:len(s.near)], s.order[:len(s.near)], s.diffs[:len(s.near)*s.width]
	code.OrderByDistance(s.places, s.start[:reach+2], s.distances)
	own := w.row(n)
	for at, i := range s.places {
		m := neighbour{s.near[i], s.distances[i]}
		s.order[at] = m
		diff := s.diffs[at*s.width : (at+1)*s.width]
		for x, v := range w.row(int(m.level)) {
			diff[x] = v ^ own[x]
		}
	}
}

// decode decodes a sample of level n: the nearest word, the lowest level of several.
// A word at a distance D of n's is at least D−F from a sample of F errors.
func (s *sampled) decode(n int, flips []uint64) nearest {
	f := int32(ones(flips))
	best, level := f, int32(n)
	if f == 0 {
		return nearest{0, level}
	}
	if s.width == 1 {
		word, diffs := flips[0], s.diffs[:len(s.order)]
		for i, m := range s.order {
			if m.distance-f > best {
				break // and so are all further out
			}
			if d := int32(bits.OnesCount64(word ^ diffs[i])); d < best || d == best && m.level < level {
				best, level = d, m.level
			}
		}
		return nearest{best, level}
	}
	for i, m := range s.order {
		if m.distance-f > best {
			break
		}
		if d := int32(distance(flips, s.diffs[i*s.width:(i+1)*s.width])); d < best || d == best && m.level < level {
			best, level = d, m.level
		}
	}
	return nearest{best, level}
}

// ones returns the number of ones of a word.
func ones(word []uint64) int {
	n := 0
	for _, v := range word {
		n += bits.OnesCount64(v)
	}
	return n
}
