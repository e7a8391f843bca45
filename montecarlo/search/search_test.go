package search

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp/cmpopts"
	"gonum.org/v1/gonum/mat"

	"belsim/errmodel"
	"belsim/errmodel/head"
	"belsim/errmodel/scenario"
	"belsim/montecarlo"
	"belsim/montecarlo/compare"
	"belsim/theory"
	"belsim/theory/base/must"
	"belsim/theory/base/refuse"
	"belsim/theory/code"
	"belsim/theory/cost"
	"belsim/theory/decode"
)

// long says that the tests leave nothing out, as in CI: see CONTRIBUTING.md.
var long = os.Getenv("BELSIM_LONG") != ""

// mixture is the column function of r and σ.
func mixture(t testing.TB, levels int, r, sigma float64) errmodel.Column {
	t.Helper()
	return must.Get(errmodel.MixtureColumn(levels, false, r, sigma))(t)
}

// TestUpdateIsReset: after any sequence of moves, taken back or not, an evaluator
// that has followed them by the rows and columns that they list gives what one that
// begins anew gives, to the last bit. A move that is allowed leaves distinct words.
func TestUpdateIsReset(t *testing.T) {
	moves := 10 // from each start, of which there are about ten
	if long {
		moves = 150
	}
	t.Logf("%d moves from each start", moves)
	for _, at := range []struct {
		levels, bits int
		r, sigma     float64
	}{{12, 7, 0.6, 1.5}, {40, 14, 0.9, 1}, {40, 63, 0.6, 1.5}, {90, 30, 1.5, 4}, {30, 64, 0.5, 0.8}} {
		rng := rand.New(rand.NewPCG(uint64(at.bits), 1))
		o := problem(t, at.levels, at.bits, at.r, at.sigma)
		o.Prior[3], o.Prior[4] = 0, 2*o.Prior[4]
		evaluators := []func() evaluator{func() evaluator { return o.newSampled(64, 5) }}
		if at.bits < 10 {
			evaluators = append(evaluators, func() evaluator { return o.exactly() })
		}
		starts := must.Get(o.starts(t.Context(), rng))(t)
		tried := 0
		for i := range len(starts) * len(evaluators) {
			s, anew := starts[i/len(evaluators)], evaluators[i%len(evaluators)]
			x, c := anew(), newChain(s.words.clone(), &o)
			if now, _ := x.reset(t.Context(), c.words); math.IsInf(now, 1) {
				continue
			}
			tried++
			for range moves {
				if !c.propose(rng) {
					c.undo()
					continue
				}
				if !c.distinct() {
					t.Fatal("a move that was allowed leaves two equal words")
				}
				got, _ := x.update(t.Context(), c.words, &c.move)
				if math.IsInf(got, 1) || rng.IntN(2) == 0 {
					x.reject()
					c.undo()
					continue
				}
				if want, _ := anew().reset(t.Context(), c.words); got != want {
					t.Fatalf("%d bits, from %s: updated %v, anew %v", at.bits, s.Start, got, want)
				}
			}
		}
		if tried == 0 {
			t.Errorf("%v: no start was valid", at)
		}
	}
}

// problem is a small search.
func problem(t testing.TB, levels, bits int, r, sigma float64) Options {
	return Options{Levels: levels, Bits: bits, Prior: theory.Uniform(levels), Column: mixture(t, levels, r, sigma),
		Seed: 3, Steps: 20000}
}

// exact is the expected error of a code by the theory package.
func exact(t testing.TB, c *code.Code, o Options) (mean, variance float64) {
	t.Helper()
	d := must.Get(decode.New("gen", c))(t)
	e := mat.NewDense(o.Levels, o.Bits, nil)
	column := make([]float64, o.Levels)
	for k, at := range c.Transitions() {
		o.Column(column, k, at)
		e.SetCol(k, column)
	}
	law := must.Get(theory.NewLaw(t.Context(), math.MaxInt, c, d))(t)
	means := must.Get(law.Means(t.Context(), 0, nil, e, cost.Cost{}))(t)
	squares := must.Get(law.Means(t.Context(), 0, nil, e, cost.Cost{}.Squared()))(t)
	for n, m := range means {
		mean += o.Prior[n] * m
		variance += o.Prior[n] * o.Prior[n] * (squares[n] - m*m)
	}
	return mean, variance
}

