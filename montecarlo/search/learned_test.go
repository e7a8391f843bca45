package search

import (
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp/cmpopts"

	"belsim/errmodel/perceived"
	"belsim/errmodel/scenario"
	"belsim/montecarlo"
	"belsim/theory/base/must"
)

// network is a scenario of networks with so much label noise.
func network(noise float64, t perceived.Training) *scenario.Scenario {
	s := scenario.New(nil)
	s.Network = &scenario.Network{Model: perceived.Model{Noise: noise, Misfit: 0.25, Training: t}}
	return s
}

// TestLearned: codes for networks that know a perceived label are found on any number of workers,
// have no constant column, and have the forecast of package forecast. They are not worse than the
// named ones.
func TestLearned(t *testing.T) {
	for _, training := range []perceived.Training{perceived.BCE, perceived.CE} {
		s := network(0.9, training)
		decoder := "gen"
		if training == perceived.CE {
			decoder = "gen-ex"
		}
		draw := montecarlo.FixedSampling()
		draw.Samples = 640
		find := func(workers int) *Optimized {
			p := must.Get(NewOptimizer(s, decoder, draw,
				Options{Levels: 12, Bits: 7, Workers: workers, Steps: 80}))(t)
			found := must.Get(p.Find(t.Context(), montecarlo.CPU{Workers: workers}, ignore))(t)
			all := must.Get(p.forecasts(t.Context(), found.Found))(t)
			f, i := all[0], *found.Interval
			must.Equal(t, "error, ends", [3]float64{f.Error, f.Lo, f.Hi}, [3]float64{found.Mean, i[0], i[1]})
			if !(f.Lo < f.Error && f.Error < f.Hi) {
				t.Errorf("%s: error %v, from %v to %v", training, f.Error, f.Lo, f.Hi)
			}
			return found
		}
		found := find(1)
		for k, at := range found.Found.Transitions() {
			if len(at) == 0 {
				t.Errorf("%s: column %d is constant", training, k+1)
			}
		}
		// The ranking, the baselines and the improvement have one number for each code, and say the
		// same.
		least := math.Inf(1)
		for i, r := range found.Ranking {
			want := r
			want.Levels, want.Ratio = 12, r.Forecast/found.Mean
			must.Equal(t, r.Code, want, r, cmpopts.EquateApprox(0, 1e-12))
			if i > 0 && r.Forecast < found.Ranking[i-1].Forecast {
				t.Errorf("%s: %s, %v, stands below %v", training, r.Code, r.Forecast, found.Ranking[i-1].Forecast)
			}
			if r.Code != "found" {
				least = min(least, r.Forecast)
			}
		}
		best := found.Baselines[0]
		if gain := 100 * (1 - found.Mean/least); best.Mean != least || math.Abs(found.Improvement-gain) > 1e-9 ||
			(gain > 0) != (*found.Better > 0.5) || !(found.ImprovementCI[0] < gain && gain < found.ImprovementCI[1]) {
			t.Errorf("%s: improvement %v, %v of %v over %v, %v", training, found.Improvement, found.ImprovementCI,
				found.Mean, best.Mean, least)
		}
		if text := strings.Join(found.Remarks(), "\n"); strings.Contains(text, "improves") ||
			!strings.Contains(text, "forecast to gain") {
			t.Error(text)
		}
		if training == perceived.CE { // takes long, and its steps are divided among workers in the same way
			continue
		}
		for i, word := range find(3).Words {
			if word != found.Words[i] {
				t.Fatalf("%s: level %d has the word %s with one worker, and %s with three", training, i+1,
					found.Words[i], word)
			}
		}
	}
}
