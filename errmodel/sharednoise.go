package errmodel

import (
	"context"
	"math"

	"gonum.org/v1/gonum/stat/distuv"

	"belsim/theory/base/parallel"
	"belsim/theory/latent"
)

// SharedNoise is the estimate of the part ρ of the classifiers' noise that is one
// displacement of the perceived label, common to all bits.
type SharedNoise struct {
	Rho Interval // from 0 to 0.99; 0.99 also stands for larger values; NaN where it cannot be estimated
	// Excess is Joint.Excess, and StdErr its standard error at the estimate of ρ, errors of r
	// and σ included.
	Excess, StdErr float64
	// Most is the excess for ρ = 0.99. It is zero where no two bits can err.
	Most float64
	// Pairs is about the number of pairs of errors that the estimate rests on.
	Pairs float64
}

// largestRho is the end of the search. There the error probability of a bit, given the
// shared noise, is a step of the width √(1−ρ) = 1/10, which is also the distance of the
// points of the integrals. A network with a larger ρ can hardly be told from one with
// ρ = 1.
const largestRho = 0.99

// leastExcess is the largest excess that roundings may give where there is none.
const leastExcess = 1e-9

// leastError is the error probability below which a bit adds nothing to an excess.
const leastError = 1e-9

// NewSharedNoise returns the ρ with which the latent-Gaussian model of the fitted mixture has
// the excess that was observed. Given the shared noise t, bit k of level n is wrong
// with the probability
//
//	Φ((−Φ⁻¹(1−e) + g_k·√ρ·t)/√(1−ρ)),  g_k = ±d_k,
//
// independently of the other bits. So the excess is Var_t(Σ g_k·p_k(t)) − Σ Var_t(p_k(t)).
// It grows with ρ, because all covariances g_k·g_l·cov do (Slepian's inequality).
//
// The interval has every ρ whose excess chance may take to the observed one. The variance of the
// excess is the model's for that ρ, or larger where so many samples show that it is. It includes that r and σ come from the same errors: the
// influence of a sample on the observed excess is v − (∂E/∂ln r, ∂E/∂ln s)·I⁻¹·s, with v its
// own excess and s its score. Since ρ is not negative, outcomes are ordered as Feldman and Cousins
// do (Phys. Rev. D 57, 3873, 1998): the interval is never empty, and holds ρ = 0 as often as
// any other.
//
// workers is
// the number of goroutines, 0 for all processors; it changes no number. The error is the
// context's.
func NewSharedNoise(ctx context.Context, workers int, j *Joint) (*SharedNoise, error) {
	m := j.sharedModel(workers)
	s := &SharedNoise{Excess: j.Excess(), Rho: Interval{math.NaN(), math.NaN(), math.NaN()}, StdErr: math.NaN()}
	most, err := m.at(ctx, largestRho, false)
	if err != nil {
		return nil, err
	}
	s.Most = most.excess
	if !(s.Most > leastExcess) || math.IsNaN(s.Excess) {
		return s, nil
	}
	if s.Rho.Value, err = m.solve(ctx, s.Excess, s.Most); err != nil {
		return nil, err
	}
	cells, err := m.eachAt(ctx, s.Rho.Value, true)
	if err != nil {
		return nil, err
	}
	here := m.mean(cells)
	s.Pairs = m.samples * here.pairs
	m.wider = 1
	if s.Pairs >= manyPairs {
		m.wider = max(1, m.observedSD(cells, here)/here.sd(j))
	}
	s.StdErr = m.wider * here.sd(j) / math.Sqrt(m.samples)
	s.Rho.Lo, s.Rho.Hi, err = m.interval(ctx, j, s)
	return s, err
}

