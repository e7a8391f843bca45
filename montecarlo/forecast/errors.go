package forecast

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

// A Learner is what a network has learnt of a code: the logit of every bit as a function of the
// perceived label. *errmodel.Learned is one. It is safe for concurrent use.
type Learner interface {
	// Logits sets dst, of length M, to the logits at the perceived label y, in levels.
	Logits(dst []float64, y float64)
	// Misfits are the standard deviations of the logits' misfits, of length M.
	Misfits() []float64
	// Noise is s, the standard deviation of the perceived label, in levels.
	Noise() float64
}

// Errors returns the expected |error|, in levels, of each reader of a code that a network has
// learnt: the mean over the places. With 4096 of them its standard error is below 1 % of it. The errors are about
// the sizes, or the context's.
func (p *Places) Errors(ctx context.Context, workers int, c *code.Code, l Learner, readers []observed.Reader) ([]float64, error) {
	m, err := p.moments(ctx, workers, c, l, readers)
	return m.means, err
}

// moments are expectations over the places.
type moments struct {
	means, squares []float64 // of |error| in levels and of its square, for each reader
	wrong          float64   // of the number of wrong bits
}

func (p *Places) moments(ctx context.Context, workers int, c *code.Code, l Learner, readers []observed.Reader) (out moments, err error) {
	levels, m := c.Levels(), c.Bits()
	switch {
	case levels != len(p.prior):
		return out, fmt.Errorf("%s has %d levels, but the prior has %d", c.Name(), levels, len(p.prior))
	case m > p.bits:
		return out, fmt.Errorf("%s has %d bits, but the misfits are of %d", c.Name(), m, p.bits)
	case len(l.Misfits()) != m:
		return out, fmt.Errorf("%s has %d bits, but the network has learnt %d", c.Name(), m, len(l.Misfits()))
	}
	places := len(p.level)
	sd, s, correlations := l.Misfits(), l.Noise(), decode.NewCorrelations(c)
	errors, wrong := make([]float64, places*len(readers)), make([]int, places)
	err = parallel.Chunks(ctx, workers, places, 256, func() (func(context.Context, int, int) error, error) {
		x := newSample(c, correlations)
		return func(ctx context.Context, first, last int) error {
			for i := first; i < last; i++ {
				label := float64(p.level[i] + 1)
				if p.label != nil {
					label = p.label[i]
				}
				l.Logits(x.z, label+s*p.noise[i])
				for k, g := range p.row(i)[:m] {
					x.z[k] += sd[k] * float64(g)
				}
				x.decide()
				for k, w := range c.Word(p.level[i]) {
					wrong[i] += bits.OnesCount64(w ^ x.word[k])
				}
				for j, r := range readers {
					errors[i*len(readers)+j] = math.Abs(x.label(r) - label)
				}
			}
			return ctx.Err()
		}, nil
	})
	if err != nil {
		return out, err
	}
	out.means, out.squares = make([]float64, len(readers)), make([]float64, len(readers))
	for i := range places {
		out.wrong += float64(wrong[i]) / float64(places)
		for j := range readers {
			e := errors[i*len(readers)+j]
			out.means[j] += e / float64(places)
			out.squares[j] += e * e / float64(places)
		}
	}
	return out, nil
}

// sample is scratch memory for the outputs of one sample, and what decoders read of them.
type sample struct {
	z, signs     []float64
	word         []uint64
	correlations *decode.Correlations
	soft, hard   []float64 // correlations of logits and of signs; computed where asked for
	done         [2]bool
}

func newSample(c *code.Code, correlations *decode.Correlations) *sample {
	return &sample{
		z: make([]float64, c.Bits()), signs: make([]float64, c.Bits()), word: make([]uint64, (c.Bits()+63)/64),
		correlations: correlations, soft: make([]float64, c.Levels()), hard: make([]float64, c.Levels()),
	}
}

// decide takes the signs of the logits.
func (x *sample) decide() {
	clear(x.word)
	for k, z := range x.z {
		x.signs[k] = -1
		if z > 0 {
			x.signs[k] = 1
			x.word[k/64] |= 1 << (k % 64)
		}
	}
	x.done = [2]bool{}
}

// label is the label that a reader decodes.
func (x *sample) label(r observed.Reader) float64 {
	if d, ok := r.Decoder.(decode.Correlator); ok {
		if r.Logits {
			if !x.done[1] {
				x.correlations.To(x.soft, x.z)
				x.done[1] = true
			}
			return d.FromCorrelations(x.soft)
		}
		if !x.done[0] {
			x.correlations.To(x.hard, x.signs)
			x.done[0] = true
		}
		return d.FromCorrelations(x.hard)
	}
	if d, ok := r.Decoder.(decode.LogitDecoder); ok && r.Logits {
		return d.DecodeLogits(x.z)
	}
	return decode.Value(r.Decoder, x.word)
}
