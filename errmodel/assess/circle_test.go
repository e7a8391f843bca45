package assess

import (
	"bytes"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"gonum.org/v1/gonum/mat"

	"belsim/theory/base/arrayfile"
	"belsim/theory/base/must"
	"belsim/theory/code"
	"belsim/theory/decode"
)

// round has the options of a network on a circle of 0 to 360 degrees, with its targets and outputs.
func round(t *testing.T, name string, levels int, y, z mat.Matrix) Options {
	t.Helper()
	dir := t.TempDir()
	return Options{Code: name, Levels: levels, Circular: true, Range: LabelRange{Lo: 0, Hi: 360}, Temperature: 1,
		Targets: save(t, filepath.Join(dir, "y.npy"), y), Outputs: save(t, filepath.Join(dir, "z.npy"), z),
		Decoders: decode.Builtin()}
}

// TestSeam: a softmax head that is wrong by 4 degrees over the seam, either way, is wrong by 4 degrees,
// and targets beyond the range go round.
func TestSeam(t *testing.T) {
	y, z := mat.NewDense(400, 1, nil), mat.NewDense(400, 90, nil) // levels are 4 degrees apart
	for i := range 400 {
		level := i % 90
		y.Set(i, 0, float64(4*level)+360*float64(i%3-1))
		answer := level + 1 - 2*(i%2)
		for n := range 90 { // as near to the answer on either side
			z.Set(i, n, -3*math.Abs(math.Remainder(float64(n-answer), 90)))
		}
	}
	f := judge(t, round(t, "softmax", 90, y, z)).Fit
	for _, row := range f.Decoders {
		if row.Outputs == decode.Logits {
			must.Within(t, row.Decoder, row.Observed, 4-1e-9, 4+1e-9)
		}
	}
	same(t, "the width of a level", 4.0, f.LevelWidth)
	same(t, "rows of logits", 3, len(f.Decoders))
}

// TestAngles: angles that are read on a line are told to lie on a circle, and those that are read so are not.
func TestAngles(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 9))
	y, z := mat.NewDense(1000, 1, nil), mat.NewDense(1000, 60, nil) // levels are 6 degrees apart
	for i := range 1000 {
		y.Set(i, 0, 360*rng.Float64())
		answer := y.At(i, 0)/6 + 3*rng.NormFloat64()
		for n := range 60 {
			off := math.Remainder(float64(n)-answer, 60) / 3
			z.Set(i, n, -off*off/2)
		}
	}
	o := round(t, "softmax", 60, y, z)
	same(t, "findings on a circle", 0, len(judge(t, o).Fit.Findings))
	o.Circular = false
	says(t, judge(t, o).Fit.Verdict, "one point, as angles have them", "--circular")
}

// turning is a network of the cyclic code of 2M levels, whose labels and outputs are turned by so many
// levels: J(v+1) is J(v) one bit further, with the first bit reversed at its end.
func turning(t *testing.T, by int) Options {
	t.Helper()
	const m, samples = 16, 1500
	rng := rand.New(rand.NewPCG(3, 5))
	y, z := mat.NewDense(samples, 1, nil), mat.NewDense(samples, m, nil)
	c := must.Get(code.New("johnson", 2*m))(t)
	for i := range samples {
		place := 2 * m * rng.Float64()
		y.Set(i, 0, math.Mod(place+float64(by), 2*m)*360/(2*m))
		seen := int(math.Round(place+1.2*rng.NormFloat64())+4*m) % (2 * m)
		row := make([]float64, m)
		for k := range row {
			if row[k] = -2; c.Bit(seen, k) {
				row[k] = 2
			}
			row[k] += rng.NormFloat64()
		}
		for range by {
			row = append(row[1:], -row[0])
		}
		z.SetRow(i, row)
	}
	return round(t, "johnson", 2*m, y, z)
}

// TestTurned: where labels and the outputs of a cyclic code are turned, the errors of decoders of logits
// and the mixture are as they were. Intervals hold 90 % of the
// targets to five standard errors, and those that pass the seam, which rest on the same residuals, do so
// as well.
func TestTurned(t *testing.T) {
	o := turning(t, 0)
	o.FitDecoder = true
	first := judge(t, o)
	for _, by := range []int{5, 27} {
		f := judge(t, turning(t, by)).Fit
		for i, row := range f.Decoders {
			if row.Outputs == decode.Logits {
				must.Within(t, row.Decoder, row.Observed/first.Fit.Decoders[i].Observed, 1-1e-12, 1+1e-12)
			}
		}
		must.Within(t, "r", f.R/first.Fit.R, 1-1e-9, 1+1e-9)
		must.Within(t, "σ", f.Sigma/first.Fit.Sigma, 1-1e-9, 1+1e-9)
	}
	var file bytes.Buffer
	must.Succeed(t, first.Decoder.Write(&file))
	path := filepath.Join(t.TempDir(), "d.npz")
	must.Succeed(t, os.WriteFile(path, file.Bytes(), 0o600))
	confidence := 0.9
	o.Confidence, o.Range = &confidence, LabelRange{}
	var b bytes.Buffer
	must.Succeed(t, Decode(t.Context(), o, path, 2, &b, "npy", nil, nil))
	must.Succeed(t, os.WriteFile(path+".npy", b.Bytes(), 0o600))
	labels, targets := must.Get(arrayfile.ReadFile(path+".npy"))(t), must.Get(arrayfile.ReadFile(o.Targets))(t)
	held, seam, seamHeld, sum := 0.0, 0.0, 0.0, 0.0
	samples, _ := labels.Dims()
	for i := range samples {
		label, lower, upper := labels.At(i, 0), labels.At(i, 1), labels.At(i, 2)
		if !(label >= 0 && label < 360 && lower <= label && label <= upper && upper-lower <= 360) {
			t.Fatalf("sample %d: %v in %v to %v", i+1, label, lower, upper)
		}
		off, inside := math.Remainder(targets.At(i, 0)-label, 360), 0.0
		if sum += math.Abs(off); label+off >= lower && label+off <= upper {
			inside = 1
		}
		if held += inside; lower < 0 || upper >= 360 {
			seam, seamHeld = seam+1, seamHeld+inside
		}
	}
	n := float64(samples)
	must.Within(t, "the coverage", held/n, 0.9-5*0.3/math.Sqrt(n), 0.9+5*0.3/math.Sqrt(n))
	must.Within(t, "that over the seam", seamHeld/seam, 0.9-5*0.3/math.Sqrt(seam), 1)
	must.Within(t, "the error", sum/n/first.Fit.Fitted.Error, 0.9, 1.1)
	i := first.Fit.Fitted.Intervals
	must.Within(t, "the coverage that was judged", i.Coverage, 0.9-5*i.CoverageSE, 0.9+5*i.CoverageSE)
}

// TestCircleRefuses: what knows no circle refuses it, in a sentence.
func TestCircleRefuses(t *testing.T) {
	o := turning(t, 0)
	recommend, others, values := o, o, o
	recommend.Recommend = true
	refuses(t, recommend, "forecasts and further networks are for levels on a line")
	others.Others = []Other{{Code: "johnson", Outputs: o.Outputs}}
	refuses(t, others, "forecasts and further networks are for levels on a line")
	values.Range.Values = make(code.Values, o.Levels)
	for i := range values.Range.Values {
		values.Range.Values[i] = float64(i * i)
	}
	refuses(t, values, "levels on a circle are even: want ")
}
