package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"strings"

	"belsim/cmd/explorer/page"
	"belsim/cmd/internal/buildinfo"
)

// engine is the package of the WebAssembly entry.
const engine = "belsim/cmd/explorer/wasm"

// build makes the page: one HTML file with its style, its scripts and the engine.
func build(ctx context.Context) ([]byte, error) {
	wasm, support, err := compile(ctx)
	if err != nil {
		return nil, fmt.Errorf("building the engine: %w", err)
	}
	return page.HTML(page.Parts{Worker: string(support) + "\n" + page.Script("worker.js"), WASM: wasm})
}

// compile returns the engine as WebAssembly, and the script that Go needs to run it.
func compile(ctx context.Context) (wasm, support []byte, err error) {
	root, err := goTool(ctx, "env", "GOROOT")
	if err != nil {
		return nil, nil, err
	}
	if support, err = os.ReadFile(filepath.Join(strings.TrimSpace(root), "lib", "wasm", "wasm_exec.js")); err != nil {
		return nil, nil, err
	}
	folder, err := os.MkdirTemp("", "explorer")
	if err != nil {
		return nil, nil, err
	}
	defer os.RemoveAll(folder)
	out := filepath.Join(folder, "engine.wasm")
	if _, err := goTool(ctx, "build", "-trimpath", "-buildvcs=false", "-ldflags", "-s -w -X 'main.version="+version()+
		"'", "-o", out, engine); err != nil {
		return nil, nil, err
	}
	wasm, err = os.ReadFile(out)
	return wasm, support, err
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

// version is the version of belsim that the page shows.
func version() string {
	info, _ := debug.ReadBuildInfo() // nil where there is none
	return buildinfo.Version("", info)
}
