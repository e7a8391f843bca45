package expect_test

import (
	"errors"
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/optimize/convex/lp"

	"belsim/theory"
	"belsim/theory/base/must"
	"belsim/theory/code"
	"belsim/theory/cost"
	"belsim/theory/decode"
	"belsim/theory/enclose"
	"belsim/theory/expect"
)

// problem is one with its cost by hand.
type problem struct {
	*expect.Problem
	prior    []float64
	cost     func(n int, answer float64) float64
	distance func(n int, answer float64) float64
}

// draw draws a code of at most 15 bits, a decoder, a table with zeros, halves and ones, a prior with
// zeros, and a cost.
func draw(t *testing.T, rng *rand.Rand, n int) problem {
	names := []string{"unary", "johnson", "johnson-nonzero", "hadamard", "gray", "b1jdj", "hexj", "onehot", "binary"}
	decoders := map[string]string{"unary": "bel-u", "johnson": "bel-j", "johnson-nonzero": "bel-j"}
	var c *code.Code
	name := "random"
	for {
		levels, width := 2+rng.IntN(15), 2+rng.IntN(9)
		if n%2 == 0 {
			name = names[rng.IntN(len(names))]
			c = must.Get(code.New(name, levels))(t)
		} else {
			levels = min(levels, 1<<width)
			m := mat.NewDense(levels, width, nil)
			for i, w := range rng.Perm(1 << width)[:levels] {
				for k := range width {
					m.Set(i, k, float64(w>>k&1))
				}
			}
			c = must.Get(code.FromMatrix(name, m))(t)
		}
		if c.Bits() <= 15 && c.Levels()<<c.Bits() <= 1<<18 {
			break
		}
	}
	decoder, ok := decoders[name]
	if kind := rng.IntN(6); !ok || kind == 0 {
		decoder = "gen"
		if kind == 1 || kind == 2 {
			decoder = []string{"gen-ex", "best"}[kind-1]
		}
	}
	p := problem{Problem: &expect.Problem{Code: c}, prior: make([]float64, c.Levels())}
	e := mat.NewDense(c.Levels(), c.Bits(), nil)
	most := math.Pow(10, -4*rng.Float64())
	e.Apply(func(_, _ int, _ float64) float64 {
		if rng.IntN(4) == 0 {
			return float64(rng.IntN(3)) / 2
		}
		return most * rng.Float64()
	}, e)
	p.Errors = e
	total := 0.0
	for i := range p.prior {
		p.prior[i] = max(0, rng.Float64()-0.2)
		total += p.prior[i]
	}
	if total == 0 {
		p.prior[0], total = 1, 1
	}
	for i := range p.prior {
		p.prior[i] /= total
	}
	p.Decoder = must.Get(decode.New(decoder, c))(t)
	p.drawCost(t, rng)
	p.Decoder = must.Get(decode.New(decoder, p.Code))(t) // which may be on a circle
	if informed, ok := p.Decoder.(decode.Informed); ok {
		p.Decoder = must.Get(informed.Inform(decode.Model{Errors: e, Prior: p.prior, Rule: p.Cost.Rule(),
			Cost: p.Cost.Of}))(t)
	}
	return p
}

