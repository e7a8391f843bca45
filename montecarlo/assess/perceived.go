package assess

import (
	"context"
	"errors"
	"fmt"
	"math"

	"belsim/errmodel/observed"
	"belsim/errmodel/perceived"
	"belsim/montecarlo/forecast"
	"belsim/theory/base/table"
	"belsim/theory/code"
	"belsim/theory/decode"
)

// PerceivedFit is the perceived-label model fitted to a network, beside what was observed.
type PerceivedFit struct {
	Training       string         `json:"training" doc:"what the outputs were trained for: bits (each bit by its own cross-entropy) or decoder"`
	Miscalibration float64        `json:"miscalibration" doc:"mean over the bits of |mean probability − share of ones|, in standard deviations of the bit: small where each bit was trained by itself; null for hard decisions"`
	Noise          float64        `json:"label_noise" doc:"s, the standard deviation of the perceived label, in levels; null where the data do not tell"`
	NoiseInterval  [2]float64     `json:"label_noise_interval" doc:"95 % interval of label_noise"`
	Cutoff         float64        `json:"cutoff" doc:"κ, the fastest that the network's logits change, in cycles over the range of labels"`
	CutoffInterval [2]float64     `json:"cutoff_interval" doc:"95 % interval of cutoff"`
	CutoffFitted   bool           `json:"cutoff_fitted" doc:"cutoff was fitted to networks of several codes; else it is the model's default"`
	Misfit         float64        `json:"misfit" doc:"η, the misfit of a bit, in levels: a constant of the model"`
	Floor          float64        `json:"misfit_floor" doc:"sd₀, the part of the misfit that all bits have, in logits"`
	Tail           float64        `json:"tail" doc:"root mean square error over the model's: above 1 large errors are more frequent than the model says, and forecasts have wider intervals; null if unknown"`
	Describes      bool           `json:"describes" doc:"the data do not reject the model"`
	Distance       float64        `json:"distance" doc:"largest distance of what was observed from the model, in standard deviations of what networks differ from the model by"`
	Verdict        string         `json:"verdict" doc:"whether the model describes the network, as a sentence"`
	Decoders       []DecoderError `json:"decoders" doc:"a row for each decoder"`
	Rates          []BitRate      `json:"bits" doc:"a row for each number of transitions of a bit; empty for networks trained for the decoder"`
}

// DecoderError is the error of one decoder beside the model's.
type DecoderError struct {
	Decoder  string  `json:"decoder" text:"decoder" doc:"name of the decoder"`
	Outputs  string  `json:"outputs" text:"reads" doc:"what the decoder reads: bits or logits"`
	Observed float64 `json:"observed" text:"observed" doc:"observed |error|, in levels"`
	StdErr   float64 `json:"observed_stderr" doc:"standard error of observed"`
	Model    float64 `json:"model" text:"perceived label" doc:"|error| under the perceived-label model, in levels; null where the model says nothing: hard decisions after a training for the decoder"`
}

// BitRate is the mean error rate of bits beside the model's.
type BitRate struct {
	Transitions int     `json:"transitions" text:"transitions" doc:"number of transitions of the bits"`
	Bits        int     `json:"bits" text:"bits" doc:"number of such bits"`
	Observed    float64 `json:"observed" text:"observed" doc:"share of the samples in which such a bit is wrong"`
	Model       float64 `json:"model" text:"perceived label" doc:"the same under the perceived-label model"`
	Mixture     float64 `json:"mixture" text:"mixture" doc:"the same under the Gaussian mixture"`
}

const (
	// rejected is the Distance from which the data reject the model.
	rejected = 3.0
	// uncalibrated is the miscalibration from which outputs were not trained bit by bit.
	// Networks trained bit by bit have up to 0.04, those for a decoder usually more.
	uncalibrated = 0.04
	// constantWrong is the share of wrong outputs of a bit without transitions from which outputs
	// were not trained bit by bit.
	constantWrong = 0.01
)

// trainingOf is the training of a network: as the options say, or as its outputs show.
func (n *Network) trainingOf(seen *observed.Summary) perceived.Training {
	if n.options.Training != "" {
		return n.options.Training
	}
	samples := 0.0
	for _, v := range seen.Counts.Samples {
		samples += float64(v)
	}
	if seen.Miscalibration > uncalibrated+0.5/math.Sqrt(samples) {
		return perceived.ForDecoder
	}
	// A bit that never changes is right in every sample after a training bit by bit.
	if !n.samples.Kind.Hard() {
		for k, at := range n.code.Transitions() {
			if len(at) == 0 && float64(seen.Counts.Bit(k)) > constantWrong*samples {
				return perceived.ForDecoder
			}
		}
	}
	return perceived.BitByBit
}

