package forecast

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"

	"belsim/errmodel"
	"belsim/errmodel/observed"
	"belsim/theory/code"
	"belsim/theory/decode"
)

func mustCode(t testing.TB, name string, levels int) *code.Code {
	t.Helper()
	c, err := code.New(name, levels)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func allCodes(t testing.TB, levels int) []*code.Code {
	t.Helper()
	var out []*code.Code
	for _, f := range code.Families() {
		out = append(out, mustCode(t, f.Name, levels))
	}
	return out
}

func uniform(levels int) []float64 {
	out := make([]float64, levels)
	for i := range out {
		out[i] = 1 / float64(levels)
	}
	return out
}

func readers(t testing.TB, c *code.Code) []observed.Reader {
	t.Helper()
	out, err := observed.Readers(decode.Builtin(), c, observed.Logits, decode.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// thresholds is a network of the unary code that compares the perceived label with each
// transition, without a misfit: its decoders round the perceived label.
type thresholds struct {
	bits  int
	noise float64
}

func (l thresholds) Logits(dst []float64, y float64) {
	for k := range dst {
		dst[k] = math.Copysign(40, y-(float64(k)+1.5))
	}
}
func (l thresholds) Misfits() []float64 { return make([]float64, l.bits) }
func (l thresholds) Noise() float64     { return l.noise }

// TestErrors compares with the expected error of a normal number that is rounded and cut off.
func TestErrors(t *testing.T) {
	const levels = 20
	c := mustCode(t, "unary", levels)
	prior := uniform(levels)
	prior[2] = 0.5 // not normalized
	places, err := NewPlaces(prior, c.Bits(), 1)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []float64{0.3, 1, 4} {
		want, sum := 0.0, 0.0
		for n := 1; n <= levels; n++ {
			sum += prior[n-1]
			cdf := func(y float64) float64 { return distuv.UnitNormal.CDF((y - float64(n)) / s) }
			for d := 1; d <= levels; d++ {
				p := cdf(float64(d)+0.5) - cdf(float64(d)-0.5)
				if d == 1 {
					p = cdf(1.5)
				}
				if d == levels {
					p = 1 - cdf(levels-0.5)
				}
				want += prior[n-1] * p * math.Abs(float64(d-n))
			}
		}
		want /= sum
		r := readers(t, c)
		got, err := places.Errors(t.Context(), 2, c, thresholds{c.Bits(), s}, r)
		if err != nil {
			t.Fatal(err)
		}
		for i := range r {
			if math.Abs(got[i]/want-1) > 0.01 {
				t.Errorf("s = %v, %s on %s: %v, want %v", s, r[i].Decoder.Name(), r[i].Outputs(), got[i], want)
			}
		}
		one, err := places.Errors(t.Context(), 1, c, thresholds{c.Bits(), s}, r)
		if err != nil || !slices.Equal(one, got) {
			t.Errorf("one worker: %v, %v; two: %v", one, err, got)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := places.Errors(ctx, 1, c, thresholds{c.Bits(), 1}, readers(t, c)); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	for _, other := range []*code.Code{mustCode(t, "unary", levels-1), mustCode(t, "onehot", levels)} {
		if _, err := places.Errors(t.Context(), 1, other, thresholds{other.Bits(), 1}, nil); err == nil {
			t.Errorf("%s of %d levels was taken", other.Name(), other.Levels())
		}
	}
}

// TestMisfits: the misfits are normal, and of each place and bit its own.
func TestMisfits(t *testing.T) {
	p, err := NewPlaces(uniform(8), 6, 3)
	if err != nil {
		t.Fatal(err)
	}
	sum, square, product := 0.0, 0.0, 0.0
	for i := range places {
		row := p.row(i)
		for k, v := range row {
			sum += float64(v)
			square += float64(v) * float64(v)
			product += float64(v) * float64(row[(k+1)%6])
		}
	}
	n := float64(places * 6)
	if limit := 4 / math.Sqrt(n); math.Abs(sum/n) > limit || math.Abs(square/n-1) > 2*limit || math.Abs(product/n) > limit {
		t.Errorf("mean %v, variance %v, covariance %v", sum/n, square/n, product/n)
	}
	for _, prior := range [][]float64{{0, 0}, {1, -1}, {math.NaN(), 1}, {math.Inf(1), 1}} {
		if _, err := NewPlaces(prior, 2, 1); err == nil {
			t.Errorf("the prior %v was taken", prior)
		}
	}
}

// TestCodes holds the forecasts to what defines them.
func TestCodes(t *testing.T) {
	const levels, s = 32, 0.9
	f := NewForecaster(s, 0.02, uniform(levels), decode.Builtin())
	steps := uint64(0)
	codes := allCodes(t, levels)
	all, err := f.Codes(t.Context(), 2, codes, func(n uint64) { steps += n })
	if err != nil {
		t.Fatal(err)
	}
	if steps != uint64(2*len(codes)) {
		t.Errorf("%d steps", steps)
	}
	seen := map[string]Forecast{}
	for i, x := range all {
		if i > 0 && x.Error < all[i-1].Error {
			t.Errorf("%v comes after %v", x.Error, all[i-1].Error)
		}
		if !(x.Lo < x.Error && x.Error < x.Hi) {
			t.Errorf("%s: %+v", x.Code.Name(), x)
		}
		if x.Training == errmodel.ForDecoder && !x.Reader.Logits {
			t.Errorf("%s trained for the decoder is read by hard decisions", x.Code.Name())
		}
		seen[x.Code.Name()+" "+string(x.Training)+" "+x.Reader.Decoder.Name()+" "+x.Reader.Outputs()] = x
	}
	easy := seen["unary bits gen bits"]
	if want := s * math.Sqrt(2/math.Pi); math.Abs(easy.Error/want-1) > 0.1 {
		t.Errorf("unary: %v, want about %v", easy.Error, want)
	}
	// What one code does not show is wide, and one-hot bits never say one.
	hard := seen["hadamard bits gen bits"]
	if hard.Hi/hard.Lo < 2*easy.Hi/easy.Lo {
		t.Errorf("hadamard from %v to %v, unary from %v to %v", hard.Lo, hard.Hi, easy.Lo, easy.Hi)
	}
	if x := seen["onehot bits gen bits"]; x.Error < 10 {
		t.Errorf("one-hot trained bit by bit: %v", x.Error)
	}
	if x := seen["onehot decoder gen-ex logits"]; x.Error > 1 {
		t.Errorf("one-hot trained for the decoder: %v", x.Error)
	}
	ties := Ties(all)
	for i, tie := range ties {
		if tie && all[0].Hi < all[i].Lo {
			t.Errorf("%d: a tie, though the intervals do not overlap", i)
		}
	}
	if !ties[0] || ties[len(ties)-1] {
		t.Errorf("ties %v", ties)
	}
}

// TestDecoderFactor compares the distances with those of all pairs of words.
func TestDecoderFactor(t *testing.T) {
	for _, c := range allCodes(t, 13) {
		near, all, pairs := 0.0, 0.0, 0.0
		for i := range c.Levels() {
			for j := range i {
				d := 0.0
				for k := range c.Bits() {
					if c.Bit(i, k) != c.Bit(j, k) {
						d++
					}
				}
				all += d
				pairs++
				if j == i-1 {
					near += d
				}
			}
		}
		if got, want := errmodel.DecoderFactor(c), 0.955+0.05*min(1, 5*(near/12)/(all/pairs)); math.Abs(got-want) > 1e-12 {
			t.Errorf("%s: %v, want %v", c.Name(), got, want)
		}
	}
}

// synthetic draws the outputs of a network of the model, and reads them.
func synthetic(t *testing.T, c *code.Code, p errmodel.Perceived, samples int, r *rand.Rand) *Network {
	t.Helper()
	l, err := p.Learn(t.Context(), 1, c, nil)
	if err != nil {
		t.Fatal(err)
	}
	n := &Network{Code: c, Training: p.Training, Readers: readers(t, c), Samples: float64(samples), Rates: make([]float64, c.Bits())}
	counts := errmodel.NewCounts(c.Levels(), c.Bits())
	if p.Training == errmodel.BitByBit {
		n.Counts = counts
	}
	sums, squares := make([]float64, len(n.Readers)), make([]float64, len(n.Readers))
	x, sd := newSample(c, decode.NewCorrelations(c)), l.Misfits()
	for range samples {
		level := r.IntN(c.Levels())
		l.Logits(x.z, float64(level+1)+p.Noise*r.NormFloat64())
		for k := range x.z {
			x.z[k] += sd[k] * r.NormFloat64()
		}
		x.decide()
		counts.Samples[level]++
		for k := range x.z {
			if (x.z[k] > 0) != c.Bit(level, k) {
				counts.Row(level)[k]++
				n.Rates[k] += 1 / float64(samples)
			}
		}
		for i, reader := range n.Readers {
			e := math.Abs(x.label(reader) - float64(level+1))
			sums[i] += e
			squares[i] += e * e
		}
	}
	for i := range n.Readers {
		mean := sums[i] / float64(samples)
		n.Errors = append(n.Errors, observed.Error{Mean: mean, StdErr: math.Sqrt((squares[i]/float64(samples) - mean*mean) / float64(samples-1))})
	}
	return n
}

// TestFit: s lies in its interval for networks that the model draws, in at least 18 of 20 cases;
// and the model describes them.
func TestFit(t *testing.T) {
	const levels, samples = 32, 3000
	r := rand.New(rand.NewPCG(1, 2))
	held, cases := 0, 0
	for _, name := range []string{"unary", "johnson", "b1jdj", "gray", "onehot"} {
		c := mustCode(t, name, levels)
		places, err := NewPlaces(uniform(levels), c.Bits(), Seed)
		if err != nil {
			t.Fatal(err)
		}
		for _, training := range Trainings() {
			for _, s := range []float64{0.6, 1.4} {
				p := errmodel.Perceived{Noise: s, Misfit: errmodel.DefaultMisfit, Training: training}
				n := synthetic(t, c, p, samples, r)
				if training == errmodel.ForDecoder { // as real networks are
					for i := range n.Errors {
						n.Errors[i].Mean *= errmodel.DecoderFactor(c)
					}
				}
				f, err := Fit(t.Context(), 2, []*Network{n}, places, errmodel.DefaultMisfit)
				if err != nil {
					t.Fatalf("%s, %s, s = %v: %v", name, training, s, err)
				}
				cases++
				if lo, hi := f.Noise.Interval(); lo <= s && s <= hi {
					held++
				} else {
					t.Logf("%s, %s, s = %v: %v to %v", name, training, s, lo, hi)
				}
				if math.Abs(f.Tail-1) > 0.1 {
					t.Errorf("%s, %s, s = %v: the tail of the model's own networks is %v", name, training, s, f.Tail)
				}
				beside, err := f.Compare(t.Context(), 2, n, places)
				if err != nil {
					t.Fatal(err)
				}
				if beside.Distance > 1.5 || len(beside.Errors) != len(n.Readers) || (len(beside.Rates) > 0) != (training == errmodel.BitByBit) {
					t.Errorf("%s, %s, s = %v: %+v", name, training, s, beside)
				}
			}
		}
	}
	if held < cases-2 {
		t.Errorf("%d of %d intervals hold", held, cases)
	}
}

// TestFitTwo: a second network shows κ.
func TestFitTwo(t *testing.T) {
	const levels, s = 64, 1.5
	r := rand.New(rand.NewPCG(3, 4))
	p := errmodel.Perceived{Noise: s, Cutoff: 1.5 * errmodel.DefaultCutoff(levels, s), Misfit: errmodel.DefaultMisfit, Training: errmodel.BitByBit}
	var networks []*Network
	for _, name := range []string{"johnson", "probe"} {
		networks = append(networks, synthetic(t, mustCode(t, name, levels), p, 5000, r))
	}
	places, err := NewPlaces(uniform(levels), 32, Seed)
	if err != nil {
		t.Fatal(err)
	}
	alone, err := Fit(t.Context(), 2, networks[:1], places, errmodel.DefaultMisfit)
	if err != nil {
		t.Fatal(err)
	}
	both, err := Fit(t.Context(), 2, networks, places, errmodel.DefaultMisfit)
	if err != nil {
		t.Fatal(err)
	}
	if alone.CutoffFitted || !both.CutoffFitted {
		t.Errorf("κ fitted: %v alone, %v together", alone.CutoffFitted, both.CutoffFitted)
	}
	if before, after := math.Abs(math.Log(alone.Cutoff.Value/p.Cutoff)), math.Abs(math.Log(both.Cutoff.Value/p.Cutoff)); after > before/2 {
		t.Errorf("κ = %v alone, %v together, want %v", alone.Cutoff, both.Cutoff, p.Cutoff)
	}
}

// TestHeavyTail: where large errors are more frequent than under the model, intervals are wider, and
// the forecasts the same.
func TestHeavyTail(t *testing.T) {
	c := mustCode(t, "johnson", 32)
	places, err := NewPlaces(uniform(32), c.Bits(), Seed)
	if err != nil {
		t.Fatal(err)
	}
	p := errmodel.Perceived{Noise: 1.2, Misfit: errmodel.DefaultMisfit, Training: errmodel.BitByBit}
	n := synthetic(t, c, p, 5000, rand.New(rand.NewPCG(5, 6)))
	width := func() (tail, error, width float64) {
		f, err := Fit(t.Context(), 2, []*Network{n}, places, errmodel.DefaultMisfit)
		if err != nil {
			t.Fatal(err)
		}
		f.Decoders = decode.Builtin()
		all, err := f.Codes(t.Context(), 2, []*code.Code{c}, nil)
		if err != nil {
			t.Fatal(err)
		}
		return f.Tail, all[0].Error, math.Log(all[0].Hi / all[0].Lo)
	}
	tail, before, usual := width()
	for i := range n.Errors {
		n.Errors[i].StdErr *= 2 // as some gross errors would
	}
	heavy, after, wide := width()
	if math.Abs(tail-1) > 0.05 || heavy < 1.4 || before != after || wide < 1.5*usual {
		t.Errorf("tail %v, then %v; forecast %v, then %v; width %v, then %v", tail, heavy, before, after, usual, wide)
	}
}

// TestWrongBits: samples at one end of the range that johnson decodes as the other end have few
// wrong bits, and do not change s.
func TestWrongBits(t *testing.T) {
	for _, name := range []string{"unary", "johnson", "b1jdj", "onehot"} {
		c := mustCode(t, name, 32)
		if want := name == "unary" || name == "johnson"; counting(c) != want {
			t.Errorf("%s: %v, want %v", name, !want, want)
		}
	}
	c := mustCode(t, "johnson", 32)
	places, err := NewPlaces(uniform(32), c.Bits(), Seed)
	if err != nil {
		t.Fatal(err)
	}
	n := synthetic(t, c, errmodel.Perceived{Noise: 1.2, Misfit: errmodel.DefaultMisfit, Training: errmodel.BitByBit}, 5000, rand.New(rand.NewPCG(7, 8)))
	for range 2 {
		f, err := Fit(t.Context(), 2, []*Network{n}, places, errmodel.DefaultMisfit)
		if err != nil {
			t.Fatal(err)
		}
		if math.Abs(f.Noise.Value/1.2-1) > 0.05 {
			t.Errorf("s = %v, want 1.2", f.Noise.Value)
		}
		lead, err := n.Leading()
		if err != nil {
			t.Fatal(err)
		}
		n.Errors[lead].Mean += 0.01 * 31 // one sample in a hundred
	}
}

// TestUnread: errors as large as without information give no s.
func TestUnread(t *testing.T) {
	c := mustCode(t, "unary", 16)
	n := &Network{Code: c, Training: errmodel.BitByBit, Readers: readers(t, c), Rates: make([]float64, c.Bits()), Samples: 100}
	for range n.Readers {
		n.Errors = append(n.Errors, observed.Error{Mean: 5, StdErr: 0.1})
	}
	places, err := NewPlaces(uniform(16), c.Bits(), Seed)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Fit(t.Context(), 1, []*Network{n}, places, errmodel.DefaultMisfit); !errors.Is(err, ErrUnread) {
		t.Errorf("%v", err)
	}
}

// BenchmarkCodes is a forecast of all codes and both trainings. 1 s of one core was usual.
func BenchmarkCodes(b *testing.B) {
	const levels = 64
	codes := allCodes(b, levels)
	for b.Loop() {
		f := NewForecaster(1.6, 0.02, uniform(levels), decode.Builtin())
		if _, err := f.Codes(b.Context(), 0, codes, nil); err != nil {
			b.Fatal(err)
		}
	}
}
