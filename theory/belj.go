package theory

import (
	"context"
	"math"

	"belsim/theory/code"
	"belsim/theory/cost"
	"belsim/theory/decode"
)

func belJBoundOf(_ *code.Code, d decode.Decoder, cost cost.Cost) (*Bound, bool) {
	j, ok := d.(decode.BelJ)
	if !ok || !cost.Absolute() {
		return nil, false
	}
	name := "Eq. 26"
	if j.ZeroWord() {
		name = "Eq. 26, one level lower, with terms for the all-zero word"
	}
	return &Bound{Name: name, Row: noWait(newBelJBound(j))}, true
}

func belJExactOf(c *code.Code, d decode.Decoder) (func() momentsOf, bool) {
	j, ok := d.(decode.BelJ)
	return func() momentsOf { return newBelJExact(c, j) }, ok
}

// split returns the error probabilities of the bits of J(v, M) that are zero and
// of those that are one, as they stand in e, and whether the zeros stand behind
// the ones.
func split(v int, e []float64) (zeros, ones []float64, mirrored bool) {
	m := len(e)
	if v > m {
		return e[2*m-v:], e[:2*m-v], true
	}
	return e[:m-v], e[m-v:], false
}

// newBelJBound is Eq. 26 for the rows of a Johnson code: see belJBound. It is no bound where bits
// err together.
//
// The words of level n+1 of johnson are the words of level n of johnson-nonzero, and the
// decoder answers one more. So the errors are the same but for one output: the word without
// ones is level 1 and not M+1. Where level 1 is further off, the probability of this output
// times the difference is added. Level 1 itself, the all-zero word, errs by (M+1−f)+(M−l),
// both terms positive, whose expectation is taken as it is.
func newBelJBound(d decode.BelJ) func(i int, e []float64) float64 {
	m := d.Bits()
	return func(i int, e []float64) float64 {
		if !d.ZeroWord() {
			zeros, ones, mirrored := split(i+1, e)
			return belJBound(zeros, ones, mirrored)
		}
		if i == 0 {
			return zeroWordError(e)
		}
		zeros, ones, mirrored := split(i, e)
		bound := belJBound(zeros, ones, mirrored)
		if further := i - max(m-i, i-m); further > 0 {
			bound += float64(further) * noOne(zeros, ones)
		}
		return bound
	}
}

// noOne is the probability that every bit is zero.
func noOne(zeros, ones []float64) float64 {
	none := 1.0
	for _, p := range ones {
		if none *= p; none == 0 {
			return 0
		}
	}
	for _, p := range zeros {
		none *= 1 - p
	}
	return none
}

// zeroWordError is E[(M+1−f) + (M−l); some bit is one] when every bit should be
// zero: the first sum of Eq. 26 from both ends, where M−l = (M+1−l)−1.
func zeroWordError(e []float64) float64 {
	m := len(e)
	sum, none := 0.0, 1.0
	for k, p := range e {
		sum += float64(m-k) * p * none
		none *= 1 - p
	}
	none = 1
	for k := m - 1; k >= 0; k-- {
		sum += float64(m-1-k) * e[k] * none
		none *= 1 - e[k]
	}
	return sum
}

// belJBound is Eq. 26 for label n of johnson-nonzero on M bits, 1 ≤ n ≤ 2M−1, from what split
// returns. With z = M−n leading zeros, for n ≤ M,
//
//	Σ_{k=1..z}   (z+1−k)·e_k·Π_{j<k} (1−e_j)
//	+ Σ_{k=z+1..M} Π_{j=z+1..k} e_j
//	+ Σ_{k=z+1..M} Π_{j=k..M} e_j
//	+ (Π_{j=z+1..M} e_j) · Σ_{k=1..z} Π_{j=k..z} (1−e_j).
//
// For n > M the code word is the mirror image of the code word of label 2M−n. So the bound is the
// bound of label 2M−n with the probabilities e in reverse order, in which the second and the third
// sum change places. (The paper's Eq. 27 sums the expression for n ≤ M over all labels, which is an
// error.)
//
// It is a bound, not an equality: it uses the triangle inequality on Tf and Tl, and drops a
// factor Π_{j≤z} (1−e_j). O(M).
func belJBound(zeros, ones []float64, mirrored bool) float64 {
	m, z := len(zeros)+len(ones), len(zeros)

	// The products of the second and the third sum only fall. Once M of them
	// could not change the last digit they are left out, and the fourth sum, at
	// most z times the last product, with them. Loops that do not depend on each
	// other run as one, because each is a chain of multiplications that waits
	// for itself.
	const negligible = 0x1p-70
	whole, tail, sum2, sum3 := 1.0, 1.0, 0.0, 0.0
	last := len(ones) - 1
	for k, p := range ones {
		whole *= p
		tail *= ones[last-k]
		sum2 += whole
		sum3 += tail
		if (whole+tail)*float64(m) <= negligible*(sum2+sum3) {
			whole = 0
			break
		}
	}

	sum1, none := 0.0, 1.0
	sum4, kept := 0.0, 1.0
	far := float64(z)
	k, step := 0, 1
	if mirrored {
		k, step = z-1, -1
	}
	for range z {
		p := zeros[k]
		sum1 += far * p * none
		none *= 1 - p
		far--
		kept *= 1 - zeros[z-1-k]
		sum4 += kept
		k += step
	}
	return sum1 + sum2 + sum3 + whole*sum4
}

