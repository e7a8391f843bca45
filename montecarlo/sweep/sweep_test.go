package sweep

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp/cmpopts"
	"gonum.org/v1/gonum/mat"

	"belsim/errmodel/scenario"
	"belsim/montecarlo"
	"belsim/montecarlo/plane"
	"belsim/theory/base/must"
	"belsim/theory/base/table"
	"belsim/theory/code"
	"belsim/theory/decode"
)

// small is a plan of two codes, two methods and 2 × 3 cells of each.
func small() Definition {
	return Definition{
		NumericVersion: montecarlo.NumericVersion,
		Pairs: []Pair{
			{Design: scenario.Design{Levels: 4, Code: "unary", Bits: 3, Decoder: "bel-u", Outputs: "bits"}, Identity: "unary",
				Methods: []plane.Method{plane.Exact, plane.Sample}},
			{Design: scenario.Design{Levels: 4, Code: "a.csv", Bits: 3, Decoder: "gen", Outputs: "bits"},
				Identity: "sha256:12 4x3", Methods: []plane.Method{plane.Sample}},
		},
		R: plane.Axis{Values: []float64{0.1, 0.2}}, Sigma: plane.Axis{Values: []float64{1, 2, 3}},
		Sampling: montecarlo.Sampling{Samples: 1000, Seed: 1}, Temperature: 1,
	}
}

func mustNew(t testing.TB, p Definition) *Sweep {
	t.Helper()
	return must.Get(newSweep(p))(t)
}

// made are numbers of a cell that anybody can make again.
func (s *Sweep) made(cell int) Numbers {
	task := s.task(cell)
	x := uint64(cell)*0x9e3779b97f4a7c15>>40 + 1
	switch {
	case x%6 == 0:
		return unsampled(math.NaN(), false)
	case task.Method != plane.Sample:
		return unsampled(float64(x)/3, true)
	}
	sums := make([]montecarlo.Sums, s.Pairs[task.Pair].Levels)
	for row := range sums {
		n := x + uint64(row)
		sums[row] = montecarlo.Sums{Samples: s.Samples, Abs: n, Square: n * n}
	}
	return sampledNumbers(s.priors[len(sums)], sums)
}

// add stores made-up numbers of a cell.
func add(t testing.TB, h *Shard, cell int, n Numbers) {
	t.Helper()
	must.Succeed(t, h.add(cell, n))
}

// cellsOf are the rows of all cells, as JSON.
func cellsOf(t testing.TB, m *Merged) string {
	t.Helper()
	return string(must.Get(table.JSON(m.Table("").Cells))(t))
}

// TestID: all that determines the numbers changes the plan's ID, and nothing else does.
func TestID(t *testing.T) {
	s := mustNew(t, small())
	// Results that users have are found by it: a change of it wants a new
	// montecarlo.NumericVersion or a new format, or is a mistake.
	if want := "eea933d8b263c69ea2382134cca6ecac3977d6508a857533215ba8d1a82800a4"; s.ID != want {
		t.Errorf("the plan is %s, want %s", s.ID, want)
	}
	for name, tt := range map[string]struct {
		change  func(p *Definition)
		changes bool
	}{
		"numeric version": {func(p *Definition) { p.NumericVersion++ }, true},
		"identity":        {func(p *Definition) { p.Pairs[0].Identity = "johnson" }, true},
		"levels":          {func(p *Definition) { p.Pairs[0].Levels = 5 }, true},
		"decoder":         {func(p *Definition) { p.Pairs[0].Decoder = "gen" }, true},
		"outputs":         {func(p *Definition) { p.Pairs[0].Outputs = "logits" }, true},
		"methods":         {func(p *Definition) { p.Pairs[0].Methods = p.Pairs[0].Methods[:1] }, true},
		"r":               {func(p *Definition) { p.R.Values[0] = 0.1000001 }, true},
		"sigma":           {func(p *Definition) { p.Sigma.Values[0] = 1.5 }, true},
		"temperature":     {func(p *Definition) { p.Temperature = 2 }, true},
		"prior":           {func(p *Definition) { p.Priors = []Prior{{4, []float64{0.5, 0.5, 0, 0}}} }, true},
		"samples":         {func(p *Definition) { p.Samples = 1001 }, true},
		"seed":            {func(p *Definition) { p.Seed = 2 }, true},
		"rel_err":         {func(p *Definition) { p.RelErr = 0.1; p.MaxSamples = 1 << 20 }, true},
		"the code's path": {func(p *Definition) { p.Pairs[1].Code = "elsewhere/b.npy" }, false},
	} {
		p := small()
		tt.change(&p)
		if other := mustNew(t, p); (other.ID != s.ID) != tt.changes {
			t.Errorf("%s: plan %.8s, was %.8s", name, other.ID, s.ID)
		}
	}
	p := small()
	p.Pairs = nil
	if _, err := newSweep(p); err == nil {
		t.Error("a plan without a cell passes")
	}
}

