package theory

import (
	"belsim/theory/code"
)

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
// O(M·width), where width is that of the part of the distributions that can
// matter; see countLaw.
func newBelUExact(c *code.Code) func(i int, e []float64) Moments {
	x, y := newCountLaw(c.Bits()), newCountLaw(c.Bits())
	return func(i int, e []float64) Moments {
		largest, total := 0.0, 0.0
		for _, p := range e {
			if p > largest {
				largest = p
			}
			total += p
		}
		// What is left out is a bit that errs 2⁸⁰ times less often than
		// another, and counts so unlikely that they could not change the mean
		// by 2⁻⁷⁰ of min(1, Σe), even at the far end and at every step.
		least := largest * 0x1p-80
		m := float64(len(e) + 1)
		cut := 0x1p-70 * min(1, total) / (m * m)
		x.start(cut)
		y.start(cut)

		// For the unary code this is from the ends inwards, so that the bits
		// next to the label's transition, with the large probabilities, come
		// last and the distributions stay narrow until then.
		word := c.Word(i)
		for k, p := range e {
			if p > least && word[k/64]>>(k%64)&1 == 1 {
				y.add(p)
			}
		}
		for k := len(e) - 1; k >= 0; k-- {
			if p := e[k]; p > least && word[k/64]>>(k%64)&1 == 0 {
				x.add(p)
			}
		}
		x.finish()
		y.finish()
		bias := x.mean - y.mean
		return Moments{Mean: meanDifference(x, y), MeanSquare: x.variance + y.variance + bias*bias}
	}
}

// meanDifference is E|X−Y|.
func meanDifference(x, y *countLaw) float64 {
	lo, hi := min(x.lo, y.lo), max(x.hi, y.hi)
	// Upper tails from above, so that small ones are exact; lower ones from
	// below in the second pass.
	y.tail[hi], x.tail[hi] = 0, 0
	for t := hi; t > lo; t-- {
		x.tail[t-1] = x.tail[t] + x.at(t)
		y.tail[t-1] = y.tail[t] + y.at(t)
	}
	sum, f, g := 0.0, 0.0, 0.0
	for t := lo; t < hi; t++ {
		f += x.at(t)
		g += y.at(t)
		sum += f*y.tail[t] + g*x.tail[t]
	}
	return sum
}

// countLaw is the distribution of the number of errors among independent bits:
// p[n+pad] for lo ≤ n ≤ hi. Counts at either end that are less likely than least
// are dropped as it grows.
type countLaw struct {
	p, tail        []float64
	lo, hi         int
	least          float64
	mean, variance float64
	waiting        [group]float64
	n              int // number of waiting bits
}

const (
	// group is how many bits are taken at a time: with the five coefficients
	// of their joint distribution one pass over p does the work of four.
	group = 4
	pad   = group // entries below zero, always 0
)

func newCountLaw(bits int) *countLaw {
	return &countLaw{p: make([]float64, bits+1+2*pad), tail: make([]float64, bits+1+2*pad)}
}

func (l *countLaw) start(least float64) {
	clear(l.p)
	l.p[pad] = 1
	l.lo, l.hi, l.n = 0, 0, 0
	l.mean, l.variance = 0, 0
	l.least = least
}

// at is P(count = n).
func (l *countLaw) at(n int) float64 {
	if n < l.lo || n > l.hi {
		return 0
	}
	return l.p[n+pad]
}

// add adds a bit that errs with probability e.
func (l *countLaw) add(e float64) {
	l.mean += e
	l.variance += e * (1 - e)
	l.waiting[l.n] = e
	if l.n++; l.n == group {
		l.flush()
	}
}

// finish takes in the bits that wait.
func (l *countLaw) finish() {
	if l.n > 0 {
		clear(l.waiting[l.n:])
		l.flush()
	}
}

// jointLaw is the distribution of the number of errors of a group: that of one
// half convolved with that of the other.
func jointLaw(e [group]float64) [group + 1]float64 {
	f, g, h, k := 1-e[0], 1-e[1], 1-e[2], 1-e[3]
	a0, a1, a2 := f*g, e[0]*g+f*e[1], e[0]*e[1]
	b0, b1, b2 := h*k, e[2]*k+h*e[3], e[2]*e[3]
	return [group + 1]float64{a0 * b0, a0*b1 + a1*b0, a0*b2 + a1*b1 + a2*b0, a1*b2 + a2*b1, a2 * b2}
}

// flush convolves p with the distribution of the waiting bits.
func (l *countLaw) flush() {
	c := jointLaw(l.waiting)
	// Downwards, so that every entry is made from ones that are still old.
	// What lies below lo is zero.
	top := l.hi + l.n
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
	l.n = 0
	for l.lo < l.hi && l.p[l.lo+pad] < l.least {
		l.p[l.lo+pad] = 0
		l.lo++
	}
	for l.lo < l.hi && l.p[l.hi+pad] < l.least {
		l.p[l.hi+pad] = 0
		l.hi--
	}
}
