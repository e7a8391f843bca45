package forecast

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"

	"belsim/errmodel/perceived"
)

// MeanOfOutputs are the forecasts of a network of several outputs: means over the outputs, each read as
// it is read best, the smallest first. outputs has the forecasts of each output, sorted, units the
// width of its levels, and own says which is its network's. A code and a training that some output
// lacks are left out. One network learns all outputs: what it does better or worse than forecast,
// it does for all, so the ends of intervals are means, too.
func MeanOfOutputs(outputs [][]Forecast, units []float64, own func(k int, x *Forecast) bool) []Forecast {
	type of struct {
		code     string
		training perceived.Training
		own      bool
	}
	type mean struct {
		Forecast
		count int
		yours float64
	}
	var order []of
	means := map[of]*mean{}
	for k, all := range outputs {
		unit := units[k] / float64(len(outputs))
		seen := map[of]bool{}
		for i := range all {
			x := &all[i]
			key := of{x.Code.Name(), x.Training, own(k, x)}
			if key.own { // codes may differ from output to output
				key.code, key.training = "", ""
			}
			if seen[key] || key.own && !x.Measured {
				continue
			}
			seen[key] = true
			m := means[key]
			if m == nil {
				m = &mean{Forecast: *x}
				m.Error, m.Lo, m.Hi = 0, 0, 0
				means[key], order = m, append(order, key)
			}
			m.count++
			m.Error += unit * x.Error
			m.Lo += unit * x.Lo
			m.Hi += unit * x.Hi
			m.yours += unit * x.Error / x.Ratio
			m.Measured = m.Measured && x.Measured
		}
	}
	var out []Forecast
	for _, key := range order {
		m := means[key]
		if m.count < len(outputs) {
			continue
		}
		m.Ratio, m.RatioLo, m.RatioHi = m.Error/m.yours, m.Lo/m.yours, m.Hi/m.yours
		t := distuv.StudentsT{Sigma: 1, Nu: m.marginal.Nu}
		m.marginal.Mu, m.marginal.Sigma = math.Log(m.Error), math.Log(m.Hi/m.Lo)/2/t.Quantile(1-tail)
		m.Better = m.marginal.CDF(math.Log(m.yours))
		out = append(out, m.Forecast)
	}
	slices.SortStableFunc(out, smaller)
	return out
}
