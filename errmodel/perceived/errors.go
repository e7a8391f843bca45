package perceived

import (
	"context"
	"fmt"
	"math"
	"math/bits"

	"belsim/errmodel/observed"
	"belsim/theory/base/parallel"
	"belsim/theory/code"
	"belsim/theory/decode"
)

// Errors returns the expected |error|, in levels, of each decoding of what a network has learnt:
// the mean over the nodes, whose standard error is below 1 % of it with 4096 of them. The errors are about the sizes, or the
// context's.
func (p *Nodes) Errors(ctx context.Context, workers int, n *Network, decodings []observed.Decoding) ([]float64, error) {
	m, err := p.moments(ctx, workers, n.c, n, p.noiseOf(n), decodings)
	return m.means, err
}

// noiseOf is the noise with which a network perceives the labels of the nodes. It is s around real labels.
func (p *Nodes) noiseOf(n *Network) float64 {
	if p.label != nil {
		return n.p.Noise
	}
	return n.Noise()
}

// at is the label of node i, in levels.
func (p *Nodes) at(i int) float64 {
	if p.label != nil {
		return p.label[i]
	}
	return float64(p.level[i] + 1)
}

// moments are expectations over the nodes.
type moments struct {
	means, squares []float64 // of |error| in levels and of its square, for each decoding
	wrong          float64   // of the number of wrong bits
}

// moments reads what a network of the code c says at the nodes, with the label noise s.
func (p *Nodes) moments(ctx context.Context, workers int, c *code.Code, n decode.Network, s float64, decodings []observed.Decoding) (out moments, err error) {
	levels, m, sd := c.Levels(), c.Bits(), n.ResidualSD()
	switch {
	case levels != len(p.prior):
		return out, fmt.Errorf("%s has %d levels, but the prior has %d", c.Name(), levels, len(p.prior))
	case m > p.bits:
		return out, fmt.Errorf("%s has %d bits, but the residuals are of %d", c.Name(), m, p.bits)
	case len(sd) != m:
		return out, fmt.Errorf("%s has %d bits, but the network has learnt %d", c.Name(), m, len(sd))
	}
	count, correlations := len(p.level), decode.NewCorrelations(c)
	errors, wrong := make([]float64, count*len(decodings)), make([]int, count)
	err = parallel.Chunks(ctx, workers, count, 256, func() (func(context.Context, int, int) error, error) {
		sample, z := observed.NewSample(m, correlations), make([]float64, m)
		return func(ctx context.Context, first, last int) error {
			for i := first; i < last; i++ {
				label := p.at(i)
				n.Logits(z, label+s*p.noise[i])
				for k, g := range p.row(i)[:m] {
					z[k] += sd[k] * float64(g)
				}
				sample.Set(z)
				for k, w := range c.Word(p.level[i]) {
					wrong[i] += bits.OnesCount64(w ^ sample.Word[k])
				}
				for j, d := range decodings {
					errors[i*len(decodings)+j] = math.Abs(sample.Label(d) - label)
				}
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
			out.means[j] += e / float64(count)
			out.squares[j] += e * e / float64(count)
		}
	}
	return out, nil
}
