package table

import (
	"io"
	"strings"
)

// Emphasis says what a text is, so that a terminal can show it. The text says it, too: emphasis
// adds nothing that a reader without colours lacks.
type Emphasis byte

const (
	Plain   Emphasis = iota
	Best             // of a ranking
	Good             // a check passed
	Bad              // a check failed
	Caution          // the mark !
	Faint            // the mark ~
)

// Painter is a writer that shows emphasis, such as a terminal with colours.
type Painter interface {
	io.Writer
	// Paint returns a text as the writer shows it with emphasis.
	Paint(e Emphasis, text string) string
}

// Paint returns a text as w shows it with emphasis: the text itself unless w is a Painter.
func Paint(w io.Writer, e Emphasis, text string) string {
	if p, ok := w.(Painter); ok && e != Plain && text != "" {
		return p.Paint(e, text)
	}
	return text
}

// Notes are lines of text as w shows them below a table: marks at their beginnings are painted
// as in the table.
func Notes(w io.Writer, text string) string {
	lines := strings.SplitAfter(text, "\n")
	for i, line := range lines {
		if e := markOf(line); e != Plain {
			lines[i] = Paint(w, e, line[:1]) + line[1:]
		}
	}
	return strings.Join(lines, "")
}

// markOf is the emphasis of a cell or a line that begins with a mark.
func markOf(text string) Emphasis {
	switch mark, rest, _ := strings.Cut(strings.TrimRight(text, "\n"), " "); {
	case mark == "!":
		return Caution
	case mark == "~" && rest != "", text == "~":
		return Faint
	}
	return Plain
}
