package plots_test

import (
	"bytes"
	"encoding/binary"
	"flag"
	"fmt"
	"image/png"
	"io"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"gonum.org/v1/plot/cmpimg"

	"belsim/errmodel/assess"
	"belsim/plots"
	"belsim/theory/base/must"
)

var update = flag.Bool("update", false, "write the golden images instead of comparing with them")

// linspace is n numbers from lo to hi.
func linspace(lo, hi float64, n int) []float64 {
	v := make([]float64, n)
	for i := range v {
		v[i] = lo + (hi-lo)*float64(i)/float64(max(n-1, 1))
	}
	return v
}

// onGrid evaluates a function on a grid.
func onGrid(x, y []float64, f func(x, y float64) float64) [][]float64 {
	z := make([][]float64, len(y))
	for i := range y {
		z[i] = make([]float64, len(x))
		for j := range x {
			z[i][j] = f(x[j], y[i])
		}
	}
	return z
}

func heatmapData(nx, ny int, f func(x, y float64) float64) plots.HeatmapData {
	x, y := linspace(0.1, 4, nx), linspace(0.5, 10, ny)
	return plots.HeatmapData{
		Title: "a test", X: x, Y: y, Panels: []plots.HeatmapPanel{{Z: onGrid(x, y, f)}},
		XLabel: "weight r", YLabel: "width σ (levels)",
		ZLabel: "increase of A's error over B's", Below: "A is better", Above: "B is better", Blank: "e > 1",
	}
}

func hill(x, y float64) float64 {
	if x > 2.5*y {
		return math.NaN()
	}
	return math.Exp(math.Sin(x)*math.Exp(-y/8) - 0.3)
}

func verifyData(n int, exact bool) plots.VerifyData {
	d := plots.VerifyData{Title: "johnson-nonzero, r = 2, σ = 5"}
	for i := range n {
		x := float64(i + 1)
		e := 2 + math.Sin(6*x/float64(n))
		d.Labels = append(d.Labels, plots.VerifyLabel{Level: x, Bound: 1.2 * e, Exact: e,
			Mean: e + 0.02*1.7*math.Sin(37*x), StdErr: 0.02})
		if !exact {
			d.Labels[i].Exact = math.NaN()
		}
	}
	return d
}

// linesData is what Figure 7 has.
func linesData() plots.LinesData {
	d := plots.LinesData{Title: "johnson-nonzero, 7 levels", YLabel: "value",
		Lines: []plots.NamedLine{{Name: "Tl"}, {Name: "Tf"}, {Name: "Tc"}, {Name: "Tl + Tf + Tc"}}}
	for n := 1.0; n <= 7; n++ {
		d.Level = append(d.Level, n)
		for i, v := range []float64{-min(4, 8-n), min(n, 4), 4, -min(4, 8-n) + min(n, 4) + 4} {
			d.Lines[i].Values = append(d.Lines[i].Values, v)
		}
	}
	return d
}

// bitProfile is that of a bit with a transition.
func bitProfile(at, levels int) assess.Profile {
	b := assess.Profile{Name: fmt.Sprintf("bit %d", at)}
	e := func(y float64) float64 {
		z := (y - float64(at) - 0.5) / 2
		return 0.4 * math.Exp(-z*z/2)
	}
	for i := range levels {
		y := float64(i + 1)
		b.Target = append(b.Target, i >= at)
		rate := e(y) * (1 + 0.3*math.Sin(9*y))
		b.Label, b.Rate = append(b.Label, y), append(b.Rate, rate)
		b.Lo, b.Hi = append(b.Lo, 0.8*rate), append(b.Hi, 1.2*rate+0.02)
		b.X, b.Fitted = append(b.X, y), append(b.Fitted, e(y))
	}
	return b
}

// drawing draws data.
func drawing[D any](draw func(D) (*plots.Figure, error), data D) func() (*plots.Figure, error) {
	return func() (*plots.Figure, error) { return draw(data) }
}

// whole is a figure that nothing refuses.
func whole(f *plots.Figure) func() (*plots.Figure, error) {
	return func() (*plots.Figure, error) { return f, nil }
}

