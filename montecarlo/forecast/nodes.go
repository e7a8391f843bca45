package forecast

import (
	"fmt"
	"math"
	"math/bits"

	"gonum.org/v1/gonum/stat/distuv"

	"belsim/montecarlo/philox"
	"belsim/theory/base/memory"
)

// places is the number of pairs of a level and a perceived label in a forecast.
const places = 1 << 12

// realPlaces is the same for real labels: numbers of levels may differ by less than the chance of
// fewer places.
const realPlaces = 1 << 15

// Places are the pairs of a level and of noise ε, and the misfits of bits, over which errors
// are averaged. All codes, trainings and parameters share them, so that differences between
// them are no chance. They are immutable.
//
// The levels are quantiles of the prior at (i + ½)/N, i < N; the noise is the quantile of
// the normal distribution at the bit reversal of i, plus ½/N. The misfits are normal random
// numbers of Philox, a number for each place and bit.
type Places struct {
	level  []int     // from 0
	label  []float64 // real labels, in levels from 1; nil where labels are levels
	noise  []float64 // ε
	misfit []float32 // N × bits
	bits   int
	prior  []float64
}

// NewPlaces returns the N = 4096 places for a prior over the levels, of length L, and codes of so many
// bits at most. The error says that the prior is no distribution, or that memory is short.
func NewPlaces(prior []float64, most int, seed uint64) (*Places, error) {
	return NewFewPlaces(places, prior, most, seed)
}

// NewFewPlaces is NewPlaces with another number N of places, a power of two.
func NewFewPlaces(places int, prior []float64, most int, seed uint64) (*Places, error) {
	if places < 1 || places&(places-1) != 0 {
		return nil, fmt.Errorf("%d places: want a power of two", places)
	}
	if err := memory.Check("the random numbers of a forecast", memory.Product(places, most, 4)); err != nil {
		return nil, err
	}
	sum := 0.0
	for i, v := range prior {
		if !(v >= 0) || math.IsInf(v, 1) {
			return nil, fmt.Errorf("prior of level %d is %v; want a number of 0 or more", i+1, v)
		}
		sum += v
	}
	if !(sum > 0) || math.IsInf(sum, 1) {
		return nil, fmt.Errorf("the prior adds up to %v; want a positive finite number", sum)
	}
	p := &Places{level: make([]int, places), noise: make([]float64, places), misfit: make([]float32, places*most), bits: most, prior: prior}
	n, below := 0, prior[0]
	for i := range places {
		for at := sum * (float64(i) + 0.5) / float64(places); below <= at && n < len(prior)-1; {
			n++
			below += prior[n]
		}
		reversed := bits.Reverse64(uint64(i)) >> (65 - bits.Len(uint(places)))
		p.level[i], p.noise[i] = n, distuv.UnitNormal.Quantile((float64(reversed)+0.5)/float64(places))
	}
	keys := philox.NewKeys(seed)
	for i := range places {
		row := p.row(i)
		for k := 0; k < most; k += 4 {
			x := philox.Call(keys, philox.Counter{uint32(k / 4), uint32(i), 0, stream})
			var g [4]float64
			g[0], g[1] = normals(x[0], x[1])
			g[2], g[3] = normals(x[2], x[3])
			for j := range min(4, most-k) {
				row[k+j] = float32(g[j])
			}
		}
	}
	return p, nil
}

// stream tells the random numbers of forecasts apart from others of the same seed.
const stream = 0xF04ECA57

// row is the misfit of each bit at place i.
func (p *Places) row(i int) []float32 { return p.misfit[i*p.bits : (i+1)*p.bits] }

// normals makes two normal random numbers of two uniform ones (Box and Muller).
func normals(a, b uint32) (float64, float64) {
	const unit = 1.0 / (1 << 32)
	radius := math.Sqrt(-2 * math.Log((float64(a)+0.5)*unit))
	sin, cos := math.Sincos(2 * math.Pi * (float64(b) + 0.5) * unit)
	return radius * cos, radius * sin
}