// TestShardsCover: shards have every cell once between them, as many as each other, and of many r.
func TestShardsCover(t *testing.T) {
	p := small()
	p.R, p.Sigma = plane.NewAxis(1, 60, 60, false), plane.NewAxis(1, 60, 60, false)
	s := mustNew(t, p)
	for _, n := range []int{1, 2, 7, 60} {
		seen := make([]bool, s.Size())
		least, most := math.MaxInt, 0
		for i := 1; i <= n; i++ {
			part := s.part(i, n)
			least, most = min(least, len(part)), max(most, len(part))
			ofX := map[float64]bool{}
			for _, cell := range part {
				if seen[cell] {
					t.Errorf("%d shards: %v is there twice", n, cell)
				}
				seen[cell] = true
				ofX[s.task(cell).R] = true
			}
			if len(ofX) < 20 {
				t.Errorf("%d shards: shard %d has cells of %d values of r", n, i, len(ofX))
			}
		}
		if slices.Contains(seen, false) || most-least > 1 {
			t.Errorf("%d shards: a cell is missing, or %d to %d are in a shard", n, least, most)
		}
	}
}

// mustOpen opens a shard of a sweep whose results are made up.
func mustOpen(t testing.TB, s *Sweep, dir string, i, n int) *Shard {
	t.Helper()
	return must.Get((&Plan{Sweep: s}).Open(dir, i, n))(t)
}

// fill puts all of a shard into its file.
func fill(t testing.TB, s *Sweep, dir string, i, n int) *Shard {
	t.Helper()
	h := mustOpen(t, s, dir, i, n)
	for _, cell := range s.part(i, n) {
		add(t, h, cell, s.made(cell))
	}
	must.Succeed(t, h.flush())
	return h
}

func mustMerge(t testing.TB, dir string) *Merged {
	t.Helper()
	return must.Get(Merge(context.Background(), dir, nil))(t)
}

// TestMergeAnyCut: any number of shards gives the same rows, and so do shards of several
// numbers together, which have cells twice.
func TestMergeAnyCut(t *testing.T) {
	s := mustNew(t, small())
	rows := func(cuts ...int) string {
		dir := t.TempDir()
		for _, n := range cuts {
			for i := 1; i <= n; i++ {
				fill(t, s, dir, i, n)
			}
		}
		m := must.Get(Merge(context.Background(), dir, s))(t)
		if missing, err := m.MissingShards(3); m.Complete() != nil || missing != nil || err != nil {
			t.Errorf("%v: %v, of shards %v (%v)", cuts, m.Complete(), missing, err)
		}
		return cellsOf(t, m)
	}
	want := rows(1)
	for _, cuts := range [][]int{{2}, {50}, {1, 5}, {3, 4}} {
		if got := rows(cuts...); got != want {
			t.Errorf("shards %v: %s\nwant %s", cuts, got, want)
		}
	}
}

