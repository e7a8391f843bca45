package theory_test

import (
	"context"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"

	"belsim/errmodel"
	"belsim/theory"
	"belsim/theory/base/must"
	"belsim/theory/base/position"
	"belsim/theory/code"
	"belsim/theory/cost"
	"belsim/theory/decode"
)

// closedForms are the codes whose decoders have formulas of their own, at sizes
// that can be enumerated.
var closedForms = []struct{ code, decoder string }{
	{"unary", "bel-u"},
	{"johnson", "bel-j"},
	{"johnson-nonzero", "bel-j"},
}

// moments are the first two moments of the absolute error of one label, in levels and levels².
type moments struct{ Mean, MeanSquare float64 }

// lawOf is the law of the answer to row i, its mean by Law.Means, and the mean square; the mean by the
// law is nearly the same.
func lawOf(t must.TB, x *theory.Law, c *code.Code, i int, e []float64) moments {
	t.Helper()
	row := must.Get(x.Row(context.Background(), i, e))(t)
	mean, square := row.Mean(cost.Cost{}, i+1)
	table := mat.NewDense(c.Levels(), c.Bits(), nil)
	table.SetRow(i, e)
	weights := make([]float64, c.Levels())
	weights[i] = 1
	quick := must.Get(x.Means(context.Background(), 1, weights, table, cost.Cost{}))(t)[i]
	must.Near(t, fmt.Sprintf("%s, level %d, e = %v: the mean, and by the law", c.Name(), i+1, e), mean, quick, 1e-12*mean+leftOut)
	must.Near(t, fmt.Sprintf("%s, level %d: sum of the probabilities", c.Name(), i+1), 1, floats.Sum(row.Probabilities), 1e-12)
	return moments{quick, square}
}

// enumerate is the definition: the mean of |decoded − label| and of its square
// over all 2^M outputs, each decoded and weighted on its own.
func enumerate(c *code.Code, d decode.Decoder, i int, e []float64) moments {
	var m moments
	for out := range uint64(1) << c.Bits() {
		p := 1.0
		for k, ek := range e {
			if (c.Word(i)[0]^out)>>k&1 == 1 {
				p *= ek
			} else {
				p *= 1 - ek
			}
		}
		err := math.Abs(float64(d.Decode([]uint64{out}) - (i + 1)))
		m.Mean += p * err
		m.MeanSquare += p * err * err
	}
	return m
}

// drawRow draws error probabilities of very different sizes, with exact zeros,
// halves and ones among them.
func drawRow(t *rapid.T, bits int) []float64 {
	e := make([]float64, bits)
	for k := range e {
		switch rapid.IntRange(0, 5).Draw(t, "kind") {
		case 0:
			e[k] = rapid.SampledFrom([]float64{0, 0.5, 1}).Draw(t, "e")
		case 1:
			e[k] = math.Pow(10, -rapid.Float64Range(1, 30).Draw(t, "exponent"))
		default:
			e[k] = rapid.Float64Range(0, 1).Draw(t, "e")
		}
	}
	return e
}

func mustCode(tb must.TB, name string, levels int) *code.Code {
	return must.Get(code.New(name, levels))(tb)
}

func mustDecoder(tb must.TB, name string, c *code.Code) decode.Decoder {
	return must.Get(decode.New(name, c))(tb)
}

// TestExactIsEnumeration compares the formulas with the definition. Both add
// fewer than 2²⁰ positive terms of products of at most 12 factors, so each has
// a relative error below 2²⁰·2⁻⁵³ ≈ 1e−10 by the crudest count; what the walk of
// bel-u leaves out is far less than 1e−18 of min(1, Σe).
func TestExactIsEnumeration(t *testing.T) {
	for _, tt := range closedForms {
		t.Run(tt.code, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				c := mustCode(t, tt.code, rapid.IntRange(2, 13).Draw(t, "levels"))
				d := mustDecoder(t, tt.decoder, c)
				x := must.Get(theory.NewLaw(context.Background(), math.MaxInt, c, d))(t)
				b := must.Get(theory.NewBound(c, d, cost.Cost{}))(t)
				i := rapid.IntRange(0, c.Levels()-1).Draw(t, "row")
				e := drawRow(t, c.Bits())
				got := lawOf(t, x, c, i, e)
				want := enumerate(c, d, i, e)
				near(t, "mean", got.Mean, want.Mean)
				near(t, "mean square", got.MeanSquare, want.MeanSquare)
				if bound, err := b.Row(context.Background(), i, e); err != nil || bound < want.Mean*(1-1e-10) {
					t.Fatalf("%s, level %d, e = %v: bound %v below the exact %v", c.Name(), i+1, e, bound, want.Mean)
				}
			})
		})
	}
}

