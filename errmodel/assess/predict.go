package assess

import (
	"context"
	"math"

	"gonum.org/v1/gonum/mat"

	"belsim/errmodel"
	"belsim/errmodel/head"
	"belsim/errmodel/scenario"
	"belsim/theory/base/table"
	"belsim/theory/cost"
	"belsim/theory/decode"
	"belsim/theory/expect"
)

// MixtureRow is the |error| of one decoder, in levels, against targets that are rounded to
// levels: under the mixture, and as it was observed.
type MixtureRow struct {
	scenario.Design
	Bound float64 `json:"bound" text:"bound"`
	Exact float64 `json:"exact" text:"exact"`
	// exact with bits that err independently at the observed rates; null where there is no exact
	// value
	Rates float64 `json:"observed_rates" text:"observed rates"`
	// smallest and largest |error| over all joint laws of the bits with the observed rates; missing
	// for decoders of logits, and where they take long
	AnyLaw *[2]float64 `json:"any_law,omitempty"`
	// the same for new samples of the network: each end is further by 1.96 standard errors
	AnyInterval *[2]float64 `json:"any_law_interval,omitempty"`
	// of gen on logits, whatever their law: (1/ln 2)·Σ_k w[n,k]·E ln(1 + exp(−τ·u_k)); null
	// elsewhere, and where it takes long
	Loss           float64 `json:"loss_bound" text:"by the loss"`
	Observed       float64 `json:"observed" text:"observed"`
	ObservedStdErr float64 `json:"observed_stderr"`
}

// mostTheory is the largest L·M of which theory is asked, which takes about a tenth of a second then.
const mostTheory = 1 << 14

// mixtureRows puts what theory says of the mixture, and of the observed error rates, beside the observed
// error of every decoder of bits of which it says something: nothing of a network that was not trained
// bit by bit, whose thresholds mean nothing.
func mixtureRows(ctx context.Context, workers int, n *network, of *mixture) ([]MixtureRow, error) {
	samples, _ := n.seen.Counts.Total()
	out := []MixtureRow{}
	tau, err := mixtureTemperature(n.seen.LogitScale, n.options.Temperature)
	levels, bits := n.code.Dims()
	if err != nil || !(of.R > 0) || n.training != head.BCE || levels*bits > mostTheory {
		return out, err
	}
	prior, rates := n.seen.Counts.Prior(), n.seen.Counts.Rates(of.errors)
	for i, decoding := range n.decodings {
		if decoding.Predicts() { // reads no bits
			continue
		}
		decoder := decoding.Decoder
		// of the model's logits
		if tempered, ok := decoder.(decode.Tempered); ok && decoding.Soft && !table.Missing(n.seen.LogitScale) {
			if decoder, err = tempered.AtTemperature(tau); err != nil {
				return nil, err
			}
		}
		seen := n.seen.Levels[i]
		m := MixtureRow{Design: n.design(decoding), Observed: seen.Mean,
			ObservedStdErr: seen.StdErr, Loss: math.NaN()}
		if decode.Is[decode.Gen](decoder) && decoding.Soft {
			m.Loss = n.seen.LossBound
		}
		// what theory says of bits that err independently
		independent := func(e mat.Matrix, omit expect.Skip) (*expect.Theory, error) {
			return expect.Of(ctx, workers, &expect.Problem{Code: n.code, Decoder: decoder, Logits: decoding.Soft,
				Cost: cost.OfCode(n.code), Errors: e}, prior, omit)
		}
		// any law of the rates that were observed is told: a second one would take half of the time
		theory, err := independent(of.errors, expect.Skip{AnyLaw: true, Slow: true, Intervals: true})
		if err != nil {
			return nil, err
		}
		m.Bound, m.Exact = theory.Mean.Bound, theory.Mean.Exact
		if theory, err = independent(rates, expect.Skip{Slow: true, Intervals: true, Bounds: true}); err != nil {
			return nil, err
		}
		m.Rates, m.AnyLaw = theory.Mean.Exact, theory.Mean.AnyLaw
		if m.AnyLaw != nil {
			var lo, hi float64 // variances of one sample, under any law
			for level, w := range prior {
				lo += w * theory.Laws[level].LoSD * theory.Laws[level].LoSD
				hi += w * theory.Laws[level].HiSD * theory.Laws[level].HiSD
			}
			root := math.Sqrt(float64(samples))
			m.AnyInterval = &[2]float64{max(0, m.AnyLaw[0]-errmodel.Errors95*math.Sqrt(lo)/root),
				m.AnyLaw[1] + errmodel.Errors95*math.Sqrt(hi)/root}
		}
		if m.AnyLaw != nil || !table.Missing(m.Loss) || !table.Missing(m.Bound) || !table.Missing(m.Exact) || !table.Missing(m.Rates) {
			out = append(out, m)
		}
	}
	return out, nil
}
