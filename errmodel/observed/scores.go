package observed

import (
	"math"
	"slices"

	"belsim/theory/code"
	"belsim/theory/decode"
)

// PITBins is the number of bins of a histogram of PIT.
const PITBins = 20

// Scores judge the probabilities P(n) that a network gives to levels, by the targets. F(n) = Σ_{i≤n} P(i), and
// m is the level of a target. The CRPS is |decoded − target| where one level is certain; decode.SmallestError is the
// smallest P(m) that counts. The probability integral transform of a sample is spread evenly from F(m−1) to F(m)
// (Czado, Gneiting and Held 2009).
type Scores struct {
	// the decoder whose distribution it is: gen-ex, or bel-u of unary bits with BCE
	Decoder string `json:"decoder"`
	// mean continuous ranked probability score ∫ (F(x) − [x ≥ target])² dx, in the unit of the
	// targets
	CRPS float64 `json:"crps"`
	// standard error of crps
	CRPSStdErr float64 `json:"crps_stderr"`
	// mean −ln of the probability of the target's level, in nats; one below 1e-12 counts as 1e-12
	Log float64 `json:"log_score"`
	// standard error of log_score
	LogStdErr float64 `json:"log_score_stderr"`
	// samples whose level has a probability below 1e-12
	Impossible uint64 `json:"impossible"`
	// share of the probability integral transforms in each twentieth of 0 to 1; 0.05 if calibrated
	PIT []float64 `json:"pit"`
}

// scoreColumns are what a sample's probabilities are judged by: its CRPS, P(m), F(m−1) and F(m).
const scoreColumns = 4

// scoreSums adds up the scores of distributions.
type scoreSums struct {
	code *code.Code
	all  []distributionSums
}

// distributionSums are those of one.
type distributionSums struct {
	by        decode.Distribution
	crps, log Sums
	Scores
}

func newScoreSums(c *code.Code, k Kind, decodings []Decoding) *scoreSums {
	s := &scoreSums{code: c}
	for _, by := range decodings {
		d, ok := decode.NewDistribution(c, by.Decoder)
		known := slices.ContainsFunc(s.all, func(of distributionSums) bool {
			return of.by.Decoder() == d.Decoder()
		})
		if ok && !known && !k.Hard() && !c.Circular() { // on which no level is up to another one
			s.all = append(s.all, distributionSums{by: d, Scores: Scores{Decoder: d.Decoder(),
				PIT: make([]float64, PITBins)}})
		}
	}
	return s
}

// columns is how many numbers a sample has.
func (s *scoreSums) columns() int { return scoreColumns * len(s.all) }

// judge sets dst to the columns of a sample.
func (s *scoreSums) judge(dst []float64, level int, exact float64, sample *Sample) {
	for i := range s.all {
		p := sample.Probabilities(s.all[i].by)
		of := dst[i*scoreColumns:]
		of[1] = p[level-1]
		of[0], of[2] = crps(p, s.code, level, exact)
		of[3] = of[2] + of[1]
	}
}

// crps is the continuous ranked probability score of a target, in levels, and the probability of the levels
// below its own.
func crps(p []float64, c *code.Code, level int, y float64) (score, below float64) {
	last := len(p) - 1
	score = max(c.Place(0)-y, y-c.Place(last), 0)
	upto, lo := 0.0, c.Place(0)
	for i, v := range p[:last] {
		upto += v
		if i == level-2 {
			below = upto
		}
		hi := c.Place(i + 1)
		switch {
		case hi <= y:
			score += upto * upto * (hi - lo)
		case lo >= y:
			score += (1 - upto) * (1 - upto) * (hi - lo)
		default:
			score += upto*upto*(y-lo) + (1-upto)*(1-upto)*(hi-y)
		}
		lo = hi
	}
	return score, below
}

// add adds the columns of a sample.
func (s *scoreSums) add(columns []float64) {
	for i := range s.all {
		of, out := columns[i*scoreColumns:(i+1)*scoreColumns], &s.all[i]
		out.crps.Add(of[0])
		out.log.Add(-math.Log(max(of[1], decode.SmallestError)))
		if of[1] < decode.SmallestError {
			out.Impossible++
		}
		lo, hi := PITBins*min(of[2], 1), PITBins*min(of[3], 1)
		first, last := min(int(lo), PITBins-1), min(int(hi), PITBins-1)
		for b := first; b <= last; b++ {
			share := 1.0
			if first < last {
				share = (min(hi, float64(b+1)) - max(lo, float64(b))) / (hi - lo)
			}
			out.PIT[b] += share
		}
	}
}

// scores are those of all, in a unit of which a level has so many.
func (s *scoreSums) scores(unit float64) (all []Scores) {
	for _, out := range s.all {
		crps, log := out.crps.Error().Times(unit), out.log.Error()
		out.CRPS, out.CRPSStdErr, out.Log, out.LogStdErr = crps.Mean, crps.StdErr, log.Mean, log.StdErr
		for b := range out.PIT {
			out.PIT[b] /= out.crps.n
		}
		all = append(all, out.Scores)
	}
	return all
}
