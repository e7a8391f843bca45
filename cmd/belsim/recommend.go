package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"text/tabwriter"

	"belsim/errmodel"
	"belsim/errmodel/observed"
	"belsim/montecarlo"
	"belsim/theory/code"
	"belsim/theory/decode"
)

// recommendation ranks codes under a fitted model.
type recommendation struct {
	Ranking  []ranked  `json:"ranking"`
	Crossing *crossing `json:"crossing"`
	Note     string    `json:"note"`
}

// ranked is a code with its best decoder: the |error| in levels if its classifiers had
// the fitted r, σ and shared noise.
type ranked struct {
	Code    string `json:"code"`
	Bits    int    `json:"bits"`
	Decoder string `json:"decoder"`
	Outputs string `json:"outputs"`
	Mean    number `json:"mean"`
	StdErr  number `json:"stderr"`
	Trained bool   `json:"trained"` // the network's own
	Invalid bool   `json:"invalid"` // r and σ give it a probability above 1
	// So many times the fitted r (σ as it is), or σ (r as it is), at which its error is
	// that of the network's code at the fit; null where there is none within a factor
	// of 16.
	RFactor     number `json:"r_factor"`
	SigmaFactor number `json:"sigma_factor"`

	code   *code.Code
	reader observed.Reader
}

// crossing is where the order of two codes changes when both have the same r and σ:
// the zero contour of their heatmap, along both axes from the fit.
type crossing struct {
	First  string `json:"first"` // the better one at the fit
	Second string `json:"second"`
	Tie    bool   `json:"tie"`   // at the fit, as far as the samples tell
	R      number `json:"r"`     // with σ as fitted; null where there is none within a factor of 16
	Sigma  number `json:"sigma"` // with r as fitted
}

// Samples of a label for the ranking, and for the search of a crossing.
const (
	rankSamples  = 2000
	crossSamples = 300
)

// scaled is a reader under the model: its logits have a noise of 1, the network's of
// LogitScale.
func (f *fitted) scaled(r observed.Reader, c *code.Code) (observed.Reader, error) {
	d, ok := r.Decoder.(decode.GenEx)
	if !ok || !r.Logits || math.IsNaN(float64(f.LogitScale)) {
		return r, nil
	}
	var err error
	r.Decoder, err = decode.NewGenEx(c, d.Temperature()*float64(f.LogitScale))
	return r, err
}

