package code

import (
	"context"
	"fmt"
	"math"
	"math/big"
	"math/bits"
	"slices"
	"strings"

	"belsim/theory/base/parallel"
)

// Properties are the paper's design principles as numbers. Large distances between code
// words correct errors. Few transitions of a bit make its classifier easy to learn. Errors
// stay small when words are far apart whose labels are far apart.
type Properties struct {
	Code              string  `json:"code" text:"code"`
	Levels            int     `json:"levels" text:"levels"`
	Bits              int     `json:"bits" text:"bits"`
	MinDistance       *int    `json:"min_distance" text:"min distance"`
	TransitionsPerBit float64 `json:"transitions_per_bit" text:"transitions per bit"`
	MaxTransitions    int     `json:"max_transitions"`
	// Pearson's correlation, over all pairs of words, of their Hamming distance with the distance
	// of their levels; null where one does not vary
	Correlation *float64 `json:"distance_label_correlation" text:"distance–label correlation,%.3f"`
	// number of columns without a transition
	ConstantColumns int `json:"constant_columns"`
}

// mostLearned is the largest mean number of transitions of a bit that networks learn well. Of the
// networks with 64 levels, bits of 8 transitions are wrong in 18 % of the samples (the median over
// networks), bits of 10 in 31 %, and bits of 14 and more in nearly half, as a coin would be
// (testdata/forecast/observed.csv).
const mostLearned = 8

// HardToLearn reports whether networks learn bits of a mean number of transitions badly: more than
// 8 of them.
func HardToLearn(transitionsPerBit float64) bool { return transitionsPerBit > mostLearned }

// LearnedBadly warns of codes that are hard to learn, each with its transitions a bit, where an error
// model ranks codes by the same errors near all transitions.
func LearnedBadly(codes ...Learned) string {
	var list []string
	for _, c := range codes {
		if text := fmt.Sprintf("%s has %.4g", c.Name, c.Transitions); !slices.Contains(list, text) {
			list = append(list, text)
		}
	}
	return fmt.Sprintf("Networks learn bits of more than %d transitions badly. This model does not say so: %s",
		mostLearned, strings.Join(list, ", "))
}

// Learned is a code that networks learn, with its mean number of transitions of a bit.
type Learned struct {
	Name        string
	Transitions float64
}

// TransitionsPerBit returns the mean number of transitions of a column.
func (c *Code) TransitionsPerBit() float64 { return float64(c.TransitionCount()) / float64(c.bits) }

// maxPairWork limits the number of 64-bit words that are compared for the properties of
// pairs, to about a minute of work. Above it MinDistance and Correlation are nil.
const maxPairWork = 1 << 37

// pairSums are integer sums over pairs of rows, so that the order of the rows
// does not matter. The largest, Σ distance·|m−n| over 2³¹ pairs of 65,536 levels
// and bits, is below 2⁶³.
type pairSums struct{ pairs, d, dd, n, nn, dn uint64 }

// Properties computes them for a code of zeros and ones, in O(L·M²/64), and O(L²·M/64) where few
// words are one bit apart. workers is the number of goroutines, 0 for all processors. The error is
// the context's.
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
	if int64(c.levels)*int64(c.levels)/2*int64(c.stride) > maxPairWork {
		return p, nil
	}
	nearest := make([]int, c.levels) // by row: the distance of the nearest row before it
	if err := each(ctx, workers, c.levels, func(i int) {
		nearest[i] = c.bits
		for j := i - 1; j >= 0 && nearest[i] > 1; j-- { // no two words are nearer
			nearest[i] = min(nearest[i], c.Distance(i, j))
		}
	}); err != nil {
		return Properties{}, err
	}
	p.MinDistance = new(slices.Min(nearest))
	sums, err := c.pairSums(ctx, workers)
	p.Correlation = sums.correlation()
	return p, err
}

