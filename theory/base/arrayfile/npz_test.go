package arrayfile

import (
	"archive/zip"
	"bytes"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"belsim/theory/base/must"
)

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
		if _, err := ReadText(path, name); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("text of %s: %v, want an error about %q", name, err, want)
		}
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
