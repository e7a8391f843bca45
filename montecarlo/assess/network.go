package assess

import (
	"context"
	"errors"
	"fmt"

	"belsim/errmodel/observed"
	"belsim/montecarlo/scenario"
	"belsim/theory/base/arrayfile"
	"belsim/theory/base/memory"
	"belsim/theory/code"
)

// outputNames are the names of outputs in .npz files.
var outputNames = []string{"outputs", "output", "logits", "probabilities", "bits", "z"}

// Network is a trained network: its code, and open files with the targets and the outputs of
// its test samples.
type Network struct {
	options    Options
	code       *code.Code
	candidates []*code.Code // of the options
	samples    *observed.Source
}

// Open opens the files and the code of a network, and finds out what its outputs are. Close
// the network when it is not used any more. Errors name the file at fault.
func Open(ctx context.Context, o Options) (*Network, error) {
	n := &Network{options: o, samples: &observed.Source{}}
	if err := n.open(ctx); err != nil {
		return nil, errors.Join(err, n.Close())
	}
	return n, nil
}

// Close closes the files.
func (n *Network) Close() error {
	var errs []error
	for _, rows := range []*arrayfile.Rows{n.samples.Targets, n.samples.Outputs} {
		if rows != nil {
			errs = append(errs, rows.Close())
		}
	}
	return errors.Join(errs...)
}

// Samples is the number of test samples, negative where the file does not say it before it is
// read to its end.
func (n *Network) Samples() int {
	samples, _ := n.samples.Outputs.Dims()
	return samples
}

// Code is the code that the network was trained with.
func (n *Network) Code() *code.Code { return n.code }

func (n *Network) open(ctx context.Context) (err error) {
	o, s := n.options, n.samples
	said, path := observed.SplitKind(o.Outputs)
	if s.Targets, err = arrayfile.OpenRows(o.Targets, "targets", "target", "labels", "label", "y"); err != nil {
		return fmt.Errorf("reading targets: %w", err)
	}
	if s.Outputs, err = arrayfile.OpenRows(path, outputNames...); err != nil {
		return fmt.Errorf("reading outputs: %w", err)
	}
	if err := n.takeOutput(); err != nil {
		return err
	}
	if err := s.Check(); err != nil {
		return err
	}
	if n.code, err = openCode(o, s.Outputs); err != nil {
		return err
	}
	if n.candidates, err = scenario.OpenCodes(o.Candidates, n.sizes()); err != nil {
		return err
	}
	s.Labels = observed.Labels{Levels: n.code.Levels(), Real: !o.Range.IsZero(), Lo: o.Range.Lo, Hi: o.Range.Hi}
	s.Kind, err = observed.FindKind(ctx, said, s.Outputs)
	return err
}

// takeOutput leaves one output of the network, of the several that targets and outputs may have.
func (n *Network) takeOutput() error {
	s := n.samples
	_, columns := s.Targets.Dims()
	_, width := s.Outputs.Dims()
	switch parts, k := s.Outputs.Parts(), n.options.Output; {
	case k == 0 && parts == 1:
		return nil
	case k == 0, columns != parts:
		return fmt.Errorf("%s has %d targets for each sample, and %s has outputs for %d; want targets N × K and outputs N × K × M", s.Targets.Name(), columns, s.Outputs.Name(), parts)
	case k < 1 || k > parts:
		return fmt.Errorf("output %d: the network has outputs 1 to %d", k, parts)
	default:
		m := width / parts
		return errors.Join(s.Targets.Take(k-1, k), s.Outputs.Take((k-1)*m, k*m))
	}
}

// CountOutputs returns K, the number of a network's outputs: 1, or the number of targets for each
// sample, where there are K × M outputs for each. Errors name the file at fault.
func CountOutputs(o Options) (int, error) {
	_, path := observed.SplitKind(o.Outputs)
	outputs, err := arrayfile.OpenRows(path, outputNames...)
	if err != nil {
		return 0, fmt.Errorf("reading outputs: %w", err)
	}
	return outputs.Parts(), outputs.Close()
}

// sizes are those of codes that stand beside the network's own.
func (n *Network) sizes() scenario.Sizes {
	return scenario.Sizes{Levels: n.code.Levels(), Default: n.code.Levels(), Real: true}
}

