package search

import (
	"context"
	"math"
	"math/bits"
	"slices"

	"belsim/theory/cost"
)

// sampled estimates the expected error from a Latin hypercube of S samples of every level (McKay,
// Beckman and Conover, Technometrics 21, 1979): of the S samples of level n, bit k errs in
// ⌊S·e[n,k] + u⌋ samples, where u is uniform. These are the first samples of a random order that depends
// on n and k only. So the number of errors of every bit is right to within one sample, and codes are
// compared by common random numbers: when e[n,k] changes a little, the bit errs in nearly the same
// samples.
//
// The evaluator remembers the answer to each sample. It decodes a sample again where a bit errs now and
// did not err before, or the other way round. For any other sample of level n, the distance to the word
// of m changes only where the words of n and m have changed in different bits: such levels are the rivals
// of n. So a sample is compared with the rivals alone, and decoded again only where a rival was its
// answer and is further away now. Let D be the distance of the words of m and n. A sample of f errors
// whose answer is at a distance of d needs no word with D > f+d.
type sampled struct {
	probabilities
	size  int // S, a power of two
	shift uint
	prior []float64
	seed  uint64
	cost  cost.Cost

	counts  []int32   // L × M: samples in which the bit errs
	sums    []float64 // by level, of the costs of the answers
	samples []sample  // L × S

	// What the last update has changed.
	columns []int
	swapped []int32 // columns × L: counts of these columns, before the update
	oldSums []float64
	log     []logged

	// Scratch.
	dirty  []int // samples of a level to decode
	rivals []rival
}

// sample is an output of the classifiers: which bits are wrong, and the answer to it.
type sample struct {
	wrong  uint64
	answer rival
}

// logged is a sample as it was before an update.
type logged struct {
	at  int
	was sample
}

// rival is a level with the distance of its word. In order the nearest come first, of several the lowest.
type rival uint32

// undecoded is the answer to a sample that must be decoded again.
const undecoded rival = math.MaxUint16 << 16

func newRival(distance, level int) rival { return rival(distance<<16 | level) }
func (r rival) distance() int            { return int(r >> 16) }
func (r rival) level() int               { return int(r & math.MaxUint16) }

// nearestOf returns the nearest word to an output of f errors, the lowest level of several: one of the
// rivals, in the order of their distances to the word without errors, or the best so far.
func nearestOf(rows []uint64, rivals []rival, output uint64, f int, best rival) rival {
	for _, r := range rivals {
		if r.distance() > f+best.distance() {
			break
		}
		best = min(best, newRival(bits.OnesCount64(output^rows[r.level()]), r.level()))
	}
	return best
}

// newSampled returns an evaluator from size samples of a level.
func (o *Options) newSampled(size int, seed uint64) *sampled {
	return &sampled{
		probabilities: probabilities{column: o.Column, e: make([]float64, o.Levels)},
		size:          size, shift: uint(max(1, bits.Len(uint(size-1))/2)), prior: o.Prior, seed: seed, cost: o.Cost,
		counts: make([]int32, o.Levels*o.Bits), sums: make([]float64, o.Levels), oldSums: make([]float64, o.Levels),
		samples: make([]sample, o.Levels*size),
	}
}

// sampledBytes is the memory that a sampled evaluator takes.
func sampledBytes(levels, bitCount, size int) int64 { return int64(levels) * int64(16*size+4*bitCount) }

func (s *sampled) reset(ctx context.Context, w *words) float64 {
	clear(s.sums)
	clear(s.samples)
	all := move{difference: make([]uint64, w.levels), all: numbers(w.levels)} // of which every level is a rival of every other
	for k := range w.bits {
		if ctx.Err() != nil || !s.of(w, k) {
			return math.Inf(1)
		}
		for n := range w.levels {
			all.difference[n] = uint64(n) + 1
			s.counts[n*w.bits+k] = s.count(n, k)
			o := s.order(n, k)
			for i := range s.counts[n*w.bits+k] {
				s.samples[n*s.size+o.at(i)].wrong |= 1 << k
			}
		}
	}
	for i := range s.samples {
		s.samples[i].answer = newRival(bits.OnesCount64(s.samples[i].wrong), i/s.size)
	}
	sum := s.update(ctx, w, &all)
	s.log = nil
	return sum
}

