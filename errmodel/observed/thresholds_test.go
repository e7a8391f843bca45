package observed

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"belsim/errmodel"
)

// TestPredictions: which numbers can be predictions, at both sides of each limit. Targets are 4 and
// 12, by turns.
func TestPredictions(t *testing.T) {
	l := Labels{Levels: 16}
	// off is what the line does not explain, in deviations of the targets
	line := func(slope, off float64) func(i int, y float64) float64 {
		return func(i int, y float64) float64 { return 8 + slope*(y-8+4*off*float64(1-i/2%2*2)) }
	}
	outside := func(n int) func(i int, y float64) float64 {
		return func(i int, y float64) float64 {
			if i < n {
				return -5
			}
			return y
		}
	}
	constant := func(v float64) func(int, float64) float64 { return func(int, float64) float64 { return v } }
	for name, tt := range map[string]struct {
		count int
		of    func(i int, y float64) float64
		want  string // of the refusal
	}{
		"5 of 10 outside": {10, outside(5), ""}, "6 of 10 outside": {10, outside(6),
			"6 of 10 predictions are outside 1 to 16"},
		"0.49": {4, constant(0.49), "4 of 4"}, "0.51": {4, constant(0.51), ""}, "16.51": {4, constant(16.51),
			"4 of 4"}, "16.49": {4, constant(16.49), ""},
		"29 that are equal": {29, constant(8), ""}, "30 that are equal": {30, constant(8), "all 30 predictions are 8;"},
		"nearly equal": {32, line(1e-6, 0), "all 32 predictions are"}, "apart by the rounding of float32": {32,
			line(1.01e-6, 0), "hardly nearer"},
		// (1−slope)² of the variance is left, and the line explains 1/(1+off²).
		"an error² of 0.751": {32, line(1-math.Sqrt(0.751), 0),
			"near once multiplied by 7.5 and shifted"}, "an error² of 0.749": {32, line(1-math.Sqrt(0.749), 0), ""},
		"standardized":    {32, func(_ int, y float64) float64 { return (y - 8) / 8 }, "near once multiplied by 8 and"},
		"0.751 explained": {32, line(0.01, math.Sqrt(1/0.751-1)), "hardly nearer"}, "0.749 explained": {32,
			line(0.01, math.Sqrt(1/0.749-1)), ""},
	} {
		var p predictions
		for i := range tt.count {
			y := float64(4 + 8*(i%2))
			p.add(l, tt.of(i, y), y)
		}
		if err := p.check(l, "d.npy"); err == nil != (tt.want == "") || err != nil && !strings.Contains(err.Error(),
			tt.want) {
			t.Errorf("%s: %v, want %q", name, err, tt.want)
		}
	}
}

// TestLogitScale: a cell counts where five decisions are wrong, and five are right. The outputs of
// each have the variance 6.
func TestLogitScale(t *testing.T) {
	for wrong, known := range map[uint64]bool{4: false, 5: true, 15: true, 16: false} {
		c := errmodel.NewCounts(1, 1)
		c.Samples[0], c.Wrong[0] = 20, wrong
		if got := (cells{{{20, 20 + 19*6}}}).scale(c); math.IsNaN(got) == known || known &&
			math.Abs(got*got-6) > 1e-12 {
			t.Errorf("%d of 20 wrong: %v", wrong, got)
		}
	}
}

// TestErrorInterval: no error is below 0, whatever its standard error is.
func TestErrorInterval(t *testing.T) {
	for _, e := range []Error{{Mean: 1, StdErr: 1}, {Mean: 0, StdErr: 1}, {Mean: 3, StdErr: 1}} {
		if i := e.Interval(); i[0] < 0 || math.Abs(i[0]-max(0, 2*e.Mean-i[1])) > 1e-12 {
			t.Errorf("%+v: %v", e, i)
		}
	}
}

// TestGroups: a row of neighbouring levels has 100 samples or more, and leaves as many for the next
// one.
func TestGroups(t *testing.T) {
	for counts, want := range map[[3]uint64]string{
		{100, 100, 100}: " 0-1 1-2 2-3", {99, 1, 100}: " 0-2 2-3", {100, 99, 100}: " 0-1 1-3",
		{100, 100, 99}: " 0-1 1-3", {99, 99, 99}: " 0-3",
	} {
		got := ""
		for from, to := range Groups(counts[:]) {
			got += fmt.Sprintf(" %d-%d", from, to)
		}
		if got != want {
			t.Errorf("%v: %s, want %s", counts, got, want)
		}
	}
}
