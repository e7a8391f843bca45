package fitdecoder

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"belsim/errmodel/observed"
	"belsim/theory/base/memory"
	"belsim/theory/base/parallel"
	"belsim/theory/code"
	"belsim/theory/decode"
)

const (
	// Most is the largest number of samples that Fit wants. More make it slower, and the decoder
	// no better.
	Most = 20000
	// Least is the smallest number of samples that Fit takes.
	Least = 50
	// folds is the number of parts of the samples for cross-validation.
	folds = 5
	// maxWork is the largest L·M² for which the outputs are modelled.
	maxWork = 1 << 28
)

// tooLarge reports whether a code is too large for a model of its outputs.
func tooLarge(levels, m int) bool { return memory.Product(levels, m, m) > maxWork }

// Input is what Fit chooses a decoder for.
type Input struct {
	Code    *code.Code
	Samples *observed.Samples
	Logits  bool // the outputs are logits; else they are ±1
	// Decodings are the baseline decoders: they are not fitted, and a fitted one must be better.
	Decodings []observed.Decoding
	// Temperature is τ of gen-ex, from which the search starts; 0 stands for 1.
	Temperature float64
	// Values are the labels of the levels; nil stands for 1 … L.
	Values []float64
	// Width is the mean width of a level, in the unit of Values; 0 stands for 1.
	Width float64
	// BitByBit says that each bit was trained by itself: the sigmoids of unary bits are then the
	// probabilities of which intervals take their sigma.
	BitByBit bool
}

// Result is a fitted decoder, with the errors that judge it.
type Result struct {
	// Decoder is fitted to all samples.
	Decoder *Decoder
	// Baseline is the best of the baseline decoders for these samples.
	Baseline observed.Decoding
	// Beside is by how much the error is larger than that of the samples' direct predictions, as
	// the mean of the differences of the samples; it means nothing where there are none.
	Beside observed.Error
	Judgement
}

// Judgement says how good a fitted decoder is. Errors are means of |answer − target|, in the unit of
// Input.Width, by nested cross-validation: for every fifth of the samples a decoder is chosen and
// fitted with the other four. So no sample judges a decoder that it helped to choose or to fit.
type Judgement struct {
	Kind string `json:"kind"`
	Rule string `json:"rule"`
	// it is better than the decoders that are not fitted, by more than the standard error; else it
	// is one of them
	Better bool `json:"better"`
	// samples that it was fitted to, and that judge it by nested cross-validation
	Samples int `json:"samples"`
	// mean |answer − target|, by nested cross-validation
	Error  float64 `json:"error"`
	StdErr float64 `json:"stderr"`
	// interval of error
	Interval [2]float64 `json:"interval"`
	// mean |answer − target| of the best baseline decoder
	BaselineErr float64 `json:"baseline_error"`
	// baseline_error − the error of what cross-validation chooses
	Gain float64 `json:"gain"`
	// standard error of gain, of the differences of the samples
	GainSE float64 `json:"gain_stderr"`
	// how good the intervals of single labels are, as decode --confidence 0.9 writes them
	Intervals *Intervals `json:"intervals"`
	// a row for the best decoder of each kind
	Kinds []KindRow `json:"kinds"`
	// what keeps a fitted decoder from being better
	Notes []string `json:"notes"`
}

// KindRow is the best decoder of one kind.
type KindRow struct {
	Kind string      `json:"kind" text:"decoder"`
	Rule decode.Rule `json:"rule" text:"rule"`
	// mean |answer − target|, by the cross-validation that chose the decoder of this kind: a little
	// too small
	Error  float64 `json:"error" text:"|error|"`
	StdErr float64 `json:"stderr" text:"± s.e."`
}

// fitting is a run of Fit.
type fitting struct {
	Input
	levels, m    int
	folds        [][]int     // samples of each fold
	tooLarge     bool        // the code is, for the stage affine
	moments      []*moments  // by fold, of the stage affine
	all          []candidate // the candidates, those of the stage baseline first
	baseline     []float64   // labels of the decodings, N × decodings
	spreads      []spread    // of the candidates of the stage baseline, N × candidates
	sorted       bool        // sigma is that of the sorted sigmoids
	correlations *decode.Correlations
}

