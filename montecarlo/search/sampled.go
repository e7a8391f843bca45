package search

import (
	"context"
	"encoding/binary"
	"math"
	"math/bits"
	"slices"

	"belsim/theory/code"
)

// evaluator computes the expected error of a matrix that changes little from one
// call to the next.
type evaluator interface {
	// reset evaluates a matrix from the beginning, with the random numbers of a seed. The
	// expected error is +Inf where a probability is above 1. When the context ends, reset
	// returns the error of the context.
	reset(ctx context.Context, w *words, seed uint64) (float64, error)
	// update evaluates the matrix after a move. Everything else is as reset or the last update
	// has seen it. Where the error is above limit, update may stop as soon as it knows this; it
	// then returns some number above limit, and reject must follow.
	update(w *words, m move, limit float64) (float64, error)
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
// The evaluator remembers the level to which it decoded each sample, and its distance. It
// decodes a sample again where a bit errs now and did not err before, or the other way
// round. For any other sample of level n, the distance to the word of m changes only by the
// bits in which the words of n and m have changed differently. (A sample is the word of n
// with some wrong bits, so nothing else about the two words matters. Inverting a bit in all
// words from a level on affects only pairs of levels on both sides of this level.) Where few
// bits have changed, the wrong bits of the sample among them say by how much. So:
//
//   - A level whose distance grows by as much as the winner's, or by more, cannot win anew:
//     it was behind the winner, by its distance or as the higher of two levels, and stays so.
//   - Only the levels whose distance grows by less than the winner's are compared with it.
//     Where the winner's own distance grows, these may be many, and the sample is decoded.
//
// Let D be the distance of the words of m and n, and let no sample of n have more than F
// errors. Then m is at least D−F from any sample, and n is at most F from it. So where
// D > 2·F, before and after the change, m is not compared. For the same reason a sample of
// f errors whose best distance so far is d needs no word with D−f > d.
type sampled struct {
	probabilities
	size  int // S, a power of two, and 8 or more where there are updates
	shift uint
	width int
	prior []float64
	seed  uint64
	kept  int // levels whose samples are kept: all, or 1 where there are no updates

	counts  []int32  // L × M: samples in which the bit errs
	most    []int32  // by level: no sample has more errors
	sums    []int64  // by level, of |error|
	flips   []uint64 // L × S × width: wrong bits
	nearest []nearest
	keys    []uint8 // L × S: see foreign

	// The changes of the last update.
	columns   []int
	oldCounts []int32
	oldLevels []oldLevel
	log       []logged
	flipped   []flipped

	// Scratch.
	delta   []uint64 // L × width: the bits in which words have changed
	changed []bool   // levels whose word has changed
	moved   ring     // near levels that now differ in other bits
	closer  [patterns][2]ring
	change  []int8  // L × patterns: by how much the distances of the levels in moved grow
	dirty   []int32 // samples to decode, by level
	from    []int32 // by level: its first in dirty
	near    ring
	memo    [1 << memoBits]memo
}

// nearest is the result of decoding a sample. The level is −1−m where the sample must be
// decoded again, and m had won before.
type nearest struct{ distance, level int32 }

// foreign is the key of a sample that was decoded to another level than its own. For the
// other samples the key is the number of errors, or foreign−1 where there are more. It is 0
// where the sample must be decoded again.
const foreign = 1 << 7

// Eight keys make a word.
const (
	eight = 0x0101010101010101
	top   = foreign * eight
)

// key is what a challenge must know of most samples of level n.
func (a nearest) key(n int) uint8 {
	if int(a.level) != n {
		return foreign
	}
	return uint8(min(a.distance, foreign-1))
}

// absError is |decoded − n| of a sample of level n.
func (a nearest) absError(n int) int64 { return int64(max(int(a.level)-n, n-int(a.level))) }

type oldLevel struct {
	level int
	most  int32
	sum   int64
}

// logged is a sample as it was before an update.
type logged struct {
	sample int
	at     nearest
}

// flipped is a bit of a sample that errs now and did not err before an update, or the other
// way round.
type flipped struct{ sample, column int32 }

// newSampled returns an evaluator of moves.
func newSampled(levels, bitCount, size int, prior []float64, column Column) *sampled {
	s := newOnce(levels, bitCount, size, prior, column)
	s.kept = levels
	s.flips, s.nearest = make([]uint64, levels*size*s.width), make([]nearest, levels*size)
	s.keys, s.from = make([]uint8, levels*size), make([]int32, levels+1)
	s.delta, s.changed, s.change = make([]uint64, levels*s.width), make([]bool, levels), make([]int8, levels*patterns)
	return s
}

// newOnce returns an evaluator that has only reset. It keeps the samples of one level at a
// time, which stay in the processor's cache.
func newOnce(levels, bitCount, size int, prior []float64, column Column) *sampled {
	width := (bitCount + 63) / 64
	return &sampled{
		probabilities: newProbabilities(levels, column),
		size:          size, shift: uint(max(1, bits.Len(uint(size-1))/2)), width: width, prior: prior, kept: 1,
		counts: make([]int32, levels*bitCount), most: make([]int32, levels), sums: make([]int64, levels),
		flips: make([]uint64, size*width), nearest: make([]nearest, size), keys: make([]uint8, size),
	}
}

// sampledBytes is the memory that a sampled evaluator takes.
func sampledBytes(levels, bitCount, size int) int64 {
	return int64(levels) * (int64(size)*int64(8*((bitCount+63)/64)+8+1) + int64(4*bitCount))
}

func (s *sampled) reset(ctx context.Context, w *words, seed uint64) (float64, error) {
	s.seed = seed
	s.forget()
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
	for n := range w.levels {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		if s.prior[n] > 0 {
			s.begin(w, n)
		}
	}
	return s.total(), nil
}

// begin draws and decodes the samples of a level.
func (s *sampled) begin(w *words, n int) {
	base := n % s.kept * s.size
	flips, at := s.flips[base*s.width:(base+s.size)*s.width], s.nearest[base:base+s.size]
	clear(flips)
	for k, c := range s.counts[n*w.bits : (n+1)*w.bits] {
		o := s.samples(n, k)
		for i := range c {
			flips[o.at(i)*s.width+k/64] |= 1 << (k % 64)
		}
	}
	s.dirty = s.dirty[:0]
	for x := range at {
		if f := ones(flips[x*s.width : (x+1)*s.width]); f > 0 {
			at[x] = nearest{0, int32(-1 - n)}
			s.dirty = append(s.dirty, int32(x))
		} else {
			s.set(n, base+x, nearest{0, int32(n)})
		}
	}
	s.decodeDirty(w, n, s.dirty)
}

// forget begins another update.
func (s *sampled) forget() {
	s.columns, s.oldCounts, s.oldLevels, s.log, s.flipped = s.columns[:0], s.oldCounts[:0], s.oldLevels[:0], s.log[:0], s.flipped[:0]
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

// update without a limit brings one level after another up to date. With a limit it does first
// what can make the error smaller, and then adds to it until it is above the limit. A sample
// that was decoded to its own level has no error, so only the others can have less than
// before: they come first, in all levels. Until a sample is decoded again, it counts as one
// without error. The sums of levels are then at most what they become, and so is their total,
// because rounding is monotone: the limit is passed exactly where all samples would pass it.
func (s *sampled) update(w *words, by move, limit float64) (float64, error) {
	columns, rows, old := by.columns, by.changed, by.old
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
	s.dirty = s.dirty[:0]
	bounded := !math.IsInf(limit, 1)
	for n, p := range s.prior {
		s.from[n] = int32(len(s.dirty))
		if p == 0 {
			continue
		}
		s.flip(w, n)
		if !bounded {
			s.challenge(w, n, rows, true, true)
			s.decodeDirty(w, n, s.dirty[s.from[n]:])
		} else {
			s.challenge(w, n, rows, true, false)
		}
	}
	if bounded {
		s.from[w.levels] = int32(len(s.dirty))
		s.finish(w, rows, limit)
	}
	for _, m := range rows {
		s.changed[m] = false
		clear(s.delta[m*s.width : (m+1)*s.width])
	}
	return s.total(), nil
}

// finish is the second part of an update with a limit. The levels whose words have changed
// come first, since most errors are new there.
func (s *sampled) finish(w *words, rows []int, limit float64) {
	const look = 4 // levels between two looks at the total
	for i := range len(rows) + w.levels {
		n := i - len(rows)
		if i < len(rows) {
			n = rows[i]
		} else if s.changed[n] {
			continue // done already
		}
		if i%look == 0 && s.total() > limit {
			return
		}
		if s.prior[n] > 0 {
			s.challenge(w, n, rows, false, true)
			s.decodeDirty(w, n, s.dirty[s.from[n]:s.from[n+1]])
		}
	}
}

// flip brings the wrong bits of the samples of a level up to date.
func (s *sampled) flip(w *words, n int) {
	s.oldLevels = append(s.oldLevels, oldLevel{n, s.most[n], s.sums[n]})
	for j, k := range s.columns {
		// The bit errs in the first samples of its order, so the samples between the old count
		// and the new count change.
		was, is := s.oldCounts[j*w.levels+n], s.counts[n*w.bits+k]
		if was == is {
			continue
		}
		o := s.samples(n, k)
		for i := min(was, is); i < max(was, is); i++ {
			g := n*s.size + o.at(i)
			s.flipped = append(s.flipped, flipped{int32(g), int32(k)})
			s.flips[g*s.width+k/64] ^= 1 << (k % 64)
			s.again(n, g)
		}
	}
}

// rivals notes the levels that are near n and now differ from n in other bits.
func (s *sampled) rivals(w *words, n int, rows []int) {
	s.moved.clear()
	reach := 2 * int(s.most[n])
	if s.changed[n] {
		for m := range w.levels {
			s.rival(w, n, m, reach)
		}
	} else {
		for _, m := range rows {
			s.rival(w, n, m, reach)
		}
	}
}

// rival notes m where it is near and now differs from n in other bits.
func (s *sampled) rival(w *words, n, m, reach int) {
	if s.width == 1 {
		if moved := s.delta[n] ^ s.delta[m]; moved != 0 {
			diff := w.rows[n] ^ w.rows[m]
			if is := bits.OnesCount64(diff); is <= reach || bits.OnesCount64(diff^moved) <= reach {
				s.moved.levels = append(s.moved.levels, int32(m))
				s.moved.distances = append(s.moved.distances, int32(is))
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
		s.moved.levels = append(s.moved.levels, int32(m))
		s.moved.distances = append(s.moved.distances, int32(is))
	}
}

// again notes that a sample of level n must be decoded again.
func (s *sampled) again(n, g int) {
	at := s.nearest[g]
	if at.level < 0 {
		return
	}
	s.log = append(s.log, logged{g, at})
	s.sums[n] -= at.absError(n)
	s.nearest[g], s.keys[g] = nearest{0, -1 - at.level}, 0
	s.dirty = append(s.dirty, int32(g-n*s.size))
}

// set stores the result of decoding a sample of level n, whose error was taken off the sum.
func (s *sampled) set(n, g int, to nearest) {
	s.nearest[g], s.keys[g] = to, to.key(n)
	s.sums[n] += to.absError(n)
}

// anyForeign reports whether a sample of level n was decoded to another level.
func (s *sampled) anyForeign(n int) bool {
	for x := n * s.size; x < (n+1)*s.size; x += 8 {
		if binary.LittleEndian.Uint64(s.keys[x:])&top != 0 {
			return true
		}
	}
	return false
}

// A sample's wrong bits among at most maxColumns columns make one of the patterns.
const (
	maxColumns = 2
	patterns   = 1 << maxColumns
)

// challenge compares the words that have moved with the words to which samples of level n
// were decoded: the samples that were decoded to other levels, or to their own, or both.
func (s *sampled) challenge(w *words, n int, rows []int, others, owns bool) {
	if !owns && !s.anyForeign(n) {
		return
	}
	s.rivals(w, n, rows)
	if len(s.moved.levels) == 0 {
		return
	}
	s.moved.sort(w, n)
	least := s.compare(n)
	// The columns of the patterns. Where they are too many, every pattern is 0.
	var word, shift [maxColumns]int
	var mask [maxColumns]uint64
	if len(s.columns) <= maxColumns {
		for j, k := range s.columns {
			word[j], shift[j], mask[j] = k/64, k%64, 1
		}
	}
	// A word at the distance D can win a sample of its own level only from 2·f ≥ D on. Eight
	// keys are compared at once: adding to each what foreign is above the fewest errors sets
	// the uppermost bit, and there is no carry, since the sum is below 256.
	fewest := uint64(min((slices.Min(least[:])+1)/2, foreign-1))
	var isOther, isOwn uint64
	if others {
		isOther = top
	}
	if owns {
		isOwn = top
	}
	base := n * s.size
	for x := 0; x < s.size; x += 8 {
		keys := binary.LittleEndian.Uint64(s.keys[base+x:])
		for hits := keys&isOther | (keys+eight*(foreign-fewest))&^keys&isOwn; hits != 0; hits &= hits - 1 {
			g := base + x + bits.TrailingZeros64(hits)/8
			flips := s.flips[g*s.width : (g+1)*s.width]
			p := flips[word[0]]>>(shift[0]&63)&mask[0] | flips[word[1]]>>(shift[1]&63)&mask[1]<<1
			if at := s.nearest[g]; int(at.level) != n {
				s.defend(n, g, int(p), flips)
			} else if least[p] <= 2*at.distance {
				if d, m := s.closer[p][0].best(flips, at.distance, at.distance, at.level); m != at.level {
					s.log = append(s.log, logged{g, at})
					s.set(n, g, nearest{d, m})
				}
			}
		}
	}
	for _, m := range s.moved.levels {
		clear(s.change[int(m)*patterns : (int(m)+1)*patterns])
	}
}

// compare finds by how much the distances of the levels in moved grow, for each pattern of wrong
// bits. It returns the smallest distance of a word that comes closer.
func (s *sampled) compare(n int) (least [patterns]int32) {
	few := len(s.columns) <= maxColumns
	used := 1
	if few {
		used <<= len(s.columns)
	}
	for p := range least {
		least[p] = math.MaxInt32 / 2
		s.closer[p][0].clear()
		s.closer[p][1].clear()
	}
	for i, m := range s.moved.levels {
		diff := s.moved.diffs[i*s.width : (i+1)*s.width]
		for p := range used {
			grows := 0
			if few {
				for j, k := range s.columns {
					if x, b := k/64, k%64; (s.delta[n*s.width+x]^s.delta[int(m)*s.width+x])>>b&1 == 1 {
						// The bit of the sample was as m's, or is now.
						grows += 2*int((diff[x]>>b^uint64(p>>j))&1) - 1
					}
				}
			} else {
				grows = 1 // unknown: where m had won, the sample is decoded
			}
			s.change[int(m)*patterns+p] = int8(grows)
			if grows < 0 || !few {
				least[p] = min(least[p], s.moved.distances[i])
				s.closer[p][0].add(m, s.moved.distances[i], diff)
			}
			if grows < -1 {
				s.closer[p][1].add(m, s.moved.distances[i], diff)
			}
		}
	}
	return least
}

// defend brings a sample with pattern p up to date that was decoded to another level than its own, n.
func (s *sampled) defend(n, g, p int, flips []uint64) {
	at := s.nearest[g]
	grows := int32(s.change[int(at.level)*patterns+p])
	if grows > 0 {
		s.again(n, g)
		return
	}
	d, m := at.distance+grows, at.level
	if grows == 0 || grows == -1 {
		d, m = s.closer[p][-grows].best(flips, int32(ones(flips)), d, m)
	}
	if m != at.level || grows != 0 {
		s.log = append(s.log, logged{g, at})
		s.sums[n] -= at.absError(n)
		s.set(n, g, nearest{d, m})
	}
}

// decodeDirty decodes the samples of a level that must be decoded again. Most samples have
// one of a few patterns of errors. So the result for a pattern is remembered under its hash, until
// another pattern has the same hash.
func (s *sampled) decodeDirty(w *words, n int, dirty []int32) {
	if len(dirty) == 0 {
		return
	}
	base := n % s.kept * s.size
	most := 0
	for _, x := range dirty {
		g := (base + int(x)) * s.width
		most = max(most, ones(s.flips[g:g+s.width]))
	}
	s.most[n] = max(s.most[n], int32(most))
	s.near.around(w, n, 2*most)
	many := s.width == 1 && len(dirty) > len(s.memo)/8
	if many {
		clear(s.memo[:])
		s.memo[0].at = nearest{0, int32(n)}
	}
	own := w.row(n)
	for _, x := range dirty {
		g := base + int(x)
		flips := s.flips[g*s.width : (g+1)*s.width]
		var m *memo
		if many {
			if m = &s.memo[flips[0]*0x9e3779b97f4a7c15>>(64-memoBits)]; m.flips == flips[0] {
				s.set(n, g, m.at)
				continue
			}
		}
		// The level that had won before is probably not far. So it is tried first.
		f := int32(ones(flips))
		best, level := f, int32(n)
		if last := -1 - s.nearest[g].level; last != level {
			d := int32(0)
			for i, v := range w.row(int(last)) {
				d += int32(bits.OnesCount64(flips[i] ^ v ^ own[i]))
			}
			if d < best || d == best && last < level {
				best, level = d, last
			}
		}
		best, level = s.near.best(flips, f, best, level)
		to := nearest{best, level}
		if many {
			m.flips, m.at = flips[0], to
		}
		s.set(n, g, to)
	}
}

const memoBits = 8

// memo is the result of decoding a pattern of errors.
type memo struct {
	flips uint64
	at    nearest
}

func (s *sampled) reject() {
	i, bitCount := 0, len(s.counts)/len(s.sums)
	for _, k := range s.columns {
		for n := range s.sums {
			s.counts[n*bitCount+k] = s.oldCounts[i]
			i++
		}
	}
	for _, l := range s.log {
		s.nearest[l.sample], s.keys[l.sample] = l.at, l.at.key(l.sample/s.size)
	}
	for _, f := range s.flipped {
		s.flips[int(f.sample)*s.width+int(f.column)/64] ^= 1 << (f.column % 64)
	}
	for _, l := range s.oldLevels {
		s.most[l.level], s.sums[l.level] = l.most, l.sum
	}
	s.forget()
}

// noise estimates the standard error of the difference that the last update, which had no
// limit, made. It is a sum over the samples whose errors have changed.
func (s *sampled) noise() float64 {
	sum, i := 0.0, 0
	for _, l := range s.oldLevels { // the log is in the order of levels
		squares, end := int64(0), (l.level+1)*s.size
		for ; i < len(s.log) && s.log[i].sample < end; i++ {
			was := s.log[i]
			d := s.nearest[was.sample].absError(l.level) - was.at.absError(l.level)
			squares += d * d
		}
		sum += s.prior[l.level] * s.prior[l.level] * float64(squares)
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

// ring is a list of levels around a level n, the nearest first, with the bits in which their
// words differ from the word of n.
type ring struct {
	levels, distances []int32
	diffs             []uint64

	// Scratch.
	order, start, unsorted []int32
}

func (r *ring) clear() { r.levels, r.distances, r.diffs = r.levels[:0], r.distances[:0], r.diffs[:0] }

func (r *ring) add(level, distance int32, diff []uint64) {
	r.levels, r.distances, r.diffs = append(r.levels, level), append(r.distances, distance), append(r.diffs, diff...)
}

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
	switch len(flips) {
	case 1:
		return r.best64(flips[0], f, best, level)
	case 2:
		return r.best128(flips[0], flips[1], f, best, level)
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

// best64 is best for words of at most 64 bits.
func (r *ring) best64(flips uint64, f, best, level int32) (int32, int32) {
	levels, diffs := r.levels[:len(r.distances)], r.diffs[:len(r.distances)]
	for i, far := range r.distances {
		if far-f > best {
			break
		}
		if d := int32(bits.OnesCount64(flips ^ diffs[i])); d <= best && (d < best || levels[i] < level) {
			best, level = d, levels[i]
		}
	}
	return best, level
}

// best128 is best for words of 65 to 128 bits.
func (r *ring) best128(a, b uint64, f, best, level int32) (int32, int32) {
	levels, diffs := r.levels[:len(r.distances)], r.diffs
	for i, far := range r.distances {
		if far-f > best || len(diffs) < 2 {
			break
		}
		d := int32(bits.OnesCount64(a^diffs[0]) + bits.OnesCount64(b^diffs[1]))
		if diffs = diffs[2:]; d <= best && (d < best || levels[i] < level) {
			best, level = d, levels[i]
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
