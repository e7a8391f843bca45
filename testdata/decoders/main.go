// Command decoders measures fitted decoders on trained networks, and prints the tables of the README.
//
//	go run ./testdata/decoders -networks FOLDER >testdata/decoders/results.csv
//	go run ./testdata/decoders
//	go run ./testdata/decoders -forecasts
//
// The folder has the networks' outputs, DATA_CODE_LOSS_SEED.npz with the arrays y, the targets in levels,
// and z, the logits of the samples. Half of the samples choose and fit a decoder, and the other half
// judge it. All errors are against the level of the target, in levels.
package main

import (
	"context"
	"encoding/csv"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"belsim/errmodel/fitdecoder"
	"belsim/errmodel/observed"
	"belsim/theory/base/arrayfile"
	"belsim/theory/base/table"
	"belsim/theory/code"
	"belsim/theory/decode"
)

const results = "testdata/decoders/results.csv"

// row is a network with its decoders.
type row struct {
	data, code, loss, seed string
	levels, bits           int
	baseline               string  // the best baseline decoder, by the half that fits
	before                 float64 // and its error
	genEx                  float64 // error of gen-ex
	kind, rule             string  // of the fitted decoder
	fitted                 float64 // its error
	se                     float64 // standard error of fitted − before
	nested, nestedSE       float64 // the error that cross-validation tells
}

func main() {
	folder := flag.String("networks", "", "folder of networks to measure")
	ahead := flag.Bool("forecasts", false, "compare forecasts of fitted decoders with what networks reach")
	flag.Parse()
	var err error
	switch {
	case *folder != "":
		err = measure(context.Background(), os.Stdout, *folder)
	case *ahead:
		err = forecasts(context.Background(), os.Stdout)
	default:
		err = report(os.Stdout)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "decoders:", err)
		os.Exit(1)
	}
}

var head = []string{"data", "code", "loss", "seed", "levels", "bits", "baseline", "baseline_error", "genex_error", "kind", "rule", "fitted_error", "difference_stderr", "nested_error", "nested_stderr"}

// measure writes a row for each network.
func measure(ctx context.Context, w io.Writer, folder string) error {
	paths, err := filepath.Glob(filepath.Join(folder, "*_*_*_*.npz"))
	if err != nil {
		return err
	}
	slices.SortStableFunc(paths, func(a, b string) int { return strings.Compare(seedOf(a), seedOf(b)) })
	out := csv.NewWriter(w)
	out.Write(head)
	for _, path := range paths {
		r, err := measureOne(ctx, path)
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		f := func(v float64) string { return strconv.FormatFloat(v, 'f', 4, 64) }
		out.Write([]string{r.data, r.code, r.loss, r.seed, strconv.Itoa(r.levels), strconv.Itoa(r.bits), r.baseline, f(r.before), f(r.genEx), r.kind, r.rule, f(r.fitted), f(r.se), f(r.nested), f(r.nestedSE)})
		out.Flush()
	}
	return out.Error()
}

func seedOf(path string) string {
	parts := strings.Split(strings.TrimSuffix(filepath.Base(path), ".npz"), "_")
	return parts[len(parts)-1]
}

// measureOne fits a decoder to half of a network's samples and judges it with the others.
func measureOne(ctx context.Context, path string) (*row, error) {
	parts := strings.Split(strings.TrimSuffix(filepath.Base(path), ".npz"), "_")
	if len(parts) != 4 {
		return nil, errors.New("want a name DATA_CODE_LOSS_SEED.npz")
	}
	r := &row{data: parts[0], code: parts[1], loss: parts[2], seed: parts[3], levels: 64}
	if n, err := strconv.Atoi(strings.TrimLeft(r.data, "abcdefghijklmnopqrstuvwxyz-")); err == nil && n >= 16 {
		r.levels = n
	}
	c, err := code.New(r.code, r.levels)
	if err != nil {
		return nil, err
	}
	r.bits = c.Bits()
	y, err := arrayfile.OpenRows(path + ":y")
	if err != nil {
		return nil, err
	}
	defer y.Close()
	z, err := arrayfile.OpenRows(path + ":z")
	if err != nil {
		return nil, err
	}
	defer z.Close()
	source := &observed.Source{Targets: y, Outputs: z, Labels: observed.Labels{Levels: r.levels, Real: true, Lo: 1, Hi: float64(r.levels)}, Kind: observed.Logits}
	all, err := source.Take(ctx, math.MaxInt, 1, nil)
	if err != nil {
		return nil, err
	}
	for i, level := range all.Level { // as if the targets were levels
		all.Exact[i] = float64(level)
	}
	half := all.Len() / 2
	part := func(from, to int) *observed.Samples {
		return &observed.Samples{Level: all.Level[from:to], Exact: all.Exact[from:to], Outputs: all.Outputs[from*all.Bits : to*all.Bits], Bits: all.Bits, All: to - from}
	}
	fit, judge := part(0, half), part(half, all.Len())
	decodings, err := observed.Decodings(decode.Builtin(), c, observed.Logits, decode.Options{})
	if err != nil {
		return nil, err
	}
	result, err := fitdecoder.Fit(ctx, 0, fitdecoder.Input{Code: c, Samples: fit, Logits: true, Decodings: decodings})
	if err != nil {
		return nil, err
	}
	fitted, err := result.Decoder.Decoding(observed.Logits)
	if err != nil {
		return nil, err
	}
	genEx, err := decode.NewGenEx(c, 1)
	if err != nil {
		return nil, err
	}
	labels, err := judge.Labels(ctx, 0, c, []observed.Decoding{result.Baseline, fitted, {Decoder: genEx, Soft: true}})
	if err != nil {
		return nil, err
	}
	n, square := float64(judge.Len()), 0.0
	for i, level := range judge.Level {
		e := func(k int) float64 { return math.Abs(labels[3*i+k] - float64(level)) }
		r.before += e(0) / n
		r.fitted += e(1) / n
		r.genEx += e(2) / n
		square += (e(1) - e(0)) * (e(1) - e(0)) / n
	}
	difference := r.fitted - r.before
	about := result.Decoder.About()
	r.baseline, r.kind, r.rule = result.Baseline.Decoder.Name()+"/"+result.Baseline.Outputs(), about.Kind, about.Rule
	r.se = math.Sqrt(max(0, square-difference*difference) / n)
	r.nested, r.nestedSE = result.Levels.Mean, result.Levels.StdErr
	return r, nil
}