// leftOut is more than what the formulas leave out, in levels: 2⁻⁷⁰.
const leftOut = 1e-21

func near(t *rapid.T, what string, got, want float64) {
	t.Helper()
	if math.Abs(got-want) > 1e-10*want+leftOut {
		t.Fatalf("%s: %v, want %v", what, got, want)
	}
}

// TestEnumerationError: the moments are as near to the definition, in numbers of 300 digits, as
// their proof says. Half a rounding is left for what is of second order. Each of M+2 products of at
// most 2^M outputs may be subnormal, and off by 2⁻¹⁰⁷⁵, of which a label makes (L−1)² at most.
func TestEnumerationError(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := mustCode(t, rapid.SampledFrom([]string{"hadamard", "b1jdj", "gray", "onehot"}).Draw(t, "code"),
			rapid.IntRange(2, 8).Draw(t, "levels"))
		d := mustDecoder(t, rapid.SampledFrom([]string{"gen", "gen-ex"}).Draw(t, "decoder"), c)
		i, e := rapid.IntRange(0, c.Levels()-1).Draw(t, "row"), drawRow(t, c.Bits())
		x := must.Get(theory.NewLaw(context.Background(), math.MaxInt, c, d))(t)
		got := lawOf(t, x, c, i, e)
		number := func(x float64) *big.Float { return new(big.Float).SetPrec(1000).SetFloat64(x) }
		mean, square := number(0), number(0)
		for out := range uint64(1) << c.Bits() {
			term := number(1)
			for k, ek := range e {
				p := number(ek)
				if (c.Word(i)[0]^out)>>k&1 == 0 {
					p.Sub(number(1), p)
				}
				term.Mul(term, p)
			}
			err := number(decode.Value(d, []uint64{out}))
			err.Abs(err.Sub(err, number(float64(i+1))))
			term.Mul(term, err)
			mean.Add(mean, term)
			square.Add(square, term.Mul(term, err))
		}
		farthest := float64(c.Levels() - 1)
		tiny := number(0x1p-1074)
		tiny.Mul(tiny, number(math.Ldexp(float64(c.Bits()+2)*farthest*farthest/2, c.Bits())))
		for _, x := range []struct {
			got  float64
			want *big.Float
			sums float64 // roundings of sums
		}{{got.Mean, mean, float64(c.Bits())}, {got.MeanSquare, square, math.Ldexp(1, c.Bits())}} {
			off := number(x.got)
			off.Abs(off.Sub(off, x.want))
			limit := number((2*float64(c.Bits()) + 3.5 + x.sums) * 0x1p-53)
			if off.Cmp(limit.Mul(limit, x.want).Add(limit, tiny)) > 0 {
				t.Fatalf("%v, off by %g; want %g", x.got, off, x.want)
			}
		}
	})
}

// TestLargeTablesAgree compares bel-u's walk, whose tails are cut, with a plain recurrence that cuts
// nothing, at sizes that show what is left out. Both sides add at most M² < 2²⁰ positive terms after
// products of at most M factors: relative error below (2²⁰ + 2·1023)·2⁻⁵³ < 2e−10. TestEquations of
// cmd/belsim has bel-j.
func TestLargeTablesAgree(t *testing.T) {
	for _, width := range []float64{0.3, 4, 60} {
		for _, levels := range []int{64, 255, 700} {
			c := mustCode(t, "unary", levels)
			x := must.Get(theory.NewLaw(context.Background(), math.MaxInt, c, mustDecoder(t, "auto", c)))(t)
			for _, i := range []int{0, 1, levels / 3, levels / 2, levels - 1} {
				e := make([]float64, c.Bits())
				for k, at := range c.Transitions() {
					u := (float64(i+1) - (float64(at[0]) + 0.5)) / width
					e[k] = 0.2 * math.Exp(-u*u/2)
				}
				for range 2 { // also with other probabilities of the same size
					want, got := plainWalk(c, i, e), lawOf(t, x, c, i, e)
					what := fmt.Sprintf("%d levels, width %v, level %d", levels, width, i+1)
					must.Near(t, what+": mean", want.Mean, got.Mean, 2e-10*want.Mean)
					must.Near(t, what+": mean square", want.MeanSquare, got.MeanSquare, 2e-10*want.MeanSquare)
					slices.Reverse(e)
				}
			}
		}
	}
}

