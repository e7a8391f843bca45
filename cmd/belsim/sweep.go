package main

import (
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"belsim/errmodel"
	"belsim/montecarlo"
	"belsim/montecarlo/sweep"
)

type sweepCmd struct {
	Plan       string        `arg:"" optional:"" name:"plan" help:"The plan, a .json file; --init prints an example."`
	Out        string        `placeholder:"FOLDER" help:"Folder of the results, a file for each shard; it is made where there is none."`
	Shard      string        `placeholder:"i/N" help:"Take part i of N, i from 1 (default: what SLURM_ARRAY_TASK_ID or JOB_COMPLETION_INDEX says, else the whole)."`
	Shards     int           `placeholder:"N" help:"Number of shards, where the environment says which; with --print, that of the job."`
	Init       bool          `help:"Print an example of a plan, which runs in seconds, and end."`
	List       bool          `help:"List the cells of the plan, or of the shard, as CSV, and end."`
	Print      string        `enum:",slurm,kubernetes" default:"" placeholder:"ENGINE" help:"Print the job for the plan, and end: slurm, the script of an array, or kubernetes, the manifest of an Indexed Job."`
	GPU        bool          `name:"gpu" help:"With --print: one GPU for each shard, and --backend cuda."`
	Image      string        `default:"belsim:latest" help:"With --print kubernetes: the container image (default: ${default})."`
	FlushEvery time.Duration `default:"10s" help:"How often what was finished is written, at least while that takes no more than a twentieth of the time (default: ${default})."`
	backendFlags
	Quiet bool `short:"q" help:"No progress and no notes on standard error."`
}

func (sweepCmd) Help() string {
	return `Every code with every decoder, at every number of levels, r and σ of a plan, by every method. What is finished is in one file in --out, which is always whole: killed at any moment, the same command goes on from there, and a complete sweep ends at once. With --shard i/N it computes part i of N. Shards can run anywhere; 'belsim merge' puts their files together, and the numbers are the same to the last bit however many there were. SIGTERM and SIGUSR1 end it with exit code 143 when what was finished is safe.

Examples:

  belsim sweep --init

  belsim sweep testdata/sweep/plan.json --out results

  belsim sweep testdata/sweep/plan.json --out results --shards 8 --print slurm`
}

// Run implements the command.
func (cmd *sweepCmd) Run(ctx context.Context, env *environment) error {
	if cmd.Init {
		if cmd.Plan != "" {
			return fmt.Errorf("%s: --init prints a plan, and reads none; 'belsim sweep --init > %s' writes it", cmd.Plan, cmd.Plan)
		}
		_, err := fmt.Fprint(env.stdout, examplePlan)
		return outside(err)
	}
	if cmd.Plan == "" {
		return errors.New("want a plan, a .json file; 'belsim sweep --init' prints an example")
	}
	if cmd.FlushEvery <= 0 {
		return fmt.Errorf("--flush-every %v: want a time above zero", cmd.FlushEvery)
	}
	restore, err := cmd.use()
	if err != nil {
		return err
	}
	defer restore()
	f, err := readPlan(cmd.Plan)
	if err != nil {
		return err
	}
	s, pairs, notes, err := f.open(ctx)
	if err != nil {
		return err
	}
	if len(notes) > 0 && !cmd.Quiet {
		const most = 3
		text := strings.Join(notes[:min(most, len(notes))], "; ")
		if more := len(notes) - most; more > 0 {
			text += fmt.Sprintf("; and %d more", more)
		}
		fmt.Fprintf(env.stderr, "belsim: note: %s: left out: %s\n", cmd.Plan, text)
	}
	if cmd.Print != "" {
		return cmd.printJob(env, f, s)
	}
	i, n, err := whichShard(cmd.Shard, cmd.Shards, os.Getenv)
	if err != nil {
		return err
	}
	if cmd.List {
		return listTasks(ctx, env, s, s.Part(i, n))
	}
	if cmd.Out == "" {
		return errors.New("want --out, a folder for the results")
	}
	return cmd.work(ctx, env, s, pairs, i, n)
}

