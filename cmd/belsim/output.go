package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"belsim/montecarlo/scenario"
	"belsim/montecarlo/sweep/jobs"
	"belsim/plots"
	"belsim/theory/base/safefile"
	"belsim/theory/base/table"
)

// outputFlags say where results go.
type outputFlags struct {
	Output []string `short:"o" sep:"none" placeholder:"FILE" help:"Write the result to FILE: .png, .svg and .pdf draw it; .csv, .json and .npy hold the numbers; .tex is for pgfplots, and reads the .csv of the same name. May be given several times."`
	figureFlags
	IfExists string `enum:"overwrite,fail" default:"overwrite" help:"What to do when FILE exists: ${enum}."`
	Format   string `enum:"text,markdown,latex" default:"text" help:"Format of tables on standard output: ${enum}."`
	JSON     bool   `name:"json" help:"Print JSON on standard output instead of a table."`
	Quiet    bool   `short:"q" help:"No progress and no notes on standard error."`
}

// figureFlags say what pictures are drawn for.
type figureFlags struct {
	Size  string `enum:"text,column" default:"text" help:"Width of figures: text (6.3 inches) or column (3.3 inches, one of two)."`
	Style string `enum:"${styles}" default:"plain" help:"Where figures will appear: ${enum}; sets widths, letters and 600 dots per inch."`
	Text  bool   `name:"svg-text" help:"Write text in .svg as text, with its font, instead of outlines of letters."`
}

// styles are the values of --style.
func styles() string {
	names := []string{"plain"}
	for _, s := range plots.Styles() {
		names = append(names, string(s))
	}
	return strings.Join(names, ",")
}

// size is what figures are drawn for.
func (f figureFlags) size() plots.Size {
	s := plots.Size{Column: f.Size == "column", Text: f.Text}
	if f.Style != "plain" {
		s.Style = plots.Style(f.Style)
	}
	return s
}

// print prints a table on standard output, in the format of --format.
func (f outputFlags) print(env *environment, t *table.Table) error {
	return t.Write(env.stdout, f.Format)
}

// format is the ending of a file, without the dot.
func format(path string) string {
	const vega = "vl.json" // a specification of Vega-Lite
	if strings.HasSuffix(strings.ToLower(path), "."+vega) {
		return vega
	}
	return strings.TrimPrefix(strings.ToLower(filepath.Ext(path)), ".")
}

// stem is a path without its ending.
func stem(path string) string { return strings.TrimSuffix(path, filepath.Ext(path)) }

// checkOutput refuses outputs that are known to fail before any work is done, such as files
// whose ending the command cannot write.
func (f outputFlags) checkOutput(env *environment, known ...string) error {
	for i, path := range f.Output {
		ending := format(path)
		if !slices.Contains(known, ending) {
			return fmt.Errorf("%s: cannot write %q here; want a name ending in .%s", path, "."+ending, strings.Join(known, " ."))
		}
		if slices.Contains(f.Output[:i], path) {
			return fmt.Errorf("-o %s is given twice", path)
		}
		if ending == "tex" {
			if err := plots.CheckTeXName(filepath.Base(path)); err != nil {
				return fmt.Errorf("cannot write %s: %w", path, err)
			}
		}
		if info, err := os.Stat(filepath.Dir(path)); err != nil {
			return fmt.Errorf("cannot write %s: %w", path, err)
		} else if !info.IsDir() {
			return fmt.Errorf("cannot write %s: %s is not a folder", path, filepath.Dir(path))
		}
		if _, err := safefile.Resolve(path); err != nil {
			return fmt.Errorf("cannot write %s: %w", path, err)
		}
		switch info, err := os.Stat(path); {
		case err == nil && info.IsDir():
			return fmt.Errorf("cannot write %s: it is a folder", path)
		case err == nil && f.IfExists == "fail":
			return fmt.Errorf("%s exists; take another name or --if-exists overwrite", path)
		}
	}
	return env.files.Claim(f.Output...)
}

// writeFigure returns a function that writes a figure to w, in the format of a path. The .tex
// reads the .csv beside it.
func writeFigure(w io.Writer, path string) func(*plots.Figure, error) error {
	return func(f *plots.Figure, err error) error {
		switch {
		case err != nil:
			return err
		case format(path) == "tex":
			return f.TeX(w, filepath.Base(stem(path))+".csv")
		}
		return f.Write(w, format(path))
	}
}

// write makes the output files, each by its path.
func (f outputFlags) write(env *environment, make func(w io.Writer, path string) error) error {
	for _, path := range f.Output {
		if err := f.writeFile(env, path, func(w io.Writer) error { return make(w, path) }); err != nil {
			return err
		}
	}
	return nil
}

// writeFile makes a file that nobody ever sees half-written. An error of make keeps its exit
// code, unless the system refused to write.
func (f outputFlags) writeFile(env *environment, path string, make func(w io.Writer) error) error {
	if err := env.files.MayWrite(path); err != nil {
		return err
	}
	safefile.RemoveAbandoned(path)
	var made error
	err := safefile.Write(path, safefile.Options{KeepExisting: f.IfExists == "fail"}, func(w io.Writer) error {
		made = make(w)
		return made
	})
	switch {
	case err == nil:
		env.files.Wrote(path)
		return nil
	case made == nil:
		return outside(err)
	}
	return environmental(err)
}

// environmental marks errors of files as the environment's: the system refused something that
// was asked for rightly.
func environmental(err error) error {
	var path *fs.PathError
	var link *os.LinkError
	if errors.As(err, &path) || errors.As(err, &link) {
		return outside(err)
	}
	return err
}

// firstError returns the first error that is not nil.
func firstError(all ...error) error {
	for _, err := range all {
		if err != nil {
			return err
		}
	}
	return nil
}

// provenance says how a result was made.
func (env *environment) provenance() scenario.Provenance {
	return scenario.Provenance{Command: "belsim " + strings.Join(quoted(env.args), " "), Version: version()}
}

// quoted quotes the arguments that a shell would split.
func quoted(args []string) []string {
	out := make([]string, len(args))
	for i, a := range args {
		out[i] = jobs.Quote(a)
	}
	return out
}
