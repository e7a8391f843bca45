package heatmap

import (
	"fmt"
	"maps"
	"math"
	"os"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp/cmpopts"

	"belsim/errmodel"
	"belsim/errmodel/scenario"
	"belsim/montecarlo"
	"belsim/montecarlo/plane"
	"belsim/theory"
	"belsim/theory/base/must"
	"belsim/theory/base/table"
	"belsim/theory/code"
	"belsim/theory/expect"
)

// TestIncrease: what a map says of two errors: the increase, its standard error by the slopes of
// the increase, and in how many cells B is better.
func TestIncrease(t *testing.T) {
	for _, tt := range []struct{ a, stderr, b, want float64 }{{3, 0, 2, 50}, {0, 0, 2, -100}, {0, 1e-9, 2, math.NaN()},
		{1, 0, 0, math.NaN()}, {math.NaN(), 0, 1, math.NaN()}} {
		if got := Increase(tt.a, tt.stderr, tt.b); got != tt.want && !(math.IsNaN(got) && math.IsNaN(tt.want)) {
			t.Errorf("%+v: %v", tt, got)
		}
	}
	c := Cell{Sampled: &Sampled{}}
	c.Set(plane.Sample, montecarlo.Overall{Mean: 3, StdErr: 0.1}, montecarlo.Overall{Mean: 2, StdErr: 0.2})
	const step = 1e-6
	want := math.Hypot(0.1*(Increase(3+step, 0, 2)-50)/step, 0.2*(Increase(3, 0, 2+step)-50)/step)
	if math.Abs(c.Sampled.StdErr-want) > 1e-4*want || c.Sampled.Increase != 50 {
		t.Errorf("%v ± %v, want ± %v", c.Sampled.Increase, c.Sampled.StdErr, want)
	}
	var m Map
	for _, v := range []Values{{Increase: 0.9e-9}, {Increase: 1.1e-9}, {Increase: 0.5, unsure: 0.4},
		{Increase: 0.5, unsure: 0.6}, {Increase: -3}, {Increase: math.NaN(), A: 1}, {Increase: math.NaN(), A: 1,
			unknown: true}} {
		m.Cells = append(m.Cells, Cell{Exact: &v})
	}
	got := m.Summary(plane.Exact)
	must.Equal(t, "summary", Summary{Valid: 5, BetterB: 2, Unknown: 1, WithoutErrors: 1}, got,
		cmpopts.IgnoreFields(Summary{}, "Least", "Most"))
	must.Equal(t, "extremes", [2]float64{-3, 0.5}, [2]float64{got.Least.Exact.Increase, got.Most.Exact.Increase})
}