// Fit chooses a decoder for a network by the errors of samples that were not used to fit it, and
// fits it to all samples. A richer kind of decoder is chosen where its error is smaller by more
// than the standard error of the difference over the samples. workers is the number of goroutines,
// 0 for one on each processor; it changes no number. The error says that there are too few samples
// or too little memory, or is the context's.
func Fit(ctx context.Context, workers int, in Input) (*Result, error) {
	f := &fitting{Input: in}
	f.levels, f.m = in.Code.Dims()
	f.Temperature, f.Width = cmp.Or(f.Temperature, 1), cmp.Or(f.Width, 1)
	n := in.Samples.Len()
	if n < Least {
		return nil, fmt.Errorf("fitting a decoder to %d samples: want at least %d", n, Least)
	}
	f.folds = make([][]int, folds)
	for i := range n { // the samples are in random order
		f.folds[i%folds] = append(f.folds[i%folds], i)
	}
	f.tooLarge = tooLarge(f.levels, f.m)
	f.correlations = decode.NewCorrelations(in.Code)
	f.sorted = in.BitByBit && in.Logits && unary(in.Code)
	f.all = f.candidates()
	if f.all[0].stage != baseline {
		return nil, fmt.Errorf("no decoder fits %s", in.Code.Name())
	}
	if err := memory.Check("fitting a decoder", memory.Product(folds*n, len(f.all), 2*4)+memory.Product(folds*8*8,
		f.levels, f.m)); err != nil {
		return nil, err
	}
	var err error
	if !f.tooLarge {
		if f.moments, err = momentsOfFolds(ctx, workers, in.Samples, in.Code, f.folds); err != nil {
			return nil, err
		}
	}
	if f.baseline, err = in.Samples.Labels(ctx, workers, in.Code, in.Decodings); err != nil {
		return nil, err
	}
	if f.spreads, err = f.baselineSpreads(ctx, workers); err != nil {
		return nil, err
	}
	parts, err := f.crossValidate(ctx, workers)
	if err != nil {
		return nil, err
	}
	return f.judge(ctx, parts)
}

// notes say what keeps a decoder from being better.
func (f *fitting) notes() []string {
	out := []string{}
	if n := f.Samples.Len(); n < 10*max(f.levels, f.m) {
		out = append(out, fmt.Sprintf("%d samples are few for %d levels and %d bits: more are better.", n, f.levels,
			f.m))
	}
	if f.tooLarge {
		out = append(out, "The code is too large for a model of its outputs: only temperatures were tried.")
	}
	return out
}

// places are those of the levels.
func (f *fitting) places() []float64 {
	if p := f.Code.Places(); p != nil {
		return p
	}
	return Evenly(f.levels, 1, float64(f.levels))
}

// fitted is what is fitted to some samples: the corrections of the candidates, and the posteriors of the
// stage affine, one for each bandwidth. A posterior is nil where there is none.
type fitted struct {
	corrections []observed.Line
	posteriors  []*decode.Affine
}

// part has the labels that the candidates give to the samples of one fold, with the variances of
// their distributions, when the fold and perhaps another one were left out of the fit.
type part struct {
	samples          []int
	with             *fitted
	labels, variance []float32 // candidates × samples
	within           []float32 // the mean variances of labels within levels; nil for 1/12, where levels are even
}

func (p *part) of(candidate int) []float32 { return p.row(p.labels, candidate) }

func (p *part) row(of []float32, candidate int) []float32 {
	n := len(p.samples)
	return of[candidate*n : (candidate+1)*n]
}

