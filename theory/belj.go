package theory

import (
	"context"
	"math"

	"belsim/theory/code"
	"belsim/theory/cost"
	"belsim/theory/decode"
)

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

// belJForm is the law of bel-j. The decoder reads only the first one, at f, and the last one, at l, of
// the output: for the label of Johnson value v the error is c−f−l with c = 2M+1−v, and
//
//	P(f, l) = A_f·B_l,  A_f = P(bit f is one)·Π_{k<f} P(bit k is zero),
//	                    B_l = P(bit l is one)·Π_{k>l} P(bit k is zero),  for f < l,
//
// because the bits between them are free. One bit alone and no bit at all are added to that. The
// mean Σ A_f·B_l·|c−f−l| over f < l takes O(M), and the law O(M + width²), where width is the number
// of the places that are likely enough to change a mean: see the comments inside. All terms are
// positive, so nothing cancels. Arrays are indexed by positions from 1.
type belJForm struct {
	code                           *code.Code
	decoder                        decode.BelJ
	c                              int
	empty                          float64   // the error of no bit at all
	none                           float64   // its probability
	one, zero, first, last, single []float64 // first is A_f, last is B_l; single is one bit alone
	after                          []float64 // after[k] = Π_{j>k} zero[j]
	above                          []powers  // above[k]: over l > k, distance l−k
	sums, labels                   []float64 // by f+l; the law
}

func newBelJForm(c *code.Code, d decode.BelJ) *belJForm {
	array := func() []float64 { return make([]float64, d.Bits()+2) }
	return &belJForm{code: c, decoder: d, one: array(), zero: array(), first: array(), last: array(), single: array(),
		after: array(), above: make([]powers, d.Bits()+2)}
}

func (x *belJForm) set(_ context.Context, i int, e []float64) error { // O(M)
	m, v := len(e), i+1
	if x.decoder.ZeroWord() {
		v = i
	}
	x.c, x.empty = 2*m+1-v, float64(x.decoder.Empty()-i-1)
	word := x.code.Word(i)
	for k, p := range e {
		if word[k/64]>>(k%64)&1 == 0 {
			x.one[k+1], x.zero[k+1] = p, 1-p
		} else {
			x.one[k+1], x.zero[k+1] = 1-p, p
		}
	}
	x.after[m] = 1
	x.above[m] = powers{}
	var up powers
	after := 1.0
	for l := m; l >= 1; l-- {
		w := x.one[l] * after
		after *= x.zero[l]
		x.last[l], x.after[l-1] = w, after
		// Away by 1, and w at distance 1.
		up.first += up.zeroth + w
		up.zeroth += w
		x.above[l-1] = up
	}
	x.none = 1
	for f := 1; f <= m; f++ {
		x.first[f] = x.one[f] * x.none
		x.none *= x.zero[f]
		x.single[f] = x.first[f] * x.after[f]
	}
	return nil
}

// powers are sums of B_l and of B_l·distance over some l.
type powers struct{ zeroth, first float64 }

func (x *belJForm) mean(c cost.Cost) (float64, bool) {
	if !c.Absolute() {
		return 0, false
	}
	return x.absolute(), true
}

func (x *belJForm) absolute() float64 {
	m, sum := len(x.one)-2, 0.0
	for f := 1; f <= m; f++ {
		sum += x.single[f] * math.Abs(float64(x.c-2*f))
	}
	sum += x.none * math.Abs(x.empty)

	// f < l. With t = c−f the error is t−l. Those l above t, and above f, are
	// at hand in above, at distances from t that are at least those from f.
	for f := 1; f < m; f++ {
		switch t := x.c - f; {
		case t <= f:
			sum += x.first[f] * (x.above[f].first + float64(f-t)*x.above[f].zeroth)
		case t < m:
			sum += x.first[f] * x.above[t].first
		}
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
	var zeroth, first float64
	for f, t := x.c/2, x.c-x.c/2; f > 1; f, t = f-1, t+1 {
		w := lastAt(t)
		first += zeroth + w
		zeroth += w
		if t > f {
			w := x.last[f]
			zeroth += w
			first += w * float64(t+1-f)
		}
		sum += x.first[f-1] * first
	}
	return sum
}

// answers leaves out places that are so unlikely that together they could not change the mean error
// by 2⁻⁷⁸ of it, even by errors of 2M levels.
func (x *belJForm) answers() Answers {
	m := len(x.one) - 2
	x.sums = append(x.sums[:0], make([]float64, 2*m+1)...)
	least := 0x1p-80 * x.absolute() / float64(m*m)
	likely := func(p []float64) (lo, hi int) {
		for lo, hi = 1, m; lo < hi && p[lo] <= least; {
			lo++
		}
		for ; hi > lo && p[hi] <= least; hi-- {
		}
		return lo, hi
	}
	f, end := likely(x.first)
	lo, hi := likely(x.last)
	for ; f <= end; f++ {
		from, w := max(lo, f+1), x.first[f]
		if from > hi || w <= least {
			continue
		}
		to := x.sums[f+from:]
		for j, p := range x.last[from : hi+1] {
			to[j] += float64(w * p)
		}
	}
	for f := 1; f <= m; f++ {
		x.sums[2*f] += x.single[f]
	}
	a := Answers{x.labels[:0], x.sums[:0]}
	level := x.decoder.Empty() - int(x.empty)
	for s, p := range x.sums {
		if p > 0 {
			a.Labels, a.Probabilities = append(a.Labels, float64(level+x.c-s)), append(a.Probabilities, p)
		}
	}
	a.Labels, a.Probabilities = append(a.Labels, float64(x.decoder.Empty())), append(a.Probabilities, x.none)
	x.labels = a.Labels
	return a
}
