// Package terminal shows texts in colour on terminals, and only there unless a user asks for it.
package terminal

import (
	"io"
	"os"
	"strings"

	"github.com/mattn/go-isatty"

	"belsim/theory/base/table"
)

// Choice says when there are colours.
type Choice string

const (
	Auto   Choice = "auto" // on a terminal that knows them, unless the environment says otherwise
	Always Choice = "always"
	Never  Choice = "never"
)

// Is reports whether a writer is a terminal.
func Is(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && (isatty.IsTerminal(f.Fd()) || isatty.IsCygwinTerminal(f.Fd()))
}

// Coloured reports whether a writer gets colours. With Auto the environment, which getenv reads,
// comes first: NO_COLOR, then FORCE_COLOR and CLICOLOR_FORCE (https://no-color.org,
// https://force-color.org). Then the writer has to be a terminal, and not a dumb one.
func Coloured(choice Choice, w io.Writer, getenv func(string) string) bool {
	set := func(name string) bool { v := getenv(name); return v != "" && v != "0" }
	switch {
	case choice == Always:
		return true
	case choice == Never || getenv("NO_COLOR") != "":
		return false
	case set("FORCE_COLOR") || set("CLICOLOR_FORCE"):
		return true
	}
	return getenv("TERM") != "dumb" && Is(w) && enable(w)
}

// ChoiceOf finds the value of --color in arguments that may be wrong, so that the message that says
// so is shown as it was asked for.
func ChoiceOf(args []string) Choice {
	choice := Auto
	for i, a := range args {
		if a == "--" {
			break
		}
		value, ok := strings.CutPrefix(a, "--color=")
		if a == "--color" && i+1 < len(args) {
			value, ok = args[i+1], true
		}
		if c := Choice(value); ok && (c == Auto || c == Always || c == Never) {
			choice = c
		}
	}
	return choice
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
