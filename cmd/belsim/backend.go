package main

import (
	"belsim/gpu"
	"belsim/montecarlo"
)

// backendFlags choose where samples are drawn.
type backendFlags struct {
	workersFlag
	Backend string `enum:"auto,cpu,cuda" default:"auto" group:"sampling" help:"Where to sample: ${enum}."`
}

// backend returns the backend. It looks for a device when there is something to sample.
func (f backendFlags) backend(env *environment) gpu.Backend {
	return gpu.NewBackend(gpu.Choice(f.Backend), f.Workers,
		func(err error) { env.note("sampling on the CPU: %s", oneLine(err)) })
}

// run says where a computation runs, and that a progress bar follows it.
func (f backendFlags) run(backend gpu.Backend, bar *progress) montecarlo.Run {
	return montecarlo.Run{Backend: backend, Workers: f.Workers, Done: bar.add}
}
