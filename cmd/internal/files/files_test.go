package files

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/alecthomas/kong"

	"belsim/theory/base/must"
)

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
