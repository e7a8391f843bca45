package limit

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"belsim/theory/base/must"
	"belsim/theory/code"
	"belsim/theory/cost"
)

// gauss is the kernel of a mixture.
func gauss(levels int, r, sigma float64) (u []float64) {
	for d := range levels {
		z := (float64(d) + 0.5) / sigma
		u = append(u, r/(sigma*math.Sqrt(2*math.Pi))*math.Exp(-z*z/2))
	}
	return u
}

// costs has each cost with the least that some weights of the levels cost, over all answers.
var costs = map[string]func(w []float64) float64{
	"absolute": func(w []float64) float64 {
		below, above, sum := 0.0, 0.0, 0.0
		for _, v := range w {
			above += v
		}
		for _, v := range w {
			below, above = below+v, above-v
			sum += min(below, above)
		}
		return sum
	},
	"squared": func(w []float64) float64 {
		total, mean, square := 0.0, 0.0, 0.0
		for n, v := range w {
			total, mean, square = total+v, mean+v*float64(n), square+v*float64(n*n)
		}
		if total == 0 {
			return 0
		}
		return square - mean*mean/total
	},
	"zero-one": func(w []float64) float64 { return allBut(w, 1) },
	"beyond:1": func(w []float64) float64 { return allBut(w, 3) },
}

// allBut is the sum of all weights but those of the heaviest run of so many.
func allBut(w []float64, run int) float64 {
	total, most := 0.0, 0.0
	for n, v := range w {
		total += v
		sum := 0.0
		for _, v := range w[n:min(n+run, len(w))] {
			sum += v
		}
		most = max(most, sum)
	}
	return total - most
}

// table has the error probabilities of a column of bits; ok is false where one is above 1.
func table(column uint, kernel []float64) (e []float64, most int, ok bool) {
	levels := len(kernel)
	e, ok = make([]float64, levels), true
	for at := range levels - 1 {
		if (column>>at^column>>(at+1))&1 == 0 {
			continue
		}
		most++
		for n := range e {
			e[n] += kernel[max(at-n, n-at-1)]
		}
	}
	for _, v := range e {
		ok = ok && v <= 1
	}
	return e, most, ok
}

// risks are the costs of the best decoders of a code, by enumeration of all outputs. Code and
// errors are by bit.
func risks(levels int, columns []uint, errors [][]float64) map[string]float64 {
	out, w := map[string]float64{}, make([]float64, levels)
	for word := range 1 << len(columns) {
		for n := range w {
			w[n] = 1 / float64(levels)
			for k, c := range columns {
				if (c>>n^uint(word)>>k)&1 == 1 {
					w[n] *= errors[k][n]
				} else {
					w[n] *= 1 - errors[k][n]
				}
			}
		}
		for name, least := range costs {
			out[name] += least(w)
		}
	}
	return out
}

// columnsOf are the bits of a code by level, and their error probabilities; ok is false where one is above 1.
func columnsOf(c *code.Code, kernel []float64) (columns []uint, errors [][]float64, most int, ok bool) {
	ok = true
	for k := range c.Bits() {
		column := uint(0)
		for n := range c.Levels() {
			if c.Bit(n, k) {
				column |= 1 << n
			}
		}
		e, flips, valid := table(column, kernel)
		columns, errors, most, ok = append(columns, column), append(errors, e), max(most, flips), ok && valid
	}
	return columns, errors, most, ok
}

// below checks that the limit, and the values of both Lagrangians at random multipliers, are below
// the least errors of some codes of at most so many transitions a bit, by cost. It returns the
// largest share of the limits.
func below(t *testing.T, p Problem, rng *rand.Rand, least map[string]float64, share map[string]float64) {
	t.Helper()
	for name, v := range least {
		p.Cost = must.Get(cost.Parse(name, p.Levels, false))(t)
		w, q := newWindows(p, 1<<9), newSequences(p)
		limits := []float64{must.Get(Of(t.Context(), p))(t)}
		share[name] = max(share[name], limits[0]/max(v, 1e-9))
		for range 4 {
			x := make([]float64, perTest+2*len(w.distances))
			for j := range x {
				x[j] = math.Exp(2*rng.NormFloat64() - 2)
			}
			x[shareOfRate], x[perTransition] = rng.Float64(), x[perTransition]/20
			limit, _, err := w.lagrangian(t.Context(), x)
			must.Succeed(t, err)
			limits = append(limits, limit)
			if q != nil {
				limit, _, err := q.lagrangian(t.Context(), x[:4])
				must.Succeed(t, err)
				limits = append(limits, limit)
			}
		}
		if most := slices.Max(limits); most > v+roundings {
			t.Errorf("%+v, %s: limit %v, but a code has %v", p, name, most, v)
		}
	}
}

// long reports whether slow tests are run.
var long = os.Getenv("BELSIM_LONG") != ""

