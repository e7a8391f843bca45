package assess

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"

	"belsim/errmodel/forecast"
	"belsim/errmodel/observed"
	"belsim/errmodel/perceived"
	"belsim/errmodel/scenario"
	"belsim/theory/base/position"
	"belsim/theory/base/table"
)

// PerceivedFit is the perceived-label model fitted to a network, beside what was observed.
type PerceivedFit struct {
	perceived.Fit
	Describes bool `json:"describes"`
	// largest distance of observations from the model, in standard deviations of networks of tables
	Distance float64 `json:"distance"`
	// whether the model describes the network, as a sentence
	Verdict   string `json:"verdict"`
	Postponed bool   `json:"-"` // it is fitted for recommendations alone
	// a row for each number of transitions of a bit; empty for networks trained for the decoder
	Rates []forecast.BitRate `json:"bits"`
}

// rejected is the Distance from which the data reject the model.
const rejected = 3.0

// knowledge is what the perceived-label model says of networks, besides Fit.Perceived.
type knowledge struct {
	siblings siblings

	forecasts *forecast.Forecaster // nil, as what follows, where the model says nothing
	learnt    *perceived.Network   // what the model learns of the first one's code
}

// learn fits the perceived-label model to the first network, and puts the decoders of all networks beside it.
func (f *Fit) learn(ctx context.Context, workers int, all []*network) (out knowledge, err error) {
	own := all[0]
	p := &PerceivedFit{Distance: math.NaN(), Rates: []forecast.BitRate{}}
	p.Fit = perceived.Fit{
		Model: perceived.Model{Noise: math.NaN(), Cutoff: math.NaN(), Misfit: perceived.DefaultMisfit,
			Floor: perceived.DefaultFloor, Training: own.training},
		NoiseInterval: unknown(), CutoffInterval: unknown(), Tail: math.NaN(),
	}
	f.Perceived, f.Decoders = p, decoderRows(f.LevelWidth, all)
	if p.Verdict = own.unmodelled(); p.Verdict == "" && own.postponed() {
		p.Postponed, p.Verdict = true, fmt.Sprintf("The perceived-label model of %d × %d outputs that were trained together "+
			"takes long: it is computed for recommendations alone.", f.Levels, f.Bits)
	}
	if p.Verdict != "" {
		return out, nil
	}
	most := 0
	for _, n := range all {
		most = max(most, n.code.Bits())
	}
	nodes, err := forecast.NewNodes(perceived.ManyNodes, f.smoothed(), f.labels(), most, perceived.Seed)
	if err != nil {
		return out, err
	}
	fit, err := perceived.NewFit(ctx, workers, own.observed(), nodes, perceived.DefaultMisfit)
	if errors.Is(err, perceived.ErrNoNoise) || errors.Is(err, perceived.ErrNothingObserved) {
		p.Verdict = "The network does not behave as if it read one noisy label: " +
			"its errors are as large as without any information, or almost none."
		return out, nil
	}
	if err != nil {
		return out, err
	}
	p.Fit = *fit
	p.NoiseInterval, p.CutoffInterval = written(p.Noise, p.NoiseInterval), written(p.Cutoff, p.CutoffInterval)
	p.Within = 0 // the labels of the fit say it: see perceivedModel
	if own.options.predicts() {
		p.Training = perceived.L1
	}
	out.siblings = siblingsOf(own, all[1:], p.Tail)
	trusted := func(n *network) bool { return n.misread == nil && !out.siblings.apart(n) }
	var networks []*perceived.Observed
	for _, n := range all {
		if trusted(n) {
			networks = append(networks, n.observed())
		}
	}
	out.forecasts = newForecaster(p.Fit, f.labels(), f.smoothed(), f.Temperature, networks,
		own.options.Decoders)
	beside, under, err := besideModel(ctx, out.forecasts, all, nodes)
	if err != nil {
		return out, err
	}
	out.learnt = beside.Learnt
	p.judge(beside)
	for i := range f.Decoders {
		r := &f.Decoders[i]
		r.Known = trusted(all[r.Network-1]) && r.Decoder != fittedName
		if e, known := under[r.Design]; known {
			r.Perceived = f.LevelWidth * e
		}
	}
	return out, nil
}

// quickMatrix is the largest number of bits in a code matrix of which a network whose bits were trained
// together is learnt in a second or two: 128 levels of softmax.
const quickMatrix = 128 * 128

// postponed reports whether the model is fitted for recommendations alone, because it takes long.
func (n *network) postponed() bool {
	return n.training != perceived.BCE && !n.options.predicts() && n.code.Levels()*n.code.Bits() > quickMatrix &&
		!n.options.Recommend
}

