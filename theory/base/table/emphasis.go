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

// paintLine paints a line of a table, whose columns are laid out already, so that escape sequences
// are not counted in widths: cells with marks as these say, and the others as the row is. Cells
// stand in the line in their order with only spaces between them. So the first place of a cell
// after the cell before it is its own, because a cell, trimmed, does not begin with a space.
func paintLine(w io.Writer, line string, cells []string, row Emphasis) string {
	var b strings.Builder
	rest := line
	// plain paints text that has no mark, but not the spaces around it.
	plain := func(text string) {
		inner := strings.TrimSpace(text)
		before, after, _ := strings.Cut(text, inner)
		b.WriteString(before + Paint(w, row, inner) + after)
	}
	for from, i := 0, 0; i < len(cells); i++ {
		cell := strings.TrimSpace(cells[i])
		at := strings.Index(rest[from:], cell)
		if at < 0 || cell == "" {
			continue
		}
		at += from
		from = at + len(cell)
		if e := markOf(cell); e != Plain {
			plain(rest[:at])
			b.WriteString(Paint(w, e, cell))
			rest, from = rest[from:], 0
		}
	}
	plain(rest)
	return b.String()
}
