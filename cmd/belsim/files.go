package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"unicode/utf8"

	"belsim/cmd/internal/terminal"
	"belsim/theory/base/table"
)

// standardOutput is where a command prints. It shows the characters that a terminal would obey, unless
// what is printed is a document for programs. It remembers its first error, so that a full disk is seen
// although what prints does not look at every error.
type standardOutput struct {
	io.Writer
	printed  bool // something was written
	document bool
	begun    []byte // the first bytes of a character
	err      error
}

func (o *standardOutput) Write(p []byte) (int, error) {
	if o.err != nil {
		return 0, o.err
	}
	text := p
	if !o.document && slices.ContainsFunc(p, func(b byte) bool { return b < ' ' && b != '\n' && b != '\t' || b >= 0x7f }) || len(o.begun) > 0 {
		text = slices.Concat(o.begun, p)
		whole := len(text)
		for i := max(0, whole-utf8.UTFMax); i < whole; i++ {
			if utf8.RuneStart(text[i]) && !utf8.FullRune(text[i:]) {
				whole = i
			}
		}
		o.begun = slices.Clone(text[whole:])
		text = []byte(terminal.Visible(string(text[:whole])))
	}
	n, err := o.Writer.Write(text)
	o.printed = o.printed || n > 0
	o.err = err
	if err != nil {
		return 0, err
	}
	return len(p), nil
}

// failed writes what is left, and returns the error of writing, or nil.
func (o *standardOutput) failed() error {
	if o.err == nil && len(o.begun) > 0 {
		_, o.err = io.WriteString(o.Writer, table.Visible(string(o.begun)))
	}
	cause := o.err
	if path := new(os.PathError); errors.As(cause, &path) {
		cause = path.Err
	}
	if cause == nil {
		return nil
	}
	return environmentError{fmt.Errorf("writing to standard output: %w", cause)}
}
