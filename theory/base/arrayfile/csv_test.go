package arrayfile_test

import (
	"bytes"
	"context"
	"io"
	"testing"

	"gonum.org/v1/gonum/mat"

	"belsim/theory/base/arrayfile"
	"belsim/theory/base/must"
)

func TestWriteCSVNumbers(t *testing.T) {
	var b bytes.Buffer
	must.Succeed(t, arrayfile.WriteCSV(context.Background(), &b, mat.NewDense(1, 6, []float64{0, 256, 1e6, -12345678, 0.1, 1e300})))
	if got, want := b.String(), "0,256,1000000,-12345678,0.1,1e+300\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestWriteBitsRefusal(t *testing.T) {
	err := arrayfile.WriteBitsNPY(context.Background(), io.Discard, mat.NewDense(2, 2, []float64{0, 1, 1, 0.5}))
	if err == nil || err.Error() != "row 2, column 2: 0.5 is neither 0 nor 1" {
		t.Errorf("error %v", err)
	}
}
