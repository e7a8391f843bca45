package search

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"gonum.org/v1/gonum/mat"

	"belsim/errmodel"
	"belsim/errmodel/scenario"
	"belsim/montecarlo"
	"belsim/montecarlo/compare"
	"belsim/theory"
	"belsim/theory/base/must"
	"belsim/theory/base/table"
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
			evaluators = append(evaluators, func() evaluator { return o.newExact() })
		}
		starts := must.Get(o.starts(t.Context(), rng))(t)
		tried := 0
		for i := range len(starts) * len(evaluators) {
			s, anew := starts[i/len(evaluators)], evaluators[i%len(evaluators)]
			x, c := anew(), newChain(s.words.clone(), &o)
			if math.IsInf(x.reset(t.Context(), c.words), 1) {
				continue
			}
			tried++
			for range moves {
				if !c.propose(rng) {
					c.undo()
					continue
				}
				if !c.distinct() || distinctColumns(c.words) < c.bits {
					t.Fatal("a move that was allowed leaves two equal words or columns")
				}
				got := x.update(t.Context(), c.words, c.move)
				if math.IsInf(got, 1) || rng.IntN(2) == 0 {
					x.reject()
					c.undo()
					continue
				}
				if want := anew().reset(t.Context(), c.words); got != want {
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

// exactOf is the expected error of a code by the theory package.
func exactOf(t testing.TB, c *code.Code, o Options) (mean, variance float64) {
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
			got := o.newExact().reset(t.Context(), s.words)
			if math.IsInf(got, 1) {
				continue
			}
			checked++
			want, variance := exactOf(t, c, o)
			// Sums of 2^M products of M factors, each within 2^-53.
			tolerance := float64(o.Bits+10) * 0x1p-52 * float64(o.Levels)
			must.Near(t, s.Start+", enumerated", want, got, tolerance)
			const size = 1 << 12
			sampled := o.newSampled(size, 9).reset(t.Context(), s.words)
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
		order := o.newSampled(size, 0).order(1, 1)
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
		in, order, other := map[int]bool{}, s.order(n, 0), s.order(n, 1)
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
		best, w := math.Inf(1), o.newWords()
		x := o.newExact()
		var choose func(level int)
		choose = func(level int) {
			if level == at.levels {
				if o.fits(w) {
					best = min(best, x.reset(t.Context(), w))
				}
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
		got, _ := exactOf(t, found.Code, o)
		must.Near(t, fmt.Sprintf("%v: error of the code found", at), best, got, 1e-12)
	}
}

// begin is a named code to begin from.
func begin(t *testing.T, o *Options, name string) []candidate {
	t.Helper()
	return []candidate{newCandidate(name, o.wordsOf(must.Get(code.New(name, o.Levels))(t)))}
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
	begun := o.newSampled(judges, o.seed(forJudges)).reset(t.Context(), o.wordsOf(johnson))
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

// BenchmarkMove is a move and its evaluation by few samples, by which most moves are rejected, and by many.
func BenchmarkMove(b *testing.B) {
	o := problem(b, 64, 16, 0.6, 1.5)
	for _, size := range []int{8, 32, 256, 1024} {
		b.Run(strconv.Itoa(size), func(b *testing.B) {
			s, rng := o.newSampled(size, 3), rand.New(rand.NewPCG(1, 1))
			c := newChain(o.digits(4), &o)
			s.reset(b.Context(), c.words)
			for b.Loop() {
				if c.propose(rng) {
					s.update(b.Context(), c.words, c.move)
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
	return must.Get(NewOptimizer(scenario.New(scenario.Mixture{R: r, Sigma: sigma}), draws(2000), o))(t)
}

// distinctColumns counts columns by their texts from the first bit on: two complementary ones have the same
// text. All columns without a transition count as different.
func distinctColumns(w *words) int {
	seen := map[string]bool{}
	for k := range w.bits {
		text, constant := "", true
		for i := range w.rows {
			differs := w.bit(i, k) != w.bit(0, k)
			text, constant = text+strconv.FormatBool(differs), constant && !differs
		}
		if constant {
			text += strconv.Itoa(k)
		}
		seen[text] = true
	}
	return len(seen)
}

// TestRepeat: without Repeat no two columns with transitions are equal or complementary, in what the search
// begins from or in what it finds, and a code that repeats columns is named. With 8 levels and one transition
// a bit there are 7 columns, those of unary, and repeating them all gives a smaller error.
func TestRepeat(t *testing.T) {
	o := problem(t, 8, 14, 0.4, 1)
	o.MaxTransitions, o.Steps = 1, 3000
	unary := must.Get(code.New("unary", 8))(t)
	twice := mat.NewDense(8, 14, nil)
	twice.Augment(unary, unary)
	o.Codes = []*code.Code{unary, must.Get(code.FromMatrix("twice", twice))(t)}
	must.Equal(t, "codes that repeat columns", []*code.Code{o.Codes[1]}, o.Repeating(), gocmp.AllowUnexported(code.Code{}))
	for _, s := range must.Get(o.starts(t.Context(), o.rng(0, 0)))(t) {
		if distinctColumns(s.words) < 14 {
			t.Errorf("%s has equal or complementary columns", s.Start)
		}
	}
	once := must.Get(search(t.Context(), o))(t)
	if distinctColumns(once.words) < 14 {
		t.Errorf("found equal or complementary columns, from %s", once.Start)
	}
	want, _ := exactOf(t, o.wordsOfCode(t, unary), o)
	got, _ := exactOf(t, once.Code, o)
	must.Near(t, "error with 7 columns, that of unary", want, got, 1e-12)
	o.Repeat = true
	again, _ := exactOf(t, must.Get(search(t.Context(), o))(t).Code, o)
	if again > 0.7*got {
		t.Errorf("error %v with repeated columns, %v without", again, got)
	}
}

// wordsOfCode is a code with further bits that never change.
func (o *Options) wordsOfCode(t *testing.T, c *code.Code) *code.Code {
	t.Helper()
	return must.Get(o.wordsOf(c).code(c.Name()))(t)
}

// TestFind: the code is estimated by the given seed and number of samples, beside all named
// codes of no more bits, in order. A code of the caller's is beside them, and one to begin from.
func TestFind(t *testing.T) {
	p := optimizer(t, 0.6, 1.5, Options{Levels: 12, Bits: 7, Steps: 2000})
	found := must.Get(p.Find(t.Context(), ignore))(t)
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
	must.Near(t, "improvement", 100*(1-found.Exact/found.Baselines[0].Exact), found.Improvement, 1e-9)
	p = optimizer(t, 0.6, 1.5, Options{Levels: 12, Bits: 7, Steps: 1, Codes: []*code.Code{found.Found.As("mine")}})
	again := must.Get(p.Find(t.Context(), ignore))(t)
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
		o := Options{Levels: levels, Bits: leastBits(levels) + rng.IntN(1+levels), Steps: 1 + rng.Uint64N(200),
			MaxTransitions: rng.IntN(2) * (2 + rng.IntN(6))}
		draw := draws(200)
		draw.Seed = rng.Uint64()
		p := must.Get(NewOptimizer(s, draw, o))(t)
		found, err := p.Find(t.Context(), ignore)
		if err != nil && strings.HasPrefix(err.Error(), "impossible") { // all codes have probabilities above 1
			continue
		}
		must.Succeed(t, err)
		for _, b := range found.Baselines {
			c := must.Get(code.New(b.Code, levels))(t)
			if _, ok := p.Options.known(c); !ok || table.Missing(b.Mean) {
				continue
			}
			if compared++; !(found.best() <= b.best()) {
				t.Errorf("%d levels, %d bits, %v: found %+v, and %s has %+v", levels, found.Bits, s, found.Estimate, b.Code,
					b.Estimate)
			}
		}
	}
	if compared < 2*searches {
		t.Errorf("%d comparisons", compared)
	}
}

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
