package montecarlo

import "math"

// measures are what the answers of a label cost.
type measures struct {
	mean, variance float64 // of the cost; the variance without bias
	least          float64 // the cost of a level: what an error is taken to cost that no sample shows
	square, near   float64 // mean squared distance, and the share of samples within θ
	rounded        float64 // the most that the rounding of real answers moves the mean
}

// measure computes what the answers of a row cost.
func (p *Problem) measure(row int, s *Sums) *measures {
	m := &measures{least: p.Cost.Scale(p.Code.Levels())}
	n, half := float64(s.Samples), 0.
	if d := p.digits(); d > 0 {
		half = math.Ldexp(0.5, -d)
	}
	square, beyond := p.Cost.Squared(), p.Cost.Beyond(float64(p.Within))
	outside := 0. // sums of whole numbers, of which 1 is known from less than 1
	for i, count := range s.Answers {
		if count == 0 {
			continue
		}
		answer, weight := p.Answer(i), float64(count)
		c := p.Cost.Of(row+1, answer)
		m.mean += weight * c
		m.square += weight * square.Of(row+1, answer)
		outside += weight * beyond.Of(row+1, answer)
		if half > 0 {
			m.rounded += weight * max(math.Abs(p.Cost.Of(row+1, answer-half)-c), math.Abs(p.Cost.Of(row+1, answer+half)-c))
		}
	}
	m.mean, m.square, m.near, m.rounded = m.mean/n, m.square/n, 1-outside/n, m.rounded/n
	for i, count := range s.Answers {
		if count > 0 {
			d := p.Cost.Of(row+1, p.Answer(i)) - m.mean
			m.variance += float64(count) * d * d
		}
	}
	m.variance /= n - 1
	return m
}
