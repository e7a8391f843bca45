package mixturefit

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"

	"belsim/errmodel"
	"belsim/theory"
	"belsim/theory/base/matrix"
	"belsim/theory/code"
)

// Shared is the noise that all bits share and the mixture of the other errors (theory.Shared), of
// largest likelihood.
type Shared struct {
	// mean |δ| of the offsets that all bits share, in levels
	MeanAbs float64 `json:"mean_abs"`
	// standard deviation of δ, in levels
	SD float64 `json:"sd"`
	// offsets δ whose weight is above 0, in levels
	Offsets []int `json:"offsets"`
	// weights of the offsets; they add up to 1
	Weights []float64 `json:"weights"`
	// weight r of the Gaussians of the other errors
	R float64 `json:"r"`
	// width σ of the Gaussians of the other errors, in levels
	Sigma float64 `json:"sigma"`
	// by how much the log-likelihood of all samples is above that of independent bits
	Gain float64 `json:"log_likelihood_gain"`
}

// Noise is the histogram of the offsets.
func (s *Shared) Noise() *theory.Shared {
	return &theory.Shared{Offsets: s.Offsets, Weights: s.Weights}
}

// Words are the hard decisions of samples, each different one once.
type Words struct {
	code   *code.Code
	known  map[string]int
	words  [][]uint64
	counts []map[int]float64 // of each word, by row
	all    *errmodel.Counts
	cases  int // of labels and words
}

// NewWords returns no samples of a code.
func NewWords(c *code.Code) *Words {
	return &Words{code: c, known: map[string]int{}, all: errmodel.NewCounts(c.Dims())}
}

// Add takes a sample of row i, from 0, with the given wrong bits, from 0.
func (x *Words) Add(i int, wrong []int) {
	if x.full() {
		return
	}
	word := append([]uint64(nil), x.code.Word(i)...)
	for _, k := range wrong {
		word[k/64] ^= 1 << (k % 64)
	}
	var key []byte
	for _, w := range word {
		key = binary.LittleEndian.AppendUint64(key, w)
	}
	at, ok := x.known[string(key)]
	if !ok {
		at = len(x.words)
		x.known[string(key)] = at
		x.words, x.counts = append(x.words, word), append(x.counts, map[int]float64{})
	}
	if x.counts[at][i]++; x.counts[at][i] == 1 {
		x.cases++
	}
	x.all.Add(i, wrong)
}

// full reports whether there are too many different samples, or distances of levels from transitions, to fit.
func (x *Words) full() bool {
	return x.cases*x.code.Levels() > mostShared || x.code.TransitionCount()*x.code.Levels() > mostPairs
}

// sharedCase are the samples of a label and a word.
type sharedCase struct {
	label, word int
	count       float64
}

// mostShared and mostPairs limit the work of FitShared: different samples × levels, and levels ×
// transitions. Up to them a fit takes about a second of a processor.
const mostShared, mostPairs = 1 << 20, 1 << 15

// leastOther is the smallest width σ of the other errors, in levels: below it they are at the
// nearest two levels alone, and r and σ cannot be told apart.
const leastOther = 0.3

