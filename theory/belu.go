package theory

import (
	"context"

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
	x, y        *countLaws
	zeros, ones []float64    // the probabilities of their errors
	tails       [][2]float64 // of mean
	fx, fy      *countLaw    // of the row
	level       int
	law         Answers
}

func (b *belUForm) set(ctx context.Context, i int, e []float64) (err error) {
	largest := 0.0
	for _, p := range e { // all are probabilities
		if p > largest {
			largest = p
		}
	}
	// What is left out is a bit that errs 2⁸⁰ times less often than
	// another, and counts so unlikely that they could not change the mean
	// by 2⁻⁷⁰ of the largest e, even at the far end and at every step.
	can := func(p float64) bool { return p > largest*0x1p-80 }
	m := float64(len(e) + 1)
	least := 0x1p-70 * largest / (m * m)

	// Row i of the unary code has its ones before bit i. From there
	// outwards a shifted row begins like its neighbour.
	b.level, b.zeros, b.ones = i+1, b.zeros[:0], b.ones[:0]
	for _, p := range e[i:] {
		if can(p) {
			b.zeros = append(b.zeros, p)
		}
	}
	for k := i - 1; k >= 0; k-- {
		if can(e[k]) {
			b.ones = append(b.ones, e[k])
		}
	}
	if b.fx, err = b.x.law(ctx, b.zeros, least); err == nil {
		b.fy, err = b.y.law(ctx, b.ones, least)
	}
	return err
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

// mean is E|X−Y|. With F and G the distribution functions of X and Y,
//
//	E|X−Y| = Σ_t P(X ≤ t)·P(Y > t) + P(Y ≤ t)·P(X > t),
//
// where every term is positive, so nothing cancels.
func (b *belUForm) mean(c cost.Cost) (float64, bool) {
	if !c.Absolute() {
		return 0, false
	}
	x, y := b.fx, b.fy
	lo, hi := min(x.lo, y.lo), max(x.lo+len(x.p), y.lo+len(y.p))-1
	// Upper tails from above, so that small ones are exact; lower ones from
	// below in the second pass.
	var above [2]float64
	b.tails = b.tails[:0]
	for t := hi; t > lo; t-- {
		above[0] += x.at(t)
		above[1] += y.at(t)
		b.tails = append(b.tails, above)
	}
	sum, f, g := 0.0, 0.0, 0.0
	for t := lo; t < hi; t++ {
		f += x.at(t)
		g += y.at(t)
		above = b.tails[hi-1-t]
		sum += f*above[1] + g*above[0]
	}
	return sum, true
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
	p  []float64
	lo int
}

func (l *countLaw) at(n int) float64 {
	if n < l.lo || n >= l.lo+len(l.p) {
		return 0
	}
	return l.p[n-l.lo]
}

// add makes the law the one of some bits and one more, which errs with probability e. Counts at
// either end that are less likely than least are left out.
func (l *countLaw) add(before *countLaw, e, least float64) {
	l.lo = before.lo
	p, one := l.p[:0], 0.0 // the probability of one error less
	for n := range len(before.p) + 1 {
		now := 0.0
		if n < len(before.p) {
			now = before.p[n]
		}
		v := now*(1-e) + one*e
		one = now
		if v < least && len(p) == 0 {
			l.lo++
			continue
		}
		p = append(p, v)
	}
	for len(p) > 1 && p[len(p)-1] < least {
		p = p[:len(p)-1]
	}
	l.p = p
}