// TestNeverViolated: no code of up to five levels and three bits, read by its best decoder, has an
// error below the limit, whatever the multipliers are: all codes up to the order and complements of
// bits, equal, constant and complementary bits included, under each cost.
func TestNeverViolated(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	places := [][2]float64{{0.6, 1.5}}
	for len(places) < 20 && long {
		places = append(places, [2]float64{math.Exp(rng.NormFloat64() - 0.5), math.Exp(rng.NormFloat64())})
	}
	share := map[string]float64{}
	for _, place := range places {
		for levels := 2; levels <= 5; levels++ {
			kernel := gauss(levels, place[0], place[1])
			for m := 1; m <= 3; m++ {
				least := make([]map[string]float64, levels) // by most transitions of a bit
				columns, errors := make([]uint, m), make([][]float64, m)
				var add func(at int, from uint, most int)
				add = func(at int, from uint, most int) {
					if at < m {
						for c := from; c < 1<<(levels-1); c++ {
							if e, flips, ok := table(c, kernel); ok {
								columns[at], errors[at] = c, e
								add(at+1, c, max(most, flips))
							}
						}
						return
					}
					for name, v := range risks(levels, columns, errors) {
						for t := most; t < levels; t++ {
							if least[t] == nil {
								least[t] = map[string]float64{}
							}
							if old, ok := least[t][name]; !ok || v < old {
								least[t][name] = v
							}
						}
					}
				}
				add(0, 0, 0)
				for most := 1; most < levels; most++ {
					if !long && m == 2 {
						continue
					}
					p := Problem{Levels: levels, Bits: m, Transitions: most, Kernel: kernel}
					below(t, p, rng, least[most], share)
				}
			}
		}
	}
	for name, least := range map[string]float64{"absolute": 0.9, "squared": 0.2, "zero-one": 0.9} {
		if share[name] < least {
			t.Errorf("%s: every limit is below %v of the best code's error", name, share[name])
		}
	}
}

// TestCodes: random and named codes with their best decoders are not better than the limit, under each cost.
func TestCodes(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	random, named := 10, 1
	if long {
		random, named = 500, 50
	}
	share := map[string]float64{}
	check := func(c *code.Code, r, sigma float64) {
		kernel := gauss(c.Levels(), r, sigma)
		if columns, errors, most, ok := columnsOf(c, kernel); ok {
			p := Problem{Levels: c.Levels(), Bits: c.Bits(), Transitions: most, Kernel: kernel}
			least := risks(c.Levels(), columns, errors)
			if !long { // one cost
				name := []string{"absolute", "squared", "zero-one", "beyond:1"}[rng.IntN(4)]
				least = map[string]float64{name: least[name]}
			}
			below(t, p, rng, least, share)
		}
	}
	for range random {
		levels, bits := 3+rng.IntN(14), 1+rng.IntN(12)
		bits = max(bits, 4)
		m := mat.NewDense(levels, bits, nil)
		for i, w := range rng.Perm(1 << bits)[:min(levels, 1<<bits)] {
			for k := range bits {
				m.Set(i, k, float64(w>>k&1))
			}
		}
		if c, err := code.FromMatrix("random", m); err == nil {
			check(c, math.Exp(rng.NormFloat64()-1), math.Exp(rng.NormFloat64()))
		}
	}
	for _, f := range code.Families() {
		for range named {
			if c, err := code.New(f.Name, 13); err == nil && c.Bits() <= 13 {
				check(c, math.Exp(rng.NormFloat64()-1), math.Exp(rng.NormFloat64()))
			}
		}
	}
	if len(share) != len(costs) {
		t.Errorf("limits were checked for %v", share)
	}
}

// TestTable: the limit is at least what it was when it was found, of a problem of each kind.
func TestTable(t *testing.T) {
	for _, tt := range []struct {
		levels, bits, most int
		r, sigma, want     float64
	}{
		{64, 63, 1, 0.6, 1.5, 0.3}, {64, 32, 2, 0.6, 1.5, 0.285}, {64, 16, 11, 0.6, 1.5, 0.12}, {64, 16, 0, 0.6, 1.5, 0.074},
		{64, 12, 8, 0.6, 1.5, 0.224}, {64, 10, 0, 0.6, 1.5, 0.198}, {64, 6, 0, 0.6, 1.5, 0.479},
		{256, 255, 1, 2, 6, 0.385}, {256, 128, 2, 2, 6, 0.36},
	} {
		if !long && (tt.most == 11 || tt.bits == 12 || tt.levels == 256) {
			continue
		}
		p := Problem{Levels: tt.levels, Bits: tt.bits, Transitions: tt.most, Kernel: gauss(tt.levels, tt.r, tt.sigma)}
		if got := must.Get(Of(t.Context(), p))(t); got < tt.want || got > 1.1*tt.want {
			t.Errorf("%d levels, %d bits, %d transitions, r = %v, σ = %v: %.4f, want %v or a little more", tt.levels, tt.bits,
				tt.most, tt.r, tt.sigma, got, tt.want)
		}
	}
}

// TestNone: problems without a limit are refused, and a limit ends with its context.
func TestNone(t *testing.T) {
	for _, p := range []Problem{
		{Levels: 1, Bits: 1}, {Levels: 2}, {Levels: 4, Bits: 2, Transitions: -1},
		{Levels: 4, Bits: 2, Kernel: []float64{0.1, 0.2}}, {Levels: 4, Bits: 2, Cost: cost.Circular(4)},
		{Levels: 4, Bits: 2, Cost: cost.OfValues(code.Values{1, 2, 4, 8})},
	} {
		if _, err := Of(t.Context(), p); !errors.Is(err, ErrNone) {
			t.Errorf("%+v: %v", p, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Of(ctx, Problem{Levels: 64, Bits: 8, Kernel: gauss(64, 0.6, 1.5)}); !errors.Is(err, context.Canceled) {
		t.Errorf("after the context: %v", err)
	}
}
