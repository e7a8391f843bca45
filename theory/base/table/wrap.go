package table

import (
	"strings"
	"unicode/utf8"
)

// Wrap breaks a text into lines of at most width characters, the second and all later ones
// with an indent. The first keeps the spaces that the text begins with. Each line ends with a newline.
func Wrap(text string, width int, indent string) string {
	var b strings.Builder
	line := text[:len(text)-len(strings.TrimLeft(text, " "))]
	empty := true
	for _, word := range strings.Fields(text) {
		if !empty && utf8.RuneCountInString(line)+1+utf8.RuneCountInString(word) > width {
			b.WriteString(line + "\n")
			line, empty = indent, true
		}
		if !empty {
			line += " "
		}
		line += word
		empty = false
	}
	return b.String() + line + "\n"
}
