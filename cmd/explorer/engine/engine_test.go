package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"belsim/errmodel/assess"
	"belsim/montecarlo"
	"belsim/montecarlo/compare"
	"belsim/montecarlo/plane"
	"belsim/theory/base/must"
	"belsim/theory/base/table"
	"belsim/theory/expect"
)

// scene is the page's scene at its beginning.
func scene(levels int) Scene {
	return Scene{Levels: levels, Decoder: "auto", Outputs: "auto", R: 0.6, Sigma: 1.5, Temperature: 1, Seed: 1}
}

// ask asks an engine. The question is marshalled as the page's questions are.
func ask(t *testing.T, e *Engine, method string, question any) *answer {
	t.Helper()
	a, err := try(e, method, question)
	if err != nil {
		t.Fatalf("%s: %v", method, err)
	}
	return a
}

func try(e *Engine, method string, question any) (*answer, error) {
	q, err := table.JSON(question)
	if err != nil {
		return nil, err
	}
	return e.call(context.Background(), method, q)
}

// call is a question to a method.
type call struct {
	method   string
	question any
}

// questions are asked here and in the browser's machine; the answers must be the same.
func questions() map[string]call {
	plain := Subject{Scene: scene(16), Code: Code{Name: "johnson"}}
	edited := Subject{Scene: scene(16), Code: Code{Name: "johnson", Flips: [][2]int{{4, 7}}}}
	own := Subject{Scene: scene(4), Code: Code{Name: "own.csv", Rows: []string{"001", "011", "010", "110"}}}
	logits := Subject{Scene: scene(16), Code: Code{Name: "hadamard"}}
	logits.Scene.Outputs, logits.Scene.Decoder, logits.Scene.Temperature = "logits", "gen-ex", 2
	middle := plain
	middle.Scene.Prior = Prior{Kind: "middle"}
	counts := plain
	counts.Scene.Prior = Prior{Kind: "counts", Counts: []float64{0, 1, 2, 3}}
	axes := mapQuestion{Scene: scene(16), A: Code{Name: "unary"}, B: Code{Name: "johnson"}, X: "0.1:5:4:log",
		Y: "0.5:5:3:log", From: 1, To: 3, Samples: 50}
	out := map[string]call{"about": {"about", struct{}{}}}
	for _, method := range []plane.Method{plane.Bound, plane.Exact, plane.Sample} {
		axes.Method = method
		out["map "+string(method)] = call{"map", axes}
	}
	for name, s := range map[string]Subject{"johnson": plain, "edited": edited, "own": own, "logits": logits,
		"middle": middle, "counts": counts} {
		out[name+" code"], out[name+" errors"] = call{"code", s}, call{"errors", s}
		out[name+" theory"] = call{"theory", theoryQuestion{Subject: s}}
		out[name+" samples"] = call{"samples", samplesQuestion{s, 300, 1, s.Scene.Levels}}
		out[name+" row"] = call{"row", rowQuestion{Subject: s, Samples: 100}}
	}
	return out
}

// flat is an answer as files hold it.
type flat struct {
	JSON    json.RawMessage
	Numbers map[string]json.RawMessage `json:",omitempty"`
	Bytes   map[string]string          `json:",omitempty"`
}

func flatten(t *testing.T, a *answer) flat {
	t.Helper()
	text := must.Get(table.JSON(a.JSON))(t)
	out := flat{JSON: text, Numbers: map[string]json.RawMessage{}, Bytes: map[string]string{}}
	for name, numbers := range a.Numbers {
		out.Numbers[name] = must.Get(table.JSON(numbers))(t) // which writes NaN
	}
	for name, b := range a.Bytes {
		out.Bytes[name] = fmt.Sprint(b)
	}
	return out
}