func TestMissing(t *testing.T) {
	s := mustNew(t, small())
	dir := t.TempDir()
	for _, i := range []int{1, 2, 5} {
		fill(t, s, dir, i, 6)
	}
	m := mustMerge(t, dir)
	for _, n := range []int{0, 6} {
		if got, err := m.MissingShards(n); got.String() != "3-4,6" || err != nil || !slices.Equal(m.Shards, []int{6}) {
			t.Errorf("missing are %v, of %d shards (%v)", got, m.Shards, err)
		}
	}
	must.Refused(t, m.Complete(), "9 of 18 cells are missing")
	fill(t, s, dir, 1, 10) // its file comes before those of 6
	must.Refuse(mustMerge(t, dir).MissingShards(0))(t, "its files are of 6 and of 10 shards")
	must.Refuse(must.Get(Merge(t.Context(), t.TempDir(), s))(t).MissingShards(0))(t, "no result file")
	if _, err := Merge(context.Background(), t.TempDir(), nil); err == nil {
		t.Error("an empty folder is merged")
	}
}

// TestDamage: no beginning of a file and no file with a changed byte is taken for a result.
func TestDamage(t *testing.T) {
	s := mustNew(t, small())
	dir := t.TempDir()
	path := fill(t, s, dir, 1, 9).Path()
	good := must.Get(os.ReadFile(path))(t)
	read := func(text []byte) error {
		must.Succeed(t, os.WriteFile(path, text, 0o644))
		_, err := s.scan(path, func(result, []byte) error { return nil })
		return err
	}
	must.Succeed(t, read(good))
	refused := func(what string, text []byte) {
		t.Helper()
		err := read(text)
		if err == nil {
			t.Errorf("%s: is read", what)
		} else if !strings.Contains(err.Error(), path) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %q does not name the file in one line", what, err)
		}
	}
	for n := range len(good) {
		refused(fmt.Sprintf("the first %d of %d bytes", n, len(good)), good[:n])
	}
	for i := range good {
		bad := bytes.Clone(good)
		bad[i] ^= 1 << (i % 6)
		refused(fmt.Sprintf("byte %d changed", i), bad)
	}
	refused("a line more", append(bytes.Clone(good), "{}\n"...))
	lines := bytes.SplitAfter(good, []byte("\n"))
	refused("a result left out", slices.Concat(slices.Delete(slices.Clone(lines), 1, 2)...))
	if _, err := (&Plan{Sweep: s}).Open(dir, 1, 9); err == nil {
		t.Error("a shard goes on from a damaged file")
	}
}

// TestOthersRefused: other plans, other versions, other numbers, other names, and cells that the sweep
// does not have.
func TestOthersRefused(t *testing.T) {
	s := mustNew(t, small())
	p := small()
	p.Seed = 2
	otherPlan := mustNew(t, p)
	p = small()
	p.NumericVersion++
	otherVersion := mustNew(t, p)
	check := func(what string, err error, want string) {
		t.Helper()
		must.Refused(t, err, want)
	}
	mixed := t.TempDir()
	fill(t, s, mixed, 1, 2)
	for what, other := range map[string]*Sweep{"plan": otherPlan, "version": otherVersion} {
		_, err := (&Plan{Sweep: other}).Open(mixed, 1, 2)
		check(what+": sweep", err, "another plan")
	}
	old := t.TempDir()
	fill(t, otherVersion, old, 1, 1)
	_, err := Merge(context.Background(), old, nil)
	check("version: merge", err, "numbers of version")
	other := t.TempDir()
	name := fill(t, otherPlan, other, 2, 2).Path()
	must.Succeed(t, os.Rename(name, filepath.Join(mixed, filepath.Base(name))))
	_, err = Merge(context.Background(), mixed, nil)
	check("plan: merge", err, "another plan")

	dir := t.TempDir()
	path := fill(t, s, dir, 1, 2).Path()
	os.Rename(path, filepath.Join(dir, shardFile(s.ID, 2, 2)))
	_, err = Merge(context.Background(), dir, nil)
	check("renamed", err, "should be called")

	dir = t.TempDir()
	fill(t, s, dir, 1, 1)
	h := mustOpen(t, s, dir, 1, 2)
	for _, cell := range s.part(1, 2) {
		n := s.made(cell)
		n.Mean++
		add(t, h, cell, n)
	}
	must.Succeed(t, h.flush())
	_, err = Merge(context.Background(), dir, nil)
	check("two numbers for a cell", err, "has other numbers than in")

	for _, cell := range []int{-1, s.Size()} {
		dir := t.TempDir()
		h := mustOpen(t, s, dir, 1, 1)
		add(t, h, cell, s.made(0))
		must.Succeed(t, h.flush())
		_, err = Merge(t.Context(), dir, nil)
		check("no such cell", err, fmt.Sprintf("line 2: cell %d of 18", cell))
	}
}

