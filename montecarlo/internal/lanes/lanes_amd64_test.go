//go:build !purego

package lanes

import (
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"belsim/montecarlo/internal/processor"
	"belsim/montecarlo/tables"
)

// vectors calls f for AVX2 and for AVX-512, with whether it is the latter. Those that the processor
// does not have are not tested, and said so.
func vectors(t *testing.T, f func(wide bool)) {
	if !processor.AVX2() {
		t.Skip("the processor has no AVX2")
	}
	f(false)
	if !processor.AVX512() {
		t.Skip("the processor has no AVX-512: only AVX2 is tested")
	}
	f(true)
}

// choose returns what has AVX-512 or what has not.
func choose[F any](wide bool, narrow, other F) F {
	if wide {
		return other
	}
	return narrow
}

// agree compares results, none of which is NaN.
func agree(t *testing.T, what string, wide bool, got, want any) {
	t.Helper()
	if !reflect.DeepEqual(got, want) {
		t.Fatalf("%s, AVX-512 %v: %v, want %v", what, wide, got, want)
	}
}

// randomPlan is a running sum over candidates, and their offsets.
func randomPlan(rng *rand.Rand, bits, levels int) (*tables.RunningSum, []float32) {
	plan, offsets := &tables.RunningSum{Starts: []uint32{0}}, []float32(nil)
	for m := range levels {
		for range rng.IntN(4) {
			plan.Steps = append(plan.Steps, uint32(rng.IntN(2*bits)))
		}
		plan.Starts = append(plan.Starts, uint32(len(plan.Steps)))
		plan.Fixed = append(plan.Fixed, int64(rng.IntN(3)-1)*tables.LogitOne)
		offsets = append(offsets, float32(m-rng.IntN(levels)))
	}
	plan.Steps = append(plan.Steps, 0) // never empty
	return plan, offsets
}

// randomPairs are pairs of prefixes and suffixes in some patterns.
func randomPairs(rng *rand.Rand, prefixes, suffixes, kinds int) *tables.Product {
	p := &tables.Product{}
	for i := range prefixes {
		p.PatternOf = append(p.PatternOf, uint16(rng.IntN(kinds)))
		p.Offsets = append(p.Offsets, float32(i*suffixes-30))
	}
	for range kinds * suffixes {
		p.Patterns = append(p.Patterns, uint16(rng.IntN(suffixes)))
	}
	return p
}

// TestVectorNoise: the noise of the vector routines has the bits of the noise in Go.
func TestVectorNoise(t *testing.T) {
	vectors(t, func(wide bool) {
		noise := choose(wide, noiseAVX2, noiseAVX512)
		rng := rand.New(rand.NewPCG(1, 2))
		for trial := range 300 {
			bits := 1 + rng.IntN(40)
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
			raw, logits, gotRaw, gotLogits := make([]Ints, bits), make([]Ints, bits), make([]Ints, bits), make([]Ints, bits)
			gotTails := [2]bool{noise(&gotRaw[0], &words[0], bits, &tables.Normals, nil), noise(&gotLogits[0], &words[0], bits, &tables.Normals, &centers[0])}
			for i, w := range words {
				for half := range 2 {
					draw := uint32(w >> (32 * half))
					k, n := i/(Width/2), 2*(i%(Width/2))+half
					if draw&^(1<<31) < tables.NormalTail { // its number is of no use
						tails, gotRaw[k][n], gotLogits[k][n] = true, 0, 0
						continue
					}
					raw[k][n] = normal(draw, func() uint64 { return 0 })
					logits[k][n] = Round(centers[k] + raw[k][n])
				}
			}
			agree(t, "draws in the tail", wide, gotTails, [2]bool{tails, tails})
			agree(t, "noise", wide, gotRaw, raw)
			agree(t, "logits", wide, gotLogits, logits)
		}
	})
}

// TestVectors: the functions for AVX2 and AVX-512 give the bits of those in Go.
func TestVectors(t *testing.T) {
	vectors(t, func(wide bool) {
		run, softmax, weights := choose(wide, runAVX2, runAVX512), choose(wide, softmaxAVX2, softmaxAVX512), choose(wide, weightsAVX2, weightsAVX512)
		mix, median, first := choose(wide, mixAVX2, mixAVX512), choose(wide, medianAVX2, medianAVX512), choose(wide, firstAVX2, firstAVX512)
		rng := rand.New(rand.NewPCG(1, 2))
		for trial := range 300 {
			const scale, limit = 1.7e-5, 1 << 20
			bits, levels, kinds := 1+rng.IntN(40), 1+rng.IntN(60), 1+rng.IntN(3)
			logits := randomLogits(rng, bits, trial%5 == 0)
			plan, offsets := randomPlan(rng, bits, levels)
			sums := [2][]Ints{make([]Ints, levels), make([]Ints, levels)} // by the vector routine, and in Go
			var most, best, place, foremost [2]Ints
			runGeneric(sums[1], &most[1], &best[1], logits, plan)
			run(&sums[0][0], &most[0], &best[0], &logits[0], &plan.Fixed[0], &plan.Starts[0], &plan.Steps[0], levels)
			agree(t, "sums", wide, sums[0], sums[1])
			agree(t, "largest", wide, [2]Ints{most[0], best[0]}, [2]Ints{most[1], best[1]})

			var weight, sum [2]Floats
			softmaxGeneric(&weight[1], &sum[1], sums[1], &most[1], offsets, limit, scale)
			softmax(&weight[0], &sum[0], &sums[1][0], &most[1], &offsets[0], levels, limit, scale, &tables.Decay)
			agree(t, "softmax", wide, [2]Floats{weight[0], sum[0]}, [2]Floats{weight[1], sum[1]})

			heavy := [2][]Floats{make([]Floats, levels), make([]Floats, levels)}
			weightsGeneric(heavy[1], sums[1], &most[1], limit, scale)
			weights(&heavy[0][0], &sums[1][0], &most[1], levels, limit, scale, &tables.Decay)
			agree(t, "weights", wide, heavy[0], heavy[1])

			pairs := randomPairs(rng, levels, levels, kinds)
			mixGeneric(&weight[1], &sum[1], heavy[1], heavy[1], make([]Floats, kinds), pairs)
			mix(&weight[0], &sum[0], &heavy[1][0], &heavy[1][0], &make([]Floats, kinds)[0], &pairs.Offsets[0], &pairs.PatternOf[0], &pairs.Patterns[0], levels, levels, kinds)
			agree(t, "sums of pairs", wide, [2]Floats{weight[0], sum[0]}, [2]Floats{weight[1], sum[1]})

			medianGeneric(&place[1], sums[1], &most[1], limit, scale, make([]Floats, 2*levels+2))
			median(&place[0], &sums[1][0], &most[1], levels, limit, scale, &tables.Decay, &make([]Floats, 2*levels+2)[0])
			agree(t, "median", wide, place[0], place[1])

			firstGeneric(&foremost[1], sums[1], &most[1])
			first(&foremost[0], &sums[1][0], &most[1], levels)
			agree(t, "places of the largest", wide, foremost[0], foremost[1])
		}
	})
}

