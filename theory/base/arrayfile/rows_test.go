package arrayfile_test

import (
	"encoding/binary"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"belsim/theory/base/arrayfile"
	"belsim/theory/base/must"
)

// all reads an array to its end.
func all(r *arrayfile.Rows) (*mat.Dense, error) {
	_, m := r.Dims()
	var data []float64
	row := make([]float64, m)
	for {
		err := r.Next(row)
		if err == io.EOF {
			return mat.NewDense(len(data)/m, m, data), nil
		}
		if err != nil {
			return nil, err
		}
		data = append(data, row...)
	}
}

// inFile writes a file and returns its path.
func inFile(t testing.TB, name string, content []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	must.Succeed(t, os.WriteFile(path, content, 0o600))
	return path
}

// wantRows opens a file and expects an array, twice.
func wantRows(t *testing.T, want *mat.Dense, path string, names ...string) {
	t.Helper()
	r, err := arrayfile.OpenRows(path, names...)
	if err != nil {
		t.Error(err)
		return
	}
	defer r.Close()
	for range 2 {
		got, err := all(r)
		if err != nil || !mat.Equal(got, want) {
			t.Errorf("%s: %v, %v; want %v", r.Name(), got, err, mat.Formatted(want))
			return
		}
		must.Succeed(t, r.Rewind())
	}
}

func TestRows(t *testing.T) {
	want := mat.NewDense(5, 3, nil)
	for i := range 15 {
		want.Set(i/3, i%3, float64(i)/2-1)
	}
	flags := mat.NewDense(5, 3, nil)
	flags.Apply(func(i, k int, _ float64) float64 {
		if want.At(i, k) > 1 {
			return 1
		}
		return 0
	}, flags)
	for _, file := range []string{"testdata/arrays.npz", "testdata/arrays-compressed.npz"} {
		for _, array := range []string{"logits", "fortran", "half"} {
			wantRows(t, want, file+":"+array)
		}
		wantRows(t, flags, file+":flags")
		wantRows(t, mat.NewDense(5, 1, []float64{1, 2, 3, 2, 1}), file+":levels")
		wantRows(t, want, file, "outputs", "logits")
	}
	wantRows(t, want, "testdata/one.npz", "outputs")
	wantRows(t, want, "testdata/one.npz:arr_0")

	small := mat.NewDense(2, 3, []float64{0, 1, 0, 1, 1, 0})
	paths := must.Get(filepath.Glob("testdata/*.npy"))(t) // numpy.save wrote them: see testdata/README.md
	if len(paths) == 0 {
		t.Error("no files of NumPy")
	}
	for _, path := range paths {
		wantRows(t, small, path)
	}
	for name, text := range map[string]string{
		"plain":  "0,1,0\n1,1,0\n",
		"header": "a,b,\"c\"\n0,1,0\n1,1,0\n",
		"crlf":   "0, 1,0\r\n1,1, 0",
		"pandas": "0,1,2\n0,1,0\n1,1,0\n",
		"bools":  "\ufefffalse,True,0\ntrue,1,false\n",
	} {
		wantRows(t, small, inFile(t, name+".CSV", []byte(text)))
		wantRows(t, small, inFile(t, name, []byte(text))) // what it is, its first bytes show
	}
}