func plainWalk(c *code.Code, i int, e []float64) moments {
	m := len(e)
	p := make([]float64, 2*m+1)
	p[m] = 1
	for k, ek := range e {
		next := make([]float64, len(p))
		step := 1
		if c.Word(i)[k/64]>>(k%64)&1 == 1 {
			step = -1
		}
		for s, q := range p {
			if q != 0 {
				next[s] += q * (1 - ek)
				next[s+step] += q * ek
			}
		}
		p = next
	}
	var out moments
	for s, q := range p {
		d := math.Abs(float64(s - m))
		out.Mean += d * q
		out.MeanSquare += d * d * q
	}
	return out
}

func TestNoProbability(t *testing.T) {
	c := mustCode(t, "unary", 3)
	d := mustDecoder(t, "bel-u", c)
	for _, bad := range []float64{-1e-9, 1.5, math.NaN()} {
		e := mat.NewDense(3, 2, []float64{0, 0, 0, bad, 0, 0})
		must.Refuse(exactMeans(context.Background(), 0, c, d, cost.Cost{}, e))(t, "e[2,2] = ")
	}
	if _, err := exactMeans(context.Background(), 0, c, d, cost.Cost{}, mat.NewDense(3, 3, nil)); err == nil {
		t.Error("a table of another shape: no error")
	}
}

func TestHistogram(t *testing.T) {
	path := filepath.Join(t.TempDir(), "h.csv")
	read := func(text string) (*theory.Histogram, error) {
		must.Succeed(t, os.WriteFile(path, []byte(text), 0o600))
		return theory.ReadHistogram(path)
	}
	h := must.Get(read("label,count\n-2,1\n1,3\n"))(t)
	of := theory.Prior{Path: "h.csv", Histogram: h}
	must.Equal(t, "which label is level 1", "labels as in h.csv (-2 is level 1)", position.Count(of.String(), 1))
	p := must.Get(h.Prior(5))(t)
	want := []float64{0.25, 0, 0, 0.75, 0}
	for i := range want {
		if p[i] != want[i] {
			t.Errorf("prior %v, want %v", p, want)
			break
		}
	}
	if _, err := h.Prior(3); err == nil {
		t.Error("four labels fitted three levels")
	}
	for in, complaint := range map[string]string{
		"":                          "empty file",
		"label,count\n":             "no rows",
		"1,2\n":                     "want the header label,count",
		"label,count\n1\n":          "line 2 has 1 column,",
		"label,count\n1,2,3\n":      "line 2 has 3 columns",
		"label,count\n1.5,2\n":      "row 2, column 1: label 1.5 is not an integer",
		"label,count\n1e99,2\n":     "label 1e+99 is not an integer",
		"label,count\n1,x\n":        `line 2, column 2: "x"`,
		"label,count\n1,-1\n":       "row 2, column 2: count -1",
		"label,count\n1,NaN\n":      `column 2: "NaN"`,
		"label,count\n1,2\n1,3\n":   "row 3, column 1: label 1 occurs a second time",
		"label,count\n1,0\n":        "add up to 0",
		"label,count\n1,1\n65537,1": "labels span 1 to 65537, more than 65536 levels",
	} {
		if _, err := read(in); err == nil || !strings.Contains(must.Text(err), complaint) ||
			!strings.HasPrefix(must.Text(err), path+": ") {
			t.Errorf("%q: error %v, want one about %q", in, err, complaint)
		}
	}
}

func FuzzReadHistogram(f *testing.F) {
	f.Add("label,count\n-2,1\n1,3\n")
	f.Add("\ufefflabel,count\r\n\"1\",1e3\r\n")
	f.Fuzz(func(t *testing.T, in string) {
		path := filepath.Join(t.TempDir(), "h.csv")
		must.Succeed(t, os.WriteFile(path, []byte(in), 0o600))
		h, err := theory.ReadHistogram(path)
		if err != nil {
			return
		}
		p := must.Get(h.Prior(len(h.Counts)))(t)
		sum := 0.0
		for _, v := range p {
			if !(v >= 0 && v <= 1) {
				t.Fatalf("prior %v", v)
			}
			sum += v
		}
		if math.Abs(sum-1) > 1e-9 {
			t.Fatalf("prior adds up to %v", sum)
		}
	})
}

