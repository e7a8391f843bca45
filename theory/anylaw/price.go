package anylaw

import (
	"math"
	"slices"

	"belsim/theory/code"
	"belsim/theory/cost"
	"belsim/theory/decode"
)

// row is a level whose bound is searched for.
type row struct {
	code    *code.Code
	decoder decode.Decoder
	rows    []uint32 // nearest to all outputs, where they are few
	counts  bool     // bel-u with a convex cost
	i       int
	values  []float64 // the costs of the answers from first on
	first   int
	kept    []int     // the bits that can err
	e       []float64 // of these
	sign    float64   // 1 for the largest cost, −1 for the smallest
}

// price sets the costs of all answers, in units of scale.
func (r *row) price(of cost.Cost, scale float64) {
	first, last := decode.Range(r.code, r.decoder)
	r.first, r.values = first, make([]float64, 0, last-first+1)
	for m := first; m <= last; m++ {
		r.values = append(r.values, of.Of(r.i+1, float64(m))/scale)
	}
}

// cost is what an answer adds to the mean.
func (r *row) cost(answer int) float64 { return r.sign * r.values[answer-r.first] }

// value is the answer's where these of the kept bits err.
func (r *row) value(bits []int) float64 {
	word := append([]uint64(nil), r.code.Word(r.i)...)
	for _, b := range bits {
		k := r.kept[b]
		word[k/64] ^= 1 << (k % 64)
	}
	return r.cost(r.decoder.Decode(word))
}

// pricing finds patterns above a plane, and adds some of them. worst is at least what any pattern
// is above it.
type pricing func(plane []float64, add func(bits []int, value float64)) (worst float64)

func pricer(r *row) pricing {
	switch j := r.decoder.(type) {
	case decode.BelJ:
		return r.ends(j)
	case decode.BelU:
		return r.numbers()
	}
	if r.rows != nil {
		return r.enumerate()
	}
	return r.walks()
}

// mostTable is the number of bits up to which all outputs are decoded once, and all sets of bits are looked
// at.
const mostTable = 18

// enumerate looks at all sets of bits. It adds the best one of every answer.
func (r *row) enumerate() pricing {
	flips, costs := make([]uint64, 1<<len(r.kept)), make([]float64, 1<<len(r.kept))
	for b, k := range r.kept {
		for s := range 1 << b {
			flips[1<<b|s] = flips[s] | 1<<k
		}
	}
	word := r.code.Word(r.i)[0]
	best, where := make([]float64, r.code.Levels()), make([]int, r.code.Levels())
	return func(plane []float64, add func([]int, float64)) float64 {
		for b := range r.kept {
			for s := range 1 << b {
				costs[1<<b|s] = costs[s] + plane[1+b]
			}
		}
		for m := range best {
			best[m] = math.Inf(1)
		}
		for s, flip := range flips {
			m := r.rows[word^flip]
			if c := costs[s]; c < best[m] {
				best[m], where[m] = c, s
			}
		}
		worst := math.Inf(-1)
		for m, cost := range best {
			above := r.cost(m+1) - plane[0] - cost
			worst = max(worst, above)
			if above > tolerance {
				var set []int
				for b := range r.kept {
					if where[m]>>b&1 == 1 {
						set = append(set, b)
					}
				}
				add(set, r.cost(m+1))
			}
		}
		return worst
	}
}

// ends looks at the pairs of a first one and a last one, and at the word without a one: bel-j reads
// nothing else. Of each pair the cheapest set has all bits outside as zeros, both ends as ones, and
// those between as is cheapest.
func (r *row) ends(d decode.BelJ) pricing {
	m := d.Bits()
	zero, one := make([]float64, m), make([]float64, m) // the cost of an output of 0, of 1
	before, free := make([]float64, m+1), make([]float64, m+1)
	after := make([]float64, m+1)
	return func(plane []float64, add func([]int, float64)) float64 {
		r.costs(plane, zero, one)
		for k := range m {
			before[k+1] = before[k] + zero[k]
			free[k+1] = free[k] + min(zero[k], one[k])
		}
		after[m] = 0
		for k := m - 1; k >= 0; k-- {
			after[k] = after[k+1] + zero[k]
		}
		set := func(first, last int) (bits []int) {
			for b, k := range r.kept {
				want := first <= k && k <= last && (k == first || k == last || one[k] < zero[k])
				if want != r.code.Bit(r.i, k) {
					bits = append(bits, b)
				}
			}
			return bits
		}
		worst := math.Inf(-1)
		look := func(value, cost float64, first, last int) {
			above := value - plane[0] - cost
			if above > tolerance && above > worst/2 {
				add(set(first, last), value)
			}
			worst = max(worst, above)
		}
		look(r.cost(d.Empty()), before[m], m, -1)
		for a := 0; a < m && !math.IsInf(before[a], 1); a++ {
			if math.IsInf(one[a], 1) {
				continue
			}
			look(r.cost(d.At(a+1, a+1)), before[a]+one[a]+after[a+1], a, a)
			for b := m - 1; b > a && !math.IsInf(after[b+1], 1); b-- {
				if !math.IsInf(one[b], 1) {
					look(r.cost(d.At(a+1, b+1)), before[a]+one[a]+(free[b]-free[a+1])+one[b]+after[b+1], a, b)
				}
			}
		}
		return worst
	}
}

// numbers looks at the pairs of a number of false ones and a number of false zeros, of which the
// cheapest set has the cheapest bits: bel-u reads nothing else.
func (r *row) numbers() pricing {
	return func(plane []float64, add func([]int, float64)) float64 {
		var sides [2][]int // kept bits, the cheapest first: zeros of the word, and ones
		for _, b := range slices.Backward(descending(plane[1:])) {
			side := 0
			if r.code.Bit(r.i, r.kept[b]) {
				side = 1
			}
			sides[side] = append(sides[side], b)
		}
		worst, up := math.Inf(-1), 0.0
		for x := range len(sides[0]) + 1 {
			if x > 0 {
				up += plane[1+sides[0][x-1]]
			}
			down := up
			for y := range len(sides[1]) + 1 {
				if y > 0 {
					down += plane[1+sides[1][y-1]]
				}
				value := r.cost(r.i + 1 + x - y)
				above := value - plane[0] - down
				if above > tolerance && above > worst/2 {
					set := slices.Concat(sides[0][:x], sides[1][:y])
					slices.Sort(set)
					add(set, value)
				}
				worst = max(worst, above)
			}
		}
		return worst
	}
}

// costs sets zero and one to what outputs of 0 and of 1 cost, of each bit: nothing where the output
// is right, what the plane has for a kept bit that errs, and +Inf for others.
func (r *row) costs(plane, zero, one []float64) {
	for k := range zero {
		zero[k], one[k] = 0, math.Inf(1)
	}
	for b, k := range r.kept {
		one[k] = plane[1+b]
	}
	for k := range zero {
		if r.code.Bit(r.i, k) {
			zero[k], one[k] = one[k], zero[k]
		}
	}
}
