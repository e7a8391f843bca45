package anylaw

import (
	"cmp"
	"slices"
)

// arc is a part of [0, 1] in which a bit errs.
type arc struct {
	bit      int
	from, to float64
}

// lawOf is the law of the bits that err at a uniform place of [0, 1].
func lawOf(errs []arc) Law {
	ends := []float64{0, 1}
	for _, a := range errs {
		ends = append(ends, a.from, a.to)
	}
	slices.Sort(ends)
	ends = slices.Compact(ends)
	var law Law
	for j, to := range ends[1:] {
		p := Pattern{Bits: []int{}, Probability: to - ends[j]}
		for _, a := range errs {
			if a.from <= ends[j] && to <= a.to {
				p.Bits = append(p.Bits, a.bit)
			}
		}
		slices.Sort(p.Bits)
		law = append(law, p)
	}
	return law
}

// descending orders the numbers of values by them, the largest first.
func descending(values []float64) []int {
	order := make([]int, len(values))
	for k := range order {
		order[k] = k
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(values[b], values[a]) })
	return order
}