// objective is one without samples.
func objective(of func(context.Context, *code.Code) (float64, error)) Objective {
	return func(int, int, uint64) (func(context.Context, *code.Code) (float64, error), error) { return of, nil }
}

// TestEvaluators: sums over all outputs are the exact value, and samples are within 6
// standard errors of it, a false alarm of 2·10⁻⁹ a code. A Latin hypercube's
// variance is at most S/(S−1) of that of independent samples (Owen, 1997).
func TestEvaluators(t *testing.T) {
	for _, at := range []struct {
		levels, bits int
		r, sigma     float64
	}{{12, 7, 0.6, 1.5}, {20, 10, 0.9, 1}, {16, 12, 1.2, 2}} {
		o := problem(t, at.levels, at.bits, at.r, at.sigma)
		o.Prior[0], o.Prior[1] = 0, 2*o.Prior[1]
		checked := 0
		for _, s := range must.Get(o.starts(t.Context(), o.rng(1, 1)))(t) {
			c := must.Get(s.words.code(s.Start))(t)
			got, _ := o.exactly().reset(t.Context(), s.words)
			if math.IsInf(got, 1) {
				continue
			}
			checked++
			want, variance := exact(t, c, o)
			// Sums of 2^M products of M factors, each within 2^-53.
			tolerance := float64(o.Bits+10) * 0x1p-52 * float64(o.Levels)
			must.Near(t, s.Start+", enumerated", want, got, tolerance)
			const size = 1 << 12
			sampled, _ := o.newSampled(size, 9).reset(t.Context(), s.words)
			must.Near(t, s.Start+", sampled", want, sampled, 6*math.Sqrt(variance/(size-1)))
		}
		if checked < 5 {
			t.Errorf("%v: only %d codes were valid", at, checked)
		}
	}
}

// TestOrder: the order of the samples counts each of them once, and the orders of two
// bits have nothing to do with each other: of the first a samples of one and the
// first b of another, a·b/S are the same in the mean.
func TestOrder(t *testing.T) {
	o := Options{Levels: 2, Bits: 2}
	for size := 2; size <= 1<<12; size *= 2 {
		order := o.newSampled(size, 0).samples(1, 1)
		seen := make([]bool, size)
		for i := range size {
			seen[order.at(int32(i))] = true
		}
		if x := slices.Index(seen, false); x >= 0 {
			t.Fatalf("of %d samples, %d is not in the order", size, x)
		}
	}
	const size, first, pairs = 256, 40, 4000
	s := o.newSampled(size, 0)
	sum, squares := 0.0, 0.0
	for n := range pairs {
		in, order, other := map[int]bool{}, s.samples(n, 0), s.samples(n, 1)
		for i := range int32(first) {
			in[order.at(i)] = true
		}
		both := 0.0
		for i := range int32(first) {
			if in[other.at(i)] {
				both++
			}
		}
		sum += both
		squares += both * both
	}
	mean := sum / pairs
	// Hypergeometric; 6 standard errors of the mean, and of the variance as of a normal one.
	p := float64(first) / size
	wantMean, wantVar := first*p, first*p*(1-p)*(size-first)/(size-1)
	must.Near(t, "samples in which two bits err together", wantMean, mean, 6*math.Sqrt(wantVar/pairs))
	must.Near(t, "variance", wantVar, squares/pairs-mean*mean, 6*wantVar*math.Sqrt(2.0/pairs))
}

// TestOptimum: on small problems the search finds what trying every code finds.
func TestOptimum(t *testing.T) {
	for _, at := range []struct {
		levels, bits int
		r, sigma     float64
	}{{5, 4, 0.6, 1.5}, {5, 4, 1.2, 0.8}, {5, 4, 0.3, 3}, {6, 3, 0.5, 1}} {
		o := problem(t, at.levels, at.bits, at.r, at.sigma)
		o.Prior = []float64{0.1, 0.3, 0.15, 0.25, 0.2, 0}[:at.levels]
		if at.levels == 6 {
			o.Prior = theory.Uniform(6)
		}
		found := must.Get(search(context.Background(), o))(t)
		// Level 1 may be the word 0: inverting a column changes nothing.
		best, w := math.Inf(1), newWords(at.levels, at.bits, false)
		x := o.exactly()
		var choose func(level int)
		choose = func(level int) {
			if level == at.levels {
				v, _ := x.reset(t.Context(), w)
				best = min(best, v)
				return
			}
			for word := range uint64(1) << at.bits {
				if !slices.Contains(w.rows[:level], word) {
					w.rows[level] = word
					choose(level + 1)
				}
			}
		}
		choose(1)
		must.Near(t, fmt.Sprintf("%v: found from %s", at, found.Start), best, found.Mean, 1e-12)
		got, _ := exact(t, found.Code, o)
		must.Near(t, fmt.Sprintf("%v: error of the code found", at), best, got, 1e-12)
	}
}

