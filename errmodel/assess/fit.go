package assess

import (
	"cmp"

	"belsim/errmodel/fault"
	"belsim/errmodel/head"
	"belsim/errmodel/mixturefit"
	"belsim/theory/base/table"
	"belsim/theory/code"
)

// fitFormat is the version of the fields of a Fit. It is raised where another one is written, or
// one has another meaning.
const fitFormat = 1

// Fit is the error model fitted to a network, with the numbers that judge it. The command fit
// writes it as JSON, and the flag --model reads it.
type Fit struct {
	// version of the fields, 1: a fit with another one is not read
	Format int `json:"format"`
	// the code, or the head: softmax, hl-gauss, corn or direct
	Code   string `json:"code"`
	Levels int    `json:"levels"`
	Bits   int    `json:"bits"`
	// test samples
	Samples uint64 `json:"samples"`
	// what the outputs are: bits, signs (±1), probabilities or logits
	Outputs string `json:"outputs"`
	// labels of level 1 and of level L (circle: of level 1 twice); null where targets are levels
	Range *[2]float64 `json:"range"`
	// level 1 is beside level L; missing on a line
	Circular bool `json:"circular,omitempty"`
	// label of each level; only where levels are not evenly spaced
	Values code.Values `json:"values,omitempty"`
	// mean width of a level, in label units
	LevelWidth float64 `json:"level_width"`
	// mean distance of the targets from their levels, in label units
	Quantization float64 `json:"quantization"`
	// targets beyond the end levels, which clip them; only where a file has the label of each level
	Beyond uint64 `json:"beyond,omitempty"`
	// outputs on the wrong side, of samples × bits
	WrongBits uint64 `json:"wrong_bits"`
	// bits, from 1, left out of the fits: constant and often wrong, or wrong in more than half of
	// the samples
	Dead []int `json:"dead_bits"`
	// faults of the network, or of how it is read
	Findings []fault.Finding `json:"findings"`
	// the first sentences of the report
	Verdict string `json:"verdict"`

	// weight r of the Gaussians, by maximum likelihood
	R float64 `json:"r"`
	// interval of r; null where the data tell none
	RInterval [2]float64 `json:"r_interval"`
	// width σ of the Gaussians, by maximum likelihood: over the levels nearest to the targets
	Sigma float64 `json:"sigma"`
	// interval of sigma; null where the data tell none
	SigmaInterval [2]float64 `json:"sigma_interval"`
	// noise that all bits share, by maximum likelihood, with the other errors; missing where it is not fitted
	Shared *mixturefit.Shared `json:"shared,omitempty"`
	// standard deviation of a logit, given its level; null without logits
	LogitScale  float64 `json:"logit_scale"`
	Temperature float64 `json:"temperature"`

	// a row for each decoder
	Decoders []DecoderRow `json:"decoders"`
	// the network under the mixture, in levels, against targets that are rounded to levels
	Mixture []MixtureRow `json:"mixture"`
	// how the errors of the best decoder spread, by level
	Quantiles *ErrorQuantiles `json:"error_quantiles,omitempty"`
	// how good the probabilities of the levels are; only where there are any
	Probabilities *Probabilities `json:"probabilities,omitempty"`
	// a decoder fitted to the network; only where asked for
	Fitted *Fitted `json:"fitted_decoder,omitempty"`
	// the network beside direct regression; only where that is given
	Direct *Direct `json:"direct_regression,omitempty"`
	// model of the curves of profiles, with its parameters
	Curve string `json:"curve"`
	// error rates of --bits, or of two bits with errors, over the levels
	Profiles []Profile `json:"profiles"`
	// share of each level among the samples
	Prior []float64 `json:"prior"`
	table.Provenance

	path string // of a file that was read
}

// newFit is what is known of a network and its mixture.
func newFit(n *network, m *mixture) *Fit {
	seen, o := n.seen, n.options
	f := &Fit{
		Format: fitFormat,
		Code:   head.Called(n.code.Name(), n.training), Levels: n.code.Levels(), Bits: n.code.Bits(),
		Outputs: string(n.source.Kind), Circular: n.code.Circular(), LevelWidth: n.width(),
		Quantization: n.width() * seen.Quantization, Dead: n.dead, Findings: n.found,
		Shared: m.shared, R: m.R, Sigma: m.Sigma, RInterval: written(m.R, m.intervals[0]), SigmaInterval: written(m.Sigma, m.intervals[1]),
		LogitScale: seen.LogitScale, Temperature: o.Temperature, Decoders: n.decoderRows(),
		Quantiles: errorQuantiles(n), Probabilities: n.probabilities(), Prior: seen.Counts.Prior(),
	}
	if r := o.Range; !r.IsZero() {
		f.Range = &[2]float64{r.Lo, r.Hi}
	}
	if o.Range.Uneven() {
		f.Values = o.Range.Values
	}
	if o.Range.Values != nil {
		f.Beyond = seen.Beyond
	}
	f.Samples, f.WrongBits = seen.Counts.Total()
	if n.fitted != nil {
		f.Fitted = newFitted(n)
	}
	return f
}

// occurring are the lowest and the highest level that have a share, from 1.
func occurring(prior []float64) (lowest, highest int) {
	for i, p := range prior {
		if p > 0 {
			lowest, highest = cmp.Or(lowest, i+1), i+1
		}
	}
	return lowest, highest
}
