package arrayfile_test

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
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
		must.Refuse(arrayfile.OpenRows(path, "z"))(t, want)
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

// TestStandardInput: what comes from standard input is told apart by its content, and errors
// name it.
func TestStandardInput(t *testing.T) {
	want := mat.NewDense(2, 3, []float64{1, 0, 2, 3, 4, 5})
	var npy, npz bytes.Buffer
	must.Succeed(t, arrayfile.WriteNPY(t.Context(), &npy, want))
	z := zip.NewWriter(&npz)
	w := must.Get(z.Create("outputs.npy"))(t)
	w.Write(npy.Bytes())
	z.Close()
	give := func(content string) {
		t.Helper()
		r, w, err := os.Pipe()
		must.Succeed(t, err)
		go func() {
			w.WriteString(content)
			w.Close()
		}()
		before := os.Stdin
		os.Stdin = r
		t.Cleanup(func() {
			os.Stdin = before
			r.Close()
		})
	}
	for kind, content := range map[string]string{"csv": "1,0,2\n3,4,5\n", "npy": npy.String(), "npz": npz.String()} {
		give(content)
		wantRows(t, want, "-")
		got, err := arrayfile.ReadFile("-")
		if err != nil || !mat.Equal(got, want) {
			t.Errorf("%s: %v, %v", kind, got, err)
		}
	}
	for _, content := range []string{"", "1,x\n", npy.String()[:100], npy.String() + "more"} {
		give(content)
		m, err := arrayfile.ReadFile("-")
		refused(t, []byte(content), m != nil, err, "standard input")
	}
}

// npyFile is an .npy file of version 1 with the given header fields and data.
func npyFile(descr, shape string, data []byte) []byte {
	dict := fmt.Sprintf("{'descr': %s, 'fortran_order': False, 'shape': %s, }\n", descr, shape)
	out := append([]byte("\x93NUMPY\x01\x00"), binary.LittleEndian.AppendUint16(nil, uint16(len(dict)))...)
	return append(append(out, dict...), data...)
}

func TestNPYRefusals(t *testing.T) {
	eight := make([]byte, 8)
	nan := binary.LittleEndian.AppendUint64(nil, math.Float64bits(math.NaN()))
	one := npyFile("'<f8'", "(1, 1)", eight)
	for _, file := range [][]byte{
		nil, []byte("0,1\n1,0\nmore text"), append([]byte("\x93NUMPY\x04\x00"), eight...), append(one[:len(one):len(one)], one...),
		[]byte("\x93NUMPY\x01\x00\xff\x00{'descr'"), []byte("\x93NUMPY\x01\x00\x04\x00abc\n"), // bad headers
		npyFile("'<f4'", "(1, 2, 1)", eight), npyFile("'<f8'", "(0, 1)", nil), npyFile("'<f8'", "(-1, 1)", eight),
		npyFile("'|u1'", "(1, 1000000)", eight), npyFile("'<f8'", "(3, 1)", eight), npyFile("'<f4'", "(1, 1)", eight),
		npyFile("'<c16'", "(1, 1)", eight), npyFile("'<U2'", "(1, 1)", eight), npyFile("'|O'", "(1, 1)", eight),
		npyFile("'<f8'", "(1, 1)", nan), npyFile("'<f2'", "(1, 1)", []byte{0, 0x7c}), // infinite
	} {
		path := inFile(t, "in.npy", file)
		m, err := arrayfile.ReadFile(path)
		refused(t, file, m != nil, err, path)
	}
}

// refused expects an error of one line that begins with the name of a file.
func refused(t *testing.T, what []byte, read bool, err error, path string) {
	t.Helper()
	if read || err == nil || !strings.HasPrefix(err.Error(), path+": ") || strings.Contains(err.Error(), "\n") {
		t.Errorf("%.60q is read: %v, %v; want one line about %s", what, read, err, path)
	}
}

func TestCSV(t *testing.T) {
	m := must.Get(arrayfile.ReadFile(inFile(t, "in.csv",
		[]byte("\ufeff\"0\", 0.5,1e-3\r\ntrue,-1,\"1\"\r\n\r\n"))))(t)
	if want := mat.NewDense(2, 3, []float64{0, 0.5, 1e-3, 1, -1, 1}); !mat.Equal(m, want) {
		t.Errorf("%v, want %v", mat.Formatted(m), mat.Formatted(want))
	}
	for _, in := range []string{"", "\n\n", "\ufeff\n", "a,b\n0,1\n", "\"a, in m\",b\n0,1\n", "0,\"1\n2,3\n", "0,1\n0\n",
		"0,1\n0,1,1\n", "0,1\n0,\n", "0,NaN\n", "0,-inf\n", "0,1e999\n", strings.Repeat("0,", 1e6) + "0",
		strings.Repeat("0,", 7e4) + "0", strings.Repeat("0", 1e7), strings.Repeat("0\n", 70000),
		"0,1,2\n0,1,1\n1,0,1\n", ",0,1\n0,1,0\n1,0,1\n", // the names that pandas writes
		"1\r2\r", "\xff\xfe1\x00\n\x00", "\x001\x00\n", // of other systems
	} {
		path := inFile(t, "in.csv", []byte(in))
		m, err := arrayfile.ReadFile(path)
		refused(t, []byte(in), m != nil, err, path)
	}
	path := inFile(t, "z.csv", []byte(",0,1\n0,0.5,1\n1,0.25,2\n")) // with an index
	_, err := arrayfile.OpenRows(path)
	refused(t, nil, false, err, path)
}

