package decode_test

import (
	"errors"
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp/cmpopts"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"

	"belsim/theory/base/must"
	"belsim/theory/code"
	"belsim/theory/decode"
)

func mustNew(tb must.TB, name string, levels int) *code.Code {
	return must.Get(code.New(name, levels))(tb)
}

// TestCodeWords: every decoder that fits gives every code word its own level.
func TestCodeWords(t *testing.T) {
	for _, f := range code.Families() {
		for _, levels := range []int{2, 3, 7, 64, 100, 255, 256, 301} {
			c := mustNew(t, f.Name, levels)
			for _, name := range append(decode.Names(), decode.Auto) {
				if name == "gen-ex" {
					continue // an expectation: it pulls towards the middle
				}
				if e, _ := decode.Builtin().Lookup(name); e.Informed && levels > 100 {
					continue // slow
				}
				d, err := decode.New(name, c)
				if errors.Is(err, decode.ErrUnfit) {
					continue
				}
				must.Succeed(t, err)
				lo, hi := decode.Range(c, d)
				for i := range levels {
					if got := d.Decode(c.Word(i)); got != i+1 {
						t.Fatalf("%s of %d levels, %s: word of level %d is decoded to %d", f.Name, levels, d.Name(),
							i+1, got)
					}
				}
				if lo > 1 || hi < levels {
					t.Errorf("%s of %d levels, %s: range %d to %d", f.Name, levels, d.Name(), lo, hi)
				}
			}
		}
	}
}

// bits unpacks a drawn word.
func drawWord(t *rapid.T, m int) (word []uint64, bit func(k int) int) {
	word = make([]uint64, (m+63)/64)
	values := make([]int, m+1)
	p := rapid.IntRange(0, 4).Draw(t, "ones in four")
	for k := 1; k <= m; k++ {
		if rapid.IntRange(0, 3).Draw(t, "bit") < p {
			values[k] = 1
			word[(k-1)/64] |= 1 << ((k - 1) % 64)
		}
	}
	return word, func(k int) int { return values[k] }
}

// TestPrinted compares with Eq. 1, 14 and 5 as they are printed.
func TestPrinted(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		levels := rapid.IntRange(2, 300).Draw(t, "levels")
		name := rapid.SampledFrom([]string{"unary", "johnson", "johnson-nonzero"}).Draw(t, "code")
		c := mustNew(t, name, levels)
		d := must.Get(decode.New(decode.Auto, c))(t)
		m := c.Bits()
		word, b := drawWord(t, m)
		ones, last, first := 0, 0, 0
		for k := 1; k <= m; k++ {
			ones += b(k)
			last = max(last, k*b(k))
			first = max(first, (m-k+1)*b(k))
		}
		want := -last + first + m // Tl + Tf + Tc
		switch {
		case name == "unary":
			want = ones + 1
		case name == "johnson" && ones == 0:
			want = 1
		case name == "johnson":
			want++
		}
		got := d.Decode(word)
		if got != want {
			t.Fatalf("%s, M = %d, word %x: level %d, want %d", name, m, word, got, want)
		}
		if lo, hi := decode.Range(c, d); got < lo || got > hi {
			t.Fatalf("level %d outside the range %d to %d", got, lo, hi)
		}
	})
}

// TestGen compares with the largest correlation of ±1 words, the lowest level
// of several.
func TestGen(t *testing.T) {
	families := code.Families()
	rapid.Check(t, func(t *rapid.T) {
		c := mustNew(t, families[rapid.IntRange(0, len(families)-1).Draw(t, "family")].Name,
			rapid.IntRange(2, 80).Draw(t, "levels"))
		d := must.Get(decode.New("gen", c))(t)
		word, b := drawWord(t, c.Bits())
		best, largest := 0, -c.Bits()-1
		for i := range c.Levels() {
			correlation := 0
			for k := 1; k <= c.Bits(); k++ {
				correlation += (2*b(k) - 1) * int(2*c.At(i, k-1)-1)
			}
			if correlation > largest {
				best, largest = i+1, correlation
			}
		}
		if got := d.Decode(word); got != best {
			t.Fatalf("%s: level %d, want %d", c.Name(), got, best)
		}
	})
}

