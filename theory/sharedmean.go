package theory

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"belsim/theory/base/matrix"
	"belsim/theory/code"
	"belsim/theory/cost"
	"belsim/theory/decode"
)

// Costs are what the answers to the levels ξ cost with shared noise, D[ξ,m] = Σ_n p[n]·W[n,ξ]·C(n,
// m): the mean cost over the labels is Σ_ξ Σ_m P[ξ,m]·D[ξ,m]. They do not depend on the error
// probabilities.
type Costs struct {
	cost   cost.Cost
	labels [][]Part // by ξ: the labels n, and p[n]·W[n,ξ]
	lowest int
	table  [][]float64 // by ξ: D of the answers from lowest on; nil where answers are no levels
	near   []near
}

// near is D[ξ,m] = weight·|m − ξ| + more[m − from], where the rest is 0 for all m but a few. more
// is nil elsewhere.
type near struct {
	weight float64
	from   int
	more   []float64
}

// nearForm is a form that has the mean |error| and the probabilities of a few answers sooner than
// all of them.
type nearForm interface {
	form
	// near sets out to the probabilities of the answers from lo on.
	near(lo int, out []float64)
}

// NewCosts prepares the costs for a code, a decoder and a prior. The error is a *memory.Error.
func (s *Shared) NewCosts(c *code.Code, d decode.Decoder, of cost.Cost, prior []float64) (*Costs, error) {
	w, err := s.Seen(c)
	if err != nil {
		return nil, err
	}
	lo, hi := decode.Range(c, d)
	x := &Costs{cost: of, labels: make([][]Part, c.Levels()), lowest: lo, near: make([]near, c.Levels())}
	for i, labels := range w.ByLevel {
		var kept []Part
		for _, n := range labels {
			if prior[n.Row] > 0 {
				kept = append(kept, Part{n.Row, n.Weight * prior[n.Row]})
			}
		}
		x.labels[i] = kept
		if decode.Real(d) {
			continue
		}
		row, sum := make([]float64, hi-lo+1), 0.0
		for _, n := range kept {
			sum += n.Weight
			for m := range row {
				row[m] += n.Weight * of.Of(n.Row+1, float64(lo+m))
			}
		}
		x.table = append(x.table, row)
		if of.Absolute() {
			x.near[i] = newNear(row, lo, i+1, sum)
		}
	}
	return x, nil
}

// newNear finds the answers whose costs are not weight·|m − ξ|, but for rounding.
func newNear(row []float64, lowest, level int, weight float64) near {
	out := near{weight: weight}
	first, last := len(row), -1
	rest := func(j int) float64 { return row[j] - weight*math.Abs(float64(lowest+j-level)) }
	for j := range row {
		if math.Abs(rest(j)) > 1e-15*max(row[j], weight) {
			first, last = min(first, j), j
		}
	}
	if last-first > len(row)/4 {
		return out
	}
	out.from, out.more = lowest+first, []float64{}
	for j := first; j <= last; j++ {
		out.more = append(out.more, rest(j))
	}
	return out
}

// Mean is the mean of costs over the labels, for error probabilities e, L × M, of independent bits.
// The error says which is none, or is the context's.
func (x *Law) Mean(ctx context.Context, e mat.Matrix, costs *Costs) (mean float64, err error) {
	if err := x.code.CheckTable(e); err != nil {
		return 0, err
	}
	f := x.forms.Get().(form)
	defer x.forms.Put(f)
	of, ok := f.(nearForm)
	var row, few []float64
	for i, labels := range costs.labels {
		if len(labels) == 0 {
			continue
		}
		if row, err = matrix.Probabilities(row, i, e); err == nil {
			err = f.set(ctx, i, row)
		}
		if err != nil {
			return 0, fmt.Errorf("exact error of %s with %s: %w", x.code.Name(), x.decoder.Name(), err)
		}
		if near := costs.near[i]; ok && near.more != nil {
			absolute, _ := of.mean(costs.cost)
			mean += near.weight * absolute
			few = append(few[:0], near.more...)
			of.near(near.from, few)
			for j, p := range few {
				mean += near.more[j] * p
			}
			continue
		}
		if cut, ok := f.(cutForm); ok && !costs.cost.Absolute() {
			if err := cut.whole(ctx); err != nil {
				return 0, err
			}
		}
		a := f.answers()
		if costs.table == nil {
			for _, n := range labels {
				of, _ := a.Mean(costs.cost, n.Row+1)
				mean += n.Weight * of
			}
			continue
		}
		for k, p := range a.Probabilities {
			mean += p * costs.table[i][int(a.Labels[k])-costs.lowest]
		}
	}
	return mean, nil
}

// near implements nearForm: P(X − Y = j) = Σ_y P(Y = y)·P(X = y + j).
func (b *belUForm) near(lo int, out []float64) {
	x, y := b.fx, b.fy
	for m := range out {
		shift := lo + m - b.level - x.lo + y.lo // of the place in x beside that in y
		out[m] = dot(y.p[min(max(0, -shift), len(y.p)):], x.p[min(max(0, shift), len(x.p)):])
	}
}

// dot is the sum of the products of the numbers that both have.
func dot(a, b []float64) float64 {
	n := min(len(a), len(b))
	a, b = a[:n], b[:n]
	var even, odd float64
	for len(a) >= 2 && len(b) >= 2 {
		even += a[0] * b[0]
		odd += a[1] * b[1]
		a, b = a[2:], b[2:]
	}
	if len(a) > 0 && len(b) > 0 {
		even += a[0] * b[0]
	}
	return even + odd
}

// near implements nearForm: see answers.
func (x *belJForm) near(lo int, out []float64) {
	p := x.places()
	at := x.decoder.At(0, 0)
	for m := range out {
		s, sum := at-lo-m, 0.0 // f+l
		for f := max(p.first, s-p.hi); f <= min(p.end, s-p.lo, (s-1)/2); f++ {
			sum += x.first[f] * x.last[s-f]
		}
		if s%2 == 0 && s >= 2 && s <= 2*len(x.e) {
			sum += x.first[s/2] * x.after[s/2]
		}
		if lo+m == x.decoder.Empty() {
			sum += p.none
		}
		out[m] = sum
	}
}
