package forecast

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"belsim/errmodel"
	"belsim/errmodel/perceived"
	"belsim/errmodel/scenario"
	"belsim/theory"
	"belsim/theory/base/position"
	"belsim/theory/base/refuse"
	"belsim/theory/base/table"
	"belsim/theory/code"
	"belsim/theory/decode"
)

// Question asks for the errors of codes when networks are trained with them that know one noisy
// label: with one number of levels or several.
//
// The noise belongs to the data and to the network, so it is the same for every number of levels:
// with levels of width w it is Noise/w levels. An error is |answer − label|, quantization included.
type Question struct {
	Labels Labels
	// InLevels says that label units are levels. There is one number of them then, and Open fills in
	// Labels, which occur as Prior says.
	InLevels bool
	// Prior is how often labels occur, where label units are levels.
	Prior theory.Prior
	// Levels are numbers of levels. Where there is none, those of the files among Codes count, then
	// Default, and else 32, 64, 128 and 256; or 256 alone where label units are levels, if neither
	// Prior nor Unary says another number.
	Levels, Default []int
	Codes           []string // NAMEs and heads, which have every number of levels, and FILEs
	Names           []string // of Decoders; decode.Auto alone for the best of each code
	Trainings       []perceived.Training
	// Noise is the standard deviation of the perceived label around the label, in label units, which a
	// fit knows; 0 where Unary says it.
	Noise float64
	// Unary is the error, in label units, that unary has, trained bit by bit and read by gen.
	Unary UnaryError
	// Misfit and Cutoff are η, in label units for all numbers of levels, and κ, in cycles over the range,
	// of a fit; 0 for Labels.DefaultMisfit and the model's default.
	Misfit, Cutoff float64
	// Fitted adds to a forecaster what else a fit knows of the networks. alone says that there is
	// one number of levels. It may be nil.
	Fitted func(f *Forecaster, alone bool)
	// Direct is the error of direct regression, in label units; 0 for none.
	Direct      float64
	Decoders    decode.Registry
	Temperature float64 // τ of the decoders
}

// UnaryError is the mean |error| of a network that was trained with the unary code, written X or
// X@L: X, in codes of L levels. L is 0 where nothing says it.
type UnaryError struct {
	Error  float64
	Levels int
}

// UnmarshalText implements encoding.TextUnmarshaler.
func (u *UnaryError) UnmarshalText(text []byte) (err error) {
	value, levels, found := strings.Cut(string(text), "@")
	if u.Error, err = strconv.ParseFloat(value, 64); err != nil {
		return fmt.Errorf("%q: want a number, or X@L for an error of X with L levels", text)
	}
	if !(u.Error > 0) || math.IsInf(u.Error, 1) {
		return fmt.Errorf("%q: want more than zero", text)
	}
	if u.Levels = 0; found {
		if u.Levels, err = strconv.Atoi(levels); err != nil || u.Levels < code.MinLevels {
			return fmt.Errorf("%q: want X@L, with a number L of levels that is at least %d", text, code.MinLevels)
		}
	}
	return nil
}

// Ranking is the answer to a Question, which forecast writes as JSON.
type Ranking struct {
	// the unit of label_noise, mae, misfit and of all errors: label units, that of the range, or
	// levels
	Unit string `json:"unit"`
	// the labels of level 1 and of the last level
	Range     [2]float64 `json:"range"`
	LabelKind LabelKind  `json:"label_kind"`
	// the numbers of levels L that were compared
	Levels     []int   `json:"levels"`
	LabelNoise float64 `json:"label_noise"`
	// the error of unary that label_noise was found from; missing where it was given
	MAE *float64 `json:"mae,omitempty"`
	// the number of levels of mae
	MAELevels   int     `json:"mae_levels,omitempty"`
	Misfit      float64 `json:"misfit"`
	Cutoff      float64 `json:"cutoff"`
	Temperature float64 `json:"temperature"`
	// a row for each number of levels, code, training and decoder, the smallest forecast first
	Results []Row `json:"results"`
	// errors of no code
	Baselines []errmodel.Baseline `json:"baselines"`
	// how many levels suffice; missing for one number of levels
	Enough *EnoughLevels `json:"enough,omitempty"`
	Notes  []string      `json:"notes"`
	table.Provenance
}

// EnoughLevels says how many levels suffice.
type EnoughLevels struct {
	// smallest number of levels whose best network is at most 2 % worse than the best of all
	Levels int `json:"levels"`
	// smallest forecast with so many levels
	Forecast float64 `json:"forecast"`
	// by how much, in percent of forecast, the best of all is smaller
	Gain float64 `json:"gain_percent"`

	text string
}

// Conclusion says how many levels suffice; "" where there is one number of levels.
func (r *Ranking) Conclusion() string {
	if r.Enough == nil {
		return ""
	}
	return r.Enough.text
}

