package search

import (
	"context"
	"encoding/binary"
	"math"
	"math/bits"

	"belsim/theory/cost"
)

// sampled estimates the expected error of gen on bits that err independently, from a
// Latin hypercube of S samples of every level (McKay, Beckman and Conover,
// Technometrics 21, 1979): of the S samples of level n, bit k errs in
// ⌊S·e[n,k] + u⌋ samples, where u is uniform. These are the first samples of a random
// order that depends on n and k only. So the number of errors of every bit is right to
// within one sample, and codes are compared by common random numbers: when e[n,k] changes
// a little, the bit errs in nearly the same samples.
//
// The evaluator remembers the level to which it decoded each sample, and its distance. It decodes a
// sample again where a bit errs now and did not err before, or the other way round. For any other
// sample of level n, the distance to the word of m changes only by the bits in which the words of n
// and m have changed differently. (A sample is the word of n with some wrong bits, so nothing else
// about the two words matters. Inverting a bit in all words from a level on affects only pairs of
// levels on both sides of this level.) So a sample is compared only with the words that have moved,
// its rivals, and decoded again only where the word that it was decoded to is further away.
//
// Let D be the distance of the words of m and n. A sample of f errors whose best distance so far is d
// needs no word with D > f+d. Where one column has changed, a word that is now further from n's is nearer
// to those samples only in which this bit is wrong, and one that is nearer is nearer to the others.
type sampled struct {
	probabilities
	size     int // S, a power of two from 8 on
	shift    uint
	prior    []float64
	seed     uint64
	cost     cost.Cost
	unit     float64 // of sums; 1 for the absolute error
	absolute bool    // the cost is

	counts  []int32  // L × M: samples in which the bit errs
	sums    []int64  // by level, of the costs of the answers, in units
	flips   []uint64 // L × S: wrong bits
	nearest []rival  // L × S: the answer, and the distance of its word
	reach   []uint8  // L × S: beyond this distance from the word of the level no word is nearer, f+d
	answers []uint64 // by level: the levels, modulo 64, to which samples are decoded, and perhaps more

	// What the last update has changed.
	columns     []int
	otherCounts []int32 // columns × L: counts of these columns, before the update
	oldSums     []int64
	log         []logged

	// Scratch.
	dirty, found  []int // samples of a level to decode, and to compare with rivals
	near, scratch []rival
}

// undecoded is a sample that must be decoded again. It reaches nothing.
const undecoded rival = math.MaxUint16 << 16

// price is what the answer to a sample of level n costs, in units.
func (s *sampled) price(a rival, n int) int64 {
	if s.absolute {
		return int64(max(a.level()-n, n-a.level()))
	}
	return int64(math.Round(s.cost.Of(n+1, float64(a.level()+1)) / s.unit))
}

// logged is a sample as it was before an update.
type logged struct {
	sample int
	at     rival
}

// newSampled returns an evaluator from size samples of a level.
func (o *Options) newSampled(size int, seed uint64) *sampled {
	unit := 1.
	if !o.Cost.Absolute() {
		const parts = 1 << 10 // of the cost of a level
		unit = o.Cost.Scale(o.Levels) / parts
	}
	return &sampled{
		cost: o.Cost, unit: unit, absolute: o.Cost.Absolute(),
		probabilities: probabilities{column: o.Column, e: make([]float64, o.Levels)},
		size:          size, shift: uint(max(1, bits.Len(uint(size-1))/2)), prior: o.Prior, seed: seed,
		counts: make([]int32, o.Levels*o.Bits), sums: make([]int64, o.Levels), oldSums: make([]int64, o.Levels),
		flips: make([]uint64, o.Levels*size), nearest: make([]rival, o.Levels*size),
		reach: make([]uint8, o.Levels*size), answers: make([]uint64, o.Levels),
	}
}

// sampledBytes is the memory that a sampled evaluator takes.
func sampledBytes(levels, bitCount, size int) int64 { return int64(levels) * int64(13*size+4*bitCount) }

func (s *sampled) reset(ctx context.Context, w *words) (float64, error) {
	clear(s.sums)
	clear(s.counts)
	for k := range w.bits {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		if !s.of(w, k) {
			return math.Inf(1), nil
		}
		for n := range w.levels {
			s.counts[n*w.bits+k] = s.count(n, k)
		}
	}
	for n := range w.levels {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		if s.prior[n] > 0 {
			s.begin(w, n)
		}
	}
	s.forget()
	return s.total(), nil
}

