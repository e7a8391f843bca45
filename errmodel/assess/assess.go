// Package assess judges a trained network by the outputs of its test samples.
//
// [Run] reads the samples, measures the error of every decoder, looks for faults, and fits the
// Gaussian mixture to the errors of the network's classifiers. The [Report] has all results.
//
// Report.Fit holds the numbers: a [Fit], which is written as JSON. [Read] reads it back, and
// [Fit.Fill] makes it the error model of a scenario. [Decode] turns a network's outputs into labels.
package assess

import (
	"context"
	"fmt"
	"strings"

	"golang.org/x/sync/errgroup"
	"gonum.org/v1/gonum/mat"

	"belsim/errmodel/fitdecoder"
	"belsim/errmodel/head"
	"belsim/theory/base/parallel"
	"belsim/theory/base/position"
	"belsim/theory/base/refuse"
	"belsim/theory/decode"
)

// Options say which network is judged, and how.
type Options struct {
	// Code is the code that the network was trained with, a NAME or a FILE.
	Code string
	// Levels is the number of levels of a named code. 0 stands for the only number for which the
	// code has as many bits as the network has outputs.
	Levels int
	// Targets is a file with a target for each sample: .csv, .npy or FILE.npz:NAME.
	Targets string
	// Outputs is a file of samples × bits, with what it holds if that is said: FILE,
	// logits:FILE, probabilities:FILE or bits:FILE.
	Outputs string
	// Range is the range of targets that are real labels. With its zero value, targets
	// are levels from 1.
	Range LabelRange
	// Circular says that level 1 follows the last level, as angles have them.
	Circular bool
	// Temperature is τ, by which the network's logits are multiplied for decoders that
	// have a temperature.
	Temperature float64
	// Output is which of the network's outputs is judged, from 1, where it has several: targets
	// N × K and outputs N × K × M. 0 stands for the only one.
	Output int
	// Training is what the network was trained for; "" where its outputs are to show it.
	Training head.Training
	// FitDecoder makes the fit have a fitted decoder, too.
	FitDecoder bool
	// Confidence makes Decode write the interval of each label as well; nil for none.
	Confidence *float64
	// Baseline is direct regression of the same targets; its zero value for none.
	Baseline Baseline
	// Bits are the bits, from 1, whose profiles the report has. Without any these are two of those
	// that change among the levels that occur.
	Bits []int
	// Decoders are the decoders that are tried. Without any, the mixture alone is fitted.
	Decoders decode.Registry
}

// Check refuses values without a meaning. The error is a *refuse.Value.
func (o Options) Check() error {
	return decode.CheckTemperature(o.Temperature)
}

// Progress is told of the parts of a computation. what is counted in a part, and total is how many
// there are, 0 where nobody knows. done is told how many were finished since its last call, from
// several goroutines, and end that the part is over. It may be nil.
type Progress func(what string, total uint64) (done func(n uint64), end func())

func (p Progress) begin(what string, total uint64) (done func(uint64), end func()) {
	if p == nil {
		return func(uint64) {}, func() {}
	}
	return p(what, total)
}

// Report is what is known of a network.
type Report struct {
	Fit *Fit
	// the verdict in some sentences: what the network does, what is wrong with it, what to do next
	Opening []string
	Remarks []string            // sentences about the mixture: how many bits are wrong, what the data do not tell
	Decoder *fitdecoder.Decoder // nil unless Options.FitDecoder

	network *network
	mixture *mixture
}

// Rates are the observed error rates, L × M, and the mixture's where a level has no samples.
func (r *Report) Rates() *mat.Dense { return r.network.seen.Counts.Rates(r.mixture.errors) }

// Run judges a network on so many goroutines, 0 for one on each processor, which change no number.
// Errors name the file and the place, or are the context's.
func Run(ctx context.Context, o Options, workers int, progress Progress) (*Report, error) {
	n, err := openNetwork(ctx, o)
	if err != nil {
		return nil, err
	}
	defer n.Close()
	if err := n.checkQuestion(); err != nil {
		return nil, err
	}
	m, err := n.readAll(ctx, workers, progress)
	if err != nil {
		return nil, err
	}
	f := newFit(n, m)
	if f.Mixture, err = mixtureRows(ctx, workers, n, m); err != nil {
		return nil, err
	}
	if f.Direct, err = f.besideDirect(n); err != nil {
		return nil, err
	}
	f.Profiles, f.Curve = n.profiles(m)
	r := &Report{Fit: f, Opening: f.opening(n), Remarks: n.remarks(f, m), network: n, mixture: m}
	f.Verdict = strings.Join(r.Opening, " ")
	if n.fitted != nil {
		r.Decoder = n.fitted.Decoder
	}
	return r, nil
}

// checkQuestion refuses what the options ask of a code that has it not.
func (n *network) checkQuestion() error {
	for _, k := range n.options.Bits {
		if k < 1 || k > n.code.Bits() {
			return &refuse.Value{Name: "bits", Value: position.At(k),
				Want: fmt.Sprintf("%s to %s, the bits of %s", position.At(1), position.At(n.code.Bits()), n.code.Name())}
		}
	}
	return n.checkMemory()
}

// readAll reads the samples, fits a decoder to them where that is asked for, and the mixture, and looks
// for faults.
func (n *network) readAll(ctx context.Context, workers int, progress Progress) (*mixture, error) {
	samples, _ := n.source.Outputs.Dims()
	done, end := progress.begin("samples read", uint64(max(samples, 0)*2)) // the mixture reads them again
	defer end()
	if err := n.read(ctx, workers, done); err != nil {
		return nil, err
	}
	if n.options.FitDecoder {
		if err := n.fitDecoder(ctx, workers); err != nil {
			return nil, err
		}
	}
	var m *mixture
	g, within := errgroup.WithContext(ctx)
	g.SetLimit(parallel.Workers(workers))
	g.Go(func() (err error) {
		m, err = fitMixture(within, workers, n, done)
		return err
	})
	g.Go(func() error { return n.findFaults(within) })
	return m, g.Wait()
}
