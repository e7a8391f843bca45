//go:build !purego

package lanes

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"belsim/montecarlo/internal/processor"
	"belsim/montecarlo/tables"
)

// TestVectors: the functions for AVX2 and AVX-512 give the bits of those in Go.
// Those that the processor does not have are not tested, and said so.
func TestVectors(t *testing.T) {
	if !processor.AVX2() {
		t.Skip("the processor has no AVX2")
	}
	if !processor.AVX512() {
		t.Log("the processor has no AVX-512: only AVX2 is tested")
	}
	rng := rand.New(rand.NewPCG(1, 2))
	for trial := range 300 {
		bits, levels := 1+rng.IntN(40), 1+rng.IntN(60)
		words := make([]uint64, bits*Width/2)
		for i := range words {
			words[i] = rng.Uint64()
			if trial%3 == 0 && rng.IntN(8) == 0 { // near both ends of an octave
				words[i] = uint64(1)<<rng.IntN(64) - uint64(rng.IntN(3))
			}
		}
		centers := make([]int32, bits)
		for i := range centers {
			centers[i] = int32((rng.Float64()*14 - 7) * tables.NormalOne)
		}
		tails := false
		tail := make([][Width]bool, bits)
		raw, logits := make([]Ints, bits), make([]Ints, bits)
		for i, w := range words {
			for half := range 2 {
				draw := uint32(w >> (32 * half))
				k, n := i/(Width/2), 2*(i%(Width/2))+half
				tail[k][n] = draw&^(1<<31) < tables.NormalTail
				tails = tails || tail[k][n]
				raw[k][n] = normal(draw, func() uint64 { return 0 })
				logits[k][n] = Round(centers[k] + raw[k][n])
			}
		}
		plan := &tables.RunningSum{Starts: []uint32{0}}
		const scale, limit = 1.7e-5, 1 << 20
		offsets := make([]float32, levels)
		for m := range levels {
			for range rng.IntN(4) {
				plan.Steps = append(plan.Steps, uint32(rng.IntN(2*bits)))
			}
			plan.Starts = append(plan.Starts, uint32(len(plan.Steps)))
			plan.Fixed = append(plan.Fixed, int64(rng.IntN(3)-1)*tables.LogitOne)
			offsets[m] = float32(rng.IntN(100) - 50)
		}
		plan.Steps = append(plan.Steps, 0) // never empty
		sums := make([]Ints, levels)
		var most, best Ints
		var weight, sum Floats
		runGeneric(sums, &most, &best, logits, plan)
		softmaxGeneric(&weight, &sum, sums, &most, offsets, limit, scale)

		heavy, mixed := make([]Floats, levels), [2]Floats{}
		weightsGeneric(heavy, sums, &most, limit, scale)
		pairs := &tables.Product{}
		kinds := 1 + rng.IntN(3)
		for i := range levels {
			pairs.PatternOf = append(pairs.PatternOf, uint16(rng.IntN(kinds)))
			pairs.Offsets = append(pairs.Offsets, float32(i*levels-30))
		}
		for range kinds * levels {
			pairs.Patterns = append(pairs.Patterns, uint16(rng.IntN(levels)))
		}
		mixGeneric(&mixed[0], &mixed[1], heavy, heavy, make([]Floats, kinds), pairs)

		f := &tables.Affine{}
		for range (levels + tables.AffineRows - 1) / tables.AffineRows {
			length := rng.IntN(bits + 1)
			f.Lengths = append(f.Lengths, uint32(length))
			for range length * tables.AffineRows {
				f.Factors = append(f.Factors, float32(20*rng.Float64()-10))
			}
			for range tables.AffineRows {
				f.Offsets = append(f.Offsets, float32(-200*rng.Float64()*tables.LogitOne))
			}
		}
		f.Factors = append(f.Factors, 0) // never empty
		scores, place := make([]Ints, len(f.Offsets)), Ints{}
		var highest Ints
		affineGeneric(scores, &highest, logits, f)
		scratch := make([]Floats, 2*levels+2)
		medianGeneric(&place, sums, &most, limit, scale, scratch)
		var foremost Ints
		firstGeneric(&foremost, sums, &most)

		for _, wide := range []bool{false, true} {
			if wide && !processor.AVX512() {
				continue
			}
			noise, run, softmax, weights, mix, name := noiseAVX2, runAVX2, softmaxAVX2, weightsAVX2, mixAVX2, "AVX2"
			if wide {
				noise, run, softmax, weights, mix, name = noiseAVX512, runAVX512, softmaxAVX512, weightsAVX512, mixAVX512, "AVX-512"
			}
			gotHeavy, gotMixed := make([]Floats, levels), [2]Floats{}
			weights(&gotHeavy[0], &sums[0], &most, levels, limit, scale, &tables.Decay)
			for m := range heavy {
				if gotHeavy[m] != heavy[m] {
					t.Fatalf("%s: weights %v, want %v", name, gotHeavy[m], heavy[m])
				}
			}
			mix(&gotMixed[0], &gotMixed[1], &heavy[0], &heavy[0], &make([]Floats, kinds)[0], &pairs.Offsets[0], &pairs.PatternOf[0], &pairs.Patterns[0], levels, levels, kinds)
			if gotMixed != mixed {
				t.Fatalf("%s: sums of pairs %v, want %v", name, gotMixed, mixed)
			}
			affine, median, first := affineAVX2, medianAVX2, firstAVX2
			if wide {
				affine, median, first = affineAVX512, medianAVX512, firstAVX512
			}
			gotScores := make([]Ints, len(scores))
			var gotHighest, gotPlace Ints
			affine(&gotScores[0], &gotHighest, &logits[0], &f.Factors[0], &f.Offsets[0], &f.Lengths[0], len(f.Lengths))
			for m := range scores {
				if gotScores[m] != scores[m] {
					t.Fatalf("%s: scores %v, want %v", name, gotScores[m], scores[m])
				}
			}
			median(&gotPlace, &sums[0], &most, levels, limit, scale, &tables.Decay, &scratch[0])
			var gotForemost Ints
			first(&gotForemost, &sums[0], &most, levels)
			if gotForemost != foremost {
				t.Fatalf("%s: places of the largest %v, want %v", name, gotForemost, foremost)
			}
			if gotHighest != highest || gotPlace != place {
				t.Fatalf("%s: largest score %v, want %v; median %v, want %v", name, gotHighest, highest, gotPlace, place)
			}
			for what, want := range map[string][]Ints{"noise": raw, "logits": logits} {
				c := &centers[0]
				if what == "noise" {
					c = nil
				}
				got := make([]Ints, bits)
				if noise(&got[0], &words[0], bits, &tables.Normals, c) != tails {
					t.Fatalf("%s: draws in the tail: %v, want %v", name, !tails, tails)
				}
				for k := range got {
					for i, z := range got[k] {
						if z != want[k][i] && !tail[k][i] {
							t.Fatalf("%s: %s %v, want %v", name, what, got[k], want[k])
						}
					}
				}
			}
			got := make([]Ints, levels)
			var gotMost, gotBest Ints
			run(&got[0], &gotMost, &gotBest, &logits[0], &plan.Fixed[0], &plan.Starts[0], &plan.Steps[0], levels)
			for m := range got {
				if got[m] != sums[m] {
					t.Fatalf("%s: sums %v, want %v", name, got[m], sums[m])
				}
			}
			if gotMost != most || gotBest != best {
				t.Fatalf("%s: largest %v at %v, want %v at %v", name, gotMost, gotBest, most, best)
			}
			var gotWeight, gotSum Floats
			softmax(&gotWeight, &gotSum, &sums[0], &most, &offsets[0], levels, limit, scale, &tables.Decay)
			for i := range weight {
				if math.Float32bits(gotWeight[i]) != math.Float32bits(weight[i]) || gotSum[i] != sum[i] {
					t.Fatalf("%s: weights %v and %v, want %v and %v", name, gotWeight, gotSum, weight, sum)
				}
			}
		}
	}
}

