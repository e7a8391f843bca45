package verdict

import (
	"fmt"
	"math"

	"belsim/errmodel"
	"belsim/montecarlo/table"
)

// chance is the p-value below which a deviance is not taken for chance.
const chance = 0.01

// judge measures how well the model describes the counts, and says so.
func (s *Study) judge(parameters int) error {
	f := s.Fit
	g, err := errmodel.NewGoodness(s.counts, s.transitions, s.errors, parameters)
	if err != nil {
		return err
	}
	f.Deviance, f.DoF, f.Expected, f.SD = table.Number(g.Deviance), g.DoF, table.Number(g.Expected), table.Number(g.SD)
	f.P, f.Explained = table.Number(g.P), table.Number(g.Explained())
	if g.DoF <= 0 {
		f.P, f.Explained = table.Missing(), table.Missing()
	}
	s.Departures = g.Worst
	f.MostlyWrong = []int{}
	for k, at := range s.transitions {
		wrong := s.counts.Bit(k)
		if len(at) == 0 {
			f.Impossible += wrong
		}
		if 2*wrong > f.Samples {
			f.MostlyWrong = append(f.MostlyWrong, k+1)
		}
	}
	f.Verdict = sentence(g)
	if g.DoF > 0 && g.P < chance && f.Overdispersion > 1.1 {
		f.Verdict += "; chance leaves somewhat more than expected where bits err together, as here"
	}
	return nil
}

// sentence is the verdict in words.
func sentence(g *errmodel.Goodness) string {
	const observedRates = "; take the observed rates instead: -o FILE.npy, then --errors FILE.npy"
	explained := g.Explained()
	share := fmt.Sprintf("%.3g %% of how the error rate varies over levels and bits", 100*explained)
	excess := fmt.Sprintf("%.3g times the deviance expected", g.Deviance/g.Expected)
	switch {
	case g.DoF <= 0:
		return "there are too few errors to judge the mixture's shape"
	case g.P >= chance:
		return fmt.Sprintf("the mixture describes these classifiers: a deviance this large is nothing unusual (p = %.2g)", g.P)
	case explained >= 0.9:
		return fmt.Sprintf("the mixture is close, but not all there is: it explains %s, and the rest is more than chance (%s)", share, excess)
	case explained <= 0:
		return fmt.Sprintf("the mixture does not describe these classifiers: one error rate for all levels and bits would do as well (%s)%s", excess, observedRates)
	case !math.IsNaN(explained):
		return fmt.Sprintf("the mixture does not describe these classifiers: it explains %s (%s)%s", share, excess, observedRates)
	}
	return "the mixture does not describe these classifiers: " + excess
}

// Remarks are sentences about the fit, for people: where counts and model differ most, which
// parameters the data do not tell, and how bits err together.
func (s *Study) Remarks() []string {
	f := s.Fit
	var out []string
	say := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	say("deviance %s on %d degrees of freedom; %s ± %s expected", f.Deviance.Short(), f.DoF, f.Expected.Short(), f.SD.Short())
	say("%s", f.Verdict)
	if f.P < chance && len(s.Departures) > 0 {
		text := "furthest from it:"
		for i, d := range s.Departures[:min(3, len(s.Departures))] {
			if i > 0 {
				text += ";"
			}
			text += fmt.Sprintf(" level %d, bit %d: %d of %d wrong, %.3g expected", d.Level, d.Bit, d.Wrong, d.Samples, d.Fitted*float64(d.Samples))
		}
		say("%s", text)
	}
	if f.Limited {
		say("r is as large as it can be: some error probability of the fit is 1")
	}
	if n := len(f.MostlyWrong); n > 0 {
		others := ""
		if n > 1 {
			others = fmt.Sprintf(", and %d others", n-1)
		}
		say("bit %d is wrong in more than half of the samples%s: is this the code, the range and the order of bits that the network was trained with?", f.MostlyWrong[0], others)
	}
	if f.SigmaInterval[0] == 0 {
		say("σ cannot be told from 0, nor r from any larger one: nearly all errors are right beside their transitions")
	}
	if f.SigmaInterval[1].IsMissing() {
		say("σ cannot be told from any larger one: errors hardly depend on the distance from a transition")
	}
	if f.Impossible > 0 {
		say("%d wrong outputs of bits that never change: the model has none there, and the fit leaves them out", f.Impossible)
	}
	text := fmt.Sprintf("%.3g %% of the bits are wrong", 100*float64(f.WrongBits)/float64(f.Samples)/float64(f.Bits))
	if !f.Overdispersion.IsMissing() {
		text += fmt.Sprintf("; their number in a sample varies %.3g times as much as if they erred independently", float64(f.Overdispersion))
		if !f.Correlation.IsMissing() {
			text += fmt.Sprintf(" (mean correlation %.2g)", float64(f.Correlation))
		}
	}
	say("%s", text)
	return out
}
