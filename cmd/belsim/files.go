package main

import (
	"errors"
	"fmt"
	"io"
	"os"

	"belsim/theory/base/position"
	"belsim/theory/base/table"
)

// standardOutput is where a command prints, whole characters at a time. It shows the characters
// that a terminal would obey, unless what is printed is a document for programs. It remembers its
// first error, so that a full disk is seen although what prints does not look at every error.
type standardOutput struct {
	io.Writer
	document bool
	err      error

	counted io.Writer // finishes positions in sentences
}

// newStandardOutput prints to w, with positions that count from a number.
func newStandardOutput(w io.Writer, from int) *standardOutput {
	return &standardOutput{Writer: w, counted: position.Writer(w, from)}
}

func (o *standardOutput) Write(p []byte) (int, error) {
	if o.err != nil {
		return 0, o.err
	}
	text := string(p)
	if !o.document {
		text = table.VisibleLines(text)
	}
	if _, o.err = io.WriteString(o.counted, text); o.err != nil {
		return 0, o.err
	}
	return len(p), nil
}

// failed returns the error of writing, or nil.
func (o *standardOutput) failed() error {
	cause := o.err
	if path, ok := errors.AsType[*os.PathError](cause); ok {
		cause = path.Err
	}
	if cause == nil {
		return nil
	}
	return environmentError{fmt.Errorf("writing to standard output: %w", cause)}
}
