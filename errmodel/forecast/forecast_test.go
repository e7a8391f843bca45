package forecast

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"belsim/errmodel"
	"belsim/errmodel/observed"
	"belsim/errmodel/perceived"
	"belsim/theory"
	"belsim/theory/base/must"
	"belsim/theory/code"
	"belsim/theory/decode"
)

func mustCode(t testing.TB, name string, levels int) *code.Code {
	t.Helper()
	return must.Get(code.New(name, levels))(t)
}

func allCodes(t testing.TB, levels int) []*code.Code {
	t.Helper()
	var out []*code.Code
	for _, f := range code.Families() {
		out = append(out, mustCode(t, f.Name, levels))
	}
	return out
}

// modelOf is a model of label noise s.
func modelOf(s float64) perceived.Model {
	return perceived.Model{Noise: s, Misfit: perceived.DefaultMisfit}
}

func decodings(t testing.TB, c *code.Code) []observed.Decoding {
	t.Helper()
	return must.Get(observed.Decodings(decode.Builtin(), c, observed.Logits, decode.Options{}))(t)
}

// TestCodes holds the forecasts to what defines them.
func TestCodes(t *testing.T) {
	const levels, s = 32, 0.9
	f := New(modelOf(s), nil, theory.Uniform(levels), decode.Builtin())
	steps := uint64(0)
	codes := allCodes(t, levels)
	all := must.Get(f.Codes(t.Context(), 2, codes, func(n uint64) { steps += n }))(t)
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
		if x.Training == perceived.CE && !x.Decoding.Soft {
			t.Errorf("%s trained for the decoder is read by hard decisions", x.Code.Name())
		}
		seen[x.Code.Name()+" "+string(x.Training)+" "+x.Decoding.Decoder.Name()+" "+x.Decoding.Outputs()] = x
	}
	easy := seen["unary bce gen bits"]
	if want := s * math.Sqrt(2/math.Pi); math.Abs(easy.Error/want-1) > 0.1 {
		t.Errorf("unary: %v, want about %v", easy.Error, want)
	}
	// What one code does not show is wide, and one-hot bits never say one.
	hard := seen["hadamard bce gen bits"]
	if hard.Hi/hard.Lo < 2*easy.Hi/easy.Lo {
		t.Errorf("hadamard from %v to %v, unary from %v to %v", hard.Lo, hard.Hi, easy.Lo, easy.Hi)
	}
	if x := seen["onehot bce gen bits"]; x.Error < 10 {
		t.Errorf("one-hot trained bit by bit: %v", x.Error)
	}
	if x := seen["onehot ce gen-ex logits"]; x.Error > 1 {
		t.Errorf("one-hot trained for the decoder: %v", x.Error)
	}
}

// synthetic draws the outputs of a network of the model, and reads them.
func synthetic(t *testing.T, c *code.Code, p perceived.Model, samples int, r *rand.Rand) *perceived.Observed {
	t.Helper()
	l := must.Get(p.Learn(t.Context(), 1, c, nil))(t)
	n := &perceived.Observed{Code: c, Training: p.Training, Decodings: decodings(t, c), Samples: float64(samples),
		Rates: make([]float64, c.Bits())}
	counts := errmodel.NewCounts(c.Levels(), c.Bits())
	if p.Training == perceived.BCE {
		n.Counts = counts
	}
	sums, squares := make([]float64, len(n.Decodings)), make([]float64, len(n.Decodings))
	x, z, sd := observed.NewSample(c.Bits(), decode.NewCorrelations(c)), make([]float64, c.Bits()), l.ResidualSD()
	for range samples {
		level := r.IntN(c.Levels())
		l.Logits(z, float64(level+1)+p.Noise*r.NormFloat64())
		for k := range z {
			z[k] += sd[k] * r.NormFloat64()
		}
		x.Set(z)
		counts.Samples[level]++
		for k := range z {
			if (z[k] > 0) != c.Bit(level, k) {
				counts.Row(level)[k]++
				n.Rates[k] += 1 / float64(samples)
			}
		}
		for i, decoding := range n.Decodings {
			e := math.Abs(x.Label(decoding) - float64(level+1))
			sums[i] += e
			squares[i] += e * e
		}
	}
	for i := range n.Decodings {
		mean := sums[i] / float64(samples)
		n.Errors = append(n.Errors, observed.Error{Mean: mean,
			StdErr: math.Sqrt((squares[i]/float64(samples) - mean*mean) / float64(samples-1))})
	}
	return n
}

