package observed

import (
	"context"
	"errors"
	"math"
	"math/bits"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"

	"belsim/errmodel"
	"belsim/theory/base/parallel"
	"belsim/theory/code"
	"belsim/theory/decode"
)

// Decoding is a decoder with what it decodes.
type Decoding struct {
	Decoder decode.Decoder
	Soft    bool // the outputs as logits; else hard decisions, their signs
}

// Prediction stands for the decoder of networks whose output is the label itself: direct
// regression.
func Prediction() Decoding { return Decoding{Decoder: prediction{}} }

// prediction answers with real numbers.
type prediction struct{ decode.RealDecoder }

// Name implements decode.Decoder.
func (prediction) Name() string { return "prediction" }

// Predicts reports whether it is Prediction.
func (d Decoding) Predicts() bool { return decode.Is[prediction](d.Decoder) }

// Outputs is the kind of outputs that are decoded: "bits" or "logits", or "labels" of Prediction.
func (d Decoding) Outputs() string {
	switch {
	case d.Predicts():
		return "labels"
	case d.Soft:
		return "logits"
	}
	return "bits"
}

// Decodings lists the decoders of a registry that fit a code and outputs of a kind, and that need
// no model of the classifiers. A decoder that answers with levels decodes hard decisions; if it can
// decode logits it does so too where there are any, and only so where the code is of real numbers.
// A decoder that answers with real numbers decodes logits where there are any and it can, else hard
// decisions.
func Decodings(decoders decode.Registry, c *code.Code, k Kind, o decode.Options) ([]Decoding, error) {
	var out []Decoding
	for _, name := range decoders.Uninformed().Names() {
		d, err := decoders.New(name, c, o)
		if errors.Is(err, decode.ErrUnfit) {
			continue
		}
		if err != nil {
			return nil, err
		}
		logits := decode.ReadsLogits(d)
		if decode.Real(d) {
			out = append(out, Decoding{d, logits && !k.Hard()})
			continue
		}
		if !c.Real() || !logits {
			out = append(out, Decoding{d, false})
		}
		if logits && (!k.Hard() || c.Real()) {
			out = append(out, Decoding{d, true})
		}
	}
	return out, nil
}

// Sample holds the outputs of one sample, for several decodings: they share its correlations with
// the code words. It is scratch memory of one goroutine.
type Sample struct {
	Word         []uint64 // the hard decisions, packed
	logits       []float64
	own          float64 // what the network predicts, where it predicts labels
	signs        []float64
	correlations *decode.Correlations
	correlated   [2][]float64 // with the signs, and with the logits
	likeliest    [2]int       // the rows of the largest ones, the first of several; −1 where they are not known
	weighed      Decoding     // by gen-ex, of which the weights are: a new sample has none
	weights      []float64    // of the levels, with their sum and mean
	total, mean  float64
	levels       []float64 // probabilities
	real         bool      // the code is one of real numbers
}

// NewSample prepares samples of so many bits; correlations are those of the code, nil for decoders
// that need no code.
func NewSample(bits int, correlations *decode.Correlations) *Sample {
	s := &Sample{Word: make([]uint64, (bits+63)/64), signs: make([]float64, bits), correlations: correlations}
	if correlations != nil {
		c := correlations.Code()
		s.real, s.correlated = c.Real(), [2][]float64{make([]float64, c.Levels()), make([]float64, c.Levels())}
	}
	return s
}

// Set takes the outputs of a sample, of length M. It keeps z.
func (s *Sample) Set(z []float64) {
	s.logits, s.likeliest, s.weighed = z, [2]int{-1, -1}, Decoding{}
	for j := range s.Word {
		s.Word[j] = 0
		for k, v := range z[64*j : min(64*j+64, len(z))] {
			one := positive(v)
			s.signs[64*j+k] = float64(2*int(one) - 1)
			s.Word[j] |= one << (k % 64)
		}
	}
}

// positive is 1 for an output above 0, the decision for a bit of one, else 0.
func positive(v float64) uint64 {
	if v > 0 {
		return 1
	}
	return 0
}

