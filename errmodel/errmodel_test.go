package errmodel_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distuv"
	"pgregory.net/rapid"

	"belsim/errmodel"
	"belsim/errmodel/scenario"
	"belsim/theory/base/matrix"
	"belsim/theory/base/must"
	"belsim/theory/code"
)

func mustNew(tb interface{ Fatal(...any) }, name string, levels int) *code.Code {
	c, err := code.New(name, levels)
	if err != nil {
		tb.Fatal(err)
	}
	return c
}

// eq3 adds the Gaussians of bit k at label n, both from 1, from the matrix itself.
func eq3(c *code.Code, r, sigma float64, n, k int) float64 {
	sum := 0.0
	for at := 1; at < c.Levels(); at++ {
		if c.Bit(at-1, k-1) != c.Bit(at, k-1) {
			mu := float64(at) + 0.5
			sum += r / (sigma * math.Sqrt(2*math.Pi)) * math.Exp(-(float64(n)-mu)*(float64(n)-mu)/(2*sigma*sigma))
		}
	}
	return sum
}

// TestMixture compares with the definition. Both sides round each of at most 60
// Gaussians a few times; an exponent of up to 40²/2·(1/σ²) is good to its own
// size times 2⁻⁵³, below 1e−11 for all terms that are not subnormal.
func TestMixture(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		families := code.Families()
		c := mustNew(t, families[rapid.IntRange(0, len(families)-1).Draw(t, "family")].Name,
			rapid.IntRange(2, 60).Draw(t, "levels"))
		sigma := rapid.Float64Range(0.2, 30).Draw(t, "sigma")
		p, err := errmodel.NewProfile(context.Background(), c, c.Transitions(), sigma)
		if err != nil {
			t.Fatal(err)
		}
		r := min(p.MaxR(), 100) * rapid.Float64Range(0.01, 1).Draw(t, "share")
		m, err := p.Mixture(r)
		if err != nil {
			t.Fatal(err)
		}
		largest := 0.0
		var row []float64
		for i := range c.Levels() {
			row = matrix.Row(row, i, m)
			for k := range c.Bits() {
				want := eq3(c, r, sigma, i+1, k+1)
				if math.Abs(m.At(i, k)-want) > 1e-11*want+1e-300 || row[k] != m.At(i, k) {
					t.Fatalf("e[%d,%d] = %v, row %v, want %v", i+1, k+1, m.At(i, k), row[k], want)
				}
				largest = max(largest, want)
			}
		}
		if largest > 1+1e-9 {
			t.Fatalf("accepted with e = %v", largest)
		}
		var invalid *errmodel.InvalidError
		if _, err := p.Mixture(p.MaxR() * 1.001); c.Levels() > 1 && !math.IsInf(p.MaxR(), 1) &&
			!errors.As(err, &invalid) {
			t.Fatalf("r above MaxR: error %v, want an InvalidError", err)
		} else if invalid != nil {
			if got := eq3(c, invalid.R, sigma, invalid.Level, invalid.Bit); math.Abs(got-invalid.Value) > 1e-9 ||
				got <= 1 {
				t.Fatalf("%v, but that entry is %v", invalid, got)
			}
		}
	})
}

// TestLargeMixture: a table too large to keep gives the same rows.
func TestLargeMixture(t *testing.T) {
	c := mustNew(t, "unary", 4096) // 16 million entries
	m := must.Get(errmodel.NewMixture(context.Background(), c, 2, 5))(t)
	row := matrix.Row(nil, 2000, m)
	for _, k := range []int{0, 1990, 1999, 2000, 2030, 4094} {
		want := eq3(c, 2, 5, 2001, k+1)
		if math.Abs(row[k]-want) > 1e-11*want || m.At(2000, k) != row[k] {
			t.Errorf("e[2001,%d] = %v, At gives %v, want %v", k+1, row[k], m.At(2000, k), want)
		}
	}
}

