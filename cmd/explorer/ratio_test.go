package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"belsim/theory/base/must"
)

// TestRatio measures how much longer the page's questions take as WebAssembly, run by Node, than
// natively. It asserts no time: that depends on the machine.
func TestRatio(t *testing.T) {
	if os.Getenv("BELSIM_LONG") != "1" {
		t.Skip("BELSIM_LONG=1 compares WebAssembly with native code")
	}
	if _, err := exec.LookPath("node"); err != nil {
		t.Skip("no Node: WebAssembly is not compared with native code")
	}
	root := must.Get(exec.Command("go", "env", "GOROOT").Output())(t)
	runner := filepath.Join(strings.TrimSpace(string(root)), "lib", "wasm", "go_js_wasm_exec")
	measure := func(environment []string, more ...string) map[string]float64 {
		c := exec.Command("go", append([]string{"test", "-run", "^$", "-cpu", "1", "-benchtime", "10x",
			"-bench", "Views/(errors|theory-first|samples|row-first)/(johnson|hexj)/mixture/"}, more...)...)
		c.Dir, c.Env = "engine", append(os.Environ(), environment...)
		var stderr bytes.Buffer
		c.Stderr = &stderr
		out, err := c.Output()
		if err != nil {
			t.Fatalf("%v: %s%s", err, out, stderr.Bytes())
		}
		return nanoseconds(string(out))
	}
	native := measure(nil)
	browser := measure([]string{"GOOS=js", "GOARCH=wasm"}, "-exec", runner)
	if len(native) == 0 || len(native) != len(browser) {
		t.Fatalf("%d native figures and %d as WebAssembly, on %s", len(native), len(browser), runtime.GOARCH)
	}
	for name, n := range native {
		t.Logf("%-40s native %8.3f ms, WebAssembly %8.3f ms: %.1f times", name, n/1e6, browser[name]/1e6,
			browser[name]/n)
	}
}

var benchmarkLine = regexp.MustCompile(`(?m)^BenchmarkViews/(\S+)\s+\d+\s+([0-9.]+) ns/op`)

// nanoseconds are the times of the benchmarks in the output of go test, by name.
func nanoseconds(out string) map[string]float64 {
	times := map[string]float64{}
	for _, m := range benchmarkLine.FindAllStringSubmatch(out, -1) {
		times[m[1]], _ = strconv.ParseFloat(m[2], 64)
	}
	return times
}