// Label decodes the sample.
func (s *Sample) Label(by Decoding) float64 {
	gen, nearest := by.Decoder.(decode.Gen)
	if nearest && !by.Soft && len(s.Word) == 1 && !s.real {
		// Few steps: without them a command that decodes bits takes an eighth longer.
		return float64(gen.Decode(s.Word))
	}
	if nearest {
		_, row := s.correlate(by.Soft)
		return float64(row + 1)
	}
	if d, ok := by.Decoder.(decode.GenEx); ok {
		s.weigh(d, by)
		return s.mean
	}
	if d, ok := by.Decoder.(decode.Correlator); ok {
		of, _ := s.correlate(by.Soft)
		return d.FromCorrelations(of)
	}
	if d, ok := by.Decoder.(decode.LogitDecoder); ok && by.Soft {
		return d.DecodeLogits(s.logits)
	}
	return decode.Value(by.Decoder, s.Word)
}

// Outputs are those of the sample: logits, or the signs of them.
func (s *Sample) Outputs(soft bool) []float64 {
	if soft {
		return s.logits
	}
	return s.signs
}

// correlate are the correlations with the code words of the logits, or of the signs, and the row of the
// largest, the first of several.
func (s *Sample) correlate(soft bool) (of []float64, likeliest int) {
	i := 0
	if soft {
		i = 1
	}
	if s.likeliest[i] < 0 {
		s.likeliest[i] = s.correlations.To(s.correlated[i], s.Outputs(soft))
	}
	return s.correlated[i], s.likeliest[i]
}

// weigh makes the weights of the levels by gen-ex, once for its label and its probabilities.
func (s *Sample) weigh(d decode.GenEx, by Decoding) {
	if s.weighed != by {
		if s.weights == nil {
			s.weights = make([]float64, s.correlations.Code().Levels())
		}
		s.weighed = by
		of, likeliest := s.correlate(by.Soft)
		s.total, s.mean = d.Weigh(s.weights, of, of[likeliest])
	}
}

// Probabilities are those of the levels, by the sample's logits; the next call changes them.
func (s *Sample) Probabilities(by decode.Distribution) []float64 {
	if s.levels == nil {
		s.levels = make([]float64, s.correlations.Code().Levels())
	}
	by.To(s.levels, s.logits, func(d decode.GenEx) ([]float64, float64) {
		s.weigh(d, Decoding{d, true})
		return s.weights, s.total
	})
	return s.levels
}

// Error is the mean of |decoded − label| over the samples, in levels.
type Error struct {
	Mean, StdErr float64
}

// Times is the error in another unit, of which its own has so many.
func (e Error) Times(unit float64) Error { return Error{unit * e.Mean, unit * e.StdErr} }

// Interval is the interval of the mean, of the confidence errmodel.Confidence; no error is below 0.
func (e Error) Interval() [2]float64 {
	half := distuv.UnitNormal.Quantile((1+errmodel.Confidence)/2) * e.StdErr
	return [2]float64{max(0, e.Mean-half), e.Mean + half}
}

// Sums adds up absolute errors, or whole numbers, in the order of the samples.
type Sums struct{ n, sum, square float64 }

// Add adds the error of a sample.
func (s *Sums) Add(v float64) {
	s.n++
	s.sum += v
	s.square += v * v
}

// Error returns the mean of what was added, with its standard error.
func (s *Sums) Error() Error {
	mean := s.sum / s.n
	return Error{Mean: mean, StdErr: math.Sqrt(max(0, s.square/s.n-mean*mean) / max(s.n-1, 1))}
}

// Line says how the targets lie around answers, in levels.
type Line struct {
	Bias Error // mean answer − target
	// the line of least squares, target = Offset + Slope·answer
	Offset, Slope float64
}

// At is the target at an answer.
func (l Line) At(answer float64) float64 { return l.Offset + l.Slope*answer }

// LineSums are sums for a Line, by Welford's updates: nothing cancels.
type LineSums struct {
	bias             Sums
	x, y, xx, yy, xy float64 // means, and sums of products of deviations from them
}

// Add adds a sample.
func (s *LineSums) Add(answer, target float64) {
	s.bias.Add(answer - target)
	dx, dy := answer-s.x, target-s.y
	s.x += dx / s.bias.n
	s.y += dy / s.bias.n
	s.xx += dx * (answer - s.x)
	s.yy += dy * (target - s.y)
	s.xy += dx * (target - s.y)
}

// Line has no slope where all answers are alike.
func (s *LineSums) Line() Line {
	slope := s.xy / s.xx
	return Line{s.bias.Error(), s.y - slope*s.x, slope}
}

// takeSeed is the seed of the samples that Scan keeps.
const takeSeed = 1