// roundTrip writes m in every format and expects it back.
func roundTrip(t *testing.T, m *mat.Dense) {
	t.Helper()
	var c, n bytes.Buffer
	must.Succeed(t, arrayfile.WriteCSV(t.Context(), &c, m))
	must.Succeed(t, arrayfile.WriteNPY(t.Context(), &n, m))
	for name, read := range map[string]func() (*mat.Dense, error){
		"csv": func() (*mat.Dense, error) { return arrayfile.ReadFile(inFile(t, "a.csv", c.Bytes())) },
		"npy": func() (*mat.Dense, error) { return arrayfile.ReadFile(inFile(t, "a.npy", n.Bytes())) },
	} {
		got, err := read()
		if err != nil {
			t.Fatalf("%s: what was written is refused: %v", name, err)
		}
		if !mat.Equal(got, m) {
			t.Fatalf("%s: %v, want %v", name, mat.Formatted(got), mat.Formatted(m))
		}
	}
}

// TestWrite: matrices of bits, of numbers that look like the names of columns, and of others.
func TestWrite(t *testing.T) {
	bits := mat.NewDense(2, 3, []float64{0, 1, 0, 1, 1, 0})
	roundTrip(t, bits)
	roundTrip(t, mat.NewDense(2, 3, []float64{0, 1, 2, 1, 1, 0}))
	column := mat.NewDense(20, 1, nil) // whole numbers above others
	column.Apply(func(i, _ int, _ float64) float64 { return 1 + 13.7*float64(i) }, column)
	roundTrip(t, column)
	var b bytes.Buffer
	must.Succeed(t, arrayfile.WriteBitsNPY(t.Context(), &b, bits))
	if got, err := arrayfile.ReadFile(inFile(t, "bits.npy", b.Bytes())); err != nil || !mat.Equal(got, bits) {
		t.Errorf("%v, %v", got, err)
	}
	b.Reset()
	must.Succeed(t, arrayfile.WriteCSV(t.Context(), &b,
		mat.NewDense(1, 7, []float64{0, 256, 1e6, -12345678, 1e15 - 1, 1e15, 0.1})))
	if got, want := b.String(), "0,256,1000000,-12345678,999999999999999,1e+15,0.1\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// floats are lines of numbers as programs write them.
func floats(columns, lines int) string {
	return strings.Repeat(strings.Repeat(",-1.25", columns)[1:]+"\n", lines)
}

// TestFirstLine: what the first line of a .csv is: names, which are left out and, where they are
// numbers, said; a row; or either, which is refused until somebody settles it.
func TestFirstLine(t *testing.T) {
	for _, tt := range []struct{ text, want string }{
		{"y\n" + floats(1, 20), "names"},
		{",y\n0,1.5\n", "names"},
		{"0,1,2\n" + floats(3, 1), "numbers"},
		{"1,2,3\n" + floats(3, 1), "numbers"},
		{"0,1,2\n0,1,0\n", "numbers"},
		{"0\n" + floats(1, 20), "numbers"},
		{"0\n" + floats(1, 3), "doubt"}, // of a person who writes labels of levels, too
		{"0\n1\n2\n3\n", "doubt"},
		{"0,1\n1,1\n0,0\n", "doubt"}, // bits, or names
		{"1,2\n" + floats(2, 3), "doubt"},
		{"16,18,20\n" + floats(3, 3), "doubt"}, // labels of levels
		{"0,0.88,9.6,95\n" + strings.Repeat("0.123456,0.234567,0.345678,0.456789\n", 3), "doubt"},
		{"20\n" + floats(1, 20), "doubt"}, // one number without a point above many that have one
		{"20,25\n" + floats(2, 20), "doubt"},
		{"2015,2011,2013\n" + floats(3, 20), "numbers"},
		{"2015,2011,2013\n" + floats(3, 2), "row"},
		{"20\n" + floats(1, 20) + "7\n", "row"},
		{"a;b\n1;2\n", "error"}, // names of another separator, or of fewer columns; no text
		{"a\n1,2\n", "error"},
		{"a|b\n1|2\n", "error"},
		{"\x1f\x8b\x08a\n1\n", "error"},
		{"PK\x03\x04\n1\n", "error"},
		{"0,5;-1,5\n2,5;1,5\n", "error"}, // of other separators
		{"1,5\t2\n", "error"},
		{"a;b\n0,5;1,5\n", "error"},
		{"1,2,\n3,4,\n", "error"}, // a column more
		{"a,b,\n3,4,5\n", "names"},
		{"sep=,\na,b\n1,2\n", "names"},
		{"sep=,\n3,1\n", "row"},
		{"True\n3\n", "error"},
		{"2\nfalse\n", "error"},
		{"\"a\nb\",c\n1,2\n", "names"}, // a line that ends inside of quotes
		{"\"a\nb,c\n1,2\n", "error"},
		{"0.0\n1\n2\n", "row"},
		{"1\n2\n3\n", "row"},
		{"5\n1\n2\n", "row"},
		{"0\n", "row"},
		{"0.1,0.2,0.3\n0.2,0.3,0.4\n", "row"}, // as the others
		{"-1.5,2.25,0.125\n" + floats(3, 3), "row"},
		{"nan,1,2\n" + floats(3, 3), "error"},
		{"1.5.2\n1.5\n", "error"},
		{"1_0\n2\n", "error"},
		{"1;2\n", "error"},
	} {
		got, rows := "row", 0
		r, err := arrayfile.OpenRows(inFile(t, "a.csv", []byte(tt.text)))
		if err == nil {
			defer r.Close()
			switch {
			case r.Doubtful():
				got = "doubt"
				must.Refused(t, r.Next(make([]float64, 9)), "may be the names")
				for _, names := range []bool{true, false} { // both, and after a rewind
					r.Settle(names)
					must.Succeed(t, r.Rewind())
					rows = count(t, r)
					if want := strings.Count(tt.text, "\n"); names && rows != want-1 || !names && rows != want {
						t.Errorf("%q: %d rows where names is %v", tt.text, rows, names)
					}
				}
			case r.Numbered():
				got = "numbers"
				if !strings.Contains(r.Note(), "line 1 (") {
					t.Errorf("%q: note %q", tt.text, r.Note())
				}
			case r.Header() != nil:
				got = "names"
			default:
				_, m := r.Dims()
				if err = r.Next(make([]float64, m)); err == nil {
					if err = r.Next(make([]float64, m)); err == io.EOF {
						err = nil
					}
				}
			}
		}
		if err != nil {
			got = "error"
		}
		if got != tt.want {
			t.Errorf("%q: %s, want %s (%v)", tt.text, got, tt.want, err)
		}
	}
}

func count(t *testing.T, r *arrayfile.Rows) (n int) {
	_, m := r.Dims()
	for row := make([]float64, m); ; n++ {
		if err := r.Next(row); err == io.EOF {
			return n
		} else if err != nil {
			t.Fatal(err)
		}
	}
}

// TestColumn: FILE.csv:NAME is one column, whatever the others hold.
func TestColumn(t *testing.T) {
	path := inFile(t, "a.csv", []byte("file,0,y\na.png,3,1.5\nb.png,4,2.5\n"))
	for name, want := range map[string]float64{"y": 2.5, "0": 4} {
		r := must.Get(arrayfile.OpenRows(path + ":" + name))(t)
		row := []float64{0}
		must.Succeed(t, errors.Join(r.Next(row), r.Next(row)))
		if row[0] != want || r.Next(row) != io.EOF {
			t.Errorf("%s: %v, want %v", name, row, want)
		}
	}
	for name, want := range map[string]string{"z": `no column "z"; line 1 has file, 0, y`, "file": `column 1: "a.png"`} {
		r, err := arrayfile.OpenRows(path + ":" + name)
		if err == nil {
			err = r.Next(make([]float64, 1))
		}
		must.Refused(t, err, want)
	}
}

// TestTwice: of two arrays of one name, and of a shape that no array has, none is read.
func TestTwice(t *testing.T) {
	var b bytes.Buffer
	z := arrayfile.NewNPZWriter(&b)
	must.Succeed(t, errors.Join(z.Column("a", []float64{1}), z.Column("a", []float64{2}), z.Close()))
	must.Refuse(arrayfile.ReadFile(inFile(t, "a.npz", b.Bytes())+":a"))(t, `two arrays "a"`)
	must.Refuse(arrayfile.ReadFile(inFile(t, "a.npy", npyFile("'<f8'", "(4, -1)", nil))))(t, "its shape is (4, -1)")
}

// TestVersions: the header of an .npy file has a length of four bytes from version 2 on.
func TestVersions(t *testing.T) {
	one := npyFile("'<f8'", "(1, 1)", make([]byte, 8))
	for _, version := range []byte{2, 3} {
		file := append([]byte("\x93NUMPY"), version, 0, one[8], one[9], 0, 0)
		if m, err := arrayfile.ReadFile(inFile(t, "a.npy", append(file, one[10:]...))); err != nil || m.At(0, 0) != 0 {
			t.Errorf("version %d: %v, %v", version, m, err)
		}
		must.Refuse(arrayfile.ReadFile(inFile(t, "a.npy", append(file[:8], 255, 255, 255, 255))))(t, "bad header")
	}
}