func TestReadTable(t *testing.T) {
	path := filepath.Join(t.TempDir(), "e.csv")
	read := func(text string) (mat.Matrix, error) {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return scenario.NewTable(path).Errors(t.Context(), must.Get(code.New("onehot", 2))(t))
	}
	if e, err := read("0,1\n0.25,1e-300\n"); err != nil || e.At(1, 0) != 0.25 || e.At(1, 1) != 1e-300 {
		t.Errorf("%v, %v", e, err)
	}
	for text, want := range map[string]string{
		"0,1\n":             "1 × 2 error probabilities, but the code has 2 levels and 2 bits",
		"0,1\n0.5,1.0001\n": "row 2, column 2: 1.0001 is no probability",
		"0,1\n-1e-9,1\n":    "row 2, column 1: -1e-09 is no probability",
		"0,1\n0,NaN\n":      "line 2, column 2",
		"1,-1\n-1,1\n":      "all numbers are ±1, as in a code;",
		"1,-1\n-1,1\n1,1":   "all numbers are ±1",
		"1,1\n-1,0.5\n":     "row 2, column 1: -1 is no probability",
	} {
		must.Refuse(read(text))(t, want, path)
	}
	if _, err := read("0,1\n"); err != nil {
		_, err = scenario.NewTable(path).Errors(t.Context(), must.Get(code.New("unary", 2))(t))
		must.Equal(t, "1 × 2 for 2 × 1 looks transposed", true, strings.Contains(must.Text(err), "looks transposed"))
	}
}

func TestRandom(t *testing.T) {
	a, b, c := errmodel.Random(30, 20, 1), errmodel.Random(30, 20, 1), errmodel.Random(30, 20, 2)
	if !mat.Equal(a, b) || mat.Equal(a, c) {
		t.Error("a table is not that of its seed")
	}
	// 600 uniform numbers: their mean is normal with s.d. 0.0118; 6.5 of them
	// is 1e−10.
	if mean := mat.Sum(a) / 600; math.Abs(mean-0.5) > 6.5*0.0118 || mat.Min(a) < 0 || mat.Max(a) >= 1 {
		t.Errorf("mean %v, from %v to %v", mean, mat.Min(a), mat.Max(a))
	}
}

// TestExtremes: parameters near the ends of what numbers can be give right probabilities or are
// refused.
func TestExtremes(t *testing.T) {
	c := mustNew(t, "unary", 4)
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	nan, inf := math.NaN(), math.Inf(1)
	const wide, narrow = "too large: the Gaussian's height", "is too small for σ = 10000"
	for _, tt := range []struct {
		ctx            context.Context
		r, sigma, want float64 // e of the first bit at level 1
		err            string
	}{
		{t.Context(), 1e307, 1.7e307, 1 / 1.7 / math.Sqrt(2*math.Pi), ""},
		{t.Context(), 1e-310, 1e-310, 0, ""}, // Gaussians so narrow that no level is near one
		{t.Context(), 1, 5e-324, 0, ""},
		{t.Context(), 1.7e308, 1.7e308, 0, wide}, {t.Context(), math.MaxFloat64, math.MaxFloat64, 0, wide},
		{t.Context(), 3e307, 3e307, 0, wide},
		{t.Context(), 5e-324, 1e4, 0, narrow}, {t.Context(), 1e-310, 1e4, 0, narrow},
		{t.Context(), 1e-305, 1e4, 0, narrow},
		{t.Context(), 0, 1, 0, "r = 0"}, {t.Context(), -1, 1, 0, "r = -1"}, {t.Context(), nan, 1, 0, "r = NaN"},
		{t.Context(), inf, 1, 0, "r = +Inf"}, {t.Context(), 0.1, 0, 0, "σ = 0"}, {t.Context(), 0.1, -1, 0, "σ = -1"},
		{t.Context(), 0.1, nan, 0, "σ = NaN"}, {t.Context(), 0.1, inf, 0, "σ = +Inf"},
		{ended, 0.1, 1, 0, context.Canceled.Error()},
	} {
		m, err := errmodel.NewMixture(tt.ctx, c, tt.r, tt.sigma)
		if (err == nil) != (tt.err == "") || err != nil && !strings.Contains(must.Text(err), tt.err) {
			t.Errorf("r = %g, σ = %g: error %v, want %q", tt.r, tt.sigma, err, tt.err)
		}
		if err == nil && !(math.Abs(m.At(0, 0)-tt.want) <= 1e-14) {
			t.Errorf("r = %g, σ = %g: e = %v, want %v", tt.r, tt.sigma, m.At(0, 0), tt.want)
		}
	}
	// Factors that are no numbers, of a product that is one.
	for _, tt := range []struct {
		errmodel.Transition
		y, want float64
	}{
		{errmodel.Transition{R: 1.7e308, Sigma: 1.7e308}, 0, 1 / math.Sqrt(2*math.Pi)},
		{errmodel.Transition{R: 1, Sigma: 1e-310}, 0.5, 0},
		{errmodel.Transition{R: 1.7e308, Sigma: 0.5}, 18.5, math.Exp(-684.5) * 1.7e308 / 0.5 / math.Sqrt(2*math.Pi)},
	} {
		must.Near(t, fmt.Sprintf("%+v at %v", tt.Transition, tt.y), tt.want, tt.At(tt.y), 1e-12*tt.want)
	}
}