// read reads the results.
func read() ([]row, error) {
	file, err := os.Open(results)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	records, err := csv.NewReader(file).ReadAll()
	if err != nil {
		return nil, err
	}
	var rows []row
	for _, x := range records[1:] {
		var numbers [9]float64
		for i, at := range []int{4, 5, 7, 8, 11, 12, 13, 14} {
			if numbers[i], err = strconv.ParseFloat(x[at], 64); err != nil {
				return nil, err
			}
		}
		rows = append(rows, row{
			data: x[0], code: x[1], loss: x[2], seed: x[3], levels: int(numbers[0]), bits: int(numbers[1]), baseline: x[6], before: numbers[2], genEx: numbers[3],
			kind: x[9], rule: x[10], fitted: numbers[4], se: numbers[5], nested: numbers[6], nestedSE: numbers[7],
		})
	}
	return rows, nil
}

// codeRow is a row of the table of codes.
type codeRow struct {
	Code     string `text:"code"`
	Bits     int    `text:"bits"`
	Baseline string `text:"BCE: baseline"`
	Fitted   string `text:"fitted"`
	CE       string `text:"CE: baseline"`
	CEFit    string `text:"fitted"`
}

// dataRow is a row of the table of data.
type dataRow struct {
	Data     string `text:"data"`
	Loss     string `text:"loss"`
	Networks int    `text:"networks"`
	Ratio    string `text:"fitted / baseline"`
	Best     string `text:"smallest"`
	Worst    string `text:"largest"`
	Better   int    `text:"better"`
	Worse    int    `text:"worse"`
	Inside   string `text:"in the interval"`
}

// report prints the tables.
func report(w io.Writer) error {
	rows, err := read()
	if err != nil {
		return err
	}
	var codes []codeRow
	for _, r := range rows {
		if r.data == "diamonds" && !slices.ContainsFunc(codes, func(c codeRow) bool { return c.Code == r.code }) {
			c := codeRow{Code: r.code, Bits: r.bits}
			c.Baseline, c.Fitted = means(rows, "diamonds", r.code, "BCE")
			c.CE, c.CEFit = means(rows, "diamonds", r.code, "CE")
			codes = append(codes, c)
		}
	}
	slices.SortFunc(codes, func(a, b codeRow) int { return a.Bits - b.Bits })
	fmt.Fprint(w, "diamonds, 64 levels, mean over the seeds; |error| in levels\n\n")
	if err := table.Of(codes).Write(w); err != nil {
		return err
	}
	var sets []dataRow
	for _, r := range rows {
		if slices.ContainsFunc(sets, func(s dataRow) bool { return s.Data == r.data && s.Loss == r.loss }) {
			continue
		}
		s := dataRow{Data: r.data, Loss: r.loss}
		sum, least, most, inside := 0.0, math.Inf(1), 0.0, 0
		for _, x := range rows {
			if x.data != r.data || x.loss != r.loss {
				continue
			}
			ratio := x.fitted / x.before
			s.Networks++
			sum += math.Log(ratio)
			least, most = min(least, ratio), max(most, ratio)
			switch d := x.fitted - x.before; {
			case d < -1.96*x.se:
				s.Better++
			case d > 1.96*x.se:
				s.Worse++
			}
			if math.Abs(x.fitted-x.nested) <= 1.96*math.Sqrt2*x.nestedSE { // both halves vary
				inside++
			}
		}
		s.Ratio, s.Best, s.Worst = fmt.Sprintf("%.3f", math.Exp(sum/float64(s.Networks))), fmt.Sprintf("%.3f", least), fmt.Sprintf("%.3f", most)
		s.Inside = fmt.Sprintf("%.0f %%", 100*float64(inside)/float64(s.Networks))
		sets = append(sets, s)
	}
	slices.SortFunc(sets, func(a, b dataRow) int { return strings.Compare(a.Data+a.Loss, b.Data+b.Loss) })
	fmt.Fprint(w, "\nall data\n\n")
	return table.Of(sets).Write(w)
}

// means are the mean errors of the networks of a code, baseline and fitted.
func means(rows []row, data, code, loss string) (baseline, fitted string) {
	n, a, b := 0.0, 0.0, 0.0
	for _, r := range rows {
		if r.data == data && r.code == code && r.loss == loss {
			n, a, b = n+1, a+r.before, b+r.fitted
		}
	}
	return fmt.Sprintf("%.3f", a/n), fmt.Sprintf("%.3f", b/n)
}