// TestFit: what counts is the matrix, not the name.
func TestFit(t *testing.T) {
	as := func(c *code.Code, more int) *code.Code {
		m := mat.NewDense(c.Levels(), c.Bits()+more, nil)
		m.Slice(0, c.Levels(), 0, c.Bits()).(*mat.Dense).Copy(c)
		return must.Get(code.FromMatrix("mine.csv", m))(t)
	}
	circles := must.Get(code.OpenAll([]string{"johnson", "unary"}, code.Sizes{Levels: 70, Circular: true}))(t)
	for _, tt := range []struct {
		code *code.Code
		auto string
	}{
		{mustNew(t, "unary", 70), "bel-u"},
		{mustNew(t, "unary", 2), "bel-u"},
		{mustNew(t, "johnson", 2), "bel-j"},
		{mustNew(t, "johnson", 70), "bel-j"},
		{mustNew(t, "johnson-nonzero", 71), "bel-j"},
		{mustNew(t, "b1jdj", 70), "gen"},
		{mustNew(t, "gray", 4), "bel-j"}, // the same matrix as johnson of 4 levels
		{as(mustNew(t, "unary", 70), 0), "bel-u"},
		{as(mustNew(t, "unary", 70), 1), "bel-u"}, // a last column that is always zero
		{as(mustNew(t, "johnson", 70), 0), "bel-j"},
		{as(mustNew(t, "johnson-nonzero", 70), 0), "bel-j"},
		{as(mustNew(t, "johnson", 70), 1), "gen"},
		{circles[0], "gen"},
		{circles[1], "gen"},
	} {
		d, err := decode.New(decode.Auto, tt.code)
		if err != nil || d.Name() != tt.auto {
			t.Errorf("%s of %d levels: %v, %v, want %s", tt.code.Name(), tt.code.Levels(), d, err, tt.auto)
		}
	}
	for _, name := range []string{"bel-u", "bel-j"} {
		if _, err := decode.New(name, mustNew(t, "hexj", 40)); !errors.Is(err, decode.ErrUnfit) {
			t.Errorf("%s on hexj: error %v, want ErrUnfit", name, err)
		}
	}
	if _, err := decode.New("argmax", mustNew(t, "hexj", 40)); err == nil || errors.Is(err, decode.ErrUnfit) {
		t.Errorf("an unknown decoder: error %v", err)
	}
}

// TestSoftDecoders: correlations by hand, ties to the lowest level, and no overflow.
func TestSoftDecoders(t *testing.T) {
	c := mustNew(t, "unary", 3) // 00, 10, 11
	d := must.Get(decode.New("gen", c))(t)
	gen := d.(decode.Gen)
	for _, tt := range []struct {
		z    [2]float64
		want int
	}{{[2]float64{-1, -1}, 1}, {[2]float64{1, -2}, 2}, {[2]float64{1, 2}, 3}, {[2]float64{-1, 2}, 3}, {[2]float64{0, 0},
		1}, {[2]float64{1, 0}, 2}} {
		if got := gen.DecodeLogits(tt.z[:]); got != float64(tt.want) {
			t.Errorf("gen of %v: %v, want %d", tt.z, got, tt.want)
		}
	}
	ex := must.Get(decode.NewGenEx(c, 2))(t)
	// Correlations 0, 0.5, 0.5+1; times τ = 2.
	w := []float64{1, math.Exp(1), math.Exp(3)}
	want := (w[0] + 2*w[1] + 3*w[2]) / (w[0] + w[1] + w[2])
	must.Near(t, "gen-ex", want, ex.DecodeLogits([]float64{0.5, 1}), 1e-15*4)
	for _, z := range [][]float64{{1e4, 1e4}, {-1e4, -1e4}, {1e4, -1e4}, {1e300, 1e300}} {
		want := gen.DecodeLogits(z)
		must.Near(t, fmt.Sprintf("gen-ex of %v", z), want, ex.DecodeLogits(z), 1e-9)
	}
	for _, tau := range []float64{1e300, math.MaxFloat64} { // only the largest correlation counts
		hot := must.Get(decode.NewGenEx(c, tau))(t)
		for _, z := range [][]float64{{1e10, 1e10}, {-1e10, -1e10}, {1e10, -1e10}, {100, 200}} {
			if got, want := hot.DecodeLogits(z), gen.DecodeLogits(z); got != want {
				t.Errorf("gen-ex of %v with τ = %g: %v, want %v", z, tau, got, want)
			}
		}
	}
	negative := must.Get(code.FromReal("negative", mat.NewDense(2, 1, []float64{-3, -2})))(t)
	hot := must.Get(decode.NewGenEx(negative, math.MaxFloat64))(t)
	if got := hot.DecodeLogits([]float64{1}); got != 2 {
		t.Errorf("gen-ex with every correlation below zero: %v, want 2", got)
	}
	for _, tau := range []float64{0, -1, math.NaN(), math.Inf(1)} {
		if _, err := decode.NewGenEx(c, tau); err == nil {
			t.Errorf("temperature %v is accepted", tau)
		}
	}
	real := must.Get(code.FromReal("real", mat.NewDense(2, 1, []float64{0.5, 2})))(t)
	for _, name := range []string{"bel-u", "bel-j"} {
		if _, err := decode.New(name, real); !errors.Is(err, decode.ErrUnfit) {
			t.Errorf("%s on a code of real numbers: %v", name, err)
		}
	}
}