// TestFit: s lies in its interval for networks that the model draws, in at least 18 of 20 cases;
// and the model describes them.
func TestFit(t *testing.T) {
	const levels, samples = 20, 3000
	r := rand.New(rand.NewPCG(1, 2))
	held, cases, noises := 0, 0, []float64{0.6, 1.4} // by turns
	for _, name := range []string{"unary", "johnson", "b1jdj", "gray", "onehot"} {
		c := mustCode(t, name, levels)
		nodes := must.Get(perceived.NewNodes(perceived.ManyNodes, theory.Uniform(levels), c.Bits(), perceived.Seed))(t)
		for _, training := range []perceived.Training{perceived.BCE, perceived.CE} {
			for _, s := range noises[(cases+cases/2)%2:][:1] {
				p := perceived.Model{Noise: s, Misfit: perceived.DefaultMisfit, Training: training}
				n := synthetic(t, c, p, samples, r)
				f, err := perceived.NewFit(t.Context(), 2, n, nodes, perceived.DefaultMisfit)
				if err != nil {
					t.Fatalf("%s, %s, s = %v: %v", name, training, s, err)
				}
				cases++
				if lo, hi := f.NoiseInterval[0], f.NoiseInterval[1]; lo <= s && s <= hi {
					held++
				} else {
					t.Logf("%s, %s, s = %v: %v to %v", name, training, s, lo, hi)
				}
				if math.Abs(f.Tail-1) > 0.1 {
					t.Errorf("%s, %s, s = %v: the tail of the model's own networks is %v", name, training, s, f.Tail)
				}
				beside := must.Get(New(f.Model, nil, theory.Uniform(levels), nil).Compare(t.Context(), n, nodes))(t)
				what := fmt.Sprintf("%s, %s, s = %v: ", name, training, s)
				must.Within(t, what+"distance", beside.Distance, 0, 1.5)
				must.Equal(t, what+"number of errors", len(n.Decodings), len(beside.Errors))
				must.Equal(t, what+"rates", training == perceived.BCE, len(beside.Rates) > 0)
			}
		}
	}
	if held < cases-2 {
		t.Errorf("%d of %d intervals hold", held, cases)
	}
}

// TestFitAnyOrder: the fit of a network does not depend on the order of its outputs, but for the
// rounding of sums: the optimizer of a training for the decoder makes more of it.
func TestFitAnyOrder(t *testing.T) {
	const levels = 20
	for _, name := range []string{"johnson", "hexj", "binary"} {
		c := mustCode(t, name, levels)
		order := rand.New(rand.NewPCG(3, 4)).Perm(c.Bits())
		permuted := mat.NewDense(levels, c.Bits(), nil)
		for k, from := range order {
			for i := range levels {
				permuted.Set(i, k, c.Value(i, from))
			}
		}
		other := must.Get(code.FromMatrix("other", permuted))(t)
		nodes := must.Get(perceived.NewNodes(perceived.ManyNodes, theory.Uniform(levels), c.Bits(), perceived.Seed))(t)
		for training, within := range map[perceived.Training]float64{perceived.BCE: 1e-9, perceived.CE: 1e-4} {
			p := perceived.Model{Noise: 0.8, Misfit: perceived.DefaultMisfit, Training: training}
			n := synthetic(t, c, p, 500, rand.New(rand.NewPCG(1, 2)))
			want := must.Get(perceived.NewFit(t.Context(), 2, n, nodes, perceived.DefaultMisfit))(t)
			m := *n
			m.Code, m.Decodings, m.Errors, m.Rates = other, nil, nil, make([]float64, c.Bits())
			for i, d := range n.Decodings {
				if name := d.Decoder.Name(); name != "bel-j" { // which reads johnson in its own order
					same := must.Get(decode.New(name, other))(t)
					m.Decodings = append(m.Decodings, observed.Decoding{Decoder: same, Soft: d.Soft})
					m.Errors = append(m.Errors, n.Errors[i])
				}
			}
			if n.Counts != nil {
				m.Counts = errmodel.NewCounts(levels, c.Bits())
				copy(m.Counts.Samples, n.Counts.Samples)
			}
			for k, from := range order {
				m.Rates[k] = n.Rates[from]
				for i := range levels {
					if n.Counts != nil {
						m.Counts.Row(i)[k] = n.Counts.Row(i)[from]
					}
				}
			}
			got := must.Get(perceived.NewFit(t.Context(), 2, &m, nodes, perceived.DefaultMisfit))(t)
			must.Within(t, name+", "+string(training)+": s over that of another order", got.Noise/want.Noise,
				1-within, 1+within)
		}
	}
}

