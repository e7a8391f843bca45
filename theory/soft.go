package theory

import (
	"context"
	"fmt"
	"math"
	"math/bits"

	"belsim/theory/code"
	"belsim/theory/cost"
	"belsim/theory/decode"
)

// NewSoftBound returns the bound of the mean cost for a code and its decoder on logits with independent normal
// noise: the union bound for gen, at most Largest. The error wraps ErrNoClosedForm for any other decoder.
func NewSoftBound(c *code.Code, d decode.Decoder, cost cost.Cost) (*Bound, error) {
	if !decode.Is[decode.Gen](d) {
		return nil, fmt.Errorf("%w: no bound for decoder %s on logits", ErrNoClosedForm, d.Name())
	}
	b := &Bound{Name: "union bound on logits", Row: newSoftUnionBound(c, cost)}
	return b.cut(c, d, cost), nil
}

// newSoftUnionBound returns the union bound for gen on logits with independent normal noise,
//
//	E C(n, answer) ≤ Σ_{m≠n} C(n,m) · Φ(−μ_m/s_m),
//
// since gen cannot prefer row m to row n unless the difference of their
// correlations is negative, which is normal with the mean μ_m = Σ Φ⁻¹(1−e[n,k])
// over the bits k in which the rows differ, and whose variance s_m² is the number of
// these bits. A code of real numbers has the weights C[n,k] − C[m,k] in a mean, and their
// squares in a variance. The probabilities e are clamped to [1e−12, 1−1e−12] as the
// model has it.
func newSoftUnionBound(c *code.Code, cost cost.Cost) boundOf { return sumOf(newSoftUnion(c), cost) }

// newSoftUnion is the union of newSoftUnionBound.
func newSoftUnion(c *code.Code) union {
	mean := make([]float64, c.Bits()) // of Z
	return func(ctx context.Context, i int, e []float64, most func(m int) float64,
		add func(m int, most, tail float64) float64) error {
		negative := 0.0 // the most that bits with e > ½ can take from a mean
		for k, p := range e {
			mean[k] = decode.MeanLogit(p)
			negative += min(mean[k], 0)
			if !c.Bit(i, k) {
				mean[k] = -mean[k]
			}
		}
		for m := range c.Levels() {
			if m == i {
				continue
			}
			if m%64 == 0 {
				if err := ctx.Err(); err != nil {
					return err
				}
			}
			var mu, variance float64
			differ := func(k int, w float64) {
				mu += w * mean[k]
				variance += w * w
			}
			if c.Real() {
				for k := range mean {
					differ(k, c.Value(i, k)-c.Value(m, k))
				}
			} else {
				other := c.Word(m)
				widest := math.Sqrt(float64(c.Distance(i, m)))
			bits:
				for j, w := range c.Word(i) {
					for d := w ^ other[j]; d != 0; d &= d - 1 {
						k := bits.TrailingZeros64(d)
						differ(64*j+k, 2*float64(w>>k&1)-1)
						if mu+negative > 39*widest { // Φ is zero in floating point
							break bits
						}
					}
				}
			}
			s := math.Sqrt(variance)
			tail := 0.0
			switch {
			case s > 0:
				tail = math.Erfc(mu/s/math.Sqrt2) / 2
			case mu <= 0:
				tail = 1
			}
			add(m, most(m), tail)
		}
		return nil
	}
}