// TestSigned: a file with a right checksum is refused where a line is not one that belsim writes.
func TestSigned(t *testing.T) {
	s := mustNew(t, small())
	dir := t.TempDir()
	h := fill(t, s, dir, 1, 2)
	good := must.Get(h.body(h.lines))(t)
	for _, tt := range []struct{ old, new, want string }{
		{`"stderr":`, `"stderr":0,"other":`, "is not as belsim writes it"},
		{`"stderr":[0-9.]+,`, "", "is not as belsim writes it"},
		{`"stderr":[0-9.]+,`, `"stderr":null,`, "has no stderr"},
		{`"samples":[0-9]+,"reached`, `"samples":null,"reached`, "has no samples"},
		{`"mean":[0-9.]+,"stderr":[1-9]`, `"mean":null,"stderr":1`, "has no mean"},
		{`"reached":null`, `"reached":true`, "has reached"},
		{`"stderr":null`, `"stderr":0.5`, "has stderr"},
		{`"cell":[0-9]+`, fmt.Sprintf(`"cell":%d`, s.part(2, 2)[0]), "is not the next of shard 1 of 2"},
		{fmt.Sprintf(`"cell":%d,`, s.part(1, 2)[1]), fmt.Sprintf(`"cell":%d,`, s.part(1, 2)[0]), "is not the next of shard 1 of 2"},
		{`"shard":1`, `"shard":0`, "should be called"},
	} {
		at := regexp.MustCompile(tt.old).FindIndex(good)
		lines := bytes.SplitAfter(slices.Concat(good[:at[0]], []byte(tt.new), good[at[1]:]), []byte("\n"))
		body := bytes.Join(lines[:len(lines)-2], nil)
		must.Succeed(t, os.WriteFile(h.Path(), append(body, lastLine(body)...), 0o644))
		_, err := Merge(t.Context(), dir, s)
		must.Refused(t, err, tt.want)
	}
}

// TestTwoWorkers: two writers of one shard. A file has all of the last one, and what is missing is
// found.
func TestTwoWorkers(t *testing.T) {
	s := mustNew(t, small())
	dir := t.TempDir()
	a, b := mustOpen(t, s, dir, 1, 1), mustOpen(t, s, dir, 1, 1)
	for i, cell := range s.part(1, 1) {
		add(t, a, cell, s.made(cell))
		if i%2 == 0 {
			add(t, b, cell, s.made(cell))
		}
	}
	must.Succeed(t, errors.Join(a.flush(), b.flush()))
	c := mustOpen(t, s, dir, 1, 1)
	if len(c.Todo) != s.Size()/2 {
		t.Errorf("cells %v are left", c.Todo)
	}
	for _, cell := range c.Todo {
		add(t, c, cell, s.made(cell))
	}
	must.Succeed(t, c.flush())
	alone := t.TempDir()
	fill(t, s, alone, 1, 1)
	if got, want := cellsOf(t, mustMerge(t, dir)), cellsOf(t, mustMerge(t, alone)); got != want {
		t.Errorf("two workers: %s\none: %s", got, want)
	}
}

