package forecast_test

import (
	"os"
	"slices"
	"testing"

	"belsim/errmodel/perceived"
	"belsim/testdata/forecast/evidence"
)

// TestTrainedNetworks holds the forecasts to networks that were trained, each with its own learning rate: from one Johnson network
// of diamonds, the errors of all 13 codes with hard decisions, and the intervals of both
// trainings. testdata/forecast has the other data, and what fails there.
func TestTrainedNetworks(t *testing.T) {
	set, err := evidence.LoadChosen("../../testdata/forecast")
	if err != nil {
		t.Fatal(err)
	}
	task := evidence.Task{Data: "diamonds", Architecture: "mlp", Levels: 64}
	r, err := set.Forecast(t.Context(), 2, task, evidence.Source{Code: "johnson", Training: perceived.BCE})
	if err != nil {
		t.Fatal(err)
	}
	all := evidence.Rate(r.Select(perceived.BCE, evidence.GenBits, evidence.Any))
	if all.Codes != 12 || all.Rank < 0.9 || all.Median > 0.06 {
		t.Errorf("%d codes, rank correlation %.3f, median %.3f; want 12, 0.9 or more, 0.06 or less", all.Codes, all.Rank, all.Median)
	}
	const easy = 4
	if few := evidence.Rate(r.Select(perceived.BCE, evidence.GenBits, easy)); few.Codes < 4 || few.Median > 0.03 {
		t.Errorf("%d codes of few transitions, median %.3f; want 0.03 or less", few.Codes, few.Median)
	}
	if ce := evidence.Rate(r.Select(perceived.CE, evidence.GenEx, evidence.Any)); ce.Codes != 13 || ce.Median > 0.04 || ce.Order < 0.9 {
		t.Errorf("trained for the decoder: %d codes, median %.3f, %.2f in the right order; want 13, 0.04 or less, 0.9 or more", ce.Codes, ce.Median, ce.Order)
	}
	if all, few := evidence.Rated([]*evidence.Result{r}, 0, evidence.Any), evidence.Rated([]*evidence.Result{r}, 0, easy); all.Held < 0.9 || few.Held < 0.93 || few.Width > 1.25 {
		t.Errorf("intervals %+v, and %+v for codes of few transitions; want 0.9 and 0.93 held, and 1.25 times as much at the upper end", all, few)
	}
	if right, apart := r.Separated(); apart < 300 || float64(right) < 0.95*float64(apart) {
		t.Errorf("of %d pairs that the forecasts tell apart, %d are in the right order; want 300 or more, and 95 %%", apart, right)
	}
	shown := r.Shown().Pairs // the smallest forecast of each of 13 codes and two trainings
	for i, p := range shown {
		at := slices.IndexFunc(r.Pairs, func(q evidence.Pair) bool { return q.Code == p.Code && q.Training == p.Training })
		if i > 0 && p.Error < shown[i-1].Error || r.Pairs[at].Reading() != p.Reading() {
			t.Errorf("%s, %s is shown read by %v", p.Code.Name(), p.Training, p.Reading())
		}
	}
	if len(shown) != 26 {
		t.Errorf("%d networks are shown, want 26", len(shown))
	}
	if first, over := r.First(); over > 1.03 {
		t.Errorf("recommended first: %s, %.3f times the best error", first.Code.Name(), over)
	}
}

// TestPublishedTable forecasts the paper's table AE1 from the error of unary alone.
func TestPublishedTable(t *testing.T) {
	published, err := evidence.LoadPublished("../../testdata/paper/published.csv")
	if err != nil {
		t.Fatal(err)
	}
	r, err := evidence.ForecastPublished(t.Context(), 2, published, "AE1")
	if err != nil {
		t.Fatal(err)
	}
	if s := evidence.Rate(r.All(perceived.BCE, evidence.Gen)); s.Codes != 6 || s.Rank < 0.9 || s.Median > 0.05 || s.Largest > 0.2 {
		t.Errorf("%d codes, rank correlation %.3f, median %.3f, largest %.3f", s.Codes, s.Rank, s.Median, s.Largest)
	}
}

// TestTrainedHeads holds forecasts of direct regression and of soft targets, from one Johnson network, to those of testdata/heads: of a
// table, where they are as the others, and of images, where the network's excess tells that direct regression has more error.
// The table is left out without BELSIM_LONG=1: TestTrainedNetworks has another one.
func TestTrainedHeads(t *testing.T) {
	set, err := evidence.LoadHeads("../../testdata/forecast")
	if err != nil {
		t.Fatal(err)
	}
	for task, most := range map[evidence.Task]float64{{Data: "flights", Architecture: "mlp", Levels: 64}: 0.04, {Data: "horizon", Architecture: "cnn", Levels: 64}: 0.08} {
		if task.Data == "flights" && os.Getenv("BELSIM_LONG") == "" {
			continue
		}
		r, err := set.Forecast(t.Context(), 2, task, evidence.Source{Code: "johnson", Training: perceived.BCE})
		if err != nil {
			t.Fatal(err)
		}
		for _, direct := range []bool{true, false} {
			pairs := r.Head(direct)
			held, score := evidence.RatedPairs(pairs).Held, evidence.Rate(pairs)
			if len(pairs) == 0 || held < 0.9 || score.Median > most {
				t.Errorf("%v, direct regression %v: %d forecasts, median %.3f, held %.2f; want %.2f, and 0.9 held", task, direct, len(pairs), score.Median, held, most)
			}
		}
	}
}