func figures(t *testing.T) map[string]func() (*plots.Figure, error) {
	t.Helper()
	nan := math.NaN()
	return map[string]func() (*plots.Figure, error){
		"heatmap": drawing(plots.Heatmap, heatmapData(40, 30, hill)),
		"heatmap-panels": func() (*plots.Figure, error) { // one scale, blank cells in one of them alone
			d := heatmapData(40, 30, hill)
			d.Panels = append(d.Panels, plots.HeatmapPanel{Z: onGrid(d.X, d.Y, func(x, y float64) float64 { return x / y })})
			d.Panels[0].Name, d.Panels[1].Name = "bounds (Eq. 2, Eq. 26)", "exact expected error"
			return plots.Heatmap(d)
		},
		"heatmap-empty": drawing(plots.Heatmap, heatmapData(4, 4, func(_, _ float64) float64 { return nan })),
		"heatmap-cell":  drawing(plots.Heatmap, heatmapData(1, 1, hill)),
		"heatmap-outlier": func() (*plots.Figure, error) {
			d := heatmapData(20, 20, hill)
			d.Panels[0].Z[19][0], d.Panels[0].Z[18][0] = 1e4, 0
			return plots.Heatmap(d)
		},
		"heatmap-uneven": func() (*plots.Figure, error) { // a cell is as wide as its coordinate is far from others
			x, y := []float64{0.1, 0.2, 0.5, 0.7, 2}, []float64{1, 2, 4, 8, 9, 10}
			d := heatmapData(1, 1, hill)
			d.X, d.Y, d.Panels[0].Z, d.XLog = x, y, onGrid(x, y, hill), true
			return plots.Heatmap(d)
		},
		"heatmap-long": func() (*plots.Figure, error) { // nothing may be cut or run into anything
			d := heatmapData(12, 9, func(x, y float64) float64 { return 1 + hill(x, y) })
			d.Title = "experiments/first/learned-code-matrix.csv (gen) and experiments/second/learned-code-matrix.npy (gen): exact expected error"
			d.Above, d.Below = "error of experiments/second/learned-code-matrix.npy is smaller by", "error of experiments/first/learned-code-matrix.csv is smaller by"
			d.Blank = "blank: invalid, some e > 1"
			return plots.Heatmap(d)
		},
		"verify-rare": func() (*plots.Figure, error) { // bars that reach below zero, labels without errors
			d := verifyData(12, true)
			for i := range d.Labels {
				l := &d.Labels[i]
				l.StdErr = 0.4 * float64(i%6)
				l.Mean = max(0, l.Exact+1.3*l.StdErr*math.Sin(37*l.Level))
			}
			d.Labels[6].Mean = 0
			return plots.Verify(d), nil
		},
		// zeros on a log axis, a mean without an error
		"compare-zero": whole(plots.Compare(plots.CompareData{Title: "many decades", Rows: []plots.CompareRow{
			{"no error", nan, 0, 0, nan, nil, nan}, {"tiny", nan, 1e-17, 1e-12, 2e-12, nil, nan},
			{"large", nan, 20, 21, 9, nil, nan},
		}})),
		"code-dense": func() (*plots.Figure, error) { // too many transitions to mark
			d := codeData(64, 128)
			d.Title, d.Bit = "stripes", func(i, k int) bool { return i%2 == 0 }
			return plots.CodeMatrix(d), nil
		},
		"heatmap-mark": func() (*plots.Figure, error) {
			d := heatmapData(40, 30, hill)
			d.Mark = &plots.Mark{X: 2, XLo: 1.5, XHi: 2.2, Y: 6, YLo: 3, YHi: math.Inf(1)}
			return plots.Heatmap(d)
		},
		"profile": drawing(plots.Profile, plots.ProfileData{Title: "johnson, 64 levels", Curve: "Gaussian mixture",
			Bits: []assess.Profile{bitProfile(7, 64), bitProfile(30, 64),
				{Name: "bit 3: nothing observed", Target: make([]bool, 64)}}}),
		"lines":          drawing(plots.Lines, linesData()),
		"verify":         whole(plots.Verify(verifyData(255, true))),
		"verify-inexact": whole(plots.Verify(verifyData(12, false))),
		"code":           whole(plots.CodeMatrix(codeData(8, 16))),
		"code-large":     whole(plots.CodeMatrix(codeData(2000, 4000))),
		"compare": whole(plots.Compare(plots.CompareData{Line: 3, Rows: []plots.CompareRow{
			{"unary", 0.5, 0.4, 0.401, 0.001, &[2]float64{0.1, 0.6}, 0.3}, {"johnson", 0.62, 0.55, 0.549, 0.002, nil, 0.3},
			{"codes/a-very-long-file-name-of-a-learned-code-matrix.csv", nan, 0.8, 0.79, 0.01, nil, 0.3},
			{"! hadamard", 90, nan, 30, 0.5, &[2]float64{0, 150}, 0.3},
		}})),
	}
}

