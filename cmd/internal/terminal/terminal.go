// Package terminal knows terminals, and shows texts on them without the characters that a terminal obeys, which
// names of files may have.
package terminal

import (
	"io"
	"os"
	"regexp"

	"github.com/mattn/go-isatty"

	"belsim/theory/base/table"
)

// Is reports whether a writer is a terminal.
func Is(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && (isatty.IsTerminal(f.Fd()) || isatty.IsCygwinTerminal(f.Fd()))
}

// parts are the texts of a line, a tab ending one, too.
var parts = regexp.MustCompile("[^\n\t]+")

// Visible is table.Visible of the lines of a text. It keeps tabs.
func Visible(text string) string { return parts.ReplaceAllStringFunc(text, table.Visible) }