// TestSoftBound: with two levels the union bound is the probability itself: the
// logits' difference is normal, with the variance 2.
func TestSoftBound(t *testing.T) {
	c := must.Get(code.FromMatrix("mine", mat.NewDense(2, 3, []float64{0, 1, 1, 1, 0, 1})))(t)
	e := mat.NewDense(2, 3, []float64{0.1, 0.2, 0.5, 0.3, 0.4, 0.5})
	quantile := func(p float64) float64 { return math.Sqrt2 * math.Erfinv(1-2*p) }
	bound := must.Get(theory.NewSoftBound(c, mustDecoder(t, "gen", c), cost.Cost{}))(t)
	for i := range 2 {
		got := must.Get(bound.Row(t.Context(), i, e.RawRowView(i)))(t)
		want := math.Erfc((quantile(e.At(i, 0))+quantile(e.At(i, 1)))/2) / 2
		must.Near(t, fmt.Sprintf("level %d", i+1), want, got, 1e-14)
	}
	if _, err := theory.NewSoftBound(c, mustDecoder(t, "gen-ex", c), cost.Cost{}); err == nil {
		t.Error("gen-ex has a bound")
	}
}

// TestShort: the short ways to the means of a mixture, windows of one sequence and mirror images, give what
// its table gives, level by level: for any r and σ to 1e-13 of it.
func TestShort(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.SampledFrom([]string{"unary", "johnson", "johnson-nonzero"}).Draw(t, "code")
		c := mustCode(t, name, rapid.IntRange(2, 90).Draw(t, "levels"))
		d := mustDecoder(t, "auto", c)
		sigma := math.Exp(rapid.Float64Range(-3, 5).Draw(t, "ln σ"))
		p := must.Get(errmodel.NewProfile(t.Context(), c, c.Transitions(), sigma))(t)
		r := min(p.MaxR(), 1e3) * math.Exp(-math.Abs(rapid.Float64Range(-9, 9).Draw(t, "ln r")))
		e := must.Get(p.Mixture(r))(t)
		table, bound := mat.DenseCopyOf(e), must.Get(theory.NewBound(c, d, cost.Cost{}))(t)
		means := must.Get(exactMeans(t.Context(), 1, c, d, cost.Cost{}, e))(t)
		want := must.Get(exactMeans(t.Context(), 1, c, d, cost.Cost{}, table))(t)
		bounds := bound.OfTable(e, nil)
		weights := make([]float64, c.Levels())
		for i := range weights {
			weights[i] = rapid.Float64Range(0.1, 1).Draw(t, "weight")
		}
		folded := theory.Fold(d, e, weights)
		sums := [2]float64{}
		for i, w := range weights {
			sums[0] += w * want[i]
			sums[1] += folded[i] * want[i]
			near := func(what string, got, want float64) {
				if math.Abs(got-want) > 1e-13*want {
					t.Fatalf("%s, %d levels, r = %v, σ = %v, level %d: %s %v, want %v", name, c.Levels(), r, sigma, i+1, what,
						got, want)
				}
			}
			near("mean", means[i], want[i])
			if bounds != nil {
				near("bound", bounds[i], must.Get(bound.Row(t.Context(), i, table.RawRowView(i)))(t))
			}
		}
		if math.Abs(sums[0]-sums[1]) > 1e-13*sums[0] {
			t.Fatalf("%s, %d levels, r = %v, σ = %v: %v folded, want %v", name, c.Levels(), r, sigma, sums[1], sums[0])
		}
	})
}

// meanCost is the exact mean cost of a decoder over a prior.
func meanCost(t *testing.T, c *code.Code, d decode.Decoder, prior []float64, e mat.Matrix, of cost.Cost) float64 {
	t.Helper()
	means := must.Get(exactMeans(context.Background(), 2, c, d, of, e))(t)
	sum := 0.0
	for i, m := range means {
		sum += prior[i] * m
	}
	return sum
}