// Summary is the result of Scan.
type Summary struct {
	Counts *errmodel.Counts
	// Levels are the errors of each Decoding against the level of the target. Labels are the
	// errors against the target itself, quantization included.
	Levels, Labels []Error
	// Lines say how the targets lie around the answers of each Decoding.
	Lines []Line
	// Kept are some of the samples, in random order.
	Kept *Samples
	// Direct is the error of the predictions of direct regression against the target, and Beside by
	// how much the error of each Decoding is larger, as the mean of the differences of the samples;
	// zero without predictions.
	Direct Error
	Beside []Error
	// Spreads are the errors of each Decoding against the target itself, for the levels from 1 on,
	// SpreadWidth of them together.
	Spreads [][]Spread
	// LossBound is the bound of the error of gen on logits against the level, by the loss of the bits (see
	// theory.LossWeights); NaN where there is none.
	LossBound float64
	// Scores judge the distributions over the levels that logits have by the decodings.
	Scores []Scores
	// Quantization is the mean distance of the targets from their levels, in levels: the error of
	// a network that always finds the level. It is zero where targets are levels.
	Quantization float64
	// Beyond is how many targets lie beyond the end levels, which clip them.
	Beyond uint64
	// LogitScale is the standard deviation of an output, given its level, over the cells where
	// both decisions occur. It is the τ of the Gaussian model of logits, in which the noise of
	// a logit is 1. It is NaN for hard decisions, and where no such cell exists.
	LogitScale float64
	// Ones is how many outputs of each bit are one.
	Ones []uint64
	// Columns have sums of the outputs of each bit, logits or ±1. They tell what a bit's decisions may
	// hide: where a bit is rarely one, a good classifier decides for zero in every sample.
	Columns []Column
	// Same reports whether all samples have the same outputs, up to the rounding of float32: the
	// network does not depend on its input.
	Same bool
	// Miscalibration is the mean over the bits of |E[p_k] − E[b_k]|, in standard deviations of
	// b_k, where p_k = 1/(1+exp(−z_k)) is the probability that the bit's classifier gives and b_k
	// is the bit of the sample's code word. It is small for networks trained bit by bit, each
	// bit with its cross-entropy, whose probabilities have the right mean. It is NaN for hard
	// decisions, and where the source says that no bit was trained by itself.
	Miscalibration float64
}

// Column has sums of the outputs of a bit, by its targets, zero and one.
type Column struct {
	Samples, Sum [2]float64
	Square       float64 // of all outputs
}

// add adds a sample, whose target is one or zero.
func (c *Column) add(target uint64, z float64) {
	c.Samples[target]++
	c.Sum[target] += z
	c.Square += z * z
}

// clipped is how far, as a share of the range, a target is from the ends where it lies beyond them,
// and not at them but for rounding.
const clipped = 1e-6

// wrongBits collects the wrong bits of one sample.
func wrongBits(dst []int, c *code.Code, row int, z []float64) []int {
	dst = dst[:0]
	for j, word := range c.Word(row) {
		for k, v := range z[64*j : min(64*j+64, len(z))] {
			word ^= positive(v) << (k % 64)
		}
		for ; word != 0; word &= word - 1 {
			dst = append(dst, 64*j+bits.TrailingZeros64(word))
		}
	}
	return dst
}

// Scan reads all samples: it counts wrong bits and decodes every sample in every way, on
// workers goroutines, 0 for all processors; the result does not depend on their number.
// done is told how many samples were read since its last call, and may be nil. Errors name
// the file and the place, or are the context's.
func Scan(ctx context.Context, workers int, s *Source, c *code.Code, decodings []Decoding,
	done func(samples uint64)) (*Summary, error) {
	m := c.Bits()
	cells, err := s.newCells(ctx, m)
	if err != nil {
		return nil, err
	}
	x := &scan{source: s, code: c, cells: cells,
		errors: make([]errorSums, len(decodings)), kept: s.newReservoir(s.Keep, takeSeed),
		scores: newScoreSums(c, s.Kind, decodings), losses: newLossSums(c, s, decodings),
		Summary: Summary{Counts: errmodel.NewCounts(c.Levels(), m), Ones: make([]uint64, m),
			Columns: make([]Column, m), Same: true}}
	for r := range x.errors {
		x.errors[r].spreads = make([]Spread, 1+(c.Levels()-1)/SpreadWidth(c.Levels()))
	}
	if !s.Kind.Hard() && !s.Together {
		x.probabilities = make([]float64, m)
	}
	losses, first := len(decodings), len(decodings)+lossColumns // the first columns of both
	columns, correlations := first+x.scores.columns(), decode.NewCorrelations(c)
	prepare := func(b *batch) error {
		if need := b.n * columns; len(b.made) < need {
			b.made = make([]float64, need)
		}
		x.losses.choose(b, m)
		labels := LabelsOf(decodings).Read
		read := func(dst []float64, j int, sample *Sample) {
			sample.own = b.own[j]
			labels(dst, sample)
			x.losses.judge(dst[losses:first], b.level[j], sample.logits)
			x.scores.judge(dst[first:], b.level[j], b.exact[j], sample)
		}
		return readBatch(ctx, workers, b.made, b, m, columns, correlations, read)
	}
	if err := s.each(ctx, done, prepare, func(b *batch) error {
		for j := range b.n {
			x.add(b, j, b.made[j*columns:(j+1)*columns])
		}
		return nil
	}); err != nil {
		return nil, err
	}
	return x.summary(), nil
}

