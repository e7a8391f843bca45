package table

import (
	"encoding/csv"
	"fmt"
	"io"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"text/tabwriter"
	"unicode/utf8"
)

// Align is the alignment of a column in Markdown and LaTeX.
type Align byte

const (
	// Auto aligns numbers to the right, and everything else to the left.
	Auto Align = iota
	Left
	Right
)

// Style is the layout of a table as plain text.
type Style byte

const (
	// Grid aligns all columns to the right.
	Grid Style = iota
	// List aligns all columns to the left, and indents the lines by two spaces: names,
	// their values, and notes.
	List
)

// Table is a table for people: data, which Text, Markdown, LaTeX and CSV print.
type Table struct {
	Head  []string // headings; nil for a table without
	Rows  [][]string
	Align []Align // by column; columns beyond it are Auto
	Style Style
	// Emphasis of the rows, where Text writes to a Painter; rows beyond it are Plain. It is
	// no part of the other formats. Cells "~", and those that begin with "! ", are marks.
	Emphasis []Emphasis

	err error // of Of; what prints the table returns it
}

// Column is a column whose cells are computed from a row.
type Column[R any] struct {
	field string // it stands in the place of this one; "" for the end
	head  string
	cell  func(R) string
}

// Replace computes the column of a field with a text tag, which says where it stands. An
// empty head leaves the heading as the tag has it. The field is named as in CSV and
// JSON.
func Replace[R any](field, head string, cell func(R) string) Column[R] {
	return Column[R]{field, head, cell}
}

// Append computes a column that stands after the columns of the fields.
func Append[R any](head string, cell func(R) string) Column[R] {
	return Column[R]{"", head, cell}
}

// Of makes a table of rows of type R, a struct: a column for each field with a text tag,
// in order, then those that are appended. An error, which can only be one of the row
// type's tags or of the columns' names, is returned by what prints the table.
func Of[R any](rows []R, columns ...Column[R]) *Table {
	t := &Table{Head: []string{}}
	typ := reflect.TypeFor[R]()
	fields, err := fieldsOf(typ)
	if err != nil {
		t.err = fmt.Errorf("making a table: %w", err)
		return t
	}
	fields = slices.DeleteFunc(fields, func(f field) bool { return !f.text })
	computed := make([]func(R) string, len(fields))
	for i := range fields {
		t.Head = append(t.Head, fields[i].head)
		t.Align = append(t.Align, Left)
		if k := fields[i].base().Kind(); isSigned(k) || isUnsigned(k) || isFloat(k) {
			t.Align[i] = Right
		}
	}
	for _, c := range columns {
		if c.field == "" {
			t.Head = append(t.Head, c.head)
			t.Align = append(t.Align, Auto)
			computed = append(computed, c.cell)
			continue
		}
		at := slices.IndexFunc(fields, func(f field) bool { return f.name == c.field })
		if at < 0 {
			t.err = fmt.Errorf("making a table: %v has no field %q with a text tag", typ, c.field)
			return t
		}
		computed[at] = c.cell
		if c.head != "" {
			t.Head[at] = c.head
		}
		if t.Align[at] == Left {
			t.Align[at] = Auto
		}
	}
	for r := range rows {
		row := reflect.ValueOf(&rows[r]).Elem()
		cells := make([]string, len(computed))
		for i, of := range computed {
			switch {
			case of != nil:
				cells[i] = of(rows[r])
			default:
				cells[i] = dash
				if v, ok := fields[i].at(row); ok {
					cells[i] = forPeople(fields[i].verb, v)
				}
			}
		}
		t.Rows = append(t.Rows, cells)
	}
	return t
}

// Formats returns the formats of Write.
func Formats() []string { return []string{"text", "markdown", "latex", "csv"} }

// Write prints the table in a format: text, markdown, latex or csv.
func (t *Table) Write(w io.Writer, format string) error {
	switch format {
	case "text":
		return t.Text(w)
	case "markdown":
		return t.Markdown(w)
	case "latex":
		return t.LaTeX(w)
	case "csv":
		return t.CSV(w)
	}
	return fmt.Errorf("a table cannot be written as %q; want %s", format, strings.Join(Formats(), ", "))
}

// Text prints the table for people, its columns two spaces apart.
func (t *Table) Text(w io.Writer) error {
	if _, ok := w.(Painter); !ok || t.err != nil {
		return t.layOut(w)
	}
	var plain strings.Builder
	if err := t.layOut(&plain); err != nil {
		return err
	}
	first := 0 // the line of the first row
	if t.Head != nil {
		first = 1
	}
	lines := strings.SplitAfter(plain.String(), "\n")
	for i, cells := range t.Rows {
		row := Plain
		if i < len(t.Emphasis) {
			row = t.Emphasis[i]
		}
		shown := make([]string, len(cells))
		for k, cell := range cells {
			shown[k] = Visible(cell)
		}
		lines[first+i] = paintLine(w, lines[first+i], shown, row)
	}
	_, err := io.WriteString(w, strings.Join(lines, ""))
	return err
}

