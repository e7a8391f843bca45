package main

import (
	"fmt"
	"math"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"belsim/errmodel/forecast"
	"belsim/montecarlo/search"
	"belsim/theory/base/must"
	"belsim/theory/code"
)

// sameRows reports rows of one program that another one has with another number; rows of other
// codes, trainings and decoders are left out. unit is that of the second one. It returns how many
// both have.
func sameRows(t *testing.T, what string, a, b []forecast.Row, unit float64) (both int) {
	t.Helper()
	for _, x := range a {
		i := slices.IndexFunc(b, func(y forecast.Row) bool {
			return x.Code == y.Code && x.Training == y.Training && x.Decoder == y.Decoder && x.Outputs == y.Outputs
		})
		if i < 0 {
			continue
		}
		both++
		for k, pair := range [][2]float64{{x.Forecast, b[i].Forecast}, {x.Interval[0], b[i].Interval[0]},
			{x.Interval[1], b[i].Interval[1]}} {
			if !(math.Abs(pair[0]*unit/pair[1]-1) <= 1e-9) {
				t.Errorf("%s: number %d of %+v, and of %+v", what, k, x, b[i])
			}
		}
	}
	return both
}

// TestSameDigits asks forecast, optimize and fit the same questions about the networks of fits. Each
// program has the same forecasts and
// intervals.
func TestSameDigits(t *testing.T) {
	t.Chdir(t.TempDir())
	var names []string
	for _, f := range code.Families() {
		names = append(names, f.Name)
	}
	_, _, network := smallNetwork(t)
	for k, more := range []string{"", "--training ce", "--baseline 0.1 --fit-decoder"} {
		if k > 0 && !long {
			break
		}
		file := fmt.Sprintf("fit%d.json", k)
		f := fitOf(t, append(slices.Clone(network), append(strings.Fields(more), "--recommend", "-o", file)...)...)
		ranking := f.Recommendation.Ranking
		var c forecast.Ranking
		var found search.Optimized
		runJSON(t, &c, "forecast --model "+file+" --training bce,ce")
		runJSON(t, &found, "optimize --bits 9 --steps 1 --quiet --model "+file)
		if n := sameRows(t, "forecast --model "+more, c.Results, ranking, 1); n < 2*len(names)-1 {
			t.Errorf("%s: %d rows of %d", more, n, len(c.Results))
		}
		if n := sameRows(t, "optimize --model "+more, found.Ranking, ranking, f.LevelWidth); n < len(found.Ranking)-2 {
			t.Errorf("%s: %d rows of %d", more, n, len(found.Ranking))
		}
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
