package main

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"gonum.org/v1/plot/cmpimg"

	"belsim/theory/base/must"
	"belsim/theory/base/table"
)

// A document is a Markdown file of the repository whose examples are run.
type document struct {
	path   string // relative to the repository
	folder string // where its examples ran
	ran    int    // examples
}

// An example is a command of a document, and what the document shows that it prints.
type example struct {
	command   string
	output    string
	from, end int // the lines of the output in the document
}

// slowExample matches examples that take half of a second or more of a processor, where another one shows the same command.
var slowExample = regexp.MustCompile(`--(recommend|fit-decoder|model|mae|training ce|pareto|baseline|quick|method exact|steps 6000)\b|-o fit\.png|compare best`)

// TestReadme runs the examples of every README, and of the other documents, and
// compares what they print with what the document shows. With -update it writes
// the documents anew instead. Slow examples run with BELSIM_LONG=1 alone.
//
// A block marked console holds commands of belsim after a $, each followed by its
// output, in which a line … stands for any number of lines. The examples of a document run
// one after another in a folder of their own, which has the repository's testdata;
// a command may end in > FILE or in a # comment. Documents run side by side.
func TestReadme(t *testing.T) {
	t.Parallel()
	if !long {
		t.Logf("without examples that match %v", slowExample)
	}
	documents := findDocuments(t)
	for _, d := range documents { // folders outlive the subtests: checkPictures reads them
		d.folder = folderWithData(t)
	}
	t.Run("documents", func(t *testing.T) {
		for _, d := range documents {
			t.Run(d.path, func(t *testing.T) {
				t.Parallel()
				d.run(t)
				d.checkLinks(t)
			})
		}
	})
	for path, want := range map[string]int{"README.md": 2, "cmd/belsim/README.md": 10} {
		if i := slices.IndexFunc(documents, func(d *document) bool { return d.path == path }); i < 0 || documents[i].ran < want {
			t.Errorf("%s shows fewer than %d examples", path, want)
		}
	}
	checkPictures(t, documents)
	text := ""
	for _, d := range documents {
		text += content(t, filepath.Join(root, d.path))
	}
	for _, name := range commands { // so that the width of each is looked at; others have numbers that differ, or print an address
		if name != "bench" && name != "explore" && !strings.Contains(text, "\n$ belsim "+name) {
			t.Errorf("no document shows an example of %s", name)
		}
	}
	if lines := len((&document{path: "README.md"}).lines(t)) - 1; lines > 150 {
		t.Errorf("README.md has %d lines; want at most 150", lines)
	}
}

// findDocuments lists the Markdown files of the repository.
func findDocuments(t *testing.T) []*document {
	t.Helper()
	var documents []*document
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() && strings.HasPrefix(entry.Name(), ".") && path != root {
			return filepath.SkipDir
		}
		if filepath.Ext(path) == ".md" {
			relative, err := filepath.Rel(root, path)
			if err != nil {
				return err
			}
			documents = append(documents, &document{path: filepath.ToSlash(relative)})
		}
		return nil
	})
	must.Succeed(t, err)
	return documents
}

// lines are the lines of a document.
func (d *document) lines(t *testing.T) []string {
	t.Helper()
	text := content(t, filepath.Join(root, d.path))
	return strings.Split(text, "\n")
}

// run runs the examples of a document.
func (d *document) run(t *testing.T) {
	t.Helper()
	lines := d.lines(t)
	var updated []string
	copied := 0 // lines that are in updated
	for _, x := range findExamples(lines) {
		if slowExample.MatchString(x.command) && !long && !*update {
			continue
		}
		got := d.runExample(t, x.command)
		d.ran++
		for line := range strings.SplitSeq(got, "\n") { // nothing is wider than a terminal
			if n := utf8.RuneCountInString(line); n > table.Width && strings.Contains(line, " ") {
				t.Errorf("$ %s prints %d columns: %s", x.command, n, line)
			}
		}
		if matches(x.output, got) {
			continue
		}
		if *update && !slices.Contains(strings.Split(x.output, "\n"), "…") {
			updated = append(updated, lines[copied:x.from]...)
			if got != "" {
				updated = append(updated, got)
			}
			copied = x.end
			continue
		}
		t.Errorf("$ %s: -%s +now\n%s", x.command, d.path, cmp.Diff(x.output, got))
	}
	if *update && copied > 0 {
		updated = append(updated, lines[copied:]...)
		must.Succeed(t, os.WriteFile(filepath.Join(root, d.path), []byte(strings.Join(updated, "\n")), 0o644))
	}
}

// findExamples returns the examples of a document's lines.
func findExamples(lines []string) []example {
	var found []example
	inside := false // a console block
	finish := func(end int) {
		if inside && len(found) > 0 && found[len(found)-1].end == 0 {
			x := &found[len(found)-1]
			x.end = end
			x.output = strings.Trim(strings.Join(lines[x.from:end], "\n"), "\n")
		}
	}
	for i, line := range lines {
		switch {
		case line == "```console":
			inside = true
		case strings.HasPrefix(line, "```"):
			finish(i)
			inside = false
		case inside && strings.HasPrefix(line, "$ "):
			finish(i)
			found = append(found, example{command: strings.TrimPrefix(line, "$ "), from: i + 1})
		}
	}
	return found
}

