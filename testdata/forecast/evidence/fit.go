package evidence

import (
	"context"
	"math"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"gonum.org/v1/gonum/diff/fd"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/optimize"

	"belsim/errmodel/forecast"
	"belsim/errmodel/observed"
	"belsim/theory/base/parallel"
)

// Group is the data set of a task: all tasks of one data set are one group, because what one of
// them shows is no news to another.
func (t Task) Group() string { return strings.TrimSuffix(t.Data, "2") } // digits2 are digits

// rows are what one result says to the law.
type rows struct {
	result   *Result
	weight   float64 // of a data set's results together: 1
	all      []forecast.Forecast
	errors   []observed.Error
	networks []int
}

// rowsOf are those of results: of each network the reading with the smallest error of the model,
// which no law changes.
func rowsOf(results []*Result) []rows {
	count := map[string]float64{}
	for _, r := range results {
		count[r.Task.Group()]++
	}
	var out []rows
	for _, r := range results {
		x := rows{result: r, weight: 1 / count[r.Task.Group()]}
		number := 0
		for _, p := range r.Pairs {
			better := func(q Pair) bool {
				return q.Code == p.Code && q.Training == p.Training && q.Model() < p.Model()
			}
			if slices.ContainsFunc(r.Pairs, better) {
				continue
			}
			for _, e := range p.Each {
				number++
				if e.Seed == 0 && p.Source {
					continue
				}
				x.all, x.errors, x.networks = append(x.all, p.Forecast), append(x.errors, e.Error), append(x.networks,
					number)
			}
		}
		out = append(out, x)
	}
	return out
}

// parameters are the fields of a law as numbers that may have any sign: the mean, times 30, and
// logarithms.
func parameters(l forecast.Law) []float64 {
	v := reflect.ValueOf(l)
	out := make([]float64, v.NumField())
	for i := range out {
		out[i] = math.Log(max(v.Field(i).Float(), 1e-4))
	}
	out[0] = 30 * l.Mean
	return out
}

func lawOf(x []float64) (l forecast.Law) {
	v := reflect.ValueOf(&l).Elem()
	for i := range x {
		v.Field(i).SetFloat(math.Exp(x[i]))
	}
	l.Mean = x[0] / 30
	return l
}

// FitLaw returns the law that makes the observed errors likeliest, and the logarithm of their
// density, a mean over the results of each data set and a sum over data sets. It begins at a law,
// and takes so many steps at most.
func FitLaw(ctx context.Context, workers int, results []*Result, from forecast.Law, steps int) (forecast.Law, float64,
	error) {
	data := rowsOf(results)
	differences := &fd.Settings{Formula: fd.Forward, Step: 1e-4}
	loss := func(x []float64) float64 {
		parts := make([]float64, len(data))
		err := parallel.Each(ctx, workers, len(data), func() (func(context.Context, int) error, error) {
			return func(_ context.Context, i int) error {
				d := &data[i]
				f := *d.result.Forecaster
				f.Law = lawOf(x)
				parts[i] = d.weight * f.LogDensity(d.all, d.source(), d.errors, d.networks)
				return nil
			}, nil
		})
		if err != nil {
			return math.Inf(1)
		}
		return -floats.Sum(parts)
	}
	problem := optimize.Problem{Func: loss, Grad: func(grad, x []float64) { fd.Gradient(grad, loss, x, differences) }}
	settings := &optimize.Settings{MajorIterations: steps, GradientThreshold: 1e-2,
		Converger: &optimize.FunctionConverge{Absolute: 2e-3, Iterations: 3}}
	out, err := optimize.Minimize(problem, parameters(from), settings, &optimize.BFGS{})
	if ctx.Err() != nil {
		return from, 0, ctx.Err()
	}
	if out == nil {
		return from, 0, err
	}
	return lawOf(out.X), -out.F, nil // a search that stops for the noise of differences is at its end
}

// Numbers are the names of the numbers of a law.
func Numbers() (out []string) {
	for _, f := range reflect.VisibleFields(reflect.TypeFor[forecast.Law]()) {
		out = append(out, f.Name)
	}
	return out
}

// source is the forecast of the measured network.
func (r *rows) source() forecast.Forecast {
	m := r.result.Forecaster.Measured[r.result.Forecaster.Source()]
	i := slices.IndexFunc(r.result.Pairs, func(p Pair) bool {
		return p.Source && forecast.SameReading(p.Decoding, m.Decoding)
	})
	return r.result.Pairs[i].Forecast
}

// Unshared is the part of the standard error of a network's error that it does not share with that
// of another network on the same samples, √(1−ρ): the median over the pairs of heads.csv, whose
// ratios to direct regression have standard errors of paired samples.
func Unshared(path string) (float64, error) {
	var all []float64
	err := readRows(path, func(r *row) {
		if ratio := r.number("ratio"); ratio != 1 {
			// A ratio of two networks has √2 times what one does not share.
			all = append(all, r.number("ratio_stderr")/ratio/math.Sqrt2/(r.number("error_stderr")/r.number("error")))
		}
	})
	return Median(all), err
}

// LoadLaws reads laws.csv: the law that was fitted without each data set, by its name.
func LoadLaws(folder string) (map[string]forecast.Law, error) {
	out := map[string]forecast.Law{}
	err := readRows(filepath.Join(folder, "laws.csv"), func(r *row) {
		var l forecast.Law
		v := reflect.ValueOf(&l).Elem()
		for i, name := range Numbers() {
			v.Field(i).SetFloat(r.number(name))
		}
		out[r.cells["without"]] = l
	})
	return out, err
}
