package montecarlo

import (
	"math"

	"belsim/theory/cost"
	"belsim/theory/decode"
)

// tally counts the samples of a block of a row: their errors in sums, their answers where these are
// counted, and their costs where these are added up.
type tally struct {
	Sums
	label  float64 // level of the row, from 1
	circle float64 // the number of levels on a circle; 0 on a line

	counts []uint64 // memory of Sums.Answers
	lowest float64  // the first of the answers

	cost                cost.Cost // of real answers
	largest             float64   // the largest cost of the row; 0 where no costs are added up
	costSum, costSquare float64   // of cost/largest, over the block
}

// begin makes the tally that of a block of a row.
func (t *tally) begin(p *Problem, row int) {
	t.Sums = Sums{Fraction: p.Fraction()}
	t.label, t.circle, t.largest = float64(row+1), 0, 0
	if p.Cost.OnCircle() {
		t.circle = float64(p.Code.Levels())
	}
	lo, hi := decode.Range(p.Code, p.Decoder)
	if p.counted() {
		t.lowest = float64(lo)
		t.counts = sized(t.counts, p.answers())
		clear(t.counts)
		t.Answers = t.counts
	}
	if p.adds() {
		t.cost, t.largest, t.costSum, t.costSquare = p.Cost, p.Cost.Largest(row+1, lo, hi), 0, 0
	}
}

// end puts the costs of the block into the sums. They are added up in the order of the samples, and
// blocks as integers, so that their order changes nothing.
func (t *tally) end() {
	if t.largest > 0 {
		t.Cost, t.CostSquare = fixedOf(t.costSum), fixedOf(t.costSquare)
	}
}

// place is the index of an answer in Sums.Answers.
func (t *tally) place(answer float64) int { return decode.Nearest(answer) - int(t.lowest) }

// add adds n samples with the same error, decoded − label.
func (t *tally) add(err int, n uint64) {
	if t.Answers != nil {
		t.Answers[t.place(t.label+float64(err))] += n
	}
	err = max(err, -err)
	t.Samples += n
	t.Abs += n * uint64(err)
	t.Square += n * uint64(err) * uint64(err)
}

// real adds a sample that is decoded to a real number.
func (t *tally) real(decoded float64) {
	err := math.Abs(decoded - t.label)
	if t.circle > 0 {
		err = min(err, math.Abs(t.circle-err))
	}
	t.Samples++
	t.Abs += t.units(err)
	t.Square += t.units(err * err)
	if t.Answers != nil {
		t.Answers[t.place(decoded)]++
	}
	if t.largest > 0 {
		c := t.cost.Of(int(t.label), decoded) / t.largest
		t.costSum += c
		t.costSquare += float64(c * c)
	}
}