// drawCost draws a cost, and writes it by hand.
func (p *problem) drawCost(t *testing.T, rng *rand.Rand) {
	levels := p.Code.Levels()
	last := float64(levels)
	p.distance = func(n int, answer float64) float64 { return math.Abs(answer - float64(n)) }
	var values code.Values
	circular := false
	switch rng.IntN(4) {
	case 0:
		values = code.Values{rng.Float64()}
		for range levels - 1 {
			values = append(values, values[len(values)-1]+0.01+rng.Float64())
		}
		if values.Even() { // as two levels are
			values = nil
			break
		}
		p.distance = func(n int, answer float64) float64 {
			answer = min(max(answer, 1), last)
			k := min(int(answer), levels-1)
			return math.Abs(values[k-1] + (answer-float64(k))*(values[k]-values[k-1]) - values[n-1])
		}
	case 1:
		circular = true
		p.distance = func(n int, answer float64) float64 {
			least := math.Inf(1)
			for turn := -3.0; turn <= 3; turn++ {
				least = min(least, math.Abs(answer-float64(n)+turn*last))
			}
			return least
		}
	}
	theta := float64(1+rng.IntN(2*levels)) / 4
	text, d := "", p.distance
	switch rng.IntN(6) {
	case 0, 1:
		text, p.cost = "absolute", d
	case 2:
		text, p.cost = "squared", func(n int, a float64) float64 { return d(n, a) * d(n, a) }
	case 3:
		if text, p.cost = "absolute", d; values != nil { // there is no zero-one of uneven levels
			break
		}
		text, p.cost = "zero-one", func(n int, a float64) float64 {
			if d(n, math.Floor(a+0.5+1e-6)) == 0 { // ties, but for rounding, go up
				return 0
			}
			return 1
		}
	case 4:
		text, p.cost = fmt.Sprintf("beyond:%v", theta), func(n int, a float64) float64 {
			if d(n, a) > theta+1e-6 { // but for rounding
				return 1
			}
			return 0
		}
	default:
		if decode.Real(p.Decoder) {
			text, p.cost = "absolute", d
			break
		}
		values, circular = nil, false
		p.distance = func(n int, answer float64) float64 { return math.Abs(answer - float64(n)) }
		var lines []string
		table := mat.NewDense(levels, levels, nil)
		for i := range levels {
			var fields []string
			for k := range levels {
				if i != k {
					table.Set(i, k, math.Floor(rng.Float64()*100)/8)
				}
				fields = append(fields, fmt.Sprint(table.At(i, k)))
			}
			lines = append(lines, strings.Join(fields, ","))
		}
		text = filepath.Join(t.TempDir(), "costs.csv")
		must.Succeed(t, os.WriteFile(text, []byte(strings.Join(lines, "\n")), 0o600))
		p.cost = func(n int, a float64) float64 { return table.At(n-1, int(min(max(a, 1), last))-1) }
	}
	p.Code = p.Code.OnCircle(circular)
	p.Cost = must.Get(cost.Parse(text, levels, circular))(t)
	if u := cost.OfValues(values); values != nil {
		beyond := fmt.Sprintf("beyond:%v", theta)
		p.Cost = map[string]cost.Cost{"absolute": u, "squared": u.Squared(), beyond: u.Beyond(theta)}[text]
	}
}

// answers are the answers to all outputs, and for a level their probabilities.
func (p problem) answers() (labels []float64) {
	for w := range 1 << p.Code.Bits() {
		labels = append(labels, decode.Value(p.Decoder, []uint64{uint64(w)}))
	}
	return labels
}

func (p problem) probabilities(i int) []float64 {
	out := make([]float64, 1<<p.Code.Bits())
	for w := range out {
		out[w] = 1
		for k := range p.Code.Bits() {
			e := p.Errors.At(i, k)
			if (uint64(w)^p.Code.Word(i)[0])>>k&1 == 0 {
				e = 1 - e
			}
			out[w] *= e
		}
	}
	return out
}

// bound is a bound by its definition; ok is false where there is none.
func (p problem) bound(i int, outputs []float64) (sum float64, ok bool) {
	levels, word := p.Code.Levels(), p.Code.Word(i)[0]
	lo, hi := decode.Range(p.Code, p.Decoder)
	most := 0.0
	for m := lo; m <= hi; m++ {
		most = max(most, p.cost(i+1, float64(m)))
	}
	switch p.Decoder.(type) {
	case decode.BelU: // each false bit costs the largest step up to it
		for k := range p.Code.Bits() {
			away, step := 1, 0.0
			if k < i {
				away = -1
			}
			for m := i + 1; away > 0 && m <= k+1 || away < 0 && m > k+1; m += away {
				step = max(step, p.cost(i+1, float64(m+away))-p.cost(i+1, float64(m)))
			}
			sum += step * p.Errors.At(i, k)
		}
	case decode.Gen:
		for m := range levels {
			differ := p.Code.Word(m)[0] ^ word
			tail := 0.0
			for w, q := range outputs {
				if 2*bits.OnesCount64((uint64(w)^word)&differ) >= bits.OnesCount64(differ) {
					tail += q
				}
			}
			sum += p.cost(i+1, float64(m+1)) * tail
		}
	case decode.BelJ:
		return math.NaN(), p.Cost.Absolute()
	default:
		return 0, false
	}
	return min(sum, most), true
}

// extreme is the linear program over all joint laws of the bits at row i.
func (p problem) extreme(t *testing.T, i int, labels []float64, sign float64) float64 {
	t.Helper()
	m := p.Code.Bits()
	e, order := mat.Row(nil, i, p.Errors), make([]int, m)
	for k := range order {
		order[k] = k
	}
	slices.SortFunc(order, func(a, b int) int { return int(math.Copysign(1, e[b]-e[a])) })
	basis, set := []int{0}, 0 // of a nested law
	for _, k := range order {
		set |= 1 << k
		basis = append(basis, set)
	}
	a, costs := mat.NewDense(m+1, 1<<m, nil), make([]float64, 1<<m)
	for s := range costs {
		a.Set(0, s, 1)
		for k := range m {
			a.Set(k+1, s, float64(s>>k&1))
		}
		costs[s] = -sign * p.cost(i+1, labels[uint64(s)^p.Code.Word(i)[0]])
	}
	value, _, err := lp.Simplex(costs, a, append([]float64{1}, e...), 1e-13, basis)
	must.Succeed(t, err)
	return -sign * value
}