// interval finds the ends of the interval of ρ.
func (m *sharedModel) interval(ctx context.Context, j *Joint, s *SharedNoise) (lo, hi float64, err error) {
	// inside is positive where chance may take the excess from its value at ρ to the observed one.
	// It is nearly a line in the distance of both.
	inside := func(rho float64) (float64, error) {
		at, err := m.at(ctx, rho, true)
		if err != nil {
			return 0, err
		}
		sd := m.wider * at.sd(j) / math.Sqrt(m.samples)
		return math.Sqrt(-math.Log(1-Confidence)) - math.Sqrt(max(0, -logChance(s.Excess/sd, at.excess/sd))), nil
	}
	end := func(far float64) (float64, error) {
		v, err := inside(far)
		if err != nil || v >= 0 {
			return far, err
		}
		at := s.Rho.Value
		w, err := inside(at)
		if err != nil || w <= 0 { // the estimate is at the same limit
			return at, err
		}
		b := bracket{below: far, fBelow: v, above: at, fAbove: w}
		for i := range 40 {
			x := (b.below*b.fAbove - b.above*b.fBelow) / (b.fAbove - b.fBelow)
			if i%3 == 2 {
				x = (b.below + b.above) / 2
			}
			v, err := inside(x)
			if err != nil {
				return 0, err
			}
			if math.Abs(v) < 2e-3 || math.Abs(b.above-b.below) < 1e-4 {
				return x, nil
			}
			b.narrow(x, v)
		}
		return (b.below + b.above) / 2, nil
	}
	if lo, err = end(0); err != nil {
		return 0, 0, err
	}
	hi, err = end(largestRho)
	return lo, hi, err
}

// logChance is the logarithm of the probability that a normal x of variance 1 about μ ≥ 0 is as
// unlikely as the x given, or less likely, in the order of the likelihood ratio against the best
// mean that is not negative.
func logChance(x, mu float64) float64 {
	// h is −ln of the ratio.
	h := (x - mu) * (x - mu) / 2
	if x < 0 {
		h = mu*mu/2 - x*mu
	}
	d := math.Sqrt(2 * h)
	below := mu - d
	if below < 0 && mu > 0 {
		below = (mu*mu/2 - h) / mu
	}
	if mu == 0 {
		below = math.Inf(-1)
		if x <= 0 {
			return 0
		}
	}
	n := distuv.UnitNormal
	if p := n.Survival(d) + n.CDF(below-mu); p > 1e-280 {
		return math.Log(p)
	}
	return -h // but for a factor
}

// sharedModel computes what the excess is, and how it varies, for any ρ.
type sharedModel struct {
	j       *Joint
	local   *local
	normal  *normalTable
	workers int
	cells   []int // the coarse cells with samples
	samples float64
	wider   float64 // the standard deviation of the samples, over the model's
}

// manyPairs is the number of pairs of errors from which on the samples tell how far the influences
// on the excess spread. With fewer, that is the model's affair alone.
const manyPairs = 200

// observedSD is the standard deviation of the influences on the excess that the samples show.
func (m *sharedModel) observedSD(cells []sharedMoments, mean sharedMoments) float64 {
	j := m.j
	var vv, va, vb float64
	for i, at := range m.cells {
		s, e := &j.excess[at], cells[i].excess
		vv += s.vv - 2*e*s.v + s.n*e*e
		va += s.va - e*s.a
		vb += s.vb - e*s.b
	}
	n := m.samples
	return (&sharedMoments{a: mean.a, b: mean.b, vv: vv / n, va: va / n, vb: vb / n, aa: j.scores[0] / n, ab: j.scores[1] / n, bb: j.scores[2] / n}).sd(j)
}

func (j *Joint) sharedModel(workers int) *sharedModel {
	g := j.local.grid
	if j.counts.Fine != nil {
		g = grid{parts: j.coarse, spread: 1 / (12 * float64(j.coarse) * float64(j.coarse))}
	}
	m := &sharedModel{j: j, workers: workers, normal: newNormalTable(), local: j.fit.local(j.local.positions, g, j.counts.Levels)}
	for at, s := range j.excess {
		if s.n > 0 {
			m.cells = append(m.cells, at)
			m.samples += s.n
		}
	}
	return m
}