// TestVectorAffine: the scores of the vector routines have the bits of the scores in Go.
func TestVectorAffine(t *testing.T) {
	vectors(t, func(wide bool) {
		affine := choose(wide, affineAVX2, affineAVX512)
		rng := rand.New(rand.NewPCG(1, 2))
		for range 300 {
			bits, groups := 1+rng.IntN(40), 1+rng.IntN(15)
			numbers := randomLogits(rng, bits, false)
			f := &tables.Affine{}
			for range groups {
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
			want, got := make([]Ints, len(f.Offsets)), make([]Ints, len(f.Offsets))
			var most, gotMost Ints
			affineGeneric(want, &most, numbers, f)
			affine(&got[0], &gotMost, &numbers[0], &f.Factors[0], &f.Offsets[0], &f.Lengths[0], groups)
			agree(t, "scores", wide, got, want)
			agree(t, "largest score", wide, gotMost, most)
		}
	})
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
		const scale = 1.7e-5
		limit := int32(1) << (10 + rng.IntN(13)) // often beyond it
		bits, levels, kinds, suffixes := 1+rng.IntN(20), 1+rng.IntN(40), 1+rng.IntN(3), 1+rng.IntN(20)
		stride := bits + rng.IntN(2)
		logits := randomLogits(rng, stride*Batch, trial%5 == 0)
		plan, offsets := randomPlan(rng, bits, levels)
		var most [2][Batch]Ints
		sums := [2][]Ints{make([]Ints, levels*Batch), make([]Ints, levels*Batch)}
		RunBatch(sums[0], &most[0], logits, stride, plan)
		runBatchGeneric(sums[1], &most[1], logits, stride, plan)
		agree(t, "sums", true, sums[0], sums[1])
		agree(t, "largest", true, most[0], most[1])

		var best, weight, sum [2][Batch]Floats
		BestBatch(&best[0], logits, stride, plan, offsets)
		bestBatchGeneric(&best[1], logits, stride, plan, offsets)
		agree(t, "tags of the largest", true, best[0], best[1])

		SoftmaxBatch(&weight[0], &sum[0], sums[1], &most[1], offsets, int64(limit), scale)
		softmaxBatchGeneric(&weight[1], &sum[1], sums[1], &most[1], offsets, limit, scale)
		agree(t, "softmax", true, [2][Batch]Floats{weight[0], sum[0]}, [2][Batch]Floats{weight[1], sum[1]})

		heavy := [2][]Floats{floats(levels * Batch), make([]Floats, levels*Batch)}
		WeightsBatch(heavy[0], sums[1], &most[1], int64(limit), scale)
		weightsBatchGeneric(heavy[1], sums[1], &most[1], limit, scale)
		agree(t, "weights", true, heavy[0], heavy[1])

		pairs, light := randomPairs(rng, levels, suffixes, kinds), floats(suffixes*Batch)
		MixBatch(&weight[0], &sum[0], heavy[1], light, make([]Floats, kinds*Batch), pairs)
		mixBatchGeneric(&weight[1], &sum[1], heavy[1], light, make([]Floats, kinds*Batch), pairs)
		agree(t, "sums of pairs", true, [2][Batch]Floats{weight[0], sum[0]}, [2][Batch]Floats{weight[1], sum[1]})

		e := &Errors{Base: float64(rng.IntN(200)), Y: 200 * rng.Float64(), Scale: float64(uint64(1) << rng.IntN(40)), Near: float64(rng.IntN(100))}
		for g := range sum[0] {
			for i := range sum[0][g] {
				weight[0][g][i], sum[0][g][i] = 1+rng.Float32(), 100*rng.Float32()-50
			}
		}
		sum[0][0][0], weight[0][0][0], e.Y = 0, 1, e.Base+e.Near*float64(rng.IntN(2)) // an error of Near itself
		for _, w := range []*[Batch]Floats{nil, &weight[0]} {
			agree(t, "tally", true, TallyBatch(&sum[0], w, e), tallyBatchGeneric(&sum[0], w, e))
		}
	}
}