// layOut prints the table without emphasis.
func (t *Table) layOut(w io.Writer) error {
	if t.err != nil {
		return t.err
	}
	// tabwriter writes cells in many pieces: the first error ends it, and Flush returns
	// it.
	flags, start, end := tabwriter.AlignRight, "", "\t\n"
	if t.Style == List {
		flags, start, end = 0, "  ", "\n"
	}
	out := tabwriter.NewWriter(w, 0, 0, 2, ' ', flags)
	lines := t.Rows
	if t.Head != nil {
		lines = append([][]string{t.Head}, lines...)
	}
	for _, cells := range lines {
		shown := make([]string, len(cells))
		for i, cell := range cells {
			shown[i] = Visible(cell)
		}
		if _, err := io.WriteString(out, start+strings.Join(shown, "\t")+end); err != nil {
			return err
		}
	}
	return out.Flush()
}

// CSV prints the headings, where there are some, and the cells. A text that a spreadsheet
// would take for a formula has an apostrophe before it.
func (t *Table) CSV(w io.Writer) error {
	if t.err != nil {
		return t.err
	}
	out := csv.NewWriter(w)
	if t.Head != nil {
		if err := out.Write(t.Head); err != nil {
			return err
		}
	}
	for _, cells := range t.Rows {
		record := make([]string, len(cells))
		for i, cell := range cells {
			record[i] = harmless(cell)
		}
		if err := out.Write(record); err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
}

// columns is the number of columns.
func (t *Table) columns() int {
	n := len(t.Head)
	for _, cells := range t.Rows {
		n = max(n, len(cells))
	}
	return n
}

// numeric is a number, with what may follow it: a standard error, a unit, a note in
// parentheses.
var numeric = regexp.MustCompile(`^[+−-]?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?( ± .*| \(.*\)| ?[%kMGT])?$`)

// right reports whether a column is aligned to the right.
func (t *Table) right(column int) bool {
	if column < len(t.Align) && t.Align[column] != Auto {
		return t.Align[column] == Right
	}
	numbers := 0
	for _, cells := range t.Rows {
		switch c := at(cells, column); {
		case c == "" || c == dash:
		case numeric.MatchString(c):
			numbers++
		default:
			return false
		}
	}
	return numbers > 0
}

// at is a cell; "" where the row is shorter.
func at(cells []string, column int) string {
	if column < len(cells) {
		return cells[column]
	}
	return ""
}

// Markdown prints the table as GitHub's Markdown has it.
func (t *Table) Markdown(w io.Writer) error {
	if t.err != nil {
		return t.err
	}
	return writeMarkdown(w, t, escapeMarkdown)
}

func writeMarkdown(w io.Writer, t *Table, escape func(string) string) error {
	n := t.columns()
	if n == 0 {
		return nil
	}
	lines := append([][]string{t.Head}, t.Rows...)
	escaped := make([][]string, len(lines))
	width := make([]int, n)
	for i, cells := range lines {
		escaped[i] = make([]string, n)
		for k := range n {
			escaped[i][k] = escape(at(cells, k))
			width[k] = max(width[k], 3, utf8.RuneCountInString(escaped[i][k]))
		}
	}
	var b strings.Builder
	for i, cells := range escaped {
		for k, c := range cells {
			fill := strings.Repeat(" ", width[k]-utf8.RuneCountInString(c))
			if t.right(k) {
				b.WriteString("| " + fill + c + " ")
			} else {
				b.WriteString("| " + c + fill + " ")
			}
		}
		b.WriteString("|\n")
		if i > 0 {
			continue
		}
		for k := range n {
			if t.right(k) {
				b.WriteString("| " + strings.Repeat("-", width[k]-1) + ": ")
			} else {
				b.WriteString("| " + strings.Repeat("-", width[k]) + " ")
			}
		}
		b.WriteString("|\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

var markdownSpecial = strings.NewReplacer(
	`\`, `\\`, "`", "\\`", "*", `\*`, "_", `\_`, "[", `\[`, "]", `\]`, "<", `\<`, ">", `\>`,
	"~", `\~`, "|", `\|`, "$", `\$`, "&", `\&`, "\r\n", " ", "\n", " ", "\r", " ", "\t", " ",
)

func escapeMarkdown(s string) string { return markdownSpecial.Replace(s) }

// LaTeX prints the table as a tabular of the package booktabs. pdflatex compiles it.
func (t *Table) LaTeX(w io.Writer) error {
	if t.err != nil {
		return t.err
	}
	n := t.columns()
	if n == 0 {
		return nil
	}
	var b strings.Builder
	b.WriteString(`\begin{tabular}{`)
	for k := range n {
		if t.right(k) {
			b.WriteByte('r')
		} else {
			b.WriteByte('l')
		}
	}
	b.WriteString("}\n\\toprule\n")
	line := func(cells []string) {
		for k := range n {
			if k > 0 {
				b.WriteString(" & ")
			}
			b.WriteString(escapeLaTeX(at(cells, k)))
		}
		b.WriteString(" \\\\\n")
	}
	if t.Head != nil {
		line(t.Head)
		b.WriteString("\\midrule\n")
	}
	for _, cells := range t.Rows {
		line(cells)
	}
	b.WriteString("\\bottomrule\n\\end{tabular}\n")
	_, err := io.WriteString(w, b.String())
	return err
}
