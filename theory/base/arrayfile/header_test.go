package arrayfile

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gonum.org/v1/gonum/mat"

	"belsim/theory/base/must"
)

// TestHeaderOrder: NumPy's specification allows the keys in any order, and any quotes and spaces.
func TestHeaderOrder(t *testing.T) {
	keys := []string{"'descr': '<f8'", `"fortran_order":True`, "'shape' : (3,4L,)"}
	for _, order := range [][]int{{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}} {
		for _, form := range []string{"{%s, %s, %s, }    \n", "{%s,%s,%s}", " { %s ,\t%s,%s,}\n"} {
			text := fmt.Sprintf(form, keys[order[0]], keys[order[1]], keys[order[2]])
			h := must.Get(parseHeader(text))(t)
			must.Equal(t, text, header{"<f8", true, []int{3, 4}}, h, cmp.AllowUnexported(header{}))
		}
	}
	for _, text := range []string{
		"", "{}", "{", "{'descr'", "{'descr':", "{'descr': '<f8'", "{,}",
		"{'descr': '<f8', 'fortran_order': False}",
		"{'descr': '<f8', 'fortran_order': False, 'shape': (1,)",
		"{'descr': '<f8', 'fortran_order': False, 'shape': (1,)} x",
		"{'descr': '<f8', 'fortran_order': 0, 'shape': (1,)}",
		"{'descr': '<f8', 'fortran_order': False, 'shape': 1}",
		"{'descr': '<f8', 'fortran_order': False, 'shape': (99999999999999999999,)}",
		"{'descr': '<f8', 'fortran_order': False, 'shape': (1 2)}",
		"{'descr': <f8, 'fortran_order': False, 'shape': (1,)}",
		"{'descr': [('a', '<f8', 'fortran_order': False, 'shape': (1,)}",
		"{'descr': '<f8' 'fortran_order': False, 'shape': (1,)}",
	} {
		if h, err := parseHeader(text); !errors.Is(err, errHeader) {
			t.Errorf("%q: %+v, %v; want an error", text, h, err)
		}
	}
}

func FuzzHeader(f *testing.F) {
	f.Add("{'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), }  \n")
	f.Fuzz(func(_ *testing.T, text string) { parseHeader(text) }) // it ends, without a panic
}

// endless is a file of zeros without a line's end, behind a quote.
type endless struct{ read int }

func (e *endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = '0'
	}
	p[0] = '"'
	e.read += len(p)
	return len(p), nil
}

func TestEndlessLine(t *testing.T) {
	var e endless
	_, err := openCSV(&e, "")
	if err == nil || !strings.HasPrefix(err.Error(), "line 1 is longer than") {
		t.Errorf("error %v", err)
	}
	if e.read > 2*maxLine {
		t.Errorf("%d bytes read before the line was refused", e.read)
	}
}

// TestSplitArray: the array's name is behind the file's.
func TestSplitArray(t *testing.T) {
	for path, want := range map[string][2]string{
		"a.npz:b":       {"a.npz", "b"},
		"a.NPZ:b:c":     {"a.NPZ", "b:c"},
		"a.npz":         {"a.npz", ""},
		"İ.npz:b":       {"İ.npz", "b"},
		"a.npz:b.npz:c": {"a.npz:b.npz", "c"},
		"":              {"", ""},
	} {
		if file, array := SplitArray(path); file != want[0] || array != want[1] {
			t.Errorf("%s: %q, %q", path, file, array)
		}
	}
}