// MostLevels is the largest number of levels for which codes are forecast.
const MostLevels = 2048

// Run is a Question that is ready to be computed: its codes are open.
type Run struct {
	q      Question
	levels []int
	codes  [][]*code.Code // by number of levels
}

// Open opens the codes and refuses what makes no question: a number of levels that is given twice,
// that is too large or that no code has, several where label units are levels, and labels outside
// the range. It changes nothing.
func (q Question) Open() (*Run, error) {
	if err := code.CheckNames(q.Codes); err != nil {
		return nil, err
	}
	levels, files := slices.Clone(q.Levels), map[string]*code.Code{}
	for _, name := range q.Codes {
		if code.IsFile(name) {
			c, err := code.Open(name, 0)
			if err != nil {
				return nil, err
			}
			files[name] = c
			if len(q.Levels) == 0 && !slices.Contains(levels, c.Levels()) {
				levels = append(levels, c.Levels())
			}
		}
	}
	if len(levels) == 0 {
		levels = q.usual()
	}
	slices.Sort(levels)
	for i, n := range levels {
		switch {
		case n < code.MinLevels || n > MostLevels:
			return nil, fmt.Errorf("%d levels: want %d to %d", n, code.MinLevels, MostLevels)
		case i > 0 && n == levels[i-1]:
			return nil, fmt.Errorf("%d levels are given twice", n)
		}
	}
	if err := cmp.Or(q.fillIn(levels), q.check()); err != nil {
		return nil, err
	}
	r := &Run{q: q, levels: levels}
	for _, n := range levels {
		codes, err := q.codesOf(n, files)
		if err != nil {
			return nil, err
		}
		r.codes = append(r.codes, codes)
	}
	for name, c := range files {
		if !slices.Contains(levels, c.Levels()) {
			return nil, fmt.Errorf("%s has %d levels, which are not among %s", name, c.Levels(), list(levels))
		}
	}
	return r, nil
}

// usual are the numbers of levels where nobody gives one.
func (q Question) usual() []int {
	switch {
	case len(q.Default) > 0:
		return slices.Clone(q.Default)
	case q.InLevels:
		return []int{code.Sizes{Levels: q.Unary.Levels, Prior: q.Prior.Levels()}.Named()}
	}
	return []int{32, 64, 128, 256}
}

// fillIn makes labels the levels of codes where label units are levels, and fills in the misfit.
func (q *Question) fillIn(levels []int) error {
	if q.InLevels {
		n := levels[0]
		if len(levels) > 1 {
			return fmt.Errorf("%s levels: several numbers of levels want %s, the labels of the end levels",
				list(levels), position.Flag("range", "a:b"))
		}
		if u := q.Unary; u.Levels > 0 && u.Levels != n {
			return fmt.Errorf("an error of %v, of unary with %d levels, for codes of %d: want %s, the labels of "+
				"the end levels", u.Error, u.Levels, n, position.Flag("range", "a:b"))
		}
		weights, err := q.Prior.Weights(n)
		if err != nil {
			return err
		}
		q.Labels = Labels{Lo: 1, Hi: float64(n), Shares: weights, OnLevels: true}
	}
	q.Misfit = cmp.Or(q.Misfit, q.Labels.DefaultMisfit())
	return nil
}

// check refuses labels, trainings, decoders and an error of unary that make no question.
func (q Question) check() error {
	if err := q.Labels.check(); err != nil {
		return err
	}
	if err := cmp.Or(refuse.Twice("training", q.Trainings),
		refuse.Twice("decoder", q.Names)); err != nil {
		return err
	}
	for _, t := range q.Trainings {
		if err := scenario.CheckLearnt(t, q.Temperature); err != nil {
			return err
		}
	}
	for _, name := range q.Names {
		if name == decode.Auto && len(q.Names) > 1 {
			return fmt.Errorf("decoder %s is the best of all; want it alone", name)
		}
		if e, ok := q.Decoders.Lookup(name); ok && e.Informed {
			return fmt.Errorf("decoder %s knows the error model, which an untrained network has none of", name)
		}
	}
	if n := q.Unary.Levels; n > MostLevels {
		return fmt.Errorf("an error of unary with %d levels: forecasts are for at most %d", n, MostLevels)
	}
	return nil
}

// openHead opens a named code, or a head that is one. The error says what other heads are.
func openHead(name string, levels int) (*code.Code, error) {
	switch h := LookupHead(name); {
	case h.Own:
		return OpenCode(name, levels)
	case h.Name != "": // of both the model says the same
		return nil, fmt.Errorf("%s is a training of %s: want %s, and %s", name, h.Code, h.Code,
			position.Flag("training", "ce"))
	}
	return code.New(name, levels)
}

