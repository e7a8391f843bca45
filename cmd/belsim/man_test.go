package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestMan: every command has a page with its flags and its examples, which man(1) shows without a
// warning.
func TestMan(t *testing.T) {
	t.Chdir(t.TempDir())
	defer func(name string) { release = name }(release)
	release = "1.2.0"
	golden(t, "man-codes.1", regexp.MustCompile(`"belsim 1.2.0[^"]*"`).ReplaceAllString(mustRun(t, "man", "codes"), `"belsim VERSION"`))

	all := append([]string{"belsim"}, commands...)
	if out, want := mustRun(t, "man", "-o", "man1"), "15 pages in man1\n"; out != want {
		t.Errorf("printed %q, want %q", out, want)
	}
	groff, err := exec.LookPath("groff")
	if err != nil {
		t.Log("groff, which renders pages, is not installed")
	}
	for _, name := range append(all, "completion") {
		page, file := []string{"man", name}, "belsim-"+name
		if name == "belsim" {
			page, file = page[:1], name
		}
		text, err := os.ReadFile(filepath.Join("man1", file+".1"))
		if err != nil {
			t.Fatal(err)
		}
		for _, args := range [][]string{page, {"man", file}} {
			if got := mustRun(t, args...); got != string(text) {
				t.Errorf("belsim %v prints another page than -o writes", args)
			}
		}
		for _, want := range []string{".TH", `"NAME"`, `"SYNOPSIS"`, `"DESCRIPTION"`, `"OPTIONS"`, `"EXIT STATUS"`, `"ENVIRONMENT"`, `\fB\-\-color\fR=\fIauto|always|never\fR`} {
			if !bytes.Contains(text, []byte(want)) {
				t.Errorf("%s has no %s", file, want)
			}
		}
		if has := bytes.Contains(text, []byte(`"EXAMPLES"`)); has != (name != "belsim" && name != "completion") {
			t.Errorf("%s: examples %v", file, has)
		}
		if groff != "" {
			if out, err := exec.Command(groff, "-man", "-Tutf8", "-wall", "-z", filepath.Join("man1", file+".1")).CombinedOutput(); err != nil || len(out) > 0 {
				t.Errorf("groff %s: %v, %s", file, err, out)
			}
		}
	}
	for _, tt := range []struct{ args, want string }{
		{"man fly", "fly: there is no page belsim-fly; want one of belsim, belsim-codes, "},
		{"man codes -o man1", "-o writes all pages"},
		{"man -o man1 --if-exists fail", "man1/belsim.1 exists"},
	} {
		if status, _, stderr := run(t, strings.Fields(tt.args)...); status != exitUsage || !strings.Contains(stderr, tt.want) {
			t.Errorf("belsim %s: exit %d, %q; want %q", tt.args, status, stderr, tt.want)
		}
	}
}