// TestMeanLogit: a normal number of that mean and variance 1 is negative with probability
// e, as the complementary error function has it.
func TestMeanLogit(t *testing.T) {
	for _, e := range []float64{decode.SmallestError, 1e-6, 0.1, 0.4, 0.5, 0.9, 1 - 1e-6} {
		mean := decode.MeanLogit(e)
		must.Near(t, fmt.Sprintf("e = %v: probability that a logit of mean %v is wrong", e, mean), e, math.Erfc(mean/math.Sqrt2)/2,
			1e-14+1e-12*e)
	}
	// Bits that are certain have finite means, which are the largest.
	for e, want := range map[float64]float64{0: decode.MeanLogit(decode.SmallestError), 0.5: 0,
		1: decode.MeanLogit(1 - decode.SmallestError)} {
		must.Equal(t, fmt.Sprintf("the mean for e = %v", e), want, decode.MeanLogit(e))
	}
}

// TestRules: labels by hand; ties go to the lowest level, also where rounding made the scores
// differ, and −Inf is impossible.
func TestRules(t *testing.T) {
	inf := math.Inf(-1)
	log := math.Log
	for _, tt := range []struct {
		scores            []float64
		values            []float64
		most, half, mean_ float64
	}{
		{[]float64{0, 0, 0}, nil, 1, 2, 2},
		{[]float64{log(0.2), log(0.5), log(0.3)}, nil, 2, 2, 2.1},
		{[]float64{log(0.4), log(0.25), log(0.35)}, nil, 1, 2, 1.95},
		{[]float64{log(0.5), log(0.5)}, nil, 1, 1, 1.5},
		{[]float64{1, 1 + 0.9e-9}, nil, 1, 1, 1.5}, {[]float64{1, 1 + 1.1e-9}, nil, 2, 1, 1.5},
		{[]float64{0, -44.9}, []float64{0, 1e19}, 0, 0, 1e19 * math.Exp(-44.9)}, {[]float64{0, -45.1},
			[]float64{0, 1e19}, 0, 0, 0},
		{[]float64{inf, 3, inf}, nil, 2, 2, 2},
		{[]float64{-2000, -1000, -1000}, nil, 2, 2, 2.5},
		{[]float64{1e6, 1e6 - 700}, nil, 1, 1, 1},
		{[]float64{log(0.4), log(0.25), log(0.35)}, []float64{-5, 10, 11.5}, -5, 10, 4.525},
	} {
		for _, r := range []struct {
			rule decode.Rule
			want float64
		}{{decode.MAP, tt.most}, {decode.Median, tt.half}, {decode.Mean, tt.mean_}} {
			scores := append([]float64(nil), tt.scores...)
			must.Near(t, fmt.Sprintf("%s of %v, labels %v", r.rule, tt.scores, tt.values),
				r.want, r.rule.Label(scores, tt.values, nil), 1e-9)
		}
	}
}