// codesOf returns the codes of n levels: the named ones, and those of the files that have so many.
func (q Question) codesOf(n int, files map[string]*code.Code) ([]*code.Code, error) {
	var codes []*code.Code
	for _, name := range q.Codes {
		c := files[name]
		if c == nil {
			var err error
			if c, err = openHead(name, n); err != nil {
				return nil, err
			}
		}
		if c.Levels() == n {
			codes = append(codes, c)
		}
	}
	if len(codes) == 0 {
		return nil, fmt.Errorf("no code here has %d levels", n)
	}
	return codes, nil
}

// Steps is the number of steps of Run.
func (r *Run) Steps() uint64 {
	n := 0
	for _, codes := range r.codes {
		n += len(codes)
	}
	return uint64(n * len(r.q.Trainings))
}

// Run computes the forecasts. done, which may be nil, is told how many steps were finished since
// its last call, from several goroutines. The errors say that no label noise gives unary the error
// that was asked for, or that a decoder fits none of the codes; or they are the context's.
func (r *Run) Run(ctx context.Context, workers int, done func(uint64)) (*Ranking, error) {
	q := r.q
	out := &Ranking{
		Unit: errmodel.InLabelUnits, Range: [2]float64{q.Labels.Lo, q.Labels.Hi}, LabelKind: q.Labels.Kind(),
		Levels: r.levels, LabelNoise: q.Noise, Misfit: q.Misfit, Temperature: q.Temperature, Notes: []string{},
	}
	if q.InLevels {
		out.Unit = errmodel.InLevels
	}
	baseline := func(name string, e float64, levels int) {
		if e > 0 {
			out.Baselines = append(out.Baselines, errmodel.Baseline{Name: name, Error: e, Unit: out.Unit, Levels: levels})
		}
	}
	for _, n := range r.levels {
		baseline(errmodel.QuantizationAlone, q.Labels.width(n)*q.Labels.quantization(n), n)
	}
	baseline(errmodel.DirectRegression, q.Direct, 0)
	if q.Noise == 0 {
		u := q.Unary
		if u.Levels == 0 {
			u.Levels = slices.Max(r.levels)
		}
		var err error
		if out.LabelNoise, err = q.noiseOf(ctx, workers, u); err != nil {
			return nil, err
		}
		out.MAE, out.MAELevels = &u.Error, u.Levels
	}
	all, err := r.forecasts(ctx, workers, out.LabelNoise, done)
	if err != nil {
		return nil, err
	}
	out.Cutoff = q.forecaster(r.levels[0], out.LabelNoise, len(r.levels) == 1).Model.Cutoff
	out.Results = Rows(all, 1)
	RelateTo(out.Results, all, all[0])
	if q.auto() {
		out.Results = slices.DeleteFunc(out.Results, func(r Row) bool { return !r.Best })
	}
	out.judge()
	if text := Cheapest(out.Results); text != "" {
		out.Notes = append([]string{text}, out.Notes...)
	}
	return out, nil
}

// forecasts are the forecasts of all numbers of levels, in label units, the smallest first.
func (r *Run) forecasts(ctx context.Context, workers int, noise float64, done func(uint64)) ([]Forecast, error) {
	q := r.q
	var all []Forecast
	fits := map[string]bool{}
	for i, levels := range r.levels {
		f := q.forecaster(levels, noise, len(r.levels) == 1)
		some, err := f.Codes(ctx, workers, r.codes[i], done)
		if err != nil {
			return nil, err
		}
		width := q.Labels.width(levels)
		for _, x := range some {
			fits[x.Decoding.Decoder.Name()] = true
			x.Error, x.Lo, x.Hi = width*x.Error, width*x.Lo, width*x.Hi
			all = append(all, x)
		}
	}
	for _, name := range q.Names {
		if name != decode.Auto && !fits[name] {
			return nil, fmt.Errorf("%w: decoder %s fits none of the codes and trainings", decode.ErrUnfit, name)
		}
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("%w: no decoder fits the codes and trainings", decode.ErrUnfit)
	}
	slices.SortStableFunc(all, smaller)
	return all, nil
}

// auto reports whether the best decoder of each code is asked for.
func (q Question) auto() bool { return slices.Contains(q.Names, decode.Auto) }

// forecaster is one for codes of so many levels, with label noise in label units.
func (q Question) forecaster(levels int, noise float64, alone bool) *Forecaster {
	width := q.Labels.width(levels)
	m := perceived.Model{Noise: noise / width, Misfit: q.Misfit / width, Cutoff: q.Cutoff}
	f := New(m, &q.Labels, q.Labels.Prior(levels), q.Decoders)
	f.Options.Temperature = q.Temperature
	if q.Fitted != nil {
		q.Fitted(f, alone)
	}
	f.Trainings = q.Trainings
	if !q.auto() {
		f.readers = q.Names
	}
	return f
}