// progressLine is what a command says that takes long, on a slow machine alone.
var progressLine = regexp.MustCompile(`^belsim: [a-z ]+: (\d+ of \d+ \(\d+ %\)|\d+ s)(, [^ ]+ samples)?$`)

// runExample runs a command in the document's folder and returns what a terminal would show.
func (d *document) runExample(t *testing.T, line string) string {
	t.Helper()
	line, _, _ = strings.Cut(line, "#")
	line, file, redirected := strings.Cut(line, ">")
	words := strings.Fields(line)
	switch {
	case len(words) > 3 && slices.Equal(words[:3], []string{"go", "run", "./cmd/belsim"}):
		words = words[3:]
	case len(words) > 1 && words[0] == "belsim":
		words = words[1:]
	default:
		t.Errorf("$ %s: a console block shows commands of belsim alone", line)
		return ""
	}
	var stdout, stderr bytes.Buffer
	c := command(t, d.folder, nil, words...)
	c.Stdout, c.Stderr = &stdout, &stderr
	var exit *exec.ExitError
	if err := c.Run(); err != nil && !errors.As(err, &exit) {
		t.Fatalf("$ %s: %v", line, err)
	}
	t.Logf("%.1f s of processors: $ belsim %s", (c.ProcessState.UserTime() + c.ProcessState.SystemTime()).Seconds(), strings.Join(words, " "))
	if redirected {
		if file = strings.TrimSpace(file); file != "/dev/null" {
			must.Succeed(t, os.WriteFile(filepath.Join(d.folder, file), stdout.Bytes(), 0o644))
		}
		stdout.Reset()
	}
	shown := stdout.String()
	for line := range strings.Lines(stderr.String()) {
		if !strings.HasPrefix(line, noDevice) && !progressLine.MatchString(strings.TrimSpace(line)) {
			shown += line
		}
	}
	return strings.Trim(shown, "\n")
}

// matches says whether the output of a command is as a document shows it. A line … of the document stands
// for any number of lines.
func matches(want, got string) bool {
	pattern := strings.ReplaceAll(regexp.QuoteMeta("\n"+want+"\n"), "\n…\n", "\n(?:.*\n)*")
	return regexp.MustCompile("^" + pattern + "$").MatchString("\n" + got + "\n")
}

// TestMatches: … stands for lines, and for nothing else.
func TestMatches(t *testing.T) {
	for _, tt := range []struct {
		want, got string
		matches   bool
	}{
		{"", "", true},
		{"a\nb", "a\nb\nc", false},
		{"a\n…\nc", "a\nb\nb\nc", true},
		{"a\n…\nc", "a\nb\ncc", false},
		{"a\n…\nc", "a\nb\nbc", false},
		{"a\n…\nc\n…\ne", "a\nb\nc\nd\ne", true},
		{"a\n…\nc\n…\ne", "a\nb\nd\ne", false},
		{"…\nc", "a\nb\nc", true},
		{"a\n…", "a\nb\nc", true},
	} {
		if got := matches(tt.want, tt.got); got != tt.matches {
			t.Errorf("%q shown for %q: %v, want %v", tt.want, tt.got, got, tt.matches)
		}
	}
}

// link is a relative link or picture of Markdown.
var link = regexp.MustCompile(`\]\(([^)#:\s]+)(#[^)\s]*)?\)`)

// checkLinks says which files that a document links to are missing.
func (d *document) checkLinks(t *testing.T) {
	t.Helper()
	for _, m := range link.FindAllStringSubmatch(strings.Join(d.lines(t), "\n"), -1) {
		if _, err := os.Stat(filepath.Join(root, filepath.Dir(d.path), m[1])); err != nil {
			t.Errorf("%s links to %s: %v", d.path, m[1], err)
		}
	}
}

// checkPictures compares the pictures that documents show with those that their examples made.
func checkPictures(t *testing.T, documents []*document) {
	t.Helper()
	pictures := must.Get(filepath.Glob(filepath.Join(root, "testdata/readme/*.png")))(t)
	if len(pictures) == 0 {
		t.Error("no pictures in testdata/readme")
	}
	for _, path := range pictures {
		made := 0
		for _, d := range documents {
			got, err := os.ReadFile(filepath.Join(d.folder, filepath.Base(path)))
			if err != nil {
				continue
			}
			if made++; made == 1 && *update {
				must.Succeed(t, os.WriteFile(path, got, 0o644))
			}
			if same, err := cmpimg.Equal("png", got, []byte(content(t, path))); err != nil || !same {
				t.Errorf("%s is not what the examples of %s make now (%v); look at it, then go test ./cmd/belsim -update", path, d.path, err)
			}
		}
		if made == 0 && long {
			t.Errorf("no example of a document makes %s", filepath.Base(path))
		}
	}
}