// read reads a plan from a file in the present folder.
func read(text string) (*Plan, error) {
	if err := os.WriteFile("plan.json", []byte(text), 0o666); err != nil {
		return nil, err
	}
	return ReadPlan(context.Background(), "plan.json", decode.Builtin())
}

// TestPlanLimits: the largest numbers of levels and of samples are taken, and one more is not.
func TestPlanLimits(t *testing.T) {
	t.Chdir(t.TempDir())
	const plan = `{"codes": ["unary"], "levels": [%d], "r": [1], "sigma": [2], "methods": ["mc"], "samples": %d}`
	c := must.Get(code.New("unary", 16))(t)
	s := scenario.New(nil)
	most := montecarlo.FixedSampling().Of(s.WithoutErrors(c, must.Get(s.Decoder(decode.Auto, c))(t))).MaxSamples()
	must.Get(read(fmt.Sprintf(plan, 16, most)))(t)
	if _, err := read(fmt.Sprintf(plan, 16, most+1)); err == nil {
		t.Errorf("%d samples are taken", most+1)
	}
	for levels, fits := range map[int]bool{code.MaxLevels: true, code.MaxLevels + 1: false} {
		if _, err := (&Plan{scenario: s}).parse(fmt.Appendf(nil, plan, levels, 2)); (err == nil) != fits {
			t.Errorf("%d levels: %v", levels, err)
		}
	}
}

// TestIdentify: a code in a file is what its numbers are, whatever the sign of zero.
func TestIdentify(t *testing.T) {
	var ids []string
	for _, zero := range []float64{0, math.Copysign(0, -1), 1e-9} {
		c := must.Get(code.FromReal("a.csv", mat.NewDense(2, 2, []float64{0.5, zero, 1, 2})))(t)
		ids = append(ids, must.Get(identify(t.Context(), "a.csv", c))(t))
	}
	if ids[0] != ids[1] || ids[0] == ids[2] {
		t.Errorf("identities %q", ids)
	}
}

// TestPlanMeaning: what a plan leaves out has the usual values, and what it says arrives.
func TestPlanMeaning(t *testing.T) {
	t.Chdir(t.TempDir())
	s := must.Get(read(ExamplePlan))(t).Sweep
	want := s.Definition
	want.Samples, want.Seed, want.Temperature = 10000, 1, 1
	want.R = plane.Axis{Values: []float64{0.5, 0.87, 1.52, 2.64, 4.59, 8}, Even: true, Log: true}
	must.Equal(t, "the example", want, s.Definition, cmpopts.EquateApprox(0.01, 0),
		cmpopts.EquateComparable(scenario.Measure{}))
	if len(s.Pairs) != 2 || s.Pairs[0].Decoder != "bel-u" || s.Pairs[1].Decoder != "bel-j" || s.Size() != 2*36*3 {
		t.Errorf("the example has %v, %d cells", s.Pairs, s.Size())
	}
	s = must.Get(read(`{"codes": ["unary"], "decoders": ["gen-ex", "auto"], "levels": [8, 4],
 "r": [1, 2, 4], "sigma": [1, 2, 4.5], "methods": ["mc"],
 "rel_err": 0.1, "max_samples": 70000, "seed": 7, "temperature": 3}`))(t).Sweep
	want = s.Definition
	want.RelErr, want.MaxSamples, want.Seed, want.Temperature = 0.1, 70000, 7, 3
	want.R.Even, want.R.Log, want.Sigma.Even = true, true, false
	want.Pairs = slices.Clone(want.Pairs)
	want.Pairs[0].Outputs, want.Pairs[1].Outputs, want.Pairs[2].Levels = decode.Logits, decode.Bits, 4
	must.Equal(t, "the plan", want, s.Definition, cmpopts.EquateComparable(scenario.Measure{}))
}

