package montecarlo

import "math"

// Costs are what the answers of a label cost.
type Costs struct {
	Mean, Variance float64 // of the cost; the variance without bias
	Least          float64 // the cost of a level: what an error is taken to cost that no sample shows
	Square         float64 // mean squared distance
	Rounding       float64 // the most that the rounding of real answers moves the mean
}

// costs computes what the answers of a row cost, of which a level costs least.
func (p *Problem) costs(row int, s *Sums, least float64) *Costs {
	m := &Costs{Least: least}
	n, half := float64(s.Samples), 0.
	if d := p.digits(); d > 0 {
		half = math.Ldexp(0.5, -d)
	}
	square := p.Cost.Squared()
	for i, count := range s.Answers {
		if count == 0 {
			continue
		}
		answer, weight := p.Answer(i), float64(count)
		c := p.Cost.Of(row+1, answer)
		m.Mean += float64(weight * c)
		m.Square += float64(weight * square.Of(row+1, answer))
		if half > 0 {
			m.Rounding += weight * max(math.Abs(p.Cost.Of(row+1, answer-half)-c), math.Abs(p.Cost.Of(row+1, answer+half)-c))
		}
	}
	m.Mean, m.Square, m.Rounding = m.Mean/n, m.Square/n, m.Rounding/n
	for i, count := range s.Answers {
		if count > 0 {
			d := p.Cost.Of(row+1, p.Answer(i)) - m.Mean
			m.Variance += float64(float64(count) * d * d)
		}
	}
	m.Variance /= n - 1
	return m
}
