package assess

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sort"

	"belsim/errmodel/fault"
	"belsim/errmodel/fitdecoder"
	"belsim/errmodel/head"
	"belsim/errmodel/observed"
	"belsim/errmodel/scenario"
	"belsim/theory/base/arrayfile"
	"belsim/theory/base/memory"
	"belsim/theory/base/position"
	"belsim/theory/code"
	"belsim/theory/decode"
)

// outputNames are the names of outputs in .npz files.
var outputNames = []string{"outputs", "output", "logits", "probabilities", "bits", "z"}

// network is a trained network: its code, open files with the targets and the outputs of its test
// samples, and what read has seen in them.
type network struct {
	options Options
	code    *code.Code
	source  *observed.Source

	transitions [][]int // of the code
	decodings   []observed.Decoding
	seen        *observed.Summary
	training    head.Training
	note        string // which outputs are no probabilities of a softmax; "" where all are what they should be
	dead        []int  // bits, from 1, that are set aside, ascending
	found       []fault.Finding
	misread     *fault.Finding     // outputs and targets do not belong together; nil where they may
	fitted      *fitdecoder.Result // nil unless the options ask for it
}

// openNetwork opens the files and the code of a network, and finds out what its outputs are.
func openNetwork(ctx context.Context, o Options) (*network, error) {
	n := &network{options: o, source: &observed.Source{}}
	err := n.options.resolve()
	if err == nil {
		err = n.open(ctx)
	}
	if err != nil {
		return nil, errors.Join(err, n.Close())
	}
	return n, nil
}

// Close closes the files.
func (n *network) Close() error {
	var errs []error
	for _, rows := range []*arrayfile.Rows{n.source.Targets, n.source.Outputs, n.source.Direct} {
		if rows != nil {
			errs = append(errs, rows.Close())
		}
	}
	return errors.Join(errs...)
}

func (n *network) open(ctx context.Context) (err error) {
	o, s := n.options, n.source
	said, path := observed.SplitKind(o.Outputs)
	if s.Targets, err = arrayfile.OpenRows(o.Targets, "targets", "target", "labels",
		"label", "y"); err != nil {
		return fmt.Errorf("reading targets: %w", err)
	}
	if s.Outputs, err = openOutputs(path); err != nil {
		return err
	}
	if o.Baseline.File != "" {
		if s.Direct, err = arrayfile.OpenRows(o.Baseline.File, "predictions", "prediction", "direct"); err != nil {
			return fmt.Errorf("reading predictions: %w", err)
		}
	}
	if err := n.takeOutput(); err != nil {
		return err
	}
	if err := cmp.Or(s.Settle(ctx), s.Check()); err != nil {
		return err
	}
	if n.code, err = openCode(o, s.Outputs); err != nil {
		return err
	}
	s.Labels, s.Kind = o.Range.labels(n.code), observed.Bits
	if !o.predicts() {
		if s.Kind, err = observed.FindKind(ctx, said, s.Outputs); err != nil {
			return err
		}
	}
	s.Softmax, s.Together = n.code.OneHot(), o.Training != "" && o.Training != head.BCE
	softmax, note, err := o.distribution(ctx, n.code.OneHot(), s.Kind, s.Outputs)
	n.note, s.Predicted = note, o.mapHead(n.code, s.Labels, s.Kind, softmax, s.Outputs)
	return err
}

func openOutputs(path string) (*arrayfile.Rows, error) {
	rows, err := arrayfile.OpenRows(path, outputNames...)
	if err != nil {
		return nil, fmt.Errorf("reading outputs: %w", err)
	}
	return rows, nil
}

// takeOutput leaves one output of the network, of the several that targets and outputs may have.
func (n *network) takeOutput() error {
	s := n.source
	_, columns := s.Targets.Dims()
	_, width := s.Outputs.Dims()
	parts, k := parts(n.options, s.Outputs), n.options.Output
	switch {
	case k == 0 && parts == 1:
		return nil
	case k == 0, columns != parts:
		return fmt.Errorf("%s has %d targets for each sample, and %s has outputs for %d; "+
			"want targets N × K and outputs N × K × M", s.Targets.Name(), columns, s.Outputs.Name(), parts)
	case s.Direct != nil:
		if _, n := s.Direct.Dims(); n != parts {
			return fmt.Errorf("%s has %s; want a prediction for each of %d targets", s.Direct.Name(),
				position.Counted(n, "column"), parts)
		}
		if err := s.Direct.TakeColumns(k-1, k); err != nil {
			return err
		}
	}
	m := width / parts
	return errors.Join(s.Targets.TakeColumns(k-1, k), s.Outputs.TakeColumns((k-1)*m, k*m))
}

