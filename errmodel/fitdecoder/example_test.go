package fitdecoder_test

import (
	"context"
	"io"
	"math"
	"os"
	"strings"
	"testing"

	"belsim/errmodel/fitdecoder"
	"belsim/errmodel/observed"
	"belsim/theory/base/arrayfile"
	"belsim/theory/base/must"
)

const examples = "../../testdata/decoders/"

// TestExample: the labels are those of the NumPy lines, which made labels.npy.
func TestExample(t *testing.T) {
	ctx := context.Background()
	d := must.Get(fitdecoder.Read(examples + "decoder.npz"))(t)
	if d.About().Kind != fitdecoder.KindAffine {
		t.Errorf("the example is %s; one with all parts shows more", d.About().Text())
	}
	outputs := must.Get(arrayfile.OpenRows(examples + "more.npy"))(t)
	defer outputs.Close()
	labels := must.Get(arrayfile.OpenRows(examples + "labels.npy"))(t)
	defer labels.Close()
	r := must.Get(d.Decoding(observed.Logits))(t)
	n := 0
	if err := observed.Decode(ctx, 0, outputs, observed.Logits, nil, []observed.Decoding{r}, func(got []float64) error {
		var want [1]float64
		for _, v := range got {
			if err := labels.Next(want[:]); err != nil {
				return err
			}
			if math.Abs(v-want[0]) > 1e-9 {
				t.Errorf("sample %d: %v, and %v by NumPy", n+1, v, want[0])
			}
			n++
		}
		return nil
	}, nil); err != nil {
		t.Fatal(err)
	}
	if err := labels.Next(make([]float64, 1)); n != 300 || err != io.EOF {
		t.Errorf("%d labels, then %v", n, err)
	}
}

// TestLines: the command's reference shows the lines of apply.py, which the gate runs.
func TestLines(t *testing.T) {
	read := func(path string) string {
		text := must.Get(os.ReadFile(path))(t)
		return string(text)
	}
	script, reference := read(examples+"apply.py"), read("../../cmd/belsim/README.md")
	_, lines, _ := strings.Cut(script, "# NumPy\n")
	lines, _, found := strings.Cut(lines, "\n\n\n# end")
	if !found || !strings.Contains(reference, lines) {
		t.Errorf("the reference does not show these lines of apply.py:\n%s", lines)
	}
}
