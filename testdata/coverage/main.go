// Command coverage fits decoders to networks, and prints as Markdown how often their intervals of
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
	"belsim/errmodel/perceived"
	"belsim/theory/base/arrayfile"
	"belsim/theory/base/parallel"
	"belsim/theory/code"
	"belsim/theory/decode"
)

// trained is a network whose intervals are judged.
type trained struct {
	what     string
	code     string
	levels   int
	training perceived.Training
	bits     bool       // hard ones
	noises   [2]float64 // of a perceived label, each of half of the samples, which the network tells apart
	shift    float64    // by which the noise of what is decoded is larger than that of the calibration; 0 for 1
	files    string     // or the outputs and targets of a network, in this folder of testdata
}

const decoding = 2000 // samples

func networks() []trained {
	return []trained{
		{what: "simulated", code: "unary", levels: 32, training: perceived.BCE, noises: [2]float64{0.7, 2}},
		{what: "simulated", code: "johnson", levels: 64, training: perceived.BCE, noises: [2]float64{1.5, 1.5}},
		{what: "simulated", code: "johnson", levels: 32, training: perceived.CE, noises: [2]float64{0.7, 2}},
		{what: "simulated", code: "hexj", levels: 64, training: perceived.BCE, noises: [2]float64{1, 3}},
		{what: "simulated", code: "hadamard", levels: 32, training: perceived.BCE, noises: [2]float64{1, 1}},
		{what: "simulated", code: "onehot", levels: 32, training: perceived.Soft, noises: [2]float64{0.5, 1.5}},
		{what: "simulated, bits", code: "b1jdj", levels: 32, training: perceived.BCE, bits: true,
			noises: [2]float64{0.7, 2}},
		{what: "[trained](../network/README.md)", code: "johnson", levels: 64, training: perceived.BCE,
			files: "network/logits.npy network/targets.npy"},
		{what: "[trained](../decoders/README.md)", code: "b2jdj", levels: 64, training: perceived.BCE,
			files: "decoders/outputs.npy decoders/targets.npy"},
		{what: "simulated; noise grows by half after the calibration", code: "johnson", levels: 32,
			training: perceived.BCE, noises: [2]float64{1, 1}, shift: 1.5},
	}
}

// samples are those of one split: of the calibration, and those to decode.
type samples func(ctx context.Context, split uint64) (calibration, fresh *observed.Samples, err error)

// draws returns what draws samples of a network, so many of them for the calibration.
func (n trained) draws(c *code.Code, calibrating int) (samples, error) {
	if n.files != "" {
		return n.splits(calibrating), nil
	}
	var nets [2]*perceived.Network
	for i, noise := range n.noises {
		net, err := perceived.Model{Noise: noise, Misfit: perceived.DefaultMisfit,
			Training: n.training}.Learn(context.Background(), 1, c, nil)
		if err != nil {
			return nil, err
		}
		nets[i] = net
	}
	draw := func(rng *rand.Rand, count int, shift float64) *observed.Samples {
		s := &observed.Samples{Bits: c.Bits(), All: count}
		for range count {
			half := rng.IntN(2)
			net, y, z := nets[half], 1+rng.Float64()*float64(n.levels-1), make([]float64, c.Bits())
			net.Logits(z, y+shift*n.noises[half]*rng.NormFloat64())
			for k, sd := range net.ResidualSD() {
				z[k] += sd * rng.NormFloat64()
				if n.bits {
					z[k] = math.Copysign(1, z[k])
				}
			}
			s.Level, s.Exact, s.Outputs = append(s.Level, int(math.Round(y))), append(s.Exact, y), append(s.Outputs,
				z...)
		}
		return s
	}
	return func(_ context.Context, split uint64) (*observed.Samples, *observed.Samples, error) {
		rng := rand.New(rand.NewPCG(split, 46))
		return draw(rng, calibrating, 1), draw(rng, decoding, max(n.shift, 1)), nil
	}, nil
}

// splits returns what divides the samples of files at random.
func (n trained) splits(calibrating int) samples {
	return func(ctx context.Context, split uint64) (*observed.Samples, *observed.Samples, error) {
		outputs, targets, _ := strings.Cut(n.files, " ")
		s := &observed.Source{Kind: observed.Logits, Labels: observed.Labels{Levels: n.levels, Real: true, Lo: 2.5,
			Hi: 4.3}}
		var err error
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
		return part(0, calibrating), part(calibrating, all.Len()), nil
	}
}

// judge returns sums over the splits of a network: of the coverage at 90 and 95 %, of that at 90 % as Fit tells it, of
// the score over that of a constant width, and of whether the decoder is fitted.
func (n trained) judge(splits int, seed uint64, calibrating int) (out [5]observed.Sums, err error) {
	c, err := code.New(n.code, n.levels)
	if err != nil {
		return out, err
	}
	draw, err := n.draws(c, calibrating)
	if err != nil {
		return out, err
	}
	kind := observed.Logits
	if n.bits {
		kind = observed.Bits
	}
	decodings, err := observed.Decodings(decode.Builtin(), c, kind, decode.Options{})
	if err != nil {
		return out, err
	}
	rows := make([][5]float64, splits)
	err = parallel.Each(context.Background(), 0, splits, func() (func(context.Context, int) error, error) {
		return func(ctx context.Context, i int) (err error) {
			rows[i], err = n.split(ctx, c, kind, decodings, draw, seed+uint64(i))
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
func (n trained) split(ctx context.Context, c *code.Code, kind observed.Kind, decodings []observed.Decoding,
	draw samples, seed uint64) (row [5]float64, err error) {
	calibration, fresh, err := draw(ctx, seed)
	if err != nil {
		return row, err
	}
	r, err := fitdecoder.Fit(ctx, 1, fitdecoder.Input{Code: c, Samples: calibration, Logits: !n.bits,
		Decodings: decodings, BitByBit: n.training == perceived.BCE})
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
	fmt.Println("| network | code | L | training | fitted | 90 % | 95 % | `fit` says | score |")
	fmt.Println("|" + strings.Repeat(" --- |", 9))
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
		fmt.Printf("| %s | %s | %d | %s | %.0f | %s | %s | %s | %.3f |\n", append([]any{n.what, n.code, n.levels,
			n.training.Loss(), float64(*splits) * sums[4].Error().Mean}, append(cells, sums[3].Error().Mean)...)...)
	}
}
