package observed_test

import (
	"context"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"belsim/errmodel/observed"
	"belsim/theory/base/must"
	"belsim/theory/code"
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
		must.Refused(t, s.Decode(ctx, 1, mustCode(t, tt.code, 16), observed.LabelsOf(decodings[:1]),
			func([]float64) error { return tt.emit }, nil), tt.want)
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

// TestScores: CRPS, log score and PIT are those of their definitions, over the posterior of independent
// bits: E|X − y| − ½·E|X − X'|, −ln P(m), and a grid of the evenly spread transform.
func TestScores(t *testing.T) {
	const levels, samples = 12, 300
	even := mustCode(t, "johnson", levels)
	uneven := even.Placed(code.Values{1, 2, 3, 5, 7, 8, 9.5, 10, 11, 14, 20, 21})
	for _, c := range []*code.Code{even, uneven} {
		place, labels := c.Place, observed.Labels{Levels: levels, Real: true, Lo: 1, Hi: levels, Places: c.Places(), Clips: true}
		y, z := network(t, even, 0.5, 1.5, 1, 0, samples, 4)
		for j := range samples { // targets between levels, and beyond the ends
			y.Set(j, 0, y.At(j, 0)+0.9*math.Sin(float64(j)))
		}
		decodings := must.Get(observed.Decodings(decode.Builtin(), c, observed.Logits, decode.Options{}))(t)
		s := must.Get(observed.Scan(t.Context(), 2, files(t, y, z, "npy", labels, observed.Logits), c, decodings, nil))(t)
		if len(s.Scores) != 1 || s.Scores[0].Decoder != "gen-ex" {
			t.Fatalf("scores %v", s.Scores)
		}
		var crps, log float64
		var pit [observed.PITBins]float64
		for j := range samples {
			p, target := posteriorOf(c, z, j), y.At(j, 0)
			level, _, err := labels.Level(target)
			must.Succeed(t, err)
			before, half := 0.0, 0.0
			for i := range p {
				crps += p[i] * math.Abs(place(i)-target)
				for k := range p {
					half += p[i] * p[k] * math.Abs(place(i)-place(k)) / 2
				}
				if i < level-1 {
					before += p[i]
				}
			}
			crps, log = crps-half, log-math.Log(max(p[level-1], decode.SmallestError))
			for b := range pit {
				lo, hi := float64(b)/observed.PITBins, float64(b+1)/observed.PITBins
				pit[b] += max(0, min(hi, before+p[level-1])-max(lo, before)) / p[level-1]
			}
		}
		got := s.Scores[0]
		near := func(what string, got, want float64) {
			must.Near(t, what, want/samples, got, 1e-10)
		}
		near("CRPS", got.CRPS.Mean, crps)
		near("log score", got.Log.Mean, log)
		for b := range pit {
			near("PIT", got.PIT[b], pit[b])
		}
	}
	// A certain network: CRPS is |error|, a wrong level counts as 1e-12, and the PIT lies at the ends.
	c := mustCode(t, "unary", 3)
	z := mat.NewDense(2, 2, []float64{800, 800, 800, 800})
	s := must.Get(observed.Scan(t.Context(), 1, files(t, mat.NewDense(2, 1, []float64{3, 1}), z, "npy",
		observed.Labels{Levels: 3}, observed.Logits), c,
		must.Get(observed.Decodings(decode.Builtin(), c, observed.Logits, decode.Options{}))(t), nil))(t)
	for _, x := range s.Scores {
		if x.CRPS.Mean != 1 || math.Abs(x.Log.Mean+math.Log(1e-12)/2) > 1e-10 || x.Impossible != 1 ||
			math.Abs(x.PIT[0]-0.5-0.5/observed.PITBins) > 1e-10 {
			t.Errorf("%+v", x)
		}
	}
}

// posteriorOf are the probabilities of the levels of sample j, for independent bits.
func posteriorOf(c *code.Code, z *mat.Dense, j int) []float64 {
	p, total := make([]float64, c.Levels()), 0.0
	for i := range p {
		p[i] = 1
		for k, v := range z.RawRowView(j) {
			if !c.Bit(i, k) {
				v = -v
			}
			p[i] *= 1 / (1 + math.Exp(-v))
		}
		total += p[i]
	}
	for i := range p {
		p[i] /= total
	}
	return p
}

// TestLossBound: the error of gen on logits is at most the bound by the loss, which of unary is at most the
// summed cross-entropy in bits; there is none of bits, or without gen.
func TestLossBound(t *testing.T) {
	for _, name := range []string{"unary", "johnson", "hexj", "onehot"} {
		c := mustCode(t, name, 16)
		y, z := network(t, c, 0.5, 1.5, 1, 0, 200, 4)
		decodings := must.Get(observed.Decodings(decode.Builtin(), c, observed.Logits, decode.Options{}))(t)
		f := files(t, y, z, "npy", observed.Labels{Levels: 16}, observed.Logits)
		s := must.Get(observed.Scan(t.Context(), 2, f, c, decodings, nil))(t)
		for r, d := range decodings {
			if _, gen := d.Decoder.(decode.Gen); gen && d.Soft && !(s.Levels[r].Mean <= s.LossBound) {
				t.Errorf("%s: error %v, bound %v", name, s.Levels[r].Mean, s.LossBound)
			}
		}
		bits := 0.0
		for j := range 200 {
			for k, v := range z.RawRowView(j) {
				if !c.Bit(int(y.At(j, 0))-1, k) {
					v = -v
				}
				bits += math.Log2(1+math.Exp(-v)) / 200
			}
		}
		if name == "unary" && s.LossBound > bits*(1+1e-12) {
			t.Errorf("bound %v, BCE of %v bits", s.LossBound, bits)
		}
		if s = must.Get(observed.Scan(t.Context(), 1, f, c, decodings[:1], nil))(t); !math.IsNaN(s.LossBound) {
			t.Errorf("%s: a bound of %s", name, decodings[0].Decoder.Name())
		}
	}
}

// TestSampleOnce: a sample weighs its levels once for each decoder and kind of outputs, and what comes
// of that is what each decoder answers by itself, also of the next sample. Sums of 16 terms of
// up to 16 are rounded by less than 1e-12.
func TestSampleOnce(t *testing.T) {
	c := must.Get(code.New("johnson", 16))(t)
	sample, rng := observed.NewSample(c.Bits(), decode.NewCorrelations(c)), rand.New(rand.NewPCG(1, 1))
	for range 100 {
		z, signs := make([]float64, c.Bits()), make([]float64, c.Bits())
		for k := range z {
			z[k] = 3 * rng.NormFloat64()
			signs[k] = math.Copysign(1, z[k])
		}
		sample.Set(z)
		for _, tau := range []float64{1, 0.5} {
			by := must.Get(decode.NewGenEx(c, tau))(t)
			d, _ := decode.NewDistribution(c, by)
			mean := 0.0
			for i, p := range sample.Probabilities(d) {
				mean += p * c.Place(i)
			}
			want, label := by.DecodeLogits(z), sample.Label(observed.Decoding{Decoder: by, Soft: true})
			for of, got := range map[string]float64{"probabilities": mean, "logits": label} {
				if !(math.Abs(got-want) <= 1e-12) {
					t.Errorf("τ = %v, %s: %v; want %v", tau, of, got, want)
				}
			}
			label, want = sample.Label(observed.Decoding{Decoder: by}), by.DecodeLogits(signs)
			if !(math.Abs(label-want) <= 1e-12) {
				t.Errorf("τ = %v, signs: %v; want %v", tau, label, want)
			}
		}
	}
}
