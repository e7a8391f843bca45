package limit

import (
	"math"
	"math/rand/v2"
	"os"
	"testing"

	"belsim/theory/base/must"
	"belsim/theory/cost"
)

// gauss is the kernel of a mixture.
func gauss(levels int, r, sigma float64) (u []float64) {
	for d := range levels {
		z := (float64(d) + 0.5) / sigma
		u = append(u, r/(sigma*math.Sqrt(2*math.Pi))*math.Exp(-z*z/2))
	}
	return u
}

// costs has each cost with the least that some weights of the levels cost, over all answers.
var costs = map[string]func(w []float64) float64{
	"absolute": func(w []float64) float64 {
		below, above, sum := 0.0, 0.0, 0.0
		for _, v := range w {
			above += v
		}
		for _, v := range w {
			below, above = below+v, above-v
			sum += min(below, above)
		}
		return sum
	},
	"squared": func(w []float64) float64 {
		total, mean, square := 0.0, 0.0, 0.0
		for n, v := range w {
			total, mean, square = total+v, mean+v*float64(n), square+v*float64(n*n)
		}
		if total == 0 {
			return 0
		}
		return square - mean*mean/total
	},
	"zero-one": func(w []float64) float64 { return allBut(w, 1) },
	"beyond:1": func(w []float64) float64 { return allBut(w, 3) },
}

// allBut is the sum of all weights but those of the heaviest run of so many.
func allBut(w []float64, run int) float64 {
	total, most := 0.0, 0.0
	for n, v := range w {
		total += v
		sum := 0.0
		for _, v := range w[n:min(n+run, len(w))] {
			sum += v
		}
		most = max(most, sum)
	}
	return total - most
}

// table has the error probabilities of a column of bits; ok is false where one is above 1.
func table(column uint, kernel []float64) (e []float64, most int, ok bool) {
	levels := len(kernel)
	e, ok = make([]float64, levels), true
	for at := range levels - 1 {
		if (column>>at^column>>(at+1))&1 == 0 {
			continue
		}
		most++
		for n := range e {
			e[n] += kernel[max(at-n, n-at-1)]
		}
	}
	for _, v := range e {
		ok = ok && v <= 1
	}
	return e, most, ok
}

// risks are the costs of the best decoders of a code, by enumeration of all outputs. Code and errors are by bit.
func risks(levels int, columns []uint, errors [][]float64) map[string]float64 {
	out, w := map[string]float64{}, make([]float64, levels)
	for word := range 1 << len(columns) {
		for n := range w {
			w[n] = 1 / float64(levels)
			for k, c := range columns {
				if (c>>n^uint(word)>>k)&1 == 1 {
					w[n] *= errors[k][n]
				} else {
					w[n] *= 1 - errors[k][n]
				}
			}
		}
		for name, least := range costs {
			out[name] += least(w)
		}
	}
	return out
}

// limits are the limits of codes, and the values of both Lagrangians at random multipliers.
func limits(t *testing.T, p Problem, rng *rand.Rand) []float64 {
	out := []float64{must.Get(Of(t.Context(), p))(t)}
	w, q := newWindows(p, 1<<9), newSequences(p)
	for range 4 {
		x := make([]float64, perTest+2*len(w.distances))
		for j := range x {
			x[j] = math.Exp(2*rng.NormFloat64() - 2)
		}
		x[shareOfTests], x[perTransition] = rng.Float64(), x[perTransition]/20
		v, _, err := w.lagrangian(t.Context(), x)
		must.Succeed(t, err)
		out = append(out, v)
		if q != nil {
			v, _, err := q.lagrangian(t.Context(), x[1:5])
			must.Succeed(t, err)
			out = append(out, v)
		}
	}
	return out
}

// TestNeverViolated: no code of up to five levels and three bits, read by its best decoder, has an error below the
// limit, whatever the multipliers are: all codes up to the order and complements of bits, equal, constant and
// complementary bits included, under each cost.
func TestNeverViolated(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	places := [][2]float64{{0.6, 1.5}, {1.2, 0.7}, {2, 3}}
	if os.Getenv("BELSIM_LONG") != "" {
		for range 17 {
			places = append(places, [2]float64{math.Exp(rng.NormFloat64() - 0.5), math.Exp(rng.NormFloat64())})
		}
	}
	codes, nearest := 0, map[string]float64{}
	for _, place := range places {
		for levels := 2; levels <= 5; levels++ {
			kernel := gauss(levels, place[0], place[1])
			for m := 1; m <= 3; m++ {
				// The least errors of codes by the largest number of transitions of a bit.
				least := make([]map[string]float64, levels)
				columns, errors := make([]uint, m), make([][]float64, m)
				var add func(at int, from uint, most int)
				add = func(at int, from uint, most int) {
					if at == m {
						codes++
						if least[most] == nil {
							least[most] = map[string]float64{}
						}
						for name, v := range risks(levels, columns, errors) {
							if old, ok := least[most][name]; !ok || v < old {
								least[most][name] = v
							}
						}
						return
					}
					for c := from; c < 1<<(levels-1); c++ {
						e, flips, ok := table(c, kernel)
						if !ok {
							continue
						}
						columns[at], errors[at] = c, e
						add(at+1, c, max(most, flips))
					}
				}
				add(0, 0, 0)
				for name := range costs {
					of := must.Get(cost.Parse(name, levels, false))(t)
					best := math.Inf(1)
					for most, found := range least {
						if found == nil {
							continue
						}
						best = min(best, found[name])
						if most == 0 {
							continue
						}
						p := Problem{Levels: levels, Bits: m, Transitions: most, Kernel: kernel, Cost: of}
						for _, v := range limits(t, p, rng) {
							nearest[name] = max(nearest[name], v/best)
							if v > best {
								t.Errorf("%d levels, %d bits of at most %d transitions, r = %.3g, σ = %.3g, %s: limit %v, but a code has %v",
									levels, m, most, place[0], place[1], name, v, best)
							}
						}
					}
				}
			}
		}
	}
	t.Logf("%d codes; the largest limit divided by the error of the best code: %v", codes, nearest)
	for name, v := range nearest {
		if v < map[string]float64{"absolute": 0.8, "squared": 0.2, "zero-one": 0.6}[name] {
			t.Errorf("%s: every limit is below %v of the best code's error", name, v)
		}
	}
}
