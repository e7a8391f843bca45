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
	"gonum.org/v1/gonum/mat"
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
	out := Values(l)
	for i, v := range out {
		out[i] = math.Log(max(v, 1e-4))
	}
	out[0] = 30 * l.Mean
	return out
}

func lawOf(x []float64) forecast.Law {
	values := []float64{x[0] / 30}
	for _, v := range x[1:] {
		values = append(values, math.Exp(v))
	}
	return ofValues(values)
}

// Values are the numbers of a law, whose names are Numbers.
func Values(l forecast.Law) (out []float64) {
	for i := range Numbers() {
		out = append(out, reflect.ValueOf(l).Field(i).Float())
	}
	return out
}

func ofValues(values []float64) (l forecast.Law) {
	for i, v := range values {
		reflect.ValueOf(&l).Elem().Field(i).SetFloat(v)
	}
	return l
}

// densities are the logarithms of the density of the observed errors of each result, under a law.
func densities(ctx context.Context, workers int, data []rows, law forecast.Law) ([]float64, error) {
	out := make([]float64, len(data))
	err := parallel.Each(ctx, workers, len(data), func() (func(context.Context, int) error, error) {
		return func(_ context.Context, i int) error {
			d := &data[i]
			f := *d.result.Forecaster
			f.Law = law
			out[i] = d.weight * f.LogDensity(d.all, d.source(), d.errors, d.networks)
			return nil
		}, nil
	})
	return out, err
}

// differences are those by which gradients are computed.
var differences = &fd.Settings{Formula: fd.Forward, Step: 1e-4}

// FitLaw returns the law that makes the observed errors likeliest, and the logarithm of their
// density, a mean over the results of each data set and a sum over data sets. It begins at a law,
// and takes so many steps at most.
func FitLaw(ctx context.Context, workers int, results []*Result, from forecast.Law, steps int) (forecast.Law, float64,
	error) {
	data := rowsOf(results)
	loss := func(x []float64) float64 {
		parts, err := densities(ctx, workers, data, lawOf(x))
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

// Gradients are those of each data set's logarithm of the density, by the parameters of the law. At
// the law of all data sets they have the sum 0: so each data set alone shows whether a law is that of
// all.
func Gradients(ctx context.Context, workers int, results []*Result, law forecast.Law) (map[string][]float64, error) {
	return gradients(ctx, workers, rowsOf(results), parameters(law))
}

func gradients(ctx context.Context, workers int, data []rows, x []float64) (map[string][]float64, error) {
	out := map[string][]float64{}
	at, err := densities(ctx, workers, data, lawOf(x))
	if err != nil {
		return nil, err
	}
	for k := range x {
		y := slices.Clone(x)
		y[k] += differences.Step
		beyond, err := densities(ctx, workers, data, lawOf(y))
		if err != nil {
			return nil, err
		}
		for j := range data {
			g := data[j].result.Task.Group()
			if out[g] == nil {
				out[g] = make([]float64, len(x))
			}
			out[g][k] += (beyond[j] - at[j]) / differences.Step
		}
	}
	return out, nil
}

// Without are the laws that leave each data set out: from the law of all, steps of Newton's by the
// second derivatives there, until the next one would gain less than leastGain.
func Without(ctx context.Context, workers int, results []*Result, law forecast.Law) (map[string]forecast.Law, error) {
	const step, leastGain, most = 1e-3, 1e-3, 8
	x := parameters(law)
	at, err := gradients(ctx, workers, rowsOf(results), x)
	if err != nil {
		return nil, err
	}
	curves, all := map[string]*mat.Dense{}, mat.NewDense(len(x), len(x), nil)
	for k := range x {
		y := slices.Clone(x)
		y[k] += step
		beyond, err := gradients(ctx, workers, rowsOf(results), y)
		if err != nil {
			return nil, err
		}
		for data, g := range beyond {
			if curves[data] == nil {
				curves[data] = mat.NewDense(len(x), len(x), nil)
			}
			floats.Sub(g, at[data])
			floats.Scale(1/step, g)
			curves[data].SetRow(k, g)
		}
	}
	for _, c := range curves {
		all.Add(all, c)
	}
	out := map[string]forecast.Law{}
	for data, own := range curves {
		var curve mat.Dense
		curve.Sub(all, own)
		y, g := slices.Clone(x), at
		for range most {
			sum, move := mat.NewVecDense(len(x), nil), mat.NewVecDense(len(x), nil)
			for other, v := range g {
				if other != data {
					sum.AddVec(sum, mat.NewVecDense(len(x), v))
				}
			}
			if err := move.SolveVec(&curve, sum); err != nil {
				return nil, err
			}
			if floats.Sub(y, move.RawVector().Data); -mat.Dot(move, sum)/2 < leastGain {
				break
			}
			others := slices.DeleteFunc(rowsOf(results), func(r rows) bool { return r.result.Task.Group() == data })
			if g, err = gradients(ctx, workers, others, y); err != nil {
				return nil, err
			}
		}
		out[data] = lawOf(y)
	}
	return out, nil
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

// LoadNumbers reads a table of the numbers of laws, by the names in its first column: gradients.csv has
// the gradients of each data set at the law of all.
func LoadNumbers(path, names string) (map[string][]float64, error) {
	out := map[string][]float64{}
	err := readRows(path, func(r *row) {
		for _, name := range Numbers() {
			out[r.cells[names]] = append(out[r.cells[names]], r.number(name))
		}
	})
	return out, err
}

// LoadLaws reads laws.csv: the law that was fitted without each data set, by its name.
func LoadLaws(folder string) (map[string]forecast.Law, error) {
	laws, err := LoadNumbers(filepath.Join(folder, "laws.csv"), "without")
	out := map[string]forecast.Law{}
	for name, values := range laws {
		out[name] = ofValues(values)
	}
	return out, err
}