// sharedMoments are means over the samples, for one ρ.
type sharedMoments struct {
	excess, a, b float64 // E, ∂E/∂ln r, ∂E/∂ln s
	vv, va, vb   float64 // Var v, and its covariances with the scores
	aa, ab, bb   float64 // of the scores
	pairs        float64 // the mean number of pairs of errors of a sample
}

func (m *sharedMoments) add(o sharedMoments, weight float64) {
	for _, p := range [][2]*float64{
		{&m.excess, &o.excess}, {&m.a, &o.a}, {&m.b, &o.b}, {&m.vv, &o.vv}, {&m.va, &o.va}, {&m.vb, &o.vb},
		{&m.aa, &o.aa}, {&m.ab, &o.ab}, {&m.bb, &o.bb}, {&m.pairs, &o.pairs},
	} {
		*p[0] += weight * *p[1]
	}
}

// sd is the standard deviation of a sample's influence on the excess.
func (m *sharedMoments) sd(j *Joint) float64 {
	n := 0.0
	for _, s := range j.excess {
		n += s.n
	}
	// The gradient of E times n·I⁻¹.
	da := n * (m.a*j.inverse[0] + m.b*j.inverse[1])
	db := n * (m.a*j.inverse[1] + m.b*j.inverse[2])
	v := m.vv - 2*(da*m.va+db*m.vb) + da*da*m.aa + 2*da*db*m.ab + db*db*m.bb
	return math.Sqrt(max(v, 1e-300))
}

// solve finds ρ by false position (Illinois), which keeps the zero enclosed.
func (m *sharedModel) solve(ctx context.Context, excess, most float64) (float64, error) {
	if !(excess > 0) {
		return 0, nil
	}
	if excess >= most {
		return largestRho, nil
	}
	b := bracket{below: 0, fBelow: -excess, above: largestRho, fAbove: most - excess}
	for range 60 {
		rho := (b.below*b.fAbove - b.above*b.fBelow) / (b.fAbove - b.fBelow)
		at, err := m.at(ctx, rho, false)
		if err != nil {
			return 0, err
		}
		v := at.excess - excess
		if math.Abs(v) < 1e-5*excess || b.above-b.below < 1e-5 {
			return rho, nil
		}
		b.narrow(rho, v)
	}
	return (b.below + b.above) / 2, nil
}

// at computes the moments for a ρ: the excess alone, or all of them.
func (m *sharedModel) at(ctx context.Context, rho float64, full bool) (sharedMoments, error) {
	cells, err := m.eachAt(ctx, rho, full)
	if err != nil {
		return sharedMoments{}, err
	}
	return m.mean(cells), nil
}

// eachAt computes the moments of each cell.
func (m *sharedModel) eachAt(ctx context.Context, rho float64, full bool) ([]sharedMoments, error) {
	out := make([]sharedMoments, len(m.cells))
	err := parallel.Each(ctx, m.workers, len(m.cells), func() (func(context.Context, int) error, error) {
		w := newSharedCell(m.normal, rho)
		w.full = full
		return func(_ context.Context, i int) error {
			out[i] = w.moments(m, m.cells[i])
			return nil
		}, nil
	})
	return out, err
}

// mean is the mean over the samples of the cells.
func (m *sharedModel) mean(cells []sharedMoments) (sum sharedMoments) {
	for i, at := range m.cells {
		sum.add(cells[i], m.j.excess[at].n/m.samples)
	}
	return sum
}

// sharedCell computes the moments of one cell after the other. It uses the trapezoid rule over the
// shared noise t from −7 to 7. For smooth functions that vanish at both ends, the error of
// this rule falls exponentially with the number of points in the width of the function.
// Here this number is one or more (see largestRho).
type sharedCell struct {
	full        bool // all moments, not only the excess
	normal      *normalTable
	shared, own float64
	t, weight   []float64
	s           []sharedPoint
}

