package theory

import (
	"context"
	"math"

	"gonum.org/v1/gonum/mat"

	"belsim/theory/base/matrix"
	"belsim/theory/code"
	"belsim/theory/cost"
	"belsim/theory/decode"
)

// johnson has the zeros and the ones of J(v, M), v > 0, each from where they meet outwards: the sums that a
// row needs of the first so many. A row of a mixture begins as its neighbour does, but for the last bits, so
// that most sums are those of the row before.
type johnson struct {
	oneErrors []float64
	zeros     []zeros
	ones      []ones
	z, n      int // of the row: how many there are
	last      []ones

	table  *mat.Dense // whose rows begin as the rows before, in so many zeros and ones
	shared [][2]int
}

// zeros are sums over the first so many zeros, that false ones are among them.
type zeros struct {
	farthest, nearest float64 // mean distances of the farthest and the nearest false one from the ones, 0 for none
	some, none        float64 // the probabilities that there are false ones, and none
	kept              float64 // the sum of none over these zeros
}

// ones are sums over the first so many ones, or the last.
type ones struct {
	lost, left float64 // the probabilities that all are lost, and that one is left
	sum        float64 // of lost, from one on
}

func (o ones) and(e float64) ones {
	lost := o.lost * e
	return ones{lost, o.left + o.lost*(1-e), o.sum + lost}
}

func newJohnson(bits int) *johnson {
	j := &johnson{oneErrors: make([]float64, bits), zeros: make([]zeros, bits+1), ones: make([]ones, bits+1),
		last: make([]ones, bits+1)}
	j.zeros[0], j.ones[0], j.last[0] = zeros{none: 1}, ones{lost: 1}, ones{lost: 1}
	return j
}

// bitsOf says where the bits of J(v, M) are, zeros before ones up to v = M: how many zeros and ones, the
// first of either kind, and the step to the next one.
func bitsOf(v, m int) (z, n, zero, one, away int) {
	if v > m {
		return v - m, 2*m - v, 2*m - v, 2*m - v - 1, -1
	}
	return m - v, v, m - v - 1, m - v, 1
}

// set takes the probabilities r·e of the bits of J(v, M), of which the first zeros and ones are those of the
// row before.
func (x *johnson) set(v int, r float64, e []float64, same [2]int) {
	var zero, one, away int
	x.z, x.n, zero, one, away = bitsOf(v, len(e))
	for j := same[0]; j < x.z; j++ {
		p := r * e[zero-j*away]
		s, distance := x.zeros[j], float64(j+1)
		none := s.none * (1 - p)
		x.zeros[j+1] = zeros{s.farthest*(1-p) + distance*p, s.nearest + distance*p*s.none, s.some*(1-p) + p, none,
			s.kept + none}
	}
	for j := same[1]; j < x.n; j++ {
		p := r * e[one+j*away]
		x.oneErrors[j] = p
		x.ones[j+1] = x.ones[j].and(p)
	}
}

// rows sets the rows of a table whose weight is above zero, and calls use after each. It reports false, and
// does nothing, unless the table is a number times another one that is kept. Row i has Johnson value i + first.
func (x *johnson) rows(e mat.Matrix, first int, weights []float64, use func(i int)) bool {
	m, ok := e.(interface{ Scaled() (float64, *mat.Dense) })
	if !ok {
		return false
	}
	r, u := m.Scaled()
	if u == nil {
		return false
	}
	if x.table != u {
		x.share(u, first)
	}
	var same [2]int
	for i, shared := range x.shared {
		same = [2]int{min(same[0], shared[0]), min(same[1], shared[1])}
		if weights != nil && weights[i] == 0 {
			continue
		}
		if i+first > 0 {
			x.set(i+first, r, u.RawRowView(i), same)
			same = [2]int{x.z, x.n}
		}
		use(i)
	}
	return true
}

// share finds out how many zeros and ones the rows of a table share with the rows before.
func (x *johnson) share(u *mat.Dense, first int) {
	levels, bits := u.Dims()
	x.table, x.shared = u, make([][2]int, levels)
	before, now := [2][]float64{}, [2][]float64{}
	for i := max(0, 1-first); i < levels; i++ {
		z, n, zero, one, away := bitsOf(i+first, bits)
		row := u.RawRowView(i)
		for k, from := range [2]int{zero, one} {
			step, count := []int{-away, away}[k], []int{z, n}[k]
			now[k] = now[k][:0]
			for j := range count {
				now[k] = append(now[k], row[from+j*step])
			}
			same := &x.shared[i][k]
			for *same < min(count, len(before[k])) && now[k][*same] == before[k][*same] {
				*same++
			}
		}
		before, now = now, before
	}
}