// unmodelled says why the perceived-label model says nothing of a network; "" where it does.
func (n *network) unmodelled() string {
	samples, wrong := n.seen.Counts.Total()
	switch c := n.code; {
	case len(n.decodings) == 0:
		return "No decoder fits the code."
	case wrong == 0 && n.options.predicts():
		return "All predictions are nearest to the level of their target: there is nothing to model."
	case wrong == 0:
		return fmt.Sprintf("None of the %d × %d outputs is on the wrong side: there is nothing to model.", samples, c.Bits())
	case c.Uneven():
		return "The perceived-label model says nothing of uneven levels."
	case c.Circular():
		return "The perceived-label model says nothing of levels on a circle."
	case c.Real():
		return "The perceived-label model has no codes of real numbers."
	case c.Levels() > forecast.MostLevels:
		return fmt.Sprintf("The perceived-label model is computed for at most %d levels.", forecast.MostLevels)
	}
	return ""
}

// besideModel puts the first network beside the model, and computes the errors of the decoders of
// all of them under it, in levels.
func besideModel(ctx context.Context, of *forecast.Forecaster, all []*network,
	nodes *perceived.Nodes) (first *forecast.Comparison, under map[scenario.Design]float64, err error) {
	under = map[scenario.Design]float64{}
	for _, n := range all {
		if _, done := under[n.design(n.decodings[0])]; done {
			continue // seeds
		}
		beside, err := of.Compare(ctx, n.observed(), nodes)
		if err != nil {
			return nil, nil, err
		}
		for i, d := range n.decodings {
			under[n.design(d)] = beside.Errors[i]
		}
		first = cmp.Or(first, beside)
	}
	return first, under, nil
}

// siblings are the networks of the first one's head. They tell how much longer training gains, and
// nothing of other codes.
type siblings struct {
	count    int
	seeds    float64           // the largest |ln| of an error over the first one's that seeds make: three standard deviations
	far      map[*network]bool // by more than seeds make
	furthest float64           // the largest difference of one that is far, as a share of the first one's error; 0 for none
}

// siblingsOf are those among other networks. tail is the first one's.
func siblingsOf(own *network, others []*network, tail float64) siblings {
	least := func(n *network) observed.Error { return n.seen.Labels[leastError(n.seen.Labels)] }
	yours := least(own)
	out := siblings{seeds: 3 * forecast.Fitted().SeedSD(tail, yours.StdErr/yours.Mean), far: map[*network]bool{}}
	for _, n := range others {
		if n.code.Name() != own.code.Name() || n.training != own.training || n.misread != nil {
			continue
		}
		out.count++
		if over := least(n).Mean / yours.Mean; math.Abs(math.Log(over)) > out.seeds {
			out.far[n], out.furthest = true, max(out.furthest, math.Abs(over-1))
		}
	}
	return out
}

// apart reports whether a network is none that forecasts rest on: the only other one of the head is
// far, as an earlier checkpoint is. Of three or more, forecasts rest on the mean.
func (s siblings) apart(n *network) bool { return s.count == 1 && s.far[n] }

// ended reports whether a network of the same head is as good as the first one.
func (s siblings) ended() bool { return s.count > 0 && s.furthest == 0 }

// text says what is known of whether the training has ended. yours is what people call the
// network's head.
func (s siblings) text(yours string) string {
	switch {
	case s.ended():
		return ""
	case s.furthest > 0:
		return fmt.Sprintf("Two networks of %s differ by %s, and seeds by less than %s: the worse one was trained "+
			"for less, or training has not ended. Where longer training still gains, train longer before you change "+
			"the code.", yours, percent(s.furthest), percent(s.seeds))
	}
	return "Not known: whether the training has ended. If not, a longer training may gain more than another code. " +
		"To find out, give the outputs of an earlier checkpoint as another network of the same code (" +
		position.Flag("also", "CODE:FILE") + ")."
}

// judge adds the rates of bits, and whether the model describes the network.
func (p *PerceivedFit) judge(beside *forecast.Comparison) {
	if len(beside.Rates) > 0 {
		p.Rates = beside.Rates
	}
	p.Distance, p.Describes = beside.Distance, beside.Distance < rejected
	p.Verdict = fmt.Sprintf("The network behaves as if it read one noisy label (standard deviation %s levels).",
		table.Short(p.Noise))
	if !p.Describes {
		p.Verdict = fmt.Sprintf("The network does not behave as if it read one noisy label: an error differs "+
			"from such a network's by %.0f %%. The further it differs, the wider are the intervals of forecasts.",
			100*beside.Furthest)
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

// onLevels reports whether targets are levels, also where these have a range.
func onLevels(quantization, width float64) bool {
	const rounding = 1e-3 // of numbers of 32 bits, and of 65,536 levels
	return quantization <= rounding*width
}

// labels are the real labels of targets, uniform within a level unless they are levels; nil without a range.
func (f *Fit) labels() *forecast.Labels {
	if f.Range == nil {
		return nil
	}
	return &forecast.Labels{Lo: f.Range[0], Hi: f.Range[1], Shares: f.smoothed(),
		OnLevels: onLevels(f.Quantization, f.LevelWidth)}
}
