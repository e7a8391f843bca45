package enclose_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"belsim/errmodel"
	"belsim/theory"
	"belsim/theory/base/must"
	"belsim/theory/code"
	"belsim/theory/cost"
	"belsim/theory/decode"
	"belsim/theory/enclose"
)

func named(tb testing.TB, name string, levels int) (*code.Code, decode.Decoder) {
	tb.Helper()
	c := must.Get(code.New(name, levels))(tb)
	d := must.Get(decode.New("gen", c))(tb)
	return c, d
}

func mixture(tb testing.TB, c *code.Code, r, sigma float64) mat.Matrix {
	tb.Helper()
	return must.Get(errmodel.NewMixture(context.Background(), c, r, sigma))(tb)
}

// shuffled is a code of random words.
func shuffled(tb testing.TB, rng *rand.Rand, levels, bits int) *code.Code {
	tb.Helper()
	m := mat.NewDense(levels, bits, nil)
	for i, w := range rng.Perm(1 << bits)[:levels] {
		for k := range bits {
			m.Set(i, k, float64(w>>k&1))
		}
	}
	return must.Get(code.FromMatrix("random", m))(tb)
}

// random is a table of probabilities of very different sizes, with zeros and ones among them.
func random(rng *rand.Rand, c *code.Code) *mat.Dense {
	e := mat.NewDense(c.Levels(), c.Bits(), nil)
	most := math.Pow(10, -3*rng.Float64())
	for i := range c.Levels() {
		for k := range c.Bits() {
			v := most * rng.Float64()
			switch rng.IntN(12) {
			case 0, 1:
				v = 0
			case 2:
				v = float64(rng.IntN(3)) / 2
			case 3, 4, 5:
				v = math.Pow(v, 5)
			}
			e.Set(i, k, v)
		}
	}
	return e
}

// TestWalk: intervals hold the values of a recurrence at codes that are too large for an
// enumeration. The agreement of an output with the words of unary, one after the other, is a walk,
// and gen finds the first place of its maximum. The recurrence adds positive products of at most 99
// factors, each of three roundings.
func TestWalk(t *testing.T) {
	const rounding = 1e-12
	rng := rand.New(rand.NewPCG(3, 4))
	for _, levels := range []int{40, 100} {
		c, d := named(t, "unary", levels)
		e := random(rng, c)
		e.Scale(0.3, e)
		for _, width := range []float64{1e-3, 1e-6, 1e-9} {
			x := must.Get(enclose.New(c, d, []cost.Cost{{}}, enclose.Options{Width: width, Work: 1 << 24}))(t)
			for _, i := range []int{0, 1, levels / 2, levels - 1} {
				row := mat.Row(nil, i, e)
				want := walk(i, row)
				got := must.Get(x.Row(t.Context(), i, row))(t)[0]
				if !(got.Lo <= want*(1+rounding) && want*(1-rounding) <= got.Hi && got.Width() <= width) {
					t.Errorf("unary of %d levels, level %d: %v does not hold %v, or is wider than %v", levels, i+1, got,
						want, width)
				}
			}
		}
	}
}

