package observed_test

import (
	"context"
	"errors"
	"io"
	"math"
	"slices"
	"strings"
	"testing"

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
			row := z.RawRowView(j)
			word := make([]uint64, 1)
			for k, v := range row {
				if v > 0 {
					word[0] |= 1 << k
				}
			}
			v := decode.Value(r.Decoder, word)
			if r.Soft {
				v = r.Decoder.(decode.LogitDecoder).DecodeLogits(row)
			}
			want = append(want, v)
		}
		for workers, format := range map[int]string{1: "npy", 3: "csv"} {
			s := files(t, y, z, format, observed.Labels{Levels: 16}, observed.Logits)
			if n, err := observed.Count(ctx, s.Outputs); n != samples || err != nil {
				t.Fatalf("%d rows, %v", n, err)
			}
			var got []float64
			done := uint64(0)
			err := observed.Decode(ctx, workers, s.Outputs, observed.Logits, c, []observed.Decoding{r},
				func(labels []float64) error {
					got = append(got, labels...)
					return nil
				}, func(n uint64) { done += n })
			if err != nil || len(got) != samples || done != samples {
				t.Fatalf("%s: %d labels, %v", r.Decoder.Name(), len(got), err)
			}
			for j, v := range got {
				if math.Abs(v-want[j]) > 1e-9 {
					t.Fatalf("%s, %s, %d workers: sample %d is %v, want %v", r.Decoder.Name(), format, workers, j, v,
						want[j])
				}
			}
		}
	}
	s := files(t, y, z, "npy", observed.Labels{Levels: 16}, observed.Logits)
	if err := observed.Decode(ctx, 1, s.Outputs, observed.Bits, c, decodings[:1], func([]float64) error { return nil },
		nil); err == nil || !strings.Contains(err.Error(), "neither 0 nor 1") {
		t.Errorf("logits as bits: %v", err)
	}
	if err := observed.Decode(ctx, 1, s.Outputs, observed.Logits, c, decodings[:1],
		func([]float64) error { return io.ErrShortWrite }, nil); !errors.Is(err, io.ErrShortWrite) {
		t.Errorf("error of emit: %v", err)
	}
	if err := observed.Decode(ctx, 1, s.Outputs, observed.Logits, mustCode(t, "unary", 16), decodings[:1], nil,
		nil); err == nil || !strings.Contains(err.Error(), "unary of 16 levels has 15 bits") {
		t.Errorf("another code: %v", err)
	}
}

// TestTake takes all samples, or some, each of them once.
func TestTake(t *testing.T) {
	c := mustCode(t, "unary", 16)
	y, z := network(t, c, 0.5, 1.5, 1, 0, 6000, 5)
	take := func(most int, seed uint64) *observed.Samples {
		s, err := files(t, y, z, "npy", observed.Labels{Levels: 16}, observed.Logits).Take(context.Background(), most,
			seed, nil)
		if err != nil || s.All != 6000 || s.Len() != min(most, 6000) || len(s.Outputs) != s.Len()*15 {
			t.Fatalf("%d of %d samples, %v", s.Len(), s.All, err)
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
