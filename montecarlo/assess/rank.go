package assess

import (
	"context"
	"fmt"
	"slices"

	"belsim/errmodel/perceived"
	"belsim/montecarlo/forecast"
	"belsim/montecarlo/scenario"
	"belsim/theory/code"
)

// Recommendation ranks codes by the error that they are forecast to have when a network of the
// same kind is trained with them.
type Recommendation struct {
	Ranking  []forecast.Row `json:"ranking" doc:"a row for each code, training and decoder, the smallest forecast first; empty where the data reject the model"`
	Decision *Decision      `json:"decision,omitempty" doc:"what to do next; missing where there is no ranking"`
	Notes    []string       `json:"notes" doc:"sentences: what the ranking rests on, and what is not known"`
}

// Decision says what to do next.
type Decision struct {
	Action   string  `json:"action" doc:"train: a network with the code; take: another of the networks given; probe: train a second network first, which would tell; stay: no gain above 2 % is likely"`
	Code     string  `json:"code" doc:"code that is trained or taken, or of the smallest forecast where neither is; empty where there is no other code"`
	Training string  `json:"training" doc:"what it is trained with: bce, ce or soft; l1 where it is direct regression"`
	Decoder  string  `json:"decoder" doc:"decoder that reads it; prediction or nearest where it is direct regression"`
	Outputs  string  `json:"outputs" doc:"what the decoder reads: bits or logits"`
	Gain     float64 `json:"gain" doc:"1 − ratio: how much smaller its error is expected to be than the measured one, as a share of it"`
	Better   float64 `json:"better" doc:"probability that it is better"`
	Probe    string  `json:"probe,omitempty" doc:"code of the second network; only where action is probe"`
	ProbeFor string  `json:"probe_training,omitempty" doc:"what the second network is trained with: bce or ce; only where action is probe"`
}

// rank forecasts all named codes, the network's own and the candidates, after each training, and direct regression:
// Fit.Recommendation. Where the data reject the model, or s is not known, there is no ranking, and
// the notes say so.
func (s *study) rank(ctx context.Context, workers int, progress Progress) error {
	rec := &Recommendation{Ranking: []forecast.Row{}}
	s.f.Recommendation = rec
	codes, err := s.rankedCodes()
	if err != nil {
		return err
	}
	if p := s.f.Perceived; p == nil || !p.Near {
		rec.Notes = []string{"No code is recommended: the data reject the model that forecasts are made with. The observed errors stand above.",
			"A network trained with a code that is easy to learn (unary, johnson) may show why."}
		return nil
	}
	forecaster, err := s.f.Forecaster(s.options.Decoders) // which knows direct regression now
	if err != nil {
		return err
	}
	forecaster.Fitted = s.options.FitDecoder
	done, end := progress.begin("codes", 2*uint64(len(codes)))
	all, err := forecaster.Codes(ctx, workers, codes, done)
	if end(); err != nil {
		return err
	}
	s.ranked, s.ranker = all, forecaster
	own := func(x forecast.Forecast) bool { return s.owns(&x) }
	measured := slices.ContainsFunc(all, func(x forecast.Forecast) bool { return own(x) && x.Measured })
	rec.Ranking = forecast.Rows(all, func(int) float64 { return s.f.LevelWidth })
	for i := range rec.Ranking {
		rec.Ranking[i].Trained = own(all[i])
	}
	if measured { // of the network itself the best is what was measured: logits that nobody has seen are forecast only
		first := true
		for i := range rec.Ranking {
			if r := &rec.Ranking[i]; r.Trained {
				r.Best = r.Measured && first
				first = first && !r.Measured
			}
		}
	}
	rec.Notes = s.forecastNotes(codes)
	if i := slices.IndexFunc(all, own); i >= 0 && !all[i].Measured && all[i].Gain() >= forecast.Worthwhile {
		rec.Notes = append(rec.Notes, fmt.Sprintf("Save the logits of this network in the place of its bits: %s is forecast to gain %s by them, and nothing is to be trained.", all[i].Decoding.Decoder.Name(), percent(all[i].Gain())))
	}
	if text := forecast.Cheapest(rec.Ranking); text != "" {
		rec.Notes = append(rec.Notes, text)
	}
	return s.decide(ctx, workers, forecaster, all, rec)
}

// owns reports whether a forecast is of the network's own code and training.
func (s *study) owns(x *forecast.Forecast) bool {
	return x.Code.Name() == s.f.Code && x.Training == s.training
}