// begin is a named code to begin from.
func begin(t *testing.T, o *Options, name string) []candidate {
	t.Helper()
	return []candidate{newCandidate(name, o.wordsOf(must.Get(code.New(name, o.Levels))(t)))}
}

// TestHot: of the chains that begin from a code in a valley, the hot ones leave it. Chains that are
// all as cold as the coldest end at 0.567 levels.
func TestHot(t *testing.T) {
	o := problem(t, 16, 6, 0.6, 1.5)
	o.Steps = 6000
	if found := must.Get(o.from(t.Context(), begin(t, &o, "binary")))(t); found.Mean > 0.555 {
		t.Errorf("from binary: %v", found.Mean)
	}
}

// same reports whether two searches have ended alike.
func same(a, b *candidate) bool {
	return a.Mean == b.Mean && a.Start == b.Start && mat.Equal(a.Code, b.Code)
}

// TestWorkers: seed and steps decide, not the number of workers; another seed finds
// something else.
func TestWorkers(t *testing.T) {
	for _, at := range []struct{ levels, bits int }{{12, 6}, {24, 13}, {10, 64}} {
		o := problem(t, at.levels, at.bits, 0.6, 1.5)
		o.Steps = 600
		var results []*candidate
		for _, workers := range []int{1, 5} {
			o.Workers = workers
			found := must.Get(search(context.Background(), o))(t)
			results = append(results, found)
		}
		if !same(results[0], results[1]) {
			t.Errorf("%v: the result depends on the number of workers", at)
		}
		if o.Seed++; at.bits > 6 {
			if other, err := search(context.Background(), o); err != nil || same(results[0], other) {
				t.Errorf("%v: another seed finds the same (%v)", at, err)
			}
		}
	}
}

// TestLimits: what is found keeps to the limit of transitions, and is better than the code it started
// from.
func TestLimits(t *testing.T) {
	johnson := must.Get(code.New("johnson", 20))(t)
	o := problem(t, 20, 12, 0.6, 1.5)
	o.Steps, o.MaxTransitions = 4000, 2
	found := must.Get(o.from(t.Context(), begin(t, &o, "johnson")))(t)
	for k, at := range found.Code.Transitions() {
		if len(at) > 2 {
			t.Errorf("bit %d has %d transitions", k+1, len(at))
		}
	}
	begun, _ := o.newSampled(judges, o.seed(forJudges)).reset(t.Context(), o.wordsOf(johnson))
	if found.Mean >= begun {
		t.Errorf("two more bits make no difference: %v, johnson has %v", found.Mean, begun)
	}
}

// TestStarts: whatever a search begins from has distinct words and keeps to the limit.
func TestStarts(t *testing.T) {
	for _, at := range []struct{ levels, bits, limit int }{{64, 6, 0}, {64, 12, 6}, {100, 40, 4}, {64, 63, 1},
		{256, 64, 0}, {3, 2, 0}, {2, 1, 1}} {
		o := problem(t, at.levels, at.bits, 0.3, 1.5)
		o.MaxTransitions = at.limit
		starts := must.Get(o.starts(t.Context(), o.rng(0, 0)))(t)
		if len(starts) == 0 {
			t.Errorf("%v: nothing to begin from", at)
		}
		for _, s := range starts {
			if s.words.levels != at.levels || s.words.bits != at.bits || !o.fits(s.words) {
				t.Errorf("%v: %s does not fit", at, s.Start)
			}
		}
	}
}

// TestGiven: another error than the package's own is minimized: here, the transitions above the
// smallest number, one for each pair of neighbours. A search that has found a code without an error
// ends, for nothing is better.
func TestGiven(t *testing.T) {
	o := problem(t, 10, 5, 0.4, 1)
	o.Steps = 1 << 50 // would not end
	o.Objective = objective(func(_ context.Context, c *code.Code) (float64, error) {
		return float64(c.TransitionCount() - 9), nil
	})
	found, err := search(context.Background(), o)
	if err != nil || found.Mean != 0 {
		t.Errorf("%v, %v; want a code of 9 transitions", found, err)
	}
	o.Steps = 3000
	failure := errors.New("no luck")
	o.Objective = objective(func(context.Context, *code.Code) (float64, error) { return 0, failure })
	if _, err := search(context.Background(), o); !errors.Is(err, failure) {
		t.Errorf("error %v", err)
	}
}

