package main

import (
	"bytes"
	"errors"
	"fmt"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"gonum.org/v1/plot/cmpimg"

	"belsim/theory/base/must"
	"belsim/theory/base/table"
)

// A document is a Markdown file of the repository, or a transcript, whose examples are run.
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

// slowExample matches examples that take half of a second or more of a processor, where another
// example or a golden file shows the same command.
var slowExample = regexp.MustCompile(
	`--(recommend|fit-decoder|model|mae|training ce|baseline|quick|steps 6000)\b|` +
		`-o (exact\.png|fit\.)|compare best|only limit|(mine\.npy unary|hadamard --levels 64) .*--samples 20000`)

// fileInDocument is a block that is marked with the name of a file.
var fileInDocument = regexp.MustCompile("(?ms)^```(\\S+\\.\\S+)\n(.*?)^```$")

// TestReadme runs the examples of every README, of the other documents, and of testdata/transcripts,
// and compares what they print with what the document shows. With -update it writes
// the documents anew instead. Slow examples run with BELSIM_LONG=1 alone.
//
// A block marked console holds commands of belsim after a $, each followed by its
// output, in which a line … stands for any number of lines. A block marked text is the output of the last
// command of the block marked sh before it. The examples of a document run
// one after another in a folder of their own, which has the repository's testdata, and the files
// that stand in blocks marked with their names; a command may end in > FILE or in a # comment. Documents run side by side.
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
	for path, want := range map[string]int{"README.md": 1, "cmd/belsim/README.md": 8} {
		if i := slices.IndexFunc(documents, func(d *document) bool { return d.path == path }); i < 0 ||
			documents[i].ran < want {
			t.Errorf("%s shows fewer than %d examples", path, want)
		}
	}
	checkPictures(t, documents)
	text := ""
	for _, d := range documents {
		text += content(t, filepath.Join(root, d.path))
	}
	// so that the width of each is looked at; others have numbers that differ, or print an address
	for _, name := range commands {
		if name != "bench" && name != "explore" && !strings.Contains(text, "\n$ belsim "+name) {
			t.Errorf("no document shows an example of %s", name)
		}
	}
	if lines := len((&document{path: "README.md"}).lines(t)) - 1; lines > 120 {
		t.Errorf("README.md has %d lines; want at most 120, so that a stranger reads all: shorten it", lines)
	}
}

