package heatmap

import (
	"context"
	"fmt"
	"math"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"belsim/errmodel/perceived"
	"belsim/montecarlo"
	"belsim/montecarlo/plane"
	"belsim/montecarlo/scenario"
	"belsim/theory"
	"belsim/theory/base/must"
	"belsim/theory/base/table"
	"belsim/theory/code"
)

// TestIncrease: what a map says of two errors: the increase, its standard error by the slopes of
// the increase, and in how many cells B is better.
func TestIncrease(t *testing.T) {
	for _, tt := range []struct{ a, stderr, b, want float64 }{{3, 0, 2, 50}, {0, 0, 2, -100}, {0, 1e-9, 2, math.NaN()},
		{1, 0, 0, math.NaN()}} {
		if got := Increase(tt.a, tt.stderr, tt.b); got != tt.want && !(math.IsNaN(got) && math.IsNaN(tt.want)) {
			t.Errorf("%+v: %v", tt, got)
		}
	}
	var c Cell
	c.Set(montecarlo.Overall{Mean: 3, StdErr: 0.1}, montecarlo.Overall{Mean: 2, StdErr: 0.2}, true)
	const step = 1e-6
	want := math.Hypot(0.1*(Increase(3+step, 0, 2)-50)/step, 0.2*(Increase(3, 0, 2+step)-50)/step)
	if math.Abs(*c.StdErr-want) > 1e-4*want || c.Increase != 50 {
		t.Errorf("%v ± %v, want ± %v", c.Increase, *c.StdErr, want)
	}
	m := Map{Cells: []Cell{{Increase: 0.9e-9}, {Increase: 1.1e-9}, {Increase: 0.5, unsure: 0.4},
		{Increase: 0.5, unsure: 0.6}, {Increase: -3}, {Increase: math.NaN(), A: 1}, {Increase: math.NaN(), A: 1,
			unknown: true}}}
	got := m.Summary()
	if diff := cmp.Diff(Summary{Valid: 5, BetterB: 2, Unknown: 1, WithoutErrors: 1}, got,
		cmpopts.IgnoreFields(Summary{}, "Least", "Most")); diff != "" || got.Least.Increase != -3 ||
		got.Most.Increase != 0.5 {
		t.Errorf("%s, from %v to %v", diff, got.Least.Increase, got.Most.Increase)
	}
}

// The default map of any two codes has valid cells, up to the largest valid r, and compares what
// may be compared.
func TestBestMaps(t *testing.T) {
	run := scenario.Run{Backend: montecarlo.CPU{Workers: 1}, Workers: 1}
	methods := map[scenario.Method]int{}
	some := func(a plane.Axis) plane.Axis { // of the values, the ends among them
		return plane.ListAxis([]float64{a.Values[0], a.Values[13], a.Values[26], a.Values[39]})
	}
	for _, levels := range []int{4, 16, 64} {
		for _, f := range code.Families() {
			for _, b := range []string{"johnson", "hadamard", "hexj"} {
				codes := [2]*code.Code{must.Get(code.New(f.Name, levels))(t), must.Get(code.New(b, levels))(t)}
				s := scenario.New(scenario.Mixture{R: 1, Sigma: 1})
				x, y, err := FitAxes(t.Context(), codes[:], plane.Axis{}, plane.Axis{})
				must.Succeed(t, err)
				m := must.Get(New(t.Context(), s, codes, "auto", plane.Mixture{}, some(x), some(y), Best))(t)
				must.Succeed(t, m.Fill(t.Context(), s, run, scenario.Sampling{Samples: 20, Seed: 1}))
				methods[m.Method]++
				what := fmt.Sprintf("%s and %s, %d levels, %s", f.Name, b, levels, m.Method)
				if sum := m.Summary(); sum.Valid == 0 || sum.Unknown > 0 || m.twoKinds {
					t.Errorf("%s: %+v, bounds %q", what, sum, m.Bounds)
				}
				beyond := must.Get(New(t.Context(), s, codes, "auto", plane.Mixture{},
					plane.ListAxis([]float64{1.01 * x.Values[39]}), y, Best))(t)
				must.Succeed(t, beyond.Fill(t.Context(), s, run, scenario.Sampling{Samples: 2, Seed: 1}))
				if x.Values[39] < float64(levels)/2 && beyond.Summary().Valid+beyond.Summary().WithoutErrors > 0 {
					t.Errorf("%s: r = %v is the largest, and more is valid", what, x.Values[39])
				}
			}
		}
	}
	if methods[scenario.Exact] == 0 || methods[scenario.Bound] == 0 || methods[scenario.Sample] == 0 {
		t.Errorf("methods %v", methods)
	}
}

