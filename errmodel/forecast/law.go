package forecast

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distmv"

	"belsim/errmodel/perceived"
	"belsim/theory/code"
	"belsim/theory/decode"
)

// Law is the joint distribution of how far trained networks depart from the perceived-label model:
// what forecasts draw their intervals from. The departures d = ln(error/model's error) of all
// networks that are trained with one data set are one multivariate Student's t with two degrees of
// freedom. Its scale is common to them, so a network that departs far from the model makes all
// intervals wide. Of a network with the features of its code (see traits), after a training,
//
//	d = Mean·(x + c + o + r + g) + Shared·(ξ₁·c + ξ₂·o + ξ₃·r + ξ₄·g) + Falls·b·(ξ₅·falls + ζ·|falls|)
//	  + Uneven·ζ'·b·uneven + Network·ε + ½·(relative standard error)·ε'
//
// where x is 1 for gen-ex after BCE, c for a training other than BCE, r for direct regression, g for
// L1 and L2 of a code, which learn the label by its error, as direct regression does, and o is b·often.
// b is ½ after a training of all bits together, and 1 after BCE. often and uneven are of the code (the
// functions below define them), and falls is −d ln(model's error)/d ln κ. ξ are common to the data set,
// ζ to the networks of one code, and ε to the readings of one network. All have the scale 1 + Tail·ln(tail),
// where tail is the measured network's (perceived.Fit.Tail).
//
// What is forecast is an error beside that of a measured network, which sets s: so the law is that
// of d − d', where d' is the departure of that network. Fitted has the numbers, and says how they
// were found.
type Law struct {
	Mean                           float64
	Shared, Falls, Uneven, Network float64 // standard deviations
	Tail                           float64 // a slope
}

const (
	bitwise = 0.5
	// unshared is √(1−ρ), where ρ is the correlation of the |error|s of two networks on the same
	// samples: the part of the standard error of one that is not common to them. Pairs of networks
	// measured it (testdata/heads), and it is not fitted.
	unshared = 0.5
	// apart is √(2(1−ρ)): the standard error of the difference of two such |error|s, beside that of one.
	apart   = math.Sqrt2 * unshared
	freedom = 2
)

// traits are what the law knows of a forecast.
type traits struct {
	genEx         float64    // 0 or 1
	shared        [4]float64 // c, o, r and g
	falls, uneven float64    // times bitwise after a training of all bits together
}

// traits of a forecast, in proportion to the part of the error that is no quantization. Heads
// without a code have the traits of unary.
func (x *Forecast) traits() (t traits) {
	b := x.part
	switch {
	case x.Code.Name() == Direct:
		t.shared[2] = x.part
	case x.Training != perceived.BCE:
		t.shared[0] = x.part
		b *= bitwise
	case decode.Is[decode.GenEx](x.Decoding.Decoder):
		t.genEx = x.part
	}
	if x.Training.ThroughGenEx() {
		t.shared[3] = x.part
	}
	t.shared[1], t.falls, t.uneven = b*x.often, b*x.falls, b*x.uneven
	return t
}

// mean is that of a departure.
func (l *Law) mean(t traits) float64 { return l.Mean * (t.genEx + floats.Sum(t.shared[:])) }

// unit is one network's error, or the error that one is forecast to have.
type unit struct {
	*Forecast
	network int     // readings of the same network have the same number
	sampled float64 // relative standard error of the error on the test samples, which all networks have
}

// covariance of the departures of two networks, at the scale 1.
func (l *Law) covariance(a, b unit, x, y traits) float64 {
	v := square(l.Shared)*floats.Dot(x.shared[:], y.shared[:]) + square(l.Falls)*x.falls*y.falls
	if a.Code.Name() == b.Code.Name() {
		v += square(l.Falls)*math.Abs(x.falls*y.falls) + square(l.Uneven)*x.uneven*y.uneven
	}
	if a.network == b.network {
		v += square(l.Network) + square(unshared)*a.sampled*b.sampled
	}
	return v
}