// TestParts: a path, a rotated path and a tree give the same. The codes are too large for an
// enumeration; intervals that are computed in different ways must overlap, and so must
// intervals of different widths.
func TestParts(t *testing.T) {
	ctx := context.Background()
	rng := rand.New(rand.NewPCG(3, 4))
	for _, tt := range []struct {
		name   string
		levels int
	}{{"unary", 40}, {"johnson", 64}, {"b1jdj", 100}, {"onehot", 24}} {
		c, d := named(t, tt.name, tt.levels)
		// The same code behind columns that change twice, and never err: no path any more.
		m := mat.NewDense(c.Levels(), c.Bits()+2, nil)
		m.Slice(0, c.Levels(), 0, c.Bits()).(*mat.Dense).Copy(c)
		for i := range c.Levels() {
			m.Set(i, c.Bits(), float64(i&1))
			m.Set(i, c.Bits()+1, float64(1-i&1))
		}
		// Two columns that err always, in half of the words each, are no news to any word.
		twin := must.Get(code.FromMatrix("twin", m))(t)
		twinGen := must.Get(decode.New("gen", twin))(t)
		e := random(rng, c)
		e.Scale(0.3, e)
		for _, i := range []int{0, 1, c.Levels() / 2, c.Levels() - 1} {
			row := mat.Row(nil, i, e)
			var all []enclose.Interval
			for _, width := range []float64{1e-3, 1e-6, 1e-9} {
				x := must.Get(enclose.New(c, d, []cost.Cost{{}}, enclose.Options{Width: width, Work: 1 << 24}))(t)
				v := must.Get(x.Row(ctx, i, row))(t)[0]
				all = append(all, v)
			}
			x := must.Get(enclose.New(twin, twinGen, []cost.Cost{{}}, enclose.Options{Width: 1e-6, Work: 1 << 24}))(t)
			// One of the two added bits errs always: they say nothing together.
			v := must.Get(x.Row(ctx, i, append(row, 0, 1)))(t)[0]
			all = append(all, v)
			for _, a := range all {
				for _, b := range all {
					if a.Lo > b.Hi {
						t.Errorf("%s, level %d: %v and %v are both said to hold the mean", tt.name, i+1, a, b)
					}
				}
			}
			if w := all[2].Width(); tt.name == "unary" && w > 1e-10 {
				t.Errorf("unary: an interval of width %v", w)
			}
		}
	}
}

// walk is the mean |error| at row i of unary with gen.
func walk(i int, e []float64) float64 {
	law := [][]float64{{1}} // by the place of the maximum so far, and by how far the walk is below it
	for k, p := range e {
		up, down := p, 1-p // the probabilities that bit k is one, and zero
		if k < i {
			up, down = down, up
		}
		next := make([][]float64, k+2)
		for at := range next {
			next[at] = make([]float64, k+2)
		}
		for at, below := range law {
			for q, v := range below {
				next[at][q+1] += v * down
				if q == 0 {
					next[k+1][0] += v * up
				} else {
					next[at][q-1] += v * up
				}
			}
		}
		law = next
	}
	mean := 0.0
	for at, below := range law {
		for _, v := range below {
			mean += v * math.Abs(float64(at-i))
		}
	}
	return mean
}

// TestTinyProbabilities: what is too small beside the rest of an error, or for a float64, is inside
// the interval all the same; an error of 0 that is certain stays 0.
func TestTinyProbabilities(t *testing.T) {
	words := func(rows ...string) *code.Code {
		m := mat.NewDense(len(rows), len(rows[0]), nil)
		for i, row := range rows {
			for k, b := range row {
				m.Set(i, k, float64(b-'0'))
			}
		}
		return must.Get(code.FromMatrix("tiny", m))(t)
	}
	for _, test := range []struct {
		name string
		code *code.Code
		e    []float64
		at   float64 // the error is a little more than that
	}{
		// The output is the second word, but for two wrong bits, which make it the third one: with
		// their probability, 10⁻³⁴, the error is 2 and not 1.
		{"beside 1", words("00000", "11110", "11101"), []float64{1, 1, 1, 1 - 1e-4, 1e-30}, 1},
		// One path; two wrong bits of 10⁻²⁰⁰ make the error 1.
		{"underflow", words("000", "111"), []float64{1e-200, 1e-200, 1e-200}, 0},
	} {
		d := must.Get(decode.New("gen", test.code))(t)
		x := must.Get(enclose.New(test.code, d, []cost.Cost{{}}, enclose.DefaultOptions()))(t)
		v := must.Get(x.Row(t.Context(), 0, test.e))(t)[0]
		if v.Lo > test.at || v.Hi <= test.at || v.Hi > test.at+1e-14 {
			t.Errorf("%s: %v; want an interval that goes from %v to a little above", test.name, v, test.at)
		}
		clear(test.e)
		if v = must.Get(x.Row(t.Context(), 0, test.e))(t)[0]; v != (enclose.Interval{}) {
			t.Errorf("%s: %v where no bit errs; want 0", test.name, v)
		}
	}
}

