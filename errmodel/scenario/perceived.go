package scenario

import (
	"context"
	"fmt"

	"gonum.org/v1/gonum/mat"

	"belsim/errmodel/perceived"
	"belsim/theory/code"
)

// Perceived is the error model of networks that know one number of an input, the perceived label:
// perceived.Model has the equations. Labels are levels, also of networks that learnt from real ones.
type Perceived struct {
	perceived.Model
	Path string // the file of the fit, of a model that was fitted to a network
}

// Errors implements Model: there is no table, because bits do not err independently.
func (m Perceived) Errors(context.Context, *code.Code, []float64) (mat.Matrix, error) {
	return nil, fmt.Errorf("%s: networks have no table of error probabilities", m)
}

// Parameters implements Model.
func (m Perceived) Parameters() Parameters {
	p := Parameters{LabelNoise: &m.Noise, Misfit: &m.Misfit}
	if m.Cutoff > 0 {
		p.Cutoff = &m.Cutoff
	}
	return p
}

// String implements Model.
func (m Perceived) String() string {
	text := fmt.Sprintf("label noise %.4g, misfit %.4g", m.Noise, m.Misfit)
	if m.Path != "" {
		text = fmt.Sprintf("perceived label, s = %.4g levels, from %s, misfit %.4g", m.Noise, m.Path, m.Misfit)
	}
	if m.Cutoff > 0 {
		text += fmt.Sprintf(", cutoff %.4g", m.Cutoff)
	}
	if m.Training != "" {
		text += ", trained with " + m.Training.Loss()
	}
	return text
}

// Assumption implements Model.
func (Perceived) Assumption() string { return "networks know one noisy label, the same for every code" }

// trainingOf is the training of a model's networks, and "" where it has none.
func trainingOf(m Model) perceived.Training {
	if p, ok := m.(Perceived); ok {
		return p.Training
	}
	return ""
}
