package sweep

import (
	"testing"
	"time"

	"belsim/montecarlo"
	"belsim/theory/base/must"
)

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