// noiseOf is the label noise, in label units, at which unary has an error.
func (q Question) noiseOf(ctx context.Context, workers int, u UnaryError) (float64, error) {
	l, width := q.Labels, q.Labels.width(u.Levels)
	mae, quantization := u.Error/width, l.quantization(u.Levels)
	if mae < leastError && quantization < leastError { // else quantization is larger, and no label noise is found
		return 0, fmt.Errorf("unary of %d levels with an error of %.4g: want at least %.4g, %v levels; forecasts of "+
			"smaller errors were not tried", u.Levels, u.Error, leastError*width, leastError)
	}
	nodes, err := NewNodes(perceived.ManyNodes, l.Prior(u.Levels), &l, 0, perceived.Seed)
	if err != nil {
		return 0, err
	}
	m := perceived.Model{Misfit: q.Misfit / width, Cutoff: q.Cutoff, Within: l.within()}
	s, err := m.NoiseOf(ctx, workers, nodes, mae)
	if errors.Is(err, perceived.ErrNoNoise) {
		return 0, fmt.Errorf("no label noise gives unary of %d levels an error of %v: want more than quantization, "+
			"%.4g, and less than a guess has", u.Levels, u.Error, width*quantization)
	}
	return s * width, err
}

// judge says how many levels suffice, and what the marks mean.
func (r *Ranking) judge() {
	if len(r.Levels) > 1 {
		most, x := 0, &EnoughLevels{Levels: math.MaxInt}
		for _, row := range r.Results { // the smallest first
			if most = max(most, row.Levels); row.Near && row.Levels < x.Levels {
				*x = EnoughLevels{Levels: row.Levels, Forecast: row.Forecast,
					Gain: 100 * (1 - r.Results[0].Forecast/row.Forecast)}
			}
		}
		text := fmt.Sprintf("%d levels suffice", x.Levels)
		switch {
		case x.Levels == most:
			text = "More levels may still help: the smallest forecast has most of them"
		case x.Gain > 0:
			text += fmt.Sprintf("; more change the smallest forecast by less than %.1f %%",
				math.Ceil(10*x.Gain+0.01)/10)
		default:
			text += "; with more, no forecast is smaller"
		}
		x.text = text
		r.Enough, r.Notes = x, append(r.Notes, text+".")
	}
	if len(r.Results) > 1 {
		r.Notes = append(r.Notes, fmt.Sprintf("better is the probability that the network has less error than one of "+
			"the first row; ~ marks forecasts at most %.0f %% above the first.", 100*Worthwhile))
	}
}

// Section is the ranking for people: what was compared, the table and the notes.
func (r *Ranking) Section() table.Section {
	labels := fmt.Sprintf("labels from %v to %v", r.Range[0], r.Range[1])
	if r.LabelKind == LevelLabels {
		labels = "labels that are levels"
	}
	head := fmt.Sprintf("%s levels for %s; networks that know one noisy label, the same for every code: "+
		"label noise %.4g, misfit %.4g; |error| in %s", list(r.Levels), labels, r.LabelNoise, r.Misfit, r.Unit)
	if r.MAE != nil {
		head += fmt.Sprintf(" (unary of %d levels has an error of %v)", r.MAELevels, *r.MAE)
	}
	var lines, alone []string
	for _, b := range r.Baselines {
		switch b.Name {
		case errmodel.QuantizationAlone:
			alone = append(alone, fmt.Sprintf("%s with %d levels", table.Short(b.Error), b.Levels))
		case errmodel.DirectRegression:
			lines = append(lines, b.Line(r.rivals())+".")
		}
	}
	if len(alone) > 0 {
		lines = slices.Insert(lines, 0, fmt.Sprintf("%s (no code), in %s: %s.", errmodel.QuantizationAlone, r.Unit,
			strings.Join(alone, ", ")))
	}
	return table.Section{Verdict: []string{head}, Details: []table.Block{
		{Table: Table(r.Results, len(r.Levels) > 1, Forecasts, Intervals, Chances)},
		{Sentences: append(lines, r.Notes...)},
	}}
}

// rivals are the codes with each number of levels, with the intervals of their best forecasts.
func (r *Ranking) rivals() []errmodel.Rival {
	var out []errmodel.Rival
	for _, x := range r.Results { // the smallest first
		name := x.Code
		if len(r.Levels) > 1 {
			name = fmt.Sprintf("%s with %d levels", x.Code, x.Levels)
		}
		if !slices.ContainsFunc(out, func(y errmodel.Rival) bool { return y.Name == name }) {
			out = append(out, errmodel.Rival{Name: name, Lo: x.Interval[0], Hi: x.Interval[1]})
		}
	}
	return out
}