func TestRowsRefusals(t *testing.T) {
	eight := make([]byte, 8)
	for _, tt := range []struct {
		name string
		file []byte
	}{
		{"a.csv", []byte("a,b\n")}, {"a.csv", npyFile("'<f8'", "(1, 1)", eight)}, {"a.csv", []byte("a,b\n0,1\n0\n")},
		{"a.csv", []byte("0.5,1\n0,x\n")}, {"a.csv", []byte("level\n1\n\n2\n3x\n")},
		{"a.npy", npyFile("'<f8'", "(1, 2)", eight)}, {"a.npy", npyFile("'<f8'", "(1, 1, 1, 1)", eight)},
		{"a.npy", npyFile("'<f8'", "(1, 0, 1)", nil)}, {"a.npy", npyFile("'<f8'", "(1, 1, 0)", nil)},
		{"a.npy", npyFile("'|u1'", "(1, 256, 257)", nil)}, {"a.npy", npyFile("'|u1'", "(1, 256, 256)", nil)},
		{"a.npy", npyFile("'<f8'", "()", eight)}, {"a.npy", npyFile("'<f8'", "(1, 0)", nil)},
		{"a.npy", npyFile("'<f4'", "(4611686018427387904, 2)", eight)}, {"a.npz", []byte("text")}, {"a.npz", []byte("PK\x03\x04")},
		{"a.pkl", nil},
	} {
		path := inFile(t, tt.name, tt.file)
		r, err := arrayfile.OpenRows(path)
		var read *mat.Dense
		if err == nil {
			read, err = all(r)
			r.Close()
		}
		refused(t, tt.file, read != nil, err, path)
	}
	for path, want := range map[string]string{
		"testdata/arrays.npz":      "which array? Want testdata/arrays.npz:NAME with one of logits, fortran, half, levels, flags",
		"testdata/arrays.npz:nope": `no array "nope"; it has logits,`, "testdata/no.npz": "no such file", "testdata/no.csv": "no such file",
	} {
		if _, err := arrayfile.OpenRows(path, "z"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want one about %q", path, err, want)
		}
	}
}

// FuzzRows reads any bytes in every format: an array or an error, and the same array
// again.
func FuzzRows(f *testing.F) {
	for _, pattern := range []string{"testdata/*.npy", "testdata/*.npz"} {
		paths, _ := filepath.Glob(pattern)
		for _, p := range paths {
			if b, err := os.ReadFile(p); err == nil {
				f.Add(b, strings.TrimPrefix(filepath.Ext(p), "."))
			}
		}
	}
	f.Add([]byte("\ufeff1e-300,true\r\n\"2\",0x1p-3\r\n"), "csv")
	f.Add([]byte("y\n1\n2\n"), "csv")
	f.Add([]byte("0.5,true\n1e-3,0\n"), "csv")
	f.Fuzz(func(t *testing.T, in []byte, ending string) {
		if ending != "csv" && ending != "npy" && ending != "npz" {
			return
		}
		r, err := arrayfile.OpenRows(inFile(t, "in."+ending, in), "logits", "arr_0")
		if err != nil {
			return
		}
		defer r.Close()
		first, err := all(r)
		if err != nil {
			return
		}
		if n, m := r.Dims(); m != first.RawMatrix().Cols || n >= 0 && n != first.RawMatrix().Rows {
			t.Errorf("said to be %d × %d, and is %d × %d", n, m, first.RawMatrix().Rows, first.RawMatrix().Cols)
		}
		if m, err := arrayfile.ReadFile(inFile(t, "in."+ending, in)); err == nil {
			roundTrip(t, m)
		}
		must.Succeed(t, r.Rewind())
		if again, err := all(r); err != nil || !mat.Equal(first, again) {
			t.Errorf("read again: %v, another array", err)
		}
	})
}

// TestTake reads parts of an array of three dimensions.
func TestTake(t *testing.T) {
	var data []byte
	for i := range 2 * 3 * 2 { // N × K × M
		data = binary.LittleEndian.AppendUint64(data, math.Float64bits(float64(i)))
	}
	r := must.Get(arrayfile.OpenRows(inFile(t, "a.npy", npyFile("'<f8'", "(2, 3, 2)", data))))(t)
	defer r.Close()
	if n, m := r.Dims(); n != 2 || m != 6 || r.Parts() != 3 {
		t.Fatalf("%d × %d, %d parts", n, m, r.Parts())
	}
	for _, bad := range [][2]int{{-1, 2}, {4, 7}, {3, 3}} {
		if err := r.TakeColumns(bad[0], bad[1]); err == nil {
			t.Errorf("%v was taken", bad)
		}
	}
	must.Succeed(t, r.TakeColumns(2, 4))
	for range 2 {
		row := make([]float64, 2)
		for i := range 2 {
			if err := r.Next(row); err != nil || row[0] != float64(6*i+2) || row[1] != float64(6*i+3) {
				t.Errorf("row %d: %v, %v", i, row, err)
			}
		}
		if err := r.Next(row); err != io.EOF {
			t.Errorf("after the last row: %v", err)
		}
		must.Succeed(t, r.Rewind())
	}
	if _, m := r.Dims(); m != 2 || r.Parts() != 1 {
		t.Errorf("%d columns, %d parts", m, r.Parts())
	}
}
