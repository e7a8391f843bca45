package montecarlo

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"belsim/montecarlo/internal/lanes"
	"belsim/montecarlo/tables"
	"belsim/theory/code"
	"belsim/theory/decode"
)

// posteriorOf returns a decoder that knows the bits of its code, each by itself; nil where it is
// none.
func posteriorOf(d decode.Decoder) *decode.Posterior {
	p, ok := d.(*decode.Posterior)
	if r, real := d.(decode.RealPosterior); real {
		p, ok = r.Posterior, true
	}
	if m := p; ok && !m.Model().Logits && m.Model().Perceived == nil {
		return m
	}
	return nil
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
	code      *code.Code
	word      []uint64 // the likely one
	rows      []int    // candidates
	values    []float64
	base      []float64
	changes   [][]float64 // by bit; empty where it was not asked for
	scores    []float64
	all       []float64 // of all levels
}

func newFlipScorer(c *code.Code, p *decode.Posterior) *flipScorer {
	return &flipScorer{posterior: p, code: c, changes: make([][]float64, c.Bits()), all: make([]float64, c.Levels())}
}

// prepare starts the samples around a word, of which bit k is another one with probability q(k).
func (f *flipScorer) prepare(word []uint64, q func(k int) float64) {
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

// label decodes the likely word with some bits, all different, changed.
func (f *flipScorer) label(flipped []uint16) float64 {
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
	return f.posterior.Rule().Label(f.scores, f.values)
}

// sparsePosterior decodes by the posterior, at some operations for a candidate and a point.
type sparsePosterior struct {
	*flipScorer
	marks   marks
	row     int
	flipped []uint16
}

func sparsePosteriorOf(c *code.Code, d decode.Decoder) (pointDecoder, bool) {
	p := posteriorOf(d)
	if p == nil || decode.Real(d) {
		return nil, false
	}
	return &sparsePosterior{flipScorer: newFlipScorer(c, p), marks: newMarks(c.Bits())}, true
}

func (k *sparsePosterior) prepare(p *tables.Bits) {
	k.row = p.Row
	k.flipScorer.prepare(p.Base, p.Toggled)
}

func (k *sparsePosterior) error(flipped []uint16) int { return int(k.label(flipped)) - (k.row + 1) }

func (k *sparsePosterior) undisturbed() int { return k.error(nil) }

func (k *sparsePosterior) single(bit int) int { return k.error([]uint16{uint16(bit)}) }

func (k *sparsePosterior) add(s *Sums, within int, places []uint16, points int) {
	for ; len(places) > 0; places = places[points:] {
		k.flipped = k.marks.distinct(k.flipped[:0], places[:points])
		s.tally(k.error(k.flipped), within, 1)
	}
}

// signsPosterior reads the signs of logits: for the rule that answers with real numbers.
type signsPosterior struct {
	*flipScorer
	tables  *tables.Logits
	ones    []bool // by drawn bit: what the code word has
	flipped []uint16
}

func signsPosteriorOf(p *Problem) (latentDecoder, bool) {
	d := posteriorOf(p.Decoder)
	if d == nil || p.Code.Bits() <= memoBits || p.Kind != IndependentSigns || p.Continuous {
		return nil, false
	}
	return &signsPosterior{flipScorer: newFlipScorer(p.Code, d)}, true
}

func (h *signsPosterior) prepare(p *tables.Logits) {
	h.tables = p
	word := slices.Clone(h.code.Word(p.Row))
	share := make([]float64, h.code.Bits())
	h.ones = h.ones[:0]
	for a, k := range p.Bits { // the likely word is of the signs of the means
		center := float64(p.Centers[0][a]) / tables.NormalOne
		if one := center > 0; one != (bitAt(word, int(k)) == 1) {
			word[k/64] ^= 1 << (k % 64)
		}
		h.ones = append(h.ones, center > 0)
		share[k] = math.Erfc(math.Abs(center)/math.Sqrt2) / 2
	}
	h.flipScorer.prepare(word, func(k int) float64 { return share[k] })
}

func (h *signsPosterior) add(s *Sums, logits []lanes.Ints, count int, y float64, within int) {
	var labels [lanes.Width]float64
	for i := range count {
		h.flipped = h.flipped[:0]
		for a := range logits {
			if (logits[a][i] > 0) != h.ones[a] {
				h.flipped = append(h.flipped, h.tables.Bits[a])
			}
		}
		labels[i] = h.label(h.flipped)
	}
	s.tallyReal(labels[:count], y, within)
}
