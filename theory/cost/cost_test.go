package cost_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"belsim/theory/base/must"
	"belsim/theory/code"
	"belsim/theory/cost"
	"belsim/theory/decode"
)

func parse(t *testing.T, text string, levels int, circular bool) cost.Cost {
	t.Helper()
	return must.Get(cost.Parse(text, levels, circular))(t)
}

func matrixFile(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "costs.csv")
	must.Succeed(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

// TestOf: costs by hand, of answers between levels and beyond the ends. TestRandomProblems of expect has the others.
func TestOf(t *testing.T) {
	uneven := cost.OfValues(code.Values{0, 1, 10, 100})
	file := parse(t, matrixFile(t, "0,2,5\n1,0,4\n9,3,0\n"), 3, false)
	for _, tt := range []struct {
		cost         cost.Cost
		n            int
		answer, want float64
	}{
		{parse(t, "absolute", 4, false), 1, 3, 2}, {uneven, 1, 3.5, 55}, {uneven, 3, 7, 90},
		{uneven.Squared(), 3, -1, 100}, {parse(t, "zero-one", 4, false), 1, 1.6, 1},
		{parse(t, "zero-one", 4, true), 1, 5, 0}, {parse(t, "absolute", 8, true), 2, 7.5, 2.5},
		{parse(t, "absolute", 8, true), 8, 9, 1},
		{parse(t, "beyond:0", 4, false), 1, 1.4, 0}, {parse(t, "beyond:0", 4, false), 2, 1.5 - 1e-9, 0},
		{parse(t, "beyond:1", 4, false), 1, 2.0001, 1}, {parse(t, "beyond:1", 4, false), 1, 2 + 1e-8, 0}, {file, 1, 5, 5}, {file, 2, -1, 1},
	} {
		if got := tt.cost.Of(tt.n, tt.answer); got != tt.want {
			t.Errorf("%s: %+v: %v", tt.cost.Name(), tt, got)
		}
	}
}

// TestLargest: the largest cost is that of some answer, for costs of all kinds.
func TestLargest(t *testing.T) {
	const levels = 7
	uneven := code.Values{0, 1, 3, 4, 9, 10, 30}
	for _, c := range []cost.Cost{{}, cost.Circular(levels), cost.Circular(levels).Squared(), cost.OfValues(uneven),
		cost.OfValues(uneven).Beyond(5), parse(t, "zero-one", levels, true)} {
		all := 0.0
		for n := 1; n <= levels; n++ {
			most := 0.0
			for m := 0; m <= levels+1; m++ {
				most = max(most, c.Of(n, float64(m)))
			}
			must.Equal(t, fmt.Sprintf("%s, level %d", c.Name(), n), most, c.Largest(n, 0, levels+1))
			all = max(all, c.Largest(n, 1, levels))
		}
		if s := c.Scale(levels); !(s > 0 && s <= all) {
			t.Errorf("%s: a scale of %v beside costs up to %v", c.Name(), s, all)
		}
	}
	must.Within(t, "scale in levels", cost.Cost{}.Scale(levels), 1, 1)
	must.Within(t, "scale on the circle", cost.Circular(levels).Scale(levels), 1, 1)
}

func TestNames(t *testing.T) {
	for text, unit := range map[string]string{"absolute": "levels", "squared": "levels²", "zero-one": "",
		"beyond:2.5": ""} {
		c := parse(t, text, 4, false)
		must.Equal(t, "name", text, c.Name())
		must.Equal(t, "unit", unit, c.Unit())
	}
	for text, want := range map[string]string{"absolute": "|error| in levels", "zero-one": "share of wrong answers",
		"beyond:2.5": "share of answers that are more than 2.5 levels away"} {
		must.Equal(t, "in words", want, parse(t, text, 4, false).String())
	}
	must.Equal(t, "unit", "label units²", cost.OfValues(code.Values{1, 2, 4}).Squared().Unit())
}

// TestRefusals: what is no cost is refused in a sentence that names it.
func TestRefusals(t *testing.T) {
	for _, tt := range []struct {
		text     string
		circular bool
		says     string
	}{
		{"cubed", false, `cost is "cubed": want absolute`},
		{"beyond:-1", false, `cost is "beyond:-1"`},
		{"beyond:Inf", false, `cost is "beyond:Inf"`},
		{"", false, `cost is ""`},
		{matrixFile(t, "0,1\n1,0\n"), false, "2 × 2 costs for 3 levels; want 3 × 3"},
		{matrixFile(t, "0,1,1\n1,0,-2\n1,1,0\n"), false, "row 2, column 3: cost -2"},
		{matrixFile(t, "0,1,1\n1,5,1\n1,1,0\n"), false, "row 2, column 2: cost 5"},
		{matrixFile(t, "0,1,1\n1,0,1e-170\n1,1,0\n"), false, "row 2, column 3: cost 1e-170; want 0 or 1e-100 to 1e+100"},
		{matrixFile(t, "0,1,1\n1,0,1\n1e160,1,0\n"), false, "row 3, column 1: cost 1e+160"},
		{matrixFile(t, "0,1,1\n1,0,1\n1,1,0\n"), true, "without a circle"},
	} {
		must.Refuse(cost.Parse(tt.text, 3, tt.circular))(t, tt.says)
	}
	m := parse(t, matrixFile(t, "0,1,1\n1,0,1\n1,1,0\n"), 3, false)
	c := must.Get(code.New("unary", 3))(t)
	for name, ok := range map[string]bool{"gen": true, "gen-ex": false} {
		if err := m.Check(must.Get(decode.New(name, c))(t)); (err == nil) != ok {
			t.Errorf("%s: %v", name, err)
		}
	}
}
