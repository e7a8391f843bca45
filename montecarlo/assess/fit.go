package assess

import (
	"cmp"

	"belsim/montecarlo/scenario"
	"belsim/theory/code"
)

// fitFormat is the version of the fields of a Fit. It is raised where another one is written, or
// one has another meaning.
const fitFormat = 1

// Fit is the error model fitted to a network, with the numbers that judge it. The command fit
// writes it as JSON, and the flag --model reads it.
type Fit struct {
	Format       int         `json:"format" doc:"version of the fields, 1: a fit with another one is not read"`
	Code         string      `json:"code" doc:"shared"`
	Levels       int         `json:"levels" doc:"shared"`
	Bits         int         `json:"bits" doc:"shared"`
	Samples      uint64      `json:"samples" doc:"test samples"`
	Outputs      string      `json:"outputs" doc:"what the outputs are: bits, signs (±1), probabilities or logits"`
	Range        *[2]float64 `json:"range" doc:"labels of level 1 and of level L; null where targets are levels"`
	Values       code.Values `json:"values,omitempty" doc:"label of each level; only where levels are not evenly spaced"`
	LevelWidth   float64     `json:"level_width" doc:"mean width of a level, in label units"`
	Quantization float64     `json:"quantization" doc:"mean distance of the targets from their levels, in label units: the error of a network that always finds the level; 0 where targets are levels"`
	Beyond       uint64      `json:"beyond,omitempty" doc:"targets beyond the end levels, which clip them; only where a file has the label of each level"`
	WrongBits    uint64      `json:"wrong_bits" doc:"outputs on the wrong side, of samples × bits"`
	Dead         []int       `json:"dead_bits" doc:"bits, from 1, that are set aside in the fits: their classifier always answers the same, or is wrong in more than half of the samples"`
	Verdict      string      `json:"verdict" doc:"the first sentences of the report: how wrong the network is, whether a model describes it, and what to do next"`

	R             float64    `json:"r" doc:"weight r of the Gaussians, by maximum likelihood"`
	RInterval     [2]float64 `json:"r_interval" doc:"interval of r; null where the data tell none"`
	Sigma         float64    `json:"sigma" doc:"width σ of the Gaussians, by maximum likelihood: over the levels nearest to the targets"`
	SigmaInterval [2]float64 `json:"sigma_interval" doc:"interval of sigma; null where the data tell none"`
	LogitScale    float64    `json:"logit_scale" doc:"standard deviation of a logit, given its level; null without logits"`
	Temperature   float64    `json:"temperature" doc:"shared"`

	Seed           uint64          `json:"seed" doc:"shared"`
	Perceived      *PerceivedFit   `json:"perceived,omitempty" doc:"the perceived-label model fitted to the network"`
	Measured       []MeasuredRow   `json:"measured" doc:"the errors that forecasts rest on, a row for each decoder of each network; those of direct regression are in direct_regression"`
	Networks       []NetworkRow    `json:"networks,omitempty" doc:"a row for each decoder of each code and training; only where there are several networks"`
	Decoders       []DecoderResult `json:"decoders" doc:"a row for each decoder that fits the code"`
	Mixture        []MixtureResult `json:"mixture" doc:"the same under the mixture, in levels, against targets that are rounded to levels"`
	Quantiles      *ErrorQuantiles `json:"error_quantiles,omitempty" doc:"how the errors of the best decoder spread, by level"`
	Fitted         *Fitted         `json:"fitted_decoder,omitempty" doc:"a decoder fitted to the network; only where asked for"`
	Recommendation *Recommendation `json:"recommendation,omitempty" doc:"codes by their forecast error; only where asked for"`
	Direct         *Direct         `json:"direct_regression,omitempty" doc:"the network beside direct regression; only where that is given"`
	Curve          string          `json:"curve" doc:"the model of the curves of profiles, and its parameters: the perceived label where it describes the network, else the mixture"`
	Profiles       []Profile       `json:"profiles" doc:"error rates of some bits over the levels: of --bits, or of two with errors"`
	Prior          []float64       `json:"prior" doc:"share of each level among the samples"`
	scenario.Provenance

	path  string       // of a file that was read
	codes []*code.Code // of the networks, where these were read
}

// newFit begins the fit of a network: with what was counted, and the mixture.
func newFit(n *network, m *mixture) *Fit {
	seen, labels, o := n.seen, n.source.Labels, n.options
	f := &Fit{
		Format: fitFormat,
		Code:   n.code.Name(), Levels: n.code.Levels(), Bits: n.code.Bits(), Outputs: string(n.source.Kind), LevelWidth: labels.Width(),
		R: m.R, Sigma: m.Sigma, RInterval: m.intervals[0], SigmaInterval: m.intervals[1], Mixture: []MixtureResult{}, Measured: []MeasuredRow{},
		LogitScale: seen.LogitScale, Temperature: o.Temperature, Seed: o.Seed, Prior: seen.Counts.Prior(), Dead: n.dead,
	}
	if !o.Range.IsZero() {
		f.Range = &[2]float64{o.Range.Lo, o.Range.Hi}
	}
	if o.Range.Uneven() {
		f.Values = o.Range.Values
	}
	if o.Range.Values != nil {
		f.Beyond = seen.Beyond
	}
	f.Quantization = f.LevelWidth * seen.Quantization
	f.Samples, f.WrongBits = seen.Counts.Total()
	if n.fitted != nil {
		f.Fitted = newFitted(n.fitted, labels)
	}
	return f
}

// occurring are the lowest and the highest level that occur, from 1.
func (f *Fit) occurring() (lowest, highest int) { return occurring(f.Prior) }

// occurring are the lowest and the highest level that have a share, from 1.
func occurring(prior []float64) (lowest, highest int) {
	for i, p := range prior {
		if p > 0 {
			lowest, highest = cmp.Or(lowest, i+1), i+1
		}
	}
	return lowest, highest
}
