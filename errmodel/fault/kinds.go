package fault

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/optimize"

	"belsim/errmodel/head"
	"belsim/errmodel/observed"
	"belsim/theory/base/position"
	"belsim/theory/decode"
)

// kinds is a reading of outputs that are something else than they are taken for; nil where they may be that.
func (s *search) kinds() *trial {
	together := s.Training != head.BCE
	lo, hi := slices.Min(s.Outputs), slices.Max(s.Outputs) // logits, or ln p of a softmax
	logit := func(p float64) float64 { return math.Log(max(p, 1e-30)) - math.Log(max(1-p, 1e-30)) }
	reads := func(f Finding, number func(v float64) float64) *trial {
		return s.decoded(f, func(dst, z []float64) {
			for k, v := range z {
				dst[k] = number(v)
			}
		})
	}
	switch probabilities := s.Kind == observed.Probabilities; {
	case s.Kind == observed.Logits && lo >= 0 && hi <= 1:
		return reads(Finding{Name: "probabilities", Number: hi, Text: "the outputs are taken for logits, and are " +
			"probabilities: all lie from 0 to 1", Arguments: []string{"--outputs", "probabilities:FILE"},
			Mend: "give " + position.Flag("outputs", "probabilities:FILE")}, func(p float64) float64 {
			if together && s.Code.OneHot() {
				return math.Log(max(p, 1e-30))
			}
			return logit(p)
		})
	case s.Kind == observed.Logits && lo >= 0 && hi > percent/2 && hi <= percent:
		return s.better(reads(Finding{Name: "percent", Number: hi, Text: fmt.Sprintf("the outputs are taken for logits, and are "+
			"probabilities in percent: all lie from 0 to %.4g", hi), Mend: "divide the outputs by 100"}, func(p float64) float64 {
			return logit(p / percent)
		}))
	case s.Kind == observed.Logits && hi <= 0 && !s.Code.OneHot():
		return s.better(reads(Finding{Name: "logarithms", Number: hi, Text: "the outputs are taken for logits, and are logarithms of " +
			"probabilities of bits: none is above 0", Mend: "give their exponentials"}, func(v float64) float64 { return logit(math.Exp(v)) }))
	case probabilities && s.Code.OneHot() && together:
		return s.distributions(reads, logit)
	case probabilities && lo >= -1e-3 && hi <= 1+1e-3: // a sigmoid of a sigmoid is from 0.5 to 0.73
		most := decode.Sigmoid(hi)
		return reads(Finding{Name: "sigmoid-twice", Number: most, Text: fmt.Sprintf("the outputs went through a second "+
			"sigmoid: all lie from 0.5 to %.2g", most), Mend: "give the logits, or the first sigmoid"}, logit)
	}
	return nil
}

// percent is a probability of 1 in percent.
const percent = 100

// better is a trial that gains, else nil.
func (s *search) better(t *trial) *trial {
	if !s.gains(t) {
		return nil
	}
	return t
}

// distributions is kinds for the probabilities of a softmax.
func (s *search) distributions(reads func(Finding, func(float64) float64) *trial, logit func(float64) float64) *trial {
	sum, narrow := 0.0, 0.0
	for i := range s.Len() {
		z := s.Row(i) // ln p
		sum += math.Exp(floats.LogSumExp(z)) / float64(s.Len())
		narrow = max(narrow, slices.Max(z)-slices.Min(z))
	}
	switch {
	case math.Abs(sum-1) > 0.02:
		return reads(Finding{Name: "sigmoid", Number: sum, Text: fmt.Sprintf("the probabilities of a sample add up to "+
			"%.3g and not to 1: they are sigmoids of the outputs of a softmax", sum), Mend: "give the logits, or their softmax"},
			func(v float64) float64 { return logit(math.Exp(v)) })
	case narrow > 1.01: // what went through a softmax before is from 0 to 1
		return nil
	}
	return s.decoded(Finding{Name: "softmax-twice", Number: math.Exp(narrow),
		Text: fmt.Sprintf("the outputs went through a softmax twice: no probability is above %.3g times the smallest of its "+
			"sample", math.Exp(narrow)), Mend: "give the logits, or the first softmax"}, func(dst, z []float64) {
		least := slices.Min(z)
		for k, v := range z { // the first one's probabilities, up to a constant
			dst[k] = math.Log(max(v-least, 1e-6))
		}
	})
}