// TestEnd: a search that is ended gives the best until then, at once.
func TestEnd(t *testing.T) {
	o := problem(t, 40, 14, 0.6, 1.5)
	o.Steps = 1 << 40
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	tried := uint64(0)
	o.Progress = func(n uint64, best float64) {
		if tried += n; tried > 3000 {
			cancel()
		}
		if math.IsNaN(best) || best <= 0 {
			t.Errorf("best so far: %v", best)
		}
	}
	found, err := search(ctx, o)
	if !errors.Is(err, context.Canceled) || found == nil {
		t.Fatalf("%v, %v", found, err)
	}
	// Of an error that itself ends with the context: transitions, of which there are
	// fewer the longer the search lasts.
	o = problem(t, 40, 14, 0.4, 1)
	o.Steps = 1 << 40
	ctx, cancel = context.WithCancel(context.Background())
	defer cancel()
	least := math.Inf(1)
	o.Progress = func(_ uint64, best float64) {
		if least = min(least, best); best < 60 {
			cancel()
		}
	}
	o.Objective = objective(func(ctx context.Context, c *code.Code) (float64, error) {
		return float64(c.TransitionCount()), ctx.Err()
	})
	found, err = o.from(ctx, begin(t, &o, "binary"))
	if !errors.Is(err, context.Canceled) || found == nil || float64(found.Code.TransitionCount()) > least {
		t.Errorf("%v, %v: the search had come down to %v", found, err, least)
	}
	// While codes to begin from are made, and in the samples of one of them: both take seconds here.
	o = problem(t, 4096, 64, 0.6, 1.5)
	for _, after := range []time.Duration{0, 200 * time.Millisecond} {
		ctx, cancel = context.WithCancel(context.Background())
		began := time.AfterFunc(after, cancel)
		defer began.Stop()
		at := time.Now()
		if _, err := search(ctx, o); !errors.Is(err, context.Canceled) || time.Since(at) > after+3*time.Second {
			t.Errorf("ended after %v, the search of a large code ends after %v: %v", after, time.Since(at), err)
		}
	}
	evaluated, err := o.evaluator(guides, 1)
	must.Succeed(t, err)
	cancel()
	if _, err := evaluated.update(ctx, newWords(4096, 64, false), nil); err == nil {
		t.Error("an update looks at no context")
	}
}

func TestCheck(t *testing.T) {
	for want, change := range map[string]func(*Options){
		"3 bits": func(o *Options) { o.Bits = 3 }, "7 bits with at most 1": func(o *Options) { o.Bits, o.MaxTransitions = 7, 1 },
		"at most":      func(o *Options) { o.Bits = maxBits + 1 },
		"-3 bits":      func(o *Options) { o.Bits = -3 },
		"no code of 9": func(o *Options) { o.Column = mixture(t, 9, 3, 0.5) },
	} {
		o := problem(t, 9, 8, 0.6, 1.5)
		o.Steps = 10
		change(&o)
		must.Refuse(search(context.Background(), o))(t, want)
	}
}

// TestDraw: of each column, exactly the first samples of its order err.
func TestDraw(t *testing.T) {
	for _, size := range []int{8, 32, 512} {
		for _, bits := range []int{1, 17, 64} {
			o := Options{Levels: 3, Bits: bits, Prior: theory.Uniform(3)}
			s := o.newSampled(size, 0)
			rng := rand.New(rand.NewPCG(uint64(size), uint64(bits)))
			want := make([]uint64, size)
			for k := range bits {
				count := int32(rng.Float64() * float64(size))
				s.counts[2*bits+k] = count
				order := s.samples(2, k)
				for i := range count {
					want[order.at(i)] |= 1 << k
				}
			}
			for i := range s.flips {
				s.flips[i] = rng.Uint64() // of the level before
			}
			if s.begin(newWords(3, bits, false), 2); !slices.Equal(s.flips[2*len(want):], want) {
				t.Errorf("%d samples of %d bits: other samples err", size, bits)
			}
		}
	}
}

