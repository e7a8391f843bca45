package tables

import (
	"context"
	"math"
	"math/bits"

	"gonum.org/v1/gonum/mat"

	"belsim/theory/base/matrix"
	"belsim/theory/code"
	"belsim/theory/decode"
)

// sureDeviation is how many standard deviations are sure: see Logits.
const sureDeviation = 7 // exceeded with probability 1.3·10⁻¹²

// lightScore is how far a score is below the largest where its weight in a softmax is 2⁻³⁰/L: all
// such levels together weigh nothing.
func lightScore(levels int) float64 { return 30*math.Ln2 + math.Log(float64(levels)) }

// Logits holds the numbers that turn random numbers into samples of the logits of one label.
// All are integers, so that correlations are exact and no order of summation matters.
//
// Only some levels can be decoded, or weigh anything in a softmax: level m is a
// candidate unless its correlation stays below the true level's (by the exponent
// whose weight is 2⁻³⁰/L, for gen-ex) with all but the probability of 7 standard
// deviations, 1.3·10⁻¹². What is left out moves a label of gen-ex by less than L·2⁻³⁰
// levels. Only the bits in which candidates differ are drawn: near a label
// these are few, however many bits the code has. Hard outputs have all levels as
// candidates, and draw the bits that can err. Decoders that do not correlate have no
// candidates, and all bits are drawn.
type Logits struct {
	Row     int
	Bits    []uint16 // A drawn bits, from 0, ascending
	Centers []int32  // A: the means of the logits, in units of 2⁻²⁴; nil for hard outputs
	*Flips           // of hard outputs; nil elsewhere

	// For gen and gen-ex. Correlations are taken relative to the first
	// candidate's: each is its predecessor's plus some logits, less others.
	Levels []uint16 // candidates, rows from 0, ascending
	RunningSum
	Transform bool // correlations are taken of all words at once, and there are no steps: see LogitMaker.Transforms

	// For gen-ex on a code whose words are all pairs of a prefix and a suffix, as hexj's are
	// of digits, where that is less work: instead of steps. All levels are candidates. Weights
	// are products then, and only prefixes and suffixes take an exponential.
	Product *Product

	// For decoders that read scores, instead of steps. Levels are the candidates, in the order of
	// the scores. Bits and Centers stand for the numbers ε, and not for bits.
	Affine *Affine

	// For gen-ex, and for scores: a candidate whose correlation is d below the largest weighs
	// 2^(−d·Scale), and nothing when d is above Limit.
	Scale float32
	Limit int64
}

// RunningSum is a running sum over words: each is its predecessor's plus some logits,
// less others, relative to the first.
type RunningSum struct {
	Starts []uint32 // Steps[Starts[i]:Starts[i+1]] lead from word i−1 to i
	Steps  []uint32 // index of a drawn bit << 1 | 1 where its logit is taken away
	Fixed  []int64  // what the bits that are not drawn add to the step
}

// Product are the parts of a code of P prefixes and Q suffixes, whose level p·Q +
// j + 1, p and j from 0, has prefix p and, by the pattern of that prefix, one of the
// suffixes: forwards or, in a reflected code, backwards. With weights F of prefixes
// and G of suffixes,
//
//	Σ weights         = Σ_p F_p · Σ_s G_s,
//	Σ weights·offsets = Σ_p F_p·((p·Q − Row)·Σ_s G_s + Σ_j j·G_{pattern(p), j}),
//
// where the last sum is one for each pattern: O(P + Q·patterns) for P·Q levels.
type Product struct {
	Prefixes, Suffixes RunningSum
	Offsets            []float32 // P: p·Q − Row
	PatternOf          []uint16  // P
	Patterns           []uint16  // patterns × Q: suffixes in the order of their levels
}

// Model describes how the logits of a problem are drawn, and how a decoder reads them.
type Model struct {
	Code   *code.Code // L levels, M bits
	Hard   bool       // outputs are bits, sampled one by one; else they are logits
	Errors mat.Matrix // L × M, e[n,k]
	// Correlates is set where the decoder reads correlations with the code words, as gen and
	// gen-ex do: the tables then hold candidates. Temperature is the temperature of a softmax
	// over the candidates (gen-ex); 0 where the largest correlation decides.
	Correlates  bool
	Temperature float64
	// Scores, when set, are what the decoder reads: of logits.
	Scores *decode.Affine
}

