package code

import (
	"context"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strings"

	"belsim/theory/base/parallel"
)

// Properties are the paper's design principles as numbers. Large distances between code
// words correct errors. Few transitions of a bit make its classifier easy to learn. Errors
// stay small when words are far apart whose labels are far apart.
type Properties struct {
	Code   string `json:"code" text:"code"`
	Levels int    `json:"levels" text:"levels"`
	Bits   int    `json:"bits" text:"bits"`
	Separation
	TransitionsPerBit float64 `json:"transitions_per_bit" text:"transitions per bit"`
	MaxTransitions    int     `json:"max_transitions"`
	// Pearson's correlation, over all pairs of words, of their Hamming distance with the distance
	// of their levels; null where one does not vary
	Correlation *float64 `json:"distance_label_correlation" text:"distance–label correlation,%.3f"`
	// number of columns without a transition
	ConstantColumns int `json:"constant_columns" text:"constant bits"`
}

// Text has transitions and distance in words.
func (p Properties) Text() string {
	text := fmt.Sprintf("%.3g transitions a bit, at most %d", p.TransitionsPerBit, p.MaxTransitions)
	if p.MinDistance != nil {
		text += fmt.Sprintf("; smallest distance of two words %d", *p.MinDistance)
	}
	if p.MinColumnDistance != nil {
		text += fmt.Sprintf(", of two columns %d", *p.MinColumnDistance)
	}
	if p.DistinctColumns != nil {
		text += fmt.Sprintf("; number of distinct columns %d", *p.DistinctColumns)
	}
	return text
}

// mostLearned is the largest mean number of transitions of a bit that networks learn well. Of
// networks with 64 levels, bits of 8 transitions are wrong in 32 % of the samples (the median over
// data sets), bits of 10 in 38 %, and bits of 15 and more in nearly half, as a coin would be
// (testdata/heads).
const mostLearned = 8

// HardToLearn reports whether networks learn bits of a mean number of transitions badly: more than
// 8 of them.
func HardToLearn(transitionsPerBit float64) bool { return transitionsPerBit > mostLearned }

// LearnedBadly warns of codes that are hard to learn, each with its transitions a bit, where an error
// model ranks codes by the same errors near all transitions.
func LearnedBadly(codes ...Learned) string {
	var list []string
	for _, c := range codes {
		if text := fmt.Sprintf("%s has %.4g a bit", c.Name, c.Transitions); !slices.Contains(list, text) {
			list = append(list, text)
		}
	}
	return fmt.Sprintf("Networks learn codes badly that have a mean of more than %d transitions a bit. "+
		"This model does not say so: %s", mostLearned, strings.Join(list, ", "))
}

// Learned is a code that networks learn, with its mean number of transitions of a bit.
type Learned struct {
	Name        string
	Transitions float64
}

// TransitionsPerBit returns the mean number of transitions of a column.
func (c *Code) TransitionsPerBit() float64 { return float64(c.TransitionCount()) / float64(c.bits) }

// maxPairWork limits the number of 64-bit words that are compared for the properties of
// pairs, to about a minute of work. Above it MinDistance and Correlation are nil, and so are
// MinColumnDistance and DistinctColumns.
const maxPairWork = 1 << 37

// pairSums are integer sums over pairs of rows, so that the order of the rows
// does not matter. The largest, Σ distance·|m−n| over 2³¹ pairs of 65,536 levels
// and bits, is below 2⁶³.
type pairSums struct{ pairs, d, dd, n, nn, dn uint64 }

// MaxTransitions is the largest number of transitions of a column. The error is the context's.
func (c *Code) MaxTransitions(ctx context.Context) (int, error) {
	counts, err := c.countTransitions(ctx)
	if err != nil {
		return 0, err
	}
	return slices.Max(counts), nil
}

// Properties computes them for a code of zeros and ones, in O(L²·M/64). workers is the number of
// goroutines, 0 for all processors. The error is the context's.
func (c *Code) Properties(ctx context.Context, workers int) (Properties, error) {
	p := Properties{Code: c.name, Levels: c.levels, Bits: c.bits}
	counts, err := c.countTransitions(ctx)
	if err != nil {
		return Properties{}, err
	}
	total := 0
	for _, n := range counts {
		total += n
		p.MaxTransitions = max(p.MaxTransitions, n)
		if n == 0 {
			p.ConstantColumns++
		}
	}
	p.TransitionsPerBit = float64(total) / float64(c.bits)
	if err = p.columns(ctx, c, workers, maxPairWork); err != nil {
		return Properties{}, err
	}
	if c.pairWork() > maxPairWork {
		return p, nil
	}
	rows, nearest := make([]pairSums, c.levels), make([]int, c.levels) // of a row and those before it
	err = parallel.Each(ctx, workers, c.levels, func() (func(context.Context, int) error, error) {
		return func(_ context.Context, i int) error {
			s := &rows[i]
			nearest[i] = c.bits
			for j := range i {
				distance := c.Distance(i, j)
				nearest[i] = min(nearest[i], distance)
				d, n := uint64(distance), uint64(i-j)
				if c.Circular() {
					n = min(n, uint64(c.levels)-n)
				}
				*s = pairSums{s.pairs + 1, s.d + d, s.dd + d*d, s.n + n, s.nn + n*n, s.dn + d*n}
			}
			return nil
		}, nil
	})
	var all pairSums
	for _, s := range rows {
		all = pairSums{all.pairs + s.pairs, all.d + s.d, all.dd + s.dd, all.n + s.n, all.nn + s.nn, all.dn + s.dn}
	}
	p.MinDistance, p.Correlation = new(slices.Min(nearest)), all.correlation()
	return p, err
}

// correlation is Pearson's; nil when a variance is zero. Where distances hardly vary,
// variances and covariance are differences of nearly equal products. So they are computed
// in integers, pairs·Σxy − Σx·Σy, and rounded at the end.
func (s pairSums) correlation() *float64 {
	vd := moment(s.pairs, s.dd, s.d, s.d)
	vn := moment(s.pairs, s.nn, s.n, s.n)
	if vd == 0 || vn == 0 {
		return nil
	}
	r := moment(s.pairs, s.dn, s.d, s.n) / (math.Sqrt(vd) * math.Sqrt(vn))
	r = max(-1, min(1, r)) // roundings may give a quotient above 1
	return &r
}

// moment is pairs·xy − x·y, rounded once.
func moment(pairs, xy, x, y uint64) float64 {
	product := func(a, b uint64) *big.Int {
		return new(big.Int).Mul(new(big.Int).SetUint64(a), new(big.Int).SetUint64(b))
	}
	difference, _ := new(big.Float).SetInt(new(big.Int).Sub(product(pairs, xy), product(x, y))).Float64()
	return difference
}

// Words returns the code words as texts of 0 and 1, one for each level, bit 1 first. The
// error is the context's.
func (c *Code) Words(ctx context.Context) ([]string, error) {
	words := make([]string, c.Levels())
	var text []byte
	for i := range words {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		text = c.AppendText(text[:0], i)
		words[i] = string(text)
	}
	return words, nil
}

// AppendText appends row i as a text of 0 and 1, bit 1 first.
func (c *Code) AppendText(dst []byte, i int) []byte {
	for j, w := range c.Word(i) {
		for range min(64, c.bits-64*j) {
			dst = append(dst, '0'+byte(w&1))
			w >>= 1
		}
	}
	return dst
}