// decide says what to do next: Recommendation.Decision.
func (s *study) decide(ctx context.Context, workers int, f *forecast.Forecaster, all []forecast.Forecast, rec *Recommendation) error {
	probes, err := s.probes()
	if err != nil {
		return err
	}
	d, err := f.Decide(ctx, workers, all, probes)
	if err != nil {
		return err
	}
	out := &Decision{Action: string(d.Action)}
	if x := d.Best; x != nil {
		out.Code, out.Gain, out.Better = x.Code.Name(), x.Gain(), x.Better
		row := x.Row(1)
		out.Training, out.Decoder, out.Outputs = row.Training, row.Decoder, row.Outputs
	}
	if d.Probe != nil {
		out.Probe, out.ProbeFor = d.Probe.Code.Name(), string(d.Probe.Training)
	}
	rec.Decision = out
	return nil
}

// probes are the codes that a second network may have.
func (s *study) probes() ([]*code.Code, error) {
	return scenario.OpenCodes([]string{"probe", "unary", "gray", "b1jdj"}, s.sizes())
}

// Notes tell of an overconfidence from these on: with BCE from a temperature of 1.21 on, and up to 0.89. On testdata/forecast, networks that were not trained to the end have the
// latter, and from 1.2 on codes whose columns change often mostly lose more than forecast. Soft targets, which outputs do not show, are underconfident.
const overconfident, underconfident = 0.5, 0.2

// forecastNotes says what the forecasts rest on.
func (s *study) forecastNotes(codes []*code.Code) []string {
	out := []string{"A forecast is the error of a network of the same kind, on the same data, trained with that code. better is the probability that its error is smaller than the smallest of yours."}
	if s.options.FitDecoder {
		out = append(out, "The decoder fitted is one that is fitted to the new network's logits. Its forecast is the Bayes risk of the model; networks reach it within some per cent.")
	}
	if !s.f.Perceived.CutoffFitted {
		out = append(out, "Not known: how fast the logits of this network can change. One code does not show it, so the intervals of codes with many transitions are wide. A second network narrows them: "+string(AddProbe)+".")
	}
	switch t, far := s.forecasts.Temperature, s.forecasts.Overconfidence(); {
	case t > 1 && far >= overconfident:
		out = append(out, fmt.Sprintf("The network is overconfident: divided by %.2f, its logits agree best with the targets. Networks like this may lose more by codes whose bits change often, so the intervals of these are wider.", t))
	case t < 1 && far >= underconfident && s.training == perceived.BCE:
		out = append(out, fmt.Sprintf("The network is underconfident: divided by %.2f, its logits agree best with the targets. It may not be trained to the end, and then a longer training may change what code is best.", t))
	}
	if slices.ContainsFunc(codes, func(c *code.Code) bool { return c.Real() }) {
		out = append(out, "Codes of real numbers are left out: the model has none.")
	}
	if s.f.knowsDirect() {
		out = append(out, "The error of direct regression counts as that of a second network: it moves the forecasts of all codes.")
	} else if !s.forecasts.Told() {
		out = append(out, "Not known: whether codes have less error than direct regression here, and soft targets less than CE. On tables of data unary was 0 to 12 % better than direct regression, on images 0 to 30 %. A network of johnson, trained with BCE, tells more.")
	}
	if text := forecast.ConstantColumns(codes); text != "" {
		out = append(out, text)
	}
	return out
}

// rankedCodes are the codes that are ranked: direct regression and CORN, the named ones, and the network's own and the
// candidates, each once, where they are none of these. Probes are columns for measuring, and no code
// to train for its error.
func (s *study) rankedCodes() ([]*code.Code, error) {
	var names []string
	for _, family := range code.Families() {
		names = append(names, family.Name)
	}
	codes, err := scenario.OpenCodes(names, s.sizes())
	if err != nil {
		return nil, err
	}
	heads, err := forecast.OwnHeads(s.code.Levels())
	if err != nil {
		return nil, err
	}
	codes = slices.Concat(heads, codes)
	for _, c := range append([]*code.Code{s.code}, s.candidates...) {
		_, named := code.Lookup(c.Name())
		if !named && !slices.ContainsFunc(codes, func(x *code.Code) bool { return x.Name() == c.Name() }) {
			codes = append(codes, c)
		}
	}
	return codes, nil
}