// recommend ranks the named codes and the candidates.
func (cmd *fitCmd) recommend(ctx context.Context, env *environment, backend montecarlo.Backend, f *fitted, kind observed.Kind) (*recommendation, error) {
	names := []string{}
	for _, family := range code.Families() {
		names = append(names, family.Name)
	}
	if code.IsFile(cmd.Code) {
		names = append(names, cmd.Code)
	}
	for _, name := range cmd.Candidates {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	codes, err := openCodes(names, f.Levels, f.Levels, nil, true)
	if err != nil {
		return nil, err
	}
	rho := 0.0
	if s := float64(f.SharedNoise); s > 0 {
		rho = s
	}
	at := sampler{ctx: ctx, backend: backend, f: f, rho: rho}
	out := &recommendation{Note: "these errors suppose that the classifiers of every code have the fitted r and σ; a network trained with another code has others, larger ones where bits have more transitions"}
	bar := env.newProgress(cmd.Quiet, "codes", 2*uint64(len(codes)))
	defer bar.stop()
	for _, c := range codes {
		best := ranked{Code: c.Name(), Bits: c.Bits(), Trained: c.Name() == f.Code, Mean: none, StdErr: none, RFactor: none, SigmaFactor: none, code: c}
		readers, err := observed.Readers(decode.Builtin(), c, kind, decode.Options{Temperature: cmd.Temperature})
		if err != nil {
			return nil, err
		}
		for _, r := range readers {
			if r, err = f.scaled(r, c); err != nil {
				return nil, err
			}
			o, err := at.errors(c, r, rankSamples, []point{{float64(f.R), float64(f.Sigma)}})
			if err != nil {
				return nil, bar.interrupted(err)
			}
			switch {
			case math.IsNaN(o[0].Mean):
				best.Invalid = true
			case math.IsNaN(float64(best.Mean)) || o[0].Mean < float64(best.Mean):
				best.Decoder, best.Outputs, best.Mean, best.StdErr, best.reader = r.Decoder.Name(), r.Outputs(), number(o[0].Mean), number(o[0].StdErr), r
			}
		}
		out.Ranking = append(out.Ranking, best)
		bar.add(1)
	}
	slices.SortStableFunc(out.Ranking, func(a, b ranked) int {
		if a.Invalid != b.Invalid {
			return cmp.Compare(map[bool]int{true: 1}[a.Invalid], map[bool]int{true: 1}[b.Invalid])
		}
		return cmp.Compare(float64(a.Mean), float64(b.Mean))
	})
	trained := slices.IndexFunc(out.Ranking, func(r ranked) bool { return r.Trained })
	if trained < 0 || out.Ranking[trained].Invalid {
		return out, nil
	}
	if err := out.cross(at, trained, bar); err != nil {
		return nil, bar.interrupted(err)
	}
	return out, nil
}

// cross finds out how far r and σ are from changing the ranking.
func (out *recommendation) cross(at sampler, trained int, bar *progress) error {
	own := &out.Ranking[trained]
	fit := point{float64(at.f.R), float64(at.f.Sigma)}
	still := []point{fit}
	along := map[string]func(factor float64) point{
		"r":     func(factor float64) point { return point{fit.r * factor, fit.sigma} },
		"sigma": func(factor float64) point { return point{fit.r, fit.sigma * factor} },
	}
	target, err := at.errors(own.code, own.reader, crossSamples, still)
	if err != nil {
		return err
	}
	for i := range out.Ranking {
		r := &out.Ranking[i]
		bar.add(1)
		if r.Trained || r.Invalid {
			continue
		}
		for name, factor := range map[string]*number{"r": &r.RFactor, "sigma": &r.SigmaFactor} {
			v, err := findFactor(func(factors []float64) ([]float64, error) {
				means, err := at.along(r, along[name], factors)
				for j := range means {
					means[j] -= target[0].Mean
				}
				return means, err
			})
			if err != nil {
				return err
			}
			*factor = number(v)
		}
	}

	// The trained code against the best of the others.
	other := slices.IndexFunc(out.Ranking, func(r ranked) bool { return !r.Trained && !r.Invalid })
	if other < 0 {
		return nil
	}
	first, second := own, &out.Ranking[other]
	if second.Mean < first.Mean {
		first, second = second, first
	}
	c := &crossing{First: first.Code, Second: second.Code, R: none, Sigma: none}
	c.Tie = float64(second.Mean-first.Mean) <= 3*math.Hypot(float64(first.StdErr), float64(second.StdErr))
	if !c.Tie {
		for name, set := range map[string]func(float64){
			"r":     func(v float64) { c.R = number(v * fit.r) },
			"sigma": func(v float64) { c.Sigma = number(v * fit.sigma) },
		} {
			v, err := findFactor(func(factors []float64) ([]float64, error) {
				a, err := at.along(first, along[name], factors)
				if err != nil {
					return nil, err
				}
				b, err := at.along(second, along[name], factors)
				for j := range b {
					a[j] -= b[j]
				}
				return a, err
			})
			if err != nil {
				return err
			}
			set(v)
		}
	}
	out.Crossing = c
	return nil
}

// findFactor returns the factor nearest to 1 at which a difference changes its sign,
// within 1/16 and 16; NaN where it does not. NaN differences are outside of what is
// valid.
func findFactor(difference func(factors []float64) ([]float64, error)) (float64, error) {
	const steps, each = 8, 2 // to either side, in an octave
	var factors []float64
	for j := -steps; j <= steps; j++ {
		factors = append(factors, math.Exp2(float64(j)/each))
	}
	d, err := difference(factors)
	if err != nil {
		return 0, err
	}
	crosses := func(i int) bool { return (d[i] < 0) != (d[i+1] < 0) && !math.IsNaN(d[i]) && !math.IsNaN(d[i+1]) }
	at := -1
	for j := range steps {
		if crosses(steps + j) {
			at = steps + j
			break
		}
		if crosses(steps - 1 - j) {
			at = steps - 1 - j
			break
		}
	}
	if at < 0 {
		return math.NaN(), nil
	}
	lo, hi, below := math.Log(factors[at]), math.Log(factors[at+1]), d[at] < 0
	for range 6 { // to half a percent
		middle := (lo + hi) / 2
		v, err := difference([]float64{math.Exp(middle)})
		if err != nil {
			return 0, err
		}
		if (v[0] < 0) == below {
			lo = middle
		} else {
			hi = middle
		}
	}
	return math.Exp((lo + hi) / 2), nil
}

// point is an r and a σ.
type point struct{ r, sigma float64 }

// sampler estimates errors over the targets of a fit, with its shared noise.
type sampler struct {
	ctx     context.Context
	backend montecarlo.Backend
	f       *fitted
	rho     float64
}

// errors estimates the error at several points; NaN where they are invalid for the
// code.
func (s sampler) errors(c *code.Code, r observed.Reader, samples uint64, at []point) ([]montecarlo.Overall, error) {
	out := make([]montecarlo.Overall, len(at))
	var problems []*montecarlo.Problem
	var which []int
	for i, p := range at {
		out[i].Mean, out[i].StdErr = math.NaN(), math.NaN()
		e, err := errmodel.NewMixture(s.ctx, c, p.r, p.sigma)
		var invalid *errmodel.InvalidError
		if errors.As(err, &invalid) {
			continue
		}
		if err != nil {
			return nil, err
		}
		problems = append(problems, s.f.problem(c, r, e, s.rho))
		which = append(which, i)
	}
	if len(problems) == 0 {
		return out, nil
	}
	sums, err := montecarlo.EstimateEach(s.ctx, s.backend, problems, samples, s.f.Prior, nil)
	if err != nil {
		return nil, err
	}
	for j, i := range which {
		out[i] = montecarlo.Weigh(s.f.Prior, sums[j])
	}
	return out, nil
}

// along estimates a code's error at several factors from the fit.
func (s sampler) along(r *ranked, at func(factor float64) point, factors []float64) ([]float64, error) {
	points := make([]point, len(factors))
	for i, v := range factors {
		points[i] = at(v)
	}
	o, err := s.errors(r.code, r.reader, crossSamples, points)
	if err != nil {
		return nil, err
	}
	means := make([]float64, len(o))
	for i := range o {
		means[i] = o[i].Mean
	}
	return means, nil
}

// print writes the ranking for people.
func (out *recommendation) print(w io.Writer, f *fitted) {
	fmt.Fprintf(w, "\ncodes under r = %s, σ = %s", f.R.short(), f.Sigma.short())
	if f.SharedNoise > 0 {
		fmt.Fprintf(w, ", ρ = %s", f.SharedNoise.short())
	}
	fmt.Fprint(w, " and these targets; |error| in levels\n\n")
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(t, "code\tbits\tdecoder\treads\tsimulated\tas good as yours at r ×\tor at σ ×\t\n")
	for _, r := range out.Ranking {
		name := r.Code
		if r.Trained {
			name = "yours: " + name
		}
		if r.Invalid {
			fmt.Fprintf(t, "%s\t%d\t–\t–\tinvalid: e > 1\t\t\t\n", name, r.Bits)
			continue
		}
		factors := "\t\t"
		if !r.Trained {
			factors = r.RFactor.factor() + "\t" + r.SigmaFactor.factor() + "\t"
		}
		fmt.Fprintf(t, "%s\t%d\t%s\t%s\t%s\t%s\n", name, r.Bits, r.Decoder, r.Outputs, plusMinus(r.Mean, r.StdErr), factors)
	}
	t.Flush()
	fmt.Fprint(w, `
These errors suppose that the classifiers of every code have the r and σ of yours. A network
trained with another code has others: larger ones where its bits have more transitions. The last
columns say how large they may be, in proportion to yours, before that code is no better than
yours (below 1: how small they would have to be).
`)
	c := out.Crossing
	if c == nil {
		return
	}
	fmt.Fprintf(w, "\nWith the same r and σ for both, %s is ", c.First)
	move := func(name string, from, to number) string {
		verb := "rises"
		if to < from {
			verb = "falls"
		}
		return fmt.Sprintf("%s %s to %s", name, verb, to.short())
	}
	switch r, sigma := !math.IsNaN(float64(c.R)), !math.IsNaN(float64(c.Sigma)); {
	case c.Tie:
		fmt.Fprintf(w, "as good as %s, as far as these samples tell", c.Second)
	case r && sigma:
		fmt.Fprintf(w, "better than %s until %s, or %s", c.Second, move("r", f.R, c.R), move("σ", f.Sigma, c.Sigma))
	case r:
		fmt.Fprintf(w, "better than %s until %s; no σ within a factor of 16 changes that", c.Second, move("r", f.R, c.R))
	case sigma:
		fmt.Fprintf(w, "better than %s until %s; no r within a factor of 16 changes that", c.Second, move("σ", f.Sigma, c.Sigma))
	default:
		fmt.Fprintf(w, "better than %s for every valid r and σ within a factor of 16 along either", c.Second)
	}
	fmt.Fprintf(w, ".\nThe map: belsim heatmap %s %s --method mc --model FIT.json -o map.png, with FIT.json from -o.\n", c.First, c.Second)
}

// factor is for tables: two digits, a dash for what does not exist.
func (n number) factor() string {
	if math.IsNaN(float64(n)) {
		return "–"
	}
	return fmt.Sprintf("%.2g", float64(n))
}