// TestMixtures: intervals are narrow where errors are rare, and on paths always.
func TestMixtures(t *testing.T) {
	ctx := context.Background()
	for _, tt := range []struct {
		name     string
		levels   int
		r, sigma float64
		width    float64
	}{
		{"unary", 64, 0.6, 1.5, 1e-10},
		{"johnson", 64, 0.6, 1.5, 1e-6},
		{"b1jdj", 64, 0.6, 1.5, 1e-6},
		{"b2jdj", 64, 0.6, 1.5, 1e-6},
		{"hexj", 64, 0.6, 1.5, 1e-6},
		{"unary", 1024, 100, 100, 1e-10},
		{"johnson", 1024, 2, 5, 1e-6},
		{"johnson", 1024, 10, 20, 1e-6},
		{"johnson", 1024, 100, 50, 1e-6}, // most outputs near the true word are likelier to be nearer to another
		{"johnson", 1024, 200, 100, 1e-6},
		{"johnson", 1024, 240, 100, 1e-6},
		{"b1jdj", 256, 0.5, 3, 1e-6},
	} {
		c, d := named(t, tt.name, tt.levels)
		e := mixture(t, c, tt.r, tt.sigma)
		x := must.Get(enclose.New(c, d, []cost.Cost{{}}, enclose.DefaultOptions()))(t)
		for _, i := range []int{0, 5, tt.levels / 2} {
			v := must.Get(x.Row(ctx, i, mat.Row(nil, i, e)))(t)[0]
			if v.Width() > tt.width {
				t.Errorf("%s of %d levels, r = %v, σ = %v, level %d: %v has width %.2g, want %v", tt.name, tt.levels,
					tt.r, tt.sigma, i+1, v, v.Width(), tt.width)
			}
		}
	}
}

// TestWorkers: any number of workers gives the same intervals; rows without prior are left out.
func TestWorkers(t *testing.T) {
	c, d := named(t, "b1jdj", 28)
	e := mixture(t, c, 0.5, 1.5)
	prior := theory.Uniform(28)
	prior[3], prior[4] = 0, prior[3]+prior[4]
	var first []enclose.Interval
	for workers := 1; workers <= 3; workers++ {
		rows := must.Get(enclose.Rows(context.Background(), workers, c, d, []cost.Cost{{}}, prior, e, enclose.DefaultOptions()))(t)[0]
		if rows[3] != (enclose.Interval{}) {
			t.Errorf("a row without prior has %v", rows[3])
		}
		if first == nil {
			first = rows
		}
		for i := range rows {
			if rows[i] != first[i] {
				t.Fatalf("%d workers, level %d: %v, but one worker gives %v", workers, i+1, rows[i], first[i])
			}
		}
	}
	// The exact value: 8 bits are enumerated.
	means := must.Get(must.Get(theory.NewLaw(t.Context(), math.MaxInt, c, d))(t).Means(t.Context(), 1, nil, e, cost.Cost{}))(t)
	mean := enclose.Mean(prior, first)
	want := 0.0
	for i, m := range means {
		want += prior[i] * m
	}
	if want < mean.Lo || want > mean.Hi || mean.Width() > 1e-6 {
		t.Errorf("%v (width %.2g), want to hold %v", mean, mean.Width(), want)
	}
}

// TestMeanRounded: a mean of intervals without a width holds the exact mean, which sums round.
func TestMeanRounded(t *testing.T) {
	exact := new(big.Rat).Mul(new(big.Rat).SetFloat64(0.1), new(big.Rat).SetFloat64(0.3))
	exact.Mul(exact, big.NewRat(10, 1))
	v := enclose.Mean(theory.Uniform(10), slices.Repeat([]enclose.Interval{{Lo: 0.3, Hi: 0.3}}, 10))
	if new(big.Rat).SetFloat64(v.Lo).Cmp(exact) > 0 || new(big.Rat).SetFloat64(v.Hi).Cmp(exact) < 0 {
		t.Errorf("%v does not hold %v", v, exact)
	}
}