// codeData is a Johnson code.
func codeData(m, levels int) plots.CodeMatrixData {
	return plots.CodeMatrixData{Title: "johnson", Levels: levels, Bits: m, Bit: func(i, k int) bool {
		return m-i <= k && k < 2*m-i
	}}
}

// TestGolden compares every figure with its golden image. A changed image is
// looked at and then accepted with -update.
func TestGolden(t *testing.T) {
	for name, figure := range figures(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := must.Get(figure())(t)
			var b bytes.Buffer
			must.Succeed(t, f.Write(&b, "png"))
			path := filepath.Join("testdata", name+".png")
			if *update {
				must.Succeed(t, os.WriteFile(path, b.Bytes(), 0o644))
				return
			}
			want := must.Get(os.ReadFile(path))(t)
			if bytes.Equal(b.Bytes(), want) {
				return
			}
			same, err := cmpimg.Equal("png", b.Bytes(), want) // another compression is no other picture
			must.Succeed(t, err)
			if !same {
				t.Errorf("differs from %s; look at it, then run go test ./plots -update", path)
			}
		})
	}
}

// TestExtremes: numbers at the ends of the range of floats are drawn or refused;
// nothing panics or runs for ever.
func TestExtremes(t *testing.T) {
	nan := math.NaN()
	drawn := map[string]int{}
	values := []float64{0, 5e-324, 1e-300, 1e-17, 1, 1e18, 1e18 + 512, 1e300}
	for i, a := range values {
		// b ascends from a, descends, or is far away
		for _, b := range []float64{1, values[max(0, i-1)], values[min(i+1, len(values)-1)]} {
			for name, figure := range map[string]func() (*plots.Figure, error){
				"heatmap of": drawing(plots.Heatmap, plots.HeatmapData{X: []float64{1}, Y: []float64{1, 2},
					Panels: []plots.HeatmapPanel{{Z: [][]float64{{a}, {b}}}}}),
				"heatmap at": drawing(plots.Heatmap, plots.HeatmapData{X: []float64{a, b}, Y: []float64{-a},
					Panels: []plots.HeatmapPanel{{Z: [][]float64{{1, 2}}}}}),
				"log heatmap at": drawing(plots.Heatmap, plots.HeatmapData{X: []float64{a, b}, XLog: true,
					Y: []float64{b}, YLog: true, Panels: []plots.HeatmapPanel{{Z: [][]float64{{1, 2}}}}}),
				"verification of": whole(plots.Verify(
					plots.VerifyData{Labels: []plots.VerifyLabel{{1, nan, b, a, b}, {2, nan, a, 1, 1}}})),
				"comparison of": whole(plots.Compare(
					plots.CompareData{Rows: []plots.CompareRow{{"a", a, 1, b, a, &[2]float64{a, b}, a}, {"b", b, nan, a, b, nil, nan}}})),
			} {
				f, err := figure()
				if err != nil {
					continue
				}
				drawn[name]++
				var svg bytes.Buffer
				if err := f.Write(&svg, "svg"); err != nil {
					t.Errorf("%s %g and %g: %v", name, a, b, err)
				}
				// Images are base64, in which the letters may stand by chance.
				if drawn := regexp.MustCompile(`base64,[^"]*`).ReplaceAllString(svg.String(),
					""); strings.Contains(drawn, "NaN") || strings.Contains(drawn, "Inf,") {
					t.Errorf("%s %g and %g: a coordinate is not a number", name, a, b)
				}
			}
		}
	}
	t.Logf("drawn, of %d each: %v", 3*len(values), drawn)
	for name, n := range drawn {
		if n < 5 {
			t.Errorf("%s: only %d of the numbers are drawn", name, n)
		}
	}
	if len(drawn) != 5 {
		t.Errorf("only these are drawn: %v", drawn)
	}
}