// parity has nothing but what a decoder must have: the number of ones modulo L.
type parity struct{ levels int }

func (parity) Name() string { return "parity" }

func (p parity) Decode(word []uint64) int {
	n := 0
	for _, w := range word {
		n += bits.OnesCount64(w)
	}
	return n%p.levels + 1
}

func parityEntry(rank int) decode.Entry {
	return decode.Entry{
		Name: "parity",
		Auto: func(*code.Code) int { return rank },
		New: func(c *code.Code, _ decode.Options) (decode.Decoder, error) {
			return parity{c.Levels()}, nil
		},
	}
}

func realCode(t *testing.T) *code.Code {
	return must.Get(code.FromReal("real", mat.NewDense(3, 2, []float64{0.5, 2, -1, 0.25, 3, 1})))(t)
}

// TestEntries: what an entry says of its decoder is true, and what a decoder says of
// itself holds.
func TestEntries(t *testing.T) {
	codes := []*code.Code{realCode(t)}
	for _, f := range code.Families() {
		codes = append(codes, mustNew(t, f.Name, 9))
	}
	for _, e := range decode.Builtin() {
		fits := 0
		for _, c := range codes {
			d, err := decode.Builtin().New(e.Name, c, decode.Options{Temperature: 2})
			if c.Real() && !e.RealCodes && !errors.Is(err, decode.ErrUnfit) {
				t.Errorf("%s on a code of real numbers, which its entry says it cannot read: %v", e.Name, err)
			}
			if errors.Is(err, decode.ErrUnfit) {
				continue
			}
			must.Succeed(t, err)
			fits++
			h, tempered := d.(decode.Tempered)
			_, informed := d.(decode.Informed)
			want := e
			want.Name, want.Logits, want.Informed = d.Name(), decode.ReadsLogits(d), informed
			must.Equal(t, "entry of "+d.Name(), want, e, cmpopts.IgnoreFields(decode.Entry{}, "New", "Auto"))
			if tempered {
				other, err := h.AtTemperature(3)
				if err != nil || h.Temperature() != 2 || other.(decode.Tempered).Temperature() != 3 {
					t.Errorf("%s: temperature %v, another %v, %v", e.Name, h.Temperature(), other, err)
				}
			}
			correlations := make([]float64, c.Levels())
			z := make([]float64, c.Bits())
			lo, hi := decode.Range(c, d)
			step := uint64(1)
			if c.Bits() > 12 { // some of 2¹⁶ words are enough
				step = 7
			}
			if e.Informed && c.Bits() > 12 {
				step = 61
			}
			for w := uint64(0); w < 1<<c.Bits(); w += step {
				word := []uint64{w}
				got := d.Decode(word)
				value := decode.Value(d, word)
				if got < lo || got > hi || got != int(math.Round(value)) || !decode.Real(d) &&
					value != math.Round(value) {
					t.Fatalf("%s of %s, word %b: level %d, value %v, range %d to %d", e.Name, c.Name(), w, got, value,
						lo, hi)
				}
				for k := range z {
					z[k] = float64(w>>k&1)*2 - 1
				}
				if l, ok := d.(decode.LogitDecoder); ok && l.DecodeLogits(z) != value {
					// Sums of real numbers may differ in rounding alone.
					t.Fatalf("%s of %s, word %b: %v from ±1, %v from the word", e.Name, c.Name(), w, l.DecodeLogits(z),
						value)
				}
				if x, ok := d.(decode.Correlator); ok {
					decode.NewCorrelations(c).To(correlations, z)
					if got := x.FromCorrelations(correlations); math.Abs(got-value) > 1e-12 {
						t.Fatalf("%s of %s, word %b: %v from correlations, want %v", e.Name, c.Name(), w, got, value)
					}
				}
			}
		}
		if fits == 0 {
			t.Errorf("%s fits no code", e.Name)
		}
	}
}

