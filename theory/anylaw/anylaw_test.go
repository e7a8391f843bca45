package anylaw_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"gonum.org/v1/gonum/mat"

	"belsim/errmodel"
	"belsim/theory"
	"belsim/theory/anylaw"
	"belsim/theory/base/must"
	"belsim/theory/code"
	"belsim/theory/cost"
	"belsim/theory/decode"
)

func subject(tb testing.TB, name, decoder string, levels int) (*code.Code, decode.Decoder) {
	tb.Helper()
	c := must.Get(code.New(name, levels))(tb)
	return c, must.Get(decode.New(decoder, c))(tb)
}

func random(tb testing.TB, rng *rand.Rand, levels, bits int) (*code.Code, decode.Decoder) {
	tb.Helper()
	m := mat.NewDense(levels, bits, nil)
	for i, w := range rng.Perm(1 << bits)[:levels] {
		for k := range bits {
			m.Set(i, k, float64(w>>k&1))
		}
	}
	c := must.Get(code.FromMatrix("random", m))(tb)
	return c, must.Get(decode.New("gen", c))(tb)
}

func uniform(levels int) []float64 {
	prior := make([]float64, levels)
	for i := range prior {
		prior[i] = 1 / float64(levels)
	}
	return prior
}

// failure is |error| at row i where these bits err.
func failure(c *code.Code, d decode.Decoder, i int, bits []int) float64 {
	word := slices.Clone(c.Word(i))
	for _, k := range bits {
		word[k/64] ^= 1 << (k % 64)
	}
	return math.Abs(float64(d.Decode(word) - i - 1))
}

var issue = []struct {
	code, decoder string
	lo, hi        string
}{
	{"unary", "bel-u", "0.016", "0.584"},
	{"johnson", "bel-j", "0.292", "0.796"},
	{"unary", "gen", "0.245", "0.768"},
	{"johnson", "gen", "0.245", "0.768"},
	{"b1jdj", "gen", "0.255", "0.780"},
	{"hexj", "gen", "0.276", "0.871"},
	{"gray", "gen", "0.595", "0.919"},
}

func TestNamedCodes(t *testing.T) {
	for _, x := range issue {
		c, d := subject(t, x.code, x.decoder, 64)
		e := must.Get(errmodel.NewMixture(t.Context(), c, 0.6, 1.5))(t)
		found := must.Get(anylaw.Levels(t.Context(), 0, c, d, cost.Cost{}, uniform(64), e))(t)
		lo, hi := anylaw.Mean(uniform(64), found)
		if a, b := fmt.Sprintf("%.3f", lo), fmt.Sprintf("%.3f", hi); a != x.lo || b[:len(x.hi)] != x.hi {
			t.Errorf("%s with %s: %s to %s, want %s to %s", x.code, x.decoder, a, b, x.lo, x.hi)
		}
	}
}

// TestJointLaws: the mean |error| of joint laws of many bits lies within the bounds that their
// error probabilities have.
func TestJointLaws(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 45))
	for n := range 60 {
		x := issue[n%5]
		c, d := subject(t, x.code, x.decoder, 24)
		if n%6 == 5 {
			c, d = random(t, rng, 20, 18)
		}
		m, i := c.Bits(), rng.IntN(c.Levels())
		prior, e := make([]float64, c.Levels()), mat.NewDense(c.Levels(), m, nil)
		prior[i] = 1
		mean, laws := 0.0, 1+rng.IntN(40)
		for range laws { // each set has the same probability: a bit errs, or the bits of another level's word, or any
			var bits []int
			far := c.Word(rng.IntN(c.Levels()))
			kind, often := rng.IntN(3), rng.Float64()
			for k := range m {
				differs := (far[k/64]^c.Word(i)[k/64])>>(k%64)&1 == 1
				if kind == 0 && differs || kind == 1 && rng.Float64() < often || kind == 2 && k == i%m {
					bits = append(bits, k)
					e.Set(i, k, min(1, e.At(i, k)+1/float64(laws)))
				}
			}
			mean += failure(c, d, i, bits) / float64(laws)
		}
		f := must.Get(anylaw.Levels(t.Context(), 1, c, d, cost.Cost{}, prior, e))(t)[i]
		if slack := 1e-11 * float64(c.Levels()); mean < f.Lo-slack || mean > f.Hi+slack { // of the sums above
			t.Errorf("%s with %s, row %d: the mean %v is not in [%v, %v]", c.Name(), d.Name(), i, mean, f.Lo, f.Hi)
		}
	}
}

// TestRounded: the bounds of bel-u hold in exact arithmetic, and are wider by their rounding alone.
func TestRounded(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 45))
	c, d := subject(t, "unary", "bel-u", 400)
	e, prior := mat.NewDense(400, 399, nil), make([]float64, 400)
	e.Apply(func(_, _ int, _ float64) float64 { return rng.Float64() * rng.Float64() }, e)
	for i := 0; i < 400; i += 10 {
		prior[i] = 1
	}
	for i, f := range must.Get(anylaw.Levels(t.Context(), 0, c, d, cost.Cost{}, prior, e))(t) {
		exact, total := new(big.Rat), 0.0
		for k, p := range e.RawRowView(i) {
			v := new(big.Rat).SetFloat64(p)
			if total += p; c.Bit(i, k) {
				v.Neg(v)
			}
			exact.Add(exact, v)
		}
		want, _ := exact.Abs(exact).Float64()
		if prior[i] > 0 && (exact.Cmp(new(big.Rat).SetFloat64(f.Lo)) < 0 || f.Lo < want-1e-12*total) {
			t.Errorf("row %d: at least %v, want %v", i, f.Lo, want)
		}
	}
}