// TestNoiseTails: draws in the tail are continued by their own bits, and change no other draw.
func TestNoiseTails(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	refine := func(i int) uint64 { return uint64(i+1) * 0x9E3779B97F4A7C15 }
	for rows := 1; rows < 20; rows++ {
		words := make([]uint64, rows*Width/2)
		for i := range words {
			words[i] = rng.Uint64()
			switch rng.IntN(20) {
			case 0:
				words[i] &= tables.NormalTail - 1 | 0xFFFFFFFF80000000
			case 1:
				words[i] &= (tables.NormalTail-1)<<32 | 1<<63 | 0xFFFFFFFF
			}
		}
		centers := make([]int32, rows)
		for k := range centers {
			centers[k] = int32(rng.IntN(1 << 27))
		}
		for _, c := range [][]int32{nil, centers} {
			got, want := make([]Ints, rows), make([]Ints, rows)
			Noise(got, words, c, refine)
			noiseGeneric(want, words, c, refine)
			if !slices.Equal(got, want) {
				t.Fatalf("%d rows: %v, want %v", rows, got, want)
			}
		}
	}
}

// TestBatch: the routines for a batch give the bits of those in Go, for any number of bits and
// candidates.
func TestBatch(t *testing.T) {
	if !Batches() {
		t.Skip("the processor has no AVX-512")
	}
	rng := rand.New(rand.NewPCG(1, 2))
	floats := func(n int) []Floats {
		x := make([]Floats, n)
		for i := range x {
			for j := range x[i] {
				x[i][j] = rng.Float32()
			}
		}
		return x
	}
	for trial := range 200 {
		bits, levels := 1+rng.IntN(20), 1+rng.IntN(40)
		stride := bits + rng.IntN(2)
		logits := make([]Ints, stride*Batch)
		for k := range logits {
			for i := range logits[k] {
				logits[k][i] = int32((rng.Float64()*16 - 8) * tables.LogitOne)
				if trial%5 == 0 { // equal correlations
					logits[k][i] = int32(rng.IntN(3)-1) * tables.LogitOne
				}
			}
		}
		plan := &tables.RunningSum{Starts: []uint32{0}}
		var offsets []float32
		for m := range levels {
			for range rng.IntN(4) {
				plan.Steps = append(plan.Steps, uint32(rng.IntN(2*bits)))
			}
			plan.Starts = append(plan.Starts, uint32(len(plan.Steps)))
			plan.Fixed = append(plan.Fixed, int64(rng.IntN(3)-1)*tables.LogitOne)
			offsets = append(offsets, float32(m-rng.IntN(levels)))
		}
		plan.Steps = append(plan.Steps, 0) // never empty
		var most, wantMost [Batch]Ints
		sums, wantSums := make([]Ints, levels*Batch), make([]Ints, levels*Batch)
		RunBatch(sums, &most, logits, stride, plan)
		runBatchGeneric(wantSums, &wantMost, logits, stride, plan)
		if !slices.Equal(sums, wantSums) || most != wantMost {
			t.Fatalf("sums %v, largest %v, want %v and %v", sums, most, wantSums, wantMost)
		}
		var best, wantBest [Batch]Floats
		BestBatch(&best, logits, stride, plan, offsets)
		bestBatchGeneric(&wantBest, logits, stride, plan, offsets)
		if best != wantBest {
			t.Fatalf("tags of the largest %v, want %v", best, wantBest)
		}
		const scale = 1.7e-5
		limit := int32(1) << (10 + rng.IntN(13)) // often beyond it
		var weight, sum, wantWeight, wantSum [Batch]Floats
		SoftmaxBatch(&weight, &sum, sums, &most, offsets, int64(limit), scale)
		softmaxBatchGeneric(&wantWeight, &wantSum, sums, &most, offsets, limit, scale)
		if weight != wantWeight || sum != wantSum {
			t.Fatalf("softmax %v and %v, want %v and %v", weight, sum, wantWeight, wantSum)
		}
		heavy, wantHeavy := floats(levels*Batch), make([]Floats, levels*Batch)
		WeightsBatch(heavy, sums, &most, int64(limit), scale)
		weightsBatchGeneric(wantHeavy, sums, &most, limit, scale)
		if !slices.Equal(heavy, wantHeavy) {
			t.Fatalf("weights %v, want %v", heavy, wantHeavy)
		}

		pairs := &tables.Product{}
		kinds, suffixes := 1+rng.IntN(3), 1+rng.IntN(20)
		for i := range levels {
			pairs.PatternOf = append(pairs.PatternOf, uint16(rng.IntN(kinds)))
			pairs.Offsets = append(pairs.Offsets, float32(i*suffixes-30))
		}
		for range kinds * suffixes {
			pairs.Patterns = append(pairs.Patterns, uint16(rng.IntN(suffixes)))
		}
		light := floats(suffixes * Batch)
		MixBatch(&weight, &sum, heavy, light, make([]Floats, kinds*Batch), pairs)
		mixBatchGeneric(&wantWeight, &wantSum, heavy, light, make([]Floats, kinds*Batch), pairs)
		if weight != wantWeight || sum != wantSum {
			t.Fatalf("sums of pairs %v and %v, want %v and %v", weight, sum, wantWeight, wantSum)
		}

		e := &Errors{Base: float64(rng.IntN(200)), Y: 200 * rng.Float64(), Scale: float64(uint64(1) << rng.IntN(40)), Near: float64(rng.IntN(100))}
		for g := range sum {
			for i := range sum[g] {
				weight[g][i], sum[g][i] = 1+rng.Float32(), 100*rng.Float32()-50
			}
		}
		sum[0][0], weight[0][0], e.Y = 0, 1, e.Base+e.Near*float64(rng.IntN(2)) // an error of Near itself
		for _, w := range []*[Batch]Floats{nil, &weight} {
			if got, want := TallyBatch(&sum, w, e), tallyBatchGeneric(&sum, w, e); got != want {
				t.Fatalf("tally %+v, want %+v", got, want)
			}
		}
	}
}
