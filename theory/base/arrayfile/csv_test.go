package arrayfile_test

import (
	"bytes"
	"context"
	"testing"

	"gonum.org/v1/gonum/mat"

	"belsim/theory/base/arrayfile"
	"belsim/theory/base/must"
)

func TestWriteCSVNumbers(t *testing.T) {
	var b bytes.Buffer
	must.Succeed(t, arrayfile.WriteCSV(context.Background(), &b,
		mat.NewDense(1, 6, []float64{0, 256, 1e6, -12345678, 0.1, 1e300})))
	if got, want := b.String(), "0,256,1000000,-12345678,0.1,1e+300\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
