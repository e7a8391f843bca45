package table

import (
	"fmt"
	"html"
	"io"
	"strings"
)

// html prints the table for a page, its cells escaped.
func (t *Table) html(w io.Writer) error {
	lines, _ := t.grid(func(s string) string { return html.EscapeString(Visible(s)) })
	var b strings.Builder
	b.WriteString("<table>\n")
	for i, cells := range lines {
		if i == 0 && t.Head == nil {
			continue
		}
		name, row := "td", "<tr>"
		if i == 0 {
			name = "th"
		} else if i <= len(t.Emphasis) && t.Emphasis[i-1] == Best {
			row = `<tr class="best">`
		}
		b.WriteString(row)
		for k, cell := range cells {
			class := ""
			if t.right(k) {
				class = ` class="number"`
			}
			fmt.Fprintf(&b, "<%s%s>%s</%s>", name, class, cell, name)
		}
		b.WriteString("</tr>\n")
	}
	b.WriteString("</table>\n")
	_, err := io.WriteString(w, b.String())
	return err
}
