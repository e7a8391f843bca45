package fitdecoder

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"belsim/errmodel/observed"
	"belsim/theory/base/must"
	"belsim/theory/code"
	"belsim/theory/decode"
)

// unevenNetwork has outputs of unary whose labels are labels of uneven levels. A shift of all
// outputs misleads decoders that know the code alone.
func unevenNetwork(c *code.Code, v code.Values, n int, shift float64, seed uint64) *observed.Samples {
	rng, levels := rand.New(rand.NewPCG(seed, 46)), c.Levels()
	s := &observed.Samples{Bits: c.Bits(), All: n}
	for range n {
		t := float64(levels-1) * rng.Float64()
		i := min(int(t), levels-2)
		y := v[i] + (t-float64(i))*(v[i+1]-v[i])
		place := 1 + (y-v[0])*float64(levels-1)/(v[levels-1]-v[0])
		row, _ := c.Nearest(place)
		s.Level, s.Exact, s.Direct = append(s.Level, row+1), append(s.Exact, place), append(s.Direct, 0)
		seen := t + 0.7*rng.NormFloat64()
		for k := range c.Bits() {
			s.Outputs = append(s.Outputs, 3*(seen-float64(k)-0.5)+shift)
		}
	}
	return s
}

// TestUneven: with uneven levels the error and the intervals of a fitted decoder are, in label
// units, what fresh samples show: a mean is beyond 5 standard errors, and so a coverage, with a
// probability of 6e-7. The residuals are those of the decoder's own sigma.
func TestUneven(t *testing.T) {
	const count = 1500
	v := make(code.Values, 16)
	for i := range v {
		v[i] = math.Pow(1.5, float64(i))
	}
	c := must.Get(code.New("unary", len(v)))(t).Placed(v)
	width := (v[15] - v[0]) / 15
	decodings := must.Get(observed.Decodings(decode.Builtin(), c, observed.Logits, decode.Options{}))(t)
	for _, tt := range []struct {
		shift float64
		kind  string
	}{{0, "gen-ex"}, {9, KindAffine}} {
		samples := unevenNetwork(c, v, count, tt.shift, 1)
		in := Input{Code: c, Samples: samples, Logits: true, Decodings: decodings, Values: v, Width: width}
		r := must.Get(Fit(context.Background(), 2, in))(t)
		if got := r.Decoder.About().Kind; tt.kind == KindAffine && got != tt.kind {
			t.Errorf("shift %v: %s, want %s", tt.shift, got, tt.kind)
		}
		fresh := unevenNetwork(c, v, count, tt.shift, 2)
		lower, upper, err := r.Decoder.Interval(0.9)
		must.Succeed(t, err)
		var sum, inside, known observed.Sums
		for i, place := range fresh.Exact {
			y, z := v[0]+(place-1)*width, fresh.Row(i)
			sum.Add(math.Abs(r.Decoder.DecodeLogits(z) - y))
			in := 0.0
			if lower.(bound).DecodeLogits(z) <= y && y <= upper.(bound).DecodeLogits(z) {
				in = 1
			}
			inside.Add(in)
			// what the network has seen, for who knows how it makes its outputs
			seen := min(max((z[0]-tt.shift)/3+0.5, 0), 15)
			k := min(int(seen), 14)
			known.Add(math.Abs(v[k] + (seen-float64(k))*(v[k+1]-v[k]) - y))
		}
		e, share := sum.Error(), inside.Error()
		if math.Abs(e.Mean-r.Error) > 5*math.Hypot(e.StdErr, r.StdErr) {
			t.Errorf("shift %v: fresh samples have an error of %v, and the fit says %v", tt.shift, e, r.Error)
		}
		if e.Mean > 1.05*known.Error().Mean {
			t.Errorf("shift %v: an error of %v, where %v can be reached", tt.shift, e, known.Error())
		}
		if math.Abs(share.Mean-0.9) > 5*math.Sqrt(0.9*0.1*2/count) { // of the calibration and of the fresh samples
			t.Errorf("shift %v: intervals of 90 %% hold %v", tt.shift, share)
		}
		if !r.Better { // the residuals of a decoder that nobody fitted are known
			var residuals []float64
			for i, place := range samples.Exact {
				z := samples.Row(i)
				residuals = append(residuals, (v[0]+(place-1)*width-r.Decoder.DecodeLogits(z))/r.Decoder.sigma(z))
			}
			slices.Sort(residuals)
			for i, want := range r.Decoder.residuals {
				if math.Abs(residuals[i]-want) > 1e-4*max(1, math.Abs(want)) { // labels and variances were float32
					t.Fatalf("residual %d is %v, and by the decoder's sigma %v", i, want, residuals[i])
				}
			}
		}
	}
	// Baseline decoders, which are not fitted: in levels they have the spreads of their own labels.
	in := Input{Code: c, Samples: unevenNetwork(c, v, 50, 0, 3), Logits: true, Decodings: decodings, Values: v}
	f := &fitting{Input: in, levels: 16, m: 15}
	f.all = f.candidates()
	spreads := must.Get(f.baselineSpreads(t.Context(), 1))(t)
	for i, got := range spreads {
		baselines, z := len(spreads)/50, in.Samples.Row(i/(len(spreads)/50))
		d := must.Get(f.decoder(f.all[i%baselines], nil, v, About{}))(t)
		if !d.logits {
			z = slices.Clone(z)
			for k, v := range z {
				z[k] = math.Copysign(1, v)
			}
		}
		got.variance, got.within = got.variance*width*width, got.within*width*width
		if diff := cmp.Diff(d.spread(z), got, cmp.AllowUnexported(spread{}),
			cmpopts.EquateApprox(1e-9, 1e-9*width*width)); diff != "" {
			t.Fatalf("%s, sample %d: (-want +got)\n%s", d.Name(), i/baselines, diff)
		}
	}
}
