package assess

import (
	"cmp"

	"belsim/montecarlo/scenario"
)

// fitFormat is the version of the fields of a Fit. It is raised where another one is written, or one
// has another meaning.
const fitFormat = 1

// Fit is the error model fitted to a network, with the numbers that judge it. The command fit
// writes it as JSON, and the flag --model reads it.
type Fit struct {
	Format     int         `json:"format" doc:"version of the fields, 1: a fit with another one is not read"`
	Code       string      `json:"code" doc:"code that the network was trained with, a name or a file"`
	Levels     int         `json:"levels" doc:"number of levels L"`
	Bits       int         `json:"bits" doc:"number of bits M"`
	Samples    uint64      `json:"samples" doc:"test samples"`
	Outputs    string      `json:"outputs" doc:"what the outputs are: bits, signs (±1), probabilities or logits"`
	Range      *[2]float64 `json:"range" doc:"labels of level 1 and of level L; null where targets are levels"`
	LevelWidth float64     `json:"level_width" doc:"width of a level, in label units"`
	WrongBits  uint64      `json:"wrong_bits" doc:"outputs on the wrong side, of samples × bits"`

	ErringSamples uint64     `json:"erring_samples" doc:"samples with a wrong bit; with fewer than 30 there are no intervals, with fewer than 100 no p-value"`
	R             float64    `json:"r" doc:"weight r of the Gaussians, by maximum likelihood"`
	RInterval     [2]float64 `json:"r_interval" doc:"confidence interval of r; null where the data tell none"`
	Sigma         float64    `json:"sigma" doc:"width σ of the Gaussians, in levels, by maximum likelihood: over the labels themselves, where they are real numbers"`
	SigmaInterval [2]float64 `json:"sigma_interval" doc:"confidence interval of sigma; null where the data tell none"`
	Confidence    float64    `json:"confidence" doc:"confidence of every interval"`
	DesignEffect  [2]float64 `json:"design_effect" doc:"variances of ln r and ln σ, over the variances if bits erred independently"`
	Limited       bool       `json:"limited" doc:"r is as large as it can be: some error probability is 1"`

	Deviance      float64 `json:"deviance" doc:"deviance of the model from the counts of wrong outputs"`
	DoF           int     `json:"dof" doc:"degrees of freedom of deviance"`
	Expected      float64 `json:"deviance_expected" doc:"mean of deviance if the model is right"`
	SD            float64 `json:"deviance_sd" doc:"standard deviation of deviance if the model is right"`
	P             float64 `json:"p_value" doc:"probability of such a deviance or a larger one if the model is right; null where there are too few errors"`
	Explained     float64 `json:"deviance_explained" doc:"share of how the error rate varies over levels and bits that the model explains; null where it does not vary"`
	Verdict       string  `json:"verdict" doc:"the first sentences of the report: how wrong the network is, whether a model describes it, and what to do next"`
	Mixture       string  `json:"mixture_verdict" doc:"whether the mixture describes the network, as a sentence"`
	Uninformative bool    `json:"uninformative" doc:"no output depends on its target, as far as the samples tell"`
	Constant      []int   `json:"constant_bits" doc:"bits, from 1, whose outputs are all alike although their targets differ"`
	Inverted      []int   `json:"inverted_bits" doc:"bits, from 1, whose outputs are the opposite of their targets more often than chance allows"`
	Impossible    uint64  `json:"wrong_without_transition" doc:"wrong outputs of bits without a transition, where the model has no errors"`
	MostlyWrong   []int   `json:"mostly_wrong_bits" doc:"bits, from 1, that are wrong in more than half of the samples: most likely the code, or the order of bits, is not the network's"`

	Dead []int `json:"dead_bits" doc:"bits, from 1, that are set aside in the fits: their classifier always answers the same, or is wrong in more than half of the samples"`

	Overdispersion float64 `json:"overdispersion" doc:"variance of the number of wrong bits of a sample, over the variance if bits erred independently"`
	Correlation    float64 `json:"error_correlation" doc:"mean correlation of the errors of two bits"`
	LogitScale     float64 `json:"logit_scale" doc:"standard deviation of a logit, given its level; null without logits"`
	Temperature    float64 `json:"temperature" doc:"τ of gen-ex, by which the network's logits are multiplied"`

	Seed           uint64              `json:"seed" doc:"seed of the random numbers of simulations"`
	Perceived      *PerceivedFit       `json:"perceived,omitempty" doc:"the perceived-label model fitted to the network"`
	Networks       []NetworkRow        `json:"networks,omitempty" doc:"a row for each decoder of each code and training; only where there are several networks"`
	Decoders       []DecoderResult     `json:"decoders" doc:"a row for each decoder that fits the code"`
	Quantiles      *ErrorQuantiles     `json:"error_quantiles,omitempty" doc:"how the errors of the best decoder spread, by level"`
	Fitted         *Fitted             `json:"fitted_decoder,omitempty" doc:"a decoder fitted to the network; only where asked for"`
	Recommendation *Recommendation     `json:"recommendation,omitempty" doc:"codes by their forecast error; only where asked for"`
	Baselines      []scenario.Baseline `json:"baselines" doc:"errors of no code, against the targets themselves, in label units where there is a range, else in levels; empty where targets are levels and no error of direct regression is given"`
	Direct         *Direct             `json:"direct_regression,omitempty" doc:"the network beside direct regression; only where that is given"`
	Curve          string              `json:"curve" doc:"the model of the curves of profiles, the one that describes the network, and its parameters; empty where none does"`
	Profiles       []Profile           `json:"profiles" doc:"error rates of some bits over the levels: of --bits, or of two with errors"`
	Prior          []float64           `json:"prior" doc:"share of each level among the samples"`
	scenario.Provenance

	path string // of a file that was read
}

// occurring are the lowest and the highest level that occur, from 1.
func (f *Fit) occurring() (lowest, highest int) {
	for i, p := range f.Prior {
		if p > 0 {
			lowest, highest = cmp.Or(lowest, i+1), i+1
		}
	}
	return lowest, highest
}