// crossValidate returns the parts by the folds that are left out: at [f][f] fold f when it alone is
// left out, at [f][g] fold g when both are.
func (f *fitting) crossValidate(ctx context.Context, workers int) ([][]*part, error) {
	parts := make([][]*part, folds)
	for i := range parts {
		parts[i] = make([]*part, folds)
	}
	var pairs [][2]int
	for a := range folds {
		for b := a; b < folds; b++ {
			pairs = append(pairs, [2]int{a, b})
		}
	}
	err := parallel.Each(ctx, workers, len(pairs), func() (func(context.Context, int) error, error) {
		return func(ctx context.Context, i int) error {
			a, b := pairs[i][0], pairs[i][1]
			with, err := f.fit(ctx, a, b)
			if err != nil {
				return err
			}
			if parts[a][b], err = f.labels(ctx, with, f.folds[b]); err == nil && a != b {
				parts[b][a], err = f.labels(ctx, with, f.folds[a])
			}
			return err
		}, nil
	})
	return parts, err
}

// fit fits to the samples of all folds but those that are left out.
func (f *fitting) fit(ctx context.Context, without ...int) (*fitted, error) {
	out := &fitted{corrections: f.corrections(without)}
	var kept []*moments
	for i, t := range f.moments {
		if !slices.Contains(without, i) {
			kept = append(kept, t)
		}
	}
	if f.tooLarge {
		return out, nil
	}
	total := sum(kept, f.levels, f.m, f.Code.Circular())
	for b := range bandwidths {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		out.posteriors = append(out.posteriors, total.posterior(b))
	}
	return out, nil
}

// labels decodes some samples with all candidates.
func (f *fitting) labels(ctx context.Context, with *fitted, samples []int) (*part, error) {
	n := len(samples)
	out := &part{samples: samples, with: with, labels: make([]float32, len(f.all)*n),
		variance: make([]float32, len(f.all)*n)}
	if f.Code.Uneven() {
		out.within = make([]float32, len(f.all)*n)
	}
	scores := f.scores(with.posteriors, samples)
	correlated, mixed := make([]float64, f.levels), make([]float64, f.levels)
	values, baselines := f.places(), len(f.spreads)/f.Samples.Len()
	within := variancesWithin(values)
	for j, i := range samples {
		if j%64 == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		f.correlations.To(correlated, f.Samples.Row(i))
		own := spread{math.NaN(), math.NaN()}
		if f.sorted {
			sortedSigmoids(mixed, f.Samples.Row(i))
			own = newSpread(mixed, values, within, f.Code.Circle())
		}
		set := func(at int, label float64, s spread) {
			out.labels[at*n+j], out.variance[at*n+j] = float32(label), float32(s.variance)
			if out.within != nil {
				out.within[at*n+j] = float32(s.within)
			}
		}
		for at := 0; at < len(f.all); at++ {
			c := f.all[at]
			if c.stage <= stretched {
				by, s := with.corrections[at], f.spreads[i*baselines+c.of]
				s.variance *= by.Slope * by.Slope
				set(at, by.At(f.baseline[i*len(f.Decodings)+c.decoding]), s)
				continue
			}
			median, mean := math.NaN(), math.NaN() // never the smallest error
			if c.model == 0 || scores[c.bandwidth] != nil {
				for l, v := range correlated {
					mixed[l] = c.code * v
				}
				if c.model > 0 {
					axpy(mixed, c.model, scores[c.bandwidth].RawRowView(j))
				}
				median, mean = decode.MedianAndMean(mixed, f.Code.Places(), f.Code.Circle())
				if !f.sorted {
					own = newSpread(mixed, values, within, f.Code.Circle())
				}
			}
			set(at, median, own) // the next candidate differs by its rule, the mean
			at++
			set(at, mean, own)
		}
	}
	return out, nil
}

// scores are those of each posterior for some samples, N × L; nil where there is none.
func (f *fitting) scores(with []*decode.Affine, samples []int) []*mat.Dense {
	out := make([]*mat.Dense, len(with))
	x := rowsOf(f.Samples, samples)
	for b, p := range with {
		if p == nil {
			continue
		}
		out[b] = &mat.Dense{}
		out[b].Mul(x, p.Weights.T())
		for j := range samples {
			axpy(out[b].RawRowView(j), 1, p.Offsets)
		}
	}
	return out
}

