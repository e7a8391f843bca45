package scenario

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"belsim/errmodel/perceived"
	"belsim/montecarlo"
	"belsim/theory"
	"belsim/theory/code"
	"belsim/theory/decode"
)

// Perceived is the error model of networks that know one number of an input, the perceived label:
// perceived.Model has the equations. Its tables are *perceived.Network. Labels are levels, also of
// networks that learnt from real ones.
type Perceived struct {
	perceived.Model
	Workers int // goroutines that learn; 0: one for each processor. It never changes a number.

	Path string // the file of the fit, of a model that was fitted to a network
}

// Errors implements Model.
func (m Perceived) Errors(ctx context.Context, c *code.Code, prior []float64) (mat.Matrix, error) {
	if err := m.Fits(c); err != nil {
		return nil, err
	}
	l, err := m.Learn(ctx, m.Workers, c, prior)
	if err != nil {
		return nil, err // not a nil network
	}
	return l, nil
}

// Fits refuses codes that cannot be learnt.
func (Perceived) Fits(c *code.Code) error {
	if c.Real() {
		return fmt.Errorf("%s holds real numbers: the model of a perceived label is for codes of zeros and ones",
			c.Name())
	}
	return nil
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

// stratum is the table of error probabilities, L × M, at one part of the law of the perceived
// label.
type stratum struct {
	decode.Network
	levels, bits, part int
}

func (s stratum) Dims() (r, c int) { return s.levels, s.bits }
func (s stratum) T() mat.Matrix    { return mat.Transpose{Matrix: s} }
func (s stratum) At(i, j int) float64 {
	row := make([]float64, s.bits)
	s.RowTo(row, i)
	return row[j]
}

// RowTo sets dst to row i.
func (s stratum) RowTo(dst []float64, i int) {
	s.WrongTo(dst, i, decode.PerceivedLabel(float64(i+1), s.Noise(), s.part))
}

// tablesOf are the tables of error probabilities e of a code, given which bits err independently:
// one, or one for each part of the law of a perceived label. They have the same weight.
func tablesOf(c *code.Code, e mat.Matrix) []mat.Matrix {
	n, ok := e.(decode.Network)
	if !ok {
		return []mat.Matrix{e}
	}
	out := make([]mat.Matrix, decode.Strata)
	for j := range out {
		out[j] = stratum{n, c.Levels(), c.Bits(), j}
	}
	return out
}

// mostUnion bounds the work of the union bound on hard decisions, L·M² for each level and stratum:
// some seconds.
const mostUnion = 1 << 22

// labelBound gives a bound of row i of a code at a perceived label.
type labelBound func(ctx context.Context, i int, perceived float64) (float64, error)

// perceivedBound is BoundOf at a perceived label: the mean of a bound over its strata.
func perceivedBound(p *montecarlo.Problem) (*Mean, error) {
	c, d := p.Code, p.Decoder
	_, gen := d.(decode.Gen)
	name, at := "union bound on logits", logitBound
	switch {
	case p.Kind.Hard() && gen && c.Levels()*c.Bits()*c.Bits() > mostUnion:
		return nil, fmt.Errorf("%w: the union bound at the perceived labels of %s takes too long",
			theory.ErrNoClosedForm, c.Name())
	case p.Kind.Hard():
		b, err := theory.NewBound(c, d)
		if err != nil {
			return nil, err
		}
		name, at = b.Name, func(c *code.Code, n decode.Network) labelBound { return hardBound(b, c, n, gen) }
	case !gen:
		return nil, fmt.Errorf("%w: no bound for decoder %s on logits", theory.ErrNoClosedForm, d.Name())
	}
	return newBound(name, false, func(e mat.Matrix) (rowBound, error) {
		n, ok := e.(decode.Network)
		if !ok {
			return nil, fmt.Errorf("%T is no table of a perceived label", e)
		}
		bound := at(c, n)
		return func(ctx context.Context, i int) (float64, error) {
			sum := 0.0
			for j := range decode.Strata {
				v, err := bound(ctx, i, decode.PerceivedLabel(float64(i+1), n.Noise(), j))
				if err != nil {
					return 0, err
				}
				sum += min(v, theory.Largest(c, d, i))
			}
			return sum / decode.Strata, nil
		}, nil
	}), nil
}

// hardBound makes a bound b on hard decisions one at a perceived label. With r the level that is
// nearest to it, |error| ≤ |r−n| + |answer − r|, and the bits are nearly those of the word of r.
// For gen, whose bound adds up pairs of words, the bound of row r is taken. Of other bounds the
// smaller one counts.
func hardBound(b *theory.Bound, c *code.Code, n decode.Network, gen bool) labelBound {
	e := make([]float64, c.Bits())
	at := func(ctx context.Context, i int, perceived float64) (float64, error) {
		n.WrongTo(e, i, perceived)
		return b.Row(ctx, i, e)
	}
	return func(ctx context.Context, i int, perceived float64) (float64, error) {
		r := min(max(int(math.Round(perceived)), 1), c.Levels()) - 1
		nearest, err := at(ctx, r, perceived)
		if err != nil {
			return 0, err
		}
		nearest += math.Abs(float64(r - i))
		if gen || r == i {
			return nearest, nil
		}
		direct, err := at(ctx, i, perceived)
		return min(nearest, direct), err
	}
}

// logitBound is the bound of gen on logits at a perceived label.
func logitBound(c *code.Code, n decode.Network) labelBound {
	sd, mean := n.ResidualSD(), make([]float64, c.Bits())
	return func(ctx context.Context, i int, perceived float64) (float64, error) {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		n.Logits(mean, perceived)
		return theory.LogitUnionBound(c, i, mean, sd), nil
	}
}
