package theory

import (
	"context"
	"math"
	"math/bits"

	"belsim/theory/code"
	"belsim/theory/cost"
)

// newUnionBound returns the union bound for gen on hard decisions:
//
//	E C(n, answer) ≤ Σ_{m≠n} C(n,m) · P(at least half of the bits in which rows n and m differ are wrong),
//
// since gen cannot prefer row m to row n with fewer. Each probability is the
// tail of a Poisson-binomial law, taken by the direct recurrence.
//
// O(L·(M/64 + bits that can err)) a row, and O(d·d/2) more for each of the rows
// m, at distance d, whose term can matter.
func newUnionBound(c *code.Code, cost cost.Cost) boundOf { return sumOf(newUnion(c), cost) }

// union calls add for the rows m that may be preferred to row i, whose bits err with probabilities
// e: with most(m), above what an answer m costs, and with the bound of its probability. What add
// returns is the sum so far, and rows are left out that cannot change it. The error is the
// context's.
type union func(ctx context.Context, i int, e []float64, most func(m int) float64,
	add func(m int, most, tail float64) (sum float64)) error

// sumOf is the sum of a union under a cost.
func sumOf(each union, cost cost.Cost) boundOf {
	return func(ctx context.Context, i int, e []float64) (sum float64, err error) {
		err = each(ctx, i, e, func(m int) float64 { return cost.Of(i+1, float64(m+1)) },
			func(_ int, of, tail float64) float64 {
				sum += of * tail
				return sum
			})
		return sum, err
	}
}

// newUnion is the union of newUnionBound.
func newUnion(c *code.Code) union {
	log2Factorial := make([]float64, c.Bits()+2)
	for k := 2; k < len(log2Factorial); k++ {
		log2Factorial[k] = log2Factorial[k-1] + math.Log2(float64(k))
	}
	far := math.Log2(float64(c.Levels())) + 60.1 // log2Above is up to 0.1 too large
	words := len(c.Word(0))
	canErr := make([]uint64, words)
	differ := make([]uint64, words)
	tail := make([]float64, c.Bits()+2)

	return func(ctx context.Context, i int, e []float64, most func(m int) float64,
		use func(m int, most, tail float64) float64) error {
		clear(canErr)
		for k, p := range e {
			if p > 0 {
				canErr[k/64] |= 1 << (k % 64)
			}
		}
		word := c.Word(i)
		least := math.Inf(-1)
		add := func(m int) {
			distance, able := 0, 0
			lambda := 0.0
			for j, w := range c.Word(m) {
				d := w ^ word[j]
				distance += bits.OnesCount64(d)
				d &= canErr[j]
				able += bits.OnesCount64(d)
				differ[j] = d
				for ; d != 0; d &= d - 1 {
					lambda += e[64*j+bits.TrailingZeros64(d)]
				}
			}
			half := (distance + 1) / 2
			if able < half {
				return
			}
			// The tail is at most λ^half/half!, the sum over all sets of half bits, with λ = Σe.
			// Where the term is below 2⁻⁶⁰/L of the sum so far it is left out: L of them do not
			// change the sum.
			of := most(m)
			if float64(half)*log2Above(lambda)+log2Above(of)-log2Factorial[half] < least {
				return
			}
			least = log2Above(use(m, of, PoissonBinomialTail(tail[:half+1], differ, e))) - far
		}
		// Near levels first: they have the large terms.
		for step := 1; i-step >= 0 || i+step < c.Levels(); step++ {
			if step%16 == 0 { // 65,536 bits take 10 ms a level
				if err := ctx.Err(); err != nil {
					return err
				}
			}
			if i-step >= 0 {
				add(i - step)
			}
			if i+step < c.Levels() {
				add(i + step)
			}
		}
		return nil
	}
}

// log2Above is at least log₂ x for x > 0, and a tenth more at most unless x is subnormal: the bits
// of x, as a number, are log₂ x + 1023 in units of 2⁻⁵² at powers of two, and linear between them.
func log2Above(x float64) float64 { return float64(math.Float64bits(x))*0x1p-52 - 1022.9 }

// PoissonBinomialTail returns the probability that at least t of the bits in a
// packed set err, with probabilities e. law is scratch of length t+1, whose last state absorbs.
//
// Most thresholds are small. Up to three, the law is in registers, and begins so many states below
// the last one: its numbers are those of the loop, since what a state of 0 adds is 0.
func PoissonBinomialTail(law []float64, set []uint64, e []float64) float64 {
	t := len(law) - 1
	if t >= 1 && t <= 3 {
		var below [3]float64
		below[3-t] = 1
		a, b, c, last := below[0], below[1], below[2], 0.0
		for j, w := range set {
			for ; w != 0; w &= w - 1 {
				p := e[64*j+bits.TrailingZeros64(w)]
				last += float64(c * p)
				c = float64(c*(1-p)) + float64(b*p)
				b = float64(b*(1-p)) + float64(a*p)
				a *= 1 - p
			}
		}
		return last
	}
	clear(law)
	law[0] = 1
	// Three bits at a time; four would not fit in the registers of WebAssembly. Each state is that of the first
	// bit, then of the second, and so on, whose numbers are those of one bit at a time. The last state takes what
	// comes from the one below it, bit by bit.
	top, need := 0, t // highest state in use; lowest from which the bits that are left lead to the last
	for _, w := range set {
		need -= bits.OnesCount64(w)
	}
	three := func(p1, p2, p3 float64) {
		q1, q2, q3 := 1-p1, 1-p2, 1-p3
		need += 3
		top = min(top+3, t)
		// Unless it is 0, the state below from is right only before the first bit. So states are right before the
		// second bit from from on, before the third from from+1 on, and after it from need on.
		from := max(1, need-2)
		a := law[from-1] // of the state before, before each of the bits
		b := a * q1
		c := b * q2
		law[from-1] = c * q3
		states := law[from:max(from, min(top, t-1)+1)]
		for s, now := range states {
			first := float64(now*q1) + float64(a*p1)
			second := float64(first*q2) + float64(b*p2)
			states[s] = float64(second*q3) + float64(c*p3)
			a, b, c = now, first, second
		}
		if top == t {
			law[t] += float64(a * p1)
			law[t] += float64(b * p2)
			law[t] += float64(c * p3)
		}
	}
	var p [3]float64
	n := 0
	for j, w := range set {
		for ; w != 0; w &= w - 1 {
			p[n] = e[64*j+bits.TrailingZeros64(w)]
			if n++; n == len(p) {
				three(p[0], p[1], p[2])
				n = 0
			}
		}
	}
	if n > 0 { // and bits that never err
		clear(p[n:])
		three(p[0], p[1], p[2])
	}
	return law[t]
}
