package compare

import (
	"errors"
	"iter"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp/cmpopts"

	"belsim/montecarlo"
	"belsim/montecarlo/scenario"
	"belsim/theory/base/must"
	"belsim/theory/code"
)

// row is a result with an exact value, or none, and a sampled one.
func row(code string, exact, mean, stderr float64) Result {
	return Result{Design: scenario.Design{Code: code}, Expected: scenario.Expected{Exact: exact}, Mean: mean,
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

// TestRivals: a code stands for its best decoder, with 1.96 standard errors on either side.
func TestRivals(t *testing.T) {
	none := math.NaN()
	c := Ranking{Results: []Result{row("a", none, 2, 0.1), row("a", none, 1, 0.1), row("a", none, 3, 0.1),
		row("b", 4, 0, 0), {Design: scenario.Design{Code: "c"}, Invalid: "no"}}}
	want := []Rival{{"a", 0.804, 1.196}, {"b", 4, 4}}
	must.Equal(t, "rivals", want, c.rivals(), cmpopts.EquateApprox(1e-12, 0))
}

// TestWorst: the worst level is one that occurs.
func TestWorst(t *testing.T) {
	var r Result
	r.worst([]montecarlo.Theory{{Mean: 9}, {Mean: 3}, {Mean: 3}}, []float64{0, 0.5, 0.5}, montecarlo.Overall{}, nil)
	if r.WorstLevel != 2 || r.WorstMean != 3 {
		t.Errorf("level %d, %v; want level 2, for level 1 never occurs", r.WorstLevel, r.WorstMean)
	}
}

// TestNumbers: in label units every number of a row that is an error is another one, and an invalid
// row has no number but those of its code. A number that a row gets is one or the other.
func TestNumbers(t *testing.T) {
	others := []string{"Transitions", "Within", "Direct"} // no errors of the code in levels
	numbers := func(of *Result) iter.Seq2[string, reflect.Value] {
		return func(yield func(string, reflect.Value) bool) {
			for _, f := range reflect.VisibleFields(reflect.TypeFor[Result]()) {
				if f.Type.Kind() == reflect.Float64 && !yield(f.Name, reflect.ValueOf(of).Elem().FieldByIndex(f.Index)) {
					return
				}
			}
		}
	}
	c := Ranking{Results: make([]Result, 1)}
	for _, v := range numbers(&c.Results[0]) {
		v.SetFloat(1)
	}
	c.InLabelUnits(7)
	c.addInvalid([]InvalidCode{{must.Get(code.New("gray", 4))(t), errors.New("invalid")}})
	for name, v := range numbers(&c.Results[0]) {
		want := 7.0
		if slices.Contains(others, name) {
			want = 1
		}
		must.Equal(t, name+" in label units (Ranking.InLabelUnits)", want, v.Float())
	}
	for name, v := range numbers(&c.Results[1]) {
		if name != "Transitions" && name != "Direct" {
			must.Equal(t, name+" of an invalid code (Ranking.addInvalid)", math.NaN(), v.Float())
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