// CountOutputs returns K, the number of a network's outputs: 1, or the number of targets for each
// sample, where there are K × M outputs for each. Errors name the file at fault.
func CountOutputs(o Options) (int, error) {
	_, path := observed.SplitKind(o.Outputs)
	outputs, err := openOutputs(path)
	if err != nil {
		return 0, err
	}
	return parts(o, outputs), outputs.Close()
}

// openCode opens the code of the options, with as many bits as there are outputs and the places of
// the levels.
func openCode(o Options, outputs *arrayfile.Rows) (*code.Code, error) {
	rows, m := outputs.Dims()
	name, called := o.Code, head.Called(o.Code, o.Training)
	if h := head.Lookup(o.Code); h.Own {
		name = h.Code
	}
	levels := cmp.Or(o.Levels, len(o.Range.Values))
	if f, known := code.Lookup(name); known && levels == 0 {
		var most int
		switch levels, most = levelsOf(f, m); {
		case o.predicts():
			return nil, fmt.Errorf("%s has predictions, which have no levels: give %s, how many the codes beside them shall have",
				outputs.Name(), position.Flag("levels", "64"))
		case most < levels:
			return nil, fmt.Errorf("%s: %d columns, and no %s code has %d bits; want samples × bits", outputs.Name(), m,
				called, m)
		case most > levels:
			return nil, fmt.Errorf("%s: %d columns, and %s has %d bits with %d to %d levels; say how many levels "+
				"there are", outputs.Name(), m, called, m, levels, most)
		}
	}
	c, err := head.OpenCode(o.Code, levels)
	if err != nil {
		return nil, err
	}
	if c.Bits() != m && !o.predicts() {
		return nil, fmt.Errorf("%s: %d columns, but %s of %d levels has %d bits%s", outputs.Name(), m,
			head.Called(c.Name(), o.Training), c.Levels(), c.Bits(),
			when(rows == c.Bits(), "; it has as many rows, so it may be transposed"))
	}
	return o.Range.of(c.OnCircle(o.Circular))
}

// levelsOf are the smallest and the largest number of levels for which a code has m bits: the
// second is smaller than the first where there are none. The number of bits does not fall as levels
// grow.
func levelsOf(f code.Family, m int) (least, most int) {
	from := func(bits int) int { // the smallest number of levels with so many bits, or more
		return code.MinLevels + sort.Search(code.MaxLevels+1-code.MinLevels,
			func(i int) bool { return f.Bits(code.MinLevels+i) >= bits })
	}
	return from(m), from(m+1) - 1
}

// checkMemory refuses a code whose fit would not fit in memory.
func (n *network) checkMemory() error {
	c := n.code
	if n.options.FitDecoder {
		kept := fitdecoder.Most
		if samples, _ := n.source.Outputs.Dims(); samples >= 0 {
			kept = min(kept, samples)
		}
		if err := memory.Check("fitting a decoder", memory.Product(kept, c.Bits(), 8*2)); err != nil {
			return err
		}
	}
	return memory.Check(fmt.Sprintf("fitting %s of %d levels", c.Name(), c.Levels()), fitBytes(c))
}

// fitBytes is the most memory that a fit of a code takes. There are four numbers for every level
// and bit. The likelihood holds the distance of every level from every transition of a bit: twice,
// for it looks them up, and with room to grow.
func fitBytes(c *code.Code) int64 {
	levels := int64(c.Levels())
	return levels*int64(c.Bits())*6*8 + levels*int64(c.TransitionCount())*4*4
}

