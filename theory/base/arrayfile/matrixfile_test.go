package arrayfile_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"belsim/theory/base/arrayfile"
	"belsim/theory/base/must"
)

// TestReadFileNPZ: a matrix of an .npz is read by its name, and without one where it is the only
// array.
func TestReadFileNPZ(t *testing.T) {
	want := mat.NewDense(3, 2, []float64{0, 1, 1, 0, 1, 1})
	write := func(name string, arrays ...string) string {
		path := filepath.Join(t.TempDir(), name)
		f := must.Get(os.Create(path))(t)
		z := arrayfile.NewNPZWriter(f)
		for _, a := range arrays {
			must.Succeed(t, z.Matrix(a, want))
		}
		must.Succeed(t, z.Close())
		must.Succeed(t, f.Close())
		return path
	}
	one, two := write("one.npz", "C"), write("two.npz", "C", "E")
	for _, path := range []string{one, one + ":C", two + ":C", two + ":E"} {
		if got, err := arrayfile.ReadFile(path); err != nil || !mat.Equal(got, want) {
			t.Errorf("%s: %v, %v", path, got, err)
		}
	}
	broken := filepath.Join(t.TempDir(), "broken.npz")
	must.Succeed(t, os.WriteFile(broken, []byte("PK\x03\x04"), 0o644))
	for path, want := range map[string]string{
		two: "which array?", one + ":D": `no array "D"`, broken: "not an .npz file", "testdata/arrays.npz:nope": "no array",
	} {
		if _, err := arrayfile.ReadFile(path); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want %q", path, err, want)
		}
	}
}

// TestPandasRefusals: the names that pandas writes are not taken for numbers, and the error says
// how to leave them out.
func TestPandasRefusals(t *testing.T) {
	for _, text := range []string{"0,1,2\n0,1,1\n1,0,1\n", ",0,1\n0,1,0\n1,0,1\n"} {
		if _, err := arrayfile.ReadFile(inFile(t, "c.csv", []byte(text))); err == nil || !strings.Contains(err.Error(),
			"header=False and index=False") {
			t.Errorf("%q: error %v", text, err)
		}
	}
	if m, err := arrayfile.ReadFile(inFile(t, "c.csv", []byte("0,1\n1,0\n"))); err != nil || m.At(0, 1) != 1 {
		t.Errorf("a matrix of two columns: %v, %v", m, err)
	}
	path := filepath.Join(t.TempDir(), "z.csv")
	must.Succeed(t, os.WriteFile(path, []byte(",0,1\n0,0.5,1\n1,0.25,2\n"), 0o644))
	if _, err := arrayfile.OpenRows(path); err == nil || !strings.Contains(err.Error(), "index=False") {
		t.Errorf("an index of pandas: error %v", err)
	}
}
