package gpu

import (
	"context"
	"errors"
	"fmt"
	"reflect"

	"belsim/errmodel"
	"belsim/montecarlo"
	"belsim/theory/base/position"
	"belsim/theory/code"
	"belsim/theory/decode"
)

// known is a small problem, whose samples say whether a device samples as the CPU does.
type known struct {
	code, decoder string
	levels        int
	kind          montecarlo.Kind
}

// knownProblems take every kernel, with tables and codes of all the forms that it reads.
var knownProblems = []known{
	{"unary", "bel-u", 65, montecarlo.IndependentBits}, // 64, 200 and 300 bits
	{"unary", "bel-u", 201, montecarlo.IndependentBits},
	{"unary", "bel-u", 301, montecarlo.IndependentBits},
	{"johnson", "bel-j", 128, montecarlo.IndependentBits},
	{"johnson", "bel-j", 400, montecarlo.IndependentBits},
	{"johnson", "bel-j", 600, montecarlo.IndependentBits},
	{"unary", "gen", 65, montecarlo.IndependentBits},
	{"unary", "gen", 201, montecarlo.IndependentBits},
	{"unary", "gen", 301, montecarlo.IndependentBits},
	{"gray", "gen", 64, montecarlo.DenseBits},
	{"gray", "gen-ex", 64, montecarlo.DenseBits},
	{"unary", "gen", 65, montecarlo.IndependentLogits},
	{"unary", "gen-ex", 65, montecarlo.IndependentLogits},
	{"hexj", "gen-ex", 256, montecarlo.IndependentLogits}, // a product of two codes
}

// problem is the problem with the samples that are drawn of it, and a name for messages.
func (k known) problem(ctx context.Context) (p *montecarlo.Problem, spans []montecarlo.Span, name string, err error) {
	c, err := code.New(k.code, k.levels)
	if err != nil {
		return nil, nil, "", err
	}
	d, err := decode.New(k.decoder, c)
	if err != nil {
		return nil, nil, "", err
	}
	const r, sigma, samples = 0.5, 2, 600 // some 150 of them have more than one wrong bit
	e, err := errmodel.NewMixture(ctx, c, r, sigma)
	if err != nil {
		return nil, nil, "", err
	}
	for _, row := range []int{0, k.levels / 3, k.levels - 1} {
		spans = append(spans, montecarlo.Span{Row: row, Samples: samples})
	}
	return &montecarlo.Problem{Code: c, Decoder: d, Errors: e, Kind: k.kind, Seed: 1}, spans,
		fmt.Sprintf("%s of %d levels with %s", k.code, k.levels, k.decoder), nil
}

// Open opens the first CUDA device; CUDA_VISIBLE_DEVICES chooses among several. workers is the
// number of goroutines that prepare what the device works on, 0 for all processors. The error
// names what is missing: the driver, a device, a device that is new enough, or the CPU's sums of a
// known problem.
func Open(ctx context.Context, workers int) (*Device, error) { return openProved(ctx, workers, find) }

// openProved is Open of the device that a function finds.
func openProved(ctx context.Context, workers int, find func(workers int) (*Device, error)) (*Device, error) {
	d, err := find(workers)
	if err != nil {
		return nil, err
	}
	if err := prove(ctx, d, montecarlo.CPU{Workers: workers}); err != nil {
		return nil, errors.Join(err, d.Close())
	}
	return d, nil
}

// prove compares a device with the CPU on every known problem.
func prove(ctx context.Context, d *Device, cpu montecarlo.Backend) error {
	for _, k := range knownProblems {
		p, spans, name, err := k.problem(ctx)
		if err != nil {
			return err
		}
		want, got := make([]montecarlo.Sums, k.levels), make([]montecarlo.Sums, k.levels)
		if err := cpu.Sample(ctx, p, spans, want, nil); err != nil {
			return err
		}
		if err := d.Sample(ctx, p, spans, got, nil); err != nil {
			return err
		}
		for i, w := range want {
			if !reflect.DeepEqual(got[i], w) {
				return fmt.Errorf("%s gives other samples of %s than the CPU: at level %s a mean error of %v, not %v",
					d.Name(), name, position.At(i+1), got[i].Mean(), w.Mean())
			}
		}
	}
	return nil
}