// each calls a function for all i below n, on several goroutines.
func each(ctx context.Context, workers, n int, f func(i int)) error {
	return parallel.Each(ctx, workers, n, func() (func(context.Context, int) error, error) {
		return func(_ context.Context, i int) error {
			f(i)
			return nil
		}, nil
	})
}

// pairSums adds over the columns: two rows that differ in d bits differ in d² pairs of columns.
func (c *Code) pairSums(ctx context.Context, workers int) (all pairSums, err error) {
	columns, ones := make([][]uint64, c.bits), make([]uint64, c.bits)
	sums := make([]pairSums, c.bits) // of a column, and of it with the columns before it
	if err := each(ctx, workers, c.bits, func(k int) {
		columns[k] = make([]uint64, (c.levels+63)/64)
		var rows, places [2]uint64 // how many rows so far have a zero or a one, and the sums of their numbers
		for i := range c.levels {
			bit := c.data[i*c.stride+k/64] >> (k % 64) & 1
			columns[k][i/64] |= bit << (i % 64)
			sums[k].dn += rows[1-bit]*uint64(i) - places[1-bit]
			rows[bit]++
			places[bit] += uint64(i)
		}
		ones[k] = rows[1]
		sums[k].d = rows[0] * rows[1]
	}); err != nil {
		return all, err
	}
	if c.Circular() {
		if err := c.turnedSums(ctx, workers, sums); err != nil {
			return all, err
		}
	}
	levels := uint64(c.levels)
	err = each(ctx, workers, c.bits, func(k int) {
		sums[k].dd = sums[k].d
		for j, other := range columns[:k] {
			both := uint64(0)
			for n, w := range columns[k] {
				both += uint64(bits.OnesCount64(w & other[n]))
			}
			neither := levels + both - ones[k] - ones[j]
			sums[k].dd += 2 * (both*neither + (ones[k]-both)*(ones[j]-both))
		}
	})
	for _, s := range sums {
		all.d += s.d
		all.dd += s.dd
		all.dn += s.dn
	}
	for n := uint64(1); n < levels; n++ {
		pairs, distance := levels-n, n
		if c.Circular() {
			distance = min(n, levels-n)
		}
		all.pairs += pairs
		all.n += pairs * distance
		all.nn += pairs * distance * distance
	}
	return all, err
}

// turnedSums sets Σ distance·(way along the circle), pair by pair, in the place of the sums over columns.
func (c *Code) turnedSums(ctx context.Context, workers int, sums []pairSums) error {
	rows := make([]uint64, c.levels)
	err := each(ctx, workers, c.levels, func(i int) {
		for j := range i {
			rows[i] += uint64(c.Distance(i, j)) * uint64(min(i-j, c.levels-i+j))
		}
	})
	for k := range sums {
		sums[k].dn = 0
	}
	for _, v := range rows {
		sums[0].dn += v
	}
	return err
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

// EqualColumns returns the groups of columns, from 0, that are equal: those of two or more, by their
// first column.
func (c *Code) EqualColumns() (groups [][]int) {
	var all [][]int
	at := map[string]int{} // the number of a group, by its transitions and its first bit
	for k, levels := range c.Transitions() {
		key := fmt.Sprint(c.Bit(0, k), levels)
		g, ok := at[key]
		if !ok {
			g = len(all)
			at[key], all = g, append(all, nil)
		}
		all[g] = append(all[g], k)
	}
	return slices.DeleteFunc(all, func(g []int) bool { return len(g) < 2 })
}

// Words returns the code words as texts of 0 and 1, one for each level, bit 1 first. The
// error is the context's.
func (c *Code) Words(ctx context.Context) ([]string, error) {
	words := make([]string, c.Levels())
	text := make([]byte, c.Bits())
	for i := range words {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		for k := range text {
			text[k] = '0'
			if c.Bit(i, k) {
				text[k] = '1'
			}
		}
		words[i] = string(text)
	}
	return words, nil
}
