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
	"strings"

	"gonum.org/v1/gonum/mat"

	"belsim/errmodel/fitdecoder"
	"belsim/errmodel/forecast"
	"belsim/errmodel/perceived"
	"belsim/montecarlo/compare"
	"belsim/montecarlo/scenario"
	"belsim/theory/decode"
)

// Options say which network is judged, and how.
type Options struct {
	// Code is the code that the network was trained with, a NAME or a FILE.
	Code string
	// Levels is the number of levels of a named code. 0 stands for the only number for which the
	// code has as many bits as the network has outputs.
	Levels int
	// Targets is a file with a target for each sample: .csv, .npy or FILE.npz:NAME. points:FILE
	// says that outputs 2k−1 and 2k are the x and y of a point.
	Targets string
	// Outputs is a file of samples × bits, with what it holds if that is said: FILE,
	// logits:FILE, probabilities:FILE or bits:FILE.
	Outputs string
	// Range is the range of targets that are real labels. With its zero value, targets
	// are levels from 1.
	Range LabelRange
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

// Check refuses values without a meaning. The errors are *scenario.ValueError.
func (o Options) Check() error {
	return errors.Join(scenario.CheckTemperature(o.Temperature), scenario.CheckLearnt(o.Training, o.Temperature),
		compare.CheckBaseline(o.Baseline.Error))
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
	Rates   *mat.Dense          // observed error rates, L × M, and the mixture's where a level has no samples
	Decoder *fitdecoder.Decoder // nil unless Options.FitDecoder

	network *network
	mixture *mixture
	ranked  []forecast.Forecast // of all codes; nil without a ranking
}

// Run judges a network on so many goroutines, 0 for one on each processor, which change no number.
// Errors name the file and the place, or are the context's.
//
// The stages are functions that return a value. Run alone writes to the fit, which later stages
// read.
func Run(ctx context.Context, o Options, workers int, progress Progress) (*Report, error) {
	own, err := openNetwork(ctx, o)
	if err != nil {
		return nil, err
	}
	defer own.Close()
	if own.code.Uneven() && (o.Recommend || len(o.Others) > 0) {
		return nil, errors.New("forecasts and further networks are for even levels: noise of one size in labels is " +
			"another in levels wherever these are uneven, and the perceived-label model has one")
	}
	candidates, err := scenario.OpenCodes(o.Candidates, own.sizes())
	if err != nil {
		return nil, err
	}
	for _, k := range o.Bits {
		if k < 1 || k > own.code.Bits() {
			return nil, &scenario.ValueError{Name: "bits", Value: k, Want: fmt.Sprintf("1 to %d, the bits of %s",
				own.code.Bits(), own.code.Name())}
		}
	}
	if err := own.checkMemory(); err != nil {
		return nil, err
	}
	mixture, others, err := readAll(ctx, own, workers, progress)
	if err != nil {
		return nil, err
	}
	f, r := newFit(own, mixture), &Report{network: own, mixture: mixture}
	r.Fit = f
	var known knowledge
	if len(o.Decoders) > 0 {
		if known, err = learn(ctx, workers, f, own, others); err != nil {
			return nil, err
		}
		f.Perceived, f.Decoders, f.codes = known.fit, known.decoders, known.codes
		f.differ = known.siblings.next(f.Code)
		if f.WrongBits > 0 {
			if f.Mixture, err = mixtureRows(ctx, workers, f, own, mixture); err != nil {
				return nil, err
			}
		}
		f.Quantiles = errorQuantiles(f, own)
	}
	if f.Direct, err = besideDirect(ctx, workers, f, own, known.forecasts); err != nil {
		return nil, err
	}
	if o.Recommend {
		if f.Recommendation, r.ranked, err = recommend(ctx, workers, f, own, candidates, known,
			progress); err != nil {
			return nil, err
		}
	}
	f.Profiles, f.Curve = profiles(f, own, known.learnt)
	r.Opening = opening(f, own, others)
	f.Verdict = strings.Join(r.Opening, " ")
	r.Remarks, r.Rates = remarks(f, mixture), mixture.rates
	if own.fitted != nil {
		r.Decoder = own.fitted.Decoder
	}
	return r, nil
}

// readAll reads the samples of all networks, and fits the mixture to those of the first one.
func readAll(ctx context.Context, own *network, workers int, progress Progress) (*mixture, []*network, error) {
	o := own.options
	readings := 2 + len(o.Others) // the mixture reads the network's own samples again
	if o.FitDecoder {
		readings += 1 + len(o.Others)
	}
	samples, _ := own.source.Outputs.Dims()
	done, end := progress.begin("samples read", uint64(max(samples, 0)*readings))
	defer end()
	if err := own.read(ctx, workers, done); err != nil {
		return nil, nil, err
	}
	mixture, err := fitMixture(ctx, own, done)
	if err != nil {
		return nil, nil, err
	}
	others, err := readOthers(ctx, own, workers, done)
	return mixture, others, err
}
