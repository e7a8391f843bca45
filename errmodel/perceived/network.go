package perceived

import (
	"math"
	"slices"
	"sync"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"belsim/theory/code"
)

// Network is what a network of the model has learnt of a code: the logits f_k(ŷ) and the standard
// deviations sd_k of their residuals. A Network is immutable and safe for concurrent use.
type Network struct {
	p           Model // with its cutoff and its floor
	c           *code.Code
	first, step float64   // the grid of perceived labels
	logits      []float64 // G × M
	slopes      []float64 // E[f_k′(ŷ)²], or what stands for it; length M; −1 for a column without transitions
	floors      []float64 // the part of sd₀² that each bit has, length M
	residualSD  []float64 // length M; 0 for a column without transitions
	inverse     []float64 // 1/(√2·sd_k), or 0

	// Table is that of the error probabilities e[n,k], L × M, made at the first call: an entry is the mean over the
	// strata of ŷ, given level n, of the probability that bit k is wrong.
	Table func() *mat.Dense
}

// newNetwork takes the logits of the columns and computes their residuals.
func newNetwork(p Model, c *code.Code, ch *channel, cs *columns) *Network {
	points, m := len(ch.weight), c.Bits()
	n := &Network{p: p, c: c, first: ch.first, step: ch.step,
		logits: make([]float64, points*m), slopes: make([]float64, m), floors: make([]float64, m),
		residualSD: make([]float64, m), inverse: make([]float64, m)}
	n.Table = sync.OnceValue(n.makeTable)
	variances := make([]float64, m) // Var f_k(ŷ)
	for k := range m {
		_, f := cs.learnt(k)
		for g, v := range f {
			n.logits[g*m+k] = v
		}
		if cs.constant[k] {
			n.slopes[k] = -1
			continue
		}
		mean := 0.0
		for g, w := range ch.weight {
			mean += w * f[g]
		}
		for g, w := range ch.weight {
			variances[k] += w * (f[g] - mean) * (f[g] - mean)
		}
		n.slopes[k], n.floors[k] = ch.slope(f), 1
	}
	switch {
	case p.Training.ThroughGenEx():
		n.moveMean(ch, cs)
	case p.Training != BCE:
		n.shareMisfit(ch, cs)
	}
	for k, square := range n.slopes {
		if square >= 0 {
			floor := 0.0
			if f := n.p.Floor * n.p.Floor * n.floors[k]; f > 0 {
				floor = 1 / (1/f + 1/(lostResidual*lostResidual*(variances[k]+tiny)))
			}
			if n.residualSD[k] = math.Sqrt(n.p.Misfit*n.p.Misfit*square + floor); n.residualSD[k] > 0 {
				n.inverse[k] = 1 / (math.Sqrt2 * n.residualSD[k])
			}
		}
	}
	return n
}

// slope is E[f′(ŷ)²] of a function on the grid.
func (ch *channel) slope(f []float64) (square float64) {
	for g, w := range ch.weight {
		before, after := max(g-1, 0), min(g+1, len(f)-1)
		slope := (f[after] - f[before]) / (float64(after-before) * ch.step)
		square += w * slope * slope
	}
	return square
}

// shareMisfit makes the misfit that of a training for the decoder, whose loss knows nothing but
// differences of scores: between two levels they have the misfit of one bit, which the d bits that
// differ there share. A bit has the mean over its transitions.
func (n *Network) shareMisfit(ch *channel, cs *columns) {
	transitions, changes := n.c.Transitions(), make([][]int, n.c.Levels()) // the bits that change after each level
	for k, at := range transitions {
		for _, i := range at {
			changes[i-1] = append(changes[i-1], k)
		}
		if len(at) > 0 {
			n.slopes[k], n.floors[k] = 0, 0
		}
	}
	difference := make([]float64, len(ch.weight))
	for i, bits := range changes {
		clear(difference)
		for _, k := range bits {
			_, f := cs.learnt(k)
			step := n.c.Value(i+1, k) - n.c.Value(i, k)
			floats.AddScaled(difference, step, f)
		}
		square := ch.slope(difference)
		for _, k := range bits {
			share := 1 / float64(len(bits)*len(transitions[k]))
			n.slopes[k] += share * square
			n.floors[k] += share * decoderFloor * decoderFloor
		}
	}
}

