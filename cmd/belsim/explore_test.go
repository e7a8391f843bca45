package main

import (
	"bufio"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"belsim/theory/base/must"
)

// TestExploreSecret: no command line has the address of the page, which everyone on the machine would
// read there. The browser gets it from a file that is the user's alone, and that is gone in the end.
func TestExploreSecret(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the starter of the browser has another name")
	}
	t.Parallel()
	dir, bin := t.TempDir(), t.TempDir()
	const starter = `#!/bin/sh
stat -c %a "$1" "${1%/*}" > got
cat "$1" >> got
echo "$@" > args.part
mv args.part args
`
	must.Succeed(t, os.WriteFile(filepath.Join(bin, "xdg-open"), []byte(starter), 0o755))
	cmd := command(t, dir, nil, "explore")
	cmd.Env = append(cmd.Env, "DISPLAY=:0", "PATH="+bin+":"+os.Getenv("PATH"), "TMPDIR="+dir)
	out := must.Get(cmd.StdoutPipe())(t)
	must.Succeed(t, cmd.Start())
	line := must.Get(bufio.NewReader(out).ReadString('\n'))(t)
	url := strings.Fields(line)[4]
	args := filepath.Join(dir, "args")
	for end := time.Now().Add(deadline); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		if _, err := os.Stat(args); err == nil {
			break
		}
	}
	must.Succeed(t, cmd.Process.Signal(syscall.SIGINT))
	cmd.Wait()
	path := strings.TrimSpace(content(t, args))
	if !strings.HasPrefix(path, dir) || strings.Contains(path, "http") {
		t.Errorf("the browser is started with %q", path)
	}
	got := content(t, filepath.Join(dir, "got"))
	if !strings.HasPrefix(got, "600\n700\n") || !strings.Contains(got, "url="+url+`"`) {
		t.Errorf("the file for %s, with the modes of it and of its folder:\n%s", url, got)
	}
	if left := must.Get(filepath.Glob(filepath.Join(dir, "belsim-explore*")))(t); len(left) > 0 {
		t.Errorf("%v is left", left)
	}
	if code := cmd.ProcessState.ExitCode(); code != exitSignal+int(syscall.SIGINT) {
		t.Errorf("exit code %d", code)
	}
}
