package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"belsim/montecarlo/sweep"
	"belsim/theory/base/position"
)

type sweepCmd struct {
	Plan   string `arg:"" optional:"" name:"plan" reads:"" help:"The plan, a .json file."`
	Out    string `placeholder:"FOLDER" help:"Folder of the results, a file for each shard."`
	Shard  string `placeholder:"i/N" help:"Take part i of N, i from 1 (default: the whole)."`
	Shards int    `placeholder:"N" help:"Number of shards, for --print missing."`
	Print  string `enum:",example,missing,slurm" default:"" placeholder:"WHAT" group:"output" help:"Print instead: ${enum}."`
	backendFlags
}

// Run implements the command.
func (cmd *sweepCmd) Run(ctx context.Context, env *environment) error {
	text, reads := map[string]string{"example": sweep.ExamplePlan, "slurm": sweep.SlurmScript}[cmd.Print], cmd.Plan != ""
	switch {
	case text != "" && reads:
		return fmt.Errorf("%s: --print %s reads no plan", cmd.Plan, cmd.Print)
	case text != "":
		env.stdout.document = true // for a shell
		_, err := fmt.Fprint(env.stdout, text)
		return outside(err)
	case !reads:
		return errors.New("want a plan, a .json file; 'belsim sweep --print example' prints an example")
	}
	plan, err := sweep.ReadPlan(ctx, cmd.Plan, env.decoders)
	if err != nil {
		return err
	}
	if cmd.Print == "missing" {
		return cmd.printMissing(ctx, env, plan)
	}
	cmd.noteLeftOut(env, plan.LeftOut)
	if text := plan.Prior.String(); text != "" {
		env.note("%s: %s", cmd.Plan, text)
	}
	i, n, err := sweep.ParseShard(cmd.Shard)
	switch {
	case err != nil:
		return err
	case cmd.Shards != 0:
		return errors.New("--shards is for --print; want --shard i/N, the part to compute")
	case cmd.Out == "":
		return errors.New("want --out, a folder for the results")
	}
	shard, err := plan.Open(cmd.Out, i, n)
	if err != nil {
		return environmental(err)
	}
	return environmental(cmd.work(ctx, env, shard))
}

// noteLeftOut says which codes, decoders and methods do not go together.
func (cmd *sweepCmd) noteLeftOut(env *environment, leftOut []string) {
	if len(leftOut) == 0 {
		return
	}
	const most = 3
	text := strings.Join(leftOut[:min(most, len(leftOut))], "; ")
	if more := len(leftOut) - most; more > 0 {
		text += fmt.Sprintf("; and %d more", more)
	}
	env.note("%s: left out: %s", cmd.Plan, text)
}

// work computes the cells of a shard that its file does not have.
func (cmd *sweepCmd) work(ctx context.Context, env *environment, shard *sweep.Shard) error {
	fmt.Fprintf(env.stdout, "plan %.12s: %s; shard %d of %d: %s, %d finished before\n",
		shard.ID, position.Counted(shard.Size(), "cell"), shard.Index, shard.Count,
		position.Counted(shard.All, "cell"), shard.All-len(shard.Todo))
	if shard.All == 0 {
		_, err := fmt.Fprintf(env.stdout, "complete: there are %d cells, and more shards\n", shard.Size())
		return outside(err)
	}
	backend := cmd.backend(env)
	defer backend.Close()
	bar := env.newProgress("cells", uint64(len(shard.Todo)))
	shard.Write = env.unfinished.Write
	env.saves.Store(true)
	defer env.saves.Store(false)
	err := shard.Work(ctx, cmd.run(backend, bar))
	bar.stop()
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(env.stdout, "complete: %s\n", shard.Path())
	return outside(err)
}

// printMissing prints the shards that lack something, nothing where none does.
func (cmd *sweepCmd) printMissing(ctx context.Context, env *environment, plan *sweep.Plan) error {
	if cmd.Out == "" || cmd.Shard != "" {
		return errors.New("--print missing: want --out, the folder of the results, and no --shard")
	}
	m, err := sweep.Merge(ctx, cmd.Out, plan.Sweep)
	if err != nil {
		return environmental(err)
	}
	missing, err := m.MissingShards(cmd.Shards)
	if err != nil {
		return fmt.Errorf("%s: %w; want --shards N", cmd.Out, err)
	}
	if len(missing) > 0 {
		_, err = fmt.Fprintln(env.stdout, missing)
	}
	return outside(err)
}
