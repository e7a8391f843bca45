package table

import (
	"bytes"
	"io"
	"strings"
	"unicode/utf8"
)

// Width is the number of columns that no line for people exceeds, whatever it is written to:
// terminals, files and documents then show the same.
const Width = 100

// Fold returns what writes text to w with the lines that are wider than Width broken at spaces,
// each part with the indent of its line. What is written must end with a newline.
func Fold(w io.Writer) io.Writer { return &folder{w: w} }

type folder struct {
	w    io.Writer
	line []byte // its beginning
}

// Write implements io.Writer.
func (f *folder) Write(text []byte) (int, error) {
	f.line = append(f.line, text...)
	end := bytes.LastIndexByte(f.line, '\n') + 1
	var out strings.Builder
	for line := range strings.Lines(string(f.line[:end])) {
		if utf8.RuneCountInString(line) <= Width+1 {
			out.WriteString(line)
		} else {
			out.WriteString(wrap(strings.TrimSuffix(line, "\n"), Width,
				line[:len(line)-len(strings.TrimLeft(line, " "))]))
		}
	}
	f.line = append(f.line[:0], f.line[end:]...)
	if _, err := io.WriteString(f.w, out.String()); err != nil {
		return 0, err
	}
	return len(text), nil
}

// wrap breaks a text into lines of at most width characters, the second and all later ones with an
// indent. The first keeps the spaces that the text begins with. Each line ends with a newline.
func wrap(text string, width int, indent string) string {
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
