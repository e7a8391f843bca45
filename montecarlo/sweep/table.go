package sweep

import (
	"fmt"
	"slices"

	"belsim/errmodel/scenario"
	"belsim/montecarlo"
	"belsim/montecarlo/heatmap"
	"belsim/montecarlo/plane"
)

// Table has the numbers of all cells: what merge writes as JSON. It does not say which command
// made it, because the same bytes come from any number of shards.
type Table struct {
	// a hash of what determines the cells: it is the same for the same numbers
	PlanID string `json:"plan_id"`
	// what determines the cells
	Plan Definition `json:"plan"`
	// a row for each cell, in the order of the plan
	Cells   []CellResult `json:"cells"`
	Version string       `json:"version"`
}

// CellResult is what answers cost in one cell, over the prior: by default |error|, in levels.
type CellResult struct {
	scenario.Design
	plane.Point
	// bound, exact or mc
	Method plane.Method `json:"method"`
	Numbers
}

// Cell returns the row of a cell, from 0.
func (m *Merged) Cell(cell int) CellResult {
	task := m.task(cell)
	p := m.Pairs[task.Pair]
	return CellResult{
		Design: p.Design, Point: task.Point, Method: task.Method, Numbers: m.numbers[cell],
	}
}

// Table returns all cells with the plan. version is the version of the program.
func (m *Merged) Table(version string) *Table {
	out := &Table{PlanID: m.ID, Plan: m.Definition, Cells: make([]CellResult, m.size), Version: version}
	for t := range out.Cells {
		out.Cells[t] = m.Cell(t)
	}
	return out
}

// Map compares the errors of the two pairs of a sweep, by the methods that both have. The error says
// why there is no such map: more or fewer pairs, different numbers of levels, or no method of both.
func (m *Merged) Map() (*heatmap.Map, error) {
	if len(m.Pairs) != 2 {
		return nil, fmt.Errorf("a figure compares two codes, and this sweep has %d, counted with their decoders and "+
			"levels; take .csv or .json", len(m.Pairs))
	}
	a, b := m.Pairs[0], m.Pairs[1]
	if a.Levels != b.Levels {
		return nil, fmt.Errorf("%s has %d levels, and %s has %d: a figure compares codes with the same number of "+
			"levels; take .csv or .json", a.Code, a.Levels, b.Code, b.Levels)
	}
	methods := slices.DeleteFunc(slices.Clone(a.Methods), func(x plane.Method) bool {
		return !slices.Contains(b.Methods, x)
	})
	if len(methods) == 0 {
		return nil, fmt.Errorf("a figure compares two codes by one method: this sweep has %s of %s alone, and %s of %s; "+
			"take .csv or .json", a.Methods, a.Code, b.Methods, b.Code)
	}
	out := heatmap.Empty([2]scenario.Design{a.Design, b.Design}, m.R, m.Sigma)
	out.AddMethods([]string{a.Bound, b.Bound}, methods...)
	out.Temperature, out.Measure = m.Temperature, m.Measure
	for _, method := range methods {
		if method == plane.Sample {
			out.Seed = &m.Seed
		}
		for i := range out.Cells {
			out.Cells[i].Set(method, m.of(0, method, i), m.of(1, method, i))
		}
	}
	return out, nil
}

// of is the error of a pair by a method in the i-th cell of the plane, r the faster.
func (m *Merged) of(pair int, method plane.Method, i int) montecarlo.Overall {
	methods := m.Pairs[pair].Methods
	n := m.numbers[m.first[pair]+i*len(methods)+slices.Index(methods, method)]
	return montecarlo.Overall{Mean: n.Mean, StdErr: n.StdErr}
}
