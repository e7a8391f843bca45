package montecarlo_test

import (
	"context"
	"math"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"belsim/montecarlo"
	"belsim/theory"
	"belsim/theory/base/must"
	"belsim/theory/base/position"
	"belsim/theory/expect"
)

// verifyCase samples a code and returns it with its true theory.
func verifyCase(t *testing.T, n uint64, seed uint64) (sums []montecarlo.Sums, th []expect.Level, prior []float64) {
	t.Helper()
	p := mixtureProblem(t, "johnson-nonzero", "bel-j", 31, 1, 2)
	p.Seed = seed
	sums = make([]montecarlo.Sums, 31)
	must.Succeed(t, (montecarlo.CPU{}).Sample(context.Background(), p, everyRow(p, n), sums, nil))
	prior = theory.Uniform(31)
	th = must.Get(expect.Of(context.Background(), 0, p.Expected(), prior, expect.Skip{AnyLaw: true}))(t).Levels
	return sums, th, prior
}

// TestVerifyFinds: Verify is silent when theory is right, at few samples and at
// many, and loud when it is wrong by a few per cent.
func TestVerifyFinds(t *testing.T) {
	for n, seeds := range map[uint64]uint64{2: 20, 10: 20, 1000: 20, 30_000: 20, 300_000: 4} {
		for seed := range seeds {
			sums, th, prior := verifyCase(t, n, seed)
			for _, f := range montecarlo.Verify(sums, th, prior, 31, 1e-6) {
				t.Errorf("%d samples, seed %d: false alarm: %v", n, seed, f)
			}
		}
	}
	sums, right, prior := verifyCase(t, 300_000, 1)
	for name, spoil := range map[string]func(*expect.Level){
		"exact value":         func(x *expect.Level) { x.Mean *= 1.05 },
		"bound":               func(x *expect.Level) { x.Bound = 0.95 * x.Mean },
		"smallest of any law": func(x *expect.Level) { x.AnyLaw = &[2]float64{1.05 * x.Mean, 31} },
		"largest of any law":  func(x *expect.Level) { x.AnyLaw = &[2]float64{0, 0.95 * x.Mean} },
	} {
		wrong := append([]expect.Level(nil), right...)
		spoil(&wrong[9])
		checked := []string{"sampled mean", "exact value"} // is checked against the others
		if name == "exact value" {
			checked = checked[:1]
		}
		failures := montecarlo.Verify(sums, wrong, prior, 31, 1e-6)
		must.Equal(t, "failures of a wrong "+name, len(checked), len(failures))
		for i, f := range failures {
			if f.Level != 10 || f.What != name || f.Checked != checked[i] ||
				!strings.Contains(position.Count(f.String(), 1), "level 10: "+checked[i]) {
				t.Errorf("wrong %s of level 10: %v", name, f)
			}
		}
	}
	// A hundredth on every level shows in the mean over all, if in none alone.
	wrong := append([]expect.Level(nil), right...)
	for i := range wrong {
		wrong[i].Mean *= 1.01
	}
	if failures := montecarlo.Verify(sums, wrong, prior, 31, 1e-6); len(failures) == 0 ||
		failures[len(failures)-1].Level != 0 {
		t.Errorf("1 %% off everywhere: %v", failures)
	}
	// Without exact values the bound is still checked.
	for i := range wrong {
		wrong[i] = expect.Level{Bound: right[i].Bound, Mean: math.NaN(), MeanSquare: math.NaN()}
	}
	wrong[4].Bound = 0.9 * right[4].Mean
	if failures := montecarlo.Verify(sums, wrong, prior, 31, 1e-6); len(failures) != 1 || failures[0].Level != 5 {
		t.Errorf("bound alone, wrong at level 5: %v", failures)
	}
}

// TestAllowance: what chance allows for, by Bernstein and by Maurer and Pontil: of 2·3 comparisons
// each side has α/12.
func TestAllowance(t *testing.T) {
	const n, worst, alpha = 100, 5, 0.01
	sums := []montecarlo.Sums{{Samples: n, Abs: 300, Square: 1100}, {Samples: n, Abs: 300, Square: 1100}}
	l, none := math.Log(12/alpha), math.NaN()
	th := []expect.Level{{Bound: none, Mean: 0.5, MeanSquare: 1}, {Bound: 0, Mean: none, MeanSquare: none}}
	a := worst * l / (3. * n)
	for i, want := range []float64{a + math.Sqrt(a*a+2*0.75/n*l) + 0.5e-9,
		math.Sqrt(2*(200./99)/n*l) + 7*worst*l/(3*(n-1))} {
		got := montecarlo.Verify(sums, th, []float64{0.5, 0.5}, worst, alpha)
		if len(got) != 2 || math.Abs(got[i].Allowance-want) > 1e-14 {
			t.Errorf("%v, want an allowance of %v at level %d", got, want, i+1)
		}
	}
}

// TestDetectable: samples whose means are above theory by the deviation that Detectable says fail
// with the probability Power. Of 60 runs, fewer than 48 fail with a probability of 10⁻⁵; with half
// of the deviation, most pass.
func TestDetectable(t *testing.T) {
	ctx := context.Background()
	p := mixtureProblem(t, "johnson-nonzero", "bel-j", 15, 1e-4, 2)
	prior := theory.Uniform(15)
	th := must.Get(expect.Of(ctx, 0, p.Expected(), prior, expect.Skip{Bounds: true, AnyLaw: true}))(t).Levels
	sample := func(factor float64, seed uint64) []montecarlo.Sums {
		q := *p
		scaled := mat.DenseCopyOf(p.Errors)
		scaled.Scale(factor, scaled)
		q.Errors, q.Seed = scaled, seed
		sums := make([]montecarlo.Sums, 15)
		must.Succeed(t, (montecarlo.CPU{}).Sample(ctx, &q, everyRow(&q, 50_000), sums, nil))
		return sums
	}
	labels, all := montecarlo.Detectable(sample(1, 1), th, prior, 15, 1e-6)
	mean := 0.0
	for i, x := range th {
		mean += x.Mean / 15
		if !(labels[i] > all) {
			t.Errorf("level %d: a deviation of %v is found, and of all levels one of %v", i+1, labels[i], all)
		}
	}
	// Errors are rare: their mean grows as their probabilities do.
	for part, want := range map[float64][2]int{1: {48, 60}, 0.5: {0, 30}} {
		failed := 0
		for seed := range uint64(60) {
			if len(montecarlo.Verify(sample(1+part*all/mean, 2+seed), th, prior, 15, 1e-6)) > 0 {
				failed++
			}
		}
		if failed < want[0] || failed > want[1] {
			t.Errorf("%v of the deviation: %d of 60 runs fail, want %d to %d", part, failed, want[0], want[1])
		}
	}
	// Without theory nothing is found.
	for i := range th {
		th[i] = expect.Level{Bound: math.NaN(), Mean: math.NaN(), MeanSquare: math.NaN()}
	}
	labels, all = montecarlo.Detectable(sample(1, 1), th, prior, 15, 1e-6)
	if !math.IsNaN(labels[0]) || !math.IsNaN(all) {
		t.Errorf("without theory: %v, %v", labels, all)
	}
}