// mean is the mean of a number over the samples of some parts, each with its candidate: of the label
// that this gives to a sample.
func (f *fitting) mean(parts []*part, candidates []int, of func(label float64, i int) float64) observed.Error {
	var s observed.Sums
	for n, p := range parts {
		labels := p.of(candidates[n])
		for j, i := range p.samples {
			s.Add(of(float64(labels[j]), i))
		}
	}
	return s.Error()
}

// off is the error of a label for a sample, against the target.
func (f *fitting) off(label float64, i int) float64 {
	return math.Abs(f.Code.Between(label, f.Samples.Exact[i]))
}

// error is the error of a candidate over some parts, against the target.
func (f *fitting) error(parts []*part, c int) observed.Error {
	return f.mean(parts, slices.Repeat([]int{c}, len(parts)), f.off)
}

// gain is by how much the error of candidate b is smaller than that of a.
func (f *fitting) gain(parts []*part, a, b int) observed.Error {
	var s observed.Sums
	for _, p := range parts {
		before, after := p.of(a), p.of(b)
		for j, i := range p.samples {
			s.Add(f.off(float64(before[j]), i) - f.off(float64(after[j]), i))
		}
	}
	return s.Error()
}

// best returns the candidate of a stage with the smallest error, or −1.
func (f *fitting) best(parts []*part, s stage) int {
	best, least := -1, math.Inf(1)
	for c, x := range f.all {
		if x.stage != s {
			continue
		}
		if e := f.error(parts, c).Mean; e < least {
			best, least = c, e
		}
	}
	return best
}

// choose goes from the best baseline decoder to richer ones, where these are better by more than
// a standard error.
func (f *fitting) choose(parts []*part) int {
	chosen := f.best(parts, baseline)
	for s := shifted; s < stages; s++ {
		c := f.best(parts, s)
		if c < 0 {
			continue
		}
		if gain := f.gain(parts, chosen, c); gain.Mean > gain.StdErr {
			chosen = c
		}
	}
	return chosen
}

// judge is the result.
func (f *fitting) judge(ctx context.Context, parts [][]*part) (*Result, error) {
	single, inner, choices := make([]*part, folds), make([][]*part, folds), make([]int, folds)
	best := f.bestDecoding()
	for o := range folds {
		single[o] = parts[o][o]
		for i := range folds {
			if i != o {
				inner[o] = append(inner[o], parts[o][i])
			}
		}
		choices[o] = f.choose(inner[o])
	}
	before := func(i int) float64 { return f.off(f.baseline[i*len(f.Decodings)+best], i) }
	target := f.mean(single, choices, f.off)
	gain := f.mean(single, choices, func(label float64, i int) float64 { return before(i) - f.off(label, i) })
	out := &Result{Baseline: f.Decodings[best]}
	out.Notes, out.Gain, out.GainSE = f.notes(), f.Width*gain.Mean, f.Width*gain.StdErr
	out.BaselineErr = f.Width * f.mean(single, choices, func(_ float64, i int) float64 { return before(i) }).Mean
	if f.Samples.Direct != nil {
		out.Beside = f.mean(single, choices, func(label float64, i int) float64 {
			return f.off(label, i) - f.off(f.Samples.Direct[i], i)
		}).Times(f.Width)
	}
	chosen := f.choose(single)
	if out.Gain <= 0 { // judged by samples that did not choose it, it gains nothing
		chosen = f.best(single, baseline)
	}
	for s := range stages {
		c := f.best(single, s)
		if c < 0 {
			continue
		}
		e := f.error(single, c).Times(f.Width)
		k := KindRow{kinds[s], f.all[c].rule, e.Mean, e.StdErr}
		if s == baseline {
			r := f.Decodings[f.all[c].decoding]
			k.Kind = r.Decoder.Name() + " on " + r.Outputs()
		}
		out.Kinds = append(out.Kinds, k)
	}
	with, err := f.fit(ctx)
	if err != nil {
		return nil, err
	}
	if c := f.all[chosen]; c.stage == affine && with.posteriors[c.bandwidth] == nil {
		chosen = f.best(single, baseline) // it can be fitted to parts of the samples alone
	}
	if out.Better = f.all[chosen].stage != baseline; !out.Better {
		choices = slices.Repeat([]int{chosen}, folds)
		target = f.mean(single, choices, f.off)
	}
	out.Intervals = f.judgeIntervals(parts, inner, choices)
	unit, values := "labels", f.Values
	if values == nil {
		unit, values = "levels", f.places()
	}
	e, interval := target.Times(f.Width), target.Interval()
	power, err := f.power(single, f.all[chosen])
	if err != nil {
		return nil, err
	}
	out.Decoder, err = f.decoder(f.all[chosen], with, values, About{Code: f.Code.Name(), Samples: f.Samples.Len(),
		Error: e.Mean, StdErr: e.StdErr, Unit: unit, Power: power})
	if err != nil {
		return nil, err
	}
	out.Decoder.calibration = f.calibrate(single, chosen)
	about := out.Decoder.about
	out.Kind, out.Rule, out.Samples, out.Error, out.StdErr = about.Kind, about.Rule, about.Samples, e.Mean, e.StdErr
	out.Interval = [2]float64{f.Width * interval[0], f.Width * interval[1]}
	return out, nil
}

