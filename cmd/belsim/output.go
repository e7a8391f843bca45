package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"belsim/plots"
)

// outputFlags say where results go.
type outputFlags struct {
	Output   []string `short:"o" sep:"none" placeholder:"FILE" help:"Write the result to FILE: .png, .svg and .pdf draw it; .csv, .json and .npy hold the numbers; .tex is for pgfplots, and reads the .csv of the same name. May be given several times."`
	Size     string   `enum:"text,column" default:"text" help:"Width of figures: text (6.3 inches) or column (3.3 inches, one of two)."`
	IfExists string   `enum:"overwrite,fail" default:"overwrite" help:"What to do when FILE exists: ${enum}."`
	JSON     bool     `name:"json" help:"Print JSON on standard output instead of a table."`
	Quiet    bool     `short:"q" help:"No progress and no notes on standard error."`
}

// size is that of figures.
func (f outputFlags) size() plots.Size {
	if f.Size == "column" {
		return plots.ColumnWidth
	}
	return plots.TextWidth
}

// format is the ending of a file, without the dot.
func format(path string) string {
	return strings.TrimPrefix(strings.ToLower(filepath.Ext(path)), ".")
}

// stem is a path without its ending.
func stem(path string) string { return strings.TrimSuffix(path, filepath.Ext(path)) }

// checkOutput refuses, before any work is done, what could be known to fail: endings
// that the command cannot write among it.
func (f outputFlags) checkOutput(known ...string) error {
	for i, path := range f.Output {
		ending := format(path)
		if !slices.Contains(known, ending) {
			return fmt.Errorf("%s: cannot write %q here; want a name ending in .%s", path, "."+ending, strings.Join(known, " ."))
		}
		if slices.Contains(f.Output[:i], path) {
			return fmt.Errorf("-o %s is given twice", path)
		}
		if info, err := os.Stat(filepath.Dir(path)); err != nil {
			return fmt.Errorf("cannot write %s: %w", path, err)
		} else if !info.IsDir() {
			return fmt.Errorf("cannot write %s: %s is not a folder", path, filepath.Dir(path))
		}
		switch info, err := os.Stat(path); {
		case err == nil && info.IsDir():
			return fmt.Errorf("cannot write %s: it is a folder", path)
		case err == nil && f.IfExists == "fail":
			return fmt.Errorf("%s exists; take another name or --if-exists overwrite", path)
		}
	}
	return nil
}

// writeFigure writes a figure in one of the formats that draw. The .tex reads the
// .csv beside it.
func writeFigure(w io.Writer, f *plots.Figure, path string) error {
	if format(path) == "tex" {
		return f.TeX(w, filepath.Base(stem(path))+".csv")
	}
	return f.Write(w, format(path))
}

// write makes the output files, each by its path.
func (f outputFlags) write(make func(w io.Writer, path string) error) error {
	for _, path := range f.Output {
		if err := f.writeFile(path, func(w io.Writer) error { return make(w, path) }); err != nil {
			return err
		}
	}
	return nil
}

// writeFile makes a file: under a temporary name in the same folder, which takes the
// final name when all is safely on disk. A reader never sees half a file, and after
// an error there is none.
func (f outputFlags) writeFile(path string, make func(w io.Writer) error) (err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("writing %s: %w", path, err)
		}
	}()
	// Not os.CreateTemp: its files are private, and results are shared.
	name := filepath.Join(filepath.Dir(path), fmt.Sprintf(".%s.%d.tmp", filepath.Base(path), os.Getpid()))
	file, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o666)
	if err != nil {
		return outside(err)
	}
	defer func() {
		if err != nil {
			file.Close()
			os.Remove(name)
		}
	}()
	w := bufio.NewWriter(file)
	if err := make(w); err != nil {
		var path *fs.PathError
		if errors.As(err, &path) {
			return outside(err)
		}
		return err
	}
	if err := w.Flush(); err != nil {
		return outside(err)
	}
	if err := file.Sync(); err != nil {
		return outside(err)
	}
	if err := file.Close(); err != nil {
		return outside(err)
	}
	if f.IfExists == "fail" {
		// Link refuses to replace a file that came meanwhile.
		if err := os.Link(name, path); err != nil {
			return outside(err)
		}
		return os.Remove(name)
	}
	return outside(os.Rename(name, path))
}

// number is a float64 whose NaN is null in JSON and empty in CSV: something
// that does not exist.
type number float64

// MarshalJSON implements json.Marshaler.
func (n number) MarshalJSON() ([]byte, error) {
	if math.IsNaN(float64(n)) || math.IsInf(float64(n), 0) {
		return []byte("null"), nil
	}
	return json.Marshal(float64(n))
}

// UnmarshalJSON implements json.Unmarshaler.
func (n *number) UnmarshalJSON(text []byte) error {
	if string(text) == "null" {
		*n = none
		return nil
	}
	return json.Unmarshal(text, (*float64)(n))
}

// String is the shortest text that reads back as the same number.
func (n number) String() string {
	if math.IsNaN(float64(n)) {
		return ""
	}
	return fmt.Sprint(float64(n))
}

// short is for tables: four significant digits, a dash for what does not exist.
func (n number) short() string {
	if math.IsNaN(float64(n)) {
		return "–"
	}
	return fmt.Sprintf("%.4g", float64(n))
}

var none = number(math.NaN())

// writeJSON writes a result, indented, with a final newline.
func writeJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(v)
}

// provenance is what a result file says about how it was made.
type provenance struct {
	Command string `json:"command"`
	Version string `json:"version"`
}

func (env *environment) provenance() provenance {
	return provenance{"belsim " + strings.Join(quoted(env.args), " "), version()}
}

// quoted quotes the arguments that a shell would split.
func quoted(args []string) []string {
	out := make([]string, len(args))
	for i, a := range args {
		if a == "" || strings.ContainsAny(a, " \t\n'\"\\$&|;<>()*?[]#~`!{}") {
			a = "'" + strings.ReplaceAll(a, "'", `'\''`) + "'"
		}
		out[i] = a
	}
	return out
}
