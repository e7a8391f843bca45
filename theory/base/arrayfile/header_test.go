package arrayfile

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

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
