package sweep

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"belsim/montecarlo"
	"belsim/montecarlo/scenario"
	"belsim/theory/base/must"
	"belsim/theory/base/table"
)

// small is a plan of two codes, two methods and 2 × 3 cells of each.
func small() Definition {
	return Definition{
		NumericVersion: montecarlo.NumericVersion,
		Pairs: []Pair{
			{Code: "unary", Identity: "unary", Levels: 4, Bits: 3, Decoder: "bel-u", Outputs: "bits", Methods: []scenario.Method{scenario.Exact, scenario.Sample}},
			{Code: "a.csv", Identity: "sha256:12 4x3", Levels: 4, Bits: 3, Decoder: "gen", Outputs: "bits", Methods: []scenario.Method{scenario.Sample}},
		},
		Axes:     scenario.AxesOf(scenario.Mixtures, scenario.Axis{Values: []float64{0.1, 0.2}}, scenario.Axis{Values: []float64{1, 2, 3}}),
		Sampling: scenario.Sampling{Samples: 1000, Within: 5, Seed: 1}, Reading: scenario.Reading{Temperature: 1, LabelKind: scenario.Levels},
	}
}

func mustNew(t testing.TB, p Definition) *Sweep {
	t.Helper()
	return must.Get(New(p))(t)
}

// made is a result of a piece that anybody can make again.
func (s *Sweep) made(p Piece) result {
	task := s.Task(p.Task)
	r := s.result(p)
	switch id := s.ids[p.Task]; {
	case id[0] < 40:
		r.Invalid = true
	case task.Method != scenario.Sample:
		v := float64(id[1]) / 3
		r.Value = &v
	default:
		sums := make([]montecarlo.Sums, s.Pairs[task.Pair].Levels)
		for _, span := range s.Spans(p) {
			// Sums of a span are those of its parts, however it was cut.
			for n := range span.Samples {
				x := uint64(id[2])*((uint64(span.Block)*montecarlo.BlockSize+n)%7) + uint64(span.Row)
				sums[span.Row].Add(montecarlo.Sums{Samples: 1, Abs: x, Square: x * x, Within: x % 2})
			}
		}
		r = s.sampled(p, sums, false)
	}
	return r
}

// add stores a made-up result of a piece.
func add(t testing.TB, h *Shard, p Piece, r result) {
	t.Helper()
	must.Succeed(t, h.add(p, r))
}

// cellsOf are the rows of all cells, as JSON.
func cellsOf(t testing.TB, m *Merged) string {
	t.Helper()
	return string(must.Get(table.JSON(m.Table("").Cells))(t))
}