// The default map of any two codes has valid cells, up to the largest valid r, and compares what
// may be compared.
func TestBestMaps(t *testing.T) {
	run := montecarlo.Run{Backend: montecarlo.CPU{Workers: 1}, Workers: 1}
	methods := map[string]int{}
	some := func(a plane.Axis) plane.Axis { // of the values, the ends among them
		return plane.ListAxis([]float64{a.Values[0], a.Values[13], a.Values[26], a.Values[39]})
	}
	sizes, want := []int{4, 16}, []string{"[bound exact]", "[exact]"}
	if os.Getenv("BELSIM_LONG") != "" {
		sizes, want = append(sizes, 64), append(want, "[mc]")
	}
	for _, levels := range sizes {
		for _, f := range code.Families() {
			for _, b := range []string{"johnson", "hadamard", "hexj"} {
				if levels == 64 && (b == "hexj" || f.Name != "unary" && f.Name != "johnson") {
					continue // takes long
				}
				codes := [2]*code.Code{must.Get(code.New(f.Name, levels))(t), must.Get(code.New(b, levels))(t)}
				s := scenario.New(scenario.Mixture{R: 1, Sigma: 1})
				x, y, err := FitAxes(t.Context(), codes[:], plane.Axis{}, plane.Axis{})
				must.Succeed(t, err)
				m := must.Get(New(t.Context(), s, Question{Codes: codes, Decoder: "auto", R: some(x), Sigma: some(y)}))(t)
				must.Succeed(t, m.Fill(t.Context(), run, montecarlo.Sampling{Samples: 20, Seed: 1}))
				methods[fmt.Sprint(m.Methods)]++
				what := fmt.Sprintf("%s and %s, %d levels, %s", f.Name, b, levels, m.Methods)
				for _, method := range m.Methods {
					if sum := m.Summary(method); sum.Valid == 0 || m.Warning() != "" {
						t.Errorf("%s: %d valid cells; %s", what, sum.Valid, m.Warning())
					}
					must.Equal(t, what+": unknown cells", 0, m.Summary(method).Unknown)
				}
				beyond := must.Get(New(t.Context(), s, Question{Codes: codes, Decoder: "auto",
					R: plane.ListAxis([]float64{1.01 * x.Values[39]}), Sigma: y, Methods: []plane.Method{plane.Sample}}))(t)
				must.Succeed(t, beyond.Fill(t.Context(), run, montecarlo.Sampling{Samples: 2, Seed: 1}))
				sum := beyond.Summary(plane.Sample)
				if x.Values[39] < float64(levels)/2 && sum.Valid+sum.WithoutErrors > 0 {
					t.Errorf("%s: r = %v is the largest, and more is valid", what, x.Values[39])
				}
			}
		}
	}
	must.Equal(t, "methods", want, slices.Sorted(maps.Keys(methods)))
}

// TestNoErrors: of Gaussians so narrow that no bit errs there is no increase.
func TestNoErrors(t *testing.T) {
	s := scenario.New(nil)
	codes := [2]*code.Code{must.Get(code.New("unary", 15))(t), must.Get(code.New("johnson-nonzero", 15))(t)}
	m := must.Get(New(t.Context(), s, Question{Codes: codes, Decoder: "auto", R: plane.NewAxis(1, 2, 2, false),
		Sigma: plane.NewAxis(1e-300, 1e-3, 3, true), Methods: []plane.Method{plane.Bound}}))(t)
	must.Succeed(t, m.Fill(t.Context(), montecarlo.Run{Workers: 1}, montecarlo.Sampling{}))
	if sum := m.Summary(plane.Bound); sum.Valid != 0 || sum.WithoutErrors != 6 {
		t.Errorf("%+v", sum)
	}
}

// TestMap: a cell is what theory says of its error model, by every method; invalid cells are blank.
func TestMap(t *testing.T) {
	for _, method := range []plane.Method{plane.Bound, plane.Exact, plane.Sample} {
		s := scenario.New(nil)
		codes := [2]*code.Code{must.Get(code.New("unary", 15))(t), must.Get(code.New("johnson-nonzero", 15))(t)}
		m := must.Get(New(t.Context(), s, Question{Codes: codes, Decoder: "auto", R: plane.NewAxis(0.5, 8, 4, false),
			Sigma: plane.NewAxis(1, 3, 3, false), Methods: []plane.Method{method}}))(t)
		var told atomic.Int64
		run := montecarlo.Run{Backend: montecarlo.CPU{}, Workers: 1, Done: func(n uint64) { told.Add(int64(n)) }}
		draw := montecarlo.Sampling{Samples: 4000, Seed: 3}
		must.Succeed(t, m.Fill(t.Context(), run, draw))
		if told.Load() != int64(len(m.Cells)) {
			t.Errorf("%s: %d of %d cells are told", method, told.Load(), len(m.Cells))
		}
		blank := 0
		for _, c := range m.Cells {
			v := c.Of(method)
			for i, got := range []float64{v.A, v.B} {
				at := scenario.New(scenario.Mixture{R: c.R, Sigma: c.Sigma})
				p, err := at.Problem(t.Context(), codes[i], must.Get(at.Decoder("auto", codes[i]))(t))
				if errmodel.Invalid(err) {
					if !table.Missing(v.Increase) {
						t.Errorf("%s at %+v: %v, and one code is invalid", method, c.Point, v.Increase)
					}
					blank++
					break
				}
				must.Succeed(t, err)
				if table.Missing(got) { // the other code is invalid here
					continue
				}
				mean := must.Get(expect.Of(t.Context(), 0, p, theory.Uniform(15), expect.Skip{}))(t).Mean
				want, off := mean.Exact, 1e-12*mean.Exact
				switch method {
				case plane.Bound:
					want = mean.Bound
				case plane.Sample:
					off = 6.5 * []float64{c.Sampled.StdErrA, c.Sampled.StdErrB}[i] // 1e−10 a value
				}
				must.Near(t, fmt.Sprintf("%s at %+v, code %d", method, c.Point, i), want, got, off)
			}
		}
		if sum := m.Summary(method); sum.Valid+blank != len(m.Cells) || blank == 0 {
			t.Errorf("%s: %d valid and %d blank of %d", method, sum.Valid, blank, len(m.Cells))
		}
		if c := m.Nearest(plane.Point{R: m.R[0], Sigma: m.Sigma[0]}); c != &m.Cells[0] {
			t.Errorf("%s: nearest cell %+v", method, c)
		}
	}
}

