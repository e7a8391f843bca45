// Package assess judges a trained network by the outputs of its test samples.
//
// [Open] opens the targets and the outputs of these samples. [Network.Fit] reads
// them, fits the error model to the errors of the network's classifiers, and judges how well
// the model describes them. The result is a [Study], which can do more: [Study.Predict]
// computes the error of every decoder under the model and under the observed error rates,
// beside the error that was observed. [Study.Perceive] fits the perceived-label model, and
// [Study.Rank] forecasts other codes with it.
//
// Study.Fit holds the numbers: a [Fit], which is written as JSON. [Read] reads it back, and
// [Fit.Fill] makes it the error model of a scenario. [ReadRates] reads the observed error
// rates, which [Study.WriteRates] writes as CSV.
package assess

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"belsim/errmodel/perceived"
	"belsim/montecarlo/scenario"
	"belsim/theory/decode"
)

// Options say which network is judged, and how.
type Options struct {
	// Code is the code that the network was trained with, a NAME or a FILE.
	Code string
	// Levels is the number of levels of a named code. 0 stands for the largest number of
	// levels with as many bits as the network has outputs.
	Levels int
	// Targets is a file with a target for each sample: .csv, .npy or FILE.npz:NAME.
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
	// FitDecoder makes the fit have a fitted decoder, too.
	FitDecoder bool
	// Samples is the number of samples of each label in simulations.
	Samples uint64
	// Seed is the seed of the random numbers of simulations.
	Seed uint64
	// Baseline is the error of direct regression of the same targets, in levels, or in label units
	// where there is a Range; 0 for none.
	Baseline float64
	// Candidates are codes, NAMEs or FILEs, that Study.Rank forecasts besides the named ones.
	Candidates []string
	// Decoders are the decoders that are tried.
	Decoders decode.Registry
}

// Check refuses values without a meaning. The errors are *scenario.ValueError.
func (o Options) Check() error {
	if err := o.sampling(o.Samples).Check(); err != nil {
		return err
	}
	return errors.Join(scenario.CheckTemperature(o.Temperature), scenario.CheckBaseline(o.Baseline))
}

// sampling is a sampling of n samples of each label.
func (o Options) sampling(n uint64) scenario.Sampling {
	return scenario.Sampling{Samples: n, Seed: o.Seed}
}

// LabelRange is a range of real labels, written a:b: a is level 1, b is the last level.
type LabelRange struct{ Lo, Hi float64 }

// IsZero reports whether there is no range.
func (r LabelRange) IsZero() bool { return r == LabelRange{} }

// UnmarshalText implements encoding.TextUnmarshaler.
func (r *LabelRange) UnmarshalText(text []byte) error {
	lo, hi, found := strings.Cut(string(text), ":")
	var err [2]error
	r.Lo, err[0] = strconv.ParseFloat(lo, 64)
	r.Hi, err[1] = strconv.ParseFloat(hi, 64)
	if !found || errors.Join(err[:]...) != nil {
		return fmt.Errorf("range %q: want two numbers, a:b", text)
	}
	// Their difference must be finite, too, and no level may have the width zero.
	if d := r.Hi - r.Lo; !(d > 0) || math.IsInf(d, 0) || r.Lo+d/(1<<20) == r.Lo || math.IsInf(r.Lo, 0) {
		return fmt.Errorf("range %q: want finite numbers, a below b", text)
	}
	return nil
}
