package assess

import (
	"fmt"

	"belsim/errmodel"
	"belsim/errmodel/fitdecoder"
	"belsim/errmodel/observed"
	"belsim/theory/base/table"
)

// Intervals tell how good the intervals of single labels are, over samples that took no part in
// choosing, fitting and calibrating the decoder that judges them. Lengths are in the unit of the
// targets.
type Intervals struct {
	// what the intervals promise: the share of targets that lie inside
	Confidence float64 `json:"confidence"`
	// samples that calibrate the decoder; confidences up to 1 − 2/(calibration + 1) can be asked
	// for
	Calibration int `json:"calibration"`
	// share of the targets that lie inside
	Coverage float64 `json:"coverage"`
	// standard error of coverage
	CoverageSE float64 `json:"coverage_stderr"`
	// mean of upper − lower
	Width float64 `json:"mean_width"`
	// mean Winkler (interval) score: the width, and 2/(1 − confidence) times the distance of a
	// target outside; small is good
	Winkler float64 `json:"winkler"`
	// that of intervals that are equally wide for all samples
	Constant float64 `json:"winkler_constant"`
	// the smallest coverage of the five fifths of samples by their predicted spread
	Worst float64 `json:"worst_fifth"`
	// a row for neighbouring levels of 100 samples or more
	Levels []LevelCoverage `json:"levels"`

	samples []fitdecoder.Interval // in levels
}

// LevelCoverage is the coverage of neighbouring levels.
type LevelCoverage struct {
	From int `json:"level"`
	// the last level of its row
	To int `json:"last_level"`
	// samples of these levels
	Samples uint64 `json:"samples"`
	// share of the targets that lie inside
	Coverage float64 `json:"coverage"`
	// 95 % interval of coverage
	Interval [2]float64 `json:"coverage_interval"`
}

func newIntervals(r *fitdecoder.Intervals, labels observed.Labels, width float64) *Intervals {
	return &Intervals{
		Confidence: fitdecoder.Judged, Calibration: len(r.Samples), Coverage: r.Coverage.Mean,
		CoverageSE: r.Coverage.StdErr, Width: width * r.Width.Mean, Winkler: width * r.Winkler.Mean,
		Constant: width * r.ConstantWinkler, Worst: r.Worst, Levels: coverageByLevel(r.Samples, labels),
		samples: r.Samples,
	}
}

// coverageByLevel has a row for neighbouring levels of so many samples that a share of them means
// something.
func coverageByLevel(samples []fitdecoder.Interval, labels observed.Labels) []LevelCoverage {
	all, inside := make([]uint64, labels.Levels), make([]uint64, labels.Levels)
	for _, x := range samples {
		at := labels.LevelOf(x.Target) - 1
		all[at]++
		if x.Lower <= x.Target && x.Target <= x.Upper {
			inside[at]++
		}
	}
	out := []LevelCoverage{}
	for from, to := range groups(all) {
		row, held := LevelCoverage{From: from + 1, To: to}, uint64(0)
		for i := from; i < to; i++ {
			row.Samples, held = row.Samples+all[i], held+inside[i]
		}
		row.Coverage = float64(held) / float64(row.Samples)
		row.Interval[0], row.Interval[1] = errmodel.RateInterval(float64(held), float64(row.Samples))
		out = append(out, row)
	}
	return out
}

// Samples are the samples that judge the intervals, in the unit of the targets.
func (i *Intervals) Samples(f *Fit) []fitdecoder.Interval {
	lo := 1.0
	if f.Range != nil {
		lo = f.Range[0]
	}
	out := make([]fitdecoder.Interval, len(i.samples))
	at := func(level float64) float64 { return lo + (level-1)*f.LevelWidth }
	for k, x := range i.samples {
		out[k] = fitdecoder.Interval{Target: at(x.Target), Label: at(x.Label), Lower: at(x.Lower), Upper: at(x.Upper)}
	}
	return out
}

// Text says how good the intervals are.
func (i *Intervals) Text(f *Fit) string {
	return fmt.Sprintf("Intervals of %g %% hold %.1f ± %.1f %% of the targets, and %.0f %% in the worst fifth of "+
		"predicted spreads. They are %s%s wide on average; their Winkler score is %s, and %s with a constant width.",
		100*i.Confidence, 100*i.Coverage, 100*i.CoverageSE, 100*i.Worst, table.Short(i.Width), f.unit(),
		table.Short(i.Winkler), table.Short(i.Constant))
}