// scan collects a Summary.
type scan struct {
	Summary
	source *Source
	code   *code.Code

	first                  []float64 // the outputs of the first sample
	wrong                  []int     // scratch
	directly, quantization Sums
	errors                 []errorSums
	cells                  cells     // of logits
	probabilities          []float64 // their sums; nil where no bit was trained by itself
	kept                   *reservoir
	scores                 *scoreSums
	losses                 *lossSums
}

// add adds sample j of a batch, of which the labels, the bound by the loss and the scores were made.
func (x *scan) add(b *batch, j int, made []float64) {
	c, m, i, exact, levels := x.code, x.code.Bits(), b.level[j]-1, b.exact[j], float64(x.code.Levels())
	z := b.z[j*m : (j+1)*m]
	if x.first == nil {
		x.first = slices.Clone(z)
	}
	x.Same = x.Same && nearly(z, x.first)
	x.wrong = wrongBits(x.wrong, c, i, z)
	x.Counts.Add(i, x.wrong)
	x.quantization.Add(math.Abs(c.Between(c.Place(i), exact)))
	if slack := clipped * levels; !c.Circular() && (exact < 1-slack || exact > levels+slack) {
		x.Beyond++
	}
	word := c.Word(i)
	for k, v := range z {
		x.Columns[k].add(word[k/64]>>(k%64)&1, v)
		x.Ones[k] += positive(v)
	}
	x.cells.add(i, z)
	for k := range x.probabilities {
		x.probabilities[k] += decode.Sigmoid(z[k])
	}
	x.kept.add(b, j)
	direct := math.Abs(c.Between(exact, b.direct[j]))
	x.directly.Add(direct)
	for r := range x.errors {
		x.errors[r].add(c, b, j, made[r], direct)
	}
	x.losses.add(made[len(x.errors):])
	x.scores.add(made[len(x.errors)+lossColumns:])
}

// summary is what all samples say.
func (x *scan) summary() *Summary {
	out := &x.Summary
	for r := range x.errors {
		e := &x.errors[r]
		out.Levels, out.Labels = append(out.Levels, e.levels.Error()), append(out.Labels, e.labels.Error())
		out.Lines, out.Spreads = append(out.Lines, e.line.Line()), append(out.Spreads, e.spreads)
		if x.source.Direct != nil {
			out.Direct, out.Beside = x.directly.Error(), append(out.Beside, e.beside.Error())
		}
	}
	out.Kept, out.Scores, out.LossBound = &x.kept.out, x.scores.scores(x.source.Labels.Width()), x.losses.bound()
	out.Quantization = x.quantization.Error().Mean
	out.LogitScale, out.Miscalibration = x.cells.scale(out.Counts), miscalibration(out.Columns, x.probabilities)
	return out
}

// errorSums adds up the errors of a decoding.
type errorSums struct {
	levels, labels, beside Sums
	line                   LineSums
	spreads                []Spread
}

// add adds those of sample j of a batch, with its label.
func (e *errorSums) add(c *code.Code, b *batch, j int, label, direct float64) {
	level, exact, width := b.level[j], b.exact[j], SpreadWidth(c.Levels())
	distance := math.Abs(c.Between(exact, label))
	e.levels.Add(math.Abs(c.Between(c.Place(level-1), label)))
	e.labels.Add(distance)
	e.line.Add(exact+c.Between(exact, label), exact)
	e.beside.Add(distance - direct)
	e.spreads[(level-1)/width].Add(distance)
}

