package observed_test

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"belsim/errmodel/observed"
	"belsim/theory/base/arrayfile"
	"belsim/theory/base/must"
	"belsim/theory/decode"
)

// TestSuspects: columns that number the samples, and a softmax over bits, are refused by name;
// what is like them and is none is read.
func TestSuspects(t *testing.T) {
	c := mustCode(t, "unary", 4)
	decodings := must.Get(observed.Decodings(decode.Builtin(), c, observed.Logits, decode.Options{}))(t)[:1]
	lines := func(format string, of ...func(i int) any) string {
		var b strings.Builder
		for i := range 12 {
			values := make([]any, len(of))
			for k, f := range of {
				values[k] = f(i)
			}
			fmt.Fprintf(&b, format+"\n", values...)
		}
		return b.String()
	}
	at := func(from int) func(int) any { return func(i int) any { return from + i } }
	wave := func(i int) any { return math.Sin(float64(i)) }
	sign := func(i int) any { return i % 3 % 2 }
	other := func(i int) any { return 1 - i%3%2 }
	far := func(i int) any { return 7 * ((5*i)%13 + 1) }
	for _, tt := range []struct {
		text string
		kind observed.Kind
		want string
	}{
		{lines("%d,%.3f,%.3f", at(0), wave, wave), observed.Logits, "column 1 counts the rows, 0 to 11"},
		{lines("%.3f,%.3f,%d", wave, wave, at(1)), observed.Logits, "column 3 counts the rows, 1 to 12"},
		{lines("%d,%.3f,%.3f", far, wave, wave), observed.Logits, "column 1 has whole numbers alone"},
		{lines("%d,%d,%d", far, sign, other), observed.Logits, "column 1 has whole numbers alone"},
		{lines("%d,%.3f,%.3f", sign, wave, wave), observed.Logits, ""},
		{lines("%d,%d,%d", at(-2), sign, other), observed.Logits, ""}, // logits without decimals
		{lines("%d,%d,%.3f", far, far, wave), observed.Logits, ""},    // logits of eight bits
		{lines("5,%.3f,%.3f", wave, wave), observed.Logits, ""},
		{lines("0.2,0.5,0.3"), observed.Probabilities, "add up to 1, as those of a softmax"},
		{lines("-1.6094,-0.6931,-1.2040"), observed.Logits, "add up to 1, as those of a softmax"},
		{lines("0.2,0.5,0.4"), observed.Probabilities, ""},
		{lines("%d,%d,0", sign, other), observed.Bits, ""},
	} {
		path := filepath.Join(t.TempDir(), "z.csv")
		must.Succeed(t, os.WriteFile(path, []byte("a,b,c\n"+tt.text), 0o600))
		rows := must.Get(arrayfile.OpenRows(path))(t)
		defer rows.Close()
		for _, softmax := range []bool{false, true} {
			s := &observed.Source{Outputs: rows, Kind: tt.kind, Softmax: softmax}
			err := s.Decode(t.Context(), 1, c, observed.LabelsOf(decodings), func([]float64) error { return nil }, nil)
			want := tt.want
			if softmax && strings.Contains(want, "softmax") {
				want = ""
			}
			if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(must.Text(err), want)) {
				t.Errorf("%.30q, softmax %v: %v, want %q", tt.text, softmax, err, want)
			}
		}
	}
}

// TestSettle: the number of the other file's rows says what a first line is.
func TestSettle(t *testing.T) {
	for _, tt := range []struct {
		targets, outputs, want string
		notes                  int
	}{
		{"0\n1\n2\n", "1,2.5\n3,-1.5\n", "", 1},
		{"0\n1\n", "1,2.5\n3,-1.5\n", "target 0: levels are", 0},
		{"1\n2\n", "0,1\n1,1\n0,0\n", "", 1},
		{"1\n2\n", "0,1\n1,1\n", "", 0},
		{"3\n1\n2\n", "1,2.5\n3,-1.5\n", "y.csv has 3 targets: is its first line the names", 0},
		{"1\n2\n3\n", "0,1,2\n0.5,1.25,2\n0.5,1.5,2\n", "line 1 (0, 1, 2) is left out, as the names", 1},
		{"0\n1\n2\n", "0,1\n1,1\n0,0\n", "may be the names of columns", 0}, // nothing tells
	} {
		dir := t.TempDir()
		open := func(name, text string) *arrayfile.Rows {
			must.Succeed(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
			return must.Get(arrayfile.OpenRows(filepath.Join(dir, name)))(t)
		}
		s := &observed.Source{Targets: open("y.csv", tt.targets), Outputs: open("z.csv", tt.outputs),
			Labels: observed.Labels{Levels: 3}, Kind: observed.Logits}
		defer s.Targets.Close()
		defer s.Outputs.Close()
		must.Succeed(t, s.Settle(t.Context()))
		_, err := s.Subsample(t.Context(), 10, 1, nil)
		if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(must.Text(err), tt.want)) {
			t.Errorf("%q, %q: %v, want %q", tt.targets, tt.outputs, err, tt.want)
		}
		if got := s.Notes(); len(got) != tt.notes {
			t.Errorf("%q, %q: notes %q", tt.targets, tt.outputs, got)
		}
	}
}
