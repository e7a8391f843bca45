//go:build amd64 && !purego

package lanes

import (
	"math/rand/v2"
	"reflect"
	"testing"

	"belsim/montecarlo/tables"
	"belsim/theory/base/processor"
)

// vectors calls f with the routines for AVX2, then with those for AVX-512. Those that the processor
// does not have are not tested, and said so.
func vectors(t *testing.T, f func(set string)) {
	if !processor.Vectors {
		t.Skip("the processor has no AVX2")
	}
	wide := processor.Wide
	defer func() { processor.Wide = wide }()
	processor.Wide = false
	f("AVX2")
	if !wide {
		t.Skip("the processor has no AVX-512: only AVX2 is tested")
	}
	processor.Wide = true
	f("AVX-512")
}

// agree compares results, none of which is NaN.
func agree(t *testing.T, what, set string, got, want any) {
	t.Helper()
	if !reflect.DeepEqual(got, want) {
		t.Fatalf("%s, %s: %v, want %v", what, set, got, want)
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

// TestVectorNoise: the logits of the vector routines have the bits of those in Go. Draws in the tail
// are continued by their own bits, and change no other draw.
func TestVectorNoise(t *testing.T) {
	refine := func(i int) uint64 { return uint64(i+1) * 0x9E3779B97F4A7C15 }
	vectors(t, func(set string) {
		rng := rand.New(rand.NewPCG(1, 2))
		for trial := range 300 {
			rows := 1 + rng.IntN(40)
			words := make([]uint64, rows*Width/2)
			for i := range words {
				words[i] = rng.Uint64()
				switch rng.IntN(8) * (trial % 3) {
				case 1: // near both ends of an octave
					words[i] = uint64(1)<<rng.IntN(64) - uint64(rng.IntN(3))
				case 2:
					words[i] &= tables.NormalTail - 1 | 0xFFFFFFFF80000000
				case 4:
					words[i] &= (tables.NormalTail-1)<<32 | 1<<63 | 0xFFFFFFFF
				}
			}
			centers := make([]int32, rows)
			for k := range centers {
				centers[k] = int32((rng.Float64()*14 - 7) * tables.NormalOne)
			}
			got, want := make([]Ints, rows), make([]Ints, rows)
			Noise(got, words, centers, refine)
			noiseGeneric(want, words, centers, refine)
			agree(t, "logits", set, got, want)
		}
	})
}

// TestVectors: the functions for AVX2 and AVX-512 give the bits of those in Go.
func TestVectors(t *testing.T) {
	vectors(t, func(set string) {
		rng := rand.New(rand.NewPCG(1, 2))
		for trial := range 300 {
			const scale, limit = 1.7e-5, 1 << 20
			bits, levels := 1+rng.IntN(40), 1+rng.IntN(60)
			logits := randomLogits(rng, bits, trial%5 == 0)
			plan, offsets := randomPlan(rng, bits, levels)
			sums, most, best := make([]Ints, levels), Ints{}, Ints{}
			runGeneric(sums, 1, &most, &best, logits, plan)
			var place, foremost [2]Ints // by the vector routine, and in Go
			var weight, sum [2]Floats
			softmaxGeneric(&weight[1], &sum[1], sums, 1, &most, offsets, limit, scale)
			Softmax(&weight[0], &sum[0], sums, &most, offsets, limit, scale)
			agree(t, "softmax", set, [2]Floats{weight[0], sum[0]}, [2]Floats{weight[1], sum[1]})

			medianGeneric(&place[1], sums, &most, limit, scale, make([]Floats, 2*levels+2))
			Median(&place[0], sums, &most, limit, scale, make([]Floats, 2*levels+2))
			agree(t, "median", set, place[0], place[1])

			firstGeneric(&foremost[1], sums, &most)
			First(&foremost[0], sums, &most)
			agree(t, "places of the largest", set, foremost[0], foremost[1])
		}
	})
}

// TestVectorAffine: the scores of the vector routines have the bits of the scores in Go.
func TestVectorAffine(t *testing.T) {
	vectors(t, func(set string) {
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
			Affine(got, &gotMost, numbers, f)
			agree(t, "scores", set, got, want)
			agree(t, "largest score", set, gotMost, most)
		}
	})
}

// TestBatch: the routines for a batch give the bits of those in Go for each group, for any number
// of bits and candidates.
func TestBatch(t *testing.T) {
	vectors(t, func(set string) {
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
			pairs, light := randomPairs(rng, levels, suffixes, kinds), floats(suffixes*Batch)
			var most [2][Batch]Ints
			var best, weight, sum, all, products [2][Batch]Floats
			sums := [2][]Ints{make([]Ints, levels*Batch), make([]Ints, levels*Batch)}
			heavy := [2][]Floats{floats(levels * Batch), floats(levels * Batch)}
			patterns := make([]Floats, kinds*Batch)
			bestBatchGeneric(&best[1], logits, stride, plan, offsets)
			for g := range Batch {
				runGeneric(sums[1][g:], Batch, &most[1][g], &Ints{}, logits[g*stride:], plan)
				softmaxGeneric(&weight[1][g], &sum[1][g], sums[1][g:], Batch, &most[1][g], offsets, limit, scale)
				weightsGeneric(heavy[1][g:], sums[1][g:], Batch, &most[1][g], limit, scale)
				mixGeneric(&all[1][g], &products[1][g], heavy[1][g:], light[g:], patterns[g:], Batch, pairs)
			}
			RunBatch(sums[0], &most[0], logits, stride, plan)
			BestBatch(&best[0], logits, stride, plan, offsets)
			SoftmaxBatch(&weight[0], &sum[0], sums[1], &most[1], offsets, int64(limit), scale)
			WeightsBatch(heavy[0], sums[1], &most[1], int64(limit), scale)
			MixBatch(&all[0], &products[0], heavy[1], light, patterns, pairs)
			agree(t, "sums", set, sums[0], sums[1])
			agree(t, "largest", set, most[0], most[1])
			agree(t, "tags of the largest", set, best[0], best[1])
			agree(t, "softmax", set, [2][Batch]Floats{weight[0], sum[0]}, [2][Batch]Floats{weight[1], sum[1]})
			agree(t, "weights", set, heavy[0], heavy[1])
			agree(t, "sums of pairs", set, [2][Batch]Floats{all[0], products[0]}, [2][Batch]Floats{all[1], products[1]})
		}
	})
}

// TestTallyBatch: the tallies of the vector routines are those of Go, for real answers and for whole
// ones.
func TestTallyBatch(t *testing.T) {
	vectors(t, func(set string) {
		rng := rand.New(rand.NewPCG(1, 2))
		for range 500 {
			e := &Errors{Base: float64(rng.IntN(200)), Scale: float64(uint64(1) << rng.IntN(36))}
			var weight, sum [Batch]Floats
			for g := range sum {
				for i := range sum[g] {
					weight[g][i], sum[g][i] = 1+rng.Float32(), 100*rng.Float32()-50
				}
			}
			for _, w := range []*[Batch]Floats{nil, &weight} {
				agree(t, "tally", set, TallyBatch(&sum, w, e), tallyBatchGeneric(&sum, w, e))
			}
		}
	})
}
