// Package terminal shows texts on terminals: in colour, and only there unless the environment asks for it,
// and without the characters that a terminal obeys, which names of files may have.
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

// Coloured reports whether a writer gets colours. The environment, which getenv reads, comes first:
// NO_COLOR, then FORCE_COLOR and CLICOLOR_FORCE (https://no-color.org, https://force-color.org). Then
// the writer has to be a terminal, and not a dumb one.
func Coloured(w io.Writer, getenv func(string) string) bool {
	set := func(name string) bool { v := getenv(name); return v != "" && v != "0" }
	switch {
	case getenv("NO_COLOR") != "":
		return false
	case set("FORCE_COLOR") || set("CLICOLOR_FORCE"):
		return true
	}
	return getenv("TERM") != "dumb" && Is(w) && enable(w)
}

// Paint returns a text with the escape sequences of a terminal around it (ECMA-48, Select Graphic
// Rendition). The colours are two of the first eight, which users choose to be readable.
func Paint(e table.Emphasis, text string) string {
	code, ok := map[table.Emphasis]string{
		table.Best: "1", table.Good: "1;32", table.Bad: "1;31", table.Caution: "33", table.Faint: "2",
	}[e]
	if !ok {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}

// parts are the sequences of Paint, and the texts around them in a line, a tab ending one, too.
var parts = regexp.MustCompile("\x1b\\[(0|1|1;31|1;32|2|33)m|[^\n\t\x1b]+|\x1b")

// Visible is table.Visible of the lines of a text. It keeps tabs, and the sequences of Paint in a text with
// colours.
func Visible(text string, coloured bool) string {
	return parts.ReplaceAllStringFunc(text, func(part string) string {
		if coloured && part[0] == '\x1b' && len(part) > 1 {
			return part
		}
		return table.Visible(part)
	})
}
