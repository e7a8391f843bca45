package perceived

import (
	"math"

	"gonum.org/v1/gonum/floats"

	"belsim/theory/decode"
)

// channel is the joint distribution of a level and the perceived label on a grid.
type channel struct {
	levels      int
	first, step float64   // perceived label of grid point 0, and the distance of the points
	weight      []float64 // probability of each grid point; length G
	joint       []band    // of each level with the grid points; length L
}

// band is a row of a matrix whose entries outside it are zero.
type band struct {
	from   int
	values []float64
}

// The grid spans reach standard deviations beyond the levels.
const reach = 3.5

// gridPoints returns G, the number of perceived labels on the grid.
func gridPoints(levels int, s float64) int {
	l := float64(levels)
	return int(min(max(math.Ceil((l+2*reach*s)/min(max(s/3, 0.12), l/64)), 64), 600))
}

// newChannel makes the grid: a level's perceived labels have normal weights on the grid, which
// add up to the level's prior.
func newChannel(levels int, s float64, prior []float64) *channel {
	points := gridPoints(levels, s)
	ch := &channel{levels: levels, first: 1 - reach*s, weight: make([]float64, points), joint: make([]band, levels)}
	ch.step = (float64(levels) + reach*s - ch.first) / float64(points-1)
	// Where the noise is much less than a step, the nearest point has all the weight.
	s = max(s, ch.step/16)
	for i := range ch.joint {
		at := (float64(i+1) - ch.first) / ch.step // in steps
		nearest := min(max(int(math.Round(at)), 0), points-1)
		const far = 8
		from := min(max(int(math.Ceil(at-far*s/ch.step)), 0), nearest)
		to := max(min(int(math.Floor(at+far*s/ch.step)), points-1), nearest)
		values := make([]float64, to-from+1)
		sum := 0.0
		for j := range values {
			z := (float64(from+j) - at) * ch.step / s
			values[j] = decode.Exp(-z * z / 2)
			sum += values[j]
		}
		for j := range values {
			values[j] *= prior[i] / sum
			ch.weight[from+j] += values[j]
		}
		ch.joint[i] = band{from, values}
	}
	return ch
}

// mean sets dst, of length G, to the mean of a value of each level over the posterior of the
// level at each grid point. Where no level reaches, it is zero.
func (ch *channel) mean(dst []float64, value func(i int) float64) {
	clear(dst)
	for i, b := range ch.joint {
		if v := value(i); v != 0 {
			floats.AddScaled(dst[b.from:b.from+len(b.values)], v, b.values)
		}
	}
	for g, w := range ch.weight {
		if w > 0 {
			dst[g] /= w
		} else {
			dst[g] = 0
		}
	}
}
