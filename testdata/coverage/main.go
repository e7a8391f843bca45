// Command coverage fits decoders to trained networks, and prints as Markdown how often their intervals of
// single labels hold the label:
//
//	go run ./testdata/coverage
//
// README.md has the table.
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"math"
	"math/rand/v2"
	"strings"

	"belsim/errmodel/fitdecoder"
	"belsim/errmodel/observed"
	"belsim/theory/base/arrayfile"
	"belsim/theory/base/parallel"
	"belsim/theory/code"
	"belsim/theory/decode"
)

// network is a trained network whose intervals are judged.
type network struct {
	files    string // of outputs and targets, in testdata
	code     string
	levels   int
	lo, hi   float64 // labels of the end levels
	bitByBit bool    // each bit was trained by itself
	noise    float64 // standard deviation, in levels, of noise in the labels that are judged
}

func networks() []network {
	johnson := network{files: "network/logits.npy network/targets.npy", code: "johnson", levels: 64, lo: 2.5, hi: 4.3,
		bitByBit: true}
	shifted := johnson
	shifted.noise = 1
	out := []network{johnson, {files: "decoders/outputs.npy decoders/targets.npy", code: "b2jdj", levels: 64, lo: 2.5,
		hi: 4.3, bitByBit: true}}
	for _, n := range []network{ // of testdata/faults
		{files: "diamonds-softmax", code: "onehot", lo: 2.5, hi: 4.3},
		{files: "diamonds-unary", code: "unary", lo: 2.5, hi: 4.3, bitByBit: true},
		{files: "flights-hl-gauss", code: "onehot", lo: -60, hi: 90},
		{files: "flights-johnson", code: "johnson", lo: -60, hi: 90, bitByBit: true},
		{files: "weather-softmax", code: "onehot", lo: 10, hi: 101},
		{files: "weather-unary", code: "unary", lo: 10, hi: 101, bitByBit: true},
		{files: "bikes-hl-gauss", code: "onehot", lo: 1, hi: 26},
		{files: "bikes-b1jdj", code: "b1jdj", lo: 1, hi: 26, bitByBit: true},
		{files: "digits-softmax", code: "onehot", lo: -2, hi: 2},
		{files: "digits-johnson", code: "johnson", lo: -2, hi: 2},
	} {
		file := "faults/" + n.files + ".npz"
		n.files, n.levels = file+":outputs "+file+":targets", 32
		out = append(out, n)
	}
	return append(out, shifted)
}

// called is the folder of a network, or its name in testdata/faults.
func (n network) called() string {
	folder, name, _ := strings.Cut(n.files, "/")
	if name, _, found := strings.Cut(name, ".npz"); found {
		return name
	}
	if n.noise > 0 {
		return fmt.Sprintf("%s; noise of %g level in new labels", folder, n.noise)
	}
	return folder
}

// divide divides the samples of a network at random: those of the calibration, and those to judge.
func (n network) divide(ctx context.Context, split uint64, calibrating int) (calibration, fresh *observed.Samples,
	err error) {
	outputs, targets, _ := strings.Cut(n.files, " ")
	s := &observed.Source{Kind: observed.Logits, Labels: observed.Labels{Levels: n.levels, Real: true, Lo: n.lo, Hi: n.hi,
		Clips: true}}
	if s.Outputs, err = arrayfile.OpenRows("testdata/" + outputs); err != nil {
		return nil, nil, err
	}
	defer s.Outputs.Close()
	if s.Targets, err = arrayfile.OpenRows("testdata/" + targets); err != nil {
		return nil, nil, err
	}
	defer s.Targets.Close()
	all, err := s.Subsample(ctx, fitdecoder.Most, split, nil) // in random order
	if err != nil {
		return nil, nil, err
	}
	part := func(from, to int) *observed.Samples {
		return &observed.Samples{Bits: all.Bits, Level: all.Level[from:to], Exact: all.Exact[from:to],
			Outputs: all.Outputs[from*all.Bits : to*all.Bits]}
	}
	fresh = part(calibrating, all.Len())
	rng := rand.New(rand.NewPCG(split, 46))
	for i := range fresh.Exact {
		fresh.Exact[i] += n.noise * rng.NormFloat64()
	}
	return part(0, calibrating), fresh, nil
}

