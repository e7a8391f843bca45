package assess

import (
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp/cmpopts"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"belsim/errmodel/observed"
	"belsim/errmodel/perceived"
	"belsim/theory/base/arrayfile"
	"belsim/theory/base/must"
)

// TestErrorQuantiles: of 65 levels two share a row, and the last one stands alone; errors are in the
// unit of the targets.
func TestErrorQuantiles(t *testing.T) {
	n := seenNetwork(t, "unary", 65, nil, 0, 0)
	n.source.Labels = observed.Labels{Levels: 65, Real: true, Lo: 0, Hi: 256}
	n.decodings = []observed.Decoding{observed.Prediction()}
	spreads := make([]observed.Spread, 33)
	for i := range spreads {
		for range 100 {
			spreads[i].Add(0.5)
		}
	}
	n.seen.Spreads, n.seen.Labels = [][]observed.Spread{spreads}, make([]observed.Error, 1)
	got := errorQuantiles(n)
	all := Quantiles{2, 2, 2}
	must.Equal(t, "of all", all, got.Quantiles, cmpopts.EquateApprox(1e-9, 0))
	must.Equal(t, "the last rows", []LevelQuantiles{{63, 64, 100, all}, {65, 65, 100, all}}, got.Rows[31:],
		cmpopts.EquateApprox(1e-9, 0))
}

// TestProbabilities: what fit judges is what decode writes: probabilities that add up to 1, of unary
// bits trained one by one by bel-u and else by gen-ex; quantiles are labels of theirs; and the best
// decoder of hard bits has none.
func TestProbabilities(t *testing.T) {
	o := small(t)
	o.Range = LabelRange{Lo: 10, Hi: 80}
	targets := must.Get(arrayfile.ReadFile(o.Targets))(t)
	targets.Apply(func(_, _ int, v float64) float64 { return 10 * v }, targets)
	o.Targets = save(t, filepath.Join(t.TempDir(), "y.npy"), targets)
	z := must.Get(arrayfile.ReadFile(o.Outputs))(t)
	n, m := z.Dims()
	z.Apply(func(_, _ int, v float64) float64 { return math.Copysign(1, v) }, z)
	hard := o
	hard.Outputs = save(t, filepath.Join(t.TempDir(), "z.npy"), z)
	if p := judge(t, hard).Fit.Probabilities; p != nil {
		t.Errorf("bits have probabilities: %+v", p)
	}
	decoded := func(decoder string) *mat.Dense {
		file := filepath.Join(t.TempDir(), "out.npy")
		out := must.Get(os.Create(file))(t)
		must.Succeed(t, errors.Join(Decode(t.Context(), o, decoder, 1, out, "npy", nil, func(string) {}), out.Close()))
		return must.Get(arrayfile.ReadFile(file))(t)
	}
	for training, decoder := range map[perceived.Training]string{perceived.BCE: "bel-u", perceived.CE: "gen-ex"} {
		o.Training = training
		f := judge(t, o).Fit
		p, quantiles, means := decoded("probabilities:"+decoder), decoded("quantiles:0.25,0.5:"+decoder), decoded("gen-ex")
		crps := 0.0
		for i := range n {
			row, upto, mean := p.RawRowView(i), 0.0, 0.0
			for k, v := range row {
				label := 10 * float64(k+1)
				mean += v * label
				if at := quantiles.At(i, 1); v > 0 && (upto < 0.5-1e-6) != (label <= at) {
					t.Fatalf("sample %d: the median is %v of %v", i, at, row)
				}
				if upto += v; k < m {
					above := 0.0
					if targets.At(i, 0) <= label {
						above = 1
					}
					crps += 10 * (upto - above) * (upto - above)
				}
			}
			if floats.Min(row) < 0 || math.Abs(upto-1) > 1e-10 {
				t.Fatalf("sample %d: %v", i, row)
			}
			if decoder == "gen-ex" && math.Abs(mean-means.At(i, 0)) > 1e-9 {
				t.Fatalf("sample %d: mean %v, gen-ex %v", i, mean, means.At(i, 0))
			}
		}
		if got := f.Probabilities; got == nil || got.Decoder != decoder || math.Abs(got.CRPS-crps/float64(n)) > 1e-10 {
			t.Errorf("%s: %+v, want CRPS %v", decoder, got, crps/float64(n))
		}
	}
	for decoder, of := range map[string]Options{"probabilities": hard, "probabilities:gen": o} {
		err := Decode(t.Context(), of, decoder, 1, io.Discard, "csv", nil, func(string) {})
		says(t, must.Text(err), "no probabilities of levels")
	}
	same(t, "decoder by itself", decoded("probabilities:bel-u"), decoded("probabilities"))
}
