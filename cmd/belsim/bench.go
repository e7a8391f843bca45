package main

import (
	"context"
	"fmt"
	"io"
	"runtime"
	"strings"
	"time"

	"belsim/gpu"
	"belsim/montecarlo"
	"belsim/montecarlo/bench"
	"belsim/montecarlo/sweep"
	"belsim/theory/base/parallel"
	"belsim/theory/base/table"
)

type benchCmd struct {
	Plan    string `arg:"" optional:"" name:"plan" reads:"" help:"A plan of sweep, whose time is estimated instead."`
	Backend string `enum:"auto,cpu,cuda" default:"auto" help:"What to measure: ${enum}."`
	workersFlag
	outputFlags `set:"endings=.csv .json"`
}

// benchmark is the JSON of the command.
type benchmark struct {
	// a row for each workload on each backend
	Results []bench.Result `json:"results"`
	table.Provenance
}

// planTimes is the JSON of the command for a plan.
type planTimes struct {
	// a row for each code with a decoder, each method and each backend
	Results []sweep.Timing `json:"results"`
	table.Provenance
}

// measured is a backend with its device.
type measured struct {
	gpu.Backend
	name, device string
}

// Run implements the command.
func (cmd *benchCmd) Run(ctx context.Context, env *environment) error {
	if err := cmd.checkOutput(env, cmd.result(nil)); err != nil {
		return err
	}
	var plan *sweep.Plan
	if cmd.Plan != "" {
		var err error
		if plan, err = sweep.ReadPlan(ctx, cmd.Plan, env.decoders); err != nil {
			return err
		}
	}
	backends, err := cmd.backends(ctx, env)
	if err != nil {
		return err
	}
	defer func() {
		for _, b := range backends {
			b.Close()
		}
	}()
	if plan != nil {
		return cmd.timePlan(ctx, env, plan, backends)
	}
	measured := &benchmark{Provenance: env.provenance()}
	workloads := bench.Workloads()
	bar := env.newProgress("workloads", uint64(len(workloads)*len(backends)))
	defer bar.stop()
	for _, w := range workloads {
		for _, b := range backends {
			m, err := w.Measure(ctx, b, env.moment)
			if err != nil {
				return err
			}
			m.Backend, m.Device = b.name, b.device
			measured.Results = append(measured.Results, m)
			bar.add(1)
		}
	}
	bar.stop()
	return cmd.deliver(env, cmd.result(measured))
}

// timePlan estimates how long a plan takes on each backend.
func (cmd *benchCmd) timePlan(ctx context.Context, env *environment, plan *sweep.Plan, backends []measured) error {
	times := &planTimes{Provenance: env.provenance()}
	bar := env.newProgress("cells that are timed", 0)
	defer bar.stop()
	var totals []string
	for _, b := range backends {
		rows, err := plan.Time(ctx, montecarlo.Run{Backend: b, Workers: cmd.Workers, Done: bar.add}, env.moment, b.name)
		if err != nil {
			return err
		}
		times.Results = append(times.Results, rows...)
		total, about := 0.0, "about"
		for _, row := range rows {
			total += row.Seconds
			if row.AtLeast {
				about = "more than"
			}
		}
		totals = append(totals, fmt.Sprintf("%s takes %s %s with --backend %s (%s)", cmd.Plan, about, lasting(total),
			b.name, b.device))
	}
	bar.stop()
	return cmd.deliver(env, result{
		files: map[string]func(io.Writer) error{
			"json": asJSON(times),
			"csv":  func(w io.Writer) error { return table.WriteCSV(w, times.Results) },
		},
		print: func(w io.Writer) error {
			t := table.Of(times.Results, table.Replace("seconds", "", func(t sweep.Timing) string {
				if t.AtLeast {
					return fmt.Sprintf("> %.2g", t.Seconds)
				}
				return fmt.Sprintf("%.2g", t.Seconds)
			}))
			if err := t.Without("trans.", "training").Write(w); err != nil {
				return err
			}
			_, err := fmt.Fprintf(w, "\n%s.\n", strings.Join(totals, ";\n"))
			return err
		},
	})
}

// lasting is a time in seconds, for people.
func lasting(seconds float64) string {
	const day = 24 * 3600
	if seconds > 10*day {
		return fmt.Sprintf("%.3g days", seconds/day)
	}
	return time.Duration(seconds * float64(time.Second)).Round(time.Second / 10).String()
}

// result is the table of rates.
func (cmd *benchCmd) result(measured *benchmark) result {
	return result{
		files: map[string]func(io.Writer) error{
			"json": asJSON(measured),
			"csv":  func(w io.Writer) error { return table.WriteCSV(w, measured.Results) },
		},
		print: func(w io.Writer) error {
			rate := table.Replace("samples_per_second", "", func(r bench.Result) string { return table.Metric(r.Rate) })
			return table.Of(measured.Results, rate).Without("trans.", "training").Write(w)
		},
	}
}

// backends opens the backends to measure.
func (cmd *benchCmd) backends(ctx context.Context, env *environment) ([]measured, error) {
	var out []measured
	if cmd.Backend != "cuda" {
		name := fmt.Sprintf("%d × %s", parallel.Workers(cmd.Workers), runtime.GOARCH)
		out = append(out, measured{gpu.NewBackend(gpu.CPU, cmd.Workers, nil), "cpu", name})
	}
	if cmd.Backend == "cpu" {
		return out, nil
	}
	switch device, err := gpu.Open(ctx, cmd.Workers); {
	case err == nil:
		out = append(out, measured{device, "cuda", device.Name()})
	case cmd.Backend == "cuda":
		return nil, environmentError{fmt.Errorf("--backend cuda: %w", err)}
	default:
		env.note("sampling on the CPU: %s", oneLine(err))
	}
	return out, nil
}
