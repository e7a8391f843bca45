package montecarlo_test

import (
	"context"
	"math"
	"strings"
	"testing"

	"belsim/montecarlo"
	"belsim/theory"
)

// verifyCase samples a code and returns it with its true theory.
func verifyCase(t *testing.T, n uint64, seed uint64) (sums []montecarlo.Sums, th []montecarlo.Theory, prior []float64) {
	t.Helper()
	p := mixtureProblem(t, "johnson-nonzero", "bel-j", 31, 1, 2)
	p.Seed = seed
	sums = make([]montecarlo.Sums, 31)
	if err := (montecarlo.CPU{}).Sample(context.Background(), []montecarlo.Job{{Problem: p, Spans: everyRow(p, n), Sums: sums}}, nil); err != nil {
		t.Fatal(err)
	}
	exact, err := theory.ExactMoments(context.Background(), 0, p.Code, p.Decoder, p.Errors)
	if err != nil {
		t.Fatal(err)
	}
	bounds, err := theory.Bounds(context.Background(), 0, p.Code, p.Decoder, p.Errors)
	if err != nil {
		t.Fatal(err)
	}
	for i := range exact {
		th = append(th, montecarlo.Theory{Bound: bounds[i], Mean: exact[i].Mean, MeanSquare: exact[i].MeanSquare})
	}
	return sums, th, theory.Uniform(31)
}

// TestVerifyFinds: Verify is silent when theory is right, at few samples and at
// many, and loud when it is wrong by a few per cent.
func TestVerifyFinds(t *testing.T) {
	for _, n := range []uint64{2, 10, 1000, 300_000} {
		for seed := range uint64(20) {
			sums, th, prior := verifyCase(t, n, seed)
			for _, f := range montecarlo.Verify(sums, th, prior, 31, 1e-6) {
				t.Errorf("%d samples, seed %d: false alarm: %v", n, seed, f)
			}
		}
	}
	sums, right, prior := verifyCase(t, 300_000, 1)
	for name, spoil := range map[string]func(*montecarlo.Theory){
		"exact value": func(x *montecarlo.Theory) { x.Mean *= 1.05 },
		"bound":       func(x *montecarlo.Theory) { x.Bound = 0.95 * x.Mean },
	} {
		wrong := append([]montecarlo.Theory(nil), right...)
		spoil(&wrong[9])
		failures := montecarlo.Verify(sums, wrong, prior, 31, 1e-6)
		if len(failures) != 1 || failures[0].Level != 10 || failures[0].What != name || !strings.Contains(failures[0].String(), "level 10: sampled mean") {
			t.Errorf("wrong %s of level 10: %v", name, failures)
		}
	}
	// A hundredth on every level shows in the mean over all, if in none alone.
	wrong := append([]montecarlo.Theory(nil), right...)
	for i := range wrong {
		wrong[i].Mean *= 1.01
	}
	if failures := montecarlo.Verify(sums, wrong, prior, 31, 1e-6); len(failures) == 0 || failures[len(failures)-1].Level != 0 {
		t.Errorf("1 %% off everywhere: %v", failures)
	}
	// Without exact values the bound is still checked.
	for i := range wrong {
		wrong[i] = montecarlo.Theory{Bound: right[i].Bound, Mean: math.NaN(), MeanSquare: math.NaN()}
	}
	wrong[4].Bound = 0.9 * right[4].Mean
	if failures := montecarlo.Verify(sums, wrong, prior, 31, 1e-6); len(failures) != 1 || failures[0].Level != 5 {
		t.Errorf("bound alone, wrong at level 5: %v", failures)
	}
}
