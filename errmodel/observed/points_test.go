package observed_test

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"

	"belsim/errmodel/observed"
	"belsim/theory/base/must"
	"belsim/theory/decode"
)

// TestDistance: the distance of points is that of the labels of every output by itself, on any
// number of workers, also of outputs of other codes, whose batches are of other sizes.
func TestDistance(t *testing.T) {
	const samples = 5000 // more than a batch
	names := []string{"unary", "johnson", "gray", "onehot"}
	var want observed.Sums
	sums := make([]float64, samples)
	var outputs []observed.Coordinate
	again := func(workers int) (observed.Error, uint64, error) {
		read := uint64(0)
		got, err := observed.Distance(context.Background(), workers, outputs, func(n uint64) { read += n })
		return got, read, err
	}
	away := make([][]float64, len(names))
	for k, name := range names {
		c := mustCode(t, name, 256)
		y, z := network(t, c, 0.5, 1.5, 1, 0, samples, uint64(k))
		labels := observed.Labels{Levels: 256, Real: true, Lo: 1, Hi: 256 + 255*float64(k)} // a level is k+1 wide
		y.Apply(func(_, _ int, v float64) float64 { return 1 + (v-1)*float64(k+1) }, y)
		decoding := observed.Decoding{Decoder: must.Get(decode.Builtin().New("gen", c, decode.Options{}))(t)}
		s := files(t, y, z, "npy", labels, observed.Logits)
		outputs = append(outputs, observed.Coordinate{Source: s, Code: c, Decoding: decoding})
		must.Succeed(t, observed.Decode(context.Background(), 1, s.Outputs, observed.Logits, c,
			[]observed.Decoding{decoding}, func(levels []float64) error {
				for _, level := range levels {
					away[k] = append(away[k], 1+(level-1)*float64(k+1)-y.At(len(away[k]), 0))
				}
				return nil
			}, nil))
	}
	for j := range samples {
		for k := 0; k < len(names); k += 2 {
			sums[j] += math.Hypot(away[k][j], away[k+1][j]) / 2
		}
		want.Add(sums[j])
	}
	for _, workers := range []int{1, 3} {
		// Of distances below 1e3, whose sums are rounded 1e4 times: 1e-12 of them, and for the
		// square roots of variances more.
		if got, read, err := again(workers); err != nil || read != samples ||
			math.Abs(got.Mean-want.Error().Mean) > 1e-9 || math.Abs(got.StdErr-want.Error().StdErr) > 1e-9 {
			t.Errorf("%d workers: %+v of %d samples, want %+v, %v", workers, got, read, want.Error(), err)
		}
	}
	outputs[2].Source.Kind = observed.Bits
	if _, _, err := again(0); err == nil || !strings.Contains(err.Error(), "neither 0 nor 1") {
		t.Errorf("logits as bits: %v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := observed.Distance(ctx, 0, outputs, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("canceled: %v", err)
	}
}