// TestRegistry: a registry is a value to which a decoder can be appended, and the
// decoders of the package do not change.
func TestRegistry(t *testing.T) {
	r := append(decode.Builtin(), parityEntry(0))
	c := mustNew(t, "hexj", 40)
	d := must.Get(r.New("parity", c, decode.Options{}))(t)
	if lo, hi := decode.Range(c, d); lo != 1 || hi != 40 {
		t.Errorf("range %d to %d without a method Range, want 1 to 40", lo, hi)
	}
	must.Equal(t, "names", append(decode.Names(), "parity"), r.Names())
	if _, err := decode.New("parity", c); err == nil {
		t.Error("the decoders of the package hold what was appended to a copy")
	}
	for rank, want := range map[int]string{0: "gen", 9: "parity"} {
		auto := must.Get(append(decode.Builtin(), parityEntry(rank)).New(decode.Auto, c, decode.Options{}))(t)
		must.Equal(t, "auto", want, auto.Name())
	}
	// Auto passes over what does not fit, and says so when nothing is left.
	for name, from := range map[string]decode.Registry{decode.Auto: {parityEntry(9)}, "parity": r} {
		if _, err := from.New(name, realCode(t), decode.Options{}); !errors.Is(err, decode.ErrUnfit) {
			t.Errorf("%s for a code of real numbers: %v", name, err)
		}
	}
	if _, err := (decode.Registry{parityEntry(0)}).New(decode.Auto, c, decode.Options{}); err == nil {
		t.Error("auto takes a decoder of rank 0")
	}
	must.Equal(t, "auto of those that read logits", "gen",
		must.Get(r.ReadingLogits().New(decode.Auto, mustNew(t, "unary", 9), decode.Options{}))(t).Name())
	for give, want := range map[float64]float64{0: 1, 3: 3} { // 1 unless given
		must.Equal(t, "temperature", want,
			must.Get(r.New("gen-ex", c, decode.Options{Temperature: give}))(t).(decode.Tempered).Temperature())
	}
	if _, err := r.New("gen-ex", c, decode.Options{Temperature: -1}); err == nil || errors.Is(err, decode.ErrUnfit) {
		t.Errorf("temperature −1: %v", err)
	}
}

// randomCode has distinct random words.
func randomCode(t *testing.T, rng *rand.Rand, levels, bits int) *code.Code {
	t.Helper()
	m := mat.NewDense(levels, bits, nil)
	for i, w := range rng.Perm(1 << bits)[:levels] {
		for k := range bits {
			m.Set(i, k, float64(w>>k&1))
		}
	}
	return must.Get(code.FromMatrix("random", m))(t)
}

// randomTable has error probabilities among which some are 0, and some 1.
func randomTable(rng *rand.Rand, levels, bits int, certain float64) *mat.Dense {
	e := mat.NewDense(levels, bits, nil)
	for i := range levels {
		for k := range bits {
			switch v := rng.Float64(); {
			case v < certain:
				e.Set(i, k, 0)
			case v < 1.2*certain:
				e.Set(i, k, 1)
			default:
				e.Set(i, k, rng.Float64())
			}
		}
	}
	return e
}

// halve is the median of probabilities, and how close the level next to it was.
func halve(p []float64) (label, margin float64) {
	total, below := floats.Sum(p), 0.0
	margin = 1
	for i, v := range p {
		below += v / total
		margin = min(margin, math.Abs(below-0.5))
		if label == 0 && below >= 0.5 {
			label = float64(i + 1)
		}
	}
	return label, margin
}