// moveMean makes the misfit that of a training through gen-ex, whose loss knows nothing but the
// mean: all bits together move it as the misfit of the mean itself would. A logit has no unit
// there, so there is no floor.
func (n *Network) moveMean(ch *channel, cs *columns) {
	words, m := cs.words(), n.c.Bits()
	q, by := make([]float64, n.c.Levels()), make([]float64, m) // by: the derivatives of the mean by the logits
	means, moved := make([]float64, len(ch.weight)), 0.0
	for g, w := range ch.weight {
		means[g] = words.mean(by, q, n.logits[g*m:(g+1)*m])
		for k, v := range by {
			moved += w * v * v * max(n.slopes[k], 0)
		}
	}
	share := 1.0
	if moved > 0 {
		share = ch.slope(means) / moved
	}
	for k := range n.slopes {
		if n.floors[k] = 0; n.slopes[k] > 0 {
			n.slopes[k] *= share
		}
	}
}

// makeTable computes the error probabilities, each of 64 normal ones.
func (n *Network) makeTable() *mat.Dense {
	levels, m := n.c.Dims()
	table, wrong := mat.NewDense(levels, m, nil), make([]float64, m)
	for i := range levels {
		row := table.RawRowView(i)
		for j := range strata {
			n.WrongTo(wrong, i, float64(i+1)+n.Noise()*stratum(j))
			for k, v := range wrong {
				row[k] += v
			}
		}
		for k := range row {
			row[k] /= strata
		}
	}
	return table
}

// Logits sets dst, of length M, to the logits f_k at the perceived label y, in levels. They are
// interpolated by cubics through four points of the grid. Beyond 3.5·s from the levels, they are
// constant.
func (n *Network) Logits(dst []float64, y float64) {
	m := n.c.Bits()
	points := len(n.logits) / m
	at := min(max((y-n.first)/n.step, 0), float64(points-1))
	from := min(max(int(at)-1, 0), points-4)
	t := at - float64(from) // 0 to 3
	a := -(t - 1) * (t - 2) * (t - 3) / 6
	b := t * (t - 2) * (t - 3) / 2
	c := -t * (t - 1) * (t - 3) / 2
	d := t * (t - 1) * (t - 2) / 6
	r0, r1 := n.logits[from*m:][:len(dst)], n.logits[(from+1)*m:][:len(dst)]
	r2, r3 := n.logits[(from+2)*m:][:len(dst)], n.logits[(from+3)*m:][:len(dst)]
	for k := range dst {
		dst[k] = (a*r0[k] + b*r1[k]) + (c*r2[k] + d*r3[k])
	}
}

// ResidualSD returns the standard deviation sd_k of each bit's logit around f_k; 0 for a bit
// without transitions. Length M.
func (n *Network) ResidualSD() []float64 { return slices.Clone(n.residualSD) }

// Noise returns the standard deviation of the perceived label around the level, in levels: s where
// labels are levels.
func (n *Network) Noise() float64 { return n.p.aroundLevel() }

// Model returns the parameters, with the cutoff and the floor that were used.
func (n *Network) Model() Model { return n.p }

// WrongTo sets dst, of length M, to the probability of each bit to be wrong when the level is
// i+1 and the perceived label is y, in levels: Φ(−f_k(y)/sd_k) where the code's bit is one, and
// Φ(f_k(y)/sd_k) where it is zero. Given y the bits err independently.
func (n *Network) WrongTo(dst []float64, i int, y float64) {
	n.Logits(dst, y)
	word := n.c.Word(i)
	for k, f := range dst {
		if word[k/64]>>(k%64)&1 == 0 {
			f = -f
		}
		switch inverse := n.inverse[k]; {
		case inverse > 0:
			dst[k] = math.Erfc(f*inverse) / 2
		case f > 0:
			dst[k] = 0
		default:
			dst[k] = 1
		}
	}
}

// Dispersion is the variance of the number of wrong bits whose nearest transition lies above the
// level, less the number of those where it lies below, over what it would be if bits erred
// independently; for levels of a prior. It is large where bits have transitions beside each other:
// one perceived label is wrong for all of them, and on one side only.
func (n *Network) Dispersion(prior []float64) float64 {
	const most = 128 // levels that are computed
	levels, m := n.c.Dims()
	transitions := n.c.Transitions()
	wrong, mean, side := make([]float64, m), make([]float64, m), make([]float64, m)
	var all, own float64
	for i := 0; i < levels; i += 1 + (levels-1)/most {
		for k, at := range transitions {
			mean[k], side[k] = 0, float64(code.Side(at, i))
		}
		var within, sum, square float64 // over the strata
		for j := range strata {
			n.WrongTo(wrong, i, float64(i+1)+n.Noise()*stratum(j))
			count := 0.0
			for k, q := range wrong {
				mean[k] += q / strata
				count += side[k] * q
				within += side[k] * side[k] * q * (1 - q) / strata
			}
			sum += count / strata
			square += count * count / strata
		}
		all += prior[i] * (within + square - sum*sum)
		for k, q := range mean {
			own += prior[i] * side[k] * side[k] * q * (1 - q)
		}
	}
	return all / own
}
