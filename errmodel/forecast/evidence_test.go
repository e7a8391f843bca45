package forecast_test

import (
	"fmt"
	"math"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gonum.org/v1/gonum/mat"

	"belsim/errmodel/forecast"
	"belsim/errmodel/perceived"
	"belsim/testdata/forecast/evidence"
	"belsim/theory/base/must"
)

const folder = "../../testdata/forecast"

// long says that the tests leave nothing out, as in CI.
var long = os.Getenv("BELSIM_LONG") != ""

func diamonds(code string) (evidence.Task, evidence.Source) {
	return evidence.Task{Data: "diamonds", Architecture: "mlp", Levels: 64},
		evidence.Source{Code: code, Training: perceived.BCE}
}

// TestTrainedNetworks holds the forecasts to networks that were trained, each with its own learning
// rate: from one Johnson network of diamonds, the errors of all 13 codes with hard decisions, and
// the intervals of both trainings. testdata/forecast has the other data, and what fails there.
func TestTrainedNetworks(t *testing.T) {
	set := must.Get(evidence.LoadStopped(folder, "chosen.csv", 1, false))(t)
	task, source := diamonds("johnson")
	r := must.Get(set.Forecast(t.Context(), 2, task, source))(t)
	const easy = 4
	for _, tt := range []struct {
		what        string
		training    perceived.Training
		reading     evidence.Reading
		transitions int
		codes       int
		order, off  float64
	}{
		{"BCE", perceived.BCE, evidence.GenBits, evidence.Any, 12, 0.9, 0.06},
		{"BCE of few transitions", perceived.BCE, evidence.GenBits, easy, 5, 0, 0.03},
		{"CE", perceived.CE, evidence.GenEx, evidence.Any, 13, 0.9, 0.04},
	} {
		pairs := selected(r, tt.training, tt.reading, tt.transitions)
		if len(pairs) != tt.codes {
			t.Errorf("%s: %d codes, want %d", tt.what, len(pairs), tt.codes)
		}
		must.Within(t, tt.what+": the share in the right order", inOrder(pairs), tt.order, 1)
		must.Within(t, tt.what+": the median", evidence.Rated(pairs).Off, 0, tt.off)
	}
	every, some := evidence.Rated(r.Unseen(evidence.Any)), evidence.Rated(r.Unseen(easy))
	must.Within(t, "the share of intervals that hold", every.Held, 0.9, 1)
	must.Within(t, "that of codes of few transitions", some.Held, 0.93, 1)
	must.Within(t, "their width, at the upper end,", some.Width, 0, 1.25)
	right, apart := 0.0, 0.0
	for i, p := range r.Pairs {
		for _, q := range r.Pairs[i+1:] {
			if _, over, _ := p.Over(q.Forecast); over[1] < 1 {
				if apart++; p.Observed < q.Observed {
					right++
				}
			}
		}
	}
	must.Within(t, "the number of pairs that the forecasts tell apart", apart, 300, math.Inf(1))
	must.Within(t, "the share of these in the right order", right/apart, 0.95, 1)
	costs, _ := r.Regret()
	must.Within(t, "what the one recommended first costs over the best", costs[evidence.First], 0, 0.03)
}

// selected are the unseen pairs with a training and a reading.
func selected(r *evidence.Result, t perceived.Training, by evidence.Reading, transitions int) []evidence.Pair {
	return slices.DeleteFunc(r.Unseen(transitions), func(p evidence.Pair) bool { return p.Training != t || p.Reading() != by })
}

// inOrder is the share of pairs of codes in the right order, of those that differ by more than
// evidence.Tie.
func inOrder(pairs []evidence.Pair) float64 {
	right, all := 0.0, 0.0
	for _, p := range pairs {
		for _, q := range pairs {
			if q.Observed > p.Observed*(1+evidence.Tie) {
				if all++; q.Error > p.Error {
					right++
				}
			}
		}
	}
	return right / all
}