// TestRandomProblems holds 500 random problems against enumeration and linear programs, to 1e-10 of
// the largest cost: sums of at most 2¹⁵ products of at most 16 factors. Any law may be wider by what
// its search leaves open, 2·10⁻⁷ of the cost of a level.
func TestRandomProblems(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 58))
	ended := map[string]int{}
	for n := range 500 {
		p := draw(t, rng, n)
		name := fmt.Sprintf("problem %d, %s of %d levels with %s, %s", n, p.Code.Name(), p.Code.Levels(), p.Decoder.Name(),
			p.Cost.Name())
		labels := p.answers()
		scale := p.Cost.Scale(p.Code.Levels()) * float64(p.Code.Levels()) // at least the largest cost, or near it
		near := func(what string, got, want float64) {
			t.Helper()
			must.Near(t, fmt.Sprintf("%s: %s", name, what), want, got, 1e-10*max(1, scale))
		}
		th := must.Get(expect.Of(t.Context(), 1, p.Problem, p.prior, expect.Skip{}))(t)
		confusion := must.Get(expect.Confusion(t.Context(), 1, p.Problem))(t)
		var all expect.Level
		for i, level := range th.Levels {
			outputs := p.probabilities(i)
			var want expect.Level
			row := make([]float64, p.Code.Levels())
			for w, q := range outputs {
				c, d := p.cost(i+1, labels[w]), p.distance(i+1, labels[w])
				want.Mean += q * c
				want.MeanSquare += q * c * c
				want.Square += q * d * d
				m := int(math.Floor(labels[w] + 0.5 + 1e-6))
				if p.Code.Circular() {
					m = (m-1+8*len(row))%len(row) + 1
				}
				row[min(max(m, 1), len(row))-1] += q
			}
			near("mean", level.Mean, want.Mean)
			near("mean square", level.MeanSquare/max(1, scale), want.MeanSquare/max(1, scale))
			near("squared distance", level.Square/float64(p.Code.Levels()), want.Square/float64(p.Code.Levels()))
			for m, q := range row {
				near("confusion", confusion.At(i, m), q)
			}
			all.Mean += p.prior[i] * want.Mean
			all.Square += p.prior[i] * want.Square
			if bound, ok := p.bound(i, outputs); ok != !math.IsNaN(level.Bound) {
				t.Errorf("%s: bound %v of level %d", name, level.Bound, i+1)
			} else if ok {
				ended["bounds"]++
				if !math.IsNaN(bound) {
					near("bound", level.Bound, bound)
				}
				if level.Bound < want.Mean-1e-10*max(1, scale) {
					t.Errorf("%s: bound %v below the mean %v", name, level.Bound, want.Mean)
				}
			}
			p.anyLaw(t, name, i, level, want.Mean, labels, scale, ended)
		}
		near("mean of all", th.Mean.Exact, all.Mean)
		near("RMS", th.RMS, math.Sqrt(all.Square))
		if enclose.Fits(p.Code, p.Decoder) {
			costs := []cost.Cost{p.Cost, p.Cost.Squared()}
			x := must.Get(enclose.New(p.Code, p.Decoder, costs, enclose.Options{Width: math.Pow(10, -12*rng.Float64()),
				Work: 1 << rng.IntN(28)}))(t)
			for i, l := range th.Levels {
				for k, v := range must.Get(x.Row(t.Context(), i, mat.Row(nil, i, p.Errors)))(t) {
					want := []float64{l.Mean, l.Square}[k]
					if !(v.Lo <= want*(1+1e-10) && want*(1-1e-10) <= v.Hi) {
						t.Errorf("%s, level %d, %s: %v does not hold %v", name, i+1, costs[k].Name(), v, want)
					}
					if v.Width() < 1e-6 {
						ended["narrow intervals"]++
					}
				}
			}
		}
	}
	for what, least := range map[string]int{"bounds": 2000, "any law": 150, "narrow intervals": 500, "named bounds": 50} {
		if ended[what] < least {
			t.Errorf("%s: %d were looked at, want %d", what, ended[what], least)
		}
	}
}

