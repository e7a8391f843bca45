package decode

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"belsim/theory/base/must"
	"belsim/theory/code"
)

// TestTies decodes outputs whose correlations are equal or nearly equal, and compares with rational
// arithmetic: tenths have ties that float64 does not see, and numbers
// of very different sizes lose the small ones.
func TestTies(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 2))
	draws := map[string]func() float64{
		"tenths":  func() float64 { return float64(rng.IntN(9)-4) / 10 },
		"signs":   func() float64 { return float64(2*rng.IntN(2) - 1) },
		"sizes":   func() float64 { return float64(rng.IntN(5)-2) * math.Pow(10, float64(rng.IntN(30)-15)) },
		"tiny":    func() float64 { return float64(rng.IntN(5)-2) * math.SmallestNonzeroFloat64 },
		"nothing": func() float64 { return 0 },
		"normal":  rng.NormFloat64,
	}
	var codes []*code.Code
	for _, name := range []string{"unary", "johnson", "b1jdj", "hexj", "hadamard"} {
		codes = append(codes, must.Get(code.New(name, 16))(t))
	}
	codes = append(codes, must.Get(code.New("hadamard", 11))(t))
	weights := mat.NewDense(16, 6, nil)
	weights.Apply(func(i, _ int, _ float64) float64 { return float64(rng.IntN(7)-3)/10 + float64(i)/3 }, weights)
	codes = append(codes, must.Get(code.FromReal("weights", weights))(t))
	for kind, draw := range draws {
		changed := 0
		for _, c := range codes {
			x, sums := NewCorrelations(c), make([]float64, c.Levels())
			for range 60 {
				z := make([]float64, c.Bits())
				for k := range z {
					z[k] = draw()
				}
				want := exactLevel(c, z)
				x.To(sums, z)
				gen := newGen(c)
				if a, b := gen.FromCorrelations(sums), gen.DecodeLogits(z); a != want || b != want {
					t.Fatalf("%s, %s: %v is decoded as %v and %v, want %v", c.Name(), kind, z, a, b, want)
				}
				plain := make([]float64, c.Levels())
				for i := range plain {
					plain[i] = correlation(c, i, z)
				}
				if gen.FromCorrelations(plain) != want {
					changed++
				}
			}
		}
		if (kind == "tenths" || kind == "sizes") && changed == 0 {
			t.Errorf("%s: float64 decides all of them: nothing was tested", kind)
		}
	}
}

// TestGenExSizes: logits of very different sizes, whose sums have roundings of whole logits, have the
// mean level that rational numbers give.
func TestGenExSizes(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 2))
	sizes := []float64{-16, -1, 0, 0.1, 16, 16.05}
	for _, name := range []string{"unary", "johnson", "hexj", "gray"} {
		c := must.Get(code.New(name, 16))(t)
		d, x, sums := must.Get(NewGenEx(c, 0.7))(t), NewCorrelations(c), make([]float64, c.Levels())
		for range 60 {
			z := make([]float64, c.Bits())
			for k := range z {
				z[k] = float64(2*rng.IntN(2)-1) * math.Pow(10, sizes[rng.IntN(len(sizes))])
			}
			best, weight, mean := int(exactLevel(c, z))-1, 0.0, 0.0
			for i := range c.Levels() {
				below := new(big.Rat)
				for k, v := range z {
					by := new(big.Rat).SetFloat64(c.Value(i, k) - c.Value(best, k))
					below.Add(below, by.Mul(by, new(big.Rat).SetFloat64(v)))
				}
				exponent, _ := below.Float64()
				p := math.Exp(0.7 * exponent)
				weight, mean = weight+p, mean+p*float64(i+1)
			}
			x.To(sums, z)
			for _, got := range []float64{d.DecodeLogits(z), d.FromCorrelations(sums)} {
				if math.Abs(got-mean/weight) > coarse { // of what a sum may be wrong by
					t.Fatalf("%s: %v is decoded as %v, want %v", name, z, got, mean/weight)
				}
			}
		}
	}
}

// exactLevel is Eq. 5 with rational numbers.
func exactLevel(c *code.Code, z []float64) float64 {
	best, level := new(big.Rat), 0
	for i := range c.Levels() {
		sum := new(big.Rat)
		for k, v := range z {
			sum.Add(sum, new(big.Rat).Mul(new(big.Rat).SetFloat64(v), new(big.Rat).SetFloat64(c.Value(i, k))))
		}
		if level == 0 || sum.Cmp(best) > 0 {
			best, level = sum, i+1
		}
	}
	return float64(level)
}

// TestExp compares exp with e^x to 120 bits, over its range and densely where k changes.
func TestExp(t *testing.T) {
	const most = 2.0 // units in the last place
	check := func(x float64) {
		got, want := Exp(x), new(big.Float).SetPrec(120)
		// e^x = (e^(x/2^20))^(2^20), whose factor is 1 + x + x²/2 + … to x⁷
		small := new(big.Float).SetPrec(160).SetFloat64(math.Ldexp(x, -20))
		want.SetPrec(160).SetInt64(1)
		for n := 7.0; n >= 1; n-- {
			want.Mul(want, small)
			want.Quo(want, big.NewFloat(n))
			want.Add(want, big.NewFloat(1))
		}
		for range 20 {
			want.Mul(want, want)
		}
		near, _ := want.Float64()
		off, _ := want.Sub(want, big.NewFloat(got)).Float64()
		if ulp := math.Nextafter(near, math.Inf(1)) - near; !(math.Abs(off) <= most*ulp) {
			t.Fatalf("Exp(%v) = %v is off by %.3g units in the last place", x, got, off/ulp)
		}
	}
	for i := range 20001 {
		check(-80 * float64(i) / 20000)
		check(80 * float64(i) / 20000)
	}
	for k := range 7386 { // where a half of ln 2/64 is rounded up or down
		at := (float64(k) + 0.5) * math.Ln2 / 64
		for _, x := range []float64{at, math.Nextafter(at, 0), math.Nextafter(at, 80)} {
			check(x)
			check(-x)
		}
	}
	for _, x := range []float64{0, math.Copysign(0, -1), -5e-324, -1e-300, -1e-17, -1e-9, -80, 80} {
		check(x)
	}
	for _, x := range []float64{math.Nextafter(-80, -81), -1e300, math.Inf(-1), math.NaN()} {
		must.Equal(t, fmt.Sprintf("Exp(%v)", x), 0, Exp(x))
	}
}

// TestSigmoid compares Sigmoid and Softplus with their definitions: three roundings beside those of Exp.
func TestSigmoid(t *testing.T) {
	for x := -79.9; x < 800; x += 0.37 {
		for what, d := range map[string]float64{"Sigmoid": Sigmoid(x)*(1+math.Exp(-x)) - 1, "Softplus": Softplus(x)/(max(x, 0)+
			math.Log1p(math.Exp(-math.Abs(x)))) - 1} {
			must.Within(t, fmt.Sprintf("%s(%v)", what, x), d, -5*0x1p-52, 5*0x1p-52)
		}
	}
	must.Equal(t, "Sigmoid and Softplus of -80.1", [2]float64{}, [2]float64{Sigmoid(-80.1), Softplus(-80.1)})
}
