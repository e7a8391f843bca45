package search

import (
	"errors"
	"strings"
	"testing"

	"belsim/errmodel/perceived"
	"belsim/montecarlo"
	"belsim/montecarlo/scenario"
	"belsim/theory/base/must"
	"belsim/theory/code"
)

// TestLearned: codes for networks that know a perceived label are found on any number of workers, have no
// constant column, and have the forecast of package forecast. They are not worse than the named ones.
func TestLearned(t *testing.T) {
	for _, training := range []perceived.Training{perceived.BCE, perceived.CE} {
		m := scenario.Perceived{Model: perceived.Model{Noise: 0.9, Misfit: 0.25, Training: training}}
		decoder := "gen"
		if training == perceived.CE {
			decoder = "gen-ex"
		}
		draw := scenario.FixedSampling()
		draw.Samples = 640
		find := func(workers int) *Optimized {
			p := must.Get(NewOptimizer(scenario.New(m), decoder, draw, Options{Levels: 12, Workers: workers, Steps: 80}))(t)
			found := must.Get(p.Find(t.Context(), montecarlo.CPU{Workers: workers}, 7))(t)
			r := must.Get(p.Options.Learned.Read(found.Code))(t)
			f := must.Get(p.Forecaster.Code(t.Context(), found.Code, training, r))(t)
			if found.Forecast == nil || found.Error != f.Error || !(found.Interval[0] < found.Error && found.Error < found.Interval[1]) {
				t.Errorf("%s: forecast %+v, want %+v", training, found.Forecast, f)
			}
			return found
		}
		found := find(1)
		for k, at := range found.Code.Transitions() {
			if len(at) == 0 {
				t.Errorf("%s: column %d is constant", training, k+1)
			}
		}
		for _, b := range found.Baselines {
			if b.Forecast == nil || found.Error > 1.01*b.Error {
				t.Errorf("%s: found %v levels, but %s has %+v", training, found.Error, b.Code, b.Forecast)
			}
		}
		if found.Rival == nil || found.Rival.Gain > found.Promise.Gain { // the best of more
			t.Errorf("%s: gain over the rival %+v, over the best with this training %+v", training, found.Rival, found.Promise)
		}
		if training == perceived.CE { // takes long, and its steps are divided among workers in the same way
			continue
		}
		for i, word := range find(3).Words {
			if word != found.Words[i] {
				t.Fatalf("%s: level %d has the word %s with one worker, and %s with three", training, i+1, found.Words[i], word)
			}
		}
	}
}

// TestLearnedConstant: a search does not begin from a code with a constant column.
func TestLearnedConstant(t *testing.T) {
	m := scenario.Perceived{Model: perceived.Model{Noise: 0.9, Misfit: 0.25, Training: perceived.BCE}}
	c := must.Get(code.New("johnson", 16))(t)
	p := must.Get(NewOptimizer(scenario.New(m), "gen", scenario.FixedSampling(), Options{Levels: 16, Steps: 8, Start: c}))(t)
	if _, err := p.Find(t.Context(), montecarlo.CPU{}, c.Bits()+1); !errors.Is(err, ErrImpossible) || !strings.Contains(err.Error(), "johnson has fewer than 9 columns with a transition") {
		t.Errorf("%v", err)
	}
}
