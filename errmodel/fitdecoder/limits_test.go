package fitdecoder

import (
	"context"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"belsim/errmodel/observed"
	"belsim/theory/base/arrayfile"
	"belsim/theory/base/must"
	"belsim/theory/decode"
)

// TestNoFiniteLabel: weights and scales may be finite, and the scores of a sample not. The error says
// which sample.
func TestNoFiniteLabel(t *testing.T) {
	path := filepath.Join(t.TempDir(), "z.csv")
	must.Succeed(t, os.WriteFile(path, []byte("0,0\n0,3\n"), 0o600))
	for _, rule := range []decode.Rule{decode.MAP, decode.Median, decode.Mean} {
		for name, numbers := range map[string][2]float64{"weights": {1e308, 1}, "scale": {1, 5e-324}} {
			weights, curved := mat.NewDense(3, 2, nil), mat.NewDense(3, 2, nil)
			weights.Set(2, 1, numbers[0])
			curved.Set(1, 1, 1)
			d := &Decoder{rule: rule, weights: weights, curved: curved, offsets: make([]float64, 3), scale: []float64{1, numbers[1]}, logits: true, about: About{Kind: KindCurved}}
			must.Succeed(t, d.complete())
			rows := must.Get(arrayfile.OpenRows(path))(t)
			defer rows.Close()
			err := observed.Decode(context.Background(), 1, rows, observed.Logits, nil, observed.Decoding{Decoder: d, Soft: true}, func([]float64) error { return nil }, nil)
			if err == nil || !strings.HasPrefix(err.Error(), path+": row 2: the decoder curved computes no finite label") {
				t.Errorf("%s, %s: %v", rule, name, err)
			}
		}
	}
}

func TestAsinh(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for range 100000 {
		x := rng.NormFloat64() * math.Exp(10*rng.NormFloat64())
		if got, want := asinh(x), math.Asinh(x); math.Abs(got-want) > 1e-15*max(1, math.Abs(want)) || asinh(-x) != -got {
			t.Fatalf("asinh %v is %v, want %v", x, got, want)
		}
	}
	for _, x := range []float64{0, 1e-300, 1e300, math.MaxFloat64} {
		if got, want := asinh(x), math.Asinh(x); math.Abs(got-want) > 1e-13 {
			t.Errorf("asinh %v is %v, want %v", x, got, want)
		}
	}
}
