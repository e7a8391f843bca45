package main

import (
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"belsim/theory/base/arrayfile"
	"belsim/theory/base/inputfile"
	"belsim/theory/base/safefile"
)

// input is a file that a command reads, with the flag or argument that names it.
type input struct{ flag, path string }

// ledger keeps account of the files of a command line: those that it reads, those that it will write, and those
// that it has written. None is written over another. The zero value has none.
type ledger struct {
	inputs  []input
	printed *os.File          // where standard output goes; nil where it is no file
	written []string          // those that were written
	claimed map[string]string // those that will be, by their canonical paths: as they were named
}

// inputsOf are the files that a command line names to be read: the values of flags and arguments with
// the tag "reads". Names of codes are among them, and are no files.
func inputsOf(k *kong.Context) []input {
	values := slices.Clone(k.Selected().Positional)
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
		default: // values that files may give
			some := reflect.ValueOf(value)
			if some.Kind() != reflect.Slice {
				some = reflect.Append(reflect.MakeSlice(reflect.SliceOf(some.Type()), 0, 1), some)
			}
			for i := range some.Len() {
				if of, ok := some.Index(i).Interface().(interface{ File() string }); ok && of.File() != "" {
					paths = append(paths, of.File())
				}
			}
		}
		for _, path := range paths {
			out = append(out, named(name, path)...)
		}
	}
	return out
}

// named are the files that a text may name: FILE, FILE.npz:NAME, logits:FILE, CODE:FILE,
// CODE:logits:FILE, NAME=FILE.
func named(flag, text string) []input {
	file, _ := arrayfile.SplitArray(text)
	out := []input{{flag, file}}
	for i := range file {
		if file[i] == ':' || file[i] == '=' {
			out = append(out, input{flag, file[:i]}, input{flag, file[i+1:]})
		}
	}
	return out
}

// checkStandard refuses to read standard input for two things, and to print into a file that is
// read.
func (l *ledger) checkStandard() error {
	of := slices.DeleteFunc(slices.Clone(l.inputs), func(in input) bool { return in.path != inputfile.Standard })
	if len(of) > 1 {
		return fmt.Errorf("%s - and %s - both read standard input; want - once, and files besides", of[0].flag,
			of[1].flag)
	}
	if l.printed == nil {
		return nil
	}
	if to, err := l.printed.Stat(); err == nil && to.Mode().IsRegular() {
		return l.notRead("to standard output", to)
	}
	return nil
}

// notRead refuses a file that the command reads.
func (l *ledger) notRead(name string, file os.FileInfo) error {
	for _, in := range l.inputs {
		if read, err := inputfile.Stat(in.path); err == nil && os.SameFile(file, read) {
			return fmt.Errorf("cannot write %s: the command reads this file (%s %s); take another name", name, in.flag,
				in.path)
		}
	}
	return nil
}

// mayWrite refuses to write over a file that the command reads or prints into.
func (l *ledger) mayWrite(path string) error {
	if at, err := os.Stat(path); err == nil {
		if err := l.notRead(path, at); err != nil {
			return err
		}
		if l.printed != nil {
			if to, err := l.printed.Stat(); err == nil && os.SameFile(at, to) {
				return fmt.Errorf("cannot write %s: standard output goes to this file; take another name", path)
			}
		}
	}
	return nil
}

// claim refuses files that the command must not write, before any work is done: its inputs, and
// two that are one file.
func (l *ledger) claim(flag string, paths ...string) error {
	if l.claimed == nil {
		l.claimed = map[string]string{}
	}
	for _, path := range paths {
		if err := l.mayWrite(path); err != nil {
			return err
		}
		at := safefile.Canonical(path)
		if other, claimed := l.claimed[at]; claimed {
			return fmt.Errorf("cannot write both %s and %s %s: they are one file", other, flag, path)
		}
		l.claimed[at] = flag + " " + path
	}
	return nil
}

// leftBehind says which files an interrupted command has written.
func (l *ledger) leftBehind() string {
	if len(l.written) == 0 {
		return "nothing was written"
	}
	return "written: " + strings.Join(l.written, ", ")
}
