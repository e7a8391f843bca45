package sweep

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"regexp"
	"strconv"

	"belsim/montecarlo"
	"belsim/montecarlo/scenario"
)

// Result is the result of a piece, and a line of a result file. Equal results are equal bytes.
type Result struct {
	ID       ID          `json:"id"` // of the task
	Part     int         `json:"part"`
	Invalid  bool        `json:"invalid,omitempty"`  // r and σ give a probability above 1: there are no numbers
	Value    *value      `json:"value,omitempty"`    // for a bound or an exact value: the mean |error|, in levels
	Reached  *bool       `json:"reached,omitempty"`  // whether the target relative error was reached
	Fraction *uint8      `json:"fraction,omitempty"` // of the sums, as montecarlo.Sums has it
	Sums     [][5]uint64 `json:"sums,omitempty"`     // level from 1, samples, Σ|error|, Σ error², samples within θ
}

// value is a number of a result file; null where it is not finite.
type value float64

// MarshalJSON implements json.Marshaler.
func (v value) MarshalJSON() ([]byte, error) {
	if math.IsNaN(float64(v)) || math.IsInf(float64(v), 0) {
		return []byte("null"), nil
	}
	return strconv.AppendFloat(nil, float64(v), 'g', -1, 64), nil
}

// result is the result of a piece without its numbers.
func (s *Sweep) result(p Piece) Result { return Result{ID: s.ids[p.Task], Part: p.Part} }

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

// lineStart is how every line of a result begins.
var lineStart = regexp.MustCompile(`^\{"id":"([0-9a-f]{32})","part":([0-9]{1,9}),`)

// pieceOf returns the piece of a line.
func (s *Sweep) pieceOf(line []byte) (Piece, error) {
	found := lineStart.FindSubmatch(line)
	if found == nil {
		return Piece{}, errors.New("is no result of a cell")
	}
	var id ID
	hex.Decode(id[:], found[1]) // the pattern takes only hexadecimal digits
	part, _ := strconv.Atoi(string(found[2]))
	task, ok := s.find(id)
	switch {
	case !ok:
		return Piece{}, fmt.Errorf("%s is no cell of this plan", id)
	case part >= s.Parts(task):
		return Piece{}, fmt.Errorf("%s: part %d of %d, from 0", s.describe(task), part, s.Parts(task))
	}
	return Piece{task, part}, nil
}

// decode reads the line of a piece, and returns its sums by row; nil where it has none. It checks
// that the method and the number of samples are right.
func (s *Sweep) decode(p Piece, text []byte) (Result, []montecarlo.Sums, error) {
	var r Result
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&r); err != nil {
		return Result{}, nil, fmt.Errorf("%s: %w", s.describe(p.Task), err)
	}
	method := s.Task(p.Task).Method
	var sums []montecarlo.Sums
	want := s.result(p)
	switch {
	case r.Invalid:
		want.Invalid = true
	case method == scenario.Sample:
		var err error
		if sums, err = s.sums(p, r); err != nil {
			return Result{}, nil, fmt.Errorf("%s: %w", s.describe(p.Task), err)
		}
		want = s.sampled(p, sums, r.Reached != nil && *r.Reached)
	default:
		if want.Value = r.Value; r.Value == nil { // null
			nan := value(math.NaN())
			want.Value = &nan
		}
	}
	if line, err := want.line(); err != nil || !bytes.Equal(line, text) {
		return Result{}, nil, fmt.Errorf("%s: is not a result by method %s", s.describe(p.Task), method)
	}
	return want, sums, nil
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
