package search

import (
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"belsim/theory"
)

// TestDraw: of each column, exactly the first samples of its order err.
func TestDraw(t *testing.T) {
	for _, size := range []int{8, 32, 512} {
		for _, bits := range []int{1, 17, 64} {
			o := Options{Levels: 3, Bits: bits, Prior: theory.Uniform(3)}
			s := o.newSampled(size, 0)
			rng := rand.New(rand.NewPCG(uint64(size), uint64(bits)))
			want := make([]uint64, size)
			for k := range bits {
				count := int32(rng.Float64() * float64(size))
				s.counts[2*bits+k] = count
				for i := range count {
					want[s.samples(2, k).at(i)] |= 1 << k
				}
			}
			for i := range s.flips {
				s.flips[i] = rng.Uint64() // of the level before
			}
			if s.begin(newWords(3, bits, false), 2); !slices.Equal(s.flips[2*len(want):], want) {
				t.Errorf("%d samples of %d bits: other samples err", size, bits)
			}
		}
	}
}

// TestNoise: the noise of an update is a sum over all samples, of which those that the update
// has not touched have 0.
func TestNoise(t *testing.T) {
	const levels, bits, size = 40, 14, 64
	o := problem(t, levels, bits, 0.9, 1)
	prior := o.Prior
	prior[3], prior[4] = 0, 2*prior[4]
	s := o.newSampled(size, 3)
	c := newChain(o.digits(6), &o)
	if _, err := s.reset(t.Context(), c.words); err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(1, 1))
	noisy := 0
	for range 300 {
		if !c.propose(rng) {
			c.undo()
			continue
		}
		before := slices.Clone(s.nearest)
		if v, _ := s.update(t.Context(), c.words, &c.move); math.IsInf(v, 1) {
			s.reject()
			c.undo()
			continue
		}
		sum := 0.0
		for g, was := range before {
			if n := g / size; prior[n] > 0 {
				d := prior[n] * float64(s.price(s.nearest[g], n)-s.price(was, n))
				sum += d * d
			}
		}
		want := math.Sqrt(sum) / size
		// At most 2,560 terms, each rounded three times.
		if math.Abs(s.noise()-want) > 1e-12*want {
			t.Fatalf("noise %v, want %v", s.noise(), want)
		}
		if want > 0 {
			noisy++
		}
		s.reject()
		c.undo()
	}
	if noisy < 100 {
		t.Errorf("only %d moves had noise", noisy)
	}
}

// TestScreen: of the moves that are accepted, the screen loses 1 % at most, and of the others it lets
// a fifth pass. Without the standard error of the difference it loses 6 %, and with three of them a
// third passes.
func TestScreen(t *testing.T) {
	const levels, bits = 40, 14
	for samples, passing := range map[int]float64{8: 0.7, 32: 0.2} {
		o := problem(t, levels, bits, 0.9, 1)
		rng := rand.New(rand.NewPCG(1, 1))
		few := &screen{sampled: o.newSampled(samples, 3)}
		a := &annealing{chain: newChain(o.digits(6), &o), rng: rng}
		truth := o.newSampled(512, 4)
		few.error, _ = few.reset(t.Context(), a.words)
		a.error, _ = truth.reset(t.Context(), a.words)
		loss := 0.03 * a.error
		var accepted, lost, others, passed float64
		for range 3000 {
			if a.propose(rng) {
				is, _ := truth.update(t.Context(), a.words, &a.move)
				few.seen, _ = few.update(t.Context(), a.words, &a.move)
				switch out := few.out(loss); {
				case is <= a.error+loss && out:
					lost++
					fallthrough
				case is <= a.error+loss:
					accepted++
				case !out:
					passed++
					fallthrough
				default:
					others++
				}
				truth.reject()
				few.reject()
			}
			a.undo()
		}
		if accepted < 200 || lost > 0.01*accepted || passed > passing*others {
			t.Errorf("%d samples: %v of %v moves that are accepted are lost, %v of %v others pass", samples, lost, accepted,
				passed, others)
		}
	}
}

// BenchmarkMove is a move and its evaluation by few samples, by which most moves are rejected, and by many.
func BenchmarkMove(b *testing.B) {
	o := problem(b, 64, 16, 0.6, 1.5)
	for _, size := range []int{8, 32, 256, 1024} {
		b.Run(strconv.Itoa(size), func(b *testing.B) {
			s, rng := o.newSampled(size, 3), rand.New(rand.NewPCG(1, 1))
			c := newChain(o.digits(4), &o)
			if _, err := s.reset(b.Context(), c.words); err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				if c.propose(rng) {
					if _, err := s.update(b.Context(), c.words, &c.move); err != nil {
						b.Fatal(err)
					}
					s.reject()
				}
				c.undo()
			}
		})
	}
}