// TestScreen: of the moves that are accepted, the screen loses 1 % at most, and of the others it lets
// a fifth pass. Without the standard error of the difference it loses 6 %, and with three of them a
// third passes.
func TestScreen(t *testing.T) {
	const levels, bits = 40, 14
	for samples, passing := range map[int]float64{8: 0.7, 32: 0.2} {
		o := problem(t, levels, bits, 0.9, 1)
		rng := rand.New(rand.NewPCG(1, 1))
		few := &screen{sampled: o.newSampled(samples, 3)}
		a := &annealing{chain: newChain(o.digits(6), &o), rng: rng}
		truth := o.newSampled(512, 4)
		few.error, _ = few.reset(t.Context(), a.words)
		a.error, _ = truth.reset(t.Context(), a.words)
		loss := 0.03 * a.error
		var accepted, lost, others, passed float64
		for range 3000 {
			if a.propose(rng) {
				is, _ := truth.update(t.Context(), a.words, &a.move)
				few.seen, _ = few.update(t.Context(), a.words, &a.move)
				switch out := few.out(loss); {
				case is <= a.error+loss && out:
					lost++
					fallthrough
				case is <= a.error+loss:
					accepted++
				case !out:
					passed++
					fallthrough
				default:
					others++
				}
				truth.reject()
				few.reject()
			}
			a.undo()
		}
		if accepted < 200 || lost > 0.01*accepted || passed > passing*others {
			t.Errorf("%d samples: %v of %v moves that are accepted are lost, %v of %v others pass", samples, lost, accepted,
				passed, others)
		}
	}
}

// BenchmarkMove is a move and its evaluation by few samples, by which most moves are rejected, and by many.
func BenchmarkMove(b *testing.B) {
	o := problem(b, 64, 16, 0.6, 1.5)
	for _, size := range []int{8, 32, 256, 1024} {
		b.Run(strconv.Itoa(size), func(b *testing.B) {
			s, rng := o.newSampled(size, 3), rand.New(rand.NewPCG(1, 1))
			c := newChain(o.digits(4), &o)
			if _, err := s.reset(b.Context(), c.words); err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				if c.propose(rng) {
					if _, err := s.update(b.Context(), c.words, &c.move); err != nil {
						b.Fatal(err)
					}
					s.reject()
				}
				c.undo()
			}
		})
	}
}

// draws is a sampling for tests.
func draws(samples uint64) montecarlo.Sampling {
	draw := montecarlo.FixedSampling()
	draw.Samples = samples
	return draw
}

// ignore is progress that nobody follows.
func ignore(uint64, float64) {}

// optimizer returns an Optimizer for a mixture.
func optimizer(t *testing.T, r, sigma float64, o Options) *Optimizer {
	t.Helper()
	return must.Get(NewOptimizer(scenario.New(scenario.Mixture{R: r, Sigma: sigma}), "gen", draws(2000), o))(t)
}

// TestFind: the code is estimated by the given seed and number of samples, beside all named
// codes of no more bits, in order. A code of the caller's is beside them, and one to begin from.
func TestFind(t *testing.T) {
	p := optimizer(t, 0.6, 1.5, Options{Levels: 12, Bits: 7, Steps: 2000})
	found := must.Get(p.Find(t.Context(), montecarlo.CPU{}, ignore))(t)
	must.Succeed(t, found.Interrupted())
	s := scenario.New(scenario.Mixture{R: 0.6, Sigma: 1.5})
	s.Prior.Fitted = p.Options.Prior
	candidates := must.Get(compare.NewCandidates(t.Context(), s, []*code.Code{found.Found}, []string{"gen"}, draws(2000)))(t)
	same := must.Get(compare.Rank(t.Context(), s, montecarlo.Run{Backend: montecarlo.CPU{}}, candidates, draws(2000)))(t)
	want, r := *found, same.Results[0]
	want.Mean, want.StdErr, want.Exact, want.Design = r.Mean, r.StdErr, r.Exact, r.Design
	want.Steps, want.Bits, want.Outputs, want.Stopped = 2000, 7, decode.Bits, false
	must.Equal(t, "found", want, *found, cmpopts.IgnoreUnexported(Estimate{}), cmpopts.IgnoreFields(*found, "Found"))
	var names []string
	for i, b := range found.Baselines {
		names = append(names, b.Code)
		if b.Bits > 7 || i > 0 && b.Mean < found.Baselines[i-1].Mean {
			t.Errorf("baseline %d: %+v", i+1, b)
		}
	}
	for _, f := range code.Families() {
		if slices.Contains(names, f.Name) != (f.Bits(12) <= 7) {
			t.Errorf("%s of %d bits: baselines %v", f.Name, f.Bits(12), names)
		}
	}
	if found.Improvement < 0 || found.ImprovementCI[0] != found.ImprovementCI[1] {
		t.Errorf("improvement %v, %v: both codes have exact values", found.Improvement, found.ImprovementCI)
	}
	p = optimizer(t, 0.6, 1.5, Options{Levels: 12, Bits: 7, Steps: 1, Codes: []*code.Code{found.Found.As("mine")}})
	again := must.Get(p.Find(t.Context(), montecarlo.CPU{}, ignore))(t)
	must.Equal(t, "start, first baseline", []string{"mine", "mine"}, []string{again.Start, again.Baselines[0].Code})
}