func TestIDs(t *testing.T) {
	s := mustNew(t, small())
	// Results that users have are found by these: a change of them wants a new
	// montecarlo.NumericVersion or a new format, or is a mistake.
	if got, want := s.ids[0].String(), "46b3f7a94093a27cbe7810fb44aa0bb7"; got != want {
		t.Errorf("task 0 is %s, want %s", got, want)
	}
	if got, want := s.ids[1].String(), "2d52bd7af2906dd1f09d754c44182801"; got != want {
		t.Errorf("task 1 is %s, want %s", got, want)
	}
	// All that determines the numbers changes the IDs of what it determines, and nothing else does.
	const exact, sample = 1, 2
	for name, tt := range map[string]struct {
		change  func(p *Definition)
		changes int
	}{
		"numeric version":              {func(p *Definition) { p.NumericVersion++ }, exact | sample},
		"identity":                     {func(p *Definition) { p.Pairs[0].Identity = "johnson" }, exact | sample},
		"levels":                       {func(p *Definition) { p.Pairs[0].Levels = 5 }, exact | sample},
		"decoder":                      {func(p *Definition) { p.Pairs[0].Decoder = "gen" }, exact | sample},
		"outputs":                      {func(p *Definition) { p.Pairs[0].Outputs = "logits" }, exact | sample},
		"r":                            {func(p *Definition) { p.R.Values[0] = 0.1000001 }, exact | sample},
		"sigma":                        {func(p *Definition) { p.Sigma.Values[0] = 1.5 }, exact | sample},
		"temperature":                  {func(p *Definition) { p.Temperature = 2 }, exact | sample},
		"labels":                       {func(p *Definition) { p.LabelKind = scenario.Continuous }, exact | sample},
		"prior":                        {func(p *Definition) { p.Priors = []Prior{{4, []float64{0.5, 0.5, 0, 0}}} }, exact | sample},
		"samples":                      {func(p *Definition) { p.Samples = 1001 }, sample},
		"seed":                         {func(p *Definition) { p.Seed = 2 }, sample},
		"within":                       {func(p *Definition) { p.Within = 4 }, sample},
		"rel_err":                      {func(p *Definition) { p.RelErr = 0.1; p.MaxSamples = 1 << 20 }, sample},
		"the code's path":              {func(p *Definition) { p.Pairs[1].Code = "elsewhere/b.npy" }, 0},
		"max_samples, without rel_err": {func(p *Definition) { p.MaxSamples = 9 }, 0},
		"a uniform prior said":         {func(p *Definition) { p.Priors = []Prior{{4, []float64{0.25, 0.25, 0.25, 0.25}}} }, 0},
	} {
		p := small()
		p.R.Values, p.Sigma.Values = slices.Clone(p.R.Values), slices.Clone(p.Sigma.Values)
		tt.change(&p)
		other := mustNew(t, p)
		changed := 0
		if other.ids[0] != s.ids[0] {
			changed |= exact
		}
		if other.ids[1] != s.ids[1] {
			changed |= sample
		}
		if changed != tt.changes || (other.ID != s.ID) != (changed != 0) {
			t.Errorf("%s: changes %d (exact 1, samples 2), want %d; plan %.8s, was %.8s", name, changed, tt.changes, other.ID, s.ID)
		}
	}
	p := small()
	p.Pairs = append(p.Pairs, p.Pairs[1])
	if _, err := New(p); err == nil || !strings.Contains(err.Error(), "are the same") {
		t.Errorf("a pair that is there twice: %v", err)
	}
	p.Pairs = nil
	if _, err := New(p); err == nil {
		t.Error("a plan without a cell passes")
	}
}

// TestShardsCover: shards have every piece once between them, and as many as each other.
func TestShardsCover(t *testing.T) {
	p := small()
	p.Samples = 100_000_000 // 400 million in all: several pieces
	s := mustNew(t, p)
	if s.Pieces() <= s.Tasks() {
		t.Fatalf("%d pieces of %d tasks: nothing is cut", s.Pieces(), s.Tasks())
	}
	for _, n := range []int{1, 2, 7, 100, 1000} {
		seen := map[Piece]bool{}
		least, most := math.MaxInt, 0
		for i := 1; i <= n; i++ {
			part := s.Part(i, n)
			least, most = min(least, len(part)), max(most, len(part))
			for _, piece := range part {
				if seen[piece] {
					t.Errorf("%d shards: %v is there twice", n, piece)
				}
				seen[piece] = true
			}
		}
		if len(seen) != s.Pieces() || most-least > 1 {
			t.Errorf("%d shards: %d of %d pieces, %d to %d in a shard", n, len(seen), s.Pieces(), least, most)
		}
	}
	for task := range s.Tasks() {
		at, ok := s.find(s.ids[task][:])
		if !ok || at != task {
			t.Errorf("task %d is found as %d, %v", task, at, ok)
		}
	}
}