// findDocuments lists the Markdown files of the repository, and the transcripts.
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
		if filepath.Ext(path) == ".md" || filepath.Base(filepath.Dir(path)) == "transcripts" {
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
	for _, m := range fileInDocument.FindAllStringSubmatch(strings.Join(lines, "\n"), -1) {
		path := filepath.Join(d.folder, m[1])
		must.Succeed(t, os.MkdirAll(filepath.Dir(path), 0o777))
		write(t, path, m[2])
	}
	var updated []string
	copied := 0 // lines that are in updated
	for _, x := range findExamples(lines) {
		if slowExample.MatchString(x.command) && !long && !*update {
			continue
		}
		got := d.runExample(t, x.command)
		d.ran++
		for line := range strings.SplitSeq(got, "\n") { // nothing but a message is wider than a terminal
			if n := utf8.RuneCountInString(line); n > table.Width && strings.Contains(line, " ") &&
				!strings.HasPrefix(line, "belsim: ") {
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
		accept := "go test ./cmd/belsim -update accepts it"
		if slices.Contains(strings.Split(x.output, "\n"), "…") {
			accept = "write it by hand, for -update writes no output with …"
		}
		t.Errorf("$ %s: -%s +now (%s)\n%s", x.command, d.path, accept, cmp.Diff(x.output, got))
	}
	if *update && copied > 0 {
		updated = append(updated, lines[copied:]...)
		must.Succeed(t, os.WriteFile(filepath.Join(root, d.path), []byte(strings.Join(updated, "\n")), 0o644))
	}
}

// findExamples returns the examples of a document's lines.
func findExamples(lines []string) []example {
	var found []example
	inside, shell := false, 0 // a block of examples, and where the last one marked sh begins
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
		case line == "```sh":
			shell = i
		case line == "```text":
			for _, command := range lines[shell+1 : i-2] {
				found = append(found, example{command: command, output: "…", from: i + 1, end: i + 1})
			}
			found[len(found)-1].end, inside = 0, true
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
var progressLine = regexp.MustCompile(`^belsim: [a-z ]+: (\d+ of \d+ \(\d+ %\)|\d+ s)(, .*)?$`)

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
	t.Logf("%.1f s of processors: $ belsim %s", (c.ProcessState.UserTime() + c.ProcessState.SystemTime()).Seconds(),
		strings.Join(words, " "))
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
	if exit != nil {
		shown += fmt.Sprintf("exit code %d\n", exit.ExitCode())
	}
	return strings.Trim(shown, "\n")
}

// matches says whether the output of a command is as a document shows it. A line … of the document
// stands for any number of lines.
func matches(want, got string) bool {
	pattern := strings.ReplaceAll(regexp.QuoteMeta("\n"+want+"\n"), "\n…\n", "\n(?:.*\n)*")
	return regexp.MustCompile("^" + pattern + "$").MatchString("\n" + got + "\n")
}

// TestRelease: what names the version of a release agrees on it.
func TestRelease(t *testing.T) {
	t.Parallel()
	var versions []string
	for path, pattern := range map[string]string{
		"notebooks/pyproject.toml": `(?m)^version = "(.*)"$`,
		"CITATION.cff":             `(?m)^version: (.*)$`,
		"CHANGELOG.md":             `(?m)^## (\d.*)$`,
	} {
		found := regexp.MustCompile(pattern).FindStringSubmatch(content(t, filepath.Join(root, path)))
		if len(found) == 0 {
			t.Fatalf("%s names no version", path)
		}
		versions = append(versions, found[1])
	}
	if len(slices.Compact(versions)) != 1 {
		t.Errorf("versions %q; want one", versions)
	}
}

var (
	flagName    = regexp.MustCompile(`(?:^|[\s\[])--([a-z][a-z-]*)`)
	commandLine = regexp.MustCompile("\\bbelsim ([a-z]+)((?: [^`\n|]*)?)")
	codeSpan    = regexp.MustCompile("`([^`\n]+)`")
	fieldName   = regexp.MustCompile(`^[a-z]+(?:[_.][a-z0-9]+)+$`)
)

// TestNamedFlags: documents name flags that belsim has, commands with their own flags, and fields of
// FIELDS.md.
func TestNamedFlags(t *testing.T) {
	t.Parallel()
	flags := func(help string) (names []string) {
		for _, m := range flagName.FindAllStringSubmatch(help, -1) {
			names = append(names, m[1])
		}
		return names
	}
	all, own := []string{"help", "version"}, map[string][]string{"completion": nil}
	for _, c := range commands {
		own[c] = flags(content(t, filepath.Join(sourceDir, "testdata", "help-"+c+".txt")))
		all = append(all, own[c]...)
	}
	fields := content(t, filepath.Join(root, "cmd/belsim/FIELDS.md"))
	for _, d := range findDocuments(t) {
		if filepath.Ext(d.path) != ".md" {
			continue // a transcript names them in what belsim prints
		}
		text := strings.Join(d.lines(t), "\n")
		for _, m := range codeSpan.FindAllStringSubmatch(text, -1) {
			if name := flagName.FindStringSubmatch(m[1]); strings.HasPrefix(m[1], "--") &&
				!slices.Contains(all, name[1]) {
				t.Errorf("%s names %s, which is no flag", d.path, m[1])
			}
			if d.path != "cmd/belsim/README.md" || !fieldName.MatchString(m[1]) ||
				strings.HasSuffix(m[1], ".html") {
				continue
			}
			for name := range strings.SplitSeq(m[1], ".") {
				if !strings.Contains(fields, "`"+name+"`") {
					t.Errorf("%s names %s, which is no field", d.path, m[1])
				}
			}
		}
		for _, m := range commandLine.FindAllStringSubmatch(text, -1) {
			if _, ok := own[m[1]]; !ok {
				continue // prose
			}
			for _, name := range flags(m[2]) {
				if name != "help" && !slices.Contains(own[m[1]], name) {
					t.Errorf("%s: belsim %s has no flag --%s", d.path, m[1], name)
				}
			}
		}
	}
}

// TestPackages: CONTRIBUTING.md lists the packages, and imports point as it says.
func TestPackages(t *testing.T) {
	t.Parallel()
	text := content(t, filepath.Join(root, "CONTRIBUTING.md"))
	_, list, _ := strings.Cut(text, "## Packages\n")
	list, prose, _ := strings.Cut(list, "\n\nEach ")
	var listed []string
	for _, m := range regexp.MustCompile("(?m)^\\| `(.*?)`").FindAllStringSubmatch(list, -1) {
		listed = append(listed, m[1])
	}
	// The layers, from above.
	line := regexp.MustCompile(`(?m)^    (\S+(?: → \S+(?:, \S+)*)+)$`).FindStringSubmatch(prose)
	if line == nil {
		t.Fatal("CONTRIBUTING.md does not draw the layers")
	}
	layer := map[string]int{}
	for i, names := range strings.Split(line[1], " → ") {
		for name := range strings.SplitSeq(names, ", ") {
			layer[name] = i
		}
	}
	top := func(path string) int {
		name, _, _ := strings.Cut(path, "/")
		i, ok := layer[name]
		if !ok {
			t.Errorf("package %s is in no layer", path)
		}
		return i
	}
	found := []string{"notebooks/belsim"} // in Python
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		relative := filepath.ToSlash(must.Get(filepath.Rel(root, path))(t))
		switch {
		case err != nil:
			return err
		case d.IsDir() && (relative == "testdata" || relative == "notebooks" || relative == "cmd/explorer/browser" ||
			d.Name() == "testdata"):
			return filepath.SkipDir
		case !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go"):
			return nil
		}
		from := filepath.ToSlash(filepath.Dir(relative))
		if !slices.Contains(found, from) && (!strings.Contains(from, "/internal/") || strings.HasPrefix(from, "cmd/")) {
			found = append(found, from)
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		for _, i := range file.Imports {
			to, ok := strings.CutPrefix(strings.Trim(i.Path.Value, `"`), "belsim/")
			if ok && top(to) < top(from) {
				t.Errorf("%s imports %s, upwards", from, to)
			}
		}
		return nil
	})
	must.Succeed(t, err)
	slices.Sort(found)
	slices.Sort(listed)
	must.Equal(t, "packages in CONTRIBUTING.md", found, listed)
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

// link is a relative link or picture of Markdown, or one to a heading.
var link = regexp.MustCompile(`\]\(([^)#:\s]*)(#[^)\s]*)?\)`)

// checkLinks says which files and headings that a document links to are missing.
func (d *document) checkLinks(t *testing.T) {
	t.Helper()
	for _, m := range link.FindAllStringSubmatch(strings.Join(d.lines(t), "\n"), -1) {
		path := filepath.Join(root, filepath.Dir(d.path), m[1])
		if m[1] == "" {
			path = filepath.Join(root, d.path)
		}
		if _, err := os.Stat(path); err != nil {
			t.Errorf("%s links to %s: %v", d.path, m[1], err)
		} else if m[2] != "" && !slices.Contains(anchors(content(t, path)), m[2]) {
			t.Errorf("%s links to %s%s, which is no heading", d.path, m[1], m[2])
		}
	}
}

// anchors are the names that the headings of a document have in links.
func anchors(text string) (names []string) {
	for _, m := range regexp.MustCompile(`(?m)^#+ (.*)$`).FindAllStringSubmatch(text, -1) {
		names = append(names, "#"+strings.Map(func(r rune) rune {
			switch {
			case r == ' ':
				return '-'
			case r == '-' || r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r):
				return unicode.ToLower(r)
			}
			return -1
		}, m[1]))
	}
	return names
}
