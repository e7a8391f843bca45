package head

import (
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"belsim/theory/base/must"
	"belsim/theory/code"
)

// TestPage: the tables of testdata/heads/README.md and lost.csv are what the measured errors give, levels
// are placed as levels.py placed them, and codes have the outputs that the page says.
func TestPage(t *testing.T) {
	t.Parallel()
	python, err := exec.LookPath("python3")
	if err != nil && os.Getenv("BELSIM_LONG") == "" {
		t.Skip(err)
	}
	const folder = "../../testdata/heads/"
	run := func(args ...string) string {
		return string(must.Get(exec.Command(python, append([]string{folder + "tables.py"}, args...)...).Output())(t))
	}
	rows := func(text string) (out []string) {
		for line := range strings.Lines(text) {
			if strings.HasPrefix(line, "|") {
				out = append(out, strings.TrimSpace(line))
			}
		}
		return out
	}
	text := string(must.Get(os.ReadFile(folder + "README.md"))(t))
	page := rows(text)
	if diff := cmp.Diff(rows(run()), page); diff != "" {
		t.Errorf("-tables.py +README.md\n%s", diff)
	}
	if diff := cmp.Diff(run("--lost"), lostCSV); diff != "" {
		t.Errorf("go generate ./errmodel/head: -now +lost.csv\n%s", diff)
	}
	_, block, _ := strings.Cut(text, "import numpy as np\n\n\n")
	block, _, _ = strings.Cut(block, "```")
	if program := string(must.Get(os.ReadFile(folder + "levels.py"))(t)); block == "" || !strings.Contains(program, block) {
		t.Errorf("levels.py does not have the page's\n%s", block)
	}
	checked := 0
	for _, line := range page {
		cells := strings.Split(strings.Trim(line, "| "), " | ")
		name, _, _ := strings.Cut(cells[0], ",")
		if _, known := code.Lookup(name); !known || len(cells) < 7 {
			continue
		}
		checked++
		if bits := must.Get(code.New(name, 64))(t).Bits(); cells[1] != strconv.Itoa(bits) {
			t.Errorf("%s: %s outputs on the page, and %d bits", cells[0], cells[1], bits)
		}
	}
	if checked < 15 {
		t.Errorf("%d heads on the page have a code; want 15", checked)
	}
}

// TestLosses: each row has ordered quartiles of four data sets or more, and direct regression has its
// row whatever the training.
func TestLosses(t *testing.T) {
	t.Parallel()
	all := must.Get(Losses())(t)
	for _, l := range all {
		if l.Sets < 4 || l.Lower > l.Median || l.Median > l.Upper || l.Lower < -100 {
			t.Errorf("%+v", l)
		}
		for _, training := range []Training{BCE, l.Training} {
			got, found := FindLost(all, l.Code, training, l.Measure, l.Data)
			if (l.Code == Direct || training == l.Training) && (!found || got != l) {
				t.Errorf("%s, %s: %+v", l.Code, training, got)
			}
		}
	}
	if _, found := FindLost(all, "unary", "corn", ToLabel, Tables); found {
		t.Error("a training that unary does not have was found")
	}
	for _, measure := range []string{ToLevel, ToLabel} {
		for i, data := range []string{Tables, Images} {
			rule, found := FindLost(all, Rules[i].Code, Rules[i].Training, measure, data)
			if !found {
				t.Fatalf("no row of the rule for %s on %s", measure, data)
			}
			for _, l := range all {
				if l.Measure == measure && l.Data == data && l.Median < rule.Median {
					t.Errorf("%s with %s lost less than the rule: %+v", l.Code, l.Training, l)
				}
			}
		}
	}
}
