package sweep

import (
	"context"
	"fmt"
	"io"
	"iter"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"belsim/montecarlo/scenario"
	"belsim/theory/base/arrayfile"
	"belsim/theory/base/table"
)

// ListedPiece is a piece in a list of what a shard computes.
type ListedPiece struct {
	ID      string `json:"id" doc:"ID of the cell, a hash of everything that determines its numbers"`
	Part    int    `json:"part" doc:"part of the cell's samples, from 0"`
	Parts   int    `json:"parts" doc:"number of parts that the cell is cut into"`
	Code    string `json:"code" doc:"name of the code, or its file"`
	Decoder string `json:"decoder" doc:"name of the decoder"`
	Levels  int    `json:"levels" doc:"number of levels L"`
	scenario.Point
	Method scenario.Method `json:"method" doc:"bound, exact or mc"`
}

// List describes pieces. The error of a row is the context's.
func (s *Sweep) List(ctx context.Context, pieces []Piece) iter.Seq2[ListedPiece, error] {
	return rows(ctx, len(pieces), func(i int) ListedPiece {
		p := pieces[i]
		t := s.Task(p.Task)
		pair := s.Pairs[t.Pair]
		return ListedPiece{s.ids[p.Task].String(), p.Part, s.Parts(p.Task), pair.Code, pair.Decoder, pair.Levels, s.Plane.Point(t.X, t.Y), t.Method}
	})
}

// rows yields n rows until the context ends, and its error then.
func rows[R any](ctx context.Context, n int, at func(i int) R) iter.Seq2[R, error] {
	return func(yield func(R, error) bool) {
		for i := range n {
			if !yield(at(i), ctx.Err()) || ctx.Err() != nil {
				return
			}
		}
	}
}

// Table has the numbers of all cells: what merge writes as JSON. It does not say which command
// made it, because the same bytes come from any number of shards.
type Table struct {
	PlanID  string       `json:"plan_id" doc:"a hash of all cells: it is the same for the same numbers"`
	Plan    Definition   `json:"plan" doc:"what determines the cells"`
	Cells   []CellResult `json:"cells" doc:"a row for each cell, in the order of the plan"`
	Version string       `json:"version" doc:"the version of belsim"`
}

// CellResult is the |error| of one cell, in levels, over the prior.
type CellResult struct {
	ID      string           `json:"id" doc:"ID of the cell, a hash of everything that determines its numbers"`
	Code    string           `json:"code" doc:"name of the code, or its file"`
	Decoder string           `json:"decoder" doc:"name of the decoder"`
	Levels  int              `json:"levels" doc:"number of levels L"`
	Bits    int              `json:"bits" doc:"number of bits M"`
	Outputs scenario.Outputs `json:"outputs" doc:"what the decoder reads: bits or logits"`
	scenario.Point
	Method scenario.Method `json:"method" doc:"bound, exact or mc"`
	Numbers
}

// Cell returns the row of task t, from 0.
func (m *Merged) Cell(t int) CellResult {
	task := m.Task(t)
	p := m.Pairs[task.Pair]
	return CellResult{
		ID: m.ids[t].String(), Code: p.Code, Decoder: p.Decoder, Levels: p.Levels, Bits: p.Bits, Outputs: p.Outputs,
		Point: m.Plane.Point(task.X, task.Y), Method: task.Method, Numbers: m.numbers[t],
	}
}

// Cells yields the rows of all cells, in the order of the plan: the lines of the CSV. The error
// of a row is the context's.
func (m *Merged) Cells(ctx context.Context) iter.Seq2[CellResult, error] {
	return rows(ctx, m.Tasks(), m.Cell)
}

// Table returns all cells with the plan. version is the version of the program.
func (m *Merged) Table(version string) *Table {
	out := &Table{PlanID: m.ID, Plan: m.Definition, Cells: make([]CellResult, m.Tasks()), Version: version}
	for t := range out.Cells {
		out.Cells[t] = m.Cell(t)
	}
	return out
}

// WriteNPZ writes the columns of the CSV into an .npz file, as arrays of one dimension. A number
// that does not exist is NaN, or 0 in an array of integers, or false in one of bools. The error
// says which sum is too large for an integer of NumPy.
func (m *Merged) WriteNPZ(ctx context.Context, w io.Writer) error {
	columns, err := table.CSVColumns[CellResult](m.Plane.Missing()...)
	if err != nil {
		return err
	}
	z := arrayfile.NewNPZWriter(w)
	for _, column := range columns {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := m.writeColumn(z, column); err != nil {
			return err
		}
	}
	return z.Close()
}

