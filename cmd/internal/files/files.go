// Package files keeps account of the files of a command line: those that it reads, those that it
// will write, and those that it has written. None is written over another.
package files

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"belsim/theory/base/arrayfile"
	"belsim/theory/base/inputfile"
	"belsim/theory/base/safefile"
)

// Input is a file that a command reads, with the flag or argument that names it.
type Input struct{ Flag, Path string }

// Ledger has the files of a command. The zero value has none.
type Ledger struct {
	Inputs  []Input
	Printed *os.File          // where standard output goes; nil where it is no file
	Written []string          // those that were written
	claimed map[string]string // those that will be, by their canonical paths: as they were named
}

// Inputs are the files that a command line names to be read: the values of flags and arguments with
// the tag "reads", and the results in a folder. Names of codes are among them, and are no files.
func Inputs(k *kong.Context) []Input {
	node := k.Selected()
	if node == nil { // a program without commands
		node = k.Model.Node
	}
	values := append([]*kong.Value{}, node.Positional...)
	for _, f := range k.Flags() {
		values = append(values, f.Value)
	}
	var out []Input
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
			if v.Tag.Get("reads") == "results" {
				out = append(out, sweepResults(name, path)...)
			}
		}
	}
	return out
}

// named are the files that a text may name: FILE, FILE.npz:NAME, logits:FILE, CODE:FILE,
// CODE:logits:FILE, NAME=FILE.
func named(flag, text string) []Input {
	file, _ := arrayfile.SplitArray(text)
	out := []Input{{flag, file}}
	for i := range file {
		if file[i] == ':' || file[i] == '=' {
			out = append(out, Input{flag, file[:i]}, Input{flag, file[i+1:]})
		}
	}
	return out
}

// sweepResults are the files in a folder of a sweep. Other files there may be written.
func sweepResults(flag, folder string) (out []Input) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil // the command says why
	}
	for _, e := range entries {
		if strings.EqualFold(filepath.Ext(e.Name()), ".jsonl") {
			out = append(out, Input{flag, filepath.Join(folder, e.Name())})
		}
	}
	return out
}

// CheckStandard refuses to read standard input for two things, and to print into a file that is
// read.
func (l *Ledger) CheckStandard() error {
	of := slices.DeleteFunc(slices.Clone(l.Inputs), func(in Input) bool { return in.Path != inputfile.Standard })
	if len(of) > 1 {
		return fmt.Errorf("%s - and %s - both read standard input; want - once, and files besides", of[0].Flag,
			of[1].Flag)
	}
	if l.Printed == nil {
		return nil
	}
	if to, err := l.Printed.Stat(); err == nil && to.Mode().IsRegular() {
		return l.mayWrite("to standard output", to)
	}
	return nil
}

// mayWrite refuses a file that the command reads.
func (l *Ledger) mayWrite(name string, file os.FileInfo) error {
	for _, in := range l.Inputs {
		if read, err := inputfile.Stat(in.Path); err == nil && os.SameFile(file, read) {
			return fmt.Errorf("cannot write %s: the command reads this file (%s %s); take another name", name, in.Flag,
				in.Path)
		}
	}
	return nil
}

// MayWrite refuses to write over a file that the command reads or prints into.
func (l *Ledger) MayWrite(path string) error {
	if at, err := os.Stat(path); err == nil {
		if err := l.mayWrite(path, at); err != nil {
			return err
		}
		if l.Printed != nil {
			if to, err := l.Printed.Stat(); err == nil && os.SameFile(at, to) {
				return fmt.Errorf("cannot write %s: standard output goes to this file; take another name", path)
			}
		}
	}
	return nil
}

// Claim refuses files that the command must not write, before any work is done: its inputs, and
// two that are one file.
func (l *Ledger) Claim(paths ...string) error {
	if l.claimed == nil {
		l.claimed = map[string]string{}
	}
	for _, path := range paths {
		if err := l.MayWrite(path); err != nil {
			return err
		}
		at := safefile.Canonical(path)
		if other, claimed := l.claimed[at]; claimed {
			return fmt.Errorf("cannot write both %s and %s: they are one file", other, path)
		}
		l.claimed[at] = path
	}
	return nil
}

// LeftBehind says which files an interrupted command has written.
func (l *Ledger) LeftBehind() string {
	if len(l.Written) == 0 {
		return "nothing was written"
	}
	return "written: " + strings.Join(l.Written, ", ")
}
