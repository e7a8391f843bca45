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
)

// PerceivedFit is the perceived-label model fitted to a network, beside what was observed.
type PerceivedFit struct {
	Training       string             `json:"training" doc:"what the outputs were trained with: bce (each bit by its own cross-entropy), ce, soft, l1 or l2"`
	Miscalibration float64            `json:"calibration_error" doc:"mean over the bits of |mean probability − share of ones|, in standard deviations of the bit: small where each bit was trained by itself; null for hard decisions"`
	Noise          float64            `json:"label_noise" doc:"s, the standard deviation of the perceived label around the target itself, in levels; null where the data do not tell"`
	NoiseInterval  [2]float64         `json:"label_noise_interval" doc:"95 % interval of label_noise"`
	Cutoff         float64            `json:"cutoff" doc:"κ, the fastest that the network's logits change, in cycles over the range of labels"`
	CutoffInterval [2]float64         `json:"cutoff_interval" doc:"95 % interval of cutoff"`
	CutoffFitted   bool               `json:"cutoff_fitted" doc:"cutoff was fitted, because the bits of the code show it; else it is the model's default"`
	Misfit         float64            `json:"misfit" doc:"η, the misfit of a bit, in levels: a constant of the model"`
	Floor          float64            `json:"misfit_floor" doc:"sd₀, the part of the misfit that all bits have, in logits"`
	Tail           float64            `json:"tail" doc:"root mean square error over the model's: above 1 large errors are more frequent than the model says, and forecasts have wider intervals; null if unknown"`
	Describes      bool               `json:"describes" doc:"the data do not reject the model"`
	Distance       float64            `json:"distance" doc:"largest distance of what was observed from the model, in standard deviations of what networks of tables differ from the model by"`
	Verdict        string             `json:"verdict" doc:"whether the model describes the network, as a sentence"`
	Rates          []forecast.BitRate `json:"bits" doc:"a row for each number of transitions of a bit; empty for networks trained for the decoder"`
}

// rejected is the Distance from which the data reject the model.
const rejected = 3.0

// fitPerceived fits the perceived-label model to all networks, and says how well it describes the
// first one: Fit.Perceived.
func (s *study) fitPerceived(ctx context.Context, workers int) error {
	p := &PerceivedFit{
		Training: string(s.training), Miscalibration: s.seen.Miscalibration, Noise: math.NaN(), NoiseInterval: unknown(), Cutoff: math.NaN(), CutoffInterval: unknown(),
		Misfit: perceived.DefaultMisfit, Floor: perceived.DefaultFloor, Tail: math.NaN(), Distance: math.NaN(), Rates: []forecast.BitRate{},
	}
	s.f.Perceived = p
	switch {
	case s.code.Real():
		p.Verdict = "The perceived-label model has no codes of real numbers."
		return nil
	case s.code.Levels() > forecast.MostLevels:
		p.Verdict = fmt.Sprintf("The perceived-label model is computed for at most %d levels.", forecast.MostLevels)
		return nil
	}
	networks, most := []*perceived.Observed{s.observed()}, s.code.Bits()
	for _, o := range s.others {
		most = max(most, o.code.Bits())
		if o.warning == "" {
			networks = append(networks, o.observed())
		}
	}
	prior := s.f.smoothed()
	labels := s.f.labels()
	nodes, err := forecast.NewNodes(perceived.ManyNodes, prior, labels, most, perceived.Seed)
	if err != nil {
		return err
	}
	fit, err := perceived.NewFit(ctx, workers, networks[:1], nodes, perceived.DefaultMisfit)
	if errors.Is(err, perceived.ErrNoNoise) || errors.Is(err, perceived.ErrNothingObserved) {
		p.Verdict = "The network does not behave as if its bits read one noisy label: its errors are as large as without any information, or almost none."
		return nil
	}
	if err != nil {
		return err
	}
	p.Noise, p.NoiseInterval = fit.Noise.Value, [2]float64{fit.Noise.Lo, fit.Noise.Hi}
	p.Cutoff, p.CutoffFitted, p.Floor, p.Tail = fit.Cutoff.Value, fit.CutoffFitted, fit.Model.Floor, fit.Tail
	p.CutoffInterval = [2]float64{fit.Cutoff.Lo, fit.Cutoff.Hi}
	all := append([]*network{s.network}, s.others...)
	for _, n := range all {
		s.f.codes = append(s.f.codes, n.code)
	}
	s.tellApart()
	s.f.Measured = s.f.measured(all)
	model, err := s.f.Forecaster(s.options.Decoders)
	if err != nil {
		return err
	}
	s.forecasts = model
	beside, err := model.Compare(ctx, networks[0], nodes)
	if err != nil {
		return err
	}
	s.learnt = beside.Learnt
	for _, e := range beside.Errors {
		s.perceived = append(s.perceived, s.f.LevelWidth*e)
	}
	if len(beside.Rates) > 0 {
		p.Rates = beside.Rates
	}
	p.judge(beside)
	return s.compareNetworks(ctx, nodes)
}

// tellApart finds the networks of the first one's code and training that differ from it by more than seeds do: three standard
// deviations. They tell how much longer training gains, and nothing of other codes.
func (s *study) tellApart() {
	least := func(n *network) observed.Error {
		return n.seen.Labels[leastOf(n.seen.Labels, func(e observed.Error) float64 { return e.Mean })]
	}
	yours := least(s.network)
	s.seeds = 3 * forecast.Fitted().SeedSD(s.f.Perceived.Tail, yours.StdErr/yours.Mean)
	for _, n := range s.others {
		if n.code.Name() == s.code.Name() && n.training == s.training && n.warning == "" {
			n.over = least(n).Mean / yours.Mean
			n.apart = math.Abs(math.Log(n.over)) > s.seeds
		}
	}
}

// judge says whether the model describes the network.
func (p *PerceivedFit) judge(beside *forecast.Comparison) {
	p.Distance, p.Describes = beside.Distance, beside.Distance < rejected
	p.Verdict = fmt.Sprintf("The network behaves as if its bits read one noisy label (standard deviation %s levels).", table.Short(p.Noise))
	if !p.Describes {
		p.Verdict = fmt.Sprintf("The network does not behave as if its bits read one noisy label: an error differs from such a network's by %.0f %%. "+
			"The further it differs, the wider are the intervals of forecasts.", 100*beside.Furthest)
	}
}

// smoothed is the share of each level, with half a sample more for each: a level without samples is
// rare, but not impossible.
func (f *Fit) smoothed() []float64 {
	n, out := float64(f.Samples), make([]float64, len(f.Prior))
	for i, p := range f.Prior {
		out[i] = (p*n + 0.5) / (n + 0.5*float64(len(out)))
	}
	return out
}

// labels are the real labels of the targets, uniform within a level; nil where targets are levels.
func (f *Fit) labels() *forecast.Labels {
	if f.Range == nil {
		return nil
	}
	return &forecast.Labels{Lo: f.Range[0], Hi: f.Range[1], Shares: f.smoothed(), OnLevels: f.onLevels()}
}

// onLevels reports whether targets are levels, also where these have a range.
func (f *Fit) onLevels() bool {
	const rounding = 1e-3 // of numbers of 32 bits, and of 65,536 levels
	return f.Quantization <= rounding*f.LevelWidth
}
