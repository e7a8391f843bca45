package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"belsim/cmd/explorer/page"
	"belsim/cmd/internal/buildinfo"
)

// engine is the package of the WebAssembly entry.
const engine = "belsim/cmd/explorer/wasm"

// build makes the page: one HTML file with its style, its scripts and the engine as WebAssembly, with the script that
// Go needs to run it.
func build(ctx context.Context) ([]byte, error) {
	root, err := goTool(ctx, "env", "GOROOT")
	if err != nil {
		return nil, err
	}
	support, err := os.ReadFile(filepath.Join(strings.TrimSpace(root), "lib", "wasm", "wasm_exec.js"))
	if err != nil {
		return nil, err
	}
	folder, err := os.MkdirTemp("", "explorer")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(folder)
	out := filepath.Join(folder, "engine.wasm")
	if _, err := goTool(ctx, "build", "-trimpath", "-buildvcs=false", "-ldflags", "-s -w -X 'main.version="+
		buildinfo.Version(release)+"'", "-o", out, engine); err != nil {
		return nil, err
	}
	wasm, err := os.ReadFile(out)
	if err != nil {
		return nil, err
	}
	return page.HTML(page.Parts{Worker: string(support) + "\n" + page.Script("worker.js"), WASM: wasm})
}

// goTool runs the go command for WebAssembly, and returns what it prints.
func goTool(ctx context.Context, args ...string) (string, error) {
	c := exec.CommandContext(ctx, "go", args...)
	c.Env = append(os.Environ(), "GOOS=js", "GOARCH=wasm", "CGO_ENABLED=0")
	out, err := c.Output()
	var failed *exec.ExitError
	switch {
	case errors.Is(err, exec.ErrNotFound):
		return "", errors.New("there is no go command: the page is built from belsim's source, with Go")
	case errors.As(err, &failed):
		return "", fmt.Errorf("go %s: %s", args[0], bytes.TrimSpace(failed.Stderr))
	}
	return string(out), err
}
