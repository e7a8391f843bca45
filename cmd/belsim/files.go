package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"belsim/montecarlo/safefile"
	"belsim/theory/arrayfile"
	"belsim/theory/inputfile"
)

// standardOutput remembers its first error, so that a full disk is seen although what prints
// does not look at every error.
type standardOutput struct {
	io.Writer
	printed bool // something was written
	err     error
}

func (o *standardOutput) Write(p []byte) (int, error) {
	if o.err != nil {
		return 0, o.err
	}
	n, err := o.Writer.Write(p)
	o.printed = o.printed || n > 0
	o.err = err
	return n, err
}

// failed returns the error of writing, or nil.
func (o *standardOutput) failed() error {
	cause := o.err
	if path := new(os.PathError); errors.As(cause, &path) {
		cause = path.Err
	}
	if cause == nil {
		return nil
	}
	return environmentError{fmt.Errorf("writing to standard output: %w", cause)}
}

// input is a file that a command reads.
type input struct{ flag, path string }

// inputs are the files that a command line names to be read: the values of flags and arguments
// with the tag "reads", and the results in a folder. Names of codes are among them, and are no files.
func inputs(k *kong.Context) []input {
	values := append([]*kong.Value{}, k.Selected().Positional...)
	for _, f := range k.Flags() {
		values = append(values, f.Value)
	}
	var out []input
	for _, v := range values {
		if !v.Tag.Has("reads") {
			continue
		}
		name := v.Name // of an argument
		if v.Flag != nil {
			name = v.ShortSummary()
		}
		var paths []string
		switch value := v.Target.Interface().(type) {
		case string:
			paths = []string{value}
		case []string:
			paths = value
		}
		for _, path := range paths {
			file, _ := arrayfile.SplitArray(path)
			out = append(out, input{name, file})
			for kind := true; kind; { // logits:FILE, CODE:FILE, CODE:logits:FILE
				if _, file, kind = strings.Cut(file, ":"); kind {
					out = append(out, input{name, file})
				}
			}
			if v.Tag.Get("reads") == "results" {
				out = append(out, sweepResults(name, path)...)
			}
		}
	}
	return out
}

// checkStandardInput refuses to read standard input for two things.
func (env *environment) checkStandardInput() error {
	of := slices.DeleteFunc(slices.Clone(env.inputs), func(in input) bool { return in.path != inputfile.Standard })
	if len(of) > 1 {
		return fmt.Errorf("%s - and %s - both read standard input; want - once, and files besides", of[0].flag, of[1].flag)
	}
	return nil
}

// sweepResults are the files in a folder of a sweep. Other files there may be written.
func sweepResults(flag, folder string) (out []input) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil // the command says why
	}
	for _, e := range entries {
		if format(e.Name()) == "jsonl" {
			out = append(out, input{flag, filepath.Join(folder, e.Name())})
		}
	}
	return out
}

// mayWrite refuses to write over a file that the command reads or has written.
func (env *environment) mayWrite(path string) error {
	inputs := env.inputs
	if _, err := os.Stat(path); err != nil {
		inputs = nil // what is read exists
	}
	for _, in := range inputs {
		if safefile.Same(path, in.path) {
			return fmt.Errorf("cannot write %s: the command reads this file (%s %s); take another name", path, in.flag, in.path)
		}
	}
	for _, other := range env.written {
		if safefile.Same(path, other) {
			return fmt.Errorf("cannot write %s: the command has written this file as %s; take another name", path, other)
		}
	}
	return nil
}

// claim refuses files that the command must not write, before any work is done: its inputs, and
// two that are one file.
func (env *environment) claim(paths ...string) error {
	for _, path := range paths {
		if err := env.mayWrite(path); err != nil {
			return err
		}
		for _, other := range env.claimed {
			if safefile.Same(path, other) {
				return fmt.Errorf("cannot write both %s and %s: they are one file", other, path)
			}
		}
		env.claimed = append(env.claimed, path)
	}
	return nil
}

// leftBehind says which files an interrupted command has written.
func (env *environment) leftBehind() string {
	const most = 3
	n := len(env.written)
	rest := "and nothing else"
	if env.stdout.printed {
		rest = "part of the output was printed, and no other file was written"
	}
	switch {
	case n == 0 && env.stdout.printed:
		return "part of the output was printed, and no file was written"
	case n == 0:
		return "nothing was written"
	case n == 1:
		return env.written[0] + " was written, " + rest
	case n > most:
		return fmt.Sprintf("%s and %d more files were written, %s", strings.Join(env.written[:most], ", "), n-most, rest)
	}
	return strings.Join(env.written, ", ") + " were written, " + rest
}
