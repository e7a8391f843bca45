package theory

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"belsim/theory/code"
	"belsim/theory/cost"
)

// belUBound is Eq. 2: with counting, E|error| ≤ Σ_k e_k. O(M).
func belUBound(_ int, e []float64) float64 {
	sum := 0.0
	for _, p := range e {
		sum += p
	}
	return sum
}

// belUBounds are those of all rows of a window, whose sums are those of the first bits of its sequence.
func belUBounds(e mat.Matrix, _ []float64) []float64 {
	w := Window(e)
	if w == nil {
		return nil
	}
	m := len(w)
	sums, out := make([]float64, m+1), make([]float64, m+1)
	for k, p := range w {
		sums[k+1] = sums[k] + p
	}
	for i := range out {
		out[i] = sums[i] + sums[m-i]
	}
	return out
}

// newStepsBound is Eq. 2 under a cost: Σ_k w_k·e_k, with w_k the steps of the cost away from the label,
// |C(n,k) − C(n,k+1)|, of which none is below those nearer to the label.
//
// With X false ones and Y false zeros the answer is n+X−Y, and the cost is at most what the first X
// steps above n add up to, or the first Y below. Steps that do not fall add up to no more over the
// first X bits than over any X bits. This is the bound of Li and Lin (NIPS 2006), whose weights, the
// steps as they are, need convex costs where bits need not be ones before zeros: by them a false one
// of a far bit would cost nothing where only the first step does.
func newStepsBound(c *code.Code, cost cost.Cost) func(i int, e []float64) float64 {
	return func(i int, e []float64) float64 {
		sum := 0.0
		side := func(from, to, away int) {
			step, before := 0.0, 0.0
			for k := from; k != to; k += away {
				level := k + 1 // that the bit leads to
				if away > 0 {
					level++
				}
				now := cost.Of(i+1, float64(level))
				step, before = max(step, now-before), now
				sum += step * e[k]
			}
		}
		side(i, c.Bits(), 1)
		side(i-1, -1, -1)
		return sum
	}
}

// belUForm is the law of counting. The error is the number X of false ones minus the number Y of
// false zeros: two independent Poisson-binomial variables, which are built by the direct
// recurrence, accurate to the smallest probabilities.
//
// A row costs O(M·width), where width is the width of the part of the distributions that can
// matter. It costs O(width) where the row has the probabilities of the row before, shifted by
// one bit, as in a mixture. See countLaws. The law of X−Y takes O(width²) more.
type belUForm struct {
	x, y *countLaws // without what is unlikely

	wholeX, wholeY *countLaws // with it; nil until they are asked for

	zeros, ones []float64 // the probabilities of their errors
	fx, fy      *countLaw // of the row
	level       int
	law         Answers
	e           []float64
	without     float64 // see left
}

func (b *belUForm) set(ctx context.Context, i int, e []float64) error {
	largest := slices.Max(e)
	b.level, b.e = i+1, e
	// The bits, and the counts at either end of as many laws as there are bits.
	m := float64(len(e))
	b.without = m*unlikely*largest + 2*m*leastCount(largest, len(e))
	return b.count(ctx, b.x, b.y, leastCount(largest, len(e)), unlikely*largest)
}

// whole implements cutForm.
func (b *belUForm) whole(ctx context.Context) error {
	b.without = 0
	if b.wholeX == nil {
		b.wholeX, b.wholeY = newCountLaws(len(b.e)), newCountLaws(len(b.e))
	}
	return b.count(ctx, b.wholeX, b.wholeY, math.SmallestNonzeroFloat64, 0)
}

// left implements cutForm.
func (b *belUForm) left() float64 { return b.without }

// count prepares the laws of both counts, of bits that err more often than some do.
func (b *belUForm) count(ctx context.Context, x, y *countLaws, least, rarest float64) (err error) {
	i, e := b.level-1, b.e
	// Row i of the unary code has its ones before bit i. From there
	// outwards a shifted row begins like its neighbour.
	b.zeros, b.ones = b.zeros[:0], b.ones[:0]
	for _, p := range e[i:] {
		if p > rarest {
			b.zeros = append(b.zeros, p)
		}
	}
	for k := i - 1; k >= 0; k-- {
		if e[k] > rarest {
			b.ones = append(b.ones, e[k])
		}
	}
	if b.fx, err = x.law(ctx, b.zeros, least); err == nil {
		b.fy, err = y.law(ctx, b.ones, least)
	}
	return err
}

// unlikely is the part of the largest probability of a row below which a bit does not matter, and
// leastCount is the probability of counts that matter.
//
// What is left out is a bit that errs 2⁸⁰ times less often than another, and counts so unlikely that they
// could not change the mean by 2⁻⁷⁰ of the largest e, even at the far end and at every step.
const unlikely = 0x1p-80

func leastCount(largest float64, bits int) float64 {
	m := float64(bits + 1)
	return 0x1p-70 * largest / (m * m)
}