// environmental marks what the system refused as the environment's.
func environmental(err error) error {
	var path *fs.PathError
	var link *os.LinkError
	if errors.As(err, &path) || errors.As(err, &link) {
		return outside(err)
	}
	return err
}

// work computes what the shard's file does not have.
func (cmd *sweepCmd) work(ctx context.Context, env *environment, s *sweep.Sweep, pairs []opened, i, n int) error {
	shard, err := s.Open(cmd.Out, i, n)
	if err != nil {
		return environmental(err)
	}
	todo, all, err := shard.Todo()
	if err != nil {
		return environmental(err)
	}
	fmt.Fprintf(env.stdout, "plan %.12s: %d cells; shard %d of %d: %d %s, %d finished before\n",
		s.ID, s.Tasks(), i, n, all, plural(all, "piece"), all-len(todo))
	if others := shard.Others(); len(others) > 0 && !cmd.Quiet {
		fmt.Fprintf(env.stderr, "belsim: note: %s has shards of %v of this plan too: cells may be computed twice, and are counted once\n", cmd.Out, others)
	}
	if all == 0 {
		fmt.Fprintf(env.stdout, "complete: there are %d pieces, and more shards\n", s.Pieces())
		return nil
	}
	if len(todo) == 0 {
		shard.Finish()
		fmt.Fprintf(env.stdout, "complete: %s\n", shard.Path())
		return nil
	}
	if err := shard.Probe(); err != nil {
		return environmental(err)
	}
	backend, err := cmd.open(env, cmd.Quiet)
	if err != nil {
		return err
	}
	defer backend.Close()
	bar := env.newProgress(cmd.Quiet, plural(2, "piece"), uint64(len(todo)))
	defer bar.stop()
	// Once more only where another process replaced the file in the same moment.
	for len(todo) > 0 {
		c := &computation{s: s, pairs: pairs, shard: shard, backend: backend, bar: bar}
		if err := c.run(ctx, todo, cmd.FlushEvery); err != nil {
			bar.stop()
			return cmd.stopped(ctx, shard, err)
		}
		if todo, _, err = shard.Todo(); err != nil {
			return environmental(err)
		}
	}
	bar.stop()
	shard.Finish()
	fmt.Fprintf(env.stdout, "complete: %s\n", shard.Path())
	return nil
}

func plural(n int, what string) string {
	if n == 1 {
		return what
	}
	return what + "s"
}

// stopped makes what was finished safe after an error, most often an interruption.
func (cmd *sweepCmd) stopped(ctx context.Context, shard *sweep.Shard, err error) error {
	if ctx.Err() == nil {
		var outside environmentError
		if errors.As(err, &outside) { // of the backend: what was finished is good
			return errors.Join(err, shard.Flush())
		}
		return environmental(err)
	}
	if err := shard.Flush(); err != nil {
		return fmt.Errorf("what was finished lately is lost: %w", err)
	}
	todo, all, err := shard.Todo()
	if err != nil {
		return err
	}
	return fmt.Errorf("%d of %d %s are safe in %s; the same command goes on from there", all-len(todo), all, plural(all, "piece"), shard.Path())
}

// computation computes pieces of a shard.
type computation struct {
	s       *sweep.Sweep
	pairs   []opened
	shard   *sweep.Shard
	backend montecarlo.Backend
	bar     *progress
}

// run computes pieces and writes them into the file of the shard as time goes by.
func (c *computation) run(ctx context.Context, todo []sweep.Piece, every time.Duration) error {
	var theory, samples []sweep.Piece
	for _, p := range todo {
		if c.s.Task(p.Task).Method == sweep.Sample {
			samples = append(samples, p)
		} else {
			theory = append(theory, p)
		}
	}
	work, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	kept := make(chan struct{})
	go func() {
		defer close(kept)
		if err := c.shard.Keep(work, every); err != nil {
			cancel(err)
		}
	}()
	err := c.theory(work, theory)
	if err == nil && c.s.RelErr > 0 {
		err = c.estimate(work, samples)
	} else if err == nil {
		err = c.sample(work, samples)
	}
	if cause := context.Cause(work); cause != nil && ctx.Err() == nil {
		err = cause // the file could not be written
	}
	cancel(nil)
	<-kept
	if err != nil {
		return err
	}
	return c.shard.Flush()
}

