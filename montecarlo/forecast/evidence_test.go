package forecast_test

import (
	"fmt"
	"math"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"belsim/errmodel/perceived"
	"belsim/montecarlo/forecast"
	"belsim/testdata/forecast/evidence"
	"belsim/theory"
	"belsim/theory/base/must"
)

// TestTrainedThroughGenEx holds forecasts from one network of unary to networks that were trained
// with L1 through gen-ex. Of L2, and of networks that collapsed, testdata/forecast says what fails.
func TestTrainedThroughGenEx(t *testing.T) {
	const folder = "../../testdata/forecast"
	set := must.Get(evidence.LoadGenEx(folder, must.Get(evidence.LoadChosen(folder))(t)))(t)
	task := evidence.Task{Data: "diamonds", Architecture: "mlp", Levels: 64}
	r := must.Get(set.Forecast(t.Context(), 2, task, evidence.Source{Code: "unary", Training: perceived.BCE}))(t)
	if n := len(r.Select(perceived.CE, evidence.GenEx, evidence.Any)); n != 0 {
		t.Errorf("%d forecasts of CE, which nothing asked for", n)
	}
	pairs := r.Select(perceived.L1, evidence.GenEx, evidence.Any)
	if w := evidence.Rated(pairs); len(pairs) != 8 || w.Networks != 16 || w.Off > 0.04 || w.Held < 0.7 {
		t.Errorf("%d codes, %+v; want 8, 16 networks, half of them within 4 %%, and 70 %% held, two of them collapsed",
			len(pairs), w)
	}
}

// TestTrainedNetworks holds the forecasts to networks that were trained, each with its own learning
// rate: from one Johnson network of diamonds, the errors of all 13 codes with hard decisions, and
// the intervals of both trainings. testdata/forecast has the other data, and what fails there.
func TestTrainedNetworks(t *testing.T) {
	set := must.Get(evidence.LoadChosen("../../testdata/forecast"))(t)
	task := evidence.Task{Data: "diamonds", Architecture: "mlp", Levels: 64}
	r := must.Get(set.Forecast(t.Context(), 2, task, evidence.Source{Code: "johnson", Training: perceived.BCE}))(t)
	const easy = 4
	for _, tt := range []struct {
		training    perceived.Training
		reading     evidence.Reading
		transitions int
		codes       int
		order, off  float64
	}{
		{perceived.BCE, evidence.GenBits, evidence.Any, 12, 0.9, 0.06},
		{perceived.BCE, evidence.GenBits, easy, 5, 0, 0.03},
		{perceived.CE, evidence.GenEx, evidence.Any, 13, 0.9, 0.04},
	} {
		pairs := r.Select(tt.training, tt.reading, tt.transitions)
		if order, w := evidence.Order(pairs), evidence.Rated(pairs); len(pairs) != tt.codes || order < tt.order ||
			w.Off > tt.off {
			t.Errorf("%d codes, %.2f in the right order, %+v; want %+v", len(pairs), order, w, tt)
		}
	}
	if all, few := evidence.Rated(r.Unseen(evidence.Any)), evidence.Rated(r.Unseen(easy)); all.Held < 0.9 ||
		few.Held < 0.93 || few.Width > 1.25 {
		t.Errorf("held %+v, easy codes %+v; want 0.9 and 0.93, and easy ones at most 1.25 wide", all, few)
	}
	if right, apart := r.Separated(); apart < 300 || float64(right) < 0.95*float64(apart) {
		t.Errorf("of %d pairs that the forecasts tell apart, %d are in the right order; want 300 or more, and 95 %%",
			apart, right)
	}
	shown := r.Shown().Pairs // the smallest forecast of each of 13 codes and two trainings
	for i, p := range shown {
		at := slices.IndexFunc(r.Pairs, func(q evidence.Pair) bool {
			return q.Code == p.Code &&
				q.Training == p.Training
		})
		if i > 0 && p.Error < shown[i-1].Error || r.Pairs[at].Reading() != p.Reading() {
			t.Errorf("%s, %s is shown read by %v", p.Code.Name(), p.Training, p.Reading())
		}
	}
	if len(shown) != 26 {
		t.Errorf("%d networks are shown, want 26", len(shown))
	}
	if costs, _ := r.Regret(); costs[evidence.First] > 0.03 {
		t.Errorf("recommended first: %s, %.3f more than the best error", r.Pairs[0].Code.Name(), costs[evidence.First])
	}
}