// TestLeftOut: a bit that errs too rarely to change a bound by 1e-7 is left out, and may do its
// worst.
func TestLeftOut(t *testing.T) {
	c, d := subject(t, "unary", "gen", 8)
	for share, worst := range map[float64]float64{0.99: 7, 1.01: 1} { // of 1e-7, by an error of 7 levels
		e := mat.NewDense(8, 7, nil)
		e.Set(0, 0, share*1e-7/7)
		if f := must.Get(anylaw.Levels(t.Context(), 1, c, d, cost.Cost{}, uniform(8), e))(t)[0]; math.Abs(f.Hi/e.At(0,
			0)/worst-1) > 1e-3 {
			t.Errorf("%v: %v at most, want %v", share, f.Hi, worst*e.At(0, 0))
		}
	}
}

// TestTiny: errors too rare for two bits to err in one sample sum up, and 1−e loses no digit of them.
func TestTiny(t *testing.T) {
	c, d := subject(t, "unary", "bel-u", 8)
	for _, size := range []float64{1e-3, 1e-17, 1e-300} {
		e := mat.NewDense(8, 7, nil)
		for i := range 8 {
			for k := range 7 {
				e.Set(i, k, size*float64(k+1))
			}
		}
		for i, f := range must.Get(anylaw.Levels(t.Context(), 1, c, d, cost.Cost{}, uniform(8), e))(t) {
			if hi := 28 * size; f.Hi < hi || f.Hi > hi*(1+1e-13) || f.Lo > hi {
				t.Errorf("level %d: %v to %v, want at most Σe = %v", i+1, f.Lo, f.Hi, hi)
			}
		}
	}
}

func TestRefusals(t *testing.T) {
	for _, name := range []string{"gen-ex"} {
		c, d := subject(t, "unary", name, 8)
		if _, err := anylaw.Levels(context.Background(), 1, c, d, cost.Cost{}, uniform(8), mat.NewDense(8, 7, nil)); !errors.Is(err,
			theory.ErrNoClosedForm) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestTime: bounds take a second where few bits err, and of few levels and bits.
func TestTime(t *testing.T) {
	for _, tt := range []struct {
		decoder      string
		levels, bits int // bits that err
		want         bool
	}{
		{"gen", 64, 28, true}, {"gen", 64, 29, false}, {"gen", 17, 16, true}, {"gen", 128, 18, true}, {"gen", 128, 20, false},
		{"bel-u", 500, 499, true}, {"bel-u", 501, 1, false},
	} {
		c := must.Get(code.New("unary", tt.levels))(t)
		e := mat.NewDense(tt.levels, c.Bits(), nil)
		for i := range tt.levels {
			for k := range tt.bits {
				e.Set(i, k, 0.1)
			}
		}
		if got := anylaw.Time(c, must.Get(decode.New(tt.decoder, c))(t), cost.Cost{}, e) <= time.Second; got != tt.want {
			t.Errorf("%+v: %v", tt, got)
		}
	}
}

// TestTimeOnCircle: at the ends of a circle all bits of unary err.
func TestTimeOnCircle(t *testing.T) {
	for levels, want := range map[int]bool{24: true, 48: false} {
		c := must.Get(code.New("unary", levels))(t).OnCircle(true)
		e := must.Get(errmodel.NewMixture(t.Context(), c, 0.6, 1.5))(t)
		if got := anylaw.Time(c, must.Get(decode.New("gen", c))(t), cost.Circular(levels), e) <= time.Second; got != want {
			t.Errorf("%d levels: %v", levels, got)
		}
	}
}

// TestDeviation: the errors of bel-u spread most where all bits of the lowest level err together; then
// a sample is wrong by three levels or by none. With gen a bit of two levels is wrong by one or none.
func TestDeviation(t *testing.T) {
	for decoder, size := range map[string]int{"bel-u": 4, "gen": 2} {
		c, d := subject(t, "unary", decoder, size)
		e := mat.NewDense(size, size-1, slices.Repeat([]float64{0.2}, size*(size-1)))
		got := must.Get(anylaw.Levels(t.Context(), 1, c, d, cost.Cost{}, uniform(size), e))(t)[0]
		if want := float64(size-1) * math.Sqrt(0.2*0.8); math.Abs(got.HiSD-want) > 1e-9 ||
			math.Abs(got.LoSD-want) > 1e-9 { // gen's plane is right to the tolerance of its search
			t.Errorf("%s: standard deviations of at most %v and %v, want %v", decoder, got.LoSD, got.HiSD, want)
		}
	}
}
