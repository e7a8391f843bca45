package limit

import (
	"math"
	"math/rand/v2"
	"testing"

	"belsim/theory/base/must"
)

// TestColumn: the bit that gains the most is that of all bits, each computed from its error
// probabilities; where the window leaves transitions out, the gain is not smaller. References are
// booked at the cheapest mixture of ROC points.
func TestColumn(t *testing.T) {
	const levels = 12
	rng := rand.New(rand.NewPCG(5, 6))
	for range 12 {
		kernel := gauss(levels, math.Exp(rng.NormFloat64()-1), math.Exp(rng.NormFloat64()))
		p := Problem{Levels: levels, Bits: 3, Transitions: 1 + rng.IntN(levels-1), Kernel: kernel}
		x := make([]float64, perTest+4)
		for j := range x {
			x[j] = math.Exp(rng.NormFloat64() - 1)
		}
		x[shareOfRate], x[perTransition] = rng.Float64(), x[perTransition]/20
		for _, most := range []int{1 << 13, 1 << 5, 1 << 2} {
			w := newWindows(p, most)
			value, _, err := w.lagrangian(t.Context(), x)
			must.Succeed(t, err)
			rest := x[shareOfRate] / x[perLevel]
			z, _ := w.logZ(x[perLevel])
			without := rest * (math.Log(levels) - z) // the value without the bits
			var prices []price
			for i, d := range w.distances {
				pr := newPrice(w.reference(d), w.counted[i], false, 1-x[shareOfRate], x[perTest+2*i], x[perTest+2*i+1])
				without += 2.0 / levels * float64(levels-d) * pr.phi
				prices = append(prices, pr)
			}
			gain := math.Inf(-1)
			for column := range uint(1 << (levels - 1)) {
				e, flips, ok := table(column, kernel)
				if !ok || flips > p.Transitions {
					continue
				}
				sum := x[perTransition] * float64(p.Transitions-flips)
				for n := range levels {
					sum += rest / levels * (math.Ln2 - entropy(e[n]))
					for i, d := range w.distances {
						if n+d >= levels {
							continue
						}
						one := func(n int) float64 { // the probability of a one
							if column>>n&1 == 1 {
								return 1 - e[n]
							}
							return e[n]
						}
						a, b := one(n), one(n+d)
						s := -math.Log(math.Sqrt(a*b) + math.Sqrt((1-a)*(1-b)))
						sum += 2.0 / levels * min(prices[i].s*s, mixture(prices[i], a, b))
					}
				}
				gain = max(gain, sum)
			}
			if got := (without - value) / 3; got < gain-1e-9 || most == 1<<13 && got > gain*1.01+1e-9 {
				t.Errorf("a window of %d places gains %v, the best bit %v: %+v, %v", w.span, got, gain, p, x)
			}
		}
	}
}

// mixture is the least price of three ROC points of which a mixture is (a, b).
func mixture(p price, a, b float64) float64 {
	points := [][3]float64{{0, 0, 0}, {1, 1, 0}, {p.e, 1 - p.e, p.reference}, {1 - p.e, p.e, p.reference}, {0, 1, p.phi},
		{1, 0, p.phi}}
	least := math.Inf(1)
	for i, u := range points {
		for j, v := range points[:i] {
			for _, w := range points[:j] {
				det := (u[0]-w[0])*(v[1]-w[1]) - (v[0]-w[0])*(u[1]-w[1])
				if math.Abs(det) < 1e-12 {
					continue
				}
				x := ((a-w[0])*(v[1]-w[1]) - (v[0]-w[0])*(b-w[1])) / det
				y := ((u[0]-w[0])*(b-w[1]) - (a-w[0])*(u[1]-w[1])) / det
				if min(x, y, 1-x-y) >= -1e-9 {
					least = min(least, x*u[2]+y*v[2]+(1-x-y)*w[2])
				}
			}
		}
	}
	return least
}
