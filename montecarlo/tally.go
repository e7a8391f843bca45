package montecarlo

import (
	"math"

	"belsim/theory/decode"
)

// tally counts the samples of a block of a row: their errors in sums, and their answers where these
// are asked for.
type tally struct {
	Sums
	label float64 // level of the row, from 1

	counts       []uint64 // memory of Sums.Answers
	lowest, unit float64  // the first of the answers, and how many of them there are for a level
}

// begin makes the tally that of a block of a row.
func (t *tally) begin(p *Problem, row int) {
	t.Sums = Sums{Fraction: p.Fraction()}
	t.label = float64(row + 1)
	if p.Counts() {
		lo, _ := decode.Range(p.Code, p.Decoder)
		t.lowest, t.unit = float64(lo), float64(uint64(1)<<p.digits())
		t.counts = sized(t.counts, p.answers())
		clear(t.counts)
		t.Answers = t.counts
	}
}

// place is the index of an answer in Sums.Answers.
func (t *tally) place(answer float64) int { return int(math.Round((answer - t.lowest) * t.unit)) }

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
	t.Samples++
	t.Abs += t.units(err)
	t.Square += t.units(err * err)
	if t.Answers != nil {
		t.Answers[t.place(decoded)]++
	}
}