// TestAnswers compares the answers under js/wasm with those of this machine, which a native run
// has written to the file that $BELSIM_ANSWERS names. The exponentials are others: the last digits
// of closed forms may differ.
func TestAnswers(t *testing.T) {
	path := os.Getenv("BELSIM_ANSWERS")
	if path == "" {
		t.Skip("BELSIM_ANSWERS is not set: the answers in the browser are not compared with native ones")
	}
	got := map[string]flat{}
	e := New("test")
	for name, q := range questions() {
		got[name] = flatten(t, ask(t, e, q.method, q.question))
	}
	if runtime.GOOS != "js" {
		b := must.Get(table.JSON(got))(t)
		must.Succeed(t, os.WriteFile(path, b, 0o666))
		return
	}
	b := must.Get(os.ReadFile(path))(t)
	var want map[string]any
	must.Succeed(t, json.Unmarshal(b, &want))
	near := cmp.Comparer(func(a, b float64) bool {
		return a == b || math.Abs(a-b) <= 1e-12*max(math.Abs(a), math.Abs(b))
	})
	decode := func(f flat) (v any) {
		text, _ := table.JSON(f)
		must.Succeed(t, json.Unmarshal(text, &v))
		return v
	}
	for name := range questions() {
		if d := cmp.Diff(want[name], decode(got[name]), near); d != "" {
			t.Errorf("%s: native (−), here (+)\n%s", name, d)
		}
	}
	t.Logf("%d answers compared", len(got))
}

// TestStopped: a question that was stopped has the context's error, and no answer that says so.
func TestStopped(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	stop()
	for name, q := range questions() {
		text := must.Get(table.JSON(q.question))(t)
		a, err := New("test").call(ctx, q.method, text)
		short := q.method == "about" || q.method == "code" // they ask nobody
		if short != (err == nil) || !short && !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %+v, %v", name, a, err)
		}
	}
}

// TestRowIsCompare: a row of the table is the command's, but for what holds under any law, which
// the page does not show.
func TestRowIsCompare(t *testing.T) {
	e := New("")
	for _, name := range []string{"unary", "johnson", "gray", "hexj", "hadamard"} {
		for _, decoder := range []string{"gen", "auto"} {
			s := scene(8)
			s.Decoder = decoder
			sub := must.Get(e.subject(t.Context(), s, Code{Name: name}, ""))(t)
			c := must.Get(compare.Rank(t.Context(), sub.scenario, run, &compare.Candidates{
				Problems: []*montecarlo.Problem{sub.problem}, Skip: expect.Skip{AnyLaw: true, Limit: true},
			}, s.draw(50)))(t)
			row := ask(t, e, "row", rowQuestion{Subject: Subject{Scene: s, Code: Code{Name: name}}, Samples: 50})
			want := rowAnswer{Result: c.Results[0]}
			must.Equal(t, name+", "+decoder, want, row.JSON.(rowAnswer))
		}
	}
}

// TestConfusion: the rows of the confusion matrix sum to 1 and have the exact errors; there is none without a formula.
func TestConfusion(t *testing.T) {
	const levels = 16
	for _, name := range []string{"unary", "johnson", "hexj"} {
		s := Subject{Scene: scene(levels), Code: Code{Name: name}}
		rows := ask(t, New(""), "answers", s).Numbers["answers"]
		exact := ask(t, New(""), "theory", theoryQuestion{Subject: s}).Numbers["exact"]
		for i, want := range exact {
			sum, mean := 0.0, 0.0
			for m, p := range rows[i*levels : (i+1)*levels] {
				sum += p
				mean += p * math.Abs(float64(m-i))
			}
			must.Within(t, name+": sum", sum, 1-1e-12, 1+1e-12)
			must.Within(t, name+": mean error", mean, want*(1-1e-12), want*(1+1e-12))
		}
	}
	none := ask(t, New(""), "answers", Subject{Scene: scene(64), Code: Code{Name: "hadamard"}})
	must.Equal(t, "hadamard of 64 levels", 0, len(none.Numbers["answers"]))
}

