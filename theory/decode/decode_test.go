package decode_test

import (
	"errors"
	"fmt"
	"math"
	"math/bits"
	"testing"

	"github.com/google/go-cmp/cmp/cmpopts"
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
	if got := ex.DecodeLogits([]float64{0.5, 1}); math.Abs(got-want) > 1e-15*4 {
		t.Errorf("gen-ex: %v, want %v", got, want)
	}
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
		if got := math.Erfc(mean/math.Sqrt2) / 2; math.Abs(got-e) > 1e-14+1e-12*e {
			t.Errorf("e = %v: a logit of mean %v is wrong with probability %v", e, mean, got)
		}
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
