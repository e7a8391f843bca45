package assess

import (
	"math"
	"path/filepath"
	"testing"

	"gonum.org/v1/gonum/mat"

	"belsim/theory/base/must"
)

// TestChosenSpacing: half even levels are chosen where the error that is written beside them is
// smaller by 1 % at least, whatever the baseline is.
func TestChosenSpacing(t *testing.T) {
	y := mat.NewDense(2000, 1, nil)
	for i := range 2000 {
		y.Set(i, 0, math.Exp(5*float64(i)/1999))
	}
	path, seen := save(t, filepath.Join(t.TempDir(), "y.npy"), y), map[bool]bool{}
	for _, baseline := range []float64{0, 0.1, 1, 5, 100} {
		s := must.Get(NewSpacings(t.Context(), path, LabelRange{}, []int{4, 16, 64}, baseline))(t)
		for i := 0; i < len(s.Results); i += 2 {
			even, half := s.Results[i], s.Results[i+1]
			want := math.Hypot(half.Quantization, baseline) <= 0.99*math.Hypot(even.Quantization, baseline)
			seen[want] = true
			if half.Chosen != want || even.Chosen == want {
				t.Errorf("baseline %v: %+v is chosen beside %+v", baseline, half.Chosen, even.Chosen)
			}
		}
	}
	must.Equal(t, "choices", map[bool]bool{true: true, false: true}, seen)
}