// TestWrongBits: samples at one end of the range that johnson decodes as the other end have few
// wrong bits, and do not change s.
func TestWrongBits(t *testing.T) {
	c := mustCode(t, "johnson", 32)
	nodes := must.Get(perceived.NewNodes(perceived.ManyNodes, theory.Uniform(32), c.Bits(), perceived.Seed))(t)
	n := synthetic(t, c, perceived.Model{Noise: 1.2, Misfit: perceived.DefaultMisfit, Training: perceived.BCE}, 5000,
		rand.New(rand.NewPCG(7, 8)))
	for range 2 {
		f := must.Get(perceived.NewFit(t.Context(), 2, n, nodes, perceived.DefaultMisfit))(t)
		if math.Abs(f.Noise/1.2-1) > 0.05 {
			t.Errorf("s = %v, want 1.2", f.Noise)
		}
		// which s follows
		lead := slices.IndexFunc(n.Decodings, func(d observed.Decoding) bool {
			return d.Decoder.Name() == "gen" &&
				!d.Soft
		})
		// one sample in a hundred
		n.Errors[lead].Mean += 0.01 * 31
	}
}

// TestThroughGenEx: only gen-ex reads networks that were trained through gen-ex; a fit finds their noise; and without being asked for, they are forecast where one was
// measured.
func TestThroughGenEx(t *testing.T) {
	const levels, s = 16, 1.1
	c, all := mustCode(t, "johnson", levels), []*code.Code{mustCode(t, "johnson", levels), mustCode(t, "unary", levels),
		mustCode(t, "gray", levels)}
	nodes := must.Get(perceived.NewNodes(perceived.ManyNodes, theory.Uniform(levels), c.Bits(), perceived.Seed))(t)
	for i, training := range []perceived.Training{perceived.L1, perceived.L2} {
		n := synthetic(t, c, perceived.Model{Noise: s, Misfit: perceived.DefaultMisfit, Training: training}, 20000,
			rand.New(rand.NewPCG(3, uint64(i))))
		fit := must.Get(perceived.NewFit(t.Context(), 2, n, nodes, perceived.DefaultMisfit))(t)
		must.Within(t, string(training)+": s", s, fit.NoiseInterval[0], fit.NoiseInterval[1])
		f := New(fit.Model, nil, theory.Uniform(levels), decode.Builtin())
		f.Measure([]*perceived.Observed{n})
		for asked, want := range map[perceived.Training]string{"": "johnson gen-ex measured",
			training: "gray gen-ex, johnson gen-ex measured, unary gen-ex"} {
			if f.Trainings = nil; asked != "" {
				f.Trainings = []perceived.Training{asked}
			}
			var got []string
			for _, x := range must.Get(f.Codes(t.Context(), 2, all, nil))(t) {
				if text := x.Code.Name() + " " + x.Decoding.Decoder.Name(); x.Measured {
					got = append(got, text+" measured")
				} else if x.Training.ThroughGenEx() {
					got = append(got, text)
				}
			}
			if slices.Sort(got); strings.Join(got, ", ") != want {
				t.Errorf("%s, asked %q: %q, want %q", training, asked, got, want)
			}
		}
	}
}

// TestTies: forecasts that rounding alone tells apart keep their order.
func TestTies(t *testing.T) {
	a, b := Forecast{Error: 0.3}, Forecast{Error: 0.3 * (1 - 1e-13)}
	if smaller(a, b) != 0 || smaller(Forecast{Error: 0.2999}, a) >= 0 {
		t.Errorf("%v and %v are not as good", a.Error, b.Error)
	}
}