// nearly reports whether two outputs differ by no more than the rounding of float32, whose unit is
// 1.2e-7, in sums of some terms: the same network may add them up in another order for another
// sample.
func nearly(z, first []float64) bool {
	for k, v := range z {
		if !(math.Abs(v-first[k]) <= 1e-6*max(1, math.Abs(first[k]))) {
			return false
		}
	}
	return true
}

// readBatch calls read for the samples of a batch, of m bits, with the columns of each in dst, n × columns.
func readBatch(ctx context.Context, workers int, dst []float64, b *batch, m, columns int,
	correlations *decode.Correlations, read func(dst []float64, j int, sample *Sample)) error {
	const chunk = 64 // samples: one alone is little work
	return parallel.Chunks(ctx, workers, b.n, chunk, func() (func(context.Context, int, int) error, error) {
		sample := NewSample(m, correlations)
		return func(_ context.Context, first, last int) error {
			for j := first; j < last; j++ {
				sample.Set(b.z[j*m : (j+1)*m])
				read(dst[j*columns:(j+1)*columns], j, sample)
			}
			return nil
		}, nil
	})
}

// miscalibration is Summary.Miscalibration for the sums of the probabilities of each bit.
func miscalibration(columns []Column, probabilities []float64) float64 {
	sum, bits := 0.0, 0.0
	for k, p := range probabilities {
		zeros, ones := columns[k].Samples[0], columns[k].Samples[1]
		if n := zeros + ones; zeros > 0 && ones > 0 {
			share := ones / n
			sum += math.Abs(p/n-share) / math.Sqrt(share*(1-share))
			bits++
		}
	}
	return sum / bits
}

// fewErrors is the number of wrong, and of right, decisions that a cell needs for an
// estimate of the scale of its logits. Where one kind of decision is rare, the spread of
// logits comes from certainty, not from noise.
const fewErrors = 5

// cells have the sums of the outputs of levels and bits, and of their squares; nil for a level without
// enough samples for both decisions: of 4,096 levels and bits, all would take 270 MB.
type cells [][]struct{ sum, square float64 }

// newCells reads the targets, and makes cells of m bits for logits.
func (s *Source) newCells(ctx context.Context, m int) (cells, error) {
	out, samples := make(cells, s.Labels.Levels), make([]int, s.Labels.Levels)
	if s.Kind.Hard() {
		return out, nil
	}
	err := EachRow(ctx, s.Targets, func(row []float64) bool {
		if level, _, err := s.Labels.Level(row[0]); err == nil { // who reads all files says what is wrong
			if samples[level-1]++; samples[level-1] == 2*fewErrors {
				out[level-1] = make([]struct{ sum, square float64 }, m)
			}
		}
		return true
	})
	if ctx.Err() == nil {
		err = nil
	}
	return out, err
}

// add adds a sample of level i, from 0.
func (c cells) add(i int, z []float64) {
	for k := range c[i] {
		v := z[k]
		c[i][k].sum += v
		c[i][k].square += v * v
	}
}

// scale pools the variances of outputs over the cells in which both decisions occur.
func (c cells) scale(counts *errmodel.Counts) float64 {
	var square, dof float64
	for i, row := range c {
		n, samples := float64(counts.Samples[i]), counts.Samples[i]
		for k, of := range row {
			if x := counts.Row(i)[k]; x >= fewErrors && samples-x >= fewErrors {
				square += max(0, of.square-of.sum*of.sum/n)
				dof += n - 1
			}
		}
	}
	if dof == 0 || square == 0 {
		return math.NaN()
	}
	return math.Sqrt(square / dof)
}

// Wrong reads all samples, and calls add for each: with its row, from 0, and its wrong bits,
// from 0, which add must not keep. The error names the file and the place, or is the
// context's.
func Wrong(ctx context.Context, s *Source, c *code.Code, add func(i int, wrong []int),
	done func(samples uint64)) error {
	m := c.Bits()
	var wrong []int
	return s.each(ctx, done, nil, func(b *batch) error {
		for j := range b.n {
			i := b.level[j] - 1
			wrong = wrongBits(wrong, c, i, b.z[j*m:(j+1)*m])
			add(i, wrong)
		}
		return nil
	})
}
