// Package perceived is the error model of networks that know one number of an input, a noisy label
// that all bits of a code share: the perceived label. It says what such a network learns of a code
// (Model.Learn, and a Learner for several codes), the errors that decoders then make (Nodes), the label noise that an error
// stands for (Model.NoiseOf), and which model fits an observed network (NewFit). README.md defines
// the model with all its numbers.
package perceived

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/floats"

	"belsim/errmodel/observed"
	"belsim/theory/base/memory"
	"belsim/theory/base/position"
	"belsim/theory/code"
	"belsim/theory/decode"
)

// Training says what a network's outputs were trained for.
type Training string

const (
	// BCE is the training of each bit by its own binary cross-entropy (BCE).
	BCE Training = "bce"
	// CE is the training of all bits together by the cross-entropy of
	// softmax(Z·Cᵀ), the decoder's distribution over the levels (CE).
	CE Training = "ce"
	// Soft is CE against a Gaussian over the levels around the label, in the place of the level:
	// with one-hot it is HL-Gauss. The model has the errors of CE: the Gaussian leaves the mean and
	// the median of the level where they are.
	Soft Training = "soft"
	// L1 and L2 are the training of all bits together by the mean |error| or the squared error of
	// gen-ex, the mean of the decoder's distribution. Nothing else reads such networks.
	L1 Training = "l1"
	L2 Training = "l2"
)

// Trainings lists all trainings.
func Trainings() []Training { return []Training{BCE, CE, Soft, L1, L2} }

// Joint reports whether all bits are trained together, for the decoder: outputs are logits,
// whose signs mean nothing by themselves.
func (t Training) Joint() bool { return t != BCE && t != "" }

// ThroughGenEx reports whether the loss is the error of gen-ex, and sees the mean of the decoder's
// distribution alone.
func (t Training) ThroughGenEx() bool { return t == L1 || t == L2 }

// Describes reports whether the model describes a decoding of networks after the training: hard decisions
// mean something after a training bit by bit alone, and after one through gen-ex nothing does but gen-ex.
func (t Training) Describes(d observed.Decoding) bool {
	return t == BCE || d.Soft && (!t.ThroughGenEx() || decode.Is[decode.GenEx](d.Decoder))
}

// Loss is the name of the training's loss, for people.
func (t Training) Loss() string {
	if t == Soft {
		return "soft targets"
	}
	return strings.ToUpper(string(t))
}

// Model is the perceived-label model of the networks that learn a code.
//
// A network that sees an input of label y knows one number, the perceived label
//
//	ŷ = y + s·ε, ε ~ N(0,1),
//
// which all bits share. Labels are the levels n, or real numbers. Of real labels a network learns
// the levels nearest to them. So it learns that the perceived label of level n is normal around n
// with the variance s² + w, where w is the variance of labels within a level. Bit k's output is a
// logit f_k(ŷ), a function that the network learnt (see Learn), and a residual: Z_k = f_k(ŷ) +
// sd_k·G_k with independent G_k ~ N(0,1) and
//
//	sd_k² = η²·E[f_k′(ŷ)²] + 1/(1/sd₀² + 1/(1.75²·Var f_k(ŷ))).
//
// The second term is about sd₀². It is less for a lost bit, whose logit hardly varies: all bits read
// the same features, and a lost bit gives these features, and their noise, little weight. Given ŷ
// the bits are independent, and P(bit k is one) = Φ(f_k(ŷ)/sd_k).
//
// After a training for the decoder the bits that differ between two levels share a misfit of half
// the floor, and η times the slope of the difference of the scores: its loss knows nothing else.
// After L1 and L2 the bits share a misfit of η times the slope of the mean, without a floor.
//
// A Cutoff or a Floor of 0 stands for DefaultCutoff or DefaultFloor. A Misfit is 0 or more.
type Model struct {
	Noise  float64 `json:"label_noise"` // s, in levels; positive
	Within float64 `json:"-"`           // w, in levels²: WithinLevel for real labels; 0 where labels are levels
	// κ, the fastest that the network's logits change, in cycles over the range of labels
	Cutoff float64 `json:"cutoff"`
	// η, the misfit of a bit, in levels: a constant of the model
	Misfit float64 `json:"misfit"`
	// sd₀, the part of the misfit that all bits have, in logits
	Floor    float64  `json:"misfit_floor"`
	Training Training `json:"training"` // one of Trainings
}

// WithinLevel is the variance of real labels that are uniform within half a level of their level.
const WithinLevel = 1. / 12

