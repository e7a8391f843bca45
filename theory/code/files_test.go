package code_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"belsim/theory/base/arrayfile"
	"belsim/theory/base/must"
	"belsim/theory/code"
)

// TestOpenMatrices: matrices of ±1 are bits, arrays of .npz files are codes, and a matrix that has
// as many columns as levels were asked for looks transposed.
func TestOpenMatrices(t *testing.T) {
	folder := t.TempDir()
	path := func(name string) string { return filepath.Join(folder, name) }
	for name, text := range map[string]string{
		"bits.csv": "0,1\n1,0\n1,1\n", "signs.csv": "-1,1\n1,-1\n1,1\n", "mixed.csv": "-1,0\n1,0\n0,1\n",
		"same.csv": "0,1\n0,1\n", "both.csv": "0,0\n0,0\n", "real.csv": "0.5,1\n1,0\n",
		"wide.csv": "0,0,1\n0,1,1\n",
	} {
		must.Succeed(t, os.WriteFile(path(name), []byte(text), 0o644))
	}
	bits := must.Get(code.Open(path("bits.csv"), 0))(t)
	f := must.Get(os.Create(path("c.npz")))(t)
	z := arrayfile.NewNPZWriter(f)
	must.Succeed(t, z.Matrix("C", bits))
	must.Succeed(t, z.Close())
	must.Succeed(t, f.Close())
	want, _ := bits.Words(t.Context())
	for _, name := range []string{"signs.csv", "c.npz", "c.npz:C"} {
		for _, open := range []func(string, int) (*code.Code, error){code.Open, code.OpenReal} {
			c, err := open(path(name), 3)
			if err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			if got, _ := c.Words(t.Context()); strings.Join(got, ",") != strings.Join(want, ",") || c.Real() {
				t.Errorf("%s: %v, real %v; want %v", name, got, c.Real(), want)
			}
		}
	}
	for _, tt := range []struct {
		name   string
		levels int
		want   string
	}{
		{"mixed.csv", 0, "-1 is neither 0 nor 1"},
		{"bits.csv", 2, "3 rows and 2 columns, but 2 levels were asked for: it looks transposed"},
		{"bits.csv", 5, "3 rows, but 5 levels were asked for"},
		{"c.npz:D", 0, `no array "D"`},
		{"same.csv", 0, "rows 1 and 2 are the same code word; every level needs its own; the transpose"},
		{"both.csv", 0, "every level needs its own"},
		{"real.csv", 0, "0.5 is neither 0 nor 1; fit and decode read codes of real numbers"},
	} {
		if _, err := code.Open(path(tt.name), tt.levels); err == nil || !strings.Contains(must.Text(err), tt.want) {
			t.Errorf("%s: error %v, want %q", tt.name, err, tt.want)
		}
	}
	for name, want := range map[string]string{"wide.csv": path("wide.csv"), "c.npz:C": path("c.npz:C")} { // no alarm
		must.Equal(t, "the name of a path", want, must.Get(code.Open(path(name), 0))(t).Name())
	}
	for _, name := range []string{"wide.csv", "c.npz:C"} {
		must.Equal(t, "the name of mine="+name, "mine", must.Get(code.OpenReal("mine="+path(name), 0))(t).Name())
	}
	if _, err := code.Open("mine="+path("both.csv"), 0); err == nil || !strings.Contains(must.Text(err), path("both.csv")) {
		t.Errorf("%v; want the file's name", err)
	}
	for _, name := range []string{"unary", "probe", "softmax", "", "a.csv"} {
		if _, err := code.Open(name+"="+path("wide.csv"), 0); err == nil || !strings.Contains(must.Text(err), "your own") {
			t.Errorf("%s=FILE: error %v", name, err)
		}
	}
	for text, want := range map[string][2]string{"a=b.csv": {"a", "b.csv"}, "a=-": {"a", "-"}, "b.csv": {"", "b.csv"},
		"./a=b.csv": {"", "./a=b.csv"}, "a=b": {"", "a=b"}, "a=b.npz:C=D": {"a", "b.npz:C=D"}} {
		name, file := code.SplitName(text)
		must.Equal(t, text, want, [2]string{name, file})
	}
	for name, want := range map[string]bool{"a=b.csv": true, "a=-": true, "a=unary": false, "c.npz": true, "c.npz:C": true, "C.NPZ:C": true, "unary": false,
		"npz": false, "unary:C": false} {
		if code.IsFile(name) != want {
			t.Errorf("IsFile(%q) is %v", name, !want)
		}
	}
}
