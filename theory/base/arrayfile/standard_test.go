package arrayfile_test

import (
	"archive/zip"
	"bytes"
	"os"
	"testing"

	"gonum.org/v1/gonum/mat"

	"belsim/theory/base/arrayfile"
	"belsim/theory/base/must"
)

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