// TestNeverWorse: what a random small search answers is, by what it reports, never worse than a
// named code that it could begin from.
func TestNeverWorse(t *testing.T) {
	searches := 16
	if long {
		searches = 30
	}
	rng, compared := rand.New(rand.NewPCG(1, 2)), 0
	for range searches {
		levels, sigma := 3+rng.IntN(12), 0.5+4*rng.Float64()
		s := scenario.New(scenario.Mixture{R: sigma * rng.Float64(), Sigma: sigma})
		if s.Outputs = decode.Bits; rng.IntN(2) == 0 {
			s.Outputs = decode.Logits
		}
		if rng.IntN(4) == 0 {
			outputs := s.Outputs
			s = network(sigma, head.BCE)
			s.Outputs = outputs
		}
		o := Options{Levels: levels, Bits: leastBits(levels) + rng.IntN(1+levels), Steps: 1 + rng.Uint64N(200),
			MaxTransitions: rng.IntN(2) * (2 + rng.IntN(6))}
		draw := draws(200)
		draw.Seed = rng.Uint64()
		p := must.Get(NewOptimizer(s, "gen", draw, o))(t)
		found, err := p.Find(t.Context(), montecarlo.CPU{}, ignore)
		if err != nil && strings.HasPrefix(err.Error(), "impossible") { // all codes have probabilities above 1
			continue
		}
		must.Succeed(t, err)
		for _, c := range must.Get(p.Options.known())(t) {
			c.Code = must.Get(c.words.code(c.Start))(t)
			e, err := p.estimate(t.Context(), montecarlo.CPU{}, c.Code)
			if errmodel.Invalid(err) {
				continue
			}
			must.Succeed(t, err)
			if compared++; !(found.best() <= e.best()) {
				t.Errorf("%d levels, %d bits, %v: found %+v, and %s has %+v", levels, found.Bits, s, found.Estimate,
					c.Start, e)
			}
		}
	}
	if compared < 2*searches {
		t.Errorf("%d comparisons", compared)
	}
}

// TestObjective: codes that are decoded from logits are searched by samples of the scenario; gen on
// independent bits is not.
func TestObjective(t *testing.T) {
	for want, set := range map[string]func(s *scenario.Scenario) (decoder string){
		"gen":    func(*scenario.Scenario) string { return "gen" },
		"gen-ex": func(*scenario.Scenario) string { return "gen-ex" },
		"logits": func(s *scenario.Scenario) string { s.Outputs = decode.Logits; return "gen" },
		"model by code": func(s *scenario.Scenario) string { // and invalid for most codes
			s.Model = byCode{scenario.Mixture{R: 1.5, Sigma: 0.6}}
			return "gen"
		},
	} {
		s := scenario.New(scenario.Mixture{R: 0.6, Sigma: 1.5})
		decoder := set(s)
		p := must.Get(NewOptimizer(s, decoder, draws(200), Options{Levels: 9, Bits: 8, Steps: 20}))(t)
		if (p.Options.Objective != nil) != (want != "gen") {
			t.Errorf("%s: sampled objective %v", want, p.Options.Objective != nil)
		}
		if _, err := p.Find(t.Context(), montecarlo.CPU{}, ignore); err != nil {
			t.Errorf("%s: %v", want, err)
		}
	}
}

// byCode is a model that says nothing about single bits.
type byCode struct{ scenario.Model }