// add takes a result.
func (c *computation) add(r sweep.Result) {
	c.shard.Add(r)
	c.bar.add(1)
}

// profiles remembers the profile of the cells computed last, whose neighbours have the
// same. It belongs to one goroutine.
type profiles struct {
	pair    int
	sigma   float64
	profile *errmodel.Profile
}

// problem is what is asked of a cell; nil where r and σ give a probability above 1.
func (c *computation) problem(ctx context.Context, last *profiles, t sweep.Task) (*montecarlo.Problem, error) {
	pair := c.pairs[t.Pair]
	if last.profile == nil || last.pair != t.Pair || last.sigma != t.Sigma {
		p, err := errmodel.NewProfile(ctx, pair.code.Levels(), pair.positions, t.Sigma)
		if err != nil {
			return nil, err
		}
		*last = profiles{t.Pair, t.Sigma, p}
	}
	if !last.profile.Valid(t.R) {
		return nil, nil
	}
	e, err := last.profile.Mixture(t.R)
	if err != nil {
		return nil, err
	}
	latent, err := pair.latent.latent(pair.code, pair.decoder, e)
	if errors.Is(err, errBetween) {
		return nil, nil
	}
	return &montecarlo.Problem{
		Code: pair.code, Decoder: pair.decoder, Errors: e, Seed: c.s.Seed, Within: c.s.Within, Latent: latent,
	}, err
}

// theory computes bounds and exact values, some neighbouring cells at a time on every
// processor.
func (c *computation) theory(ctx context.Context, pieces []sweep.Piece) error {
	const chunk = 32
	var next atomic.Int64
	g, ctx := errgroup.WithContext(ctx)
	for range runtime.GOMAXPROCS(0) {
		g.Go(func() error {
			var last profiles
			means := map[[2]int]mean{}
			for {
				at := int(next.Add(chunk)) - chunk
				if at >= len(pieces) {
					return nil
				}
				for _, p := range pieces[at:min(at+chunk, len(pieces))] {
					if err := ctx.Err(); err != nil {
						return err
					}
					if err := c.value(ctx, &last, means, p); err != nil {
						return err
					}
				}
			}
		})
	}
	return g.Wait()
}

// value computes one cell of theory.
func (c *computation) value(ctx context.Context, last *profiles, means map[[2]int]mean, p sweep.Piece) error {
	t := c.s.Task(p.Task)
	problem, err := c.problem(ctx, last, t)
	if err != nil {
		return err
	}
	if problem == nil {
		c.add(sweep.Result{Piece: p, Invalid: true})
		return nil
	}
	pair := c.pairs[t.Pair]
	key := [2]int{t.Pair, slices.Index(c.s.Pairs[t.Pair].Methods, t.Method)}
	of := means[key]
	if of == nil {
		if of, err = pair.mean(t.Method, problem); err != nil {
			return err
		}
		means[key] = of
	}
	value, err := of(ctx, problem)
	if err == nil {
		c.add(sweep.Result{Piece: p, Value: value})
	}
	return err
}

// mean is the mean error of a pair over the prior. It belongs to one goroutine.
type mean func(ctx context.Context, p *montecarlo.Problem) (float64, error)

// largeTable is the size of a table of probabilities above which the levels of one cell are
// shared by all processors, and an interruption need not wait for the cell.
const largeTable = 1 << 20

func (p opened) mean(method string, problem *montecarlo.Problem) (mean, error) {
	if p.code.Levels()*p.code.Bits() > largeTable {
		return func(ctx context.Context, q *montecarlo.Problem) (float64, error) {
			th, err := theoryOf(ctx, q)
			if err != nil {
				return 0, err
			}
			bound, exact := average(th, p.prior)
			if method == sweep.Exact {
				return float64(exact), nil
			}
			return float64(bound), nil
		}, nil
	}
	if method == sweep.Exact {
		x, err := exactOf(problem)
		if err != nil {
			return nil, err
		}
		return func(_ context.Context, q *montecarlo.Problem) (float64, error) { return x.Mean(p.prior, q.Errors), nil }, nil
	}
	b, err := boundOf(problem)
	if err != nil {
		return nil, err
	}
	return func(_ context.Context, q *montecarlo.Problem) (float64, error) { return b.Mean(p.prior, q.Errors), nil }, nil
}