func (b *belUForm) answers() Answers {
	x, y := b.fx, b.fy
	width := len(x.p) + len(y.p) - 1
	first := b.level + x.lo - y.lo - (len(y.p) - 1) // the lowest answer
	a := &b.law
	a.Labels, a.Probabilities = a.Labels[:0], append(a.Probabilities[:0], make([]float64, width)...)
	for m := range width {
		a.Labels = append(a.Labels, float64(first+m))
	}
	for k, q := range y.p {
		to := a.Probabilities[len(y.p)-1-k:]
		for j, p := range x.p {
			to[j] += float64(p * q)
		}
	}
	return *a
}

func (b *belUForm) mean(c cost.Cost) (float64, bool) { return apart(b.fx, b.fy), c.Absolute() }

// means are the means of all rows of a window, of sequence e, whose weight is above zero: the laws of its
// first bits are those of either side. Without the bits that cannot matter most labels have the same, and
// two labels as far from either end the same mean.
func (b *belUForm) means(ctx context.Context, weights []float64, table mat.Matrix, out []float64) (bool, error) {
	e := Window(table)
	if e == nil || len(e) > keptLaws {
		return false, nil
	}
	m, of := len(e), len(e)
	largest := slices.Max(e)
	for of > 0 && e[of-1] <= unlikely*largest {
		of--
	}
	laws := b.x
	if _, err := laws.law(ctx, e[:of], leastCount(largest, m)); err != nil {
		return false, err
	}
	known := make([]float64, of+1) // means by the bits to the nearer end
	for i := range out {
		if weights != nil && weights[i] == 0 {
			continue
		}
		near := min(i, m-i, of)
		if known[near] == 0 {
			known[near] = apart(laws.after(near), laws.after(min(m-near, of)))
		}
		out[i] = known[near]
	}
	return true, nil
}

// apart is E|X−Y| = E[(Y−X)⁺] + E[(X−Y)⁺]. With the laws f and g of X and Y, and their distribution functions F and G,
//
//	E|X−Y| = Σ_s g(s)·Σ_{t<s} F(t) + f(s)·Σ_{t<s} G(t),
//
// where every term is positive, so nothing cancels, and both inner sums grow with s.
func apart(x, y *countLaw) float64 {
	if x.lo > y.lo {
		x, y = y, x
	}
	var f, g, ofF, ofG, sum float64    // F(s−1) and G(s−1), and the sums of F and G below s
	before := min(y.lo-x.lo, len(x.p)) // counts that X alone can have; and then the gap without any
	for _, p := range x.p[:before] {
		ofF += f
		f += p
	}
	ofF += f * float64(y.lo-x.lo-before)
	both := min(len(x.p)-before, len(y.p))
	q := y.p[:both]
	for s, p := range x.p[before : before+both] {
		ofF, ofG = ofF+f, ofG+g
		sum += q[s]*ofF + p*ofG
		f, g = f+p, g+q[s]
	}
	for _, q := range y.p[both:] {
		ofF += f
		sum += q * ofF
	}
	for _, p := range x.p[before+both:] {
		ofG += g
		sum += p * ofG
	}
	return sum
}

// countLaws gives the distribution of the number of errors among bits, and keeps those of the first
// bits: when the same probabilities come again, in the same order, nothing is computed twice.
type countLaws struct {
	least float64
	e     []float64 // probabilities of the bits whose laws are kept
	laws  []countLaw
}

// keptLaws limits the bits whose laws are kept, which take 4 MiB at most; those of further ones
// take turns in two places.
const keptLaws = 1024

func newCountLaws(bits int) *countLaws {
	l := &countLaws{laws: make([]countLaw, min(bits, keptLaws+2)+1)}
	l.laws[0].p = []float64{1}
	return l
}

// after is the law of the first j bits.
func (l *countLaws) after(j int) *countLaw {
	if j > keptLaws {
		j = keptLaws + 1 + j%2
	}
	return &l.laws[j]
}

// law returns the distribution of the number of errors among bits with probabilities e, in which
// counts less likely than least at either end are left out. It is good until the next call. The
// error is the context's.
func (l *countLaws) law(ctx context.Context, e []float64, least float64) (*countLaw, error) {
	same := 0
	for least == l.least && same < min(len(e), len(l.e)) && e[same] == l.e[same] {
		same++
	}
	l.e, l.least = l.e[:same], least
	for j := same; j < len(e); j++ {
		if j%64 == 0 {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
		}
		l.after(j+1).add(l.after(j), e[j], least)
		if j < keptLaws {
			l.e = append(l.e, e[j])
		}
	}
	return l.after(len(e)), nil
}

// countLaw is a distribution of a number of errors: p[n−lo] for so many n from lo on, and zero
// elsewhere.
type countLaw struct {
	p, room []float64 // room begins where p may
	lo      int
}

// add makes the law the one of some bits and one more, which errs with probability e. Counts at
// either end that are less likely than least are left out.
func (l *countLaw) add(before *countLaw, e, least float64) {
	from := before.p
	l.room = slices.Grow(l.room[:0], len(from)+1)
	p := l.room[:len(from)+1]
	one, not := 0.0, 1-e // the probability of one error less
	for n, now := range from {
		p[n] = now*not + one*e
		one = now
	}
	p[len(from)] = one * e
	l.lo = before.lo
	for len(p) > 1 && p[len(p)-1] < least {
		p = p[:len(p)-1]
	}
	for len(p) > 1 && p[0] < least {
		p = p[1:]
		l.lo++
	}
	l.p = p
}