// TestLevels: a level that never occurs has no exact value, and nothing comes later where there is none.
func TestLevels(t *testing.T) {
	s := Subject{Scene: scene(44), Code: Code{Name: "johnson"}, Decoder: "gen"} // 22 bits: an interval
	s.Scene.Prior = Prior{"counts", make([]float64, 44)}
	s.Scene.Prior.Counts[1] = 1
	exact := ask(t, New(""), "theory", theoryQuestion{Subject: s}).Numbers["exact"]
	must.Equal(t, "exact values are missing", [2]bool{true, false},
		[2]bool{math.IsNaN(exact[0]), math.IsNaN(exact[1])})
	s.Scene.Outputs = "logits"
	quick := ask(t, New(""), "theory", theoryQuestion{s, true}).JSON.(theoryAnswer)
	must.Equal(t, "more comes later", false, quick.Later)
	must.Equal(t, "file of changed rows", "a-edited.csv",
		Code{Name: "a.csv", Rows: []string{"0", "1"}, Flips: [][2]int{{1, 1}}}.file())
}

// TestQuick: what is left out at first comes later, and what was there stays.
func TestQuick(t *testing.T) {
	e := New("")
	for _, test := range []struct {
		name         string
		levels       int
		bound, exact bool // come later
	}{{"hexj", 64, false, true}, {"unary", 80, true, true}} {
		s := Subject{Scene: scene(test.levels), Code: Code{Name: test.name}, Decoder: "gen"}
		quick := ask(t, e, "theory", theoryQuestion{s, true})
		first := quick.JSON.(theoryAnswer)
		if !first.Later || test.bound != math.IsNaN(first.Mean.Bound) || test.exact != math.IsNaN(first.Mean.Exact) {
			t.Errorf("%s: at first %+v", test.name, first)
		}
		whole := ask(t, e, "theory", theoryQuestion{s, false})
		if last := whole.JSON.(theoryAnswer); last.Later || math.IsNaN(last.Mean.Exact) {
			t.Errorf("%s: later %+v", test.name, last)
		}
		for i, exact := range whole.Numbers["exact"] {
			b, w := quick.Numbers["bound"][i], whole.Numbers["bound"][i]
			if !(exact > 0 && exact < w) || !test.bound && math.Abs(b-w) > 1e-12*w {
				t.Errorf("%s, level %d: bound %v at first, %v later, exact %v", test.name, i+1, b, w, exact)
			}
		}
	}
}

func TestMapRows(t *testing.T) {
	e := New("")
	q := mapQuestion{Scene: scene(8), A: Code{Name: "unary"}, B: Code{Name: "johnson"}, Method: plane.Exact,
		X: "0.1:2:5:log", Y: "0.5:4:6:log", To: 6}
	whole := ask(t, e, "map", q).Numbers["increase"]
	var parts []float64
	for from := 0; from < 6; from += 2 {
		q.From, q.To = from, from+2
		parts = append(parts, ask(t, e, "map", q).Numbers["increase"]...)
	}
	must.Equal(t, "the map in three parts", fmt.Sprint(whole), fmt.Sprint(parts))
}