// openCode opens the code of the options, with as many bits as there are outputs.
func openCode(o Options, outputs *arrayfile.Rows) (*code.Code, error) {
	rows, m := outputs.Dims()
	levels := o.Levels
	if f, known := code.Lookup(o.Code); known && levels == 0 {
		if levels = mostLevels(f, m); levels == 0 {
			return nil, fmt.Errorf("%s: %d columns, and no %s code has %d bits; want samples × bits", outputs.Name(), m, f.Name, m)
		}
		if least := fewestLevels(f, m); least < levels {
			return nil, fmt.Errorf("%s: %d columns, and %s has %d bits with %s; say how many levels there are", outputs.Name(), m, f.Name, m, levelNumbers(least, levels))
		}
	}
	codes, err := scenario.OpenCodes([]string{o.Code}, scenario.Sizes{Levels: levels, Real: true})
	if err != nil {
		return nil, err
	}
	c := codes[0]
	if c.Bits() != m {
		hint := ""
		if rows == c.Bits() {
			hint = "; it has as many rows, so it may be transposed"
		}
		return nil, fmt.Errorf("%s: %d columns, but %s of %d levels has %d bits%s", outputs.Name(), m, c.Name(), c.Levels(), c.Bits(), hint)
	}
	return c, nil
}

// mostLevels is the largest number of levels for which a code has m bits, and 0 where there is
// none. The number of bits does not fall as levels grow.
func mostLevels(f code.Family, m int) int {
	lo, hi := code.MinLevels-1, code.MaxLevels+1 // f.Bits(lo) ≤ m < f.Bits(hi), or the ends
	for hi-lo > 1 {
		if middle := (lo + hi) / 2; f.Bits(middle) <= m {
			lo = middle
		} else {
			hi = middle
		}
	}
	if lo < code.MinLevels || f.Bits(lo) != m {
		return 0
	}
	return lo
}

// fewestLevels is the smallest number of levels for which a code has m bits, where mostLevels
// is not 0.
func fewestLevels(f code.Family, m int) int {
	lo, hi := code.MinLevels-1, mostLevels(f, m) // f.Bits(lo) < m = f.Bits(hi), or the end
	for hi-lo > 1 {
		if middle := (lo + hi) / 2; f.Bits(middle) < m {
			lo = middle
		} else {
			hi = middle
		}
	}
	return hi
}

// levelNumbers writes the numbers from lo to hi > lo.
func levelNumbers(lo, hi int) string {
	if hi == lo+1 {
		return fmt.Sprintf("%d or %d levels", lo, hi)
	}
	return fmt.Sprintf("%d to %d levels", lo, hi)
}

// checkMemory refuses a code whose fit would not fit in memory.
func (n *Network) checkMemory() error {
	c, parts := n.code, 1
	if !n.options.Range.IsZero() {
		parts = observed.Parts(c)
	}
	err := memory.Check(fmt.Sprintf("fitting %s of %d levels", c.Name(), c.Levels()), fitBytes(c, parts)+resamplingBytes(c, parts))
	if err != nil && n.options.Levels == 0 && !code.IsFile(n.options.Code) {
		err = fmt.Errorf("%w; say how many levels there are, if fewer", err)
	}
	return err
}

// fitBytes is the most memory that a fit of a code takes, with so many parts of a level. There are four
// numbers for every level and bit, and one for every part. For the likelihood there are the distances
// of every part from every transition of a bit, twice (they are looked up by their values) and with room
// to grow.
func fitBytes(c *code.Code, parts int) int64 {
	levels, cells := int64(c.Levels()), int64(c.Levels()*parts)
	bytes := levels*int64(c.Bits())*4*8 + cells*int64(c.TransitionCount())*4*4
	if parts > 1 {
		bytes += cells * int64(c.Bits()) * 8
	}
	return bytes
}

// resamplingBytes is about the memory of the replicates of mixturefit.Joint: as many numbers for every part
// of a level and for every pool of them.
func resamplingBytes(c *code.Code, parts int) int64 {
	const least, pools = 32 << 20, 1 << 14
	each := func(n int) int64 { return max(least, int64(n)*128*8) }
	return each(c.Levels()*parts) + each(pools+2*c.Bits())
}
