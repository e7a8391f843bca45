//go:build !purego

package montecarlo

import (
	"math"
	"math/rand/v2"
	"testing"

	"golang.org/x/sys/cpu"
)

// TestVectors: the functions for AVX2 and AVX-512 give the bits of those in Go.
// Those that the processor does not have are not tested, and said so.
func TestVectors(t *testing.T) {
	if !cpu.X86.HasAVX2 {
		t.Skip("the processor has no AVX2")
	}
	if !hasAVX512() {
		t.Log("the processor has no AVX-512: only AVX2 is tested")
	}
	rng := rand.New(rand.NewPCG(1, 2))
	for trial := range 300 {
		bits, levels := 1+rng.IntN(40), 1+rng.IntN(60)
		words := make([]uint64, bits*lanes/2)
		for i := range words {
			words[i] = rng.Uint64()
			if trial%3 == 0 && rng.IntN(8) == 0 { // near both ends of an octave
				words[i] = uint64(1)<<rng.IntN(64) - uint64(rng.IntN(3))
			}
		}
		centers := make([]int32, bits)
		for i := range centers {
			centers[i] = int32((rng.Float64()*14 - 7) * normalOne)
		}
		tails := false
		raw, logits := make([]lane, bits), make([]lane, bits)
		for i, w := range words {
			for half := range 2 {
				draw := uint32(w >> (32 * half))
				tails = tails || draw&^(1<<31) < normalTail
				k, n := i/(lanes/2), 2*(i%(lanes/2))+half
				raw[k][n] = normal(draw, func() uint64 { return 0 })
				logits[k][n] = round(centers[k] + raw[k][n])
			}
		}
		plan := &LatentPlan{RunPlan: RunPlan{Starts: []uint32{0}}, Scale: 1.7e-5, Limit: 1 << 20}
		offsets := make([]float32, levels)
		for m := range levels {
			for range rng.IntN(4) {
				plan.Steps = append(plan.Steps, uint32(rng.IntN(2*bits)))
			}
			plan.Starts = append(plan.Starts, uint32(len(plan.Steps)))
			plan.Fixed = append(plan.Fixed, int64(rng.IntN(3)-1)*logitOne)
			offsets[m] = float32(rng.IntN(100) - 50)
		}
		plan.Steps = append(plan.Steps, 0) // never empty
		sums := make([]lane, levels)
		var most, best lane
		var weight, sum [lanes]float32
		runPortable(sums, &most, &best, logits, &plan.RunPlan)
		softmaxPortable(&weight, &sum, sums, &most, offsets, plan)

		heavy, mixed := make([]weights, levels), [2]weights{}
		weighPortable(heavy, sums, &most, plan)
		pairs := &ProductPlan{}
		kinds := 1 + rng.IntN(3)
		for i := range levels {
			pairs.PatternOf = append(pairs.PatternOf, uint16(rng.IntN(kinds)))
			pairs.Offsets = append(pairs.Offsets, float32(i*levels-30))
		}
		for range kinds * levels {
			pairs.Patterns = append(pairs.Patterns, uint16(rng.IntN(levels)))
		}
		mixPortable(&mixed[0], &mixed[1], heavy, heavy, make([]weights, kinds), pairs)

		for _, wide := range []bool{false, true} {
			if wide && !hasAVX512() {
				continue
			}
			noise, run, softmax, weigh, mix, name := noiseAVX2, runAVX2, softmaxAVX2, weighAVX2, mixAVX2, "AVX2"
			if wide {
				noise, run, softmax, weigh, mix, name = noiseAVX512, runAVX512, softmaxAVX512, weighAVX512, mixAVX512, "AVX-512"
			}
			gotHeavy, gotMixed := make([]weights, levels), [2]weights{}
			weigh(&gotHeavy[0], &sums[0], &most, levels, int32(plan.Limit), plan.Scale, &decayCoefficients)
			for m := range heavy {
				if gotHeavy[m] != heavy[m] {
					t.Fatalf("%s: weights %v, want %v", name, gotHeavy[m], heavy[m])
				}
			}
			mix(&gotMixed[0], &gotMixed[1], &heavy[0], &heavy[0], &make([]weights, kinds)[0], &pairs.Offsets[0], &pairs.PatternOf[0], &pairs.Patterns[0], levels, levels, kinds)
			if gotMixed != mixed {
				t.Fatalf("%s: sums of pairs %v, want %v", name, gotMixed, mixed)
			}
			for what, want := range map[string][]lane{"noise": raw, "logits": logits} {
				c := &centers[0]
				if what == "noise" {
					c = nil
				}
				got := make([]lane, bits)
				if noise(&got[0], &words[0], bits, &normalTable, c) != tails {
					t.Fatalf("%s: draws in the tail: %v, want %v", name, !tails, tails)
				}
				for k := range got {
					if got[k] != want[k] && !tails {
						t.Fatalf("%s: %s %v, want %v", name, what, got[k], want[k])
					}
				}
			}
			got := make([]lane, levels)
			var gotMost, gotBest lane
			run(&got[0], &gotMost, &gotBest, &logits[0], &plan.Fixed[0], &plan.Starts[0], &plan.Steps[0], levels)
			for m := range got {
				if got[m] != sums[m] {
					t.Fatalf("%s: sums %v, want %v", name, got[m], sums[m])
				}
			}
			if gotMost != most || gotBest != best {
				t.Fatalf("%s: largest %v at %v, want %v at %v", name, gotMost, gotBest, most, best)
			}
			var gotWeight, gotSum [lanes]float32
			softmax(&gotWeight, &gotSum, &sums[0], &most, &offsets[0], levels, int32(plan.Limit), plan.Scale, &decayCoefficients)
			for i := range weight {
				if math.Float32bits(gotWeight[i]) != math.Float32bits(weight[i]) || gotSum[i] != sum[i] {
					t.Fatalf("%s: weights %v and %v, want %v and %v", name, gotWeight, gotSum, weight, sum)
				}
			}
		}
	}
}

// TestFillVectors: the generator for AVX2 and AVX-512 gives the words of Go's.
func TestFillVectors(t *testing.T) {
	if !cpu.X86.HasAVX2 {
		t.Skip("the processor has no AVX2")
	}
	keys := newRoundKeys(0x123456789ABCDEF0)
	for _, start := range []uint32{0, 7, math.MaxUint32 - 9} {
		c := counter{start, 1, 2, 3}
		want, got := make([]uint64, 64), make([]uint64, 64)
		fillPortable(want, keys, c)
		fillGroups(&got[0], 8, keys, &c)
		for i := range want {
			if got[i] != want[i] {
				t.Fatalf("AVX2, word %d: %x, want %x", i, got[i], want[i])
			}
		}
		if !hasAVX512() {
			continue
		}
		clear(got)
		fillGroups512(&got[0], 4, keys, &c)
		for i := range want {
			if got[i] != want[i] {
				t.Fatalf("AVX-512, word %d: %x, want %x", i, got[i], want[i])
			}
		}
	}
}
