package assess

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"belsim/errmodel/fitdecoder"
	"belsim/errmodel/observed"
	"belsim/theory/base/memory"
	"belsim/theory/base/table"
)

// Fitted is the decoder that was fitted to a network, or the best of today's decoders where none is
// better. Errors are means of |label − target| in levels, over samples that were not used to fit the
// decoder that decodes them.
type Fitted struct {
	Kind       string       `json:"kind" doc:"what the decoder is: temperature, recalibrated, affine or curved, or the name of a decoder of today"`
	Rule       string       `json:"rule" doc:"what it makes of the probabilities of the levels: map, median or mean"`
	Reads      string       `json:"reads" doc:"what it reads: bits or logits"`
	Better     bool         `json:"better" doc:"it is better than the decoders of today by more than the standard error; else it is one of them"`
	Samples    int          `json:"samples" doc:"samples that it was fitted to, and that judge it by nested cross-validation"`
	Error      float64      `json:"error" doc:"|error| against the target, quantization included"`
	StdErr     float64      `json:"stderr" doc:"standard error of error"`
	Interval   [2]float64   `json:"interval" doc:"95 % interval of error"`
	Level      float64      `json:"error_level" doc:"|error| against the level of the target"`
	LevelSE    float64      `json:"error_level_stderr" doc:"standard error of error_level"`
	Today      string       `json:"today" doc:"the best of the decoders of today"`
	TodayOf    string       `json:"today_reads" doc:"what that one reads"`
	TodayErr   float64      `json:"today_error" doc:"its |error| against the target"`
	TodayLvl   float64      `json:"today_error_level" doc:"its |error| against the level of the target"`
	Gain       float64      `json:"gain" doc:"today_error − the error of what cross-validation chooses"`
	GainSE     float64      `json:"gain_stderr" doc:"standard error of gain, of the differences of the samples"`
	LabelUnits FittedUnits  `json:"label_units" doc:"the same in label units"`
	Kinds      []FittedKind `json:"kinds" doc:"a row for the best decoder of each kind"`
	Notes      []string     `json:"notes" doc:"what the reader should know, in sentences"`
}

// FittedUnits holds errors of a Fitted in label units.
type FittedUnits struct {
	Error    float64    `json:"error" doc:"error, in label units"`
	Interval [2]float64 `json:"interval" doc:"interval, in label units"`
	Level    float64    `json:"error_level" doc:"error_level, in label units"`
	Today    float64    `json:"today_error" doc:"today_error, in label units"`
}

// FittedKind is the best decoder of one kind.
type FittedKind struct {
	Kind   string  `json:"kind" text:"decoder" doc:"what the decoder is"`
	Rule   string  `json:"rule" text:"rule" doc:"map, median or mean"`
	Error  float64 `json:"error" text:"|error|, levels" doc:"|error| against the target, in levels, by the cross-validation that chose the decoder of this kind: a little too small"`
	StdErr float64 `json:"stderr" text:"± s.e." doc:"standard error of error"`
}

// fitDecoder fits a decoder to the network's outputs.
func (n *Network) fitDecoder(ctx context.Context, workers int, decodings []observed.Decoding, done func(samples uint64)) (*fitdecoder.Result, error) {
	samples, most := n.Samples(), fitdecoder.Most
	if samples >= 0 {
		most = min(samples, most)
	}
	if err := memory.Check("fitting a decoder", memory.Product(most, n.code.Bits(), 8*2)); err != nil {
		return nil, err
	}
	taken, err := n.samples.Take(ctx, fitdecoder.Most, n.options.Seed, done)
	if err != nil {
		return nil, err
	}
	in := fitdecoder.Input{Code: n.code, Samples: taken, Logits: !n.samples.Kind.Hard(), Decodings: decodings, Temperature: n.options.Temperature}
	if r := n.options.Range; !r.IsZero() {
		in.Values = fitdecoder.Spread(n.code.Levels(), r.Lo, r.Hi)
	}
	out, err := fitdecoder.Fit(ctx, workers, in)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", n.samples.Outputs.Name(), err)
	}
	return out, nil
}

