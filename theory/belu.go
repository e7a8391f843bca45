package theory

import (
	"context"

	"belsim/theory/code"
	"belsim/theory/decode"
)

func belUBoundOf(_ *code.Code, d decode.Decoder) (*Bound, bool) {
	if _, ok := d.(decode.BelU); !ok {
		return nil, false
	}
	row := func(_ int, e []float64) float64 { return BelUBound(e) }
	return &Bound{Name: "Eq. 2", Linear: true, row: noWait(row)}, true
}

func belUExactOf(c *code.Code, d decode.Decoder) (func() momentsOf, bool) {
	_, ok := d.(decode.BelU)
	return func() momentsOf { return newBelUExact(c) }, ok
}

// BelUBound is Eq. 2: with counting, E|error| ≤ Σ_k e_k. O(M).
func BelUBound(e []float64) float64 {
	sum := 0.0
	for _, p := range e {
		sum += p
	}
	return sum
}

// newBelUExact returns the exact error of counting, which is the number X of
// false ones minus the number Y of false zeros: two independent Poisson-binomial
// variables. With F and G their distribution functions,
//
//	E|X−Y| = Σ_t P(X ≤ t)·P(Y > t) + P(Y ≤ t)·P(X > t),
//	E(X−Y)² = Σ e·(1−e) + (E X − E Y)²,
//
// where every term is positive, so nothing cancels. The distributions are built
// by the direct recurrence, which is accurate to the smallest probabilities.
//
// A row costs O(M·width), where width is the width of the part of the distributions that can
// matter. It costs O(width) where the row has the probabilities of the row before, shifted by
// one bit, as in a mixture. See countLaws.
func newBelUExact(c *code.Code) momentsOf {
	x, y := newCountLaws(c.Bits()), newCountLaws(c.Bits())
	return func(ctx context.Context, i int, e []float64) (Moments, error) {
		largest := 0.0
		for _, p := range e {
			if p > largest {
				largest = p
			}
		}
		// What is left out is a bit that errs 2⁸⁰ times less often than
		// another, and counts so unlikely that they could not change the mean
		// by 2⁻⁷⁰ of the largest e, even at the far end and at every step.
		least := largest * 0x1p-80
		m := float64(len(e) + 1)
		x.start(0x1p-70 * largest / (m * m))
		y.start(0x1p-70 * largest / (m * m))

		// Row i of the unary code has its ones before bit i. From there
		// outwards a shifted row begins like its neighbour.
		for k := i - 1; k >= 0; k-- {
			if e[k] > least {
				y.add(e[k])
			}
		}
		for _, p := range e[i:] {
			if p > least {
				x.add(p)
			}
		}
		fx, err := x.law(ctx)
		if err != nil {
			return Moments{}, err
		}
		fy, err := y.law(ctx)
		if err != nil {
			return Moments{}, err
		}
		bias := x.mean - y.mean
		return Moments{Mean: meanDifference(fx, fy), MeanSquare: x.variance + y.variance + bias*bias}, nil
	}
}

// meanDifference is E|X−Y|.
func meanDifference(x, y *countLaw) float64 {
	lo, hi := min(x.lo, y.lo), max(x.hi, y.hi)
	// Upper tails from above, so that small ones are exact; lower ones from
	// below in the second pass.
	y.tail[hi], x.tail[hi] = 0, 0
	for t := hi; t > lo; t-- {
		x.tail[t-1] = x.tail[t] + x.p[t+pad]
		y.tail[t-1] = y.tail[t] + y.p[t+pad]
	}
	sum, f, g := 0.0, 0.0, 0.0
	for t := lo; t < hi; t++ {
		f += x.p[t+pad]
		g += y.p[t+pad]
		sum += f*y.tail[t] + g*x.tail[t]
	}
	return sum
}

// countLaws gives the distribution of the number of errors among bits that are
// added one by one, and remembers it after every group of them: when the same
// probabilities are added again, in the same order, nothing is computed twice.
type countLaws struct {
	least float64
	added []float64  // probabilities of the remembered groups
	after []snapshot // after[j] is the law of the first j groups
	size  int        // numbers remembered

	n              int // bits added since start
	same           int // of them, those that agree with added
	mean, variance float64
	pending, rest  []float64 // those after the first that disagrees; scratch
	current        countLaw
}

type snapshot struct {
	lo int
	p  []float64
}

// maxRemembered limits the numbers that a countLaws remembers (32 MiB); beyond
// it laws are computed again.
const maxRemembered = 4 << 20

func newCountLaws(bits int) *countLaws {
	return &countLaws{
		after:   []snapshot{{0, []float64{1}}},
		current: countLaw{p: make([]float64, bits+1+3*pad), tail: make([]float64, bits+1+3*pad)},
	}
}

// start begins anew, with no bits. Counts less likely than least at either end
// of a law are left out.
func (l *countLaws) start(least float64) {
	if least != l.least {
		l.least = least
		l.forget(0)
	}
	l.n, l.same = 0, 0
	l.mean, l.variance = 0, 0
	l.pending = l.pending[:0]
}