// read reads all samples, and keeps those that faults are looked for in, or that a decoder is fitted to.
func (n *network) read(ctx context.Context, workers int, done func(uint64)) (err error) {
	if n.source.Keep = fault.Keep(n.code.Bits()); n.options.FitDecoder {
		n.source.Keep = fitdecoder.Most
	}
	if n.decodings, err = observed.Decodings(n.options.Decoders, n.code, n.source.Kind,
		decode.Options{Temperature: n.options.Temperature}); err != nil {
		return err
	}
	switch predicts := n.options.predicts(); {
	case predicts && n.source.Labels.Real:
		n.decodings = []observed.Decoding{observed.Prediction()}
	case predicts: // any other decoder of these bits says the same
		n.decodings = slices.DeleteFunc(n.decodings,
			func(d observed.Decoding) bool { return !decode.Is[decode.Gen](d.Decoder) })
	}
	if n.seen, err = observed.Scan(ctx, workers, n.source, n.code, n.decodings, done); err != nil {
		return err
	}
	if total := n.seen.Counts.All(); 2*n.seen.Beyond > total {
		labels := n.source.Labels
		return fmt.Errorf("%s: %d of %d targets lie beyond the end levels, %v to %v; want the units of the range",
			n.source.Targets.Name(), n.seen.Beyond, total, labels.Lo, labels.Hi)
	}
	n.transitions = n.code.Transitions()
	n.training = n.trained()
	if n.dead = []int{}; n.training == head.BCE { // the thresholds of other networks mean nothing
		n.dead = fault.Dead(n.code, n.seen)
	}
	return nil
}

// findFaults looks for what is wrong with the outputs that were read.
func (n *network) findFaults(ctx context.Context) (err error) {
	n.found, err = fault.Find(ctx, fault.Input{Code: n.code, Labels: n.source.Labels, Kind: n.source.Kind,
		Training: n.training, Said: n.options.Training != "", Decodings: n.decodings, Decoders: n.options.Decoders,
		Seen: n.seen, Dead: n.dead})
	if i := slices.IndexFunc(n.found, func(f fault.Finding) bool { return f.Misread() }); i >= 0 {
		n.misread = &n.found[i]
	}
	return err
}

const (
	// uncalibrated is the calibration error from which outputs were not trained bit by bit.
	// Networks trained bit by bit have up to 0.04, those for a decoder usually more.
	uncalibrated = 0.04
	// constantWrong is the share of wrong outputs of a bit without transitions from which outputs
	// were not trained bit by bit.
	constantWrong = 0.01
)

// trained is what the network was trained for: as the options say, or as its outputs show.
func (n *network) trained() head.Training {
	if h := head.Lookup(n.code.Name()); h.Own {
		return h.Training
	}
	if n.options.Training != "" {
		return n.options.Training
	}
	total := n.seen.Counts.All()
	samples := float64(total)
	if n.seen.Miscalibration > uncalibrated+0.5/math.Sqrt(samples) {
		return head.CE
	}
	// A bit that never changes is right in every sample after a training bit by bit.
	if !n.source.Kind.Hard() {
		for k, at := range n.transitions {
			if len(at) == 0 && float64(n.seen.Counts.Bit(k)) > constantWrong*samples {
				return head.CE
			}
		}
	}
	return head.BCE
}

// aside are the bits, from 1, without which the mixture is fitted: the dead ones, unless all are.
func (n *network) aside() []int {
	if len(n.dead) == n.code.Bits() {
		return nil
	}
	return n.dead
}

// live is the code's transitions, without those of the bits that are set aside.
func (n *network) live() [][]int {
	out := slices.Clone(n.transitions)
	for _, k := range n.aside() {
		out[k-1] = nil
	}
	return out
}

// design is the network with a decoder. A head has its own name, and direct regression its own
// decoder: the prediction, or the level nearest to it.
func (n *network) design(d observed.Decoding) scenario.Design {
	c, t := n.code, n.training
	out := scenario.Design{Levels: c.Levels(), Code: head.Called(c.Name(), t), Bits: c.Bits(),
		Transitions: c.TransitionsPerBit(), Training: t, Decoder: d.Decoder.Name(), Outputs: decode.Outputs(d.Outputs())}
	if out.Code == head.Direct {
		out.Bits, out.Transitions, out.Training = 1, 0, head.L1
		if !d.Predicts() {
			out.Decoder = "nearest"
		}
		out.Outputs = decode.Outputs(observed.Prediction().Outputs())
	}
	return out
}

// width is the width of a level, in the unit of the targets.
func (n *network) width() float64 { return n.source.Labels.Width() }
