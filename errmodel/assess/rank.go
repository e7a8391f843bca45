package assess

import (
	"context"
	"math"
	"slices"

	"belsim/errmodel/forecast"
	"belsim/theory/code"
)

// Recommendation ranks codes by the error that they are forecast to have when a network of the
// same kind is trained with them.
type Recommendation struct {
	// a row for each code, training and decoder, the smallest forecast first; empty where label
	// noise is unknown
	Ranking []forecast.Row `json:"ranking"`
	// what to do next; missing where there is no ranking
	Decision *forecast.Decision `json:"decision,omitempty"`
	Notes    []string           `json:"notes"`
}

// recommend forecasts all named codes, the network's own and the candidates, after each training,
// and direct regression. Where s is not known there is no ranking, and the notes say so.
func recommend(ctx context.Context, workers int, own *network, candidates []*code.Code, found findings,
	progress Progress) (*Recommendation, error) {
	codes, err := rankedCodes(own, candidates)
	if err != nil {
		return nil, err
	}
	known, direct := found.model, found.direct
	if known.forecasts == nil {
		return &Recommendation{Ranking: []forecast.Row{},
			Notes: []string{"No code is recommended: these outputs do not tell the label noise."}}, nil
	}
	forecaster := *known.forecasts
	if err := direct.inform(&forecaster, known.decoders, own.width()); err != nil {
		return nil, err
	}
	done, end := progress.begin("codes", 2*uint64(len(codes)))
	all, err := forecaster.Codes(ctx, workers, codes, done)
	if end(); err != nil {
		return nil, err
	}
	rec := newRecommendation(all, own.width(), own, known.siblings.ended(), forecastNotes(own, found))
	if d := rec.Decision; d.Action == forecast.Take && d.Code == forecast.Direct && !direct.Told {
		*d = forecast.Decision{Action: forecast.Stay, Better: math.NaN(), Ended: d.Ended,
			Design: known.decoders[bestDecoder(known.decoders)].Design}
		rec.show()
	}
	return rec, nil
}

// newRecommendation ranks forecasts that are sorted, in a unit of which their own has so many, and
// decides. ended says that the network's training is known to have ended.
func newRecommendation(all []forecast.Forecast, unit float64, own *network, ended bool,
	notes []string) *Recommendation {
	out := &Recommendation{Ranking: forecast.Rows(all, unit)}
	best := slices.IndexFunc(all, func(x forecast.Forecast) bool { return x.Measured && own.owns(&x) })
	for i := range out.Ranking {
		r := &out.Ranking[i]
		if r.Trained = own.owns(&all[i]); r.Trained && best >= 0 {
			// what was measured: logits that nobody has seen are forecast only
			r.Best = i == best
		}
	}
	out.Notes = sentences(append(notes, forecast.Cheapest(out.Ranking))...)
	out.Decision = forecast.Decide(own.code.Name(), own.training, all)
	out.Decision.Ended = ended
	out.show()
	return out
}

// forecastNotes says what the forecasts rest on.
func forecastNotes(own *network, found findings) []string {
	return sentences(
		"A forecast is the error of a network of the same kind, on the same data, trained with that code to its end, "+
			"as yours was. better is the probability that its error is smaller than the smallest of yours.",
		when(own.options.FitDecoder, "Fitted decoders of other codes are not forecast: rows are of the plain decoders."),
		found.model.siblings.text(own.called()),
		when(len(own.options.Others) == 0, "One network does not show how fast its logits can change, so the "+
			"intervals of codes with many transitions are wide. A second network narrows them: "+string(AddProbe)+"."),
		when(found.direct.counts(found.model.decoders), "The error of direct regression counts as that of a second network: "+
			"it moves the forecasts of all codes."),
		forecast.Lost,
	)
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