// TestRemarks: a code of many transitions has the warning of a comparison; not a code that networks can
// learn, and not where no mixture ranks codes.
func TestRemarks(t *testing.T) {
	r := 0.6
	for _, tt := range []struct {
		name   string
		levels int
		r      *float64
		want   string
	}{
		{"hadamard", 32, &r, code.LearnedBadly(code.Learned{Name: "hadamard", Transitions: 15.5})},
		{"hadamard", 32, nil, ""}, {"unary", 32, &r, ""},
	} {
		c := must.Get(code.New(tt.name, tt.levels))(t)
		o := &Optimized{Design: scenario.Design{Code: tt.name, Transitions: c.TransitionsPerBit()}, Found: c,
			Parameters: scenario.Parameters{R: tt.r}}
		o.Improvement = math.NaN()
		text := strings.Join(o.Remarks(), "\n")
		if strings.Contains(text, "badly") != (tt.want != "") || !strings.Contains(text, tt.want) {
			t.Errorf("%s: %q, want %q", tt.name, text, tt.want)
		}
	}
}

// TestTable: a table wants codes of as many bits as it has columns.
func TestTable(t *testing.T) {
	path := filepath.Join(t.TempDir(), "e.csv")
	must.Succeed(t, os.WriteFile(path, []byte(strings.Repeat("0,0.5,0,0.5,0\n", 6)), 0o644))
	s := scenario.New(scenario.NewTable(path))
	p := must.Get(NewOptimizer(s, "gen", draws(500), Options{Levels: 6, Steps: 3000}))(t)
	must.Succeed(t, os.Remove(path)) // it was read
	found := must.Get(p.Find(t.Context(), montecarlo.CPU{}, ignore))(t)
	if found.Bits != 5 || found.R != nil {
		t.Errorf("found %d bits, want 5; r is %v, want none", found.Bits, found.R)
	}
	for _, b := range found.Baselines {
		if b.Bits != 5 {
			t.Errorf("%s has %d bits", b.Code, b.Bits)
		}
	}
	s.Model = scenario.NewTable(path)
	if _, err := NewOptimizer(s, "gen", draws(500), Options{Levels: 6}); err == nil {
		t.Error("a table without a file is taken")
	}
	var value *refuse.Value
	if _, err := NewOptimizer(s, "gen", draws(500), Options{Levels: 1}); !errors.As(err, &value) ||
		value.Name != "levels" {
		t.Errorf("one level: %v", err)
	}
}

// TestImprovement: the interval of the delta method, exact values, and the cases
// without an interval.
func TestImprovement(t *testing.T) {
	none := math.NaN()
	half := 196 * math.Sqrt(0.01*0.01+0.8*0.8*0.02*0.02)
	of := func(mean, stderr, exact float64) Estimate { return Estimate{Mean: mean, StdErr: stderr, Exact: exact} }
	for name, tt := range map[string]struct {
		found, named Estimate
		want         [3]float64 // with both ends of the interval
	}{
		"sampled":              {of(0.8, 0.01, none), of(1, 0.02, none), [3]float64{20, 20 - half, 20 + half}},
		"exact":                {of(0.8, 0.01, 0.75), of(1, 0.02, 1), [3]float64{25, 25, 25}},
		"no sample was wrong":  {of(0, 0, none), of(1, 0.1, none), [3]float64{none, none, none}},
		"over no error":        {of(0.5, 0.1, none), of(0, 0, none), [3]float64{none, none, none}},
		"over an invalid code": {of(0.5, 0.1, none), of(none, none, none), [3]float64{none, none, none}},
	} {
		percent, interval := tt.found.improvement(tt.named)
		must.Equal(t, name, tt.want, [3]float64{percent, interval[0], interval[1]}, cmpopts.EquateApprox(0, 1e-9))
	}
}

// network is a scenario of networks with so much label noise.
func network(noise float64, t head.Training) *scenario.Scenario {
	s := scenario.New(nil)
	s.Network = &scenario.Network{Model: perceived.Model{Noise: noise, Misfit: 0.25, Training: t}}
	return s
}

// TestLearned: codes for networks that know a perceived label are found on any number of workers,
// have no constant column, and have the forecast of package forecast. They are not worse than the
// named ones.
func TestLearned(t *testing.T) {
	for _, training := range []head.Training{head.BCE, head.CE} {
		s := network(0.9, training)
		decoder := "gen"
		if training == head.CE {
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
		if training == head.CE { // takes long, and its steps are divided among workers in the same way
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
