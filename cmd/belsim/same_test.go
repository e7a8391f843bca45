package main

import (
	"math"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp/cmpopts"
	"gonum.org/v1/gonum/floats"

	"belsim/errmodel/forecast"
	"belsim/montecarlo/search"
	"belsim/theory/base/must"
	"belsim/theory/code"
)

// TestSameDigits asks forecast, optimize and fit the same questions about the network of a fit: they have the same
// forecasts and intervals.
func TestSameDigits(t *testing.T) {
	t.Chdir(t.TempDir())
	_, _, network := smallNetwork(t)
	f := fitOf(t, append(network, "--recommend", "-o", "fit.json")...)
	var c forecast.Ranking
	var found search.Optimized
	runJSON(t, &c, "forecast --model fit.json --training bce,ce")
	runJSON(t, &found, "optimize --bits 9 --steps 1 --quiet --model fit.json")
	both := 0
	for rows, unit := range map[*[]forecast.Row]float64{&c.Results: 1, &found.Ranking: f.LevelWidth} {
		for _, x := range *rows {
			for _, y := range f.Recommendation.Ranking {
				if x.Code != y.Code || x.Training != y.Training || x.Decoder != y.Decoder || x.Outputs != y.Outputs {
					continue
				}
				both++
				got, want := []float64{x.Forecast, x.Interval[0], x.Interval[1]}, []float64{y.Forecast, y.Interval[0], y.Interval[1]}
				floats.Scale(unit, got)
				must.Equal(t, x.Code, want, got, cmpopts.EquateApprox(1e-9, 0))
			}
		}
	}
	if both < 2*len(code.Families()) {
		t.Errorf("%d rows are of both", both)
	}
}

// TestProcessors: a processor without AVX2 or AVX-512 gives the same bytes. One without FMA gives the
// same samples, and the theory differs in its last digits alone, as the page says: each exponential
// by at most an ulp, of which sums over a few thousand outputs keep far less than 1e-12.
func TestProcessors(t *testing.T) {
	if runtime.GOARCH != "amd64" {
		t.Skip("such parts of a processor can be turned off on x86-64 alone")
	}
	t.Parallel()
	for _, args := range []string{"compare unary hexj --levels 32 --samples 777 --format json",
		"verify --code hexj --levels 16 --samples 300 --format json", "forecast unary --levels 16 --mae 1 --format json"} {
		status, want, _ := process(t, nil, args)
		must.Equal(t, args, 0, status)
		for _, off := range []string{"cpu.avx2=off", "cpu.avx512f=off", "cpu.fma=off"} {
			_, got, _ := process(t, []string{"GODEBUG=" + off}, args)
			if off != "cpu.fma=off" {
				must.Equal(t, args+" "+off, want, got)
				continue
			}
			number := func(c rune) bool { return strings.ContainsRune(",: \n\"[]{}", c) }
			a, b := strings.FieldsFunc(want, number), strings.FieldsFunc(got, number)
			for i, x := range a {
				v, err := strconv.ParseFloat(x, 64)
				w, err2 := strconv.ParseFloat(b[min(i, len(b)-1)], 64)
				if len(a) != len(b) || (err != nil || err2 != nil) && x != b[i] || math.Abs(v-w) > 1e-12*math.Abs(v) {
					t.Errorf("%s %s: %s, and %s without", args, off, x, b[min(i, len(b)-1)])
				}
			}
		}
	}
}