// TestLeast: no decoder of bits has a smaller mean cost than the best one, for random codes, priors
// and error probabilities, some of them 0 or 1, and costs on a line and a circle. Answers are
// levels, but for squares on a line.
func TestLeast(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 18))
	better := 0
	for round := range 240 {
		bits := 2 + rng.IntN(6)
		levels := 2 + rng.IntN(min(20, 1<<bits)-1)
		m, e := mat.NewDense(levels, bits, nil), mat.NewDense(levels, bits, nil)
		prior, total := make([]float64, levels), 0.0
		for i, w := range rng.Perm(1 << bits)[:levels] {
			prior[i] = rng.ExpFloat64()
			total += prior[i]
			for k := range bits {
				m.Set(i, k, float64(w>>k&1))
				e.Set(i, k, min(1, max(0, 1.2*rng.Float64()*rng.Float64()-0.1)))
			}
		}
		for i := range prior {
			prior[i] /= total
		}
		circular := round%2 == 1
		c := must.Get(code.FromMatrix("random", m))(t).OnCircle(circular)
		of := must.Get(cost.Parse([]string{"absolute", "squared", "zero-one", "beyond:1"}[round/2%4], levels, circular))(t)
		best := must.Get(decode.New(decode.Best, c))(t).(decode.Informed)
		d := must.Get(best.Inform(decode.Model{Prior: prior, Errors: e, Rule: of.Rule(), Cost: of.Of}))(t)
		risk := meanCost(t, c, d, prior, e, of)
		for _, name := range decode.Names() {
			other, err := decode.New(name, c)
			if err != nil || decode.Real(other) && !(of.Name() == "squared" && !circular) {
				continue
			}
			if i, ok := other.(decode.Informed); ok { // made for |error|
				other = must.Get(i.Inform(decode.Model{Prior: prior, Errors: e}))(t)
			}
			got := meanCost(t, c, other, prior, e, of)
			if got < risk-1e-9 {
				t.Fatalf("%s, %s: %v, below the Bayes risk %v", name, of, got, risk)
			}
			if got > risk+1e-9 {
				better++
			}
		}
	}
	if better < 250 { // of gen and the median, in 240 cases each
		t.Errorf("the best decoder is better than another one in %d cases only", better)
	}
}

// TestLossWeights: they are those of their definition, 1 for unary, and no answer of gen to any logits
// costs more than the bound, under costs of several kinds.
func TestLossWeights(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for _, f := range code.Families() {
		c, err := code.New(f.Name, 16)
		if err != nil {
			continue
		}
		levels, m := c.Dims()
		gen := must.Get(decode.New("gen", c))(t).(decode.LogitDecoder)
		for at, of := range []cost.Cost{{}, cost.Cost{}.Squared(), cost.Circular(levels),
			cost.OfValues(code.Values{0, 1, 3, 4, 5, 7, 8, 9, 10, 12, 20, 21, 22, 30, 31, 40})} {
			w := theory.LossWeights(c, of)
			for i := range levels {
				for k := range m {
					want := 0.0
					for j := range levels {
						if c.Bit(i, k) != c.Bit(j, k) {
							want = max(want, of.Of(i+1, float64(j+1))/float64(c.Distance(i, j)))
						}
					}
					if w.At(i, k) != want || f.Name == "unary" && at == 0 && want != 1 {
						t.Fatalf("%s, %s: w[%d,%d] = %v, want %v", f.Name, of.Name(), i, k, w.At(i, k), want)
					}
				}
			}
			for range 2000 {
				i, tau, z := rng.IntN(levels), math.Exp(rng.NormFloat64()), make([]float64, m)
				bound, size := 0.0, math.Exp(2*rng.NormFloat64())
				for k := range z {
					z[k] = size * rng.NormFloat64()
					if c.Bit(i, k) {
						z[k] += size
					}
					u := z[k]
					if !c.Bit(i, k) {
						u = -u
					}
					bound += w.At(i, k) * math.Log2(1+math.Exp(-tau*u))
				}
				if paid := of.Of(i+1, gen.DecodeLogits(z)); paid > bound*(1+1e-12) {
					t.Fatalf("%s, %s: level %d costs %v, above the bound of %v", f.Name, of.Name(), i+1, paid, bound)
				}
			}
		}
	}
}

// exactMeans are the exact mean costs of all levels.
func exactMeans(ctx context.Context, workers int, c *code.Code, d decode.Decoder, of cost.Cost, e mat.Matrix) ([]float64,
	error) {
	x, err := theory.NewLaw(ctx, math.MaxInt, c, d)
	if err != nil {
		return nil, err
	}
	return x.Means(ctx, workers, nil, e, of)
}