// TestSpansCover: the pieces of a task are all samples of all its labels, once each, in
// whole blocks.
func TestSpansCover(t *testing.T) {
	for _, samples := range []uint64{2, 65536, 65537, 1_000_000, 70_000_001} {
		p := small()
		p.Samples = samples
		p.Priors = []Prior{{4, []float64{0.5, 0, 0.25, 0.25}}}
		s := mustNew(t, p)
		const task = 1
		var got [4]uint64
		blocks := map[[2]uint64]bool{}
		for part := range s.Parts(task) {
			var inPiece uint64
			for _, span := range s.Spans(Piece{task, part}) {
				inPiece += span.Samples
				got[span.Row] += span.Samples
				for at := uint64(0); at < span.Samples; at += montecarlo.BlockSize {
					key := [2]uint64{uint64(span.Row), uint64(span.Block) + at/montecarlo.BlockSize}
					if blocks[key] {
						t.Fatalf("%d samples: block %v twice", samples, key)
					}
					blocks[key] = true
				}
				if end := uint64(span.Block)*montecarlo.BlockSize + span.Samples; end%montecarlo.BlockSize != 0 && end != samples {
					t.Errorf("%d samples: a span ends at %d, in the middle of a block", samples, end)
				}
			}
			if inPiece == 0 || inPiece > PieceSamples {
				t.Errorf("%d samples: a piece of %d", samples, inPiece)
			}
		}
		if got != [4]uint64{samples, 0, samples, samples} {
			t.Errorf("%d samples: %v", samples, got)
		}
	}
	p := small()
	p.Samples = montecarlo.BlockSize << 31
	s := mustNew(t, Definition{NumericVersion: montecarlo.NumericVersion, Pairs: p.Pairs[:1], Axes: scenario.AxesOf(scenario.Mixtures, scenario.ListAxis([]float64{1}), scenario.ListAxis([]float64{1})), Sampling: p.Sampling})
	if s.Parts(1) > maxTaskParts {
		t.Errorf("%d parts of the largest task", s.Parts(1))
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
	for _, p := range s.Part(i, n) {
		add(t, h, p, s.made(p))
	}
	must.Succeed(t, h.flush())
	return h
}

func mustMerge(t testing.TB, dir string) *Merged {
	t.Helper()
	return must.Get(Merge(context.Background(), dir, nil))(t)
}

// TestMergeAnyCut: any number of shards gives the same rows, and so do shards of several
// cuts together, which have pieces twice.
func TestMergeAnyCut(t *testing.T) {
	p := small()
	p.Samples = 200_000
	s := mustNew(t, p)
	s.cuts[0].units, s.cuts[0].parts = 3, 6 // of 4 rows of 4 blocks: pieces of several rows
	s.cuts[1] = s.cuts[0]
	must.Succeed(t, s.list(s.Tasks()))
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
		if got, err := m.MissingShards(n); got.String() != "3-4,6" || err != nil || m.Shards != 6 {
			t.Errorf("missing are %v, of %d shards (%v)", got, m.Shards, err)
		}
	}
	if err := m.Complete(); err == nil || !strings.Contains(err.Error(), "9 of 18 pieces are missing") {
		t.Errorf("what is missing: %v", err)
	}
	fill(t, s, dir, 1, 7)
	if _, err := mustMerge(t, dir).MissingShards(0); err == nil {
		t.Error("files of shards of 6 and of 7 say how many shards there are")
	}
	if _, err := Merge(context.Background(), t.TempDir(), nil); err == nil {
		t.Error("an empty folder is merged")
	}
}

// TestDamage: no beginning of a file and no file with a changed byte is taken for a result.
func TestDamage(t *testing.T) {
	s := mustNew(t, small())
	dir := t.TempDir()
	path := fill(t, s, dir, 1, 4).Path()
	good := must.Get(os.ReadFile(path))(t)
	read := func(text []byte) error {
		must.Succeed(t, os.WriteFile(path, text, 0o644))
		_, err := s.scan(path, func(Piece, result, []byte) error { return nil })
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
	if _, err := (&Plan{Sweep: s}).Open(dir, 1, 4); err == nil {
		t.Error("a shard goes on from a damaged file")
	}
}

// TestForged: lines that are no results of the sweep, in a file that is whole.
func TestForged(t *testing.T) {
	s := mustNew(t, small())
	at := s.Part(1, 1)[slices.IndexFunc(s.Part(1, 1), func(p Piece) bool { return s.made(p).Sums != nil })]
	for want, change := range map[string]func(r *result){
		"is no piece of this plan":     func(r *result) { r.Part = 1 },
		`"c813" is no piece`:           func(r *result) { r.ID = "c813" },
		"sums of level 5, of 4 levels": func(r *result) { r.Sums[0][0] = 5 },
		"no sums":                      func(r *result) { r.Fraction = nil },
	} {
		r, dir := s.made(at), t.TempDir()
		change(&r)
		h := mustOpen(t, s, dir, 1, 1)
		add(t, h, at, r)
		must.Succeed(t, h.flush())
		if _, err := Merge(t.Context(), dir, nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v; want %q", err, want)
		}
	}
}

// TestOthersRefused: other plans, other versions, other numbers, other names.
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
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v; want %q", what, err, want)
		}
	}
	for what, tt := range map[string]struct {
		other *Sweep
		want  string
	}{"plan": {otherPlan, "another plan"}, "version": {otherVersion, "numbers of version"}} {
		dir := t.TempDir()
		fill(t, s, dir, 1, 2)
		_, err := (&Plan{Sweep: tt.other}).Open(dir, 1, 2)
		check(what+": sweep", err, "another plan")
		both := t.TempDir()
		fill(t, tt.other, both, 2, 2)
		text := must.Get(os.ReadFile(filepath.Join(dir, FileName(s.ID, 1, 2))))(t)
		os.WriteFile(filepath.Join(both, FileName(s.ID, 1, 2)), text, 0o644)
		_, err = Merge(context.Background(), both, nil)
		check(what+": merge", err, tt.want)
	}

	dir := t.TempDir()
	path := fill(t, s, dir, 1, 2).Path()
	os.Rename(path, filepath.Join(dir, FileName(s.ID, 2, 2)))
	_, err := Merge(context.Background(), dir, nil)
	check("renamed", err, "should be called")

	dir = t.TempDir()
	fill(t, s, dir, 1, 1)
	h := mustOpen(t, s, dir, 1, 2)
	for _, p := range s.Part(1, 2) {
		r := s.made(p)
		if r.Sums != nil {
			r.Sums[0][2]++
		}
		add(t, h, p, r)
	}
	must.Succeed(t, h.flush())
	_, err = Merge(context.Background(), dir, nil)
	check("two numbers for a cell", err, "has other numbers than in")
}