// TestRateInterval has Wilson's ends solve his equation |p̂ − p| = z·√(p(1−p)/n).
func TestRateInterval(t *testing.T) {
	z := distuv.UnitNormal.Quantile(0.975)
	for _, v := range [][2]float64{{0, 10}, {3, 10}, {10, 10}, {1, 1e6}} {
		lo, hi := errmodel.RateInterval(v[0], v[1])
		for _, p := range []float64{lo, hi} {
			if p == 0 || p == 1 {
				continue
			}
			must.Near(t, fmt.Sprintf("%v of %v: at %v the distance", v[0], v[1], p),
				z, math.Abs(v[0]/v[1]-p)/math.Sqrt(p*(1-p)/v[1]), 1e-9*z)
		}
	}
}

// images is e[n,k] as the sum of a Gaussian over all images of a transition.
func images(c *code.Code, k int, y, r, sigma float64) (e float64) {
	for i := range c.Levels() { // transitions, by hand
		if c.Bit(i, k) == c.Bit((i+1)%c.Levels(), k) {
			continue
		}
		far := 60 + int(40*sigma)/c.Levels()
		for w := -far; w <= far; w++ {
			d := (y - float64(i) - 1.5 + float64(w*c.Levels())) / sigma
			e += r / (sigma * math.Sqrt(2*math.Pi)) * math.Exp(-d*d/2)
		}
	}
	return e
}

// TestWrapped compares mixtures on a circle with sums over all images, for narrow and very wide
// Gaussians, in tables, in single columns and at labels between levels.
func TestWrapped(t *testing.T) {
	for _, name := range []string{"unary", "johnson", "gray", "hadamard"} {
		for _, levels := range []int{2, 7, 16} {
			for _, sigma := range []float64{0.3, 1.5, 8, 30, 300} {
				c := must.Get(code.New(name, levels))(t).OnCircle(true)
				const r = 0.01
				m := must.Get(errmodel.NewMixture(t.Context(), c, r, sigma))(t)
				columns := must.Get(errmodel.MixtureColumn(levels, true, r, sigma))(t)
				column := make([]float64, levels)
				for k, at := range c.Transitions() {
					columns(column, k, at)
					for i, got := range column {
						want := images(c, k, float64(i+1), r, sigma)
						if math.Abs(got-want) > 1e-12*want || math.Abs(m.At(i, k)-want) > 1e-12*want {
							t.Errorf("%s of %d levels, σ = %v: e[%d,%d] = %v and %v, want %v", name, levels, sigma, i+1, k+1,
								got, m.At(i, k), want)
						}
					}
				}
			}
		}
	}
}
