package main

import (
	"errors"
	"fmt"
	"io"
	"os"

	"belsim/cmd/internal/terminal"
	"belsim/theory/base/table"
)

// standardOutput remembers its first error, so that a full disk is seen although what prints
// does not look at every error.
type standardOutput struct {
	io.Writer
	printed  bool // something was written
	coloured bool
	err      error
}

// Paint implements table.Painter.
func (o *standardOutput) Paint(e table.Emphasis, text string) string {
	if !o.coloured {
		return text
	}
	return terminal.Paint(e, text)
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