func TestRefusals(t *testing.T) {
	e := New("")
	with := func(change func(s *Subject)) Subject {
		s := Subject{Scene: scene(8), Code: Code{Name: "johnson"}}
		change(&s)
		return s
	}
	for _, test := range []struct {
		method   string
		question any
		want     string
	}{
		{"nothing", struct{}{}, `does not know "nothing"`},
		{"code", with(func(s *Subject) { s.Scene.Levels = 1 }), "1 levels: the explorer takes 2 to 512"},
		{"code", with(func(s *Subject) { s.Code.Flips = [][2]int{{9, 1}} }), "no bit 1 of level 9"},
		{"code", with(func(s *Subject) { s.Code.Rows = []string{"01"} }), "has 1 levels; want 8"},
		{"code", with(func(s *Subject) { s.Scene.Levels, s.Code.Rows = 2, []string{"01", "1"} }), "level 2 has 1 bits"},
		{"code", with(func(s *Subject) { s.Scene.Levels, s.Code.Rows = 2, []string{"", ""} }), "want 2"},
		{"errors", with(func(s *Subject) { s.Scene.Sigma = 0 }), "σ"},
		{"theory", with(func(s *Subject) { s.Scene.Temperature = 0 }), "temperature"},
		{"theory", with(func(s *Subject) { s.Scene.Prior.Kind = "x" }), "want uniform"},
		{"theory", with(func(s *Subject) { s.Scene.Prior = Prior{"counts", []float64{0, 0}} }), "counts add up to 0; want a positive finite"},
		{"samples", samplesQuestion{with(func(*Subject) {}), 10, 3, 3}, "want some of 1 to 8"},
		{"map", mapQuestion{Scene: scene(8), X: "0:1:3:log", Y: "1:2:3:log"}, "want positive finite numbers"},
		{"map", mapQuestion{Scene: scene(8), X: "1:2:3:log", Y: "1:2:3:log", To: 4}, "rows 0 to 4"},
		{"map", mapQuestion{Scene: scene(8), A: Code{Name: "unary"}, B: Code{Name: "gray"}, X: "1:2:3:log", Y: "1:2:3:log",
			Method: "auto"}, `method is "auto"`},
		{"map", mapQuestion{Scene: scene(8), X: "1:2:3000:log", Y: "1:2:3000:log"}, "3000 × 3000 cells"},
		{"file", outputQuestion{What: "x", Subject: with(func(*Subject) {})}, `no file of "x"`},
		{"file", outputQuestion{What: "prior", Subject: with(func(*Subject) {})}, "occur equally often"},
	} {
		must.Refuse(try(e, test.method, test.question))(t, test.want)
	}
}

// TestChanged: of a code with changed bits, the answer names the decoders, and what is wrong.
func TestChanged(t *testing.T) {
	for _, test := range []struct {
		decoder, plain, reads, problem string
		flips                          [][2]int
	}{
		{"auto", "", "bel-j", "", nil},
		{"auto", "bel-j", "gen", "", [][2]int{{3, 2}}},
		{"gen", "gen", "gen", "", [][2]int{{3, 2}}},
		// equal code words
		{"auto", "bel-j", "", "johnson-edited.csv", [][2]int{{2, 8}}},
	} {
		s := Subject{Scene: scene(16), Code: Code{Name: "johnson", Flips: test.flips}}
		s.Scene.Decoder = test.decoder
		a := ask(t, New(""), "code", s)
		c := a.JSON.(codeAnswer)
		got := []string{c.Plain, c.Decoder, strings.SplitN(c.Problem, ":", 2)[0]}
		must.Equal(t, fmt.Sprintf("%+v", test), []string{test.plain, test.reads, test.problem}, got)
		must.Equal(t, "the size of the matrix", 16*8, len(a.Bytes["matrix"]))
	}
}

func TestInvalidMixture(t *testing.T) {
	s := Subject{Scene: scene(8), Code: Code{Name: "johnson"}}
	s.Scene.R = 50
	a := ask(t, New(""), "errors", s).JSON.(errorsAnswer)
	if a.Problem == "" || !(a.MaxR > 1 && a.MaxR < 50) {
		t.Errorf("%+v", a)
	}
	s.Scene.R = a.MaxR
	if a := ask(t, New(""), "errors", s).JSON.(errorsAnswer); a.Problem != "" {
		t.Errorf("r = %v, the largest valid one: %s", s.Scene.R, a.Problem)
	}
}

