package assess

import (
	"context"
	"math"
	"slices"

	"belsim/errmodel/forecast"
	"belsim/theory/base/position"
	"belsim/theory/code"
)

// Recommendation ranks codes by the error that they are forecast to have when a network of the
// same kind is trained with them.
type Recommendation struct {
	// a row for each code, training and decoder, the smallest forecast first; empty where label
	// noise is unknown
	Ranking []forecast.Row `json:"ranking"`
	// what to do next; missing where there is no ranking, and of fewer than 100 samples
	Decision *forecast.Decision `json:"decision,omitempty"`
	Notes    []string           `json:"notes"`
}

// recommend forecasts all named codes, the network's own and the candidates, after each training,
// and direct regression. Where s is not known there is no ranking, and the notes say so.
func (f *Fit) recommend(ctx context.Context, workers int, own *network, candidates []*code.Code, known knowledge,
	progress Progress) (*Recommendation, error) {
	codes, err := rankedCodes(own, candidates)
	if err != nil {
		return nil, err
	}
	if known.forecasts == nil {
		note := "No code is recommended: these outputs do not tell the label noise."
		switch {
		case f.Circular:
			note = "There are no forecasts for angles: the model behind them knows no circle."
		case f.Values != nil:
			note = "There are no forecasts for uneven levels: the model behind them has noise of one size in levels."
		}
		return &Recommendation{Ranking: []forecast.Row{}, Notes: []string{note}}, nil
	}
	forecaster := *known.forecasts
	if err := f.Direct.inform(&forecaster, f.Decoders, own.width()); err != nil {
		return nil, err
	}
	done, end := progress.begin("codes", 2*uint64(len(codes)))
	all, err := forecaster.Codes(ctx, workers, codes, done)
	if end(); err != nil {
		return nil, err
	}
	out := &Recommendation{Ranking: forecast.Rows(all, own.width())}
	owns := func(x *forecast.Forecast) bool { return x.Code.Name() == own.code.Name() && x.Training == own.training }
	best := slices.IndexFunc(all, func(x forecast.Forecast) bool { return x.Measured && owns(&x) })
	for i := range out.Ranking {
		r := &out.Ranking[i]
		if r.Trained = owns(&all[i]); r.Trained && best >= 0 {
			// what was measured: logits that nobody has seen are forecast only
			r.Best = i == best
		}
	}
	d := forecast.Decide(own.code.Name(), own.training, all)
	d.Ended = known.siblings.ended()
	if d.Action == forecast.Take && d.Code == forecast.Direct && !f.Direct.Told {
		*d = forecast.Decision{Action: forecast.Stay, Better: math.NaN(), Ended: d.Ended,
			Design: f.Decoders[bestDecoder(f.Decoders)].Design}
	}
	if f.Samples >= fewSamples {
		out.Decision = d
	}
	out.show()
	out.Notes = sentences(
		"A forecast is the error of a network of the same kind, on the same data, trained with that code to its end, "+
			"as yours was. better is the probability that its error is smaller than the smallest of yours.",
		when(own.options.FitDecoder, "Fitted decoders of other codes are not forecast: rows are of the plain decoders."),
		known.siblings.text(f.Code),
		when(len(own.options.Others) == 0, "One network does not show how fast its outputs can change, so the "+
			"intervals of codes with many transitions are wide. A second network narrows them: train one with the columns of "+
			"the code probe, and give its outputs, too ("+position.Flag("also", "probe:FILE")+")."),
		when(f.Direct.counts(f.Decoders), "The error of direct regression counts as that of a second network: "+
			"it moves the forecasts of all codes."),
		forecast.Lost,
		forecast.Cheapest(out.Ranking),
	)
	return out, nil
}

// rankedCodes are the codes that are ranked: direct regression, the named ones, and the network's own
// and the candidates, each once, where they are none of these. Probes are columns for measuring, and
// no code to train for its error. CORN is there where it was trained: its errors depart from unary's
// in ways that the law has not seen.
func rankedCodes(own *network, candidates []*code.Code) (codes []*code.Code, err error) {
	names := []string{forecast.Direct}
	if slices.ContainsFunc(own.options.Others, func(o Other) bool { return o.Code == forecast.CORN }) {
		names = append(names, forecast.CORN)
	}
	for _, family := range code.Families() {
		names = append(names, family.Name)
	}
	for _, name := range names {
		c, err := forecast.OpenCode(name, own.code.Levels())
		if err != nil {
			return nil, err
		}
		codes = append(codes, c)
	}
	for _, c := range append([]*code.Code{own.code}, candidates...) {
		if _, named := code.Lookup(c.Name()); !named && !slices.Contains(names, c.Name()) {
			codes, names = append(codes, c), append(names, c.Name())
		}
	}
	return codes, nil
}
