package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"runtime"

	"belsim/cmd/explorer/engine"
	"belsim/cmd/explorer/serve"
)

type exploreCmd struct {
	Files []string `arg:"" optional:"" placeholder:"FILE" reads:"" help:"Files to open, such as a .json of fit."`
	Port  int      `placeholder:"N" help:"Port of the page, which no browser is opened for then (default: a free one)."`
}

// Run implements the command.
func (cmd *exploreCmd) Run(ctx context.Context, env *environment) error {
	if cmd.Port > math.MaxUint16 {
		return fmt.Errorf("--port %d: want 1 to %d", cmd.Port, math.MaxUint16)
	}
	for _, path := range cmd.Files {
		if _, err := engine.Inspect(path); err != nil {
			return err
		}
	}
	remove := func() error { return nil }
	err := serve.Explorer(ctx, version(), cmd.Port, cmd.Files, func(url string) {
		fmt.Fprintf(env.stdout, "The explorer is at %s (Ctrl-C ends it).\n", url)
		if cmd.Port != 0 {
			return
		}
		if path, leave, err := serve.Door(url); err == nil {
			remove = leave
			browse(path)
		}
	})
	return outside(errors.Join(err, remove()))
}

// browse shows a file in a browser, where there is one. The address is printed anyway, so nothing is
// said where there is none.
func browse(path string) {
	command := []string{"xdg-open", path}
	switch runtime.GOOS {
	case "darwin":
		command[0] = "open"
	case "windows":
		command = []string{"rundll32", "url.dll,FileProtocolHandler", path}
	default:
		if os.Getenv("DISPLAY") == "" && os.Getenv("WAYLAND_DISPLAY") == "" {
			return
		}
	}
	if c := exec.Command(command[0], command[1:]...); c.Start() == nil {
		go c.Wait()
	}
}
