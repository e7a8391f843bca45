package assess

import (
	"context"
	"fmt"
	"math"
	"slices"

	"belsim/montecarlo/forecast"
	"belsim/montecarlo/scenario"
	"belsim/theory/code"
)

// Recommendation ranks codes by the error that they are forecast to have when a network of the
// same kind is trained with them.
type Recommendation struct {
	Ranking  []forecast.Row `json:"ranking" doc:"a row for each code, training and decoder, the smallest forecast first; empty where the data do not tell the label noise"`
	Decision *Decision      `json:"decision,omitempty" doc:"what to do next; missing where there is no ranking"`
	Notes    []string       `json:"notes" doc:"sentences: what the ranking rests on, and what is not known"`
}

// Decision says what to do next.
type Decision struct {
	Action   string  `json:"action" doc:"train: a network with the code; take: another of the networks given; stay: none is forecast to be better by 1 %"`
	Code     string  `json:"code" doc:"code that is trained or taken, or of the smallest forecast where neither is; empty where there is no other code"`
	Training string  `json:"training" doc:"what it is trained with: bce, ce, soft, l1 or l2; l1 where it is direct regression"`
	Decoder  string  `json:"decoder" doc:"decoder that reads it; prediction or nearest where it is direct regression"`
	Outputs  string  `json:"outputs" doc:"what the decoder reads: bits or logits"`
	Gain     float64 `json:"gain" doc:"1 − ratio: how much smaller its error is expected to be than the measured one, as a share of it"`
	Better   float64 `json:"better" doc:"probability that it is better"`
	Lost     float64 `json:"lost,omitempty" doc:"what the network's own head lost to the best one in general, as a share; only where this decides"`
}

// rank forecasts all named codes, the network's own and the candidates, after each training, and direct regression:
// Fit.Recommendation. Where s is not known there is no ranking, and the notes say so.
func (s *study) rank(ctx context.Context, workers int, progress Progress) error {
	rec := &Recommendation{Ranking: []forecast.Row{}}
	s.f.Recommendation = rec
	codes, err := s.rankedCodes()
	if err != nil {
		return err
	}
	if s.forecasts == nil {
		rec.Notes = []string{"No code is recommended: these outputs do not tell the noise that forecasts are made with. The observed errors stand above."}
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
	s.ranked = all
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
	rec.Decision = s.decide(all)
	return nil
}

// owns reports whether a forecast is of the network's own code and training.
func (s *study) owns(x *forecast.Forecast) bool {
	return x.Code.Name() == s.f.Code && x.Training == s.training
}

// decide says what to do next.
func (s *study) decide(all []forecast.Forecast) *Decision {
	d := forecast.Decide(s.f.Code, s.training, all)
	out := &Decision{Action: string(d.Action), Lost: d.Lost}
	if x := d.Best; x != nil {
		row := x.Row(1)
		out.Code, out.Training, out.Decoder, out.Outputs = row.Code, row.Training, row.Decoder, row.Outputs
		out.Gain, out.Better = x.Gain(), x.Better
	}
	return out
}

// endText says what is known of whether the training has ended.
func (s *study) endText() string {
	for _, n := range s.others {
		switch {
		case n.apart:
			return fmt.Sprintf("Two networks of %s differ by %s, and seeds by less than %s: the worse one was trained for less, or training has not ended. "+
				"Where longer training still gains, train longer before you change the code. Forecasts rest on the first one.",
				s.f.called(), percent(math.Abs(n.over-1)), percent(s.seeds))
		case n.over > 0:
			return ""
		}
	}
	return "Not known: whether the training has ended. If not, a longer training may gain more than another code. To find out, " + string(AddCheckpoint) + "."
}

// forecastNotes says what the forecasts rest on.
func (s *study) forecastNotes(codes []*code.Code) []string {
	out := []string{"A forecast is the error of a network of the same kind, on the same data, trained with that code. better is the probability that its error is smaller than the smallest of yours."}
	if s.options.FitDecoder {
		out = append(out, "The decoder fitted is one that is fitted to the new network's logits. Its forecast is the Bayes risk of the model; networks reach it within some per cent.")
	}
	if text := s.endText(); text != "" {
		out = append(out, text)
	}
	if len(s.others) == 0 {
		out = append(out, "One network does not show how fast its logits can change, so the intervals of codes with many transitions are wide. A second network narrows them: "+string(AddProbe)+".")
	}
	if slices.ContainsFunc(codes, func(c *code.Code) bool { return c.Real() }) {
		out = append(out, "Codes of real numbers are left out: the model has none.")
	}
	if s.f.knowsDirect() {
		out = append(out, "The error of direct regression counts as that of a second network: it moves the forecasts of all codes.")
	}
	out = append(out, forecast.KnownText())
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