// TestTooWide: where errors are frequent a few rows tell so; a context ends the work.
func TestTooWide(t *testing.T) {
	c, d := named(t, "hadamard", 64)
	e := mixture(t, c, 0.6, 1.5)
	if _, err := enclose.Rows(context.Background(), 0, c, d, []cost.Cost{{}}, theory.Uniform(64), e,
		enclose.DefaultOptions()); !errors.Is(err, enclose.ErrTooWide) {
		t.Errorf("frequent errors: error %v, want ErrTooWide", err)
	}
	// Four rows tell: together up to 1 % of their error wide, and two of them up to 4 %.
	narrow, wide := 0.0, math.Inf(1)
	few := shuffled(t, rand.New(rand.NewPCG(7, 8)), 32, 14)
	gen := must.Get(decode.New("gen", few))(t)
	for p := 0.001; p < 0.1; p *= 1.1 {
		e, o := mat.NewDense(32, 14, slices.Repeat([]float64{p}, 32*14)), enclose.Options{Width: 1e-9, Work: 1 << 15}
		x, widths, sum := must.Get(enclose.New(few, gen, []cost.Cost{{}}, o))(t), [4]float64{}, enclose.Interval{}
		for j := range widths {
			v := must.Get(x.Row(t.Context(), 4+8*j, mat.Row(nil, 4+8*j, e)))(t)[0]
			sum.Lo, sum.Hi = sum.Lo+v.Lo, sum.Hi+v.Hi
			widths[j] = sum.Width()
		}
		_, err := enclose.Rows(t.Context(), 1, few, gen, []cost.Cost{{}}, theory.Uniform(32), e, o)
		wider := max(widths[1]/0.04, widths[3]/0.01)
		if want := wider > 1; errors.Is(err, enclose.ErrTooWide) != want {
			t.Errorf("e = %v: rows are %.3g wide, error %v", p, widths, err)
		} else if want {
			wide = min(wide, wider)
		} else {
			narrow = max(narrow, wider)
		}
	}
	if narrow < 0.5 || wide > 2 {
		t.Errorf("the widths nearest to the limits are %v and %v times as large", narrow, wide)
	}
	few, gen = named(t, "b1jdj", 32)
	// Without work all are wide, and errors below 10⁻¹² do not matter.
	for r, want := range map[float64]bool{3e-14: false, 6e-14: true} {
		_, err := enclose.Rows(t.Context(), 1, few, gen, []cost.Cost{{}}, theory.Uniform(32), mixture(t, few, r, 1.5),
			enclose.Options{})
		if errors.Is(err, enclose.ErrTooWide) != want {
			t.Errorf("r = %v: error %v, want ErrTooWide: %v", r, err, want)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := enclose.Rows(ctx, 0, c, d, []cost.Cost{{}}, theory.Uniform(64), e,
		enclose.DefaultOptions()); !errors.Is(err, context.Canceled) {
		t.Errorf("a context that has ended: error %v", err)
	}
	u := must.Get(decode.New("gen-ex", c))(t)
	if _, err := enclose.New(c, u, []cost.Cost{{}}, enclose.DefaultOptions()); !errors.Is(err, theory.ErrNoClosedForm) {
		t.Errorf("gen-ex: error %v, want ErrNoClosedForm", err)
	}
}

// wide is a level of a code of random words of many bits, with which many words can be nearest.
func wide(tb testing.TB, levels, bits int, p float64) (*code.Code, []float64) {
	tb.Helper()
	rng := rand.New(rand.NewPCG(11, uint64(levels*bits)))
	m := mat.NewDense(levels, bits, nil)
	e := make([]float64, bits)
	for k := range bits {
		e[k] = p * rng.Float64()
		for i := range levels {
			m.Set(i, k, float64(rng.IntN(2)))
		}
	}
	c := must.Get(code.FromMatrix("wide", m))(tb)
	return c, e
}

// hard are levels on which all of the work is spent that is allowed, or too much would be.
func hard(tb testing.TB, each func(name string, c *code.Code, i int, e []float64)) {
	tb.Helper()
	for _, h := range []struct {
		name     string
		levels   int
		r, sigma float64
	}{{"b1jdj", 256, 4, 10}, {"b2jdj", 256, 2, 5}, {"b1jdj", 1024, 4, 10}, {"johnson", 1024, 240, 100}} {
		c, _ := named(tb, h.name, h.levels)
		i := h.levels / 3
		each(fmt.Sprintf("%s of %d levels", h.name, h.levels), c, i, mat.Row(nil, i, mixture(tb, c, h.r, h.sigma)))
	}
	for _, h := range []struct {
		levels, bits int
		p            float64
	}{{1024, 1024, 0.4}, {24, 100, 0.5}} {
		c, e := wide(tb, h.levels, h.bits, h.p)
		each(fmt.Sprintf("%d words of %d bits", h.levels, h.bits), c, 0, e)
	}
}

// TestScratchBound: what an encloser holds after a level, which is all of its scratch memory, is
// within the bound of the package's comment.
func TestScratchBound(t *testing.T) {
	const work = 1 << 23
	held := func() int64 {
		var s runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&s)
		return int64(s.HeapAlloc)
	}
	hard(t, func(name string, c *code.Code, i int, e []float64) {
		d := must.Get(decode.New("gen", c))(t)
		before := held()
		x := must.Get(enclose.New(c, d, []cost.Cost{{}}, enclose.Options{Width: 1e-9, Work: work}))(t)
		if _, err := x.Row(context.Background(), i, e); err != nil && !errors.Is(err, enclose.ErrTooWide) {
			t.Fatal(err)
		}
		holds := held() - before
		runtime.KeepAlive(x)
		runtime.KeepAlive(c)
		runtime.KeepAlive(e)
		t.Logf("%s: %.1f MiB", name, float64(holds)/(1<<20))
		if bound := int64(256*(c.Levels()+c.Bits()) + 4<<20); holds > bound {
			t.Errorf("%s: an encloser holds %d bytes, more than %d", name, holds, bound)
		}
	})
}

// countdown is a context that ends when it was asked so many times.
type countdown struct {
	context.Context
	left, asked int
}

func (c *countdown) Err() error {
	if c.asked++; c.asked > c.left {
		return context.Canceled
	}
	return nil
}

// TestCancelled: wherever a context ends in the midst of a level, the work ends the next time that
// the context is asked, and it is asked often: at least once for some 2²⁰ scores of candidates,
// which are some milliseconds.
func TestCancelled(t *testing.T) {
	const work, often = 1 << 22, 1 << 20
	hard(t, func(name string, c *code.Code, i int, e []float64) {
		d := must.Get(decode.New("gen", c))(t)
		x := must.Get(enclose.New(c, d, []cost.Cost{{}}, enclose.Options{Width: 1e-9, Work: work}))(t)
		whole := countdown{Context: context.Background(), left: math.MaxInt}
		if _, err := x.Row(&whole, i, e); err != nil && !errors.Is(err, enclose.ErrTooWide) {
			t.Fatal(err)
		}
		if whole.asked < work/often {
			t.Errorf("%s: the context is asked %d times", name, whole.asked)
		}
		for _, left := range []int{whole.asked / 3, whole.asked - 1} {
			ctx := countdown{Context: context.Background(), left: left}
			if _, err := x.Row(&ctx, i, e); !errors.Is(err, context.Canceled) || ctx.asked > left+2 {
				t.Errorf("%s: a context that ends when it was asked %d times of %d is asked %d times: error %v", name,
					left, whole.asked, ctx.asked, err)
			}
		}
	})
}
