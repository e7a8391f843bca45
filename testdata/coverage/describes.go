package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"

	"gonum.org/v1/gonum/mat"

	"belsim/errmodel/perceived"
	"belsim/montecarlo"
	"belsim/montecarlo/assess"
	"belsim/montecarlo/scenario"
	"belsim/theory/base/parallel"
	"belsim/theory/code"
	"belsim/theory/decode"
)

// judged is a network that the perceived label describes, or one that it does not.
type judged struct {
	code            string
	levels, samples int
	noise           float64 // of the perceived label
	r, sigma        float64 // of bits that err independently, in place of the perceived label
	gross           float64 // share of the samples of the first and last four levels that are seen at the other end
}

func judgedSettings() []judged {
	return []judged{
		{code: "unary", levels: 64, samples: 600, noise: 1.6},
		{code: "johnson", levels: 24, samples: 600, noise: 1},
		{code: "b1jdj", levels: 64, samples: 600, noise: 1.6},
		{code: "gray", levels: 64, samples: 600, noise: 1.6},
		{code: "johnson", levels: 64, samples: 5000, noise: 1.6},
		{code: "b1jdj", levels: 64, samples: 5000, noise: 1.6},
		{code: "johnson", levels: 64, samples: 5000, noise: 1.6, gross: 0.03},
		{code: "johnson", levels: 24, samples: 600, r: 0.8, sigma: 1.5},
		{code: "b1jdj", levels: 64, samples: 600, r: 0.8, sigma: 1.5},
		{code: "b1jdj", levels: 64, samples: 5000, r: 0.8, sigma: 1.5},
	}
}

func (j judged) String() string {
	switch {
	case j.noise == 0:
		return fmt.Sprintf("bits err independently, r = %g, σ = %g", j.r, j.sigma)
	case j.gross > 0:
		return fmt.Sprintf("s = %g, and %g %% of the ends seen as the other end", j.noise, 100*j.gross)
	}
	return fmt.Sprintf("s = %g", j.noise)
}

// sampler returns what draws the outputs for a level: logits of a network of the model, or independent bits.
func (j judged) sampler(c *code.Code) (func(rng *rand.Rand, level int, z []float64), error) {
	if j.noise == 0 {
		d, err := newDrawer(setting{code: j.code, levels: j.levels, r: j.r, sigma: j.sigma})
		return func(rng *rand.Rand, level int, z []float64) {
			for k := range z {
				z[k] = 0
				if c.Bit(level, k) != (rng.Float64() < d.wrong[level*len(z)+k]) {
					z[k] = 1
				}
			}
		}, err
	}
	l, err := perceived.Model{Noise: j.noise, Misfit: perceived.DefaultMisfit, Training: perceived.BCE}.Learn(context.Background(), 1, c, nil)
	if err != nil {
		return nil, err
	}
	sd := l.ResidualSD()
	return func(rng *rand.Rand, level int, z []float64) {
		at := float64(level+1) + j.noise*rng.NormFloat64()
		if (level < 4 || level >= j.levels-4) && rng.Float64() < j.gross {
			at = float64(j.levels+1) - at
		}
		l.Logits(z, at)
		for k := range z {
			z[k] += sd[k] * rng.NormFloat64()
		}
	}, nil
}

// fit draws a network and fits it.
func (j judged) fit(ctx context.Context, c *code.Code, draw func(*rand.Rand, int, []float64), rng *rand.Rand) (*assess.PerceivedFit, error) {
	folder, err := os.MkdirTemp("", "coverage")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(folder)
	targets, outputs := mat.NewDense(j.samples, 1, nil), mat.NewDense(j.samples, c.Bits(), nil)
	for n := range j.samples {
		level := rng.IntN(j.levels)
		targets.Set(n, 0, float64(level+1))
		draw(rng, level, outputs.RawRowView(n))
	}
	y, z, kind := filepath.Join(folder, "y.npy"), filepath.Join(folder, "z.npy"), "logits:"
	if err := errors.Join(write(y, targets), write(z, outputs)); err != nil {
		return nil, err
	}
	if j.noise == 0 {
		kind = "bits:"
	}
	r, err := assess.Run(ctx, assess.Options{Code: j.code, Levels: j.levels, Targets: y, Outputs: kind + z, Training: perceived.BCE, Temperature: 1, Samples: 1, Seed: 1, Decoders: decode.Builtin()}, scenario.Run{Backend: montecarlo.CPU{}, Workers: 1}, nil)
	if err != nil {
		return nil, err
	}
	return r.Fit.Perceived, nil
}

// printJudged prints how often the perceived label describes networks.
func printJudged(w io.Writer, fits int, seed uint64) error {
	fmt.Fprintln(w, "| network | code | L | N | fits | described | near |")
	fmt.Fprintln(w, "|"+strings.Repeat(" --- |", 7))
	for i, j := range judgedSettings() {
		c, err := code.New(j.code, j.levels)
		if err != nil {
			return err
		}
		draw, err := j.sampler(c)
		if err != nil {
			return err
		}
		var described, near atomic.Int64
		err = parallel.Each(context.Background(), 0, fits, func() (func(context.Context, int) error, error) {
			return func(ctx context.Context, n int) error {
				p, err := j.fit(ctx, c, draw, rand.New(rand.NewPCG(seed+uint64(i+200)<<32, uint64(n))))
				if err == nil && p.Describes {
					described.Add(1)
				}
				if err == nil && p.Near {
					near.Add(1)
				}
				return err
			}, nil
		})
		if err != nil {
			return err
		}
		fmt.Fprintf(w, "| %v | %s | %d | %d | %d | %d | %d |\n", j, j.code, j.levels, j.samples, fits, described.Load(), near.Load())
	}
	return nil
}