// sharedReach is the end of the rule.
const sharedReach = 7

// sharedPoint are sums over the bits, given t.
type sharedPoint struct {
	g, ga, gb      float64 // Σ g·p and its derivatives by ln r and ln s
	m1, m2, m3, m4 float64 // Σ mⁱ of m = g·(p−e)
	v, v2, vm, vmm float64 // Σ w, Σ w², Σ w·m, Σ w·m² with w = E[(x−e)²|t]
	a, b           float64 // Σ c·m with c the factors of the scores
	am2, bm2       float64 // Σ c·m·m …
	am3, bm3       float64
	aw, bw         float64 // Σ c·w
	awm, bwm       float64 // Σ c·w·m
	aa, ab, bb     float64 // Σ c·c·(w−m²)
}

func newSharedCell(normal *normalTable, rho float64) *sharedCell {
	w := &sharedCell{normal: normal, shared: math.Sqrt(rho), own: math.Sqrt(1 - rho)}
	half := int(math.Ceil(sharedReach / min(0.4, w.own)))
	total := 0.0
	for j := -half; j <= half; j++ {
		t := sharedReach * float64(j) / float64(half)
		w.t = append(w.t, t)
		w.weight = append(w.weight, math.Exp(-t*t/2))
		total += w.weight[j+half]
	}
	for j := range w.weight {
		w.weight[j] /= total
	}
	w.s = make([]sharedPoint, len(w.t))
	return w
}

func (w *sharedCell) moments(m *sharedModel, at int) sharedMoments {
	clear(w.s)
	slopes := m.j.slopes[at/m.j.coarse]
	var out sharedMoments
	for _, k := range m.j.bits {
		g := float64(slopes[k])
		if m.local.far(at, k) {
			continue
		}
		e, q := m.local.bit(at, k)
		if e < leastError || e >= 1 {
			continue
		}
		own0 := 1 / (1 - e) // of the score
		if g == 0 {
			v := e * (1 - e) * own0 * own0
			out.aa += v
			out.ab += v * q
			out.bb += v * q * q
			continue
		}
		ca, cb := own0*g, own0*g*q
		z := -latent.Mean(e)
		// ∂p/∂ln e = e·φ(x)/(φ(z)·√(1−ρ)).
		slope := e / (math.Exp(-z*z/2) / math.Sqrt(2*math.Pi) * w.own)
		var p1, p2, p3, p4 float64 // means of p and p², and of p·∂p and ∂p
		for j := range w.s {
			x := (z + g*w.shared*w.t[j]) / w.own
			if x < -7 { // p < 10⁻¹²
				if w.full {
					w.s[j].add(-g*e, e*e, ca, cb, 0, 0, 0)
				}
				continue
			}
			p, d := w.normal.at(x)
			if !w.full {
				p1 += w.weight[j] * p
				p2 += w.weight[j] * p * p
				w.s[j].g += g * p
				continue
			}
			d *= slope
			p1 += w.weight[j] * p
			p2 += w.weight[j] * p * p
			p3 += w.weight[j] * p * d
			p4 += w.weight[j] * d
			w.s[j].add(g*(p-e), p*(1-2*e)+e*e, ca, cb, g*p, g*d, g*d*q)
		}
		out.excess -= p2 - p1*p1
		da := 2 * (p3 - p1*p4)
		out.a -= da
		out.b -= da * q
	}
	var m0, ma, mb, mm, mma, mmb float64
	var ev float64
	for j := range w.s {
		s, weight := &w.s[j], w.weight[j]
		m0 += weight * s.g
		if !w.full {
			mm += weight * s.g * s.g
			continue
		}
		ma += weight * s.ga
		mb += weight * s.gb
		mm += weight * s.g * s.g
		mma += weight * s.g * s.ga
		mmb += weight * s.g * s.gb
		// E[v|t], E[v²|t], E[v·score|t], for v = Σ_{k≠l} u_k·u_l and independent u.
		v := s.m1*s.m1 - s.m2
		ev += weight * v
		out.vv += weight * (2*(s.v*s.v-s.v2) + 4*(s.v*(s.m1*s.m1-s.m2)-2*s.m1*s.vm+2*s.vmm) +
			s.m1*s.m1*s.m1*s.m1 - 6*s.m1*s.m1*s.m2 + 3*s.m2*s.m2 + 8*s.m1*s.m3 - 6*s.m4)
		cross := func(c, cm2, cm3, cw, cwm float64) float64 {
			// Σ over distinct k, l, i of c_i·m_i·m_k·m_l, and 2·Σ over i ≠ k of c_i·w_i·m_k.
			return c*(s.m1*s.m1-s.m2) - 2*(cm2*s.m1-cm3) + 2*(cw*s.m1-cwm)
		}
		out.va += weight * cross(s.a, s.am2, s.am3, s.aw, s.awm)
		out.vb += weight * cross(s.b, s.bm2, s.bm3, s.bw, s.bwm)
		out.aa += weight * (s.a*s.a + s.aa)
		out.ab += weight * (s.a*s.b + s.ab)
		out.bb += weight * (s.b*s.b + s.bb)
		out.pairs += weight * (s.v*s.v - s.v2) / 2
	}
	out.excess += mm - m0*m0
	out.a += 2 * (mma - m0*ma)
	out.b += 2 * (mmb - m0*mb)
	out.vv -= ev * ev
	return out
}