// TestFitAxes: σ goes from 0.2, or a 300th of the levels, to a third of them and to 1 at least; r to
// half of the levels where more is valid.
func TestFitAxes(t *testing.T) {
	for levels, want := range map[int][4]float64{
		2: {0.2, 1, 0.005, 1}, 60: {0.2, 20, 0.15, 30}, 61: {61. / 300, 61. / 3, 61. / 400, 61. / 2},
	} {
		x, y, err := FitAxes(t.Context(), []*code.Code{must.Get(code.New("unary", levels))(t)}, plane.Axis{},
			plane.Axis{})
		must.Succeed(t, err)
		must.Equal(t, fmt.Sprintf("σ and r of %d levels", levels), want,
			[4]float64{y.Values[0], y.Values[39], x.Values[0], x.Values[39]}, cmpopts.EquateApprox(1e-12, 0))
	}
}

// TestNearest: a cell reaches to the geometric mean of its value and the next one.
func TestNearest(t *testing.T) {
	m := Empty([2]scenario.Design{}, plane.ListAxis([]float64{1, 4}), plane.ListAxis([]float64{1}))
	for r, want := range map[float64]*Cell{0.99: nil, 1: &m.Cells[0], 1.99: &m.Cells[0], 2.01: &m.Cells[1],
		4: &m.Cells[1], 4.01: nil} {
		if got := m.Nearest(plane.Point{R: r, Sigma: 1}); got != want {
			t.Errorf("r = %v is in %+v, want %+v", r, got, want)
		}
	}
}

// TestDefaultMethods: bounds of the paper and exact values beside each other; exact values, also
// intervals, of as many cells as are quick, and where they are narrow; else samples. No union bound
// is taken.
func TestDefaultMethods(t *testing.T) {
	const bound, exact, mc = plane.Bound, plane.Exact, plane.Sample
	for _, tt := range []struct {
		a, b, decoder string
		levels, cells int
		r, sigma      float64 // the largest
		want          []plane.Method
	}{
		{"unary", "johnson-nonzero", "auto", 255, 2, 2, 3, []plane.Method{bound, exact}},
		{"johnson", "unary", "auto", 1024, 2, 2, 3, []plane.Method{bound, exact}},
		{"unary", "johnson", "gen", 64, 2, 2, 3, []plane.Method{exact}},
		{"hexj", "johnson", "gen", 64, 8, 2, 5, []plane.Method{exact}},
		{"hexj", "johnson", "gen", 64, 40, 3, 5, []plane.Method{mc}},
		{"hexj", "unary", "auto", 64, 8, 3, 5, []plane.Method{exact}}, // not Eq. 2 beside a union bound
		{"hadamard", "johnson", "auto", 64, 2, 0.5, 9, []plane.Method{mc}},
		{"unary", "johnson", "gen-ex", 64, 2, 2, 3, []plane.Method{mc}},
	} {
		codes := [2]*code.Code{must.Get(code.New(tt.a, tt.levels))(t), must.Get(code.New(tt.b, tt.levels))(t)}
		m := must.Get(New(t.Context(), scenario.New(nil), Question{Codes: codes, Decoder: tt.decoder,
			R: plane.NewAxis(tt.r/10, tt.r, tt.cells, false), Sigma: plane.NewAxis(tt.sigma/2, tt.sigma, tt.cells, false)}))(t)
		must.Equal(t, fmt.Sprintf("%+v", tt), tt.want, m.Methods)
	}
}