// TestPublishedTable forecasts the paper's table AE1 from the error of unary alone: over a uniform
// prior, and over one that falls with age, as the labels do. What gen loses with hexj are large
// errors at few levels, so that the prior decides.
func TestPublishedTable(t *testing.T) {
	published := must.Get(evidence.LoadPublished("../../testdata/paper/published.csv"))(t)
	if len(published) != 352 {
		t.Fatalf("%d figures, want 11 tables of 32", len(published))
	}
	falling := make([]float64, 64)
	for i := range falling {
		falling[i] = 2 * float64(64-i) / (64 * 65)
	}
	var hexj []float64
	set, task := evidence.PublishedSet(published), evidence.Task{Data: "AE1", Architecture: "paper", Levels: 64}
	for _, prior := range [][]float64{theory.Uniform(64), falling} {
		set.Samples[evidence.Labels{Data: "AE1", Levels: 64}] = prior
		r := must.Get(set.Forecast(t.Context(), 2, task, evidence.Source{Code: "unary", Training: perceived.BCE}))(t)
		all := r.Select(perceived.BCE, evidence.Gen, evidence.Any)
		if order, w := evidence.Order(all), evidence.Rated(all); len(all) != 5 || order < 0.85 || w.Off > 0.05 ||
			slices.ContainsFunc(all, func(p evidence.Pair) bool { return math.Abs(p.Off()) > 0.2 }) {
			t.Errorf("%d codes, %.2f in the right order, %+v", len(all), order, w)
		}
		if n := len(r.Select(perceived.CE, evidence.GenEx, evidence.Any)); n != 6 {
			t.Errorf("%d codes with CE, want 6", n)
		}
		for _, p := range all {
			if p.Code.Name() == "hexj" {
				hexj = append(hexj, p.Off())
			}
		}
	}
	if !(hexj[0] > 0.08 && hexj[1] < hexj[0]-0.02) {
		t.Errorf("hexj is %v too large over a uniform prior, and over a falling one; want less there", hexj)
	}
}

// TestFitted: the law of the forecasts is the one that the program wrote for all data sets, beside
// those that leave one out.
func TestFitted(t *testing.T) {
	laws := must.Get(evidence.LoadLaws("../../testdata/forecast"))(t)
	written, fitted := reflect.ValueOf(laws["none"]), reflect.ValueOf(forecast.Fitted())
	for i := range fitted.NumField() {
		if v := written.Field(i).Float(); fmt.Sprintf("%.3g", v) != fmt.Sprintf("%.3g", fitted.Field(i).Float()) {
			t.Errorf("%s is %v, and %v in laws.csv", fitted.Type().Field(i).Name, fitted.Field(i), v)
		}
	}
	if v := must.Get(evidence.Unshared("../../testdata/heads/heads.csv"))(t); fmt.Sprintf("%.3g",
		v) != fmt.Sprintf("%.3g", forecast.Fitted().Samples) {
		t.Errorf("Samples is %v, and %v in heads.csv", forecast.Fitted().Samples, v)
	}
	// Each data set is left out once.
	groups := map[string]bool{"none": true}
	for _, set := range must.Get(evidence.Load("../../testdata/forecast"))(t) {
		for _, task := range set.Tasks() {
			groups[task.Group()] = true
		}
	}
	if len(laws) != len(groups) {
		t.Errorf("%d laws for %d data sets", len(laws)-1, len(groups)-1)
	}
	for name := range groups {
		if _, known := laws[name]; !known {
			t.Errorf("no law leaves %s out", name)
		}
	}
	blind := must.Get(evidence.LoadBlind("../../testdata/forecast"))(t)
	for _, task := range blind.Tasks() {
		if groups[task.Group()] {
			t.Errorf("%s is blind, and among the evidence", task.Data)
		}
	}
}

