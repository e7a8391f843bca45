// Package terminal knows terminals.
package terminal

import (
	"io"
	"os"

	"github.com/mattn/go-isatty"
)

// Is reports whether a writer is a terminal.
func Is(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && (isatty.IsTerminal(f.Fd()) || isatty.IsCygwinTerminal(f.Fd()))
}
