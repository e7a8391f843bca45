package files

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/alecthomas/kong"

	"belsim/theory/base/must"
)

// TestLeftBehind: an interrupted command names the files that it has written, not all of many.
func TestLeftBehind(t *testing.T) {
	var l Ledger
	for i, want := range []string{"nothing was written", "a0 was written, and nothing else",
		"a0, a1 were written, and nothing else", "a0, a1, a2 were written, and nothing else",
		"a0, a1 and 2 more files were written, and nothing else"} {
		if got := l.LeftBehind(false); got != want {
			t.Errorf("%d files: %q, want %q", i, got, want)
		}
		l.Wrote(fmt.Sprint("a", i))
	}
	if got := new(Ledger).LeftBehind(true); got != "part of the output was printed, and no file was written" {
		t.Errorf("printed: %q", got)
	}
}

// TestLedger: what is read, and what was written, is not written over, under whatever name.
func TestLedger(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, name := range []string{"in.csv", "a.csv"} {
		must.Succeed(t, os.WriteFile(name, nil, 0o644))
	}
	if err := os.Symlink("in.csv", "link.csv"); err != nil {
		t.Skip(err)
	}
	var c struct {
		In   []string `reads:"" sep:"none"`
		Runs string   `reads:"results" arg:""`
		Out  string
	}
	parser := must.Get(kong.New(&c))(t)
	must.Succeed(t, os.WriteFile("shard.jsonl", nil, 0o644))
	k := must.Get(parser.Parse([]string{"--in", "unary:logits:in.csv", "--in", "-", "--out", "a.csv", "."}))(t)
	l := Ledger{Inputs: Inputs(k)}
	for _, tt := range []struct{ path, want string }{
		{"link.csv", "reads this file (--in"},
		{"shard.jsonl", "reads this file"},
		{"a.csv", ""},
		{filepath.Join(".", "a.csv"), "they are one file"},
		{"new.csv", ""},
	} {
		err := l.Claim(tt.path)
		if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
			t.Errorf("claim %s: %v, want %q", tt.path, err, tt.want)
		}
	}
	l.Wrote("a.csv")
	if err := l.MayWrite("a.csv"); err == nil || !strings.Contains(err.Error(), "has written this file") {
		t.Errorf("written twice: %v", err)
	}
	if err := l.CheckStandard(); err != nil {
		t.Errorf("standard input once: %v", err)
	}
	l.Inputs = append(l.Inputs, Input{"--more", "-"})
	if err := l.CheckStandard(); err == nil {
		t.Error("standard input twice was taken")
	}
}