// newFitted is the result in the form that is written.
func newFitted(r *fitdecoder.Result, width float64) *Fitted {
	about := r.Decoder.About()
	interval := fitdecoder.Interval(r.Target)
	n := func(v float64) float64 { return v }
	f := &Fitted{
		Kind: about.Kind, Rule: about.Rule, Reads: about.Reads, Better: r.Fitted, Samples: about.Samples,
		Error: n(r.Target.Mean), StdErr: n(r.Target.StdErr), Interval: [2]float64{n(interval[0]), n(interval[1])},
		Level: n(r.Levels.Mean), LevelSE: n(r.Levels.StdErr),
		Today: r.Today.Decoder.Name(), TodayOf: r.Today.Outputs(), TodayErr: n(r.TodayTarget.Mean), TodayLvl: n(r.TodayLevels.Mean),
		Gain: n(r.Gain), GainSE: n(r.GainSE), Kinds: []FittedKind{}, Notes: []string{},
		LabelUnits: FittedUnits{n(width * r.Target.Mean), [2]float64{n(width * interval[0]), n(width * interval[1])}, n(width * r.Levels.Mean), n(width * r.TodayTarget.Mean)},
	}
	for _, k := range r.Kinds {
		f.Kinds = append(f.Kinds, FittedKind{k.Kind, string(k.Rule), n(k.Target.Mean), n(k.Target.StdErr)})
	}
	if r.Few {
		f.Notes = append(f.Notes, fmt.Sprintf("%d samples are few for %d levels and %d bits: a decoder fitted to more would be better, and its interval narrower.", about.Samples, about.Levels, about.Bits))
	}
	if r.TooLarge {
		f.Notes = append(f.Notes, "The code is too large for a model of its outputs: only temperatures and recalibrated bits were tried.")
	}
	return f
}

// WriteDecoder writes the fitted decoder as an .npz file.
func (s *Study) WriteDecoder(w io.Writer) error {
	if s.fitted == nil {
		return errors.New("no decoder was fitted")
	}
	return s.fitted.Decoder.Write(w)
}

// fittedText says how good the fitted decoder is.
func (s *Study) fittedText() string {
	f, r := s.Fit, s.fitted
	about := r.Decoder.About()
	today := r.Today.Decoder.Name() + " on " + r.Today.Outputs()
	if !r.Fitted {
		return fmt.Sprintf("No fitted decoder is better than %s by more than the standard error.", today)
	}
	unit, quantized := " levels", ""
	if f.Range != nil {
		unit = ""
		if f.LevelWidth != 1 {
			unit = fmt.Sprintf(" (%s levels)", table.Short(f.Fitted.Error))
		}
		quantized = " with quantization"
	}
	in := func(n float64) string { return table.Short((n * f.LevelWidth)) }
	return fmt.Sprintf("The network's best decoder is %s: on samples that it was not fitted to, it is wrong by %s%s on average%s, %s to %s; %s is wrong by %s.",
		about.Text(), in(f.Fitted.Error), unit, quantized, in(f.Fitted.Interval[0]), in(f.Fitted.Interval[1]), today, in(f.Fitted.TodayErr))
}

// savedText says how few bits are nearly as good as the best network's, of several codes with their
// best decoders.
func (s *Study) savedText() string {
	var best, fewest *NetworkRow
	for i := range s.Fit.Networks {
		if r := &s.Fit.Networks[i]; r.Best && (best == nil || r.Observed < best.Observed) {
			best = r
		}
	}
	if best == nil || !slices.ContainsFunc(s.Fit.Networks, func(r NetworkRow) bool { return r.Code != best.Code }) {
		return ""
	}
	const close = 1.05
	for i := range s.Fit.Networks {
		if r := &s.Fit.Networks[i]; r.Best && r.Bits < best.Bits && r.Observed <= close*best.Observed && (fewest == nil || r.Bits < fewest.Bits) {
			fewest = r
		}
	}
	say := func(r *NetworkRow) string {
		return fmt.Sprintf("%s's %d bits with %s: %s levels", r.Code, r.Bits, r.Decoder, table.Short(r.Observed))
	}
	if fewest == nil {
		return fmt.Sprintf("No network of fewer bits comes within 5 %% of the best one. %s.", say(best))
	}
	return fmt.Sprintf("Fewer bits can do: %s; %s.", say(fewest), say(best))
}
