package table

import (
	"fmt"
	"html"
	"strings"
)

// HTML is the table for a page, its cells escaped.
func (t *Table) HTML() (string, error) {
	lines, _ := t.grid()
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
			fmt.Fprintf(&b, "<%s%s>%s</%s>", name, class, html.EscapeString(cell), name)
		}
		b.WriteString("</tr>\n")
	}
	b.WriteString("</table>\n")
	return b.String(), t.err
}
