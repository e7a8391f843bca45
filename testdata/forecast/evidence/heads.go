package evidence

import (
	"slices"

	"belsim/montecarlo/forecast"
	"belsim/theory/code"
)

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
