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

// TestOpenMatrices: matrices of ±1 are bits, arrays of .npz files are codes.
func TestOpenMatrices(t *testing.T) {
	folder := t.TempDir()
	path := func(name string) string { return filepath.Join(folder, name) }
	for name, text := range map[string]string{
		"bits.csv": "0,1\n1,0\n1,1\n", "signs.csv": "-1,1\n1,-1\n1,1\n", "wide.csv": "0,0,1\n0,1,1\n",
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
	for name, want := range map[string]string{"wide.csv": path("wide.csv"), "c.npz:C": path("c.npz:C")} { // no alarm
		must.Equal(t, "the name of a path", want, must.Get(code.Open(path(name), 0))(t).Name())
	}
	for _, name := range []string{"wide.csv", "c.npz:C"} {
		must.Equal(t, "the name of mine="+name, "mine", must.Get(code.OpenReal("mine="+path(name), 0))(t).Name())
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
