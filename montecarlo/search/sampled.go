package search

import (
	"context"
	"math"
	"math/bits"

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
// whose answer is at a distance of d needs no word with D > f+d, which is the reach of the sample.
type sampled struct {
	probabilities
	size     int // S, a power of two
	shift    uint
	prior    []float64
	seed     uint64
	cost     cost.Cost
	absolute bool // the cost is

	counts  []int32   // L × M: samples in which the bit errs
	sums    []float64 // by level, of the costs of the answers
	wrong   []uint64  // L × S: the wrong bits of a sample
	answers []rival   // L × S: with the reach of the sample as a distance

	// What the last update has changed.
	columns []int
	swapped []int32 // columns × L: counts of these columns, before the update
	oldSums []float64
	log     []logged
}

// logged is a sample as it was before an update.
type logged struct {
	at     int
	wrong  uint64
	answer rival
}

// newSampled returns an evaluator from size samples of a level.
func (o *Options) newSampled(size int, seed uint64) *sampled {
	return &sampled{
		probabilities: probabilities{column: o.Column, e: make([]float64, o.Levels)},
		size:          size, shift: uint(max(1, bits.Len(uint(size-1))/2)), prior: o.Prior, seed: seed, cost: o.Cost, absolute: o.Cost.Absolute(),
		counts: make([]int32, o.Levels*o.Bits), sums: make([]float64, o.Levels), oldSums: make([]float64, o.Levels),
		wrong: make([]uint64, o.Levels*size), answers: make([]rival, o.Levels*size),
	}
}

// sampledBytes is the memory that a sampled evaluator takes.
func sampledBytes(levels, bitCount, size int) int64 { return int64(levels) * int64(40*size+4*bitCount) }

func (s *sampled) reset(ctx context.Context, w *words) float64 {
	clear(s.sums)
	clear(s.wrong)
	all := newMove(w.levels) // of which every level is a rival of every other
	for k := range w.bits {
		if ctx.Err() != nil || !s.of(w, k) {
			return math.Inf(1)
		}
		for n := range w.levels {
			all.difference[n] = uint64(n) + 1
			s.counts[n*w.bits+k] = s.count(n, k)
			o := s.order(n, k)
			for i := range s.counts[n*w.bits+k] {
				s.wrong[n*s.size+o.at(i)] |= 1 << k
			}
		}
	}
	for i, wrong := range s.wrong {
		s.answers[i] = newRival(2*bits.OnesCount64(wrong), i/s.size)
	}
	sum := s.update(ctx, w, all)
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
			s.wrong[at] ^= 1 << k
		}
	}
}

// answer changes the answer to a sample of level n.
func (s *sampled) answer(n, at int, to rival) {
	if was := s.answers[at]; was != undecoded {
		s.log = append(s.log, logged{at, s.wrong[at], was})
		s.sums[n] -= s.price(n, was)
	}
	if s.answers[at] = to; to != undecoded {
		s.sums[n] += s.price(n, to)
	}
}

// price is what an answer to level n costs.
func (s *sampled) price(n int, a rival) float64 {
	if s.absolute {
		return float64(max(a.level()-n, n-a.level()))
	}
	return s.cost.Of(n+1, float64(a.level()+1))
}

// decode updates the answers to the samples of level n after a move.
func (s *sampled) decode(w *words, m *move, n int) {
	own, word, rivals := m.difference[n], w.rows[n], m.rivals(w, n)
	first := undecoded.distance()
	for _, r := range rivals {
		if m.difference[r.level()] != own {
			first = r.distance()
			break
		}
	}
	wrong := s.wrong[n*s.size : (n+1)*s.size]
	for i, was := range s.answers[n*s.size : (n+1)*s.size] {
		moved := m.difference[was.level()] != own
		if was.distance() < first && !moved {
			continue
		}
		output, f, to, list := word^wrong[i], bits.OnesCount64(wrong[i]), was, rivals
		if moved && was != undecoded {
			to = newRival(f+bits.OnesCount64(output^w.rows[was.level()]), was.level())
		}
		if to > was || was == undecoded { // any word may be the nearest
			to, list = newRival(2*f, n), m.nearest(w, n)
		}
		for _, r := range list {
			if r.distance() > to.distance() {
				break
			}
			to = min(to, newRival(f+bits.OnesCount64(output^w.rows[r.level()]), r.level()))
		}
		if to != was {
			s.answer(n, n*s.size+i, to)
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
		s.wrong[l.at], s.answers[l.at] = l.wrong, l.answer
	}
	copy(s.sums, s.oldSums)
}

func (s *sampled) noise() float64 {
	sum := 0.0
	for _, l := range s.log {
		n := l.at / s.size
		d := s.prior[n] * (s.price(n, s.answers[l.at]) - s.price(n, l.answer))
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