// FitShared fits the weights of all offsets, r and σ to hard decisions by maximum likelihood: by
// expectation and maximization, where the level that the bits of a sample are read at is what is
// not known. Given the posterior of the level, the offsets' weights are their shares, and r and σ
// those of New for the expected counts. The error wraps ErrNoFit where no output is wrong, or where
// there are too many different samples; or it is the context's.
func FitShared(ctx context.Context, x *Words, positions [][]int) (*Shared, error) {
	levels, bits := x.code.Dims()
	if x.full() {
		return nil, fmt.Errorf("%w: too many different outputs, or transitions of %d levels", ErrNoFit, levels)
	}
	alone, err := newFrom(ctx, 1, x.code, x.all, positions, smallestSigma)
	if err != nil {
		return nil, err
	}
	var cases []sharedCase
	samples := 0.0
	for w, counts := range x.counts {
		for i := range levels { // in order, so that sums are the same
			if n := counts[i]; n > 0 {
				cases = append(cases, sharedCase{i, w, n})
				samples += n
			}
		}
	}
	scores := make([]float64, len(x.words)*levels) // ln P(word | ξ)
	if err := x.scores(ctx, alone, scores); err != nil {
		return nil, err
	}
	before := 0.0
	for _, c := range cases {
		before += c.count * scores[c.word*levels+c.label]
	}
	// Broad weights, and few other errors.
	weights := make([]float64, 2*levels-1)
	for d := range weights {
		weights[d] = 1 / math.Pow(1+math.Abs(float64(d-levels+1)), 2)
	}
	normalize(weights)
	fit := *alone
	fit.R /= 10
	at := func(i, d int) int {
		j := i + d - levels + 1
		if x.code.Circular() {
			return (j + levels) % levels
		}
		return min(max(j, 0), levels-1)
	}
	value, posterior, next := math.Inf(-1), make([]float64, len(scores)), make([]float64, len(weights))
	var offsets []int
	var values []float64
	const outer, inner, enough, negligible = 40, 12, 0.2, 50
	for range outer {
		if err := x.scores(ctx, &fit, scores); err != nil {
			return nil, err
		}
		// The offsets of each case that matter, and P(word | ξ) up to a factor.
		from, offsets, values, base := []int{0}, offsets[:0], values[:0], 0.0
		for _, c := range cases {
			of, most := scores[c.word*levels:(c.word+1)*levels], math.Inf(-1)
			for d, w := range weights {
				if w > 0 {
					most = max(most, of[at(c.label, d)])
				}
			}
			for d, w := range weights {
				if s := of[at(c.label, d)]; w > 0 && s > most-negligible {
					offsets, values = append(offsets, d), append(values, math.Exp(s-most))
				}
			}
			base += c.count * most
			from = append(from, len(offsets))
		}
		now := 0.0
		for step := range inner {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			clear(next)
			clear(posterior)
			now = base
			for j, c := range cases {
				sum, ds, vs := 0.0, offsets[from[j]:from[j+1]], values[from[j]:from[j+1]]
				for k, d := range ds {
					sum += weights[d] * vs[k]
				}
				now += c.count * math.Log(sum)
				for k, d := range ds {
					share := c.count * weights[d] * vs[k] / sum
					next[d] += share
					if step == inner-1 {
						posterior[c.word*levels+at(c.label, d)] += share
					}
				}
			}
			for d, v := range next {
				if weights[d] = v / samples; weights[d] < 1e-9 {
					weights[d] = 0
				}
			}
			normalize(weights)
		}
		if now-value < enough {
			value = now
			break
		}
		value = now
		better, err := newFrom(ctx, 1, x.code, x.expected(posterior, levels, bits), positions, leastOther)
		if err != nil { // no other errors are left
			break
		}
		fit = *better
	}
	out := &Shared{R: fit.R, Sigma: fit.Sigma, Gain: value - before}
	mean, square := 0.0, 0.0
	for d, w := range weights {
		if w > 0 {
			offset := d - levels + 1
			out.Offsets, out.Weights = append(out.Offsets, offset), append(out.Weights, w)
			out.MeanAbs += w * math.Abs(float64(offset))
			mean += w * float64(offset)
			square += w * float64(offset*offset)
		}
	}
	out.SD = math.Sqrt(max(0, square-mean*mean))
	return out, nil
}

func normalize(weights []float64) {
	sum := 0.0
	for _, w := range weights {
		sum += w
	}
	for d := range weights {
		weights[d] /= sum
	}
}

// scores sets out to ln P(word | ξ), words × levels. Errors less likely than 10⁻¹² count as that.
func (x *Words) scores(ctx context.Context, f *Fit, out []float64) error {
	e, err := f.Table(ctx)
	if err != nil {
		return err
	}
	levels, width := x.code.Dims()
	var row []float64
	odds := make([]float64, width) // ln of a wrong bit against a right one
	for i := range levels {
		row = matrix.Row(row, i, e)
		right := 0.0
		for k, p := range row {
			p = min(max(p, 1e-12), 1-1e-12)
			odds[k] = math.Log(p) - math.Log1p(-p)
			right += math.Log1p(-p)
		}
		bytes := byteSums(odds)
		for w, word := range x.words {
			sum := right
			for j, d := range word {
				d ^= x.code.Word(i)[j]
				for b := 0; d != 0; b, d = b+1, d>>8 {
					sum += bytes[8*j+b][d&0xff]
				}
			}
			out[w*levels+i] = sum
		}
	}
	return nil
}

// byteSums are the sums of the numbers of the set bits, for each byte of a word.
func byteSums(odds []float64) [][256]float64 {
	out := make([][256]float64, (len(odds)+7)/8)
	for b := range out {
		for v := 1; v < 256; v++ {
			low := 0
			for v>>low&1 == 0 {
				low++
			}
			if k := 8*b + low; k < len(odds) {
				out[b][v] = out[b][v&(v-1)] + odds[k]
			}
		}
	}
	return out
}

// expected are the expected counts of wrong bits at the levels that the bits of samples are read
// at, in parts of a sample.
func (x *Words) expected(posterior []float64, levels, bits int) *errmodel.Counts {
	const parts = 1 << 20
	samples, wrong := make([]float64, levels), make([]float64, levels*bits)
	for w, word := range x.words {
		for i, p := range posterior[w*levels : (w+1)*levels] {
			if p == 0 {
				continue
			}
			samples[i] += p
			for k := range bits {
				if (word[k/64]^x.code.Word(i)[k/64])>>(k%64)&1 == 1 {
					wrong[i*bits+k] += p
				}
			}
		}
	}
	out := errmodel.NewCounts(levels, bits)
	for i, n := range samples {
		out.Samples[i] = uint64(math.Ceil(n * parts))
	}
	for j, n := range wrong {
		out.Wrong[j] = uint64(n * parts)
	}
	return out
}
