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
	// a row for each code, training and decoder, the smallest forecast first; empty where the data
	// do not tell the label noise
	Ranking []forecast.Row `json:"ranking"`
	// what to do next; missing where there is no ranking
	Decision *Decision `json:"decision,omitempty"`
	Notes    []string  `json:"notes"`
}

// Decision says what to do next.
type Decision struct {
	// train: a network with the code; take: another of the networks given; stay: keep this one, for
	// none is forecast to be better by 1 %
	Action forecast.Action `json:"action"`
	scenario.Design
	// 1 − ratio: how much smaller its error is expected to be than the measured one, as a share of
	// it; 0 where it is kept
	Gain float64 `json:"gain"`
	// probability that it is better; null where it is kept
	Better float64 `json:"better"`
	// another network of the same head is as good, within what seeds make: else nobody knows
	// whether the training has ended
	Ended bool `json:"ended"`
	// the head is the one that lost least in general: no other is forecast to be 2 % better than it
	Rule bool `json:"rule,omitempty"`
	// what the network's own head lost to the best one in general, as a share; only where this
	// decides
	Lost float64 `json:"lost,omitempty"`
}

// recommend forecasts all named codes, the network's own and the candidates, after each training,
// and direct regression. Where s is not known there is no ranking, and the notes say so. f is the
// network's fit, which knows direct regression.
func recommend(
	ctx context.Context, workers int, f *Fit, own *network, candidates []*code.Code, known knowledge, progress Progress,
) (*Recommendation, []forecast.Forecast, error) {
	out := &Recommendation{Ranking: []forecast.Row{}}
	codes, err := rankedCodes(own, candidates)
	if err != nil {
		return nil, nil, err
	}
	if known.forecasts == nil {
		out.Notes = []string{"No code is recommended: these outputs do not tell the noise that forecasts are made with. The observed errors stand above."}
		return out, nil, nil
	}
	forecaster, err := f.forecaster(own.options.Decoders)
	if err != nil {
		return nil, nil, err
	}
	forecaster.Fitted = own.options.FitDecoder
	done, end := progress.begin("codes", 2*uint64(len(codes)))
	all, err := forecaster.Codes(ctx, workers, codes, done)
	if end(); err != nil {
		return nil, nil, err
	}
	out.Ranking = forecast.Rows(all, func(int) float64 { return f.LevelWidth })
	for i := range out.Ranking {
		out.Ranking[i].Trained = own.owns(&all[i])
	}
	if slices.ContainsFunc(out.Ranking, func(r forecast.Row) bool { return r.Trained && r.Measured }) {
		// of the network itself the best is what was measured: logits that nobody has seen are
		// forecast only
		first := true
		for i := range out.Ranking {
			if r := &out.Ranking[i]; r.Trained {
				r.Best = r.Measured && first
				first = first && !r.Measured
			}
		}
	}
	out.Notes = forecastNotes(f, own, codes, known.siblings)
	for _, text := range []string{saveLogits(own, all), forecast.Cheapest(out.Ranking)} {
		if text != "" {
			out.Notes = append(out.Notes, text)
		}
	}
	out.Decision = decide(own, known.siblings.ended(), all)
	out.show()
	return out, all, nil
}

// saveLogits says that the network's own logits, which nobody has seen, are forecast to be worth
// saving; it is "" where they are not.
func saveLogits(own *network, all []forecast.Forecast) string {
	i := slices.IndexFunc(all, func(x forecast.Forecast) bool { return own.owns(&x) })
	if i < 0 || all[i].Measured || all[i].Gain() < forecast.Worthwhile {
		return ""
	}
	return fmt.Sprintf("Save the logits of this network in the place of its bits: %s is forecast to gain %s by them, and nothing is to be trained.",
		all[i].Decoding.Decoder.Name(), percent(all[i].Gain()))
}

// decide says what to do next. ended says that the network's training is known to have ended.
func decide(own *network, ended bool, all []forecast.Forecast) *Decision {
	d := forecast.Decide(own.code.Name(), own.training, all)
	out := &Decision{Action: d.Action, Lost: d.Lost, Rule: d.Rule, Ended: ended, Better: math.NaN()}
	x := d.Best
	if d.Action == forecast.Stay {
		x = nil
		if i := slices.IndexFunc(all, func(x forecast.Forecast) bool { return x.Measured && own.owns(&x) }); i >= 0 {
			x = &all[i]
		}
	} else {
		out.Gain, out.Better = x.Gain(), x.Better
	}
	if x != nil {
		out.Design = x.Design()
	}
	return out
}

// forecastNotes says what the forecasts rest on.
func forecastNotes(f *Fit, own *network, codes []*code.Code, of siblings) []string {
	out := []string{"A forecast is the error of a network of the same kind, on the same data, trained with that code to its end, as yours was. better is the probability that its error is smaller than the smallest of yours."}
	if own.options.FitDecoder {
		out = append(out, "The decoder fitted is one that is fitted to the new network's logits. Its forecast is the Bayes risk of the model; networks reach it within some per cent.")
	}
	if text := of.text(f.called()); text != "" {
		out = append(out, text)
	}
	if len(own.options.Others) == 0 {
		out = append(out, "One network does not show how fast its logits can change, so the intervals of codes with many transitions are wide. A second network narrows them: "+string(AddProbe)+".")
	}
	if slices.ContainsFunc(codes, func(c *code.Code) bool { return c.Real() }) {
		out = append(out, "Codes of real numbers are left out: the model has none.")
	}
	if f.knowsDirect() {
		out = append(out, "The error of direct regression counts as that of a second network: it moves the forecasts of all codes.")
	}
	out = append(out, forecast.KnownText())
	if text := forecast.ConstantColumns(codes); text != "" {
		out = append(out, text)
	}
	return out
}

// rankedCodes are the codes that are ranked: direct regression and CORN, the named ones, and the
// network's own and the candidates, each once, where they are none of these. Probes are columns for
// measuring, and no code to train for its error.
func rankedCodes(own *network, candidates []*code.Code) ([]*code.Code, error) {
	var names []string
	for _, family := range code.Families() {
		names = append(names, family.Name)
	}
	codes, err := scenario.OpenCodes(names, own.sizes())
	if err != nil {
		return nil, err
	}
	heads, err := forecast.OwnHeads(own.code.Levels())
	if err != nil {
		return nil, err
	}
	codes = slices.Concat(heads, codes)
	for _, c := range append([]*code.Code{own.code}, candidates...) {
		_, named := code.Lookup(c.Name())
		if !named && !slices.ContainsFunc(codes, func(x *code.Code) bool { return x.Name() == c.Name() }) {
			codes = append(codes, c)
		}
	}
	return codes, nil
}