// add takes a bit: its m and w, the factors of its scores, and g·p with derivatives.
func (s *sharedPoint) add(m, w, ca, cb, g, ga, gb float64) {
	mm := m * m
	s.g += g
	s.ga += ga
	s.gb += gb
	s.m1 += m
	s.m2 += mm
	s.m3 += mm * m
	s.m4 += mm * mm
	s.v += w
	s.v2 += w * w
	s.vm += w * m
	s.vmm += w * mm
	s.a += ca * m
	s.b += cb * m
	s.am2 += ca * mm
	s.bm2 += cb * mm
	s.am3 += ca * mm * m
	s.bm3 += cb * mm * m
	s.aw += ca * w
	s.bw += cb * w
	s.awm += ca * w * m
	s.bwm += cb * w * m
	rest := w - mm
	s.aa += ca * ca * rest
	s.ab += ca * cb * rest
	s.bb += cb * cb * rest
}

// normalTable has the normal distribution and its density at equal steps. In between, four terms of
// Taylor's series are good to 10⁻⁶ of the density, where it is above 10⁻¹².
type normalTable struct {
	p, d [2*normalReach*normalSteps + 1]float64
}

const (
	normalReach = 8
	normalSteps = 64
)

func newNormalTable() *normalTable {
	n := &normalTable{}
	for i := range n.p {
		x := float64(i)/normalSteps - normalReach
		n.p[i] = math.Erfc(-x/math.Sqrt2) / 2
		n.d[i] = math.Exp(-x*x/2) / math.Sqrt(2*math.Pi)
	}
	return n
}

// at returns Φ(x) and φ(x).
func (n *normalTable) at(x float64) (p, d float64) {
	at := math.Floor((x+normalReach)*normalSteps + 0.5)
	if at < 0 {
		return 0, 0
	}
	if at >= float64(len(n.p)) {
		return 1, 0
	}
	x0 := at/normalSteps - normalReach
	h := x - x0
	d0 := n.d[int(at)]
	second, third := x0*x0-1, x0*(x0*x0-3)
	p = n.p[int(at)] + d0*h*(1-h*(x0/2-h*(second/6-h*third/24)))
	d = d0 * (1 - h*(x0-h*(second/2-h*third/6)))
	return p, d
}
