package engine

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"path/filepath"
	"strings"

	"gonum.org/v1/gonum/mat"

	"belsim/errmodel/scenario"
	"belsim/montecarlo"
	"belsim/theory"
	"belsim/theory/code"
	"belsim/theory/decode"
)

// maxLevels is the largest number of levels that a page computes: larger codes take seconds a
// move, and the command has no such limit.
const maxLevels = 512

// Scene is the subject of a question: an error model, a prior and a decoder, without the code.
type Scene struct {
	Levels      int     `json:"levels"`
	Decoder     string  `json:"decoder"`
	Outputs     string  `json:"outputs"`
	R           float64 `json:"r"`
	Sigma       float64 `json:"sigma"`
	Prior       Prior   `json:"prior"`
	Temperature float64 `json:"temperature"`
	Seed        uint64  `json:"seed"`
}

// Prior is a prior of the labels: one that has a name, or the counts of a histogram.
type Prior struct {
	Kind   string    `json:"kind"` // uniform, middle, low, high or counts
	Counts []float64 `json:"counts"`
}

// Code is a named code with some bits changed, or a matrix.
type Code struct {
	Name  string   `json:"name"`
	Flips [][2]int `json:"flips"` // levels and bits, from 1, whose value is the other one
	// Of a code that has no name that belsim knows:
	Bits int      `json:"bits"`
	Rows []string `json:"rows"` // a text of 0 and 1 for each level, bit 1 first
}

// scenario is the subject as the libraries take it. It refuses values that a page must not send, or
// that a link may hold.
func (s Scene) scenario() (*scenario.Scenario, error) {
	if s.Levels < code.MinLevels || s.Levels > maxLevels {
		return nil, fmt.Errorf("%d levels: the explorer takes %d to %d; the command has no such limit", s.Levels,
			code.MinLevels, maxLevels)
	}
	if err := decode.CheckTemperature(s.Temperature); err != nil {
		return nil, err
	}
	out := scenario.New(scenario.Mixture{R: s.R, Sigma: s.Sigma})
	out.Outputs, out.Temperature = decode.Outputs(s.Outputs), s.Temperature
	var err error
	out.Prior, err = s.Prior.read(s.Levels)
	return out, err
}

// read is the prior of a number of levels.
func (p Prior) read(levels int) (theory.Prior, error) {
	counts := p.Counts
	switch p.Kind {
	case "", "uniform":
		return theory.Prior{}, nil
	case "counts":
	default:
		shape, ok := shapes[p.Kind]
		if !ok {
			return theory.Prior{}, fmt.Errorf("prior %q: want uniform, middle, low, high or counts", p.Kind)
		}
		counts = make([]float64, levels)
		for i := range counts {
			// Whole numbers, so that the file with the counts gives the same prior.
			counts[i] = math.Round(1000 * shape((float64(i)+0.5)/float64(levels)))
		}
	}
	return theory.Prior{Path: "prior.csv", Histogram: &theory.Histogram{Lowest: 1, Counts: counts}}, nil
}

// shapes are the named priors over the range from 0 to 1, up to a factor.
var shapes = map[string]func(x float64) float64{
	"middle": func(x float64) float64 { return math.Exp(-(x - 0.5) * (x - 0.5) / (2 * 0.15 * 0.15)) },
	"low":    func(x float64) float64 { return math.Exp(-4 * x) },
	"high":   func(x float64) float64 { return math.Exp(-4 * (1 - x)) },
}

// open returns a code of a number of levels.
func (c Code) open(levels int) (*code.Code, error) {
	m, err := c.matrix(levels)
	if err != nil {
		return nil, err
	}
	if whole, ok := m.(*code.Code); ok {
		return whole, nil
	}
	return code.FromMatrix(c.file(), m)
}

// file is the name of the file that holds the code, for those that are not named codes.
func (c Code) file() string {
	if len(c.Rows) > 0 && len(c.Flips) == 0 {
		return c.Name
	}
	name := filepath.Base(c.Name)
	return strings.TrimSuffix(name, filepath.Ext(name)) + "-edited.csv"
}

// matrix is the matrix of a code, whose rows may be equal: bits are changed one by one.
func (c Code) matrix(levels int) (mat.Matrix, error) {
	var m *mat.Dense
	switch {
	case len(c.Rows) > 0:
		if len(c.Rows) != levels || len(c.Rows[0]) == 0 {
			return nil, fmt.Errorf("%s has %d levels; want %d", c.Name, len(c.Rows), levels)
		}
		m = mat.NewDense(levels, len(c.Rows[0]), nil)
		for i, row := range c.Rows {
			if len(row) != len(c.Rows[0]) {
				return nil, fmt.Errorf("%s: level %d has %d bits, and level 1 has %d", c.Name, i+1, len(row),
					len(c.Rows[0]))
			}
			for k, digit := range row {
				if digit == '1' {
					m.Set(i, k, 1)
				}
			}
		}
	default:
		whole, err := code.New(c.Name, levels)
		if err != nil || len(c.Flips) == 0 {
			return whole, err
		}
		m = mat.DenseCopyOf(whole)
	}
	_, bits := m.Dims()
	for _, f := range c.Flips {
		if f[0] < 1 || f[0] > levels || f[1] < 1 || f[1] > bits {
			return nil, fmt.Errorf("%s has no bit %d of level %d", c.Name, f[1], f[0])
		}
		m.Set(f[0]-1, f[1]-1, 1-m.At(f[0]-1, f[1]-1))
	}
	return m, nil
}

// draw is the sampling of n samples of each label.
func (s Scene) draw(n uint64) montecarlo.Sampling {
	d := montecarlo.FixedSampling()
	d.Samples, d.Seed = n, s.Seed
	return d
}

// subject is a code with its decoder and its error probabilities.
type subject struct {
	scenario *scenario.Scenario
	weights  []float64
	problem  *montecarlo.Problem
}

// subject opens everything that a question is about. decoder is used where it is not "".
func (e *Engine) subject(ctx context.Context, s Scene, c Code, decoder string) (*subject, error) {
	sc, err := s.scenario()
	if err != nil {
		return nil, err
	}
	out := &subject{scenario: sc}
	if out.weights, err = sc.Weights(s.Levels); err != nil {
		return nil, err
	}
	decoder = cmp.Or(decoder, s.Decoder)
	out.problem, err = e.kept(fmt.Sprintf("%#v", []any{s, c, decoder}), func() (*montecarlo.Problem, error) {
		c, err := c.open(s.Levels)
		if err != nil {
			return nil, err
		}
		d, err := sc.Decoder(decoder, c)
		if err != nil {
			return nil, err
		}
		return s.draw(2).Problem(ctx, sc, c, d)
	})
	return out, err
}

// outputs are what the decoder of the subject reads.
func (s *subject) outputs() decode.Outputs {
	return s.scenario.OutputsOf(s.problem.Code, s.problem.Decoder)
}

// reads lists the decoders that fit a code in a scene.
func reads(s *scenario.Scenario, c *code.Code) []string {
	var out []string
	for _, name := range decode.Names() {
		if _, err := s.Decoder(name, c); err == nil {
			out = append(out, name)
		}
	}
	return out
}
