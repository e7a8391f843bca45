package fitdecoder_test

import (
	"math"
	"os"
	"strings"
	"testing"

	"belsim/errmodel/fitdecoder"
	"belsim/theory/base/arrayfile"
	"belsim/theory/base/must"
)

const examples = "../../testdata/decoders/"

// TestExample: the labels are those of the NumPy lines, which made labels.npy.
func TestExample(t *testing.T) {
	d := must.Get(fitdecoder.Read(examples + "decoder.npz"))(t)
	if d.About().Kind != fitdecoder.KindAffine {
		t.Errorf("the example is %s; one with all parts shows more", d.About().Text())
	}
	outputs := must.Get(arrayfile.ReadFile(examples + "more.npy"))(t)
	labels := must.Get(arrayfile.ReadFile(examples + "labels.npy"))(t).RawMatrix().Data
	if n, _ := outputs.Dims(); n != 300 || len(labels) != n {
		t.Fatalf("%d outputs and %d labels", n, len(labels))
	}
	for i, want := range labels {
		if got := d.DecodeLogits(outputs.RawRowView(i)); math.Abs(got-want) > 1e-9 {
			t.Errorf("sample %d: %v, and %v by NumPy", i+1, got, want)
		}
	}
}

// TestLines: the command's reference shows the lines of apply.py, which the gate runs.
func TestLines(t *testing.T) {
	read := func(path string) string { return string(must.Get(os.ReadFile(path))(t)) }
	script, reference := read(examples+"apply.py"), read("../../cmd/belsim/README.md")
	_, lines, _ := strings.Cut(script, "# NumPy\n")
	lines, _, found := strings.Cut(lines, "\n\n\n# end")
	if !found || !strings.Contains(reference, lines) {
		t.Errorf("the reference does not show these lines of apply.py:\n%s", lines)
	}
}
