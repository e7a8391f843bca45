package decode

import (
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"belsim/theory/base/memory"
	"belsim/theory/base/position"
)

// Network says what the classifiers of a network have learned of a code of M bits, at every
// perceived label ŷ = n + s·ε, ε ~ N(0, 1), of a level n. Given ŷ the logit of bit k is normal,
// with the mean f_k(ŷ) and the standard deviation sd_k, and the bits are independent. It is safe
// for concurrent use.
type Network interface {
	// Noise returns s, the standard deviation of the perceived label, in levels.
	Noise() float64
	// Logits sets dst, of length M, to f_k at a perceived label y, in levels. A positive logit
	// stands for a one.
	Logits(dst []float64, y float64)
	// ResidualSD returns sd_k, of length M; 0 for a bit that is always the same.
	ResidualSD() []float64
	// WrongTo sets dst, of length M, to the probabilities that bits are wrong when the level
	// is i+1 and the perceived label is y.
	WrongTo(dst []float64, i int, y float64)
}

// perceivedLabels make the posterior of the levels from the scores of the perceived labels on a
// grid with q points to a level, which all levels share:
//
//	P(n | outputs) ∝ π_n · Σ_g K[g − (n−1)·q] · P(outputs | ŷ_g),
//
// with K the law of ŷ at level 1, dealt to the grid by linear interpolation. Samples and exact
// values take ŷ at 64 strata of that law instead. Under them the error of the median is above the
// least by less than 0.1 %; by up to 2 % where many bits tell the strata apart.
type perceivedLabels struct {
	q      int
	kernel []float64
	prior  []float64 // logarithms
}

const (
	reach     = 4    // the kernel ends at so many s from the level
	mostParts = 4    // points of the grid to a level, at most
	widestGap = 1.0  // root mean square distance of neighbours, in standard deviations of the outputs
	leastGap  = 0.25 // of s: the distance of neighbours, at most
)

// perceive makes the scores of the perceived labels.
func (p *Posterior) perceive(prior []float64) error {
	m, levels, bits := p.model.Perceived, p.code.Levels(), p.code.Bits()
	s, sd := m.Noise(), m.ResidualSD()
	if !(s >= 0) || math.IsInf(s, 0) {
		return fmt.Errorf("label noise s = %v levels: want a finite number, zero or more", s)
	}
	if len(sd) != bits {
		return fmt.Errorf("a network of %d bits for %s, which has %d", len(sd), p.code.Name(), bits)
	}
	for k, v := range sd {
		if !(v >= 0) || math.IsInf(v, 0) {
			return fmt.Errorf("misfit of bit %s is %v; want a finite number, zero or more", position.At(k+1), v)
		}
	}
	q, err := p.parts(s, sd)
	if err != nil {
		return err
	}
	half := int(math.Ceil(reach * s * float64(q)))
	points := (levels-1)*q + 2*half + 1
	if err := memory.Check("the posterior of the perceived label for "+p.code.Name(),
		memory.Product(points, bits, 8)); err != nil {
		return err
	}
	weights, offsets := mat.NewDense(points, bits, nil), make([]float64, points)
	for g := range points {
		row := weights.RawRowView(g)
		m.Logits(row, 1+float64(g-half)/float64(q))
		for k, f := range row {
			switch {
			case sd[k] == 0:
				row[k] = 0
			case p.model.Logits:
				row[k] = f / (sd[k] * sd[k])
				offsets[g] -= f * row[k] / 2
			default:
				one, zero := logNormal(f/sd[k]), logNormal(-f/sd[k])
				row[k] = (one - zero) / 2
				offsets[g] += (one + zero) / 2
			}
		}
	}
	p.affine = &Affine{Median, weights, offsets}
	p.labels = &perceivedLabels{q, kernel(s*float64(q), half), prior}
	return nil
}

// parts returns the number of points of the grid to a level: the outputs change little from one
// to the next.
func (p *Posterior) parts(s float64, sd []float64) (int, error) {
	m := p.model.Perceived
	now, next := make([]float64, len(sd)), make([]float64, len(sd))
	for q := 1; ; q *= 2 {
		if q >= mostParts {
			return mostParts, nil
		}
		h := 1 / float64(q)
		if s > 0 && h > leastGap*s {
			continue
		}
		sum, n := 0.0, 0
		m.Logits(now, 0.5)
		for y := 0.5 + h; y <= float64(p.code.Levels())+0.5; y += h {
			m.Logits(next, y)
			for k, v := range sd {
				if v > 0 {
					d := (next[k] - now[k]) / v
					sum += d * d
				}
			}
			now, next, n = next, now, n+1
		}
		if math.IsNaN(sum) {
			return 0, errors.New("the network has logits that are no numbers")
		}
		if sum <= widestGap*widestGap*float64(n) {
			return q, nil
		}
	}
}

// kernel deals a normal law of standard deviation s around 0 to the points −half … half, by
// linear interpolation: the weight of a point is the mean of a hat over it.
func kernel(s float64, half int) []float64 {
	out := make([]float64, 2*half+1)
	if s == 0 {
		out[half] = 1
		return out
	}
	// The second integral of the density.
	integral := func(x float64) float64 {
		x /= s
		return s * (x*math.Erfc(-x/math.Sqrt2)/2 + math.Exp(-x*x/2)/math.Sqrt(2*math.Pi))
	}
	for j := range out {
		x := -math.Abs(float64(j - half)) // where nothing cancels
		out[j] = max(0, integral(x+1)-2*integral(x)+integral(x-1))
	}
	return out
}

// logNormal is the logarithm of Φ(x).
func logNormal(x float64) float64 {
	if x > -35 {
		return math.Log(math.Erfc(-x/math.Sqrt2) / 2)
	}
	return -x*x/2 - math.Log(-x*math.Sqrt(2*math.Pi)) - 1/(x*x)
}

// label returns the label for the scores of the grid, which it changes.
func (l *perceivedLabels) label(scores []float64) float64 {
	peak := floats.MaxIdx(scores)
	most := scores[peak]
	first, last := len(scores), -1 // the points with a weight
	for g, s := range scores {
		w := 0.0
		if s -= most; s > lightScore {
			w = math.Exp(s)
			first, last = min(first, g), g
		}
		scores[g] = w
	}
	levels := make([]float64, len(l.prior))
	possible := false
	for i, prior := range l.prior {
		at := i * l.q
		sum := 0.0
		for g := max(first, at); g <= min(last, at+len(l.kernel)-1); g++ {
			sum += scores[g] * l.kernel[g-at]
		}
		levels[i] = prior + math.Log(sum)
		possible = possible || levels[i] > math.Inf(-1)
	}
	if !possible { // all labels that occur are far away: the nearest of them
		for i, prior := range l.prior {
			distance := float64(i*l.q + len(l.kernel)/2 - peak)
			levels[i] = prior - distance*distance
		}
	}
	return Median.Label(levels, nil)
}
