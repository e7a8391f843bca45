package table

import (
	"cmp"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"
	"text/tabwriter"
	"unicode/utf8"
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

// Table is a table for people: data, which Write prints.
type Table struct {
	Head  []string // headings; nil for a table without
	Rows  [][]string
	Style Style
	// Line is the row above which a table with headings has a line; 0 for none.
	Line int
	// Spare are the headings of the columns that go first where the table is wider than Width, the
	// least important first.
	Spare []string
}

// Column is a column whose cells are computed from a row.
type Column[R any] struct {
	field string // it stands in the place of this one, or at the end where there is none of this name
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
// in order, then those that are appended.
func Of[R any](rows []R, columns ...Column[R]) *Table {
	t := &Table{Head: []string{}}
	fields := slices.DeleteFunc(fieldsOf(reflect.TypeFor[R]()), func(f field) bool { return !f.text })
	cells := make([]func(*R) string, len(fields))
	for i, f := range fields {
		t.Head = append(t.Head, f.head)
		cells[i] = func(row *R) string {
			if v, ok := f.at(reflect.ValueOf(row).Elem()); ok {
				return forPeople(f.verb, v)
			}
			return dash
		}
	}
	for _, c := range columns {
		cell := func(row *R) string { return c.cell(*row) }
		at := slices.IndexFunc(fields, func(f field) bool { return f.name == c.field })
		if at < 0 {
			t.Head, cells = append(t.Head, c.head), append(cells, cell)
			continue
		}
		cells[at], t.Head[at] = cell, cmp.Or(c.head, t.Head[at])
	}
	for r := range rows {
		line := make([]string, len(cells))
		for i, cell := range cells {
			line[i] = cell(&rows[r])
		}
		t.Rows = append(t.Rows, line)
	}
	return t
}

// Without is the table without the columns of some headings, where it has them.
func (t *Table) Without(heads ...string) *Table {
	for _, name := range heads {
		at := slices.Index(t.Head, name)
		if at < 0 {
			continue
		}
		t.Head = slices.Delete(t.Head, at, at+1)
		for i := range t.Rows {
			t.Rows[i] = slices.Delete(t.Rows[i], at, at+1)
		}
	}
	return t
}

// Write prints the table for people, its columns two spaces apart, on at most Width columns.
// Missing cells are empty. A table that is wider has its headings on several lines, and leaves out
// columns, which it says.
func (t *Table) Write(w io.Writer) error {
	heads, body, left := t.fit()
	rows, columns := append(heads, body...), 0
	for _, cells := range rows {
		columns = max(columns, len(cells))
	}
	before, after, align := "", "\t", tabwriter.AlignRight
	if t.Style == List {
		before, after, align = "  ", "", 0
	}
	var b strings.Builder
	out := tabwriter.NewWriter(&b, 0, 0, 2, ' ', align)
	for _, cells := range rows {
		line := make([]string, columns)
		for k, cell := range cells {
			line[k] = Visible(cell)
		}
		fmt.Fprintln(out, before+strings.Join(line, "\t")+after)
	}
	if err := out.Flush(); err != nil {
		return err
	}
	lines := strings.SplitAfter(b.String(), "\n")
	if t.Line > 0 {
		const space = "  "
		long := utf8.RuneCountInString(lines[0]) - len(space) - len("\n")
		lines = slices.Insert(lines, t.Line+len(heads), space+strings.Repeat("─", long)+"\n")
	}
	if len(left) > 0 {
		lines = append(lines, wrap("  (not shown: "+strings.Join(left, ", ")+"; JSON and CSV have all)", Width, "  "))
	}
	_, err := io.WriteString(w, strings.Join(lines, ""))
	return err
}
