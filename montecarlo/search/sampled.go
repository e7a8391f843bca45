package search

import (
	"context"
	"math"
	"math/bits"
	"slices"

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
// and decoded again only where the word that it was decoded to is further away.
//
// Let D be the distance of the words of m and n, and let no sample of n have more than F
// errors. Then m is at least D−F from any sample, and n is at most F from it. So where
// D > 2·F, before and after the change, m is not compared. For the same reason a sample of
// f errors whose best distance so far is d needs no word with D−f > d.
type sampled struct {
	probabilities
	size     int // S, a power of two
	shift    uint
	width    int
	prior    []float64
	seed     uint64
	cost     cost.Cost
	unit     float64 // of sums; 1 for the absolute error
	absolute bool    // the cost is

	counts  []int32  // L × M: samples in which the bit errs
	most    []int32  // by level: no sample has more errors
	sums    []int64  // by level, of the costs of the answers, in units
	flips   []uint64 // L × S × width: wrong bits
	nearest []nearest

	// What the last update has changed.
	columns     []int
	otherCounts []int32 // columns × L: counts of these columns, before the update
	oldMost     []int32
	oldSums     []int64
	log         []logged

	// Scratch.
	moved ring  // near levels that now differ in other bits
	dirty []int // samples of a level to decode
	near  ring
}

// nearest is the result of decoding a sample.
type nearest struct{ distance, level int32 }

// undecoded is a sample that must be decoded again.
var undecoded = nearest{0, -1}

// price is what the answer to a sample of level n costs, in units.
func (s *sampled) price(a nearest, n int) int64 {
	if s.absolute {
		return int64(max(int(a.level)-n, n-int(a.level)))
	}
	return int64(math.Round(s.cost.Of(n+1, float64(a.level+1)) / s.unit))
}

// logged is a sample as it was before an update.
type logged struct {
	sample int
	at     nearest
}

// newSampled returns an evaluator from size samples of a level.
func (o *Options) newSampled(size int, seed uint64) *sampled {
	width, unit := (o.Bits+63)/64, 1.
	if !o.Cost.Absolute() {
		const parts = 1 << 10 // of the cost of a level
		unit = o.Cost.Scale(o.Levels) / parts
	}
	return &sampled{
		cost: o.Cost, unit: unit, absolute: o.Cost.Absolute(),
		probabilities: newProbabilities(o.Levels, o.Column),
		size:          size, shift: uint(max(1, bits.Len(uint(size-1))/2)), width: width, prior: o.Prior, seed: seed,
		counts: make([]int32, o.Levels*o.Bits), most: make([]int32, o.Levels), sums: make([]int64, o.Levels),
		oldMost: make([]int32, o.Levels), oldSums: make([]int64, o.Levels),
		flips: make([]uint64, o.Levels*size*width), nearest: make([]nearest, o.Levels*size),
	}
}

// sampledBytes is the memory that a sampled evaluator takes.
func sampledBytes(levels, bitCount, size int) int64 {
	return int64(levels) * (int64(size)*int64(8*((bitCount+63)/64)+8) + int64(4*bitCount))
}

func (s *sampled) reset(ctx context.Context, w *words) (float64, error) {
	clear(s.most)
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
	clear(s.flips[base*s.width : (base+s.size)*s.width])
	for k, c := range s.counts[n*w.bits : (n+1)*w.bits] {
		o := s.samples(n, k)
		for i := range c {
			s.flips[(base+o.at(i))*s.width+k/64] |= 1 << (k % 64)
		}
	}
	s.dirty = s.dirty[:0]
	for g := base; g < base+s.size; g++ {
		s.nearest[g] = undecoded
		s.dirty = append(s.dirty, g)
	}
	s.decodeDirty(w, n)
}

// wrong is the wrong bits of a sample.
func (s *sampled) wrong(g int) []uint64 { return s.flips[g*s.width : (g+1)*s.width] }

// forget begins another update.
func (s *sampled) forget() {
	s.columns, s.otherCounts, s.log = s.columns[:0], s.otherCounts[:0], s.log[:0]
	copy(s.oldMost, s.most)
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

func (s *sampled) update(ctx context.Context, w *words, m move) (float64, error) {
	s.forget()
	for _, k := range m.columns {
		if !s.of(w, k) {
			return math.Inf(1), nil // reject has nothing to take back
		}
		for n := range w.levels {
			s.otherCounts = append(s.otherCounts, s.count(n, k))
		}
	}
	s.columns = append(s.columns, m.columns...)
	for n, p := range s.prior {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
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
				s.flips[g*s.width+k/64] ^= 1 << (k % 64)
				if again {
					s.again(n, g)
				}
			}
		}
		*count, *other = *other, *count
	}
}

