package verdict

import (
	"cmp"
	"context"
	"math"
	"slices"

	"belsim/errmodel/observed"
	"belsim/montecarlo"
	"belsim/montecarlo/scenario"
	"belsim/montecarlo/table"
	"belsim/theory/code"
	"belsim/theory/decode"
)

// Recommendation ranks codes under a fitted model.
type Recommendation struct {
	Ranking  []RankedCode `json:"ranking" doc:"a row for each code, the smallest error first"`
	Crossing *Crossing    `json:"crossing" doc:"where the network's code and the best other code change their order; null where one of them is missing"`
	Note     string       `json:"note" doc:"what the ranking supposes"`
}

// supposition is the note of every ranking.
const supposition = "these errors suppose that the classifiers of every code have the fitted r and σ; a network trained with another code has others, larger ones where bits have more transitions"

// RankedCode is a code with its best decoder: the |error| in levels if its classifiers had the
// fitted r, σ and shared noise.
type RankedCode struct {
	Code        string       `json:"code" text:"code" doc:"name of the code, or its file"`
	Bits        int          `json:"bits" text:"bits" doc:"number of bits M"`
	Decoder     string       `json:"decoder" text:"decoder" doc:"the decoder with the smallest error"`
	Outputs     string       `json:"outputs" text:"reads" doc:"what the decoder reads: bits or logits"`
	Mean        table.Number `json:"mean" text:"simulated" doc:"simulated mean |error|, in levels: against the label itself, quantization included, where targets are real labels"`
	StdErr      table.Number `json:"stderr" doc:"standard error of mean, in levels"`
	Trained     bool         `json:"trained" doc:"the network was trained with this code"`
	Invalid     bool         `json:"invalid" doc:"the fitted r and σ give the code a probability above 1"`
	RFactor     table.Number `json:"r_factor" text:"as good as yours at r ×" doc:"factor of r at which the code is as good as the network's code at the fit; null where there is none from 1/16 to 16"`
	SigmaFactor table.Number `json:"sigma_factor" text:"or at σ ×" doc:"the same for σ"`

	code   *code.Code
	reader observed.Reader
}

// Samples of each label for the ranking, and for the search of a crossing.
const (
	rankSamples  = 2000
	crossSamples = 300
)

// Rank ranks all named codes, the network's code and the candidates, which are NAMEs or FILEs,
// under the fitted model: Fit.Recommendation. run.Done is told how many steps were finished
// since its last call; see RankSteps.
func (s *Study) Rank(ctx context.Context, run scenario.Run, candidates []string) error {
	names := s.rankNames(candidates)
	codes, err := scenario.OpenCodes(names, scenario.Sizes{Levels: s.Fit.Levels, Usual: s.Fit.Levels, Real: true})
	if err != nil {
		return err
	}
	done := run.Done
	if done == nil {
		done = func(uint64) {}
	}
	out := &Recommendation{Note: supposition}
	for _, c := range codes {
		r, err := s.best(ctx, run, c)
		if err != nil {
			return err
		}
		out.Ranking = append(out.Ranking, r)
		done(1)
	}
	slices.SortStableFunc(out.Ranking, func(a, b RankedCode) int {
		switch {
		case a.Invalid && !b.Invalid:
			return 1
		case b.Invalid && !a.Invalid:
			return -1
		}
		return cmp.Compare(float64(a.Mean), float64(b.Mean))
	})
	trained := slices.IndexFunc(out.Ranking, func(r RankedCode) bool { return r.Trained })
	if trained >= 0 && !out.Ranking[trained].Invalid {
		if err := s.cross(ctx, run, out, trained, done); err != nil {
			return err
		}
	}
	s.Fit.Recommendation = out
	return nil
}

// RankSteps is the number of steps of Rank.
func (s *Study) RankSteps(candidates []string) uint64 {
	return 2 * uint64(len(s.rankNames(candidates)))
}

// rankNames are the codes that Rank ranks.
func (s *Study) rankNames(candidates []string) []string {
	var names []string
	for _, family := range code.Families() {
		names = append(names, family.Name)
	}
	for _, name := range append([]string{s.network.options.Code}, candidates...) {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// best finds the best decoder of a code at the fit.
func (s *Study) best(ctx context.Context, run scenario.Run, c *code.Code) (RankedCode, error) {
	none := table.Missing()
	best := RankedCode{Code: c.Name(), Bits: c.Bits(), Trained: c.Name() == s.Fit.Code, Mean: none, StdErr: none, RFactor: none, SigmaFactor: none, code: c}
	o := s.network.options
	readers, err := observed.Readers(o.Decoders, c, s.network.samples.Kind, decode.Options{Temperature: o.Temperature})
	if err != nil {
		return best, err
	}
	for _, r := range readers {
		if r, err = s.scaled(r); err != nil {
			return best, err
		}
		e, err := s.errorsAt(ctx, run, c, r, rankSamples, []parameters{s.fitted()})
		if err != nil {
			return best, err
		}
		switch mean := e[0].Mean; {
		case math.IsNaN(mean):
			best.Invalid = true
		case best.Mean.IsMissing() || mean < float64(best.Mean):
			best.Decoder, best.Outputs, best.Mean, best.StdErr, best.reader = r.Decoder.Name(), r.Outputs(), table.Number(mean), table.Number(e[0].StdErr), r
		}
	}
	return best, nil
}

// parameters are an r and a σ.
type parameters struct{ r, sigma float64 }

// fitted are the fitted parameters.
func (s *Study) fitted() parameters { return parameters{float64(s.Fit.R), float64(s.Fit.Sigma)} }

// errorsAt estimates a code's error over the targets, with the fitted shared noise, at several
// parameters; NaN where they are invalid for the code.
func (s *Study) errorsAt(ctx context.Context, run scenario.Run, c *code.Code, r observed.Reader, samples uint64, at []parameters) ([]montecarlo.Overall, error) {
	rho := 0.0
	if fitted := float64(s.Fit.SharedNoise); fitted > 0 {
		rho = fitted
	}
	labels := scenario.Levels
	if s.Fit.Range != nil {
		labels = scenario.Continuous
	}
	out := make([]montecarlo.Overall, len(at))
	var problems []*montecarlo.Problem
	var which []int
	for i, p := range at {
		out[i].Mean, out[i].StdErr = math.NaN(), math.NaN()
		e, err := scenario.Mixture{R: p.r, Sigma: p.sigma}.Errors(ctx, c)
		if scenario.Invalid(err) {
			continue
		}
		if err != nil {
			return nil, err
		}
		problem, err := s.problem(ctx, c, r, e, rho, labels)
		if scenario.Invalid(err) { // between levels
			continue
		}
		if err != nil {
			return nil, err
		}
		problems, which = append(problems, problem), append(which, i)
	}
	if len(problems) == 0 {
		return out, nil
	}
	sums, err := montecarlo.EstimateEach(ctx, run.Backend, problems, samples, s.Fit.Prior, nil)
	if err != nil {
		return nil, err
	}
	for j, i := range which {
		out[i] = montecarlo.Average(s.Fit.Prior, sums[j])
	}
	return out, nil
}