// TestTime: with time for all cells, all are timed, and the estimate is what they took.
func TestTime(t *testing.T) {
	t.Chdir(t.TempDir())
	plan := must.Get(read(`{"codes":["unary"],"decoders":["bel-u"],"levels":[9,12],"r":"0.1:0.5:3","sigma":"1:2:2",
		"methods":["bound","exact","mc"],"samples":100,"seed":1}`))(t)
	done := uint64(0)
	run := montecarlo.Run{Backend: montecarlo.CPU{}, Workers: 1, Done: func(n uint64) { done += n }}
	start := time.Now()
	got := must.Get(plan.Time(t.Context(), run, time.Hour, "cpu"))(t)
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
	for _, row := range must.Get(plan.Time(t.Context(), run, 1, "cpu"))(t) {
		must.Equal(t, "a moment is enough for one cell", 1, row.Timed)
	}
}

// mixed is a plan with all methods, and with invalid cells.
const mixed = `{"codes": ["unary", "johnson"], "decoders": ["auto", "gen-ex"], "levels": [4, 8],
 "r": [0.5, 1, 60], "sigma": [1, 2], "methods": ["bound", "exact", "mc"], "samples": 500}`

// failing is a backend that samples nothing.
type failing struct {
	montecarlo.CPU
	err error
}

func (f failing) Sample(context.Context, *montecarlo.Problem, []montecarlo.Span, []montecarlo.Sums, func(uint64)) error {
	return f.err
}

// TestWorkFails: what was finished before a backend fails is in the file.
func TestWorkFails(t *testing.T) {
	t.Chdir(t.TempDir())
	p := must.Get(read(mixed))(t)
	broken := errors.New("broken")
	dir := t.TempDir()
	run := montecarlo.Run{Backend: failing{err: broken}}
	if err := must.Get(p.Open(dir, 1, 1))(t).Work(t.Context(), run); !errors.Is(err, broken) {
		t.Errorf("the error is %v", err)
	}
	h := must.Get(p.Open(dir, 1, 1))(t)
	if len(h.Todo) == 0 || len(h.Todo) == h.All {
		t.Errorf("%d of %d cells are left", len(h.Todo), h.All)
	}
	for _, cell := range h.Todo {
		if p.task(cell).Method != plane.Sample {
			t.Errorf("%s is left, and needs no samples", p.describe(cell))
		}
	}
}

// TestWorkUnwritable: a file that cannot be written ends the work with the system's error.
func TestWorkUnwritable(t *testing.T) {
	t.Chdir(t.TempDir())
	p := must.Get(read(mixed))(t)
	dir := t.TempDir()
	h := must.Get(p.Open(dir, 1, 1))(t)
	must.Succeed(t, os.Remove(dir))
	if err := h.Work(t.Context(), montecarlo.Run{Backend: montecarlo.CPU{}}); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("without a folder: %v", err)
	}
}

// TestTimeEnds: a cell of more samples than anyone waits for is timed by those that were drawn.
func TestTimeEnds(t *testing.T) {
	path := filepath.Join(t.TempDir(), "plan.json")
	must.Succeed(t, os.WriteFile(path, []byte(`{"codes": ["unary"], "levels": [8], "r": "1:2:2", "sigma": "1:2:2",
		"methods": ["mc"], "samples": 100000000000, "seed": 1}`), 0o600))
	plan := must.Get(ReadPlan(t.Context(), path, decode.Builtin()))(t)
	start := time.Now()
	rows := must.Get(plan.Time(t.Context(), montecarlo.Run{Backend: montecarlo.CPU{Workers: 1}}, time.Millisecond, "cpu"))(t)
	took := time.Since(start).Seconds()
	if len(rows) != 1 || rows[0].AtLeast || rows[0].Timed != 0 || rows[0].Seconds < 1000*took || took > 5 {
		t.Errorf("%+v after %v s", rows, took)
	}
}
