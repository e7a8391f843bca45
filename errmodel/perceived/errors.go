package perceived

import (
	"context"
	"math"
	"slices"
	"sort"

	"belsim/errmodel/observed"
	"belsim/theory/base/parallel"
	"belsim/theory/decode"
)

// Errors returns the expected |error|, in levels, of each decoding of what a network has learnt:
// the mean over the nodes. With ManyNodes, chance moves the error of easy codes with 64 levels by
// 0.1 to 0.3 % (standard deviations over seeds), and that of codes with gross errors by 1 %. All
// codes share the nodes. The errors are about the sizes, or the context's.
func (p *Nodes) Errors(ctx context.Context, workers int, n *Network, decodings []observed.Decoding) ([]float64, error) {
	m, err := p.moments(ctx, workers, n, decodings)
	return m.means, err
}

// noiseOf is the noise with which a network perceives the labels of the nodes. It is s around real
// labels.
func (p *Nodes) noiseOf(n *Network) float64 {
	if p.real {
		return n.p.Noise
	}
	return n.Noise()
}

// moments are expectations over the nodes.
type moments struct {
	means, squares []float64 // of |error| in levels and of its square, for each decoding
	wrong          float64   // of the number of wrong bits
}

// moment is the expectation of |error|, and of its square, of one decoding at a node.
type moment struct{ mean, square float64 }

// add adds an error of this probability.
func (m *moment) add(probability, e float64) {
	m.mean += probability * math.Abs(e)
	m.square += probability * e * e
}

// moments reads what a network says at the nodes.
func (p *Nodes) moments(ctx context.Context, workers int, n *Network,
	decodings []observed.Decoding) (out moments, err error) {
	c, s := n.c, p.noiseOf(n)
	count, correlations := len(p.level), decode.NewCorrelations(c)
	errors, wrong := make([]moment, count*len(decodings)), make([]int, count)
	var predict func(perceived float64) float64
	if slices.ContainsFunc(decodings, observed.Decoding.Predicts) {
		predict = p.median(c.Levels(), s)
	}
	err = parallel.Chunks(ctx, workers, count, 256, func() (func(context.Context, int, int) error, error) {
		r := newReader(p, n, decodings, predict, correlations)
		return func(ctx context.Context, first, last int) error {
			for i := first; i < last; i++ {
				wrong[i] = r.read(errors[i*len(decodings):(i+1)*len(decodings)], i, p.label[i]+s*p.noise[i])
			}
			return ctx.Err()
		}, nil
	})
	if err != nil {
		return out, err
	}
	out.means, out.squares = make([]float64, len(decodings)), make([]float64, len(decodings))
	for i := range count {
		out.wrong += float64(wrong[i]) / float64(count)
		for j := range decodings {
			e := errors[i*len(decodings)+j]
			out.means[j] += e.mean / float64(count)
			out.squares[j] += e.square / float64(count)
		}
	}
	return out, nil
}

// median returns what direct regression answers, which minimizes its mean |error|: the median of
// the labels, given the perceived one with the noise s. It is linear between the points of a grid.
func (p *Nodes) median(levels int, s float64) func(perceived float64) float64 {
	const enough = 1 << 10 // labels of some nodes
	var labels []float64   // ascending
	for i := 0; i < len(p.level); i += max(len(p.level)/enough, 1) {
		labels = append(labels, p.label[i])
	}
	points, first := gridPoints(levels, s), 1-reach*s
	step := (float64(levels) + reach*s - first) / float64(points-1)
	answers := make([]float64, points)
	for g := range answers {
		y := first + float64(g)*step
		at := sort.SearchFloat64s(labels, y)
		nearest := math.Inf(1) // where the noise is small, none may be within reach
		for _, v := range labels[max(at-1, 0):min(at+1, len(labels))] {
			nearest = min(nearest, math.Abs(v-y))
		}
		const far = 6 // standard deviations
		from, to := sort.SearchFloat64s(labels, y-nearest-far*s), sort.SearchFloat64s(labels, y+nearest+far*s)
		from, to = min(from, len(labels)-1), max(to, from+1)
		sum, weights := 0.0, make([]float64, min(to, len(labels))-from)
		for i := range weights {
			d := labels[from+i] - y
			weights[i] = decode.Exp((nearest*nearest - d*d) / (2 * s * s))
			sum += weights[i]
		}
		below, i := 0.0, 0
		for ; i < len(weights)-1 && below+weights[i] < sum/2; i++ {
			below += weights[i]
		}
		answers[g] = labels[from+i]
		if i > 0 && p.real { // between two labels
			answers[g] += (labels[from+i] - labels[from+i-1]) * (0.5 - (below+weights[i]-sum/2)/weights[i])
		}
	}
	return func(perceived float64) float64 {
		at := min(max((perceived-first)/step, 0), float64(points-1))
		g := min(int(at), points-2)
		return answers[g] + (at-float64(g))*(answers[g+1]-answers[g])
	}
}
