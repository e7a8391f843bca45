package sweep

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"

	"belsim/montecarlo"
	"belsim/montecarlo/scenario"
)

// Result is the result of a piece.
type Result struct {
	Piece
	Invalid bool    // r and σ give a probability above 1: there are no numbers
	Value   float64 // for a bound or an exact value: the mean |error|, in levels
	Reached bool    // whether the target relative error was reached
	Sums    []montecarlo.Sums
}

// key identifies a piece in any order of the plan.
type key struct {
	id   ID
	part int
}

// A result is one line of JSON, always written the same way, so that equal results are
// equal bytes:
//
//	{"id":"…","part":0,"invalid":true}
//	{"id":"…","part":0,"value":1.25}
//	{"id":"…","part":0,"fraction":0,"sums":[[level,samples,abs,square,within],…]}
//	{"id":"…","part":0,"reached":true,"fraction":0,"sums":[…]}

// encode returns the line of a result, with its line break.
func (s *Sweep) encode(r Result) []byte {
	b := append([]byte(`{"id":"`), s.ids[r.Task].String()...)
	b = append(b, `","part":`...)
	b = strconv.AppendInt(b, int64(r.Part), 10)
	switch {
	case r.Invalid:
		b = append(b, `,"invalid":true`...)
	case r.Sums == nil:
		b = append(b, `,"value":`...)
		if math.IsNaN(r.Value) || math.IsInf(r.Value, 0) {
			b = append(b, "null"...)
		} else {
			b = strconv.AppendFloat(b, r.Value, 'g', -1, 64)
		}
	default:
		if s.RelErr > 0 {
			b = append(b, `,"reached":`...)
			b = strconv.AppendBool(b, r.Reached)
		}
		var fraction uint8
		for _, x := range r.Sums {
			fraction = max(fraction, x.Fraction)
		}
		b = append(b, `,"fraction":`...)
		b = strconv.AppendUint(b, uint64(fraction), 10)
		b = append(b, `,"sums":[`...)
		separator := "["
		for row, x := range r.Sums {
			if x.Samples == 0 {
				continue
			}
			b = append(b, separator...)
			b = strconv.AppendInt(b, int64(row+1), 10)
			for _, n := range [...]uint64{x.Samples, x.Abs, x.Square, x.Within} {
				b = append(b, ',')
				b = strconv.AppendUint(b, n, 10)
			}
			b = append(b, ']')
			separator = ",["
		}
		b = append(b, ']')
	}
	return append(b, "}\n"...)
}

// line is the JSON form of a result.
type line struct {
	ID       string      `json:"id"`
	Part     *int        `json:"part"`
	Invalid  bool        `json:"invalid"`
	Value    *float64    `json:"value"`
	Reached  *bool       `json:"reached"`
	Fraction *uint8      `json:"fraction"`
	Sums     [][5]uint64 `json:"sums"`
}

// keyOf reads the key of the piece at the beginning of a line.
func keyOf(text []byte) (key, error) {
	const before, between = `{"id":"`, `","part":`
	wrong := errors.New("is no result of a cell")
	rest, ok := bytes.CutPrefix(text, []byte(before))
	if !ok || len(rest) < 32+len(between) {
		return key{}, wrong
	}
	var k key
	if _, err := hex.Decode(k.id[:], rest[:32]); err != nil {
		return key{}, wrong
	}
	rest, ok = bytes.CutPrefix(rest[32:], []byte(between))
	digits, _, found := bytes.Cut(rest, []byte(","))
	part, err := strconv.Atoi(string(digits))
	if !ok || !found || err != nil {
		return key{}, wrong
	}
	k.part = part
	return k, nil
}

// decode reads a line and checks that it is a result of this sweep: the task belongs to the
// sweep, and the method and the number of samples are right.
func (s *Sweep) decode(text []byte) (Result, error) {
	k, err := keyOf(text)
	if err != nil {
		return Result{}, err
	}
	piece, err := s.piece(k)
	if err != nil {
		return Result{}, err
	}
	var l line
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&l); err != nil {
		return Result{}, fmt.Errorf("%s: %w", s.describe(piece.Task), err)
	}
	r := Result{Piece: piece, Invalid: l.Invalid, Value: math.NaN()}
	task := s.Task(piece.Task)
	if !l.Invalid && task.Method == scenario.Sample {
		r.Sums, err = s.sums(piece, l)
		if err != nil {
			return Result{}, fmt.Errorf("%s: %w", s.describe(piece.Task), err)
		}
		r.Reached = l.Reached != nil && *l.Reached
	}
	if l.Value != nil {
		r.Value = *l.Value
	}
	// A correct line is equal to the line that encode writes.
	if !bytes.Equal(s.encode(r), text) {
		return Result{}, fmt.Errorf("%s: is not a result by method %s", s.describe(piece.Task), task.Method)
	}
	return r, nil
}

// piece returns the piece of a key.
func (s *Sweep) piece(k key) (Piece, error) {
	task, ok := s.find(k.id)
	switch {
	case !ok:
		return Piece{}, fmt.Errorf("%s is no cell of this plan", k.id)
	case k.part < 0 || k.part >= s.Parts(task):
		return Piece{}, fmt.Errorf("%s: part %d of %d, from 0", s.describe(task), k.part, s.Parts(task))
	}
	return Piece{task, k.part}, nil
}

// sums reads the sums of a piece.
func (s *Sweep) sums(piece Piece, l line) ([]montecarlo.Sums, error) {
	pair := s.Task(piece.Task).Pair
	if l.Fraction == nil || *l.Fraction > 32 {
		return nil, errors.New("no fraction of the sums")
	}
	out := make([]montecarlo.Sums, s.Pairs[pair].Levels)
	for _, n := range l.Sums {
		if n[0] < 1 || n[0] > uint64(len(out)) || out[n[0]-1].Samples > 0 {
			return nil, fmt.Errorf("sums of level %d, of %d levels", n[0], len(out))
		}
		if n[4] > n[1] {
			return nil, fmt.Errorf("level %d: %d of %d samples are within θ", n[0], n[4], n[1])
		}
		out[n[0]-1] = montecarlo.Sums{Samples: n[1], Abs: n[2], Square: n[3], Within: n[4], Fraction: *l.Fraction}
	}
	want := make([]uint64, len(out))
	for _, span := range s.Spans(piece) {
		want[span.Row] += span.Samples
	}
	for row := range out {
		if s.RelErr > 0 {
			if sampled := s.priors[len(out)][row] > 0; sampled != (out[row].Samples > 0) || out[row].Samples > s.MaxSamples {
				return nil, fmt.Errorf("level %d has %d samples", row+1, out[row].Samples)
			}
		} else if out[row].Samples != want[row] {
			return nil, fmt.Errorf("level %d has %d samples; want %d", row+1, out[row].Samples, want[row])
		}
	}
	return out, nil
}