// Check refuses parameters outside of the ranges in which the model was tried, for codes of so many
// levels.
func (p Model) Check(levels int) error {
	const rounding = 1e-9 // of a noise that was solved for
	least, most := smallestNoise(levels), mostNoise*float64(levels)
	switch within := func(v, lo, hi float64) bool { return v >= lo && v <= hi }; {
	case !(p.Noise > 0) || !within(p.aroundLevel(), least*(1-rounding), most*(1+rounding)):
		return fmt.Errorf("label noise = %v levels: want %.6g to %.6g levels, for codes of %d levels", p.Noise,
			math.Sqrt(max(least*least-p.Within, 0)), most, levels)
	case p.Within != 0 && p.Within != WithinLevel:
		return fmt.Errorf("variance of labels within a level = %v: want 0 or 1/12", p.Within)
	case p.Cutoff != 0 && !within(p.Cutoff, leastCutoff, mostCutoff):
		return fmt.Errorf("cutoff = %v: want %g to %g cycles, or 0 for the default", p.Cutoff, leastCutoff, mostCutoff)
	case !within(p.Misfit, 0, mostMisfit):
		return fmt.Errorf("misfit = %v: want 0 to %d levels", p.Misfit, mostMisfit)
	case p.Floor != 0 && !within(p.Floor, leastFloor, mostFloor):
		return fmt.Errorf("floor of the misfit = %v: want %g to %g logits, or 0 for the default", p.Floor, leastFloor,
			mostFloor)
	case !slices.Contains(Trainings(), p.Training):
		return fmt.Errorf("training %q: want one of %q", p.Training, Trainings())
	}
	return nil
}

// smallestNoise is the smallest noise that is tried for codes of so many levels.
func smallestNoise(levels int) float64 { return max(leastNoise, float64(levels)/coarsest) }

// Learn returns the functions f_k that a network of this kind learns of a code, when level n
// occurs with probability prior[n−1]; prior has length L and need not add up to 1, and nil
// stands for equal probabilities.
//
// A function minimizes the expected loss of its training and a penalty on fast components:
// README.md has the equations, and testdata/reference.py is an implementation of them in NumPy. A
// bit without transitions is known: its logit is ±20, without a residual.
//
// The perceived labels are a grid of G ≤ 600 points, about three for each s. Bit by bit, Newton's
// method costs O(G·J + J³) for each of some ten steps of a column. For the decoder, up to 100 steps
// of L-BFGS cost O(G·(J·M + L + transitions) + M·J²) each, after O(M·(G·J + J³)). The number of
// workers (0: all processors) does not change a bit of the result.
//
// The errors are about the parameters, the prior or a code that is not binary, say that memory is
// short, or are the context's.
func (p Model) Learn(ctx context.Context, workers int, c *code.Code, prior []float64) (*Network, error) {
	if prior == nil {
		prior = slices.Repeat([]float64{1}, c.Levels())
	}
	l, err := p.NewLearner(workers, prior)
	if err != nil {
		return nil, err
	}
	return l.Learn(ctx, c)
}

// CheckMemory returns a *memory.Error where a code is too large for Learn.
func (p Model) CheckMemory(c *code.Code) error {
	points, features := gridPoints(c.Levels(), p.aroundLevel()), waves+2
	numbers := 3*points + c.Levels() // of a column: the means, what is learnt by column and by point, and error probabilities
	if p.Training != BCE {
		numbers += points + (2*storedSteps+18+features)*features // and the optimizer's
	}
	return memory.Check("the perceived-label model of "+c.Name(), memory.Product(c.Bits(), numbers, 8))
}

// aroundLevel is the standard deviation of the perceived label around its level: s where labels are
// levels.
func (p Model) aroundLevel() float64 { return math.Hypot(p.Noise, math.Sqrt(p.Within)) }

// DefaultCutoff is the cutoff κ, in cycles over the range of labels, that networks of so many levels
// L have by default whose perceived label has the standard deviation s around its level:
// 1.2·(L/s)^¾. Networks of other data have between half and twice as much.
func (p Model) DefaultCutoff(levels int) float64 {
	return min(cutoffScale*decode.Exp(cutoffPower*math.Log(float64(levels)/p.aroundLevel())), mostCutoff)
}

// defaults are the parameters with the cutoff and the floor in the place of zeros.
func (p Model) defaults(levels int) Model {
	if p.Cutoff == 0 {
		p.Cutoff = p.DefaultCutoff(levels)
	}
	if p.Floor == 0 {
		p.Floor = DefaultFloor
	}
	return p
}

// shares returns the prior with the sum 1.
func shares(prior []float64) ([]float64, error) {
	sum, err := total(prior)
	if err != nil {
		return nil, err
	}
	out := make([]float64, len(prior))
	for i, v := range prior {
		out[i] = v / sum
	}
	return out, nil
}

// seldom returns shares of which none is below leastShare of the mean share, but for their sum of
// 1.
func seldom(share []float64) []float64 {
	out := make([]float64, len(share))
	for i, v := range share {
		out[i] = max(v, leastShare/float64(len(share)))
	}
	floats.Scale(1/floats.Sum(out), out)
	return out
}

// total returns the sum of a prior, which may have any positive sum.
func total(prior []float64) (sum float64, err error) {
	for i, v := range prior {
		if !(v >= 0) || math.IsInf(v, 1) {
			return 0, fmt.Errorf("prior of level %s is %v; want a number of 0 or more", position.At(i+1), v)
		}
		sum += v
	}
	if !(sum > 0) || math.IsInf(sum, 1) {
		return 0, fmt.Errorf("the prior adds up to %v; want a positive finite number", sum)
	}
	return sum, nil
}
