package main

import (
	"bytes"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"gonum.org/v1/gonum/mat"

	"belsim/theory/base/arrayfile"
	"belsim/theory/base/must"
)

// soakInput is a file that the soak test changes or renames, and a command line that reads it: IN in
// it stands for the file. The command writes out.*, and may print.
type soakInput struct {
	file, args string
	checksum   bool // of the format: a changed bit is refused, or changes nothing
}

// soakInputs are the files that commands read, in every format.
var soakInputs = []soakInput{
	{file: "code.csv", args: "compare IN --samples 100 --backend cpu -o out.json"},
	{file: "code.npy", args: "verify --code IN --samples 100 --backend cpu -o out.json"},
	{file: "code.npz", args: "codes IN -o out.csv", checksum: true},
	{file: "errors.csv", args: "compare ../code.csv --errors IN --samples 100 --backend cpu -o out.json"},
	{file: "errors.npz", args: "verify --code ../code.csv --errors IN --samples 100 --backend cpu -o out.json", checksum: true},
	{file: "prior.csv", args: "compare ../code.csv --prior IN --samples 100 --backend cpu -o out.json"},
	{file: "fit.json", args: "compare ../code.csv --model IN --samples 100 --backend cpu -o out.json"},
	{file: "y.csv", args: "fit --code ../code.csv --targets IN --outputs bits:../z.csv --samples 100 -o out.json"},
	{file: "z.csv", args: "fit --code ../code.csv --targets ../y.csv --outputs bits:IN --samples 100 -o out.json"},
	{file: "z.npz", args: "fit --code ../code.csv --targets ../y.csv --outputs bits:IN --samples 100 -o out.json", checksum: true},
	{file: "runs.csv", args: "fit --targets ../y.csv --runs IN --samples 100 -o out.json"},
	{file: "decoder.npz", args: "decode --decoder IN --outputs ../more.npy -o out.npy", checksum: true},
	{file: "z.npy", args: "decode --decoder gen-ex --code ../code.csv --outputs IN -o out.npy"},
	{file: "soak.json", args: "sweep IN --out out.d --backend cpu"},
	{file: "found", args: "merge IN -o out.json", checksum: true},
}

// makeSoakInputs makes those inputs that are not there.
func makeSoakInputs(t *testing.T) {
	t.Helper()
	for _, name := range []string{"code", "errors", "z"} {
		m := must.Get(arrayfile.ReadFile(name + ".csv"))(t)
		writeWith(t, name+".npz", func(w io.Writer) error {
			z := arrayfile.NewNPZWriter(w)
			if err := z.Matrix(name, m); err != nil {
				return err
			}
			return z.Close()
		})
		if name == "z" {
			writeWith(t, "z.npy", func(w io.Writer) error { return arrayfile.WriteNPY(t.Context(), w, mat.Matrix(m)) })
		}
	}
	write(t, "runs.csv", "code,loss,seed,outputs\n../code.csv,BCE,1,../z.csv\n../code.csv,BCE,2,../z.npy\n")
	// A decoder whose labels are real numbers, so that nearly every bit of it matters.
	for _, name := range []string{"decoder.npz", "more.npy"} {
		write(t, name, content(t, filepath.Join(root, "testdata/decoders", name)))
	}
}

// writeWith writes a file by a function.
func writeWith(t *testing.T, name string, fill func(io.Writer) error) {
	t.Helper()
	var b bytes.Buffer
	must.Succeed(t, fill(&b))
	write(t, name, b.String())
}

// read runs a command that reads an input, under the name in work, and returns what it wrote.
func (s *soak) read(in soakInput, name string) (status int, stdout, stderr string, wrote map[string][]byte) {
	s.Helper()
	dir := filepath.Join(s.base, "work")
	args := strings.Fields(in.args + " -q")
	for i, a := range args {
		args[i] = strings.ReplaceAll(a, "IN", name)
	}
	status, stdout, stderr = s.output(dir, args)
	wrote = filesIn(s.T, dir)
	maps.DeleteFunc(wrote, func(path string, _ []byte) bool { return !strings.HasPrefix(path, "out.") })
	return status, stdout, stderr, wrote
}

// output runs a command to its end, and returns what it prints.
func (s *soak) output(dir string, args []string) (status int, stdout, stderr string) {
	var out, errs bytes.Buffer
	cmd := command(s, dir, nil, args...)
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil && cmd.ProcessState == nil {
		s.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), out.String(), errs.String()
}

// place copies an input into work under a name, and returns its files.
func (s *soak) place(in soakInput, name string) (paths []string) {
	s.Helper()
	dir := filepath.Join(s.base, "work")
	s.empty(dir)
	from, to := filepath.Join(s.base, in.file), filepath.Join(dir, name)
	if info := must.Get(os.Stat(from))(s.T); info.IsDir() {
		must.Succeed(s.T, os.CopyFS(to, os.DirFS(from)))
		for path := range filesIn(s.T, to) {
			paths = append(paths, filepath.Join(to, path))
		}
		slices.Sort(paths)
		return paths
	}
	must.Succeed(s.T, os.WriteFile(to, []byte(content(s.T, from)), 0o600))
	return []string{to}
}