// begin draws and decodes the samples of a level.
func (s *sampled) begin(w *words, n int) {
	base := n * s.size
	clear(s.flips[base : base+s.size])
	for k, c := range s.counts[n*w.bits : (n+1)*w.bits] {
		o := s.samples(n, k)
		for i := range c {
			s.flips[base+o.at(i)] |= 1 << k
		}
	}
	s.dirty = s.dirty[:0]
	for g := base; g < base+s.size; g++ {
		s.nearest[g] = undecoded
		s.dirty = append(s.dirty, g)
	}
	s.decodeDirty(w, n)
}

// forget begins another update.
func (s *sampled) forget() {
	s.columns, s.otherCounts, s.log = s.columns[:0], s.otherCounts[:0], s.log[:0]
	copy(s.oldSums, s.sums)
}

func (s *sampled) total() float64 {
	sum := 0.0
	for n, p := range s.prior {
		sum += p * float64(s.sums[n])
	}
	return sum / float64(s.size) * s.unit
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

func (s *sampled) update(ctx context.Context, w *words, m *move) (float64, error) {
	s.forget()
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	for _, k := range m.columns {
		if !s.of(w, k) {
			return math.Inf(1), nil // reject has nothing to take back
		}
		for n := range w.levels {
			s.otherCounts = append(s.otherCounts, s.count(n, k))
		}
	}
	s.columns = append(s.columns, m.columns...)
	m.findRivals(w)
	for n, p := range s.prior {
		s.dirty = s.dirty[:0]
		s.flip(n, true)
		if p > 0 {
			s.challenge(w, m, n)
			s.decodeDirty(w, n)
		}
	}
	return s.total(), nil
}

// flip exchanges counts and otherCounts of a level. In each column, the samples between both
// numbers change, because the bit errs in the first samples of its order. Where again is set, they
// are noted to be decoded again.
func (s *sampled) flip(n int, again bool) {
	bitCount := len(s.counts) / len(s.sums)
	for j, k := range s.columns {
		count, other := &s.counts[n*bitCount+k], &s.otherCounts[j*len(s.sums)+n]
		if *count == *other {
			continue
		}
		if s.prior[n] > 0 {
			o := s.samples(n, k)
			for i := min(*count, *other); i < max(*count, *other); i++ {
				g := n*s.size + o.at(i)
				s.flips[g] ^= 1 << k
				if again {
					s.again(n, g)
				}
			}
		}
		*count, *other = *other, *count
	}
}

// again notes that a sample of level n must be decoded again.
func (s *sampled) again(n, g int) {
	at := s.nearest[g]
	if at == undecoded {
		return
	}
	s.log = append(s.log, logged{g, at})
	s.sums[n] -= s.price(at, n)
	s.nearest[g], s.reach[g] = undecoded, 0
	s.dirty = append(s.dirty, g)
}

// set stores the result of decoding a sample of level n.
func (s *sampled) set(n, g int, to rival) {
	s.nearest[g] = to
	s.reach[g] = uint8(min(bits.OnesCount64(s.flips[g])+to.distance(), math.MaxInt8)) // beyond all words
	s.answers[n] |= 1 << (to.level() % 64)
}

// challenge compares the rivals of level n with the words to which its samples were decoded.
func (s *sampled) challenge(w *words, m *move, n int) {
	nearer, further, rivals := m.rivalsOf(n)
	column := m.column() // where it is wrong, all rivals may win
	near, first := firstOf(nearer), firstOf(nearer)
	if column != 0 && s.counts[n*w.bits+m.columns[0]] > 0 {
		first = min(near, firstOf(further))
	}
	s.found = s.found[:0]
	if s.answers[n]&rivals != 0 {
		s.findMoved(m, n)
	}
	moved := len(s.found)
	if first <= maxBits {
		s.findReaching(n, first)
	}
	for i, g := range s.found {
		if s.flips[g]&column != 0 {
			s.compare(w, m, n, g, nearer, further)
		} else if s.reach[g] >= near || i < moved {
			s.compare(w, m, n, g, nearer, nil)
		}
	}
}

// findMoved finds the samples of a level whose answer is a word that has moved, which few levels have.
// Its loop, and that of findReaching, would run out of registers in challenge.
//
//go:noinline
func (s *sampled) findMoved(m *move, n int) {
	found, difference, own, answers := s.found, m.difference, m.difference[n], uint64(0)
	for i, at := range s.nearest[n*s.size : (n+1)*s.size] {
		answers |= 1 << (at % 64)
		if difference[at.level()] != own {
			found = append(found, n*s.size+i)
		}
	}
	s.found, s.answers[n] = found, answers
}

// findReaching finds the samples of a level that reach a distance. They are few, and eight are looked at
// together: a byte below 128 plus 128−D is at least 128 where the byte is at least D, without a carry.
//
//go:noinline
func (s *sampled) findReaching(n int, distance uint8) {
	const each = 0x0101010101010101
	found, above, at := s.found, (128-uint64(distance))*each, n*s.size
	for reach := s.reach[at : at+s.size]; len(reach) >= 8; reach, at = reach[8:], at+8 {
		hits := (binary.LittleEndian.Uint64(reach) + above) & (128 * each)
		for ; hits != 0; hits &= hits - 1 {
			found = append(found, at+bits.TrailingZeros64(hits)/8)
		}
	}
	s.found = found
}

// compare compares a sample of level n with rivals.
func (s *sampled) compare(w *words, m *move, n, g int, nearer, further []rival) {
	at := s.nearest[g]
	if at == undecoded {
		return
	}
	to, sample := at, w.rows[n]^s.flips[g]
	if m.apart(n, at.level()) {
		if to = newRival(bits.OnesCount64(sample^w.rows[at.level()]), at.level()); to > at {
			s.again(n, g)
			return
		}
	}
	f := bits.OnesCount64(s.flips[g])
	to = nearestOf(w.rows, further, sample, f, nearestOf(w.rows, nearer, sample, f, to))
	if to != at {
		s.log = append(s.log, logged{g, at})
		s.sums[n] += s.price(to, n) - s.price(at, n)
		s.set(n, g, to)
	}
}

// decodeDirty decodes the samples of a level that must be decoded again.
func (s *sampled) decodeDirty(w *words, n int) {
	if len(s.dirty) == 0 {
		return
	}
	most := 0
	for _, g := range s.dirty {
		most = max(most, bits.OnesCount64(s.flips[g]))
	}
	s.near = s.near[:0]
	for i, row := range w.rows {
		if d := bits.OnesCount64(row ^ w.rows[n]); d <= 2*most && i != n {
			s.near = append(s.near, newRival(d, i))
		}
	}
	sortRivals(s.near, w.bits, &s.scratch)
	for _, g := range s.dirty {
		f := bits.OnesCount64(s.flips[g])
		to := nearestOf(w.rows, s.near, w.rows[n]^s.flips[g], f, newRival(f, n))
		s.sums[n] += s.price(to, n)
		s.set(n, g, to)
	}
}

func (s *sampled) reject() {
	for n := range s.sums {
		s.flip(n, false)
	}
	for _, l := range s.log {
		s.set(l.sample/s.size, l.sample, l.at)
	}
	copy(s.sums, s.oldSums)
	s.forget()
}

// noise estimates the standard error of the difference that the last update made. It is a sum
// over the samples whose errors have changed.
func (s *sampled) noise() float64 {
	sum := 0.0
	for i := 0; i < len(s.log); { // the log is in the order of levels
		n, squares := s.log[i].sample/s.size, 0.
		for end := (n + 1) * s.size; i < len(s.log) && s.log[i].sample < end; i++ {
			was := s.log[i]
			d := float64(s.price(s.nearest[was.sample], n) - s.price(was.at, n))
			squares += d * d
		}
		sum += s.prior[n] * s.prior[n] * squares
	}
	return math.Sqrt(sum) / float64(s.size) * s.unit
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

// order is a random order of the samples. at(i) is the i-th sample in which a bit errs.
// Additions, products with odd numbers, and shifts of the upper bits onto the lower bits
// are bijections of the numbers below a power of two, so no sample comes twice.
type order struct {
	mask, a, b, c, d, e uint64
	shift               uint // of at least 1 and below 64
}

// samples is the order of the samples in which bit k of level n errs.
func (s *sampled) samples(n, k int) order {
	x := mix(s.key(n, k) + 2)
	y := mix(x)
	return order{uint64(s.size - 1), x | 1, x >> 32, y | 1, y >> 32, y>>16 | 1, s.shift}
}

func (o *order) at(i int32) int {
	x := (uint64(i)*o.a + o.b) & o.mask
	x ^= x >> (o.shift & 63) // the compiler need not think of longer shifts
	x = (x*o.c + o.d) & o.mask
	x ^= x >> (o.shift & 63)
	x = x * o.e & o.mask
	return int(x ^ x>>(o.shift&63))
}
