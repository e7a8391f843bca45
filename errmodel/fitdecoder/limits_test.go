package fitdecoder

import (
	"context"
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

// TestNoFiniteLabel: weights may be finite, and the scores of a sample not. The error says which sample.
func TestNoFiniteLabel(t *testing.T) {
	path := filepath.Join(t.TempDir(), "z.csv")
	must.Succeed(t, os.WriteFile(path, []byte("0,0\n0,3\n"), 0o600))
	weights := mat.NewDense(3, 2, nil)
	weights.Set(2, 1, 1e308)
	for _, rule := range decode.Rules() {
		d := &Decoder{scores: &decode.Affine{Rule: rule, Weights: weights, Offsets: make([]float64, 3)}, logits: true, about: About{Kind: KindAffine}}
		must.Succeed(t, d.complete())
		rows := must.Get(arrayfile.OpenRows(path))(t)
		defer rows.Close()
		err := observed.Decode(context.Background(), 1, rows, observed.Logits, nil, []observed.Decoding{{Decoder: d, Soft: true}}, func([]float64) error { return nil }, nil)
		if err == nil || !strings.HasPrefix(err.Error(), path+": row 2: the decoder affine computes no finite label") {
			t.Errorf("%s: %v", rule, err)
		}
	}
}