// flip changes a bit of an input. A format with a checksum refuses it, or the results are the same;
// without one, the command ends as it should.
func (s *soak) flip(in soakInput) {
	s.Helper()
	name := "in" + filepath.Ext(in.file)
	paths := s.place(in, name)
	status, stdout, stderr, want := s.read(in, name)
	if status != exitDone {
		s.Fatalf("belsim %s: exit code %d: %s", in.args, status, stderr)
	}
	path := paths[s.random.IntN(len(paths))]
	changed := []byte(content(s.T, path))
	at, bit := s.random.IntN(len(changed)), s.random.IntN(8)
	changed[at] ^= 1 << bit
	for out := range want {
		must.Succeed(s.T, os.Remove(filepath.Join(s.base, "work", out)))
	}
	must.Succeed(s.T, os.WriteFile(path, changed, 0o600))
	got, printed, stderr, wrote := s.read(in, name)
	s.count("flipped bit", got)
	say := func(text string) {
		s.Errorf("belsim %s with bit %d of byte %d of %d changed: %s; exit code %d, standard error %.300q", in.args, bit, at, len(changed), text, got, stderr)
	}
	switch same := printed == stdout && maps.EqualFunc(wrote, want, bytes.Equal); {
	case got != exitDone && got != exitUsage && got != exitEnvironment:
		say("another exit code")
	case got != exitDone && (strings.Count(stderr, "\n") != 1 || len(wrote) > 0):
		say(fmt.Sprintf("want one line and no file, got %d files", len(wrote)))
	case got == exitDone && in.checksum && !same:
		say("other results")
	}
}

// count counts an attack by how it ended.
func (s *soak) count(kind string, status int) {
	if s.ends[kind] == nil {
		s.ends[kind] = map[int]int{}
	}
	s.ends[kind][status]++
}

// hostileNames are parts of names that a terminal would obey: an escape, a line of its own, letters
// from right to left, a control character of one byte (C1) as UTF-8 and alone, and DEL.
var hostileNames = []string{"a\x1b[31mb", "a\nFORGED", "a\u202eb", "a\u009b31mb", "a\x9b31mb", "a\x7fb", "a\rb", "a\u2066b"}

// obeyed returns what a terminal would obey in a text, "" where there is nothing.
func obeyed(text string) string {
	for i, r := range text {
		_, size := utf8.DecodeRuneInString(text[i:])
		switch {
		case r == utf8.RuneError && size == 1, r != '\n' && unicode.IsControl(r), unicode.Is(unicode.Bidi_Control, r):
			return fmt.Sprintf("%.60q", text[max(i-20, 0):min(i+20, len(text))])
		}
	}
	if strings.Contains(text, "\nFORGED") || strings.HasPrefix(text, "FORGED") {
		return "a line that a name has made"
	}
	return ""
}

// named gives an input a hostile name, and takes it away. No name that is printed makes a terminal
// do anything.
func (s *soak) named(in soakInput, hostile string) {
	s.Helper()
	name := hostile + filepath.Ext(in.file)
	check := func(what string, status int, texts ...string) {
		s.count("hostile name", status)
		if status != exitDone && status != exitUsage {
			s.Errorf("belsim %s of %q, %s: exit code %d", in.args, name, what, status)
		}
		for _, text := range texts {
			if at := obeyed(text); at != "" {
				s.Errorf("belsim %s of %q, %s: prints %s", in.args, name, what, at)
			}
		}
	}
	s.place(in, name)
	status, stdout, stderr, _ := s.read(in, name)
	check("which is there", status, stdout, stderr)
	s.empty(filepath.Join(s.base, "work"))
	status, stdout, stderr, _ = s.read(in, name)
	check("which is missing", status, stdout, stderr)
	if status == exitUsage && strings.Count(stderr, "\n") != 1 {
		s.Errorf("belsim %s of %q: want one line, got %q", in.args, name, stderr)
	}
}

// attackInputs flips bits of all inputs, and gives them hostile names.
func (s *soak) attackInputs() {
	for _, in := range soakInputs {
		s.flip(in)
		s.named(in, hostileNames[s.random.IntN(len(hostileNames))])
	}
	for _, hostile := range hostileNames { // in the place of words
		for _, args := range [][]string{{hostile}, {"compare", hostile}, {"compare", "--decoder", hostile}, {"codes", "--" + hostile}, {"sweep", "--merge=" + hostile}} {
			status, stdout, stderr := run(s.T, args...)
			if at := obeyed(stdout + stderr); at != "" || status != exitUsage {
				s.Errorf("belsim %q: exit code %d, prints %s", args, status, at)
			}
		}
	}
}
