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
	texts := []string{"a", "", "σ = 1", "bc"}
	write := func() []byte {
		var b bytes.Buffer
		z := NewNPZWriter(&b)
		for _, err := range []error{
			z.Array("x", numbers),
			z.Array("n", []uint64{0, 1 << 40, 2 << 40}),
			z.Array("b", []bool{true, false, true}),
			z.Array("s", texts),
			z.Array("one", texts[2:3]),
			z.Matrix("m", mat.NewDense(2, 2, numbers)),
			z.Close(),
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
	for name, want := range map[string][]float64{"x": numbers, "n": {0, 1 << 40, 2 << 40}, "b": {1, 0, 1}} {
		got, err := ReadFile(path + ":" + name)
		if err != nil || !mat.Equal(got, mat.NewDense(len(want), 1, want)) {
			t.Errorf("%s: %v, %v", name, got, err)
		}
	}
	if got, err := ReadText(path, "one"); got != texts[2] || err != nil {
		t.Errorf("text %q, %v; want %q", got, err, texts[2])
	}
	for name, want := range map[string]string{"s": "want one text", "x": "want one text", "no": `no array "no"`} {
		if _, err := ReadText(path, name); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("text of %s: %v, want an error about %q", name, err, want)
		}
	}
	if got, err := ReadFile(path + ":m"); err != nil || !mat.Equal(got, mat.NewDense(2, 2, numbers)) {
		t.Errorf("m: %v, %v", got, err)
	}
	z := must.Get(zip.NewReader(bytes.NewReader(file), int64(len(file))))(t)
	in := must.Get(z.Open("s.npy"))(t)
	all := must.Get(io.ReadAll(in))(t)
	data := len(all) - 4*5*len(texts) // five characters of four bytes
	if !strings.Contains(string(all[:data]), "'descr': '<U5', 'fortran_order': False, 'shape': (4,)") || data%64 != 0 {
		t.Errorf("header %q", all[:data])
	}
	if got := all[data+2*20 : data+2*20+8]; !bytes.Equal(got, []byte{0xc3, 3, 0, 0, ' ', 0, 0, 0}) {
		t.Errorf("σ and a space are % x", got)
	}
}