// LogitMaker makes the tables of a model's rows. It belongs to one goroutine.
type LogitMaker struct {
	// Transforms is set where all M correlations can be had by M·log₂ M additions: more steps are not made.
	Transforms bool

	model   Model
	sure    float64 // decode.MeanLogit of a bit that cannot err, as most cannot
	e       []float64
	mean    []float64 // of s_k·Z_k
	drawn   []bool
	index   []int32
	differ  []uint64 // packed: the bits in which candidates differ
	factors *factors
}

// NewLogitMaker prepares to make the tables of a model.
func NewLogitMaker(p Model) *LogitMaker {
	l := &LogitMaker{model: p, sure: decode.MeanLogit(0)}
	m := p.Code.Bits()
	l.mean, l.drawn, l.index = make([]float64, m), make([]bool, m), make([]int32, m)
	l.e = make([]float64, m)
	l.differ = make([]uint64, len(p.Code.Word(0)))
	if p.Temperature > 0 {
		l.factors = newFactors(p.Code)
	}
	return l
}

// Row makes the tables of row i, from 0. The error names an entry that is no
// probability, or is the context's.
func (l *LogitMaker) Row(ctx context.Context, i int) (*Logits, error) {
	switch {
	case l.model.Scores != nil:
		return l.affineRow(ctx, i)
	case l.model.Hard:
		return l.hardRow(i)
	}
	return l.independentRow(ctx, i)
}

// independentRow is Row for logits.
func (l *LogitMaker) independentRow(ctx context.Context, i int) (*Logits, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	var err error
	if l.e, err = matrix.Probabilities(l.e, i, l.model.Errors); err != nil {
		return nil, err
	}
	for k, e := range l.e {
		l.mean[k] = l.sure
		if e > decode.SmallestError {
			l.mean[k] = decode.MeanLogit(e)
		}
		l.drawn[k] = !l.model.Correlates
	}
	t := &Logits{Row: i}
	if l.model.Correlates {
		if err := l.candidates(ctx, t, i, l.threshold()); err != nil {
			return nil, err
		}
		l.orPairs(t)
	}
	l.finish(t)
	for _, k := range t.Bits {
		mean := l.mean[k]
		if !l.model.Code.Bit(i, int(k)) {
			mean = -mean
		}
		t.Centers = append(t.Centers, int32(math.Round(mean*NormalOne)))
	}
	return t, nil
}

// orPairs takes all levels as candidates, and draws all bits that are not the same everywhere, where
// that is less work, by pairs.
func (l *LogitMaker) orPairs(t *Logits) {
	if q := l.factors; q != nil && q.work() < len(t.Levels) {
		t.Levels = l.allLevels()
		l.drawDiffering(t.Levels)
	}
}

// finish fills in everything that follows from the bits that are drawn and from the candidates.
func (l *LogitMaker) finish(t *Logits) {
	p, c, i := l.model, l.model.Code, t.Row
	for k, drawn := range l.drawn {
		if drawn {
			l.index[k] = int32(len(t.Bits))
			t.Bits = append(t.Bits, uint16(k))
		}
	}
	switch {
	case p.Correlates && l.factors != nil && len(t.Levels) == c.Levels():
		q := l.factors
		t.Product = &Product{
			Prefixes: l.steps(q.prefixes, 0, q.cut, i), Suffixes: l.steps(q.suffixes, q.cut, c.Bits(), i),
			PatternOf: q.patternOf, Patterns: q.patterns,
		}
		for _, first := range q.prefixes {
			t.Product.Offsets = append(t.Product.Offsets, float32(int(first)-i))
		}
	case p.Correlates:
		drawn, _ := l.packed(0, c.Bits())
		if t.Transform = l.Transforms && l.changes(t.Levels, drawn) > c.Bits()*bits.Len(uint(c.Bits())); !t.Transform {
			t.RunningSum = l.steps(t.Levels, 0, c.Bits(), i)
		}
	}
	if p.Temperature > 0 {
		scale := p.Temperature / LogitOne // exponent for one unit of correlation
		t.Limit = int64(min(lightScore(c.Levels())/scale, 1<<62))
		t.Scale = float32(min(scale/math.Ln2, math.MaxFloat32))
	}
}

// threshold returns how far a correlation may stay below the true level's before its level weighs
// nothing: 0 where the largest correlation decides.
func (l *LogitMaker) threshold() float64 {
	if l.model.Temperature > 0 {
		return lightScore(l.model.Code.Levels()) / l.model.Temperature
	}
	return 0
}

