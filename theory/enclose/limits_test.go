package enclose_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"testing"

	"gonum.org/v1/gonum/mat"

	"belsim/theory/base/must"
	"belsim/theory/code"
	"belsim/theory/cost"
	"belsim/theory/decode"
	"belsim/theory/enclose"
)

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
