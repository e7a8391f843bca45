package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"belsim/plots"
	"belsim/theory/base/position"
	"belsim/theory/base/safefile"
	"belsim/theory/base/table"
)

// outputFlags say where results go.
type outputFlags struct {
	Output []string `short:"o" sep:"none" placeholder:"FILE" help:"Write the result to FILE, which ends in ${endings}; several times; .json also has the settings."`
	Format string   `enum:"text,json" default:"text" group:"output" help:"Format of standard output: ${enum}."`
	flag   string   // that names the files; "" is -o
}

// styleFlag says how pictures look.
type styleFlag struct {
	Style []string `enum:"text,untitled,${styles}" default:"text" group:"output" placeholder:"PLACE,..." help:"Where pictures appear, and their width in inches: text (6.3, the default), ${places}; and untitled."`
}

// AfterApply refuses two places.
func (f styleFlag) AfterApply() error {
	places := slices.DeleteFunc(slices.Clone(f.Style), func(word string) bool { return word == "untitled" })
	if len(places) > 1 {
		return fmt.Errorf("--style %s: want one place, and untitled for no titles", strings.Join(f.Style, ","))
	}
	return nil
}

// style is what pictures are drawn for.
func (f styleFlag) style() (s plots.Style) {
	for _, word := range f.Style {
		switch word {
		case "text":
		case "untitled":
			s.NoTitle = true
		default:
			s.Place = word
		}
	}
	return s
}

// pictureFlags are the outputFlags of commands that draw.
type pictureFlags struct {
	outputFlags
	styleFlag
}

// result is what a command gives, in all its forms.
type result struct {
	files  map[string]func(w io.Writer) error // by the ending of a file; json is what --format json prints
	figure func() (*plots.Figure, error)      // for the endings of pictures
	print  func(w io.Writer) error            // for people, on standard output, in lines of at most table.Width columns
}

// asJSON returns what writes a value as JSON.
func asJSON(v any) func(io.Writer) error {
	return func(w io.Writer) error { return table.WriteJSON(w, v) }
}

// write writes the form of the result that the ending of a path says.
func (r result) write(w io.Writer, path string) error {
	if make := r.files[format(path)]; make != nil {
		return make(w)
	}
	figure, err := r.figure()
	if err != nil {
		return err
	}
	return figure.Write(w, format(path))
}

// deliver writes a result to the output files, and then to standard output.
func (f outputFlags) deliver(env *environment, r result) error {
	if err := f.write(env, r.write); err != nil {
		return err
	}
	if f.Format == "json" {
		return r.files["json"](env.stdout)
	}
	return r.print(position.Writer(table.Fold(env.stdout), env.from))
}

// format is the ending of a file, without the dot.
func format(path string) string {
	return strings.TrimPrefix(strings.ToLower(filepath.Ext(path)), ".")
}

// checkOutput is checkFiles for the files that a result has, which may be empty yet.
func (f outputFlags) checkOutput(env *environment, r result) error {
	known := slices.Sorted(maps.Keys(r.files))
	if r.figure != nil {
		known = append(known, plots.Formats()...)
	}
	return f.checkFiles(env, known...)
}

// checkFiles refuses outputs that are known to fail before any work is done, such as files
// whose ending the command cannot write.
func (f outputFlags) checkFiles(env *environment, known ...string) error {
	for i, path := range f.Output {
		if !slices.Contains(known, format(path)) {
			want := fmt.Sprintf("%s: want a name ending in .%s", path, strings.Join(known, " ."))
			if slices.Contains([]string{"eps", "pgf", "tex", "tikz"}, format(path)) && slices.Contains(known, "pdf") {
				want += "; for LaTeX take .pdf"
			}
			return errors.New(want)
		}
		if slices.Contains(f.Output[:i], path) {
			return fmt.Errorf("%s %s is given twice", cmp.Or(f.flag, "-o"), path)
		}
		if err := safefile.Probe(path); err != nil {
			return outside(err)
		}
	}
	return env.files.claim(cmp.Or(f.flag, "-o"), f.Output...)
}

// write makes the output files, each by its path: all of them or none. Nobody ever sees one half-written. An
// error of make stays as it is, unless the system refused to write.
func (f outputFlags) write(env *environment, make func(w io.Writer, path string) error) error {
	for _, path := range f.Output {
		if err := env.files.mayWrite(path); err != nil {
			return err
		}
		var made error
		if err := env.unfinished.Add(path, func(w io.Writer) error {
			if slices.Contains([]string{"csv", "html", "json"}, format(path)) {
				w = position.Writer(w, env.from)
			}
			made = make(w, path)
			return made
		}); err != nil {
			switch {
			case made == nil:
				return outside(err)
			case environmental(err) == err:
				return made
			}
			return environmental(err)
		}
	}
	written, err := env.unfinished.Commit()
	env.files.written = append(env.files.written, written...)
	if err != nil {
		return outside(err)
	}
	return nil
}

// environmental marks errors of files as the environment's: the system refused something that
// was asked for rightly.
func environmental(err error) error {
	_, path := errors.AsType[*fs.PathError](err)
	_, link := errors.AsType[*os.LinkError](err)
	if path || link {
		return outside(err)
	}
	return err
}

// provenance says how a result was made: by the call of Python that ran the command, or by the command.
func (env *environment) provenance() table.Provenance {
	command := cmp.Or(os.Getenv(callVariable), "belsim "+strings.Join(quoted(env.args), " "))
	return table.Provenance{Command: command, Version: version()}
}

// quoted are arguments as a POSIX shell reads them: in single quotes where they have characters that it would
// interpret.
func quoted(args []string) []string {
	out := slices.Clone(args)
	for i, a := range args {
		if a == "" || strings.ContainsAny(a, " \t\n'\"\\$&|;<>()*?[]#~`!{}") {
			out[i] = "'" + strings.ReplaceAll(a, "'", `'\''`) + "'"
		}
	}
	return out
}