// TestFittedAtAnEnd: the law is where the evidence has its largest likelihood. The gradients of all
// data sets stand in a file. Their sum leaves nothing to gain, and those of the data sets that are
// computed again are those of the file.
func TestFittedAtAnEnd(t *testing.T) {
	const folder = "../../testdata/forecast"
	gradients := must.Get(evidence.LoadGradients(folder))(t)
	names := evidence.FittedNumbers()
	sum, outer := mat.NewVecDense(len(names), nil), mat.NewSymDense(len(names), nil)
	for _, g := range gradients {
		v := mat.NewVecDense(len(g), g)
		sum.AddVec(sum, v)
		outer.SymRankOne(outer, 1, v)
	}
	// By the outer products of the gradients, which estimate the curvature, a step of Newton would
	// gain so much.
	var inverse mat.Cholesky
	var step mat.VecDense
	if !inverse.Factorize(outer) {
		t.Fatal("the gradients of the data sets do not tell all numbers")
	}
	must.Succeed(t, inverse.SolveVecTo(&step, sum))
	if gain := mat.Dot(sum, &step) / 2; gain > 0.1 {
		t.Errorf("another step would gain %.2g of log-likelihood: run testdata/forecast with -fit", gain)
	}
	data := "food"
	if os.Getenv("BELSIM_LONG") != "" {
		data = "food wages males"
	}
	law := must.Get(evidence.LoadLaws(folder))(t)["none"]
	var results []*evidence.Result
	for _, set := range must.Get(evidence.Load(folder))(t) {
		for _, task := range set.Tasks() {
			for _, source := range evidence.Sources {
				if !slices.Contains(strings.Fields(data), task.Group()) || !set.Trained(task, source) {
					continue
				}
				results = append(results, must.Get(set.Forecast(t.Context(), 2, task, source))(t))
			}
		}
	}
	for name, g := range must.Get(evidence.Gradients(t.Context(), 2, results, law))(t) {
		for i, v := range g {
			// 1e-4, the step of the differences, times a second derivative of some tens at most,
			// and six digits of the file
			if d := math.Abs(v - gradients[name][i]); d > 5e-3+1e-5*math.Abs(v) {
				t.Errorf("%s by %s: %v, and %v in the file", name, names[i], v, gradients[name][i])
			}
		}
	}
}

// TestFitLaw: a law that is far from what the networks of two tasks show becomes likelier, and what
// is measured otherwise stays.
func TestFitLaw(t *testing.T) {
	set := must.Get(evidence.LoadChosen("../../testdata/forecast"))(t)
	var results []*evidence.Result
	for _, data := range []string{"food", "delay"} {
		results = append(results, must.Get(set.Forecast(t.Context(), 2, evidence.Task{Data: data, Architecture: "mlp",
			Levels: 64},
			evidence.Source{Code: "unary", Training: perceived.BCE}))(t))
	}
	far := forecast.Fitted()
	far.CE, far.Network, far.Freedom = 0.1, 0.1, 20
	_, before, err := evidence.FitLaw(t.Context(), 2, results, far, 1)
	must.Succeed(t, err)
	law, after, err := evidence.FitLaw(t.Context(), 2, results, far, 6)
	must.Succeed(t, err)
	if !(after > before+0.5) || law.Samples != far.Samples || !(math.Abs(law.CE) < 0.08) || !(law.Network < 0.08) {
		t.Errorf("log density %v, then %v with %+v", before, after, law)
	}
}
