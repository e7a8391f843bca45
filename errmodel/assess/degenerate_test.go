package assess

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"belsim/errmodel/forecast"
	"belsim/errmodel/observed"
	"belsim/theory/base/must"
	"belsim/theory/base/table"
	"belsim/theory/code"
	"belsim/theory/decode"
)

// noNumber is a number that does not exist, in a text.
var noNumber = regexp.MustCompile(`NaN|[+−-]?Inf\b|%!`)

// degenerate are the outputs of a network that is nearly always right: of some bits one is wrong in
// every so many samples, of which there are few, or none where every is 0.
func degenerate(t *testing.T, c *code.Code, samples, every int, scale float64) Options {
	t.Helper()
	rng, dir := rand.New(rand.NewPCG(1, 2)), t.TempDir()
	y, z := mat.NewDense(samples, 1, nil), mat.NewDense(samples, c.Bits(), nil)
	for i := range samples {
		level := i % c.Levels()
		y.Set(i, 0, float64(level+1))
		for k := range c.Bits() {
			v := -scale
			if c.Bit(level, k) {
				v = scale
			}
			if every > 0 && i%every == 0 && k == i/every%c.Bits() {
				v = -v
			}
			if scale != 1 {
				v *= 1 + rng.Float64()
			}
			z.Set(i, k, v)
		}
	}
	return Options{Code: c.Name(), Levels: c.Levels(), Targets: save(t, filepath.Join(dir, "y.npy"), y),
		Outputs: save(t, filepath.Join(dir, "z.npy"), z), Temperature: 1,
		Decoders: decode.Builtin(), Recommend: true}
}

// TestNoNumber: a number that does not exist, such as a ratio to an error of 0, is neither in a
// report nor in its JSON.
func TestNoNumber(t *testing.T) {
	for _, name := range []string{"unary", "johnson", "onehot", "softmax"} {
		for _, levels := range []int{2, 3, 8} {
			for i, samples := range []int{2 * levels, 40 * levels} {
				for _, scale := range []float64{3, 200} {
					of := name
					if name == "softmax" {
						of = "onehot"
					}
					c := must.Get(code.New(of, levels))(t)
					o := degenerate(t, c, samples, 7+20*i, scale)
					o.Code, o.Recommend = name, levels == 3 && i == 0
					if scale == 3 {
						o.Baseline.File = o.Targets
					}
					if scale == 200 {
						o.Baseline.Error = 1e-9
					}
					what := fmt.Sprintf("%s, %d levels, %d samples, %v", name, levels, samples, scale)
					r, err := Run(t.Context(), o, 1, nil)
					if err != nil {
						t.Errorf("%s: %v", what, err)
						continue
					}
					var text strings.Builder
					must.Succeed(t, r.Section().Write(&text))
					if bad := noNumber.FindString(text.String()); bad != "" {
						t.Errorf("%s: %s in\n%s", what, bad, text.String())
					}
					var b bytes.Buffer
					if err := table.WriteJSON(&b, r.Fit); err != nil {
						t.Errorf("%s: %v", what, err)
					}
					if bad := noNumber.FindString(b.String()); bad != "" {
						t.Errorf("%s: %s in the JSON", what, bad)
					}
				}
			}
		}
	}
}

// TestNoWrongOutput: a network that is always right has its errors and no model.
func TestNoWrongOutput(t *testing.T) {
	o := degenerate(t, must.Get(code.New("johnson", 16))(t), 200, 0, 3)
	r := must.Get(Run(t.Context(), o, 1, nil))(t)
	if f := r.Fit; f.Decoders[0].Observed != 0 || len(f.Recommendation.Ranking) > 0 ||
		!strings.Contains(f.Verdict, "None of the 200 × 8 outputs is on the wrong side") {
		t.Errorf("the fit is %+v", f)
	}
}

// TestSeeds: several networks of one head count as one, with their mean, whose interval is Student's.
func TestSeeds(t *testing.T) {
	dir := t.TempDir()
	var o Options
	var others []Other
	for i, noise := range []float64{0.9, 0.95, 0.99} {
		d := easy
		d.noise, d.seed = noise, uint64(20+i)
		o = d.save(t, dir, fmt.Sprintf("z%d", i))
		others = append(others, Other{Code: o.Code, Outputs: o.Outputs})
	}
	o.Others, o.Recommend = others[:2], true
	f := judge(t, o).Fit
	row := first(t, f, func(r forecast.Row) bool { return r.Trained && r.Best })
	var seeds []observed.Error
	for _, n := range f.Decoders {
		if n.Design == row.Design {
			seeds = append(seeds, observed.Error{Mean: n.Observed, StdErr: n.StdErr})
		}
	}
	mean := forecast.MeanOfSeeds(seeds)
	interval := mean.Interval()
	must.Within(t, "the mean of the seeds", row.Forecast/mean.Mean, 1-1e-12, 1+1e-12)
	must.Within(t, "the width of its interval over that of Student's", (row.Hi-row.Lo)/(interval[1]-interval[0]), 0.95, 1.1)
}