// TestPublishedTable forecasts the paper's table AE1 from the error of unary alone, over a uniform
// prior. What gen loses with hexj are large errors at few levels, so that the prior decides.
func TestPublishedTable(t *testing.T) {
	published := must.Get(evidence.LoadPublished("../../testdata/paper/published.csv"))(t)
	if len(published) != 352 {
		t.Fatalf("%d figures, want 11 tables of 32", len(published))
	}
	set, task := evidence.PublishedSet(published), evidence.Task{Data: "AE1", Architecture: "paper", Levels: 64}
	r := must.Get(set.Forecast(t.Context(), 2, task, evidence.Source{Code: "unary", Training: perceived.BCE}))(t)
	all := selected(r, perceived.BCE, evidence.Gen, evidence.Any)
	if ce := len(selected(r, perceived.CE, evidence.GenEx, evidence.Any)); len(all) != 5 || ce != 6 {
		t.Errorf("%d codes, and %d with CE; want 5 and 6", len(all), ce)
	}
	must.Within(t, "the share in the right order", inOrder(all), 0.85, 1)
	must.Within(t, "the median", evidence.Rated(all).Off, 0, 0.05)
	for _, p := range all {
		least := 0.
		if p.Code.Name() == "hexj" {
			least = 0.08
		}
		must.Within(t, p.Code.Name(), math.Abs(p.Error/p.Observed-1), least, 0.2)
	}
}

// TestFitted: the law of the forecasts is the one that the program wrote for all data sets, beside
// those that leave one out.
func TestFitted(t *testing.T) {
	laws := must.Get(evidence.LoadLaws(folder))(t)
	written, fitted := reflect.ValueOf(laws["none"]), reflect.ValueOf(forecast.Fitted())
	for i := range fitted.NumField() {
		if v := written.Field(i).Float(); fmt.Sprintf("%.3g", v) != fmt.Sprintf("%.3g", fitted.Field(i).Float()) {
			t.Errorf("%s is %v, and %v in laws.csv", fitted.Type().Field(i).Name, fitted.Field(i), v)
		}
	}
	// What two networks do not share on the same samples is a half, and stands in heads.csv.
	v := must.Get(evidence.Unshared("../../testdata/heads/heads.csv"))(t)
	must.Within(t, "what is not shared", v/(forecast.Law{}.SeedSD(1, 1)/math.Sqrt2), 0.95, 1.05)
	// Each data set is left out once.
	groups := map[string]bool{"none": true}
	for _, set := range must.Get(evidence.Load(folder))(t) {
		for _, task := range set.Tasks() {
			groups[task.Group()] = true
		}
	}
	left := map[string]bool{}
	for name := range laws {
		left[name] = true
	}
	if d := cmp.Diff(groups, left); d != "" {
		t.Errorf("data sets, and those that laws leave out: %s", d)
	}
	for _, task := range must.Get(evidence.LoadBlind(folder))(t).Tasks() {
		if groups[task.Group()] {
			t.Errorf("%s is blind, and among the evidence", task.Data)
		}
	}
}

// TestFittedAtAnEnd: the law is where the evidence has its largest likelihood. The gradients of all
// data sets stand in a file. Their sum leaves nothing to gain, and those of the data sets that are
// computed again are those of the file.
func TestFittedAtAnEnd(t *testing.T) {
	gradients := must.Get(evidence.LoadNumbers(folder+"/gradients.csv", "data"))(t)
	names := evidence.Numbers()
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
	if !long {
		t.Log("the gradients of the file are not computed anew: BELSIM_LONG=1")
		return
	}
	data := strings.Fields("keypoints wages") // two of 26: all are made alike
	law := must.Get(evidence.LoadLaws(folder))(t)["none"]
	var results []*evidence.Result
	for _, set := range must.Get(evidence.Load(folder))(t) {
		for _, task := range set.Tasks() {
			for _, source := range evidence.Sources {
				if slices.Contains(data, task.Group()) && set.Trained(task, source) {
					results = append(results, must.Get(set.Forecast(t.Context(), 2, task, source))(t))
				}
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

// TestFitLaw: from a law that is far from what networks show, FitLaw finds a likelier one.
func TestFitLaw(t *testing.T) {
	set := must.Get(evidence.LoadStopped(folder, "chosen.csv", 1, false))(t)
	task, source := diamonds("johnson")
	task.Levels = 32
	results := []*evidence.Result{must.Get(set.Forecast(t.Context(), 2, task, source))(t)}
	far := forecast.Fitted()
	far.Mean, far.Network = 0.1, 0.1
	_, before, err := evidence.FitLaw(t.Context(), 2, results, far, 1)
	must.Succeed(t, err)
	found, after, err := evidence.FitLaw(t.Context(), 2, results, far, 6)
	must.Succeed(t, err)
	must.Within(t, "what more steps gain", after-before, 0.3, math.Inf(1))
	must.Within(t, "Mean", math.Abs(found.Mean), 0, 0.08)
	must.Within(t, "Network", found.Network, 0, 0.08)
}