// TestFormats: a figure of each kind in the vector formats is what it says, and two drawings of one
// give the same bytes.
func TestFormats(t *testing.T) {
	for name, figure := range figures(t) {
		if strings.Contains(name, "-") && name != "heatmap-panels" {
			continue // another of its kind has no dash
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for format, magic := range map[string]string{"svg": "<?xml", "pdf": "%PDF"} {
				draw := func() string {
					var b bytes.Buffer
					must.Succeed(t, must.Get(figure())(t).Write(&b, format))
					return b.String()
				}
				first := draw()
				again := map[string]int{"lines": 1, "heatmap-panels": 9}[name] // of images, whose order may differ
				for range again {
					if draw() != first {
						t.Errorf("%s.%s: two drawings differ", name, format)
					}
				}
				if strings.Contains(first, "<text") { // a vector file looks the same without our fonts
					t.Errorf("%s.%s has text that needs a font", name, format)
				}
				if strings.Count(first, "Date (D:") != strings.Count(first, "Date (D:20000101000000") {
					t.Errorf("%s.%s has a date", name, format)
				}
				if !strings.HasPrefix(first, magic) || len(first) > 400_000 {
					t.Errorf("%s.%s begins with %.8q and has %d bytes", name, format, first, len(first))
				}
			}
		})
	}
}

func TestRefusals(t *testing.T) {
	nan := math.NaN()
	heatmap := func(change func(*plots.HeatmapData)) error {
		d := heatmapData(4, 3, hill)
		change(&d)
		_, err := plots.Heatmap(d)
		return err
	}
	of := func(_ *plots.Figure, err error) error { return err }
	for name, err := range map[string]error{
		"no x":                  heatmap(func(d *plots.HeatmapData) { d.X = nil }),
		"x descends":            heatmap(func(d *plots.HeatmapData) { d.X[0] = 9 }),
		"y NaN":                 heatmap(func(d *plots.HeatmapData) { d.Y[0] = nan }),
		"log of zero":           heatmap(func(d *plots.HeatmapData) { d.X[0], d.XLog = 0, true }),
		"no bits":               of(plots.Profile(plots.ProfileData{})),
		"too many bits":         of(plots.Profile(plots.ProfileData{Bits: make([]assess.Profile, 25)})),
		"a format that is none": writing(t, heatmapData(4, 3, hill), "eps", io.Discard),
		"a full disk":           writing(t, heatmapData(4, 3, hill), "svg", failing{}),
	} {
		if err == nil || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: error %v, want one line", name, err)
		}
	}
}

// writing is the error of writing a heat map.
func writing(t *testing.T, d plots.HeatmapData, format string, w io.Writer) error {
	return must.Get(plots.Heatmap(d))(t).Write(w, format)
}

type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, fmt.Errorf("disk full") }

// TestStyles: figures have the widths of the styles on the page, also of a narrow code, and a PNG of 600 dots an
// inch is as wide.
func TestStyles(t *testing.T) {
	widths := map[string]float64{
		"": 6.3, "column": 3.3, "iclr": 5.5, "iclr-column": 2.65, "neurips": 5.5, "neurips-column": 2.65, "icml": 6.75, "icml-column": 3.25,
		"ieee": 7.16, "ieee-column": 3.5, "nature": 7.2, "nature-column": 3.5,
	}
	for place, width := range widths {
		d := linesData()
		d.Style.Place = place
		f := must.Get(plots.Lines(d))(t)
		if place != "" {
			f = plots.CodeMatrix(plots.CodeMatrixData{Levels: 64, Bits: 2, Bit: func(i, k int) bool { return i%2 == k },
				Style: d.Style})
		}
		var svg, picture bytes.Buffer
		must.Succeed(t, f.Write(&svg, "svg"))
		m := regexp.MustCompile(`width="([0-9.]+)pt"`).FindSubmatch(svg.Bytes())
		if m == nil {
			t.Fatalf("%s: no width in %.200s", place, svg.String())
		}
		if points, err := strconv.ParseFloat(string(m[1]), 64); err != nil || math.Abs(points/72-width) > 0.005 {
			t.Errorf("%s: %v points, want %v inches", place, points, width)
		}
		// the narrowest and the widest column: wide pictures take long
		if place != "iclr-column" && place != "nature-column" {
			continue
		}
		must.Succeed(t, f.Write(&picture, "png"))
		decoded := must.Get(png.Decode(bytes.NewReader(picture.Bytes())))(t) // which checks the sums of chunks
		dots := picture.Bytes()[bytes.Index(picture.Bytes(), []byte("pHYs"))+4:]
		perInch := 0.0254 * float64(binary.BigEndian.Uint32(dots))
		if pixels := decoded.Bounds().Dx(); dots[8] != 1 || math.Abs(perInch-600) > 1 ||
			math.Abs(float64(pixels)/perInch-width) > 0.02 {
			t.Errorf("%s: %d pixels, %v to an inch; want %v inches", place, pixels, perInch, width)
		}
	}
}