// scale is that of networks of a data set, one of which has a root mean square error of tail times
// the model's.
func (l *Law) scale(tail float64) float64 {
	if !(tail > 1) { // it may be unknown
		return 1
	}
	return 1 + l.Tail*math.Log(tail)
}

// SeedSD is the standard deviation of the logarithm of the ratio of two networks of one head that
// differ in their seeds, where the tail is known and each has so large a relative standard error on
// the same test samples.
func (l Law) SeedSD(tail, relative float64) float64 {
	return math.Sqrt2 * l.scale(tail) * math.Hypot(l.Network, unshared*relative)
}

// joint is the law of d − d', of which d' is the source's, given the departures of other measured
// networks, and that of the source from the model itself: as far as that one is, as wide is the
// law.
func (l *Law) joint(all []unit, source unit, tail float64, measured []unit, departures []float64,
	own float64) *distmv.StudentsT {
	units := slices.Concat(all, measured)
	n := len(units)
	var features []traits
	for _, u := range append(units, source) {
		features = append(features, u.traits())
	}
	from := make([]float64, n) // covariance with the source
	for i, u := range units {
		from[i] = l.covariance(u, source, features[i], features[n])
	}
	itself := l.covariance(source, source, features[n], features[n])
	scale := square(l.scale(tail))
	mean, sigma := make([]float64, n+1), mat.NewSymDense(n+1, nil)
	for i, u := range units {
		mean[i] = l.mean(features[i]) - l.mean(features[n])
		for j := range i + 1 {
			sigma.SetSym(i, j, scale*(l.covariance(u, units[j], features[i], features[j])-from[i]-from[j]+itself))
		}
		// Two readings of one network, and a reading of the source, may differ in nothing: the
		// matrix stays positive.
		sigma.SetSym(i, i, sigma.At(i, i)*(1+1e-9)+square(least))
	}
	// The source departs from the model as a second network of its code would from it.
	sigma.SetSym(n, n, scale*(2*square(l.Network)+square(unshared*source.sampled))+square(least))
	known, values := []int{n}, []float64{own}
	if math.IsNaN(own) {
		values[0] = 0 // as expected
	}
	for i, d := range departures {
		known, values = append(known, len(all)+i), append(values, d)
	}
	t, ok := distmv.NewStudentsT(mean, sigma, freedom, nil) // positive definite by least
	if ok {
		t, ok = t.ConditionStudentsT(known, values, nil)
	}
	if !ok { // numbers that no network has: nothing is known
		sigma = mat.NewSymDense(len(all), nil)
		for i := range all {
			sigma.SetSym(i, i, square(unknown))
		}
		t, _ = distmv.NewStudentsT(mean[:len(all)], sigma, freedom+1, nil)
	}
	return t
}

// least is the smallest standard deviation of the difference of two departures, and unknown that of
// departures of which nothing is known.
const least, unknown = 1e-3, 10

func square(x float64) float64 { return x * x }

// changing is the number of columns that change, and at least 1.
func changing(c *code.Code) float64 {
	m := 0
	for _, at := range c.Transitions() {
		m += min(len(at), 1)
	}
	return float64(max(m, 1))
}

// often is log₂ of the mean number of transitions of the columns that change, less 1, from 0 to 1:
// 0 for unary, johnson and one-hot, and 1 where columns have four transitions or more.
func often(c *code.Code) float64 {
	return min(1, max(0, math.Log2(float64(c.TransitionCount())/changing(c))-1))
}

// uneven is the coefficient of variation of the distances between words of neighbouring levels over
// 0.2, at most 1. It is 0 where all neighbours are as far apart, as in reflected codes, hadamard
// and one-hot, and above 0 where some are further: where several bits change between the same two
// levels, a network that flips one of them sooner than another decodes a word that belongs to
// levels far away, and the model's bits, which read one label, flip together.
func uneven(c *code.Code) float64 {
	distances := make([]float64, c.Levels()-1)
	for i := range distances {
		distances[i] = float64(c.Distance(i, i+1))
	}
	mean, sd := stat.PopMeanStdDev(distances, nil)
	if mean == 0 {
		return 0
	}
	return min(1, sd/mean/0.2)
}
