package scenario

import (
	"math"
	"testing"
)

// TestOutward: the two digits that people see of bounds still hold.
func TestOutward(t *testing.T) {
	for v, want := range map[float64][2]string{
		0.2451: {".24", ".25"}, 0.767: {".76", ".77"}, 0.25: {".25", ".25"}, 45.801: {"45", "46"}, 1.0001: {"1", "1.1"},
		0.999: {".99", "1"}, 0: {"0", "0"}, 1.2e-7: {"1.2e-07", "1.2e-07"},
	} {
		if got := [2]string{outward(v, math.Floor), outward(v, math.Ceil)}; got != want {
			t.Errorf("%v: %v, want %v", v, got, want)
		}
	}
}