// forget keeps the first groups alone.
func (l *countLaws) forget(groups int) {
	for _, s := range l.after[groups+1:] {
		l.size -= len(s.p)
	}
	l.after = l.after[:groups+1]
	l.added = l.added[:groups*group]
}

// add adds a bit that errs with probability e.
func (l *countLaws) add(e float64) {
	l.mean += e
	l.variance += e * (1 - e)
	if l.same == l.n && l.n < len(l.added) && l.added[l.n] == e {
		l.same++
	} else {
		l.pending = append(l.pending, e)
	}
	l.n++
}

// law returns the distribution of the number of errors of the bits added since
// start. It is good until the next call. The error is the context's.
func (l *countLaws) law(ctx context.Context) (*countLaw, error) {
	groups := l.same / group
	c := &l.current
	c.set(l.after[groups])

	// What follows the last whole group that is remembered.
	l.rest = append(append(l.rest[:0], l.added[groups*group:l.same]...), l.pending...)
	rest := l.rest
	remember := len(rest) >= group
	if remember {
		l.forget(groups)
	}
	for len(rest) > 0 {
		if err := ctx.Err(); err != nil {
			l.forget(0)
			return nil, err
		}
		var e [group]float64
		n := copy(e[:], rest)
		c.convolve(jointLaw(e), n, l.least)
		if remember = remember && n == group && l.size+c.hi-c.lo < maxRemembered; remember {
			l.added = append(l.added, e[:]...)
			s := snapshot{c.lo, append([]float64(nil), c.p[c.lo+pad:c.hi+pad+1]...)}
			l.after = append(l.after, s)
			l.size += len(s.p)
		}
		rest = rest[n:]
	}
	return c, nil
}

// countLaw is a distribution of a number of errors: p[n+pad] for lo ≤ n ≤ hi, and
// zero elsewhere.
type countLaw struct {
	p, tail []float64
	lo, hi  int
}

const (
	// group is how many bits are taken at a time: with the five coefficients
	// of their joint distribution one pass over p does the work of four.
	group = 4
	pad   = group // entries below zero, always 0
)

func (l *countLaw) set(s snapshot) {
	clear(l.p[l.lo+pad : l.hi+pad+1])
	l.lo, l.hi = s.lo, s.lo+len(s.p)-1
	copy(l.p[l.lo+pad:], s.p)
}

// jointLaw is the distribution of the number of errors of a group: the distributions of its
// two halves, convolved.
func jointLaw(e [group]float64) [group + 1]float64 {
	f, g, h, k := 1-e[0], 1-e[1], 1-e[2], 1-e[3]
	a0, a1, a2 := f*g, e[0]*g+f*e[1], e[0]*e[1]
	b0, b1, b2 := h*k, e[2]*k+h*e[3], e[2]*e[3]
	return [group + 1]float64{a0 * b0, a0*b1 + a1*b0, a0*b2 + a1*b1 + a2*b0, a1*b2 + a2*b1, a2 * b2}
}

// convolve adds a group of n bits, whose number of errors has the law c. Counts
// at either end that are less likely than least are dropped.
func (l *countLaw) convolve(c [group + 1]float64, n int, least float64) {
	// Downwards, so that every entry is made from ones that are still old.
	// What lies below lo is zero.
	top := l.hi + n
	p := l.p[l.lo : top+pad+1] // p[0] … p[pad−1] are below lo
	at := len(p) - 1
	c0, c1, c2, c3, c4 := c[0], c[1], c[2], c[3], c[4]
	x0, x1, x2, x3 := p[at], p[at-1], p[at-2], p[at-3]
	for ; at >= pad+3; at -= 4 {
		q := p[at-7 : at+1 : at+1]
		x4, x5, x6, x7 := q[3], q[2], q[1], q[0]
		q[7] = c0*x0 + c1*x1 + (c2*x2 + c3*x3) + c4*x4
		q[6] = c0*x1 + c1*x2 + (c2*x3 + c3*x4) + c4*x5
		q[5] = c0*x2 + c1*x3 + (c2*x4 + c3*x5) + c4*x6
		q[4] = c0*x3 + c1*x4 + (c2*x5 + c3*x6) + c4*x7
		x0, x1, x2, x3 = x4, x5, x6, x7
	}
	for ; at >= pad; at-- {
		x4 := p[at-pad]
		p[at] = c0*x0 + c1*x1 + (c2*x2 + c3*x3) + c4*x4
		x0, x1, x2, x3 = x1, x2, x3, x4
	}
	l.hi = top
	for l.lo < l.hi && l.p[l.lo+pad] < least {
		l.p[l.lo+pad] = 0
		l.lo++
	}
	for l.lo < l.hi && l.p[l.hi+pad] < least {
		l.p[l.hi+pad] = 0
		l.hi--
	}
}