// rivals notes the levels that are near n and now differ from n in other bits.
func (s *sampled) rivals(w *words, m move, n int) {
	s.moved.clear()
	reach := 2 * int(s.most[n])
	if slices.Equal(w.row(n), m.before.row(n)) {
		for _, i := range m.changed {
			s.rival(w, m.before, n, i, reach)
		}
	} else {
		for i := range w.levels {
			s.rival(w, m.before, n, i, reach)
		}
	}
	s.moved.sort(w, n)
}

// rival notes level i where it is near and now differs from n in other bits.
func (s *sampled) rival(w, before *words, n, i, reach int) {
	is, was, moved := 0, 0, uint64(0)
	for x := range w.width {
		now, old := w.rows[n*w.width+x]^w.rows[i*w.width+x], before.rows[n*w.width+x]^before.rows[i*w.width+x]
		is += bits.OnesCount64(now)
		was += bits.OnesCount64(old)
		moved |= now ^ old
	}
	if moved != 0 && min(is, was) <= reach {
		s.moved.levels = append(s.moved.levels, int32(i))
		s.moved.distances = append(s.moved.distances, int32(is))
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
	s.nearest[g] = undecoded
	s.dirty = append(s.dirty, g)
}

// set stores the result of decoding a sample of level n, whose error was taken off the sum.
func (s *sampled) set(n, g int, to nearest) {
	s.nearest[g] = to
	s.sums[n] += s.price(to, n)
}

// challenge compares the words that have moved with the words to which samples of level n
// were decoded. A word at the distance D can win a sample of its own level only from 2·f ≥ D on.
// A sample is decoded again where its word has moved away from it.
func (s *sampled) challenge(w *words, m move, n int) {
	s.rivals(w, m, n)
	if len(s.moved.levels) == 0 {
		return
	}
	fewest := uint64(s.moved.distances[0]+1) / 2
	for i, at := range s.nearest[n*s.size : (n+1)*s.size] {
		// A distance below fewest of level n, in one comparison: most samples end here.
		if uint64(uint32(at.level^int32(n)))<<32|uint64(at.distance) < fewest || at == undecoded {
			continue
		}
		g := n*s.size + i
		to, f, flips := at, at.distance, s.wrong(g)
		if int(at.level) != n {
			f, to.distance = int32(ones(flips)), w.sampleDistance(flips, n, int(at.level))
		}
		if to.distance > at.distance {
			s.again(n, g)
			continue
		}
		if to.distance, to.level = s.moved.best(flips, f, to.distance, at.level); to != at {
			s.log = append(s.log, logged{g, at})
			s.sums[n] -= s.price(at, n)
			s.set(n, g, to)
		}
	}
}

// decodeDirty decodes the samples of a level that must be decoded again.
func (s *sampled) decodeDirty(w *words, n int) {
	if len(s.dirty) == 0 {
		return
	}
	most := 0
	for _, g := range s.dirty {
		most = max(most, ones(s.wrong(g)))
	}
	s.most[n] = max(s.most[n], int32(most))
	s.near.around(w, n, 2*most)
	for _, g := range s.dirty {
		flips := s.wrong(g)
		f := int32(ones(flips))
		best, level := s.near.best(flips, f, f, int32(n))
		s.set(n, g, nearest{best, level})
	}
}

func (s *sampled) reject() {
	for n := range s.sums {
		s.flip(n, false)
	}
	for _, l := range s.log {
		s.nearest[l.sample] = l.at
	}
	copy(s.most, s.oldMost)
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

func (o order) at(i int32) int {
	x := (uint64(i)*o.a + o.b) & o.mask
	x ^= x >> (o.shift & 63) // the compiler need not think of longer shifts
	x = (x*o.c + o.d) & o.mask
	x ^= x >> (o.shift & 63)
	x = x * o.e & o.mask
	return int(x ^ x>>(o.shift&63))
}
