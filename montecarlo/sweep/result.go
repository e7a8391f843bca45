package sweep

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"

	"belsim/montecarlo"
	"belsim/montecarlo/scenario"
)

// Result is the result of a piece, and a line of a result file. Equal results are equal bytes.
type Result struct {
	ID       string      `json:"id"` // of the task
	Part     int         `json:"part"`
	Invalid  bool        `json:"invalid,omitempty"`  // r and σ give a probability above 1: there are no numbers
	Value    *float64    `json:"value,omitempty"`    // for a bound or an exact value: the mean |error|, in levels
	Reached  *bool       `json:"reached,omitempty"`  // whether the target relative error was reached
	Fraction *uint8      `json:"fraction,omitempty"` // of the sums, as montecarlo.Sums has it
	Sums     [][5]uint64 `json:"sums,omitempty"`     // level from 1, samples, Σ|error|, Σ error², samples within θ
}

// result is the result of a piece without its numbers.
func (s *Sweep) result(p Piece) Result { return Result{ID: s.ids[p.Task].String(), Part: p.Part} }

// sampled is the result of a piece with sums for each row of its code.
func (s *Sweep) sampled(p Piece, sums []montecarlo.Sums, reached bool) Result {
	r := s.result(p)
	r.Fraction = new(uint8)
	for row, x := range sums {
		*r.Fraction = max(*r.Fraction, x.Fraction)
		if x.Samples > 0 {
			r.Sums = append(r.Sums, [5]uint64{uint64(row + 1), x.Samples, x.Abs, x.Square, x.Within})
		}
	}
	if s.RelErr > 0 {
		r.Reached = &reached
	}
	return r
}

// line is the line of a result, with its line break.
func (r Result) line() ([]byte, error) {
	text, err := json.Marshal(r)
	return append(text, '\n'), err
}

// finished is a line of a result file that has been checked.
type finished struct {
	Piece
	Result
	sums []montecarlo.Sums // by row; nil where the piece was not sampled
	text []byte            // valid until the next line is read
}

// read reads a line. It checks that the piece is one of this sweep, and that the method and the
// number of samples are right.
func (s *Sweep) read(text []byte) (finished, error) {
	f := finished{text: text}
	var id ID
	if err := json.Unmarshal(text, &f.Result); err != nil {
		return f, fmt.Errorf("is no result of a cell: %w", err)
	}
	if raw, err := hex.DecodeString(f.ID); err != nil || copy(id[:], raw) < len(id) {
		return f, fmt.Errorf("%q is no ID of a cell", f.ID)
	}
	task, ok := s.find(id)
	switch {
	case !ok:
		return f, fmt.Errorf("%s is no cell of this plan", id)
	case f.Result.Part < 0 || f.Result.Part >= s.Parts(task):
		return f, fmt.Errorf("%s: part %d of %d, from 0", s.describe(task), f.Result.Part, s.Parts(task))
	}
	f.Piece = Piece{task, f.Result.Part}
	want, method := s.result(f.Piece), s.Task(task).Method
	switch {
	case f.Invalid:
		want.Invalid = true
	case method == scenario.Sample:
		var err error
		if f.sums, err = s.sums(f.Piece, f.Result); err != nil {
			return f, fmt.Errorf("%s: %w", s.describe(task), err)
		}
		want = s.sampled(f.Piece, f.sums, f.Reached != nil && *f.Reached)
	default:
		want.Value = f.Value
	}
	if line, err := want.line(); err != nil || !bytes.Equal(line, text) || method != scenario.Sample && !f.Invalid && f.Value == nil {
		return f, fmt.Errorf("%s: is not a result by method %s", s.describe(task), method)
	}
	return f, nil
}

// sums returns the sums of a piece by row, and checks their numbers of samples.
func (s *Sweep) sums(p Piece, r Result) ([]montecarlo.Sums, error) {
	if r.Fraction == nil || *r.Fraction > 32 {
		return nil, errors.New("no fraction of the sums")
	}
	out := make([]montecarlo.Sums, s.Pairs[s.Task(p.Task).Pair].Levels)
	for _, n := range r.Sums {
		if n[0] < 1 || n[0] > uint64(len(out)) || out[n[0]-1].Samples > 0 {
			return nil, fmt.Errorf("sums of level %d, of %d levels", n[0], len(out))
		}
		if n[4] > n[1] {
			return nil, fmt.Errorf("level %d: %d of %d samples are within θ", n[0], n[4], n[1])
		}
		out[n[0]-1] = montecarlo.Sums{Samples: n[1], Abs: n[2], Square: n[3], Within: n[4], Fraction: *r.Fraction}
	}
	want := make([]uint64, len(out))
	for _, span := range s.Spans(p) {
		want[span.Row] += span.Samples
	}
	for row, x := range out {
		if s.RelErr > 0 {
			if (s.priors[len(out)][row] > 0) != (x.Samples > 0) || x.Samples > s.MaxSamples {
				return nil, fmt.Errorf("level %d has %d samples", row+1, x.Samples)
			}
		} else if x.Samples != want[row] {
			return nil, fmt.Errorf("level %d has %d samples; want %d", row+1, x.Samples, want[row])
		}
	}
	return out, nil
}
