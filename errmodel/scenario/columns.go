package scenario

import (
	"gonum.org/v1/gonum/mat"

	"belsim/errmodel"
)

// ColumnModel is implemented by models that give the error probabilities of single bits. A
// search changes a code bit by bit; with such a model it computes only the bits that have
// changed.
type ColumnModel interface {
	Model
	// Columns prepares the model for codes of L levels, on a circle where they are circular. bits is
	// the number of bits M that the codes will have; 0 stands for any number.
	Columns(levels int, circular bool, bits int) (Columns, error)
}

// Columns are the error probabilities that a model gives to the bits of codes that change.
type Columns struct {
	// Of sets dst, of length L, to e[·,k] of bit k, from 0, whose transitions come after
	// the given levels, ascending and from 1. A value above 1 says that the model is
	// invalid for the code. It is safe for concurrent use.
	Of func(dst []float64, k int, transitions []int)
	// Bits is the number of bits M that every code must have; 0 stands for any number.
	Bits int
	// Model gives the same error probabilities for whole codes.
	Model Model
}

// Columns implements ColumnModel.
func (m Mixture) Columns(levels int, circular bool, _ int) (Columns, error) {
	columns, err := errmodel.NewMixtureColumns(levels, circular, m.R, m.Sigma)
	if err != nil {
		return Columns{}, err
	}
	return Columns{Of: func(dst []float64, _ int, transitions []int) { columns.Column(dst, transitions) },
		Model: m}, nil
}

// Columns implements ColumnModel. It reads the file.
func (t Table) Columns(levels int, _ bool, bits int) (Columns, error) {
	e, err := errmodel.ReadTable(t.Path, levels, bits)
	if err != nil {
		return Columns{}, err
	}
	return Columns{
		Of:    func(dst []float64, k int, _ []int) { mat.Col(dst, k, e) },
		Bits:  e.RawMatrix().Cols,
		Model: Table{t.Path, e},
	}, nil
}
