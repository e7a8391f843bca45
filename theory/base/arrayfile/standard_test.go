package arrayfile_test

import (
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
	var npy bytes.Buffer
	must.Succeed(t, arrayfile.WriteNPY(t.Context(), &npy, want))
	give := func(content []byte) {
		before := os.Stdin
		os.Stdin = must.Get(os.Open(inFile(t, "in", content)))(t)
		t.Cleanup(func() { os.Stdin = before })
	}
	for _, content := range [][]byte{[]byte("1,0,2\n3,4,5\n"), npy.Bytes()} {
		give(content)
		wantRows(t, want, "-")
	}
	for _, content := range [][]byte{nil, []byte("1,x\n"), npy.Bytes()[:100], append(npy.Bytes(), "more"...)} {
		give(content)
		m, err := arrayfile.ReadFile("-")
		refused(t, content, m != nil, err, "standard input")
	}
}
