package assess

import (
	"fmt"
	"math"
	"strings"

	"belsim/errmodel/mixturefit"
	"belsim/errmodel/perceived"
	"belsim/theory/base/table"
)

// chance is the p-value below which a deviance is not taken for chance.
const chance = 0.01

// close is the share of how the error rate varies from which a mixture is close to the data.
const close = 0.9

// judge says whether the mixture describes the network.
func (s *study) judge(g *mixturefit.Goodness) {
	f := s.f
	f.Deviance, f.DoF, f.Expected, f.SD, f.P, f.Explained = g.Deviance, g.DoF, g.Expected, g.SD, g.P, g.Explained()
	s.worst = g.Worst
	enough := g.DoF > 0 && f.ErringSamples >= mixturefit.FewestTested
	if !enough {
		f.P = math.NaN()
	}
	if g.DoF <= 0 {
		f.Explained = math.NaN()
	}
	f.MostlyWrong = []int{}
	for k, at := range s.transitions {
		wrong := s.seen.Counts.Bit(k)
		if len(at) == 0 {
			f.Impossible += wrong
		}
		if 2*wrong > f.Samples {
			f.MostlyWrong = append(f.MostlyWrong, k+1)
		}
	}
	bits := s.compareOutputs()
	f.Constant, f.Inverted, f.Uninformative = bits.constant, bits.inverted, bits.uninformative()
	switch {
	case bits.compared > 0 && len(f.Constant) == bits.compared:
		f.Mixture = "these outputs are constant: every classifier gives one and the same answer, whatever the target; there is nothing to model"
	case f.Uninformative:
		f.Mixture = "these outputs are noise: none of them depends on its target, as far as the samples tell; are targets and outputs in the same order?"
	case 2*len(f.Inverted) > bits.compared:
		f.Mixture = fmt.Sprintf("these outputs are inverted: %d of %d classifiers answer the opposite of their targets", len(f.Inverted), bits.compared)
	case !enough:
		f.Mixture = fmt.Sprintf("there are too few errors to judge the mixture's shape: %d samples with a wrong bit, of the %d that it takes", f.ErringSamples, mixturefit.FewestTested)
	default:
		f.Mixture = sentence(g)
	}
}

// sentence is the verdict in words, of a deviance with degrees of freedom.
func sentence(g *mixturefit.Goodness) string {
	const instead = "; " + string(TakeRates)
	explained := g.Explained()
	share := fmt.Sprintf("%.3g %% of how the error rate varies over levels and bits", 100*explained)
	excess := fmt.Sprintf("%.3g times the deviance expected", g.Deviance/g.Expected)
	switch {
	case g.P >= chance:
		return fmt.Sprintf("the mixture describes these classifiers: a deviance this large is nothing unusual (p = %.2g)", g.P)
	case explained >= close:
		return fmt.Sprintf("the mixture is close, but not all there is: it explains %s, and the rest is more than chance (%s)", share, excess)
	case explained <= 0:
		return fmt.Sprintf("the mixture does not describe these classifiers: one error rate for all levels and bits would do as well (%s)%s", excess, instead)
	case !math.IsNaN(explained):
		return fmt.Sprintf("the mixture does not describe these classifiers: it explains %s (%s)%s", share, excess, instead)
	}
	return "the mixture does not describe these classifiers: " + excess
}

// remarks are sentences about the mixture: where it departs from the counts, which parameters the
// data do not tell, and how bits err together.
func (s *study) remarks() (out []string) {
	f := s.f
	say := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	say("deviance %s on %d degrees of freedom; %s ± %s expected", table.Short(f.Deviance), f.DoF, table.Short(f.Expected), table.Short(f.SD))
	say("%s", f.Mixture)
	if s.training != perceived.BCE { // the signs of outputs are no answers
		return out
	}
	if f.P < chance && len(s.worst) > 0 {
		var cells []string
		for _, d := range s.worst[:min(3, len(s.worst))] {
			cells = append(cells, fmt.Sprintf("level %d, bit %d: %d of %d wrong, %.3g expected", d.Level, d.Bit, d.Wrong, d.Samples, d.Fitted*float64(d.Samples)))
		}
		say("furthest from it: %s", strings.Join(cells, "; "))
	}
	if f.Limited {
		say("r is as large as it can be: some error probability of the fit is 1")
	}
	bits := func(format string, bits []int) {
		switch others := len(bits) - 1; {
		case others == 0:
			say(format, bits[0], "")
		case others == 1:
			say(format, bits[0], ", and another one")
		case others > 1:
			say(format, bits[0], fmt.Sprintf(", and %d others", others))
		}
	}
	bits("bit %d is wrong in more than half of the samples%s: is this the code, the range and the order of bits that the network was trained with?", f.MostlyWrong)
	bits("the outputs of bit %d are all alike%s: the classifier has learned nothing", f.Constant)
	bits("bit %d answers the opposite of its target%s", f.Inverted)
	if text := f.intervalText(); text != "" {
		say("%s", text)
	}
	if f.Impossible > 0 {
		say("%d wrong outputs of bits that never change: the model has none there, and the fit leaves them out", f.Impossible)
	}
	text := fmt.Sprintf("%.3g %% of the bits are wrong", 100*float64(f.WrongBits)/float64(f.Samples)/float64(f.Bits))
	if !table.Missing(f.Overdispersion) {
		text += fmt.Sprintf("; their number in a sample varies %.3g times as much as if they erred independently", f.Overdispersion)
		if !table.Missing(f.Correlation) {
			text += fmt.Sprintf(" (mean correlation %.2g)", f.Correlation)
		}
	}
	say("%s", text)
	return out
}

// intervalText says why r and σ have no intervals; "" where they have some.
func (f *Fit) intervalText() string {
	switch {
	case f.ErringSamples < mixturefit.FewestErring:
		return fmt.Sprintf("%d samples have a wrong bit: too few for intervals, which need %d; r and σ may be far off", f.ErringSamples, mixturefit.FewestErring)
	case table.Missing(f.SigmaInterval[0]) && !f.Limited:
		return "r and σ are at the end of the range that is searched, and have no intervals: these errors hardly depend on the distance from a transition, or all lie beside one"
	case table.Missing(f.SigmaInterval[0]):
		return "r and σ have no intervals there"
	}
	return ""
}