// TestTwoWorkers: one shard, two processes' worth of writers. Neither's work spoils the
// other's, and what a race leaves out is found to be missing.
func TestTwoWorkers(t *testing.T) {
	s := mustNew(t, small())
	dir := t.TempDir()
	a := mustOpen(t, s, dir, 1, 1)
	b := mustOpen(t, s, dir, 1, 1)
	pieces := s.Part(1, 1)
	for i, p := range pieces {
		if i%3 != 1 {
			add(t, a, p, s.made(p))
		}
		if i%3 != 2 {
			add(t, b, p, s.made(p))
		}
		if i%5 == 0 {
			must.Succeed(t, a.flush())
		}
		if i%4 == 0 {
			must.Succeed(t, b.flush())
		}
	}
	// A worker that read the file before the other renamed its own.
	old, _ := os.ReadFile(a.Path())
	must.Succeed(t, a.flush())
	os.WriteFile(a.Path(), old, 0o644)
	must.Succeed(t, b.flush())
	for _, p := range mustOpen(t, s, dir, 1, 1).Todo {
		add(t, a, p, s.made(p))
	}
	must.Succeed(t, a.flush())
	if left := mustOpen(t, s, dir, 1, 1).Todo; len(left) != 0 {
		t.Errorf("pieces %v are left", left)
	}
	alone := t.TempDir()
	fill(t, s, alone, 1, 1)
	if got, want := cellsOf(t, mustMerge(t, dir)), cellsOf(t, mustMerge(t, alone)); got != want {
		t.Errorf("two workers: %s\none: %s", got, want)
	}
	last := pieces[len(pieces)-1]
	wrong := s.result(last)
	wrong.Invalid = !s.made(last).Invalid
	add(t, a, last, wrong)
	if err := a.flush(); err == nil || !strings.Contains(err.Error(), "other numbers") {
		t.Errorf("another number for a piece that is there: %v", err)
	}
}

func TestTotal(t *testing.T) {
	var n Total
	for range 3 {
		n.add(math.MaxUint64)
	}
	if got := n.String(); got != "55340232221128654845" {
		t.Errorf("3·(2⁶⁴−1) = %s", got)
	}
}

// BenchmarkNew lists the tasks of a full map: seven codes, four decoders, 60 × 60 cells.
func BenchmarkNew(b *testing.B) {
	p := fullMap()
	for b.Loop() {
		s := mustNew(b, p)
		s.Part(1, 1000)
	}
	b.ReportMetric(float64(mustNew(b, p).Tasks())*float64(b.N)/b.Elapsed().Seconds(), "cells/s")
}

func fullMap() Definition {
	p := small()
	p.Pairs = nil
	for c := range 7 {
		for d := range 4 {
			p.Pairs = append(p.Pairs, Pair{Code: fmt.Sprint(c), Identity: fmt.Sprint(c), Levels: 255, Decoder: fmt.Sprint(d), Methods: []scenario.Method{scenario.Sample}})
		}
	}
	p.R.Values, p.Sigma.Values = nil, nil
	for i := range 60 {
		p.R.Values = append(p.R.Values, float64(i+1))
		p.Sigma.Values = append(p.Sigma.Values, float64(i+1))
	}
	p.Samples = 100_000
	return p
}