// newBelJBound is Eq. 26 for the rows of a Johnson code: see johnson.bound. It is no bound where bits
// err together.
//
// The words of level n+1 of johnson are the words of level n of johnson-nonzero, and the
// decoder answers one more. So the errors are the same but for one output: the word without
// ones is level 1 and not M+1. Where level 1 is further off, the probability of this output
// times the difference is added. Level 1 itself, the all-zero word, errs by (M+1−f)+(M−l),
// both terms positive, whose expectation is taken as it is.
func newBelJBound(d decode.BelJ) (row func(i int, e []float64) float64,
	ofTable func(e mat.Matrix, weights []float64) []float64) {
	m, x, first := d.Bits(), newJohnson(d.Bits()), d.First()
	bound := func(v int) float64 {
		if first == 1 {
			return x.bound()
		}
		further := v - max(m-v, v-m)
		return x.bound() + float64(max(further, 0))*x.zeros[x.z].none*x.ones[x.n].lost
	}
	row = func(i int, e []float64) float64 {
		if i+first == 0 {
			return zeroWordError(e)
		}
		x.set(i+first, 1, e, [2]int{})
		return bound(i + first)
	}
	return row, func(e mat.Matrix, weights []float64) []float64 {
		levels, _ := e.Dims()
		out := make([]float64, levels)
		if !x.rows(e, first, weights, func(i int) {
			if i+first == 0 {
				out[i] = zeroWordError(matrix.Row(nil, i, e))
			} else {
				out[i] = bound(i + first)
			}
		}) {
			return nil
		}
		return out
	}
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

// bound is Eq. 26 for label n of johnson-nonzero on M bits, 1 ≤ n ≤ 2M−1. With z = M−n leading zeros, for
// n ≤ M,
//
//	Σ_{k=1..z}   (z+1−k)·e_k·Π_{j<k} (1−e_j)
//	+ Σ_{k=z+1..M} Π_{j=z+1..k} e_j
//	+ Σ_{k=z+1..M} Π_{j=k..M} e_j
//	+ (Π_{j=z+1..M} e_j) · Σ_{k=1..z} Π_{j=k..z} (1−e_j).
//
// For n > M the code word is the mirror image of the code word of label 2M−n. So the bound is the
// bound of label 2M−n with the probabilities e in reverse order. (The paper's Eq. 27 sums the expression
// for n ≤ M over all labels, which is an error.)
//
// It is a bound, not an equality: it uses the triangle inequality on Tf and Tl, and drops a
// factor Π_{j≤z} (1−e_j). O(M).
func (x *johnson) bound() float64 {
	z, o, last := x.zeros[x.z], x.ones[x.n], ones{lost: 1}
	for k := x.n - 1; k >= 0 && last.lost > negligible*last.sum; k-- {
		last = last.and(x.oneErrors[k])
	}
	return z.farthest + o.sum + last.sum + o.lost*z.kept
}

// negligible is relatively so little that M² of it change no digit.
const negligible = 0x1p-80

// absolute is the mean |error|, from what becomes of the z zeros and of the n ones, two independent halves,
// where the error of an output without ones is empty. Let G ones be lost at the far end, and F where zeros
// and ones meet, before the first one that is left. The error is G−F without a false one, and G+j with
// false ones, of which the farthest is at distance j. Where no one is left it is n−1+j+j', with the nearest
// false one at distance j'. With the probabilities p_s that all of the first s ones are lost, and q_s that
// all of the last s are,
//
//	E[|G−F|; one is left] = Σ_{s<n} p_s·(1−q_{min(s,n−s)}) + q_s·(1−p_{min(s,n−s)}),
//	E[G; one is left] = Σ_{s<n} q_s·(1−p_{n−s}),
//
// since P(F ≥ s > G) is the probability that the first s ones are lost, and that one of those of the last s
// is left that are not among them. All terms are positive, so nothing cancels. The products fall, and are
// left out once they are negligible. O(M).
func (x *johnson) absolute(empty float64) float64 {
	n, apart, gone := x.n, 0.0, 0.0 // apart is E[|G−F|; one is left], gone E[G; one is left]
	q := ones{lost: 1}
	for s := 1; s < n; s++ {
		p, rest := &x.ones[s], &x.ones[n-s]
		q = q.and(x.oneErrors[n-s])
		x.last[s] = q
		gone += q.lost * rest.left
		if s <= n-s {
			apart += p.lost*q.left + q.lost*p.left
		} else {
			apart += p.lost*x.last[n-s].left + q.lost*rest.left
		}
		if least := negligible * apart; p.lost <= least && q.lost <= least {
			break
		}
	}
	z, o := x.zeros[x.z], x.ones[n]
	return z.farthest*o.left + z.some*gone + z.none*(apart+o.lost*empty) +
		o.lost*(z.farthest+z.nearest+float64(n-1)*z.some)
}

// belJForm is the law of bel-j. Its answers take O(M + width²), where width is the number of the places
// that are likely enough to change a mean.
type belJForm struct {
	code               *code.Code
	decoder            decode.BelJ
	i, v               int // the row, and the Johnson value of its word
	e                  []float64
	halves             *johnson  // unless v is 0
	first, last, after []float64 // of answers, by positions from 1
	sums, labels       []float64 // of answers, by f+l
	least              float64   // places that are less likely are left out of answers
	all                bool      // none is left out
}

func newBelJForm(c *code.Code, d decode.BelJ) *belJForm {
	array := func() []float64 { return make([]float64, d.Bits()+1) }
	return &belJForm{code: c, decoder: d, halves: newJohnson(d.Bits()), first: array(), last: array(), after: array()}
}

func (x *belJForm) set(_ context.Context, i int, e []float64) error {
	x.i, x.v, x.e = i, i+x.decoder.First(), e
	if x.v > 0 {
		x.halves.set(x.v, 1, e, [2]int{})
	}
	x.all = false
	return nil
}

// whole implements cutForm.
func (x *belJForm) whole(context.Context) error {
	x.all = true
	return nil
}

// left implements cutForm.
func (x *belJForm) left() float64 { return 2 * float64(len(x.e)) * x.least }

// means implements tableForm.
func (x *belJForm) means(_ context.Context, weights []float64, e mat.Matrix, out []float64) (bool, error) {
	first := x.decoder.First()
	return x.halves.rows(e, first, weights, func(i int) {
		if x.i, x.v = i, i+first; x.v == 0 {
			x.e = matrix.Row(x.e, i, e)
		}
		out[i] = x.absolute()
	}), nil
}

func (x *belJForm) mean(c cost.Cost) (float64, bool) { return x.absolute(), c.Absolute() }

func (x *belJForm) absolute() float64 {
	if x.v == 0 {
		return zeroWordError(x.e)
	}
	return x.halves.absolute(math.Abs(float64(x.decoder.Empty() - x.i - 1)))
}

// answers is the law of 2M+1−f−l, with the first one at f and the last one at l:
//
//	P(f, l) = A_f·B_l,  A_f = P(bit f is one)·Π_{k<f} P(bit k is zero),
//	                    B_l = P(bit l is one)·Π_{k>l} P(bit k is zero),  for f < l,
//
// because the bits between them are free. One bit alone and no bit at all are added to that. Places are
// left out that are so unlikely that together they could not change the mean error by 2⁻⁷⁸ of it, even by
// errors of 2M levels.
func (x *belJForm) answers() Answers {
	m := len(x.e)
	at := x.places()
	x.sums = append(x.sums[:0], make([]float64, 2*m+1)...)
	for f := at.first; f <= at.end; f++ {
		from, w := max(at.lo, f+1), x.first[f]
		if from > at.hi || w <= x.least {
			continue
		}
		to := x.sums[f+from:]
		for j, p := range x.last[from : at.hi+1] {
			to[j] += float64(w * p)
		}
	}
	for f := 1; f <= m; f++ {
		x.sums[2*f] += x.first[f] * x.after[f]
	}
	a := Answers{x.labels[:0], x.sums[:0]}
	zero := x.decoder.At(0, 0)
	for s, p := range x.sums {
		if p > 0 {
			a.Labels, a.Probabilities = append(a.Labels, float64(zero-s)), append(a.Probabilities, p)
		}
	}
	a.Labels, a.Probabilities = append(a.Labels, float64(x.decoder.Empty())), append(a.Probabilities, at.none)
	x.labels = a.Labels
	return a
}

// places are the likely places of the first one, first to end, and of the last one, lo to hi, and
// the probability that there is none.
type places struct {
	first, end, lo, hi int
	none               float64
}

// places prepares first, last and after for the row.
func (x *belJForm) places() places {
	m, word := len(x.e), x.code.Word(x.i)
	bit := func(k int) (one, zero float64) { // from 1
		e := x.e[k-1]
		if word[(k-1)/64]>>((k-1)%64)&1 == 0 {
			return e, 1 - e
		}
		return 1 - e, e
	}
	after := 1.0
	for l := m; l >= 1; l-- {
		one, zero := bit(l)
		x.last[l], x.after[l] = one*after, after
		after *= zero
	}
	none := 1.0
	for f := 1; f <= m; f++ {
		one, zero := bit(f)
		x.first[f] = one * none
		none *= zero
	}
	x.least = 0
	if !x.all {
		x.least = 0x1p-80 * x.absolute() / float64(m*m)
	}
	likely := func(p []float64) (lo, hi int) {
		for lo, hi = 1, m; lo < hi && p[lo] <= x.least; {
			lo++
		}
		for ; hi > lo && p[hi] <= x.least; hi-- {
		}
		return lo, hi
	}
	first, end := likely(x.first)
	lo, hi := likely(x.last)
	return places{first, end, lo, hi, none}
}
