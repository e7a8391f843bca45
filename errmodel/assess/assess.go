// Package assess judges a trained network by the outputs of its test samples.
//
// [Run] reads the samples and fits two error models to the errors of the network's classifiers: the
// Gaussian mixture and the perceived label. It judges whether the perceived label describes the
// network, computes the error of every decoder under both models, and forecasts other codes where
// that is asked for. The [Report] has all results.
//
// Report.Fit holds the numbers: a [Fit], which is written as JSON. [Read] reads it back, and
// [Fit.Fill] makes it the error model of a scenario. [Decode] turns a network's outputs into labels.
package assess

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"
	"gonum.org/v1/gonum/mat"

	"belsim/errmodel/fitdecoder"
	"belsim/errmodel/perceived"
	"belsim/errmodel/scenario"
	"belsim/theory/base/parallel"
	"belsim/theory/base/position"
	"belsim/theory/base/refuse"
	"belsim/theory/code"
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
	Training perceived.Training
	// Others are more networks for the same targets.
	Others []Other
	// FitDecoder makes the fit have a fitted decoder, too.
	FitDecoder bool
	// Confidence makes Decode write the interval of each label as well; nil for none.
	Confidence *float64
	// Recommend makes the fit forecast all named codes, the network's own and the Candidates.
	Recommend bool
	// Candidates are codes, NAMEs or FILEs.
	Candidates []string
	// Baseline is direct regression of the same targets; its zero value for none.
	Baseline Baseline
	// Bits are the bits, from 1, whose profiles the report has. Without any these are two of those
	// that change among the levels that occur.
	Bits []int
	// Decoders are the decoders that are tried. Without any, the mixture alone is fitted.
	Decoders decode.Registry
}

// Check refuses values without a meaning. The errors are *refuse.Value.
func (o Options) Check() error {
	return errors.Join(decode.CheckTemperature(o.Temperature), scenario.CheckLearnt(o.Training, o.Temperature))
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
	// the verdict in two or three sentences: what the network does, whether a model describes it,
	// what to do next
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
//
// Samples are read, the mixture and then the perceived label are fitted to them, and other codes are forecast.
func Run(ctx context.Context, o Options, workers int, progress Progress) (*Report, error) {
	all, err := openAll(ctx, o)
	if err != nil {
		return nil, err
	}
	defer closeAll(all)
	own := all[0]
	candidates, err := own.checkQuestion()
	if err != nil {
		return nil, err
	}
	m, err := readAll(ctx, all, workers, progress)
	if err != nil {
		return nil, err
	}
	f := newFit(own, m)
	if f.Mixture, err = mixtureRows(ctx, workers, own, m); err != nil {
		return nil, err
	}
	known, err := f.learn(ctx, workers, all)
	if err != nil {
		return nil, err
	}
	if f.Direct, err = f.besideDirect(own); err != nil {
		return nil, err
	}
	if o.Recommend {
		if f.Recommendation, err = f.recommend(ctx, workers, own, candidates, known, progress); err != nil {
			return nil, err
		}
	}
	f.Profiles, f.Curve = f.profiles(own, m, known.learnt)
	r := &Report{Fit: f, Opening: f.opening(all), Remarks: remarks(f, m), network: own, mixture: m}
	f.Verdict = strings.Join(r.Opening, " ")
	if own.fitted != nil {
		r.Decoder = own.fitted.Decoder
	}
	return r, nil
}

// checkQuestion refuses what the options ask of a code that has it not, and opens the candidates.
func (n *network) checkQuestion() ([]*code.Code, error) {
	o, c := n.options, n.code
	switch {
	case c.Circular() && len(o.Others) > 0:
		return nil, errors.New("further networks are for levels on a line: forecasts, which they are for, know no circle")
	case c.Uneven() && len(o.Others) > 0:
		return nil, errors.New("further networks are for even levels: forecasts, which they are for, know no others")
	}
	candidates, err := code.OpenAll(o.Candidates, n.sizes())
	if err != nil {
		return nil, fmt.Errorf("candidates: %w", err)
	}
	for _, k := range o.Bits {
		if k < 1 || k > c.Bits() {
			return nil, &refuse.Value{Name: "bits", Value: position.At(k),
				Want: fmt.Sprintf("%s to %s, the bits of %s", position.At(1), position.At(c.Bits()), c.Name())}
		}
	}
	return candidates, n.checkMemory()
}

// readAll reads the samples of all networks, and fits decoders to them where that is asked for, and the
// mixture to those of the first one.
func readAll(ctx context.Context, all []*network, workers int, progress Progress) (*mixture, error) {
	own, readings := all[0], 1+len(all) // the mixture reads the network's own samples again
	samples, _ := own.source.Outputs.Dims()
	done, end := progress.begin("samples read", uint64(max(samples, 0)*readings))
	defer end()
	for _, n := range all {
		if err := n.read(ctx, workers, done); err != nil {
			return nil, err
		}
		if !slices.Equal(n.seen.Counts.Samples, own.seen.Counts.Samples) {
			return nil, fmt.Errorf("%s: its samples have other levels than those of the first network", n.options.Outputs)
		}
	}
	if own.options.FitDecoder {
		for _, n := range all {
			if err := n.fitDecoder(ctx, workers); err != nil {
				return nil, err
			}
		}
	}
	var m *mixture
	g, within := errgroup.WithContext(ctx)
	g.SetLimit(parallel.Workers(workers))
	g.Go(func() (err error) {
		m, err = fitMixture(within, workers, own, done)
		return err
	})
	for _, n := range all {
		g.Go(func() error { return n.findFaults(within) })
	}
	return m, g.Wait()
}
