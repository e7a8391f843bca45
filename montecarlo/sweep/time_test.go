package sweep

import (
	"slices"
	"testing"
	"time"

	"belsim/montecarlo"
	"belsim/theory/base/must"
)

// TestSpread: every place occurs once, and the first places are spread: no gap among the first k is
// more than three times as wide as it would be if they were even.
func TestSpread(t *testing.T) {
	for _, n := range []int{1, 2, 3, 36, 100, 997, 10000} {
		seen := make([]bool, n)
		var places []int
		for i := range n {
			at := spread(i, n)
			if seen[at] {
				t.Fatalf("%d places: place %d occurs twice", n, at)
			}
			seen[at] = true
			places = append(places, at)
			if k := i + 1; k == 5 || k == 20 || k == 90 {
				ordered := slices.Sorted(slices.Values(places))
				for j := range k {
					gap := (ordered[(j+1)%k] - ordered[j] + n) % n
					if gap > 3*n/k+1 {
						t.Errorf("%d of %d places: a gap of %d", k, n, gap)
					}
				}
			}
		}
	}
}

// TestTime: with time for all cells, all are timed, and the estimate is what they took.
func TestTime(t *testing.T) {
	t.Chdir(t.TempDir())
	plan := must.Get(read(`{"codes":["unary"],"decoders":["bel-u"],"levels":[9,12],"r":"0.1:0.5:3","sigma":"1:2:2",
		"methods":["bound","exact","mc"],"samples":100,"seed":1}`))(t)
	done := uint64(0)
	run := montecarlo.Run{Backend: montecarlo.CPU{}, Workers: 1, Done: func(n uint64) { done += n }}
	start := time.Now()
	got := must.Get(plan.Time(t.Context(), run, time.Hour))(t)
	wall, sum, cells := time.Since(start).Seconds(), 0.0, 0
	for _, row := range got {
		must.Equal(t, "cells timed", row.Cells, row.Timed)
		sum, cells = sum+row.Seconds, cells+row.Cells
	}
	must.Equal(t, "cells of the plan", plan.Size(), cells)
	must.Equal(t, "cells told of", uint64(cells), done)
	if sum <= 0 || sum > wall {
		t.Errorf("the cells took %v s of %v s", sum, wall)
	}
	for _, row := range must.Get(plan.Time(t.Context(), run, 1))(t) {
		must.Equal(t, "a moment is enough for one cell", 1, row.Timed)
	}
}
