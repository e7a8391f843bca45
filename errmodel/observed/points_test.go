package observed_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp/cmpopts"

	"belsim/errmodel/observed"
	"belsim/theory/base/must"
	"belsim/theory/decode"
)

// TestDistance: the distance of points is that of the labels of every output by itself, on any
// number of workers, also of outputs of other codes, whose batches are of other sizes.
func TestDistance(t *testing.T) {
	const samples, levels = 5000, 64 // more than a batch
	var outputs []observed.Coordinate
	away := make([][]float64, 4)
	for k, name := range []string{"unary", "johnson", "gray", "onehot"} {
		c, width := mustCode(t, name, levels), float64(k+1)
		y, z := network(t, c, 0.5, 1.5, 1, 0, samples, uint64(k))
		decoding := observed.Decoding{Decoder: must.Get(decode.New("gen", c))(t)}
		for j := range samples {
			away[k] = append(away[k], (byItself(decoding, z.RawRowView(j))-y.At(j, 0))*width)
			y.Set(j, 0, 1+(y.At(j, 0)-1)*width)
		}
		labels := observed.Labels{Levels: levels, Real: true, Lo: 1, Hi: 1 + (levels-1)*width}
		outputs = append(outputs, observed.Coordinate{Source: files(t, y, z, "npy", labels, observed.Logits), Code: c,
			Decoding: decoding})
	}
	var want observed.Sums
	for j := range samples {
		want.Add((math.Hypot(away[0][j], away[1][j]) + math.Hypot(away[2][j], away[3][j])) / 2)
	}
	for _, workers := range []int{1, 3} {
		read := uint64(0)
		got := must.Get(observed.Distance(t.Context(), workers, outputs, func(n uint64) { read += n }))(t)
		// Of distances below 1e3, whose sums are rounded 1e4 times: 1e-12 of them, and for the
		// square roots of variances more.
		must.Equal(t, fmt.Sprint(workers, " workers"), want.Error(), got, cmpopts.EquateApprox(0, 1e-9))
		must.Equal(t, "number of samples", samples, read)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := observed.Distance(ctx, 0, outputs, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("canceled: %v", err)
	}
	outputs[2].Source.Kind = observed.Bits
	if _, err := observed.Distance(t.Context(), 0, outputs, nil); err == nil ||
		!strings.Contains(err.Error(), "neither 0 nor 1") {
		t.Errorf("logits as bits: %v", err)
	}
}
