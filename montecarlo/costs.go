package montecarlo

import (
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"
	"sort"

	"belsim/theory/base/matrix"
	"belsim/theory/decode"
)

// Costs are what the answers of a label cost.
type Costs struct {
	Mean, Variance float64 // of the cost; the variance without bias
	Square         float64 // mean squared distance
	Rounding       float64 // the most that the rounding of real answers moves the mean
}

// Fixed is a sum of numbers of 0 or more, in units of 2⁻⁶⁴: Whole + Part·2⁻⁶⁴.
type Fixed struct{ Whole, Part uint64 }

// fixedOf rounds down.
func fixedOf(x float64) Fixed {
	whole, part := math.Modf(x)
	return Fixed{uint64(whole), uint64(math.Ldexp(part, 64))}
}

func (f Fixed) plus(g Fixed) Fixed {
	part, carry := bits.Add64(f.Part, g.Part, 0)
	return Fixed{f.Whole + g.Whole + carry, part}
}

func (f Fixed) float() float64 { return float64(f.Whole) + math.Ldexp(float64(f.Part), -64) }

// costs computes what the answers of a row cost. On a circle it makes the errors of the sums those
// on the circle.
func (p *Problem) costs(row int, s *Sums) *Costs {
	m, n := new(Costs), float64(s.Samples)
	if p.adds() {
		lo, hi := decode.Range(p.Code, p.Decoder)
		largest := p.Cost.Largest(row+1, lo, hi)
		mean := s.Cost.float() / n
		// Where costs hardly vary, the difference is rounding.
		m.Mean, m.Variance = largest*mean, largest*largest*max(0, s.CostSquare.float()/n-mean*mean)*n/(n-1)
		m.Square = float64(s.Square) * s.unit() / n
		m.Rounding = p.Cost.Slope(math.Sqrt(m.Square)) * s.unit() / 2
		return m
	}
	circle := uint64(0)
	if p.Cost.OnCircle() {
		circle, s.Abs, s.Square = uint64(p.Code.Levels()), 0, 0
	}
	square := p.Cost.Squared()
	for i, count := range s.Answers {
		if count == 0 {
			continue
		}
		answer, weight := p.Answer(i), float64(count)
		m.Mean += float64(weight * p.Cost.Of(row+1, answer))
		m.Square += float64(weight * square.Of(row+1, answer))
		if circle > 0 {
			err := uint64(math.Abs(answer-float64(row+1))) % circle
			err = min(err, circle-err)
			s.Abs += count * err
			s.Square += count * err * err
		}
	}
	m.Mean, m.Square = m.Mean/n, m.Square/n
	for i, count := range s.Answers {
		if count > 0 {
			d := p.Cost.Of(row+1, p.Answer(i)) - m.Mean
			m.Variance += float64(float64(count) * d * d)
		}
	}
	m.Variance /= n - 1
	return m
}

// probes is the number of outputs that Problem.unseen looks at, with each number of wrong bits, and
// mostProbing are about the most operations of a row, some milliseconds.
const (
	probes      = 64
	mostProbing = 1 << 24
)

// unseen is the mean square d² of what an error changes the cost of a row by: two errors that no sample
// shows are taken to cost that. It is of outputs with as few wrong bits as change the cost, 1, 2, 4, …,
// drawn as the bits err. With more wrong bits it may be larger, and then it counts as far as at most
// two of the samples are expected to have so many: with a sum h of all e, at most N·hⁿ/n!. Where no
// change is found, it is of the largest cost.
func (p *Problem) unseen(row int, samples uint64) float64 {
	e := matrix.Row(nil, row, p.Errors)
	word := append([]uint64(nil), p.Code.Word(row)...)
	total := make([]float64, len(e)) // how often the bits so far are not as is likely
	sum, work := 0.0, 0
	for k, q := range e {
		if q > 0.5 {
			toggle(word, []uint16{uint16(k)})
			q = 1 - q
		}
		sum += q
		total[k] = sum
	}
	cost := func() float64 { return p.Cost.Of(row+1, decode.Value(p.Decoder, word)) }
	likely := cost()
	one := p.Code.Levels() * len(word) // about the operations of an answer
	if decode.Real(p.Decoder) {
		one = p.Code.Levels() * len(e)
	}
	rng := rand.NewPCG(p.Seed, uint64(row))
	most, part := 0.0, 1.0
	for n := 1; n <= 2*len(e) && sum > 0; n *= 2 {
		if most > 0 {
			lgamma, _ := math.Lgamma(float64(n + 1))
			part = math.Exp(min(0, float64(n)*math.Log(sum)-lgamma+math.Log(float64(samples)/2)))
		}
		if work += probes * (one + n); work > mostProbing || part < 1e-3 {
			break
		}
		square, count := 0.0, 0.0
		for j := range probes {
			var wrong []uint16
			for range n {
				u := float64(rng.Uint64()>>11) * 0x1p-53
				if n == 1 {
					u = (float64(j) + u) / probes
				}
				wrong = append(wrong, uint16(min(sort.SearchFloat64s(total, u*sum), len(e)-1)))
			}
			slices.Sort(wrong)
			wrong = slices.Compact(wrong) // a bit is wrong once
			toggle(word, wrong)
			if d := cost() - likely; d != 0 {
				square += d * d
				count++
			}
			toggle(word, wrong)
		}
		if count > 0 {
			most = max(most, part*square/count)
		}
	}
	if most > 0 {
		return most
	}
	lo, hi := decode.Range(p.Code, p.Decoder)
	largest := p.Cost.Largest(row+1, lo, hi)
	return largest * largest
}