// loss is the mean log-likelihood loss of the first samples of a half, for logits times τ: of the
// levels after a training of all outputs together, else of the bits.
func (s *search) loss(together bool, half, most int, tau float64) float64 {
	sum, n := 0.0, 0.0
	scores, correlations := make([]float64, s.Code.Levels()), decode.NewCorrelations(s.Code)
	for i := range s.rows(half) {
		if int(n) == most || s.ctx.Err() != nil {
			break
		}
		z, at := s.Row(i), s.Level[i]-1
		n++
		if !together {
			for k, v := range z {
				if v *= tau; s.Code.Bit(at, k) {
					v = -v
				}
				sum += decode.Softplus(v)
			}
			continue
		}
		correlations.To(scores, z)
		floats.Scale(tau, scores)
		sum += floats.LogSumExp(scores) - scores[at]
	}
	return sum / max(n, 1)
}

// sharpest is how far τ of least loss may lie from 1, as a factor.
const sharpest = 2.5

// temperature finds that the logits are too large or too small for their errors, which L1 and L2 do
// not learn. Of a code of several bits that nobody said to be trained together, each bit must
// agree. The log score of levels says nothing against targets that were spread over levels: these
// must gain error.
func (s *search) temperature() *Finding {
	if s.Kind.Hard() || s.Bits > mostBits || s.Training == head.L1 || s.Training == head.L2 {
		return nil
	}
	together := s.Training != head.BCE && (s.Code.OneHot() || s.Said)
	taus := [2]float64{s.likeliest(together, 0), s.likeliest(together, 1)}
	at := math.Sqrt(taus[0] * taus[1])
	if at < sharpest && at > 1/sharpest ||
		!together && s.Training != head.BCE && s.miscalibration(at) > uncalibrated {
		return nil
	}
	size := "small"
	if at < 1 {
		size = "large"
	}
	value := fmt.Sprintf("%.2g", at)
	t := s.best(Finding{Name: "temperature", Number: at, Arguments: []string{"--temperature", value}},
		s.with(s.Code, s.Decodings, func(dst, _ []float64, i int) { floats.Scale(taus[1-i%2], dst) }))
	t.LogScores = &[2]float64{s.loss(together, both, keep, 1),
		(s.loss(together, 0, keep, taus[1]) + s.loss(together, 1, keep, taus[0])) / 2}
	if t.LogScores[1] >= t.LogScores[0] || s.Training == head.Soft {
		t.LogScores = nil
	}
	t.Text = fmt.Sprintf("the logits are too %s for their errors: times %.3g they are most likely", size, at)
	if t.Mend = "give " + position.Flag("temperature", value) + ", or multiply the logits by it"; t.LogScores != nil {
		t.Text += fmt.Sprintf(", with a log score of %.4g instead of %.4g", t.LogScores[1], t.LogScores[0])
	}
	if !t.Helps() {
		t.Text += "; the error does not change"
	}
	return &t.Finding
}

// likeliest is the τ of least loss in a half.
func (s *search) likeliest(together bool, half int) float64 {
	const enough = 500 // samples: a standard error of τ of a few percent
	loss := func(x []float64) float64 { return s.loss(together, half, enough, math.Exp(x[0])) }
	best, _ := optimize.Minimize(optimize.Problem{Func: loss}, []float64{0},
		&optimize.Settings{Converger: &optimize.FunctionConverge{Absolute: 1e-4, Iterations: 5}},
		&optimize.NelderMead{SimplexSize: 1})
	return math.Exp(best.X[0])
}

// miscalibration is that of observed.Summary, of logits times τ of the samples that were kept.
func (s *search) miscalibration(tau float64) (sum float64) {
	for k := range s.Bits {
		mean, p := 0.0, 0.0
		for i, level := range s.Level {
			mean += decode.Sigmoid(tau*s.Row(i)[k]) / float64(s.Len())
			if s.Code.Bit(level-1, k) {
				p += 1 / float64(s.Len())
			}
		}
		if p > 0 && p < 1 {
			sum += math.Abs(mean-p) / math.Sqrt(p*(1-p)) / float64(s.Bits)
		}
	}
	return sum
}

// uncalibrated is the calibration error from which on outputs were surely not trained bit by bit.
const uncalibrated = 0.15