// newBelJExact returns the exact error of bel-j. The decoder reads only the
// first one, at f, and the last one, at l, of the output: for the label of
// Johnson value v the error is c−f−l with c = 2M+1−v, and
//
//	P(f, l) = A_f·B_l,  A_f = P(bit f is one)·Π_{k<f} P(bit k is zero),
//	                    B_l = P(bit l is one)·Π_{k>l} P(bit k is zero),  for f < l,
//
// because the bits between them are free. One bit alone and no bit at all are
// added to that. The double sum over f < l of A_f·B_l·|c−f−l| takes O(M): see
// the comments inside. All terms are positive, so nothing cancels.
func newBelJExact(c *code.Code, d decode.BelJ) momentsOf {
	m := d.Bits()
	x := &belJExact{
		bits:  m,
		one:   make([]float64, m+2),
		zero:  make([]float64, m+2),
		last:  make([]float64, m+2),
		after: make([]float64, m+2),
		above: make([]powers, m+2),
		first: make([]float64, m+2),
	}
	return func(_ context.Context, i int, e []float64) (Moments, error) { // O(M)
		n, v := i+1, i+1
		if d.ZeroWord() {
			v = i
		}
		word := c.Word(i)
		for k, p := range e {
			if word[k/64]>>(k%64)&1 == 0 {
				x.one[k+1], x.zero[k+1] = p, 1-p
			} else {
				x.one[k+1], x.zero[k+1] = 1-p, p
			}
		}
		if c.Uneven() {
			return x.placed(2*m+1-v, d.Empty()-n, func(err int) float64 { return c.Place(i+err) - c.Place(i) }), nil
		}
		return x.moments(2*m+1-v, float64(d.Empty()-n)), nil
	}
}

// powers are sums of B_l, B_l·distance and B_l·distance² over some l.
type powers struct{ zeroth, first, second float64 }

// away returns the sums after every distance has grown by t ≥ 0.
func (s powers) away(t float64) powers {
	return powers{s.zeroth, s.first + t*s.zeroth, s.second + t*(2*s.first+t*s.zeroth)}
}

// belJExact holds the arrays of newBelJExact, indexed by positions from 1.
type belJExact struct {
	bits      int
	one, zero []float64
	first     []float64 // A_f
	last      []float64 // B_l
	after     []float64 // after[k] = Π_{j>k} zero[j]
	above     []powers  // above[k]: over l > k, distance l−k
}

// placed are the moments where levels are uneven, in O(M²): at says how far an error of so many
// levels is.
func (x *belJExact) placed(c, empty int, at func(err int) float64) (out Moments) {
	before := 1.0
	for f := 1; f <= x.bits; f++ {
		w := before * x.one[f]
		before *= x.zero[f]
		last := 1.0 // no one after l
		for l := x.bits; l > f; l-- {
			out.add(w*x.one[l]*last, at(c-f-l))
			last *= x.zero[l]
		}
		out.add(w*last, at(c-2*f))
	}
	out.add(before, at(empty))
	return out
}

func (x *belJExact) moments(c int, empty float64) Moments {
	m := x.bits
	x.after[m] = 1
	x.above[m] = powers{}
	var up powers
	after := 1.0
	for l := m; l >= 1; l-- {
		w := x.one[l] * after
		after *= x.zero[l]
		x.last[l], x.after[l-1] = w, after
		// Away by 1, and w at distance 1.
		up.second += 2*up.first + up.zeroth + w
		up.first += up.zeroth + w
		up.zeroth += w
		x.above[l-1] = up
	}
	var sum Moments
	before := 1.0
	for f := 1; f <= m; f++ {
		w := x.one[f] * before
		before *= x.zero[f]
		x.first[f] = w
		// One bit alone.
		alone, err := w*x.after[f], float64(c-2*f)
		sum.Mean += alone * math.Abs(err)
		sum.MeanSquare += alone * err * err
	}
	sum.Mean += before * math.Abs(empty) // no bit at all
	sum.MeanSquare += before * empty * empty

	// f < l. With t = c−f the error is t−l. Those l above t, and above f, are
	// at hand in above, at distances from t that are at least those from f.
	for f := 1; f < m; f++ {
		t := c - f
		var s powers
		switch {
		case t <= f:
			s = x.above[f].away(float64(f - t))
		case t < m:
			s = x.above[t]
		}
		sum.Mean += x.first[f] * s.first
		sum.MeanSquare += x.first[f] * s.second
	}
	// Those l between f and t: going down with f, t goes up; every distance t−l
	// grows by one and the interval takes in its two ends.
	lastAt := func(l int) float64 {
		if l > m {
			return 0
		}
		return x.last[l]
	}
	// They start from f = t or f+1 = t, with nothing between. As c ≤ 2M+1, f ≤ M.
	var zeroth, first, second float64
	for f, t := c/2, c-c/2; f > 1; f, t = f-1, t+1 {
		w := lastAt(t)
		second += 2*first + zeroth + w
		first += zeroth + w
		zeroth += w
		if t > f {
			w, distance := x.last[f], float64(t+1-f)
			zeroth += w
			first += w * distance
			second += w * distance * distance
		}
		sum.Mean += x.first[f-1] * first
		sum.MeanSquare += x.first[f-1] * second
	}
	return sum
}
