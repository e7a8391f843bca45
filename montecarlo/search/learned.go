package search

import (
	"context"
	"math"

	"belsim/errmodel/observed"
	"belsim/errmodel/perceived"
	"belsim/theory/code"
)

// Learned says which networks learn the codes of a search.
type Learned struct {
	Model perceived.Model
	// Read returns the decoder of a code, and whether it reads logits.
	Read func(c *code.Code) (observed.Decoding, error)
}

// settler is implemented by evaluators whose updates are approximations.
type settler interface {
	// settle evaluates the matrix of the last update exactly.
	settle() (float64, error)
}

// nodesPerSample is the number of quadrature nodes of a forecast for each of the samples of a level that
// other evaluators take.
const nodesPerSample = 2

// learned is the evaluator of codes that networks learn. An update learns the changed columns
// only, or follows the change by a few steps (perceived.Learner.Relearn). A code with a column that
// is constant is invalid: such a bit carries nothing, and costs trained networks more than the model
// says.
type learned struct {
	of          *Learned
	prior       []float64
	bits, nodes int

	ctx         context.Context // of the last reset
	learner     *perceived.Learner
	at          *perceived.Nodes
	seed        uint64 // of at
	transitions []int  // scratch
}

func (x *learned) reset(ctx context.Context, w *words, seed uint64) (float64, error) {
	x.ctx = ctx
	var err error
	if x.learner == nil {
		if x.learner, err = x.of.Model.NewLearner(x.prior); err != nil {
			return 0, err
		}
	}
	if x.at == nil || x.seed != seed {
		if x.at, err = perceived.NewNodes(x.nodes, x.prior, x.bits, seed); err != nil {
			return 0, err
		}
		x.seed = seed
	}
	if x.isConstant(w, w.allColumns()) {
		return math.Inf(1), nil
	}
	return x.error(w, func(c *code.Code) (*perceived.Network, error) { return x.learner.Learn(ctx, c) })
}

// isConstant reports whether one of the columns has no transition.
func (x *learned) isConstant(w *words, columns []int) bool {
	for _, k := range columns {
		if x.transitions = w.transitions(x.transitions[:0], k); len(x.transitions) == 0 {
			return true
		}
	}
	return false
}

// error is the error of a matrix as networks learn it.
func (x *learned) error(w *words, learn func(c *code.Code) (*perceived.Network, error)) (float64, error) {
	c, err := w.code("candidate")
	if err != nil {
		return 0, err
	}
	l, err := learn(c)
	if err != nil {
		return 0, err
	}
	return x.expected(l)
}

// expected is the error of what was learnt.
func (x *learned) expected(l *perceived.Network) (float64, error) {
	d, err := x.of.Read(l.Code())
	if err != nil {
		return 0, err
	}
	out, err := x.at.Errors(x.ctx, 1, l, []observed.Decoding{d})
	if err != nil {
		return 0, err
	}
	return out[0], nil
}

func (x *learned) update(w *words, m move, _ float64) (float64, error) {
	if x.isConstant(w, m.columns) {
		x.learner.Keep() // there is nothing to take back
		return math.Inf(1), nil
	}
	return x.error(w, func(c *code.Code) (*perceived.Network, error) { return x.learner.Relearn(x.ctx, c, m.columns) })
}

func (x *learned) reject() { x.learner.Reject() }

func (x *learned) settle() (float64, error) {
	l, err := x.learner.Refresh(x.ctx)
	if err != nil {
		return 0, err
	}
	return x.expected(l)
}
