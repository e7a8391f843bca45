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

// newBelUExact returns the exact error of counting. The error is the number of
// false ones minus the number of false zeros, a walk that each bit moves by one
// step up or down with its own probability; the walk's distribution is built
// bit by bit. All terms are positive, so nothing cancels.
//
// O(M·width), where width is that of the part of the distribution that can
// matter; see walk.
func newBelUExact(c *code.Code) func(i int, e []float64) Moments {
	w := walk{p: make([]float64, 2*c.Bits()+3), origin: c.Bits() + 1}
	return func(i int, e []float64) Moments {
		largest, total := 0.0, 0.0
		for _, p := range e {
			largest = max(largest, p)
			total += p
		}
		// What is left out is a bit that errs 2⁸⁰ times less often than
		// another, and probabilities of the walk that could not change the
		// mean by 2⁻⁷⁰ of min(1, Σe), even at the far end and in every step.
		least := largest * 0x1p-80
		m := float64(len(e) + 1)
		w.start(0x1p-70 * min(1, total) / (m * m))

		// From the ends inwards, the smaller probability first: the walk stays
		// narrow until the bits near the label's own transition, which have
		// the large ones, are taken last. The order changes no result but for
		// rounding.
		word := c.Word(i)
		for lo, hi := 0, len(e)-1; lo <= hi; {
			k := hi
			if e[lo] < e[hi] {
				k = lo
				lo++
			} else {
				hi--
			}
			if e[k] <= least {
				continue
			}
			if word[k/64]>>(k%64)&1 == 0 {
				w.up(e[k])
			} else {
				w.down(e[k])
			}
		}
		return w.moments()
	}
}

// walk is the distribution of a sum of ±1 steps: p[origin+d] for lo ≤ d ≤ hi.
type walk struct {
	p      []float64
	origin int
	lo, hi int // indices into p of the first and the last entry in use
	least  float64
}

// start puts the walk at zero. Entries below least at the ends are dropped.
func (w *walk) start(least float64) {
	clear(w.p)
	w.lo, w.hi = w.origin, w.origin
	w.p[w.origin] = 1
	w.least = least
}

// up adds a step of +1 with probability e.
func (w *walk) up(e float64) {
	stay := 1 - e
	p := w.p[w.lo : w.hi+2]
	for d := len(p) - 1; d > 0; d-- {
		p[d] = p[d]*stay + p[d-1]*e
	}
	p[0] *= stay
	w.hi++
	w.trim()
}

// down adds a step of −1 with probability e.
func (w *walk) down(e float64) {
	stay := 1 - e
	p := w.p[w.lo-1 : w.hi+1]
	last := len(p) - 1
	for d := range last {
		p[d] = p[d]*stay + p[d+1]*e
	}
	p[last] *= stay
	w.lo--
	w.trim()
}

func (w *walk) trim() {
	for w.lo < w.hi && w.p[w.lo] < w.least {
		w.p[w.lo] = 0
		w.lo++
	}
	for w.lo < w.hi && w.p[w.hi] < w.least {
		w.p[w.hi] = 0
		w.hi--
	}
}

// moments of the distance from zero, the small terms first.
func (w *walk) moments() Moments {
	var m Moments
	add := func(at int) {
		d := float64(at - w.origin)
		m.Mean += max(d, -d) * w.p[at]
		m.MeanSquare += d * d * w.p[at]
	}
	lo, hi := w.lo, w.hi
	for lo < w.origin && hi > w.origin {
		if w.origin-lo >= hi-w.origin {
			add(lo)
			lo++
		} else {
			add(hi)
			hi--
		}
	}
	for ; lo < w.origin && lo <= hi; lo++ {
		add(lo)
	}
	for ; hi > w.origin && hi >= lo; hi-- {
		add(hi)
	}
	return m
}
