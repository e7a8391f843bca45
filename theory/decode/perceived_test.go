package decode

import (
	"testing"

	"belsim/theory/base/must"
	"belsim/theory/code"
)

// slope is a network whose logits have a slope, in standard deviations of all bits together to a
// level.
type slope struct{ Network }

func (slope) Logits(dst []float64, y float64) {
	for k := range dst {
		dst[k] = 1.5 * y
	}
}

// TestParts: the grid has 1, 2 or 4 points to a level. They are at most s/4 apart, and the outputs
// at neighbours one standard deviation.
func TestParts(t *testing.T) {
	p := Posterior{code: must.Get(code.New("gray", 8))(t), model: Model{Perceived: slope{}}}
	for _, tt := range []struct {
		s, slope float64 // slope: of one bit
		want     int
	}{
		{0, 0.99, 1}, {0, 1.01, 2}, {0, 1.99, 2}, {0, 2.01, 4}, {0, 100, 4}, {4.01, 0, 1}, {3.99, 0, 2}, {2.01, 0,
			2}, {1.99, 0, 4}, {0.01, 0, 4}, {4.01, 1.01, 2},
	} {
		sd := []float64{0, 0, 0}
		if tt.slope > 0 {
			sd[1] = 1.5 / tt.slope
		}
		if got, err := p.parts(tt.s, sd); err != nil || got != tt.want {
			t.Errorf("%+v: %d, %v", tt, got, err)
		}
	}
}
