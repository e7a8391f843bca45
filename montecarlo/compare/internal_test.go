package compare

import (
	"errors"
	"math"
	"reflect"
	"strings"
	"testing"

	"belsim/errmodel/scenario"
	"belsim/montecarlo"
	"belsim/theory/base/must"
	"belsim/theory/code"
	"belsim/theory/expect"
)

// row is a result with an exact value, or none, and a sampled one.
func row(code string, exact, mean, stderr float64) Result {
	return Result{Design: scenario.Design{Code: code}, Expected: expect.Expected{Exact: exact}, Mean: mean,
		StdErr: stderr}
}

// TestTied: two sampled errors are not told apart up to 1.96 standard errors of their difference,
// and two exact ones up to a part of 1e-5.
func TestTied(t *testing.T) {
	none := math.NaN()
	first, exact := row("", none, 3, 3), row("", 2, 0, 0)
	for _, tt := range []struct {
		a, b Result
		want bool
	}{
		{first, row("", none, 3+1.95*5, 4), true}, {first, row("", none, 3+1.97*5, 4), false},
		{first, row("", none, 3-1.95*5, 4), true},
		{first, row("", 3+1.95*3, 0, 4), true}, {first, row("", 3+1.97*3, 0, 4), false}, // the first one's alone
		{row("", 0, 0, 0), row("", 0, 0, 0), true},
		{exact, row("", 2*(1+0.99e-5), 0, 0), true}, {exact, row("", 2*(1+1.01e-5), 0, 0), false},
	} {
		if got := tied(tt.a, tt.b); got != tt.want {
			t.Errorf("%+v: %v", tt, got)
		}
	}
}

// TestWorst: the worst level is one that occurs.
func TestWorst(t *testing.T) {
	var r Result
	r.worst([]expect.Level{{Mean: 9}, {Mean: 3}, {Mean: 3}}, []float64{0, 0.5, 0.5}, montecarlo.Overall{}, nil)
	if r.WorstLevel != 2 || r.WorstMean != 3 {
		t.Errorf("level %d, %v; want level 2, for level 1 never occurs", r.WorstLevel, r.WorstMean)
	}
}

// TestNumbers: an invalid row has no number but those of its code.
func TestNumbers(t *testing.T) {
	var c Ranking
	c.addInvalid([]InvalidCode{{must.Get(code.New("gray", 4))(t), errors.New("invalid")}})
	for _, f := range reflect.VisibleFields(reflect.TypeFor[Result]()) {
		if f.Type.Kind() == reflect.Float64 && f.Name != "Transitions" {
			must.Equal(t, f.Name+" of an invalid code (Ranking.addInvalid)", math.NaN(),
				reflect.ValueOf(c.Results[0]).FieldByIndex(f.Index).Float())
		}
	}
}

// TestNone: that no sample erred is noted where one could.
func TestNone(t *testing.T) {
	for stderr, want := range map[float64]bool{0: false, 0.1: true} {
		c := Ranking{Results: []Result{{StdErr: stderr, Samples: 9}}}
		must.Equal(t, "it is noted", want, strings.Contains(c.Notes(), "none in N"))
	}
}