func TestInspect(t *testing.T) {
	folder := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(folder, name)
		must.Succeed(t, os.WriteFile(path, []byte(text), 0o666))
		return path
	}
	for kind, text := range map[string]string{
		"code": "0,0\n0,1\n1,1\n", "prior": "label,count\n3,1\n5,2\n",
	} {
		if a := ask(t, New(""), "inspect", fileQuestion{write(kind+".csv", text)}).JSON.(*Inspected); a.Kind != kind {
			t.Errorf("%s is taken for %s", kind, a.Kind)
		}
	}
	want := &Fit{"johnson", 4, 1, 2, []float64{0.25, 0.25, 0.25, 0.25}, 6}
	fit := must.Get(table.JSON(assess.Fit{Format: 1, Code: want.Code, Levels: want.Levels, Bits: 2, R: want.R,
		RInterval: [2]float64{1, 1}, Sigma: want.Sigma, SigmaInterval: [2]float64{2, 2}, Prior: want.Prior, LevelWidth: 1,
		LogitScale: 2, Temperature: 3}))(t)
	must.Equal(t, "the mixture of a fit", &Inspected{Kind: "fit", Fit: want},
		ask(t, New(""), "inspect", fileQuestion{write("good.json", string(fit))}).JSON.(*Inspected))
	for name, text := range map[string]string{
		"fit.json": "{", "twice.csv": "0,1\n0,1\n", "ragged.csv": "0,1\n0\n", "words.csv": "a,b\nc,d\n",
		"outputs.csv": "1.5,-2\n0.3,4\n2,2\n", "targets.csv": "1\n2\n3.5\n", "empty.csv": "", "bad.npy": "not numpy", "picture.png": "x",
	} {
		must.Refuse(try(New(""), "inspect", fileQuestion{write(name, text)}))(t, name)
	}
	if _, err := try(New(""), "inspect", fileQuestion{filepath.Join(folder, "missing.csv")}); err == nil {
		t.Error("a file that does not exist is read")
	}
}

func TestFiles(t *testing.T) {
	e := New("")
	s := Subject{Scene: scene(4), Code: Code{Name: "johnson"}}
	s.Scene.Prior = Prior{Kind: "low"}
	m := mapQuestion{Scene: s.Scene, A: Code{Name: "unary"}, B: Code{Name: "johnson"}, Method: plane.Exact,
		X: "0.1:1:2:log", Y: "0.5:1:2:log"}
	for what, want := range map[string]string{
		"code":   "0,0\n0,1\n1,1\n1,0\n",
		"prior":  "label,count\n1,607\n2,223\n3,82\n4,30\n",
		"levels": "level,bound,exact,mean,stderr,samples,detectable,sum_abs,sum_square\n1,",
		"errors": "0.0",
		"map":    "r,sigma,exact_a,exact_b,exact_increase_percent\n0.1,0.5,",
	} {
		got := string(ask(t, e, "file", outputQuestion{What: what, Subject: s, Map: m, Samples: 10}).Bytes["file"])
		if !strings.HasPrefix(got, want) {
			t.Errorf("%s begins\n%.120s\nwant\n%s", what, got, want)
		}
	}
}

// TestKept: what is kept never changes an answer, also when it is full.
func TestKept(t *testing.T) {
	e := New("")
	theory := func(r float64) string {
		s := scene(8)
		s.R = r
		return fmt.Sprint(ask(t, e, "theory",
			theoryQuestion{Subject: Subject{Scene: s, Code: Code{Name: "johnson"}}}).Numbers)
	}
	first := theory(0.6)
	for i := range 3*keep + 1 {
		theory(0.1 + 0.001*float64(i))
	}
	if n := len(e.problems); n < 1 || n > keep {
		t.Errorf("%d problems are kept; want at most %d", n, keep)
	}
	if again := theory(0.6); again != first {
		t.Errorf("first %s, then %s", first, again)
	}
}

// BenchmarkMoved is what a page asks before it draws, after a move at 256 levels. 100 ms are felt as at once; four
// workers share the samples.
func BenchmarkMoved(b *testing.B) {
	for _, name := range []string{"unary", "b1jdj", "onehot", "hadamard"} {
		b.Run(name, func(b *testing.B) {
			e, s := New(""), Subject{Scene: scene(256), Code: Code{Name: name}}
			for range b.N {
				s.Scene.R += 1e-4
				for _, q := range []call{{"errors", s}, {"code", s}, {"theory", theoryQuestion{s, true}},
					{"samples", samplesQuestion{s, 64, 0, 64}}} {
					text := must.Get(table.JSON(q.question))(b)
					if _, err := e.Write(b.Context(), q.method, text); err != nil {
						b.Fatal(err)
					}
				}
			}
		})
	}
}
