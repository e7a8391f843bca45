package observed_test

import (
	"context"
	"io"
	"math"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"

	"belsim/errmodel/observed"
	"belsim/theory/base/must"
	"belsim/theory/decode"
)

// TestDecode: labels of a file are those of every sample by itself, in its order, on any number of
// workers and in every format.
func TestDecode(t *testing.T) {
	ctx := context.Background()
	const samples = 5000 // more than a batch
	c := mustCode(t, "hexj", 16)
	y, z := network(t, c, 0.5, 1.5, 1, 0, samples, 4)
	decodings := must.Get(observed.Decodings(withToys(), c, observed.Logits, decode.Options{}))(t)
	median := must.Get(decode.NewPosterior(c, decode.Model{Logits: true}))(t)
	decodings = append(decodings, observed.Decoding{Decoder: median, Soft: true}, observed.Decoding{Decoder: median})
	for _, r := range decodings {
		var want []float64
		for j := range samples {
			want = append(want, byItself(r, z.RawRowView(j)))
		}
		for workers, format := range map[int]string{1: "npy", 3: "csv"} {
			s := files(t, y, z, format, observed.Labels{Levels: 16}, observed.Logits)
			if n, err := observed.Count(ctx, s.Outputs); n != samples || err != nil {
				t.Fatalf("%d rows, %v", n, err)
			}
			s.Targets = nil
			var got []float64
			done := uint64(0)
			must.Succeed(t, s.Decode(ctx, workers, c, observed.LabelsOf([]observed.Decoding{r}),
				func(labels []float64) error {
					got = append(got, labels...)
					return nil
				}, func(n uint64) { done += n }))
			if done != samples || !floats.EqualApprox(got, want, 1e-9) {
				t.Errorf("%s, %s, %d workers: other labels, of %d samples", r.Decoder.Name(), format, workers, done)
			}
		}
	}
	s := files(t, y, z, "npy", observed.Labels{Levels: 16}, observed.Logits)
	for _, tt := range []struct {
		kind observed.Kind
		code string
		emit error
		want string
	}{
		{observed.Bits, "hexj", nil, "neither 0 nor 1"},
		{observed.Logits, "hexj", io.ErrShortWrite, io.ErrShortWrite.Error()},
		{observed.Logits, "unary", nil, "unary of 16 levels has 15 bits"},
	} {
		s.Kind, s.Targets = tt.kind, nil
		if err := s.Decode(ctx, 1, mustCode(t, tt.code, 16), observed.LabelsOf(decodings[:1]),
			func([]float64) error { return tt.emit }, nil); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("error %v, want one about %q", err, tt.want)
		}
	}
}

// TestTake takes all samples, or some, each of them once.
func TestTake(t *testing.T) {
	c := mustCode(t, "unary", 16)
	y, z := network(t, c, 0.5, 1.5, 1, 0, 6000, 5)
	take := func(most int, seed uint64) *observed.Samples {
		f := files(t, y, z, "npy", observed.Labels{Levels: 16}, observed.Logits)
		s := must.Get(f.Subsample(t.Context(), most, seed, nil))(t)
		if s.All != 6000 || s.Len() != min(most, 6000) || len(s.Outputs) != s.Len()*15 {
			t.Fatalf("%d of %d samples", s.Len(), s.All)
		}
		return s
	}
	at := map[float64]int{} // a sample, by its first output
	for j := range 6000 {
		at[z.At(j, 0)] = j
	}
	for _, most := range []int{500, 10000} {
		s := take(most, 1)
		seen := map[int]bool{}
		late := 0
		for i := range s.Len() {
			j := at[s.Row(i)[0]]
			if seen[j] || s.Exact[i] != y.At(j, 0) || s.Level[i] != int(y.At(j, 0)) ||
				!slices.Equal(s.Row(i), z.RawRowView(j)) {
				t.Fatalf("sample %d is none of the file, or there twice", i)
			}
			seen[j] = true
			if j >= 3000 {
				late++
			}
		}
		// Half are of the second half of the file: six standard deviations.
		if n := float64(s.Len()); math.Abs(float64(late)-n/2) > 6*math.Sqrt(n)/2 {
			t.Errorf("%d of %d samples are of the second half", late, s.Len())
		}
		if !slices.Equal(s.Outputs, take(most, 1).Outputs) || slices.Equal(s.Outputs, take(most, 2).Outputs) {
			t.Errorf("most %d: the seed does not decide", most)
		}
	}
}
