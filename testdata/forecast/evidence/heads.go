package evidence

import (
	"path/filepath"
	"slices"

	"belsim/montecarlo/forecast"
	"belsim/theory/code"
)

// LoadHeads reads the networks of testdata/heads: codes after BCE, CE and soft targets, softmax, HL-Gauss, CORN and direct regression,
// which have the same trunks and budgets, and a learning rate that validation chose.
func LoadHeads(folder string) (*Set, error) {
	return load(folder, filepath.Join("..", "heads", "networks.csv"))
}

// Sources lists what there is one network of.
func (s *Set) Sources() (out []Source) {
	for _, n := range s.Networks {
		if src := (Source{Code: n.Code, Training: n.Training}); !slices.Contains(out, src) {
			out = append(out, src)
		}
	}
	return out
}

// heads are codes by name that have none, but outputs that are read as bits of unary.
var heads = []string{forecast.Direct, forecast.CORN}

// codeOf is a code by its name, or unary under that of a head.
func codeOf(name string, levels int) (*code.Code, error) {
	if !slices.Contains(heads, name) {
		return code.New(name, levels)
	}
	c, err := code.New("unary", levels)
	if err != nil {
		return nil, err
	}
	return c.As(name), nil
}