// TestMap: a cell is what Theory says of its mixture, by every method; invalid cells are blank.
func TestMap(t *testing.T) {
	ctx := context.Background()
	s := scenario.New(nil)
	codes := [2]*code.Code{must.Get(code.New("unary", 15))(t), must.Get(code.New("johnson-nonzero", 15))(t)}
	models := plane.Mixture{}
	weights := must.Get(s.Weights(15))(t)
	// Gaussians so narrow that no bit errs: an increase does not exist.
	narrow := must.Get(New(ctx, s, codes, "auto", models, plane.NewAxis(1, 2, 2, false),
		plane.NewAxis(1e-310, 1e-3, 3, true), scenario.Bound))(t)
	must.Succeed(t, narrow.Fill(ctx, s, scenario.Run{Workers: 1}, scenario.Sampling{}))
	if sum := narrow.Summary(); sum.Valid != 0 || sum.WithoutErrors != 6 {
		t.Errorf("without errors: %+v", sum)
	}
	x, y := plane.NewAxis(0.5, 8, 4, false), plane.NewAxis(1, 3, 3, false)
	draw := scenario.Sampling{Samples: 4000, Seed: 3}
	for _, method := range []scenario.Method{scenario.Bound, scenario.Exact, scenario.Sample} {
		var cells atomic.Int64
		m := must.Get(New(ctx, s, codes, "auto", models, x, y, method))(t)
		run := scenario.Run{Backend: montecarlo.CPU{}, Workers: 1, Done: func(n uint64) { cells.Add(int64(n)) }}
		must.Succeed(t, m.Fill(ctx, s, run, draw))
		if cells.Load() != int64(len(m.Cells)) {
			t.Errorf("%s: %d of %d cells are told", method, cells.Load(), len(m.Cells))
		}
		blank := 0
		for _, c := range m.Cells {
			at := scenario.New(scenario.Mixture{R: c.R, Sigma: c.Sigma})
			for i, got := range []float64{c.A, c.B} {
				p, err := at.Problem(ctx, codes[i], must.Get(at.Decoder("auto", codes[i]))(t), draw)
				if scenario.Invalid(err) {
					if !table.Missing(c.Increase) {
						t.Errorf("%s at (%v, %v): %v, and one code is invalid", method, c.R, c.Sigma, c.Increase)
					}
					blank++
					break
				}
				must.Succeed(t, err)
				if table.Missing(got) { // the other code is invalid here
					continue
				}
				mean := must.Get(scenario.TheoryOf(ctx, 0, p, weights, scenario.Omit{}))(t).Mean
				want, allowed := mean.Exact, 1e-12*mean.Exact
				switch method {
				case scenario.Bound:
					want = mean.Bound
				case scenario.Sample:
					allowed = 6.5 * *[]*float64{c.StdErrA, c.StdErrB}[i] // 1e−10 a value
				}
				if d := got - want; d > allowed || d < -allowed {
					t.Errorf("%s at (%v, %v), code %d: %v, want %v", method, c.R, c.Sigma, i, got, want)
				}
			}
		}
		sum := m.Summary()
		if sum.Valid+blank != len(m.Cells) || blank == 0 {
			t.Errorf("%s: %d valid and %d blank of %d", method, sum.Valid, blank, len(m.Cells))
		}
		if c := m.Nearest(0.5, 1); c == nil || c.R != 0.5 || c.Sigma != 1 {
			t.Errorf("%s: nearest cell %+v", method, c)
		}
	}
}

// TestPerceivedPlane: a map over label noise and misfit has the numbers of its points.
func TestPerceivedPlane(t *testing.T) {
	s := scenario.New(nil)
	models := plane.Perceived{Model: scenario.Perceived{Model: perceived.Model{Training: perceived.BCE}}}
	codes := [2]*code.Code{must.Get(code.New("unary", 16))(t), must.Get(code.New("johnson", 16))(t)}
	weights := theory.Uniform(16)
	for _, method := range []scenario.Method{scenario.Bound, scenario.Exact, scenario.Sample} {
		m := must.Get(New(t.Context(), s, codes, "auto", models, plane.NewAxis(0.7, 1.4, 2, false),
			plane.NewAxis(0.25, 0.5, 2, false), method))(t)
		draw := scenario.Sampling{Samples: 640, Seed: 1}
		must.Succeed(t, m.Fill(context.Background(), s, scenario.Run{Backend: montecarlo.CPU{}}, draw))
		if !slices.Equal(m.X(), []float64{0.7, 1.4}) || m.R != nil || m.Cells[1].LabelNoise != 1.4 ||
			m.Cells[1].Misfit != 0.25 || m.Cells[1].R != 0 {
			t.Errorf("%s: cells %+v", method, m.Cells)
		}
		of := *s // with the parameters of cell 1
		of.Model = scenario.Perceived{Model: perceived.Model{Noise: 1.4, Misfit: 0.25, Training: perceived.BCE}}
		p := must.Get(of.Problem(context.Background(), codes[0], must.Get(of.Decoder("auto", codes[0]))(t),
			scenario.FixedSampling()))(t)
		mean := must.Get(scenario.TheoryOf(t.Context(), 0, p, weights, scenario.Omit{}))(t).Mean
		got, want, off := m.Cells[1].A, mean.Exact, 1e-9
		switch method {
		case scenario.Bound:
			want = mean.Bound
		case scenario.Sample:
			off = 6.5 * *m.Cells[1].StdErrA
		}
		if math.Abs(got-want) > off {
			t.Errorf("%s: %v at s = 1.4 and η = 0.25, want %v", method, got, want)
		}
	}
}