// observe is a network as forecasts read it. dead are the bits, from 1, that are set aside.
func observe(c *code.Code, t perceived.Training, decodings []observed.Decoding, seen *observed.Summary, dead []int) *perceived.Observed {
	n := &perceived.Observed{Code: c, Training: t, Decodings: decodings, Errors: seen.Levels, Rates: make([]float64, c.Bits())}
	for _, v := range seen.Counts.Samples {
		n.Samples += float64(v)
	}
	for k := range n.Rates {
		n.Rates[k] = float64(seen.Counts.Bit(k)) / n.Samples
	}
	if t == perceived.BitByBit {
		n.Counts = seen.Counts
		for _, k := range dead {
			n.Rates[k-1] = math.NaN()
		}
	}
	return n
}

// forecastPrior is the share of each level among the samples, with half a sample more for each: a
// level without samples is rare, but not impossible.
func (s *Study) forecastPrior() []float64 {
	total := 0.0
	for _, n := range s.counts.Samples {
		total += float64(n) + 0.5
	}
	out := make([]float64, len(s.counts.Samples))
	for i, n := range s.counts.Samples {
		out[i] = (float64(n) + 0.5) / total
	}
	return out
}

// Perceive fits the perceived-label model to the network, and to the others where there are
// some, and says how well it describes the network: Fit.Perceived. Call it before Predict.
func (s *Study) Perceive(ctx context.Context, workers int) error {
	f := s.Fit
	unknownInterval := unknown()
	p := &PerceivedFit{
		Training: string(s.training), Miscalibration: s.observed.Miscalibration, Noise: math.NaN(), NoiseInterval: unknownInterval,
		Cutoff: math.NaN(), CutoffInterval: unknownInterval, Misfit: perceived.DefaultMisfit, Floor: perceived.DefaultFloor, Tail: math.NaN(), Distance: math.NaN(), Decoders: []DecoderError{}, Rates: []BitRate{},
	}
	f.Perceived = p
	switch {
	case s.code.Real():
		p.Verdict = "The perceived-label model has no codes of real numbers."
		return nil
	case s.code.Levels() > forecast.MostLevels:
		p.Verdict = fmt.Sprintf("The perceived-label model is computed for at most %d levels.", forecast.MostLevels)
		return nil
	}
	net := observe(s.code, s.training, s.decodings, s.observed, f.Dead)
	networks, most := []*perceived.Observed{net}, s.code.Bits()
	for _, o := range s.others {
		networks = append(networks, o.seen)
		most = max(most, o.seen.Code.Bits())
	}
	prior := s.forecastPrior()
	nodes, err := perceived.NewNodes(perceived.ManyNodes, prior, most, perceived.Seed)
	if err != nil {
		return err
	}
	fit, err := perceived.NewFit(ctx, workers, networks, nodes, perceived.DefaultMisfit)
	if errors.Is(err, perceived.ErrUnread) || errors.Is(err, perceived.ErrNoNoise) || errors.Is(err, perceived.ErrNothingObserved) {
		p.Verdict = "No noisy label describes it: its errors are as large as without any information, or almost none."
		return nil
	}
	if err != nil {
		return err
	}
	o := s.network.options
	model := forecast.FromFit(fit, prior, o.Decoders, decode.Options{Temperature: o.Temperature})
	s.forecasts = model
	p.Noise, p.NoiseInterval = withInterval(model.Noise)
	p.Cutoff, p.CutoffInterval = withInterval(model.Cutoff)
	p.CutoffFitted, p.Floor = model.CutoffFitted, model.Model.Floor
	if model.Tail > 0 {
		p.Tail = model.Tail
	}
	beside, err := model.Compare(ctx, workers, net, nodes)
	if err != nil {
		return err
	}
	p.Distance, p.Describes = beside.Distance, beside.Distance < rejected
	for i, r := range s.decodings {
		e := s.observed.Levels[i]
		p.Decoders = append(p.Decoders, DecoderError{r.Decoder.Name(), r.Outputs(), e.Mean, e.StdErr, beside.Errors[i].Model})
	}
	mixture := s.mixtureRates()
	for _, r := range beside.Rates {
		p.Rates = append(p.Rates, BitRate{r.Transitions, r.Bits, r.Observed, r.Model, mixture[r.Transitions]})
	}
	if err := s.compareOthers(ctx, workers, nodes); err != nil {
		return err
	}
	if p.Describes {
		p.Verdict = fmt.Sprintf("One noisy label for all bits, with a standard deviation of %s levels, describes it.", table.Short(p.Noise))
	} else {
		p.Verdict = "One noisy label for all bits does not describe it."
	}
	return nil
}

// withInterval writes an estimate and its interval.
func withInterval(e forecast.Estimate) (float64, [2]float64) {
	lo, hi := e.Interval()
	return e.Value, [2]float64{lo, hi}
}

// mixtureRates are the mean error rates of bits under the mixture, by transitions.
func (s *Study) mixtureRates() map[int]float64 {
	sums, bits := map[int]float64{}, map[int]float64{}
	for k, at := range s.transitions {
		if s.isDead(k + 1) {
			continue
		}
		rate := 0.0
		for i, p := range s.Fit.Prior {
			rate += p * s.errors.At(i, k)
		}
		sums[len(at)] += rate
		bits[len(at)]++
	}
	for t := range sums {
		sums[t] /= bits[t]
	}
	return sums
}