func (s *sampled) update(ctx context.Context, w *words, m *move) float64 {
	s.columns, s.swapped, s.log = s.columns[:0], s.swapped[:0], s.log[:0]
	copy(s.oldSums, s.sums)
	for _, k := range m.columns {
		if !s.of(w, k) {
			return math.Inf(1) // reject has nothing to take back
		}
		for n := range w.levels {
			s.swapped = append(s.swapped, s.count(n, k))
		}
	}
	s.columns = append(s.columns, m.columns...)
	sum := 0.0
	for n, p := range s.prior {
		if ctx.Err() != nil {
			return math.Inf(1)
		}
		s.err(n)
		if p > 0 {
			s.decode(w, m, n)
			sum += p * s.sums[n]
		}
	}
	return sum / float64(s.size)
}

// swap exchanges a count with that before or after the update.
func (s *sampled) swap(n, j int) (before, after int32) {
	count, other := &s.counts[n*(len(s.counts)/len(s.sums))+s.columns[j]], &s.swapped[j*len(s.sums)+n]
	*count, *other = *other, *count
	return *other, *count
}

// err changes the wrong bits of a level. In each column, the samples between both counts change, because
// the bit errs in the first samples of its order.
func (s *sampled) err(n int) {
	for j, k := range s.columns {
		before, after := s.swap(n, j)
		if before == after {
			continue
		}
		o := s.order(n, k)
		for i := min(before, after); i < max(before, after); i++ {
			at := n*s.size + o.at(i)
			s.answer(n, at, undecoded)
			s.samples[at].wrong ^= 1 << k
		}
	}
}

// answer changes the answer to a sample of level n.
func (s *sampled) answer(n, at int, to rival) {
	x := &s.samples[at]
	if x.answer != undecoded {
		s.log = append(s.log, logged{at, *x})
		s.sums[n] -= s.price(n, x.answer)
	}
	if x.answer = to; to != undecoded {
		s.sums[n] += s.price(n, to)
	}
}

// price is what an answer to level n costs.
func (s *sampled) price(n int, a rival) float64 { return s.cost.Of(n+1, float64(a.level()+1)) }

// decode updates the answers to the samples of level n after a move.
func (s *sampled) decode(w *words, m *move, n int) {
	own, word := m.difference[n], w.rows[n]
	s.rivals = s.rivals[:0]
	for _, i := range m.rivals(n) {
		if m.difference[i] != own {
			s.rivals = append(s.rivals, newRival(bits.OnesCount64(word^w.rows[i]), i))
		}
	}
	slices.Sort(s.rivals)
	first := math.MaxInt
	if len(s.rivals) > 0 {
		first = s.rivals[0].distance()
	}
	for i := range s.samples[n*s.size : (n+1)*s.size] {
		at := n*s.size + i
		x := s.samples[at]
		to, f, output := x.answer, bits.OnesCount64(x.wrong), word^x.wrong
		if to != undecoded {
			if m.difference[to.level()] != own {
				to = newRival(bits.OnesCount64(output^w.rows[to.level()]), to.level())
			} else if first > f+to.distance() {
				continue
			}
		}
		if to > x.answer || to == undecoded { // any word may be the nearest
			to = newRival(f, n)
			for i, row := range w.rows {
				to = min(to, newRival(bits.OnesCount64(output^row), i))
			}
		} else {
			to = nearestOf(w.rows, s.rivals, output, f, to)
		}
		if to != x.answer {
			s.answer(n, at, to)
		}
	}
}

func (s *sampled) reject() {
	for j := range s.columns {
		for n := range s.sums {
			s.swap(n, j)
		}
	}
	for _, l := range s.log {
		s.samples[l.at] = l.was
	}
	copy(s.sums, s.oldSums)
}

func (s *sampled) noise() float64 {
	sum := 0.0
	for _, l := range s.log {
		n := l.at / s.size
		d := s.prior[n] * (s.price(n, s.samples[l.at].answer) - s.price(n, l.was.answer))
		sum += d * d
	}
	return math.Sqrt(sum) / float64(s.size)
}

// count is the number of samples of level n in which bit k errs, with the probabilities of the column in
// s.e; no sample is drawn of a level that does not occur.
func (s *sampled) count(n, k int) int32 {
	if s.e[n] == 0 || s.prior[n] == 0 {
		return 0
	}
	u := float64(mix(s.key(n, k)+1)>>11) / (1 << 53)
	return int32(min(float64(s.size), math.Floor(float64(s.size)*s.e[n]+u)))
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

// order is a random order of the samples. at(i) is the i-th sample in which a bit errs. Additions,
// products with odd numbers, and shifts of the upper bits onto the lower bits are bijections of the
// numbers below a power of two, so no sample comes twice.
type order struct {
	mask, a, b, c, d, e uint64
	shift               uint // of at least 1 and below 64
}

// order is the order of the samples in which bit k of level n errs.
func (s *sampled) order(n, k int) order {
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
