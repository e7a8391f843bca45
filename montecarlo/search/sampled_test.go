package search

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"belsim/theory"
	"belsim/theory/code"
)

// TestDraw: of each column, exactly the first samples of its order err, however many words a sample has.
func TestDraw(t *testing.T) {
	for _, size := range []int{8, 32, 512} {
		for _, bits := range []int{1, 64, 70, 200} {
			s := newOnce(3, bits, size, theory.Uniform(3), nil)
			rng := rand.New(rand.NewPCG(uint64(size), uint64(bits)))
			want := make([]uint64, size*s.width)
			for k := range bits {
				count := int32(rng.Float64() * float64(size))
				s.counts[2*bits+k] = count
				for i := range count {
					want[s.samples(2, k).at(i)*s.width+k/64] |= 1 << (k % 64)
				}
			}
			for i := range s.flips {
				s.flips[i] = rng.Uint64() // of the level before
			}
			if s.begin(newWords(3, bits), 2); !slices.Equal(s.flips, want) {
				t.Errorf("%d samples of %d bits: other samples err", size, bits)
			}
		}
	}
}

// TestUpdateLimit: an update with a limit says whether the error is above it, as one without does,
// to the last bit. Below the limit it gives the same error. Whatever was evaluated in part
// and taken back leaves no trace in what follows.
func TestUpdateLimit(t *testing.T) {
	moves := 200
	if long {
		moves = 10000
	}
	for _, at := range []struct {
		levels, bits int
		r, sigma     float64
		spacing      float64
	}{{12, 7, 0.6, 1.5, 6}, {40, 14, 0.9, 1, 6}, {40, 70, 0.6, 1.5, 20}, {60, 30, 1.5, 4, 6}, {30, 200, 0.9, 0.8, 100}} {
		rng := rand.New(rand.NewPCG(uint64(at.bits), 7))
		prior := theory.Uniform(at.levels)
		prior[3], prior[4] = 0, 2*prior[4]
		column := mixture(t, at.levels, at.r, at.sigma)
		o := Options{Levels: at.levels, Bits: at.bits, Prior: prior, Column: column}
		w := walk(at.levels, at.bits, 0, at.spacing, rng)
		if w == nil {
			t.Fatalf("%v: no code to begin from", at)
		}
		const size = 64
		bounded, whole := []evaluator{newSampled(at.levels, at.bits, size, prior, column)}, []evaluator{newSampled(at.levels, at.bits, size, prior, column)}
		if at.bits < 10 {
			bounded, whole = append(bounded, newEnumerated(at.levels, at.bits, prior, column)), append(whole, newEnumerated(at.levels, at.bits, prior, column))
		}
		for i, x := range bounded {
			full := whole[i]
			now, _ := full.reset(t.Context(), w, 5)
			if again, _ := x.reset(t.Context(), w, 5); again != now || math.IsInf(now, 1) {
				t.Fatalf("%v: the code to begin from has the errors %v and %v", at, now, again)
			}
			c := newChain(w.clone(), o.free(), 0)
			above, below := 0, 0
			for range moves {
				if !c.propose(rng) {
					c.undo()
					continue
				}
				want, _ := full.update(c.words, c.move, math.Inf(1))
				limit := now * (1 + 0.3*rng.NormFloat64())
				switch rng.IntN(4) {
				case 0: // as close as can be
					limit = want
				case 1:
					limit = math.Nextafter(want, 0)
				}
				got, _ := x.update(c.words, c.move, limit)
				if got > limit != (want > limit) || want <= limit && got != want {
					t.Fatalf("%v: %v with the limit %v, %v without", at, got, limit, want)
				}
				if want > limit {
					above++
				} else {
					below++
				}
				if want > limit || want > 2*now {
					c.undo()
					x.reject()
					full.reject()
				} else {
					now = want
				}
			}
			if above < moves/10 || below < moves/10 {
				t.Errorf("%v: %d moves were above the limit, %d below", at, above, below)
			}
		}
	}
}

// TestNoise: the noise of an update is a sum over all samples, of which those that the update
// has not touched have 0.
func TestNoise(t *testing.T) {
	const levels, bits, size = 40, 14, 64
	prior, column := theory.Uniform(levels), mixture(t, levels, 0.9, 1)
	prior[3], prior[4] = 0, 2*prior[4]
	o := Options{Levels: levels, Bits: bits, Prior: prior, Column: column}
	s := newSampled(levels, bits, size, prior, column)
	c := newChain(digits(levels, bits, 6), o.free(), 0)
	if _, err := s.reset(t.Context(), c.words, 3); err != nil {
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
		if v, _ := s.update(c.words, c.move, math.Inf(1)); math.IsInf(v, 1) {
			s.reject()
			c.undo()
			continue
		}
		sum := 0.0
		for g, was := range before {
			if n := g / size; prior[n] > 0 {
				d := prior[n] * float64(s.nearest[g].absError(n)-was.absError(n))
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

// TestCopies: copies of a code get its error, and each code is evaluated one time.
func TestCopies(t *testing.T) {
	o := problem(t, 10, 5, 0.4, 1)
	calls := 0
	o.Workers = 1
	o.Objective = func(_ context.Context, c *code.Code, _ int, _ uint64) (float64, error) {
		calls++
		return float64(c.TransitionCount()), nil
	}
	johnson, other := digits(10, 5, 4), digits(10, 5, 3)
	all := []Candidate{newCandidate("a", johnson), newCandidate("b", other), newCandidate("c", johnson.clone())}
	set := func(e *Candidate, v float64) { e.Mean, e.judged = v, true }
	noError(t, o.each(t.Context(), all, 8, forJudges, set))
	all = append(all, newCandidate("d", other.clone()))
	noError(t, o.each(t.Context(), all, 8, forJudges, set))
	if calls != 2 || all[2].Mean != all[0].Mean || all[3].Mean != all[1].Mean || all[0].Mean == all[1].Mean {
		t.Errorf("%d evaluations: %v", calls, all)
	}
}

// TestNoError: a search that has found a code without an error ends, for nothing is better.
func TestNoError(t *testing.T) {
	o := problem(t, 10, 5, 0.4, 1)
	o.Steps = 1 << 50 // would not end
	o.Objective = func(_ context.Context, c *code.Code, _ int, _ uint64) (float64, error) {
		return max(0, float64(c.TransitionCount()-12)), nil
	}
	if found, err := Run(t.Context(), o); err != nil || found[0].Mean != 0 {
		t.Errorf("%v, %v", found, err)
	}
}
