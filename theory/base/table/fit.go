package table

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// fit returns the lines of the headings, the rows, and the headings of the columns that are left
// out, so that the table is not wider than Width.
func (t *Table) fit() (heads, rows [][]string, left []string) {
	for _, cells := range t.Rows {
		rows = append(rows, slices.Clone(cells))
	}
	if t.Style == List {
		if t.Head != nil {
			rows = slices.Insert(rows, 0, t.Head)
		}
		return nil, list(rows), nil
	}
	head := slices.Clone(t.Head)
	for {
		widths := columnWidths(rows)
		heads = broken(head, widths)
		over := total(append(heads, rows...)) - Width
		const shortest = 24 // a name is not made shorter
		if over > 0 && len(widths) > 0 && widths[0] > shortest {
			for _, row := range rows {
				row[0] = tail(row[0], max(shortest, widths[0]-over))
			}
			heads = broken(head, columnWidths(rows))
			over = total(append(heads, rows...)) - Width
		}
		if over <= 0 {
			return heads, rows, left
		}
		at := t.spare(head)
		if at < 0 {
			return heads, rows, left
		}
		left = append(left, head[at])
		head = slices.Delete(head, at, at+1)
		for i, row := range rows {
			if at < len(row) {
				rows[i] = slices.Delete(row, at, at+1)
			}
		}
	}
}

// list are the rows of a list with the last cell on several lines where it is long.
func list(rows [][]string) (out [][]string) {
	widths, before := columnWidths(rows), 0
	for _, width := range widths[:max(0, len(widths)-1)] {
		before += width + 2
	}
	for _, row := range rows {
		last := len(row) - 1
		if last < 0 || last+1 < len(widths) || before+2+len([]rune(row[last])) <= Width {
			out = append(out, row)
			continue
		}
		for i, line := range wrapped(row[last], max(20, Width-before-2)) {
			if row[last] = line; i > 0 {
				row = append(make([]string, last), line)
			}
			out = append(out, slices.Clone(row))
		}
	}
	return out
}

// spare is the column to leave out next, negative where all must stay: the first one and, but for
// those, the last.
func (t *Table) spare(head []string) int {
	for _, name := range t.Spare {
		if at := slices.Index(head, name); at > 0 {
			return at
		}
	}
	for at := len(head) - 1; at > 1; at-- {
		if utf8.RuneCountInString(head[at]) > 1 { // not a mark
			return at
		}
	}
	return -1
}

// columnWidths are the widths of the columns of some rows.
func columnWidths(rows [][]string) (widths []int) {
	for _, row := range rows {
		for k, cell := range row {
			if k == len(widths) {
				widths = append(widths, 0)
			}
			widths[k] = max(widths[k], utf8.RuneCountInString(Visible(cell)))
		}
	}
	return widths
}

// total is how wide rows are.
func total(rows [][]string) (sum int) {
	for _, width := range columnWidths(rows) {
		sum += width + 2
	}
	return sum
}

// tail is the end of a name that is longer than so many letters: of a path, the file.
func tail(name string, most int) string {
	letters := []rune(name)
	if len(letters) <= most {
		return name
	}
	return "…" + string(letters[len(letters)-most+1:])
}

// wrapped are the lines of a text of at most width characters.
func wrapped(text string, width int) []string {
	return strings.Split(strings.TrimSuffix(wrap(text, width, ""), "\n"), "\n")
}

// longest is the number of characters of the longest text.
func longest(texts []string) (most int) {
	for _, text := range texts {
		most = max(most, utf8.RuneCountInString(text))
	}
	return most
}

// broken are headings over columns of some widths, on as few lines as the width of the table
// allows. One heading after another is broken into words, the one that is wider than its column by
// most first.
func broken(head []string, widths []int) [][]string {
	if head == nil {
		return nil
	}
	room := slices.Concat(widths, make([]int, max(0, len(head)-len(widths))))
	parts, least := make([][]string, len(head)), make([]int, len(head))
	for k, text := range head {
		parts[k], least[k] = []string{text}, max(room[k], longest(strings.Fields(text)))
	}
	for {
		sum, at, gain := 0, -1, 0
		for k, p := range parts {
			wide := longest(p)
			sum += max(wide, room[k]) + 2
			if len(p) == 1 && wide-least[k] > gain {
				at, gain = k, wide-least[k]
			}
		}
		if sum <= Width || at < 0 {
			break
		}
		parts[at] = wrapped(head[at], least[at])
	}
	most := 0
	for _, p := range parts {
		most = max(most, len(p))
	}
	lines := make([][]string, most)
	for i := range lines {
		lines[i] = make([]string, len(parts))
		for k, p := range parts {
			if from := most - len(p); i >= from {
				lines[i][k] = p[i-from]
			}
		}
	}
	return lines
}