// power is the factor of a candidate's scores of which the softmax has the best log score, for the levels of
// samples that did not fit it (the power posterior of Grünwald, Algorithmic Learning Theory 2012). It is below 1 where
// bits depend on each other, which the scores count as if each said something new. So that few outliers do not decide,
// the log score is that of the probabilities and a few samples of any level.
func (f *fitting) power(parts []*part, c candidate) (float64, error) {
	const (
		mostScores, outliers = 1 << 18, 1. / 256 // of a fold, and a share
		lowest, highest      = -6, 6             // binary logarithms of powers
	)
	var rows [][]float64 // scores less that of the target's level, which is put first
	for _, p := range parts {
		d, err := f.decoder(c, p.with, f.places(), About{})
		if err != nil {
			return 0, err
		}
		sample := observed.NewSample(f.m, nil)
		for _, i := range p.samples[:min(len(p.samples), 1+mostScores/f.levels)] {
			row, at := make([]float64, f.levels), f.Samples.Level[i]-1
			sample.Set(f.Samples.Row(i))
			d.scores.ScoresTo(row, sample.Outputs(d.logits))
			if !f.Code.Circular() { // labels of levels may be corrected
				at, _ = code.Nearest(d.values, f.Samples.Exact[i])
			}
			row[0], row[at] = row[at], row[0]
			floats.AddConst(-row[0], row)
			rows = append(rows, row)
		}
	}
	p := make([]float64, f.levels)
	slope := func(power float64) (sum float64) { // of the sum of −log scores
		for _, row := range rows {
			floats.ScaleTo(p, power, row)
			decode.Softmax(p)
			sum += p[0] / (p[0] + outliers/float64(f.levels)) * floats.Dot(p, row)
		}
		return sum
	}
	at := float64(lowest)
	for step := 1.0; step > 1./64; {
		if at < highest && slope(math.Exp2(at+step)) < 0 {
			at += step
		} else {
			step /= 2
		}
	}
	return math.Exp2(at), nil
}

// bestDecoding is the decoding with the smallest error over all samples.
func (f *fitting) bestDecoding() int {
	best, least := 0, math.Inf(1)
	for r := range f.Decodings {
		total := 0.0
		for i, y := range f.Samples.Exact {
			total += math.Abs(f.Code.Between(y, f.baseline[i*len(f.Decodings)+r]))
		}
		if total < least {
			best, least = r, total
		}
	}
	return best
}