// estimate samples cells until they have their relative error, one after another.
func (c *computation) estimate(ctx context.Context, pieces []sweep.Piece) error {
	var last profiles
	for _, p := range pieces {
		if err := ctx.Err(); err != nil {
			return err
		}
		t := c.s.Task(p.Task)
		problem, err := c.problem(ctx, &last, t)
		if err != nil {
			return err
		}
		if problem == nil {
			c.add(sweep.Result{Piece: p, Invalid: true})
			continue
		}
		target := montecarlo.Target{RelErr: c.s.RelErr, Max: c.s.MaxSamples, Prior: c.pairs[t.Pair].prior}
		sums, reached, err := montecarlo.Estimate(ctx, c.backend, problem, target, nil)
		if err != nil {
			return err
		}
		c.add(sweep.Result{Piece: p, Sums: sums, Reached: reached})
	}
	return nil
}

// A batch of cells is sampled in about this time: long enough to keep a device busy, short
// enough that little is lost with a process that is killed.
const batchTime = time.Second

// sample samples cells, many at a time.
func (c *computation) sample(ctx context.Context, pieces []sweep.Piece) error {
	var last profiles
	most := uint64(1 << 22) // samples of a batch; how many are sampled together changes no number
	for len(pieces) > 0 {
		var jobs []montecarlo.Job
		var of []sweep.Piece
		var samples uint64
		rows, taken := 0, 0
		for _, p := range pieces {
			if len(jobs) > 0 && (samples >= most || rows >= sampledRows) {
				break
			}
			taken++
			problem, err := c.problem(ctx, &last, c.s.Task(p.Task))
			if err != nil {
				return err
			}
			if problem == nil {
				c.add(sweep.Result{Piece: p, Invalid: true})
				continue
			}
			job := montecarlo.Job{Problem: problem, Spans: c.s.Spans(p), Sums: make([]montecarlo.Sums, problem.Code.Levels())}
			for _, span := range job.Spans {
				samples += span.Samples
			}
			rows += problem.Code.Levels()
			jobs, of = append(jobs, job), append(of, p)
		}
		pieces = pieces[taken:]
		start := time.Now()
		err := c.backend.Sample(ctx, jobs, nil)
		for i, job := range jobs {
			if err == nil || ctx.Err() != nil && finished(job) {
				c.add(sweep.Result{Piece: of[i], Sums: job.Sums})
			}
		}
		if err != nil {
			return err
		}
		switch took := time.Since(start); {
		case took < batchTime/2 && samples >= most:
			most *= 2
		case took > 2*batchTime:
			most = max(most/2, 1<<20)
		}
	}
	return nil
}

// finished reports whether an interrupted job has all its samples. Its sums hold whole
// blocks only, so none is there by half.
func finished(job montecarlo.Job) bool {
	missing := map[int]uint64{}
	for _, span := range job.Spans {
		missing[span.Row] += span.Samples
	}
	for row, n := range missing {
		if job.Sums[row].Samples != n {
			return false
		}
	}
	return true
}

// listTasks prints the pieces of a shard.
func listTasks(ctx context.Context, env *environment, s *sweep.Sweep, pieces []sweep.Piece) error {
	out := csv.NewWriter(env.stdout)
	out.Write([]string{"id", "part", "parts", "code", "decoder", "levels", "r", "sigma", "method"})
	for at, p := range pieces {
		if at%1000 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		t := s.Task(p.Task)
		pair := s.Pairs[t.Pair]
		out.Write([]string{
			s.TaskID(p.Task).String(), strconv.Itoa(p.Part), strconv.Itoa(s.Parts(p.Task)), pair.Code, pair.Decoder,
			strconv.Itoa(pair.Levels), number(t.R).String(), number(t.Sigma).String(), t.Method,
		})
	}
	out.Flush()
	return outside(out.Error())
}
