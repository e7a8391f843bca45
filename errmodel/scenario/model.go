package scenario

import (
	"context"
	"fmt"
	"sync"

	"gonum.org/v1/gonum/mat"

	"belsim/errmodel"
	"belsim/theory/base/arrayfile"
	"belsim/theory/base/memory"
	"belsim/theory/code"
)

// Model gives the error probabilities of the classifiers of any code.
type Model interface {
	// Errors returns the L × M table e[n,k] of a code. The error wraps *errmodel.InvalidError where the
	// model gives the code a probability above 1.
	Errors(ctx context.Context, c *code.Code) (mat.Matrix, error)
	// Parameters are the model's parameters, as results show them.
	Parameters() Parameters
	// String describes the model for people, such as "r = 0.5, σ = 3".
	String() string
	// Assumption says in plain words how bits err under the model.
	Assumption() string
}

// Parameters are the parameters of an error model in results. A nil pointer stands for a
// parameter that the model does not have.
type Parameters struct {
	R     *float64 `json:"r"`
	Sigma *float64 `json:"sigma"`
}

// Mixture is the Gaussian mixture of Eq. 3 and 4: one Gaussian of weight R and width Sigma,
// in levels, at each bit transition.
type Mixture struct {
	R, Sigma float64
	Path     string // the file of the fit, of a model that was fitted to a network
}

// DefaultMixture is the error model of the commands.
func DefaultMixture() Mixture { return Mixture{R: 0.5, Sigma: 3} }

// Errors implements Model.
func (m Mixture) Errors(ctx context.Context, c *code.Code) (mat.Matrix, error) {
	positions, err := Transitions(ctx, c)
	if err != nil {
		return nil, err
	}
	p, err := errmodel.NewProfile(ctx, c, positions, m.Sigma)
	if err != nil {
		return nil, err
	}
	e, err := p.Mixture(m.R)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", c.Name(), err)
	}
	return e, nil
}

// Transitions returns the levels after which the bits of a code change, unless they are too many
// for the memory.
func Transitions(ctx context.Context, c *code.Code) ([][]int, error) {
	if err := memory.Check(fmt.Sprintf("the list of the bit transitions of %s", c.Name()),
		8*int64(c.TransitionCount())); err != nil {
		return nil, err
	}
	return c.TransitionsContext(ctx)
}

// Parameters implements Model.
func (m Mixture) Parameters() Parameters { return Parameters{R: &m.R, Sigma: &m.Sigma} }

// String implements Model.
func (m Mixture) String() string {
	if m.Path != "" {
		return fmt.Sprintf("r = %.4g, σ = %.4g from %s", m.R, m.Sigma, m.Path)
	}
	return fmt.Sprintf("r = %g, σ = %g", m.R, m.Sigma)
}

// Assumption implements Model.
func (Mixture) Assumption() string {
	return "bits err independently, near their transitions, with the same r and σ for every code"
}

// Table is a table of error probabilities in a file, .csv or .npy, of L × M numbers.
type Table struct {
	path string
	read func() (*mat.Dense, error)
}

// NewTable returns the table in a file, which is read once, when it is needed.
func NewTable(path string) Table {
	return Table{path, sync.OnceValues(func() (*mat.Dense, error) { return arrayfile.ReadFile(path) })}
}

// of is the table for codes of so many levels and bits; 0 for any number of these.
func (t Table) of(levels, bits int) (*mat.Dense, error) {
	e, err := t.read()
	if err != nil {
		return nil, fmt.Errorf("reading error probabilities: %w", err)
	}
	return e, errmodel.CheckTable(t.path, e, levels, bits)
}

// Errors implements Model.
func (t Table) Errors(_ context.Context, c *code.Code) (mat.Matrix, error) { return t.of(c.Dims()) }

// Levels returns the number of rows of the table; 0 where it cannot be read, which Errors says.
func (t Table) Levels() int {
	e, err := t.read()
	if err != nil {
		return 0
	}
	return e.RawMatrix().Rows
}

// Parameters implements Model.
func (Table) Parameters() Parameters { return Parameters{} }

// String implements Model.
func (t Table) String() string { return "e from " + t.path }

// Assumption implements Model.
func (Table) Assumption() string {
	return "bits err independently, with the probabilities of the table"
}

// Random draws the error probabilities uniformly from 0 to 1, as the paper's check of its
// bounds does.
type Random struct{ Seed uint64 }

// Errors implements Model.
func (m Random) Errors(_ context.Context, c *code.Code) (mat.Matrix, error) {
	if err := memory.Check("a random table of error probabilities", int64(c.Levels())*int64(c.Bits())*8); err != nil {
		return nil, err
	}
	return errmodel.Random(c.Levels(), c.Bits(), m.Seed), nil
}

// Parameters implements Model.
func (Random) Parameters() Parameters { return Parameters{} }

// String implements Model.
func (Random) String() string { return "e uniform on [0, 1)" }

// Assumption implements Model.
func (Random) Assumption() string { return "bits err independently, with random probabilities" }