// anyLaw holds any law of a level against the linear program, and against the field's bounds of
// P(answer ≠ n).
func (p problem) anyLaw(t *testing.T, name string, i int, level expect.Level, mean float64, labels []float64,
	scale float64, ended map[string]int) {
	t.Helper()
	if level.AnyLaw == nil {
		return
	}
	lo, hi := level.AnyLaw[0], level.AnyLaw[1]
	slack := 3e-7 * scale
	if mean < lo-1e-10*scale || mean > hi+1e-10*scale {
		t.Errorf("%s, level %d: any law from %v to %v, and a law has %v", name, i+1, lo, hi, mean)
	}
	if p.Code.Bits() <= 7 && i == p.Code.Bits()%p.Code.Levels() { // any row
		ended["any law"]++
		least, most := p.extreme(t, i, labels, -1), p.extreme(t, i, labels, 1)
		if lo > least+1e-10*scale || hi < most-1e-10*scale || lo < least-slack || hi > most+slack {
			t.Errorf("%s, level %d: any law from %v to %v, by enumeration from %v to %v", name, i+1, lo, hi, least, most)
		}
	}
	if _, gen := p.Decoder.(decode.Gen); gen && p.Cost.Name() == "zero-one" {
		ended["named bounds"]++
		nearest, sum := math.MaxInt, 0.0
		for m := range p.Code.Levels() {
			if m != i {
				nearest = min(nearest, p.Code.Distance(i, m))
			}
		}
		for k := range p.Code.Bits() {
			sum += p.Errors.At(i, k)
		}
		// 2·M·ē/ρ (Guruswami and Sahai; Allwein, Schapire and Singer), and 4·ē for hadamard
		bound := 2 * sum / float64(nearest)
		if hi > bound+slack {
			t.Errorf("%s, level %d: P(answer ≠ n) up to %v, and the bound by distance is %v", name, i+1, hi, bound)
		}
		if p.Code.Name() == "hadamard" && hi > 4*sum/float64(p.Code.Bits())+slack {
			t.Errorf("%s, level %d: P(answer ≠ n) up to %v, above 4ē", name, i+1, hi)
		}
	}
}

// TestStepsOfCosts: where bits need not be ones before zeros, the steps of the cost as they are do not
// bound it: a false one of the furthest bit costs as much as that of the nearest.
func TestStepsOfCosts(t *testing.T) {
	c := must.Get(code.New("unary", 4))(t)
	d := must.Get(decode.New("bel-u", c))(t)
	zeroOne := must.Get(cost.Parse("zero-one", 4, false))(t)
	e := []float64{0, 0, 0.25}
	b := must.Get(theory.NewBound(c, d, zeroOne))(t)
	must.Within(t, "bound", must.Get(b.Row(t.Context(), 0, e))(t), 0.25, 0.25) // and not |C(1,1) − C(1,2)|·0
}

// TestConfusionOfPaths: gen on a path of any size has a confusion matrix, whose mean error is in the
// interval; other codes of many bits have none.
func TestConfusionOfPaths(t *testing.T) {
	c := must.Get(code.New("unary", 48))(t)
	p := &expect.Problem{Code: c, Decoder: must.Get(decode.New("gen", c))(t), Errors: mat.NewDense(48, 47, nil)}
	rng := rand.New(rand.NewPCG(2, 58))
	p.Errors.(*mat.Dense).Apply(func(_, _ int, _ float64) float64 { return rng.Float64() / 3 }, p.Errors)
	th := must.Get(expect.Of(t.Context(), 1, p, theory.Uniform(48), expect.Skip{AnyLaw: true}))(t)
	m, mean := must.Get(expect.Confusion(t.Context(), 2, p))(t), 0.0
	for i := range 48 {
		must.Within(t, "probability", mat.Sum(m.RowView(i)), 1-1e-12, 1+1e-12)
		for k := range 48 {
			mean += m.At(i, k) * math.Abs(float64(k-i)) / 48
		}
	}
	must.Within(t, "mean", mean, *th.Mean.ExactLo*(1-1e-12), *th.Mean.ExactHi*(1+1e-12))
	h := must.Get(code.New("hadamard", 64))(t)
	p = &expect.Problem{Code: h, Decoder: must.Get(decode.New("gen", h))(t), Errors: mat.NewDense(64, h.Bits(), nil)}
	if _, err := expect.Confusion(t.Context(), 1, p); !errors.Is(err, theory.ErrNoClosedForm) {
		t.Errorf("hadamard: %v", err)
	}
}
