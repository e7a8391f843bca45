package decode_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"belsim/theory/base/must"
	"belsim/theory/decode"
)

// TestRules: labels by hand; ties go to the lowest level, also where rounding made the scores
// differ, and −Inf is impossible.
func TestRules(t *testing.T) {
	inf := math.Inf(-1)
	log := math.Log
	for _, tt := range []struct {
		scores            []float64
		values            []float64
		most, half, mean_ float64
	}{
		{[]float64{0, 0, 0}, nil, 1, 2, 2},
		{[]float64{log(0.2), log(0.5), log(0.3)}, nil, 2, 2, 2.1},
		{[]float64{log(0.4), log(0.25), log(0.35)}, nil, 1, 2, 1.95},
		{[]float64{log(0.5), log(0.5)}, nil, 1, 1, 1.5},
		{[]float64{1, 1 + 1e-12}, nil, 1, 1, 1.5},
		{[]float64{inf, 3, inf}, nil, 2, 2, 2},
		{[]float64{-2000, -1000, -1000}, nil, 2, 2, 2.5},
		{[]float64{1e6, 1e6 - 700}, nil, 1, 1, 1},
		{[]float64{log(0.4), log(0.25), log(0.35)}, []float64{-5, 10, 11.5}, -5, 10, 4.525},
	} {
		for _, r := range []struct {
			rule decode.Rule
			want float64
		}{{decode.MAP, tt.most}, {decode.Median, tt.half}, {decode.Mean, tt.mean_}} {
			scores := append([]float64(nil), tt.scores...)
			if got := r.rule.Label(scores, tt.values); math.Abs(got-r.want) > 1e-9 {
				t.Errorf("%s of %v, labels %v: %v, want %v", r.rule, tt.scores, tt.values, got, r.want)
			}
		}
	}
}

// TestAffine compares with sums by hand, and one sample with many.
func TestAffine(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	const levels, bits, samples = 7, 5, 50
	weights, offsets := mat.NewDense(levels, bits, nil), make([]float64, levels)
	for i := range levels {
		offsets[i] = rng.NormFloat64()
		for k := range bits {
			weights.Set(i, k, rng.NormFloat64())
		}
	}
	z := make([]float64, samples*bits)
	for i := range z {
		z[i] = rng.NormFloat64()
	}
	for _, rule := range decode.Rules() {
		a := must.Get(decode.NewAffine(rule, weights, offsets, nil))(t)
		d := a.Decoder()
		if decode.Real(d) != (rule == decode.Mean) || d.Name() != string(rule) {
			t.Errorf("%s is real: %v; it is called %s", rule, decode.Real(d), d.Name())
		}
		labels := make([]float64, samples)
		a.LabelsTo(labels, z)
		for n, label := range labels {
			mine := z[n*bits : (n+1)*bits]
			scores := make([]float64, levels)
			for i := range scores {
				scores[i] = offsets[i]
				for k, v := range mine {
					scores[i] += weights.At(i, k) * v
				}
			}
			if want := rule.Label(scores, nil); math.Abs(label-want) > 1e-12 || d.DecodeLogits(mine) != label {
				t.Fatalf("%s: %v and %v, want %v", rule, label, d.DecodeLogits(mine), want)
			}
		}
		for w := range uint64(1) << bits {
			signs := make([]float64, bits)
			for k := range signs {
				signs[k] = float64(w>>k&1)*2 - 1
			}
			if got, want := decode.Value(d, []uint64{w}), d.DecodeLogits(signs); got != want {
				t.Fatalf("%s of word %b: %v, want %v", rule, w, got, want)
			}
		}
	}
	for name, make := range map[string]func() (*decode.Affine, error){
		"no rule":     func() (*decode.Affine, error) { return decode.NewAffine("mode", weights, offsets, nil) },
		"no weights":  func() (*decode.Affine, error) { return decode.NewAffine(decode.MAP, nil, offsets, nil) },
		"few offsets": func() (*decode.Affine, error) { return decode.NewAffine(decode.MAP, weights, offsets[1:], nil) },
		"few labels":  func() (*decode.Affine, error) { return decode.NewAffine(decode.MAP, weights, offsets, []float64{1, 2}) },
		"labels that fall": func() (*decode.Affine, error) {
			return decode.NewAffine(decode.MAP, weights, offsets, []float64{1, 2, 3, 3, 4, 5, 6})
		},
		"infinite": func() (*decode.Affine, error) {
			return decode.NewAffine(decode.MAP, mat.NewDense(1, 1, []float64{math.Inf(1)}), []float64{0}, nil)
		},
		"NaN": func() (*decode.Affine, error) {
			return decode.NewAffine(decode.MAP, mat.NewDense(1, 1, []float64{0}), []float64{math.NaN()}, nil)
		},
	} {
		if _, err := make(); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

func BenchmarkAffine(b *testing.B) {
	const levels, bits, samples = 64, 32, 1 << 10
	rng := rand.New(rand.NewPCG(1, 2))
	weights, offsets := mat.NewDense(levels, bits, nil), make([]float64, levels)
	for i := range levels {
		for k := range bits {
			weights.Set(i, k, rng.NormFloat64())
		}
	}
	z := make([]float64, samples*bits)
	for i := range z {
		z[i] = rng.NormFloat64()
	}
	labels := make([]float64, samples)
	for _, rule := range decode.Rules() {
		b.Run(string(rule), func(b *testing.B) {
			a := must.Get(decode.NewAffine(rule, weights, offsets, nil))(b)
			for b.Loop() {
				a.LabelsTo(labels, z)
			}
			b.ReportMetric(samples*float64(b.N)/b.Elapsed().Seconds(), "samples/s")
		})
	}
}