// TestChecksum: a bit that changed in an entry that is not compressed is found, in any order of the
// entries, and in a text. Reading a matrix reads its archive to the end.
func TestChecksum(t *testing.T) {
	for _, name := range []string{"fortran", "c", "text"} {
		array := append(npyHeader("<f8", "(3, 2)"), make([]byte, 3*2*8)...)
		switch name {
		case "fortran":
			array = bytes.Replace(array, []byte("False"), []byte("True "), 1)
		case "text":
			array = append(npyHeader("<U3", "(1,)"), "m\x00\x00\x00a\x00\x00\x00p\x00\x00\x00"...)
		}
		var b bytes.Buffer
		z := zip.NewWriter(&b)
		w := must.Get(z.CreateHeader(&zip.FileHeader{Name: "a.npy", Method: zip.Store}))(t)
		w.Write(array)
		must.Succeed(t, z.Close())
		path := filepath.Join(t.TempDir(), "a.npz")
		read := func(file []byte) (err error) {
			must.Succeed(t, os.WriteFile(path, file, 0o666))
			if name == "text" {
				_, err = ReadText(path, "a")
			} else {
				_, err = ReadFile(path)
			}
			return err
		}
		if err := read(b.Bytes()); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		data := bytes.Index(b.Bytes(), []byte{'\n'}) + 1 // behind the header
		for i := data; i < data+12; i++ {
			changed := bytes.Clone(b.Bytes())
			changed[i] ^= 1
			if err := read(changed); !errors.Is(err, zip.ErrChecksum) {
				t.Errorf("%s, byte %d: %v", name, i-data, err)
			}
		}
	}
}

// TestDistances: the first row 0, 1, 2 of a matrix of distances is a row, and above any other matrix
// the names that pandas gives.
func TestDistances(t *testing.T) {
	for text, want := range map[string]int{
		"0,1,2\n1,0,1\n2,1,0\n":           3,
		"0,1,2\n2,0,1\n9,3,0\n":           3,
		"0,1,2\n1,0,1\n":                  0,
		"0,1,2\n0,1,1\n1,0,1\n":           0,
		"0,1,2\n0,1,2\n1,0,1\n2,1,0\n":    0,
		"0,1,2\n1,0,1\n2,1,0\n1,1,1\n":    0,
		"1,2,3\n0,1,2\n1,0,1\n2,1,0\n":    0,
		"0,1,2\n0,.1,2.\n1.,0,1.\n.5,1,0": 0,
	} {
		path := filepath.Join(t.TempDir(), "costs.csv")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		m, err := ReadFile(path)
		if (err == nil) != (want > 0) {
			t.Errorf("%q: %v", text, err)
		} else if want > 0 && (m.RawMatrix().Rows != want || m.At(0, 2) != 2) {
			t.Errorf("%q: read as %v", text, m)
		}
	}
}

// TestNPZWriter: what is written is read back, is the same bytes again, and texts are as
// NumPy lays them out.
func TestNPZWriter(t *testing.T) {
	numbers := []float64{0.1, -3, math.Pi, 1e300}
	const text = "σ = 1"
	write := func() []byte {
		var b bytes.Buffer
		z := NewNPZWriter(&b)
		for _, err := range []error{
			z.Column("x", numbers), z.Text("text", text), z.Text("empty", ""), z.Matrix("m",
				mat.NewDense(2, 2, numbers)), z.Close(),
		} {
			must.Succeed(t, err)
		}
		return b.Bytes()
	}
	file := write()
	if !bytes.Equal(file, write()) {
		t.Error("the same arrays are other bytes the second time")
	}
	path := filepath.Join(t.TempDir(), "a.npz")
	must.Succeed(t, os.WriteFile(path, file, 0o644))
	for name, rows := range map[string]int{"x": 4, "m": 2} {
		if got, err := ReadFile(path + ":" + name); err != nil || !mat.Equal(got, mat.NewDense(rows, 4/rows, numbers)) {
			t.Errorf("%s: %v, %v", name, got, err)
		}
	}
	for name, want := range map[string]string{"text": text, "empty": ""} {
		if got, err := ReadText(path, name); got != want || err != nil {
			t.Errorf("%s: %q, %v; want %q", name, got, err, want)
		}
	}
	for name, want := range map[string]string{"x": "want one text", "no": `no array "no"`} {
		must.Refuse(ReadText(path, name))(t, want)
	}
	z := must.Get(zip.NewReader(bytes.NewReader(file), int64(len(file))))(t)
	all := must.Get(io.ReadAll(must.Get(z.Open("text.npy"))(t)))(t)
	data := len(all) - 4*5 // five characters of four bytes
	if !strings.Contains(string(all[:data]), "'descr': '<U5', 'fortran_order': False, 'shape': (1,)") || data%64 != 0 {
		t.Errorf("header %q", all[:data])
	}
	if got := all[data : data+8]; !bytes.Equal(got, []byte{0xc3, 3, 0, 0, ' ', 0, 0, 0}) {
		t.Errorf("σ and a space are % x", got)
	}
}