func (m *Merged) writeColumn(z *arrayfile.NPZWriter, column table.CSVColumn[CellResult]) error {
	values := make([]any, m.Tasks()) // nil where there is none
	for t := range values {
		c := m.Cell(t)
		values[t] = column.Value(&c)
	}
	switch column.Type.Kind() {
	case reflect.String:
		return z.Array(column.Name, each(values, func(v any) string { return fmt.Sprint(v) }))
	case reflect.Bool:
		return z.Array(column.Name, each(values, func(v any) bool { return v == true }))
	case reflect.Float64:
		return z.Array(column.Name, each(values, func(v any) float64 { return v.(float64) }))
	}
	integers := make([]uint64, len(values))
	for t, v := range values {
		if v != nil {
			var err error
			if integers[t], err = strconv.ParseUint(fmt.Sprint(v), 10, 64); err != nil {
				return fmt.Errorf("%s of cell %s is %v, which is too large for an integer of NumPy; a .csv or .json can hold it", column.Name, m.ids[t], v)
			}
		}
	}
	return z.Array(column.Name, integers)
}

// each returns what a function makes of every value.
func each[T any](values []any, of func(v any) T) []T {
	out := make([]T, len(values))
	for i, v := range values {
		out[i] = of(v)
	}
	return out
}

// Map compares the errors of two pairs, which names choose, by a method; "" stands for the
// first method of the first pair. A name is CODE, CODE:DECODER or CODE:DECODER:LEVELS. Without
// names a sweep must have two pairs. The error says why there is no such map: names that fit
// no pair or several, different numbers of levels, or a method that a pair does not have.
func (m *Merged) Map(names []string, method scenario.Method) (*scenario.Map, error) {
	chosen, err := m.choosePairs(names)
	if err != nil {
		return nil, err
	}
	a, b := m.Pairs[chosen[0]], m.Pairs[chosen[1]]
	if a.Levels != b.Levels {
		return nil, fmt.Errorf("%s has %d levels, and %s has %d: a figure compares codes with the same number of levels; take .csv, .json or .npz", a.Code, a.Levels, b.Code, b.Levels)
	}
	if method == "" {
		method = a.Methods[0]
	}
	if !slices.Contains(a.Methods, method) || !slices.Contains(b.Methods, method) {
		return nil, fmt.Errorf("a figure of method %s: this sweep does not have it for both codes", method)
	}
	x, y := m.X(), m.Y()
	out := &scenario.Map{
		A: a.Code, B: b.Code, DecoderA: a.Decoder, DecoderB: b.Decoder, Levels: a.Levels, Method: method,
		Outputs: [2]scenario.Outputs{a.Outputs, b.Outputs},
		Plane:   m.Plane, Axes: scenario.AxesOf(m.Plane, x.Values, y.Values), LogX: x.Logarithmic(), LogY: y.Logarithmic(),
		Reading: m.Reading, Cutoff: m.Cutoff, Training: m.Training,
	}
	if method == scenario.Sample {
		out.Seed = &m.Seed
	}
	for i := range len(x.Values) * len(y.Values) {
		va, vb := m.mean(chosen[0], method, i), m.mean(chosen[1], method, i)
		out.Cells = append(out.Cells, scenario.Cell{
			Point: m.Plane.Point(x.Values[i%len(x.Values)], y.Values[i/len(x.Values)]),
			A:     va, B: vb, Increase: scenario.Increase(va, vb),
		})
	}
	return out, nil
}

// mean is the mean error of a pair by a method in the i-th cell of the plane, r the faster.
func (m *Merged) mean(pair int, method scenario.Method, i int) float64 {
	methods := m.Pairs[pair].Methods
	return m.numbers[m.first[pair]+i*len(methods)+slices.Index(methods, method)].Mean
}

// choosePairs returns the two pairs that names choose.
func (m *Merged) choosePairs(names []string) (chosen [2]int, err error) {
	if len(names) == 0 && len(m.Pairs) == 2 {
		return [2]int{0, 1}, nil
	}
	if len(names) != 2 {
		return chosen, fmt.Errorf("a figure compares two codes, and this sweep has %d, counted with their decoders and levels; want a pair A,B of them, or .csv, .json or .npz", len(m.Pairs))
	}
	for i, name := range names {
		var fits []string
		for k, p := range m.Pairs {
			if full := p.String(); full == name || strings.HasPrefix(full, name+":") {
				chosen[i] = k
				fits = append(fits, full)
			}
		}
		if len(fits) == 0 {
			return chosen, fmt.Errorf("pair of %s: this sweep has no such code; its first is %s", name, m.Pairs[0])
		} else if len(fits) > 1 {
			return chosen, fmt.Errorf("pair of %s: is it %s?", name, strings.Join(fits, " or "))
		}
	}
	if chosen[0] == chosen[1] {
		return chosen, fmt.Errorf("pair %s,%s: want two that differ", names[0], names[1])
	}
	return chosen, nil
}
