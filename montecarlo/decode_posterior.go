package montecarlo

import (
	"math"

	"gonum.org/v1/gonum/floats"

	"belsim/montecarlo/tables"
	"belsim/theory/code"
	"belsim/theory/decode"
)

// posteriorOf returns a decoder that knows the bits of its code, each by itself, on a line; nil where it
// is none.
func posteriorOf(d decode.Decoder) *decode.Posterior {
	p, ok := d.(*decode.Posterior)
	if !ok || p.Model().Logits || p.Circular() {
		return nil
	}
	return p
}

// flipScorer decodes words that differ from a likely one by few bits. It keeps the scores of the
// candidates for the likely word, and how each bit changes them.
//
// A level m is no candidate where its score stays below the score of the level r that is best for
// the likely word, by the exponent whose weight is 2⁻³⁰/L, with all but the probability 10⁻¹². By
// Markov's inequality for √(e^(S_m−S_r)) it is
//
//	P(S_m − S_r ≥ −t) ≤ e^(t/2)·e^((S_m−S_r)/2)·Π_k (1 − q_k + q_k·e^(δ_k/2))
//
// with the scores of the likely word, the probability q_k that bit k is another one, and the change
// δ_k that it makes.
type flipScorer struct {
	posterior *decode.Posterior
	word      []uint64 // the likely one
	rows      []int    // candidates
	values    []float64
	base      []float64
	changes   [][]float64 // by bit; empty where it was not asked for
	scores    []float64
	all       []float64 // of all levels
}

func newFlipScorer(c *code.Code, p *decode.Posterior) *flipScorer {
	return &flipScorer{posterior: p, changes: make([][]float64, c.Bits()), all: make([]float64, c.Levels())}
}

// start implements flipDecoder.
func (f *flipScorer) start(_ int, word []uint64, q func(k int) float64) {
	f.word = append(f.word[:0], word...)
	f.posterior.BitScoresTo(f.all, word)
	best := floats.MaxIdx(f.all)
	const surely = 27.6 // −ln 10⁻¹²
	threshold := tables.LightScore(len(f.all))
	const tiny = 1e-12 // factors that are so close to 1 are taken for 1
	var bits []int
	var share, harmless []float64
	for k := range f.changes {
		f.changes[k] = f.changes[k][:0]
		if p := q(k); p > 0 {
			bits, share = append(bits, k), append(share, p)
			// Changes below this one make no factor differ from 1.
			limit := math.Inf(-1)
			if p < tiny {
				limit = 2 * math.Log(tiny/p)
			}
			harmless = append(harmless, limit)
		}
	}
	f.rows, f.values, f.base = f.rows[:0], f.values[:0], f.base[:0]
	for m, s := range f.all {
		exponent := (threshold + s - f.all[best]) / 2
		if math.IsInf(s, -1) {
			continue
		}
		for a, k := range bits {
			if change := f.change(m, k) - f.change(best, k); change != 0 && change > harmless[a] {
				if change > 1000 { // of a bit that is impossible, and need not be
					exponent = math.Inf(1)
					break
				}
				exponent += math.Log1p(share[a] * math.Expm1(change/2))
			}
		}
		if exponent >= -surely {
			f.rows, f.values, f.base = append(f.rows, m), append(f.values, float64(m+1)), append(f.base, s)
		}
	}
}

// change is the change of a level's score when bit k is not what the likely word has.
func (f *flipScorer) change(m, k int) float64 {
	if bitAt(f.word, k) == 1 {
		return -f.posterior.BitScore(m, k)
	}
	return f.posterior.BitScore(m, k)
}

// label implements flipDecoder.
func (f *flipScorer) label(flipped []uint16) int {
	f.scores = append(f.scores[:0], f.base...)
	for _, k := range flipped {
		if len(f.changes[k]) == 0 {
			for _, m := range f.rows {
				f.changes[k] = append(f.changes[k], f.change(m, int(k)))
			}
		}
		for a, v := range f.changes[k] {
			f.scores[a] += v
		}
	}
	return int(decode.Median.Label(f.scores, f.values, nil))
}