// TestDefaultAxes: the paper's for its codes, and a range that is given stays.
func TestDefaultAxes(t *testing.T) {
	for _, tt := range []struct {
		b      string
		levels int
		sigma  plane.Axis
		want   [3]float64 // numbers of r and of σ, and the largest σ
	}{
		{"johnson-nonzero", 255, plane.Axis{}, [3]float64{100, 100, 100}},
		{"johnson-nonzero", 255, plane.ListAxis([]float64{2, 3}), [3]float64{100, 2, 3}},
		{"johnson-nonzero", 96, plane.Axis{}, [3]float64{40, 40, 32}},
		{"johnson", 255, plane.Axis{}, [3]float64{40, 40, 85}},
	} {
		codes := [2]*code.Code{must.Get(code.New("unary", tt.levels))(t), must.Get(code.New(tt.b, tt.levels))(t)}
		x, y, err := DefaultAxes(t.Context(), codes, plane.Axis{}, tt.sigma)
		must.Succeed(t, err)
		n := len(y.Values)
		must.Equal(t, fmt.Sprintf("%+v", tt), tt.want, [3]float64{float64(len(x.Values)), float64(n), y.Values[n-1]})
	}
}

// TestWarning: bounds of two kinds are told wherever there are bounds, and only there.
func TestWarning(t *testing.T) {
	for _, tt := range []struct {
		a, b   string
		method plane.Method
		warns  bool
	}{
		{"Eq. 2", "Eq. 26", plane.Bound, false}, {"Eq. 2", "union bound", plane.Bound, true},
		{"union bound", "union bound", plane.Bound, false}, {"Eq. 2", "union bound", plane.Exact, false},
	} {
		m := Empty([2]scenario.Design{}, plane.ListAxis([]float64{1}), plane.ListAxis([]float64{1}))
		m.AddMethods([]string{tt.a, tt.b}, tt.method)
		if got := m.Warning(); (got != "") != tt.warns {
			t.Errorf("%+v: %q", tt, got)
		}
	}
}

// TestBothCodes: the range of r is the same whichever code comes first, and what is unsure of the
// increase is so of both errors.
func TestBothCodes(t *testing.T) {
	unary, johnson := must.Get(code.New("unary", 48))(t), must.Get(code.New("johnson", 48))(t)
	x, _, err := FitAxes(t.Context(), []*code.Code{unary, johnson}, plane.Axis{}, plane.Axis{})
	must.Succeed(t, err)
	other, y, err := FitAxes(t.Context(), []*code.Code{johnson, unary}, plane.Axis{}, plane.Axis{})
	must.Succeed(t, err)
	must.Equal(t, "axis of the other order", x, other)
	s := scenario.New(nil)
	m := must.Get(New(t.Context(), s, Question{Codes: [2]*code.Code{unary, johnson}, Decoder: "gen", R: x, Sigma: y,
		Methods: []plane.Method{plane.Exact}}))(t)
	f := &filler{m: m, method: plane.Exact}
	must.Succeed(t, f.prepare(t.Context()))
	must.Equal(t, "percent that are unsure", 200*expect.ExactWidth, f.unsure)
}
