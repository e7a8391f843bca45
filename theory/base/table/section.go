package table

import (
	"io"
	"strings"
)

// Section is a report for people: a verdict and details.
type Section struct {
	Title   string
	Verdict []string
	Details []Block
}

// Block is a part of the details: a headline, a table and sentences, some of which may be missing.
type Block struct {
	Head      string
	Table     *Table // nil for none
	Sentences []string
}

// Write writes the section as text, each sentence on a line, however long: see Fold.
func (s Section) Write(w io.Writer) error {
	var b strings.Builder
	for _, text := range s.Verdict {
		b.WriteString(text + "\n")
	}
	for _, d := range s.Details {
		b.WriteString("\n")
		list := d.Table != nil && d.Table.Style == List
		if d.Head != "" {
			b.WriteString(d.Head + "\n")
		}
		if d.Table != nil && !list && d.Head != "" {
			b.WriteString("\n")
		}
		if d.Table != nil {
			if err := d.Table.Write(&b); err != nil {
				return err
			}
		}
		for _, text := range d.Sentences {
			if list { // they stand below it as its rows do
				text = "  " + text
			}
			b.WriteString(text + "\n")
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}