// judge returns sums over the splits of a network: of the coverage at 90 and 95 %, of that at 90 % as Fit tells it, of
// the score over that of a constant width, and of whether the decoder is fitted.
func (n network) judge(splits int, seed uint64, calibrating int) (out [5]observed.Sums, err error) {
	c, err := code.New(n.code, n.levels)
	if err != nil {
		return out, err
	}
	decodings, err := observed.Decodings(decode.Builtin(), c, observed.Logits, decode.Options{})
	if err != nil {
		return out, err
	}
	rows := make([][5]float64, splits)
	err = parallel.Each(context.Background(), 0, splits, func() (func(context.Context, int) error, error) {
		return func(ctx context.Context, i int) (err error) {
			rows[i], err = n.split(ctx, c, decodings, seed+uint64(i), calibrating)
			return err
		}, nil
	})
	for _, row := range rows {
		for j, v := range row {
			out[j].Add(v)
		}
	}
	return out, err
}

// split fits a decoder to the calibration samples of one split, and judges it.
func (n network) split(ctx context.Context, c *code.Code, decodings []observed.Decoding, seed uint64,
	calibrating int) (row [5]float64, err error) {
	calibration, fresh, err := n.divide(ctx, seed, calibrating)
	if err != nil {
		return row, err
	}
	r, err := fitdecoder.Fit(ctx, 1, fitdecoder.Input{Code: c, Samples: calibration, Logits: true,
		Decodings: decodings, BitByBit: n.bitByBit})
	if err != nil {
		return row, err
	}
	for j, confidence := range []float64{0.9, 0.95} {
		lower, upper, err := r.Decoder.Interval(confidence)
		if err != nil { // too few samples
			row[j] = math.NaN()
			continue
		}
		soft := r.Decoder.About().Reads == "logits"
		ends, err := fresh.Labels(ctx, 1, c, []observed.Decoding{{Decoder: lower, Soft: soft},
			{Decoder: upper, Soft: soft}})
		if err != nil {
			return row, err
		}
		for k, y := range fresh.Exact {
			if ends[2*k] <= y && y <= ends[2*k+1] {
				row[j] += 1 / float64(fresh.Len())
			}
		}
	}
	row[2], row[3] = r.Intervals.Coverage, r.Intervals.Winkler/r.Intervals.Constant
	if r.Better {
		row[4] = 1
	}
	return row, nil
}

func main() {
	log.SetFlags(0)
	splits := flag.Int("fits", 200, "splits of each network")
	seed := flag.Uint64("seed", 1, "seed of the random numbers")
	calibrating := flag.Int("samples", 500, "samples that intervals are calibrated with")
	flag.Parse()
	fmt.Println("| network | code | L | fitted | 90 % | 95 % | `fit` says | score |")
	fmt.Println("|" + strings.Repeat(" --- |", 8))
	for i, n := range networks() {
		sums, err := n.judge(*splits, *seed+uint64(i)<<32, *calibrating)
		if err != nil {
			log.Fatal(err)
		}
		var cells []any
		for _, s := range sums[:3] {
			if e := s.Error(); math.IsNaN(e.Mean) {
				cells = append(cells, "–")
			} else {
				cells = append(cells, fmt.Sprintf("%.4f ± %.4f", e.Mean, e.StdErr))
			}
		}
		fmt.Printf("| %s | %s | %d | %.0f | %s | %s | %s | %.3f |\n", append([]any{n.called(), n.code, n.levels,
			float64(*splits) * sums[4].Error().Mean}, append(cells, sums[3].Error().Mean)...)...)
	}
}