// TestPosteriorOfBits compares with products of probabilities; an output that is impossible leaves
// the levels of which the fewest bits are.
func TestPosteriorOfBits(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	impossible := 0
	for round := range 40 {
		levels, bits := 2+rng.IntN(12), 4+rng.IntN(4)
		c := randomCode(t, rng, levels, bits)
		e := randomTable(rng, levels, bits, float64(round%4)/4)
		prior := make([]float64, levels)
		for i := range prior {
			prior[i] = max(0, rng.Float64()-0.1)
		}
		prior[rng.IntN(levels)] = 1
		d := must.Get(decode.NewPosterior(c, decode.Model{Prior: prior, Errors: e}))(t)
		z := make([]float64, bits)
		for w := range uint64(1) << bits {
			p, missing := make([]float64, levels), make([]int, levels)
			least := bits + 1
			for i := range p {
				p[i] = prior[i]
				for k := range bits {
					right := w>>k&1 == 1 == c.Bit(i, k)
					switch v := e.At(i, k); {
					case right && v == 1 || !right && v == 0:
						missing[i]++
					case right:
						p[i] *= 1 - v
					default:
						p[i] *= v
					}
				}
				if prior[i] > 0 {
					least = min(least, missing[i])
				}
			}
			for i := range p {
				if missing[i] > least {
					p[i] = 0
				}
			}
			if least > 0 {
				impossible++
			}
			want, margin := halve(p)
			got := decode.Value(d, []uint64{w})
			if margin > 1e-8 && math.Abs(got-want) > 1e-9 {
				t.Fatalf("word %b: %v, want %v (posterior %v)", w, got, want, p)
			}
			for k := range z {
				z[k] = (float64(w>>k&1)*2 - 1) * (0.5 + rng.Float64())
			}
			if soft := d.DecodeLogits(z); soft != got {
				t.Fatalf("the signs of %v: %v, want %v", z, soft, got)
			}
		}
	}
	if impossible == 0 {
		t.Error("no output was impossible")
	}
}

// TestPosteriorOfLogits compares with products of normal densities.
func TestPosteriorOfLogits(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for range 40 {
		levels, bits := 2+rng.IntN(12), 4+rng.IntN(4)
		c, e := randomCode(t, rng, levels, bits), randomTable(rng, levels, bits, 0.1)
		d := must.Get(decode.NewPosterior(c, decode.Model{Logits: true, Errors: e}))(t)
		for range 50 {
			z, from := make([]float64, bits), rng.IntN(levels)
			scores := make([]float64, levels)
			for k := range z {
				mean := func(i int) float64 {
					return (2*c.Value(i, k) - 1) * decode.MeanLogit(e.At(i, k))
				}
				z[k] = mean(from) + rng.NormFloat64()
				for i := range scores {
					scores[i] -= (z[k] - mean(i)) * (z[k] - mean(i)) / 2
				}
			}
			p := make([]float64, levels)
			for i, s := range scores {
				p[i] = math.Exp(s - scores[from])
			}
			want, margin := halve(p)
			if got := d.DecodeLogits(z); margin > 1e-8 && math.Abs(got-want) > 1e-8 {
				t.Fatalf("%v, want %v", got, want)
			}
		}
	}
}

// TestPosteriorRefusals: what is no model is refused.
func TestPosteriorRefusals(t *testing.T) {
	c := mustNew(t, "gray", 4)
	for name, m := range map[string]decode.Model{
		"a prior of 3 levels":   {Prior: []float64{1, 1, 1}},
		"a negative prior":      {Prior: []float64{1, -1, 1, 1}},
		"a prior of zeros":      {Prior: make([]float64, 4)},
		"a prior that is NaN":   {Prior: []float64{1, math.NaN(), 1, 1}},
		"a table of one bit":    {Errors: mat.NewDense(4, 1, nil)},
		"a probability above 1": {Errors: mat.NewDense(4, 2, []float64{0, 0, 0, 2, 0, 0, 0, 0})},
		"a NaN":                 {Errors: mat.NewDense(4, 2, []float64{0, 0, 0, math.NaN(), 0, 0, 0, 0}), Logits: true},
	} {
		if _, err := decode.NewPosterior(c, m); err == nil {
			t.Errorf("%s is accepted", name)
		}
	}
	if _, err := decode.NewPosterior(realCode(t), decode.Model{}); !errors.Is(err, decode.ErrUnfit) {
		t.Errorf("a code of real numbers: %v", err)
	}
}

