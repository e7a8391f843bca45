package verify

import (
	"context"
	"fmt"

	"gonum.org/v1/gonum/mat"

	"belsim/montecarlo/scenario"
	"belsim/theory/anylaw"
	"belsim/theory/base/inputfile"
	"belsim/theory/base/memory"
	"belsim/theory/base/table"
	"belsim/theory/code"
)

// Together is a set of bits that err together under a law.
type Together struct {
	// bits that err, from 1; no others do
	Bits []int `json:"bits"`
	// how probable it is that these bits err, and no others
	Probability float64 `json:"probability"`
}

func together(law anylaw.Law) (out []Together) {
	for _, p := range law {
		bits := make([]int, len(p.Bits))
		for b, k := range p.Bits {
			bits[b] = k + 1
		}
		out = append(out, Together{bits, p.Probability})
	}
	return out
}

// Laws is the error model of bits that err together: each level by its most_law in a file that
// verify wrote as JSON.
type Laws struct{ Path string }

// mostLaws is the largest file of laws that is read, in bytes.
const mostLaws = 1 << 28

// report reads what verify wrote. Its laws count, and its size.
func (t Laws) report() (*Report, error) {
	text, err := inputfile.Read(t.Path, mostLaws)
	if err != nil {
		return nil, fmt.Errorf("reading a joint law: %w", err)
	}
	v := new(Report)
	if err := table.ReadJSON(text, v); err != nil {
		return nil, fmt.Errorf("%s: %w; want what verify wrote as JSON", t.Path, err)
	}
	return v, nil
}

// Errors implements scenario.Model: an *anylaw.Table. Every level whose weight is above zero has a
// law.
func (t Laws) Errors(_ context.Context, c *code.Code, weights []float64) (mat.Matrix, error) {
	v, err := t.report()
	if err != nil {
		return nil, err
	}
	if len(v.Labels) != c.Levels() || v.Bits != c.Bits() {
		return nil, fmt.Errorf("%s: laws of %d levels and %d bits, but %s has %d and %d", t.Path, len(v.Labels), v.Bits,
			c.Name(), c.Levels(), c.Bits())
	}
	if err := memory.Check(t.Path, memory.Product(len(v.Labels), v.Bits, 8)); err != nil {
		return nil, err
	}
	laws := make([]anylaw.Law, len(v.Labels))
	for i, l := range v.Labels {
		switch {
		case l.Level != i+1:
			return nil, fmt.Errorf("%s: level %d stands at the place of level %d", t.Path, l.Level, i+1)
		case l.Most == nil && weights[i] > 0:
			return nil, fmt.Errorf("%s: there is no most_law at level %d", t.Path, i+1)
		case l.Most != nil:
			laws[i] = anylaw.Law{}
		}
		for _, p := range l.Most {
			bits := make([]int, len(p.Bits))
			for b, k := range p.Bits {
				bits[b] = k - 1
			}
			laws[i] = append(laws[i], anylaw.Pattern{Bits: bits, Probability: p.Probability})
		}
	}
	out, err := anylaw.NewTable(v.Bits, laws)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", t.Path, err)
	}
	return out, nil
}

// Levels returns the number of levels in the file; 0 where it cannot be read, which Errors says.
func (t Laws) Levels() int {
	v, err := t.report()
	if err != nil {
		return 0
	}
	return len(v.Labels)
}

// Columns implements scenario.ColumnModel: there are none.
func (t Laws) Columns(_, _ int) (scenario.Columns, error) {
	return scenario.Columns{}, fmt.Errorf(
		"%s: a joint law is of one code; want a table of error probabilities, .csv or .npy", t.Path)
}

// Parameters implements scenario.Model.
func (Laws) Parameters() scenario.Parameters { return scenario.Parameters{} }

// String implements scenario.Model.
func (t Laws) String() string { return "most_law of " + t.Path }

// Assumption implements scenario.Model.
func (Laws) Assumption() string {
	return "bits err together, by the joint law of each level in the file"
}