// allLevels lists the rows of the code.
func (l *LogitMaker) allLevels() []uint16 {
	levels := make([]uint16, l.model.Code.Levels())
	for m := range levels {
		levels[m] = uint16(m)
	}
	return levels
}

// drawDiffering draws the bits in which some rows differ.
func (l *LogitMaker) drawDiffering(rows []uint16) {
	clear(l.differ)
	first := l.model.Code.Word(int(rows[0]))
	for _, m := range rows {
		for j, w := range l.model.Code.Word(int(m)) {
			l.differ[j] |= w ^ first[j]
		}
	}
	for j, d := range l.differ {
		for ; d != 0; d &= d - 1 {
			l.drawn[64*j+bits.TrailingZeros64(d)] = true
		}
	}
}

// candidates finds the levels that can be decoded, or weigh something, and draws
// the bits in which they differ. The difference of the correlations of the true
// row and row m is normal; its mean is a sum over the bits in which they differ.
func (l *LogitMaker) candidates(ctx context.Context, t *Logits, i int, threshold float64) error {
	c := l.model.Code
	negative := 0.0 // the most that bits with e > ½ can take from a sum
	for _, q := range l.mean {
		negative += min(q, 0)
	}
	for m := range c.Levels() {
		if m%64 == 0 {
			if err := ctx.Err(); err != nil {
				return err
			}
		}
		if l.factors != nil && len(t.Levels) > l.factors.work() {
			break // pairs are less work already
		}
		if m == i || !l.out(i, m, threshold, negative) {
			t.Levels = append(t.Levels, uint16(m))
		}
	}
	l.drawDiffering(t.Levels)
	return nil
}

// out reports whether row m is no candidate. Bits can take negative from a
// sum, at most.
func (l *LogitMaker) out(i, m int, threshold, negative float64) bool {
	c := l.model.Code
	word, most, sum := c.Word(i), threshold+float64(sureDeviation*math.Sqrt(float64(c.Distance(i, m)))), 0.0
	for j, w := range c.Word(m) {
		for d := w ^ word[j]; d != 0; d &= d - 1 {
			sum += l.mean[64*j+bits.TrailingZeros64(d)]
			// Even if all further bits took their worst, it stays out.
			if sum+negative > most {
				return true
			}
		}
	}
	return sum > most
}

// packed are the columns lo ≤ k < hi that are drawn, and the others.
func (l *LogitMaker) packed(lo, hi int) (drawn, sure []uint64) {
	drawn, sure = make([]uint64, len(l.differ)), make([]uint64, len(l.differ))
	for k := lo; k < hi; k++ {
		if l.drawn[k] {
			drawn[k/64] |= 1 << (k % 64)
		} else {
			sure[k/64] |= 1 << (k % 64)
		}
	}
	return drawn, sure
}

// changes is the number of steps between neighbours among rows.
func (l *LogitMaker) changes(rows []uint16, drawn []uint64) (n int) {
	before := l.model.Code.Word(int(rows[0]))
	for _, row := range rows {
		word := l.model.Code.Word(int(row))
		for j, w := range word {
			n += bits.OnesCount64((w ^ before[j]) & drawn[j])
		}
		before = word
	}
	return n
}

// steps makes the differences of the columns lo ≤ k < hi between neighbours among rows, when the
// label is row i+1's.
func (l *LogitMaker) steps(rows []uint16, lo, hi, i int) RunningSum {
	c := l.model.Code
	own := c.Word(i)
	drawn, sure := l.packed(lo, hi)
	r := RunningSum{Starts: make([]uint32, 1, len(rows)+1), Fixed: make([]int64, len(rows))}
	before := c.Word(int(rows[0]))
	for a, row := range rows {
		word, fixed := c.Word(int(row)), 0
		for j, w := range word {
			for d := (w ^ before[j]) & drawn[j]; d != 0; d &= d - 1 {
				k := bits.TrailingZeros64(d)
				r.Steps = append(r.Steps, uint32(l.index[64*j+k])<<1|uint32(^w>>k&1))
			}
			changed := (w ^ before[j]) & sure[j] // hard outputs that are surely those of row i+1
			same := changed &^ (w ^ own[j])
			fixed += 2*bits.OnesCount64(same) - bits.OnesCount64(changed)
		}
		r.Starts = append(r.Starts, uint32(len(r.Steps)))
		r.Fixed[a] = int64(fixed) * LogitOne
		before = word
	}
	return r
}