// posterior is P(n) ∝ Π_k p_k^C[n,k]·(1−p_k)^(1−C[n,k]), in logarithms.
func posterior(c *code.Code, z []float64) []float64 {
	p := make([]float64, c.Levels())
	for i := range p {
		for k, v := range z {
			v *= 2*c.Value(i, k) - 1
			p[i] -= math.Max(-v, 0) + math.Log1p(math.Exp(-math.Abs(v)))
		}
	}
	floats.AddConst(-floats.LogSumExp(p), p)
	for i, v := range p {
		p[i] = math.Exp(v)
	}
	return p
}

// isotonic is the nearest descending sequence by the formula of minima and maxima of means.
func isotonic(v []float64) []float64 {
	out := make([]float64, len(v))
	for k := range v {
		least := math.Inf(1)
		for i := range k + 1 {
			most := math.Inf(-1)
			for j := k; j < len(v); j++ {
				most = max(most, floats.Sum(v[i:j+1])/float64(j+1-i))
			}
			least = min(least, most)
		}
		out[k] = least
	}
	return out
}

// TestDistribution: probabilities of 20 codes and 1,000 outputs each are 0 or more, add up to 1, are
// those of bits that err by themselves, and of unary descend as little from the sigmoids as they can.
// Sums of up to 60 terms, each rounded to 2⁻⁵³ of itself, are near 1e-14.
func TestDistribution(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	codes := 0
	for _, f := range code.Families() {
		for _, levels := range []int{8, 16, 32} {
			c, err := code.New(f.Name, levels)
			if err != nil {
				continue
			}
			codes++
			gen := must.Get(decode.NewGenEx(c, 1))(t)
			all := []decode.Decoder{gen}
			if u, err := decode.New("bel-u", c); err == nil {
				all = append(all, u)
			}
			correlations, p, of := decode.NewCorrelations(c), make([]float64, levels), make([]float64, levels)
			for range 1000 {
				z, size := make([]float64, c.Bits()), math.Exp(2*rng.NormFloat64())
				for k := range z {
					z[k] = size * rng.NormFloat64()
				}
				for _, by := range all {
					d, ok := decode.NewDistribution(c, by)
					if !ok || d.Decoder() != by.Name() {
						t.Fatalf("%s: no distribution of %s", f.Name, by.Name())
					}
					d.To(p, z, func(by decode.GenEx) ([]float64, float64) {
						total, _ := by.Weigh(of, of, of[correlations.To(of, z)], decode.Exp)
						return of, total
					})
					want := posterior(c, z)
					if by != decode.Decoder(gen) {
						above := make([]float64, len(z))
						for k, v := range z {
							above[k] = 1 / (1 + math.Exp(-v))
						}
						above = isotonic(above)
						for i := range want {
							want[i] = 1
							if i > 0 {
								want[i] = above[i-1]
							}
							if i < len(above) {
								want[i] -= above[i]
							}
						}
					}
					if floats.Min(p) < 0 || math.Abs(floats.Sum(p)-1) > 1e-10 || !floats.EqualApprox(p, want, 1e-10) {
						t.Fatalf("%s, %d levels, %s: %v, want %v", f.Name, levels, by.Name(), p, want)
					}
					for _, q := range []float64{0.05, 0.5, 0.9} {
						row := decode.Quantile(p, q)
						if upto := floats.Sum(p[:row+1]); upto < q-1e-8 || row > 0 && upto-p[row] > q+1e-8 {
							t.Fatalf("%s: quantile %v is row %d of %v", f.Name, q, row, p)
						}
					}
				}
			}
		}
	}
	if codes < 20 {
		t.Errorf("%d codes", codes)
	}
	c := must.Get(code.FromMatrix("two", mat.NewDense(2, 2, []float64{0, 0, 1, 0})))(t)
	for _, name := range []string{"gen", "bel-u"} { // a unary code with a column more
		if _, ok := decode.NewDistribution(c, must.Get(decode.New(name, c))(t)); ok {
			t.Errorf("%s has a distribution", name)
		}
	}
}
