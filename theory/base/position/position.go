// Package position marks positions (of rows, columns, levels, bits and outputs) and flags in
// sentences. The program that prints a sentence then chooses how they are written: the command
// counts from 1 and names flags, and Python counts from 0 and names arguments.
package position

import (
	"bytes"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// mark stands before a position: a combining grapheme joiner, which no reader sees and no text needs.
const mark = "\u034f"

// At is a position, counted from 1, in a sentence that Count or Writer finishes.
func At(position int) string { return mark + strconv.Itoa(position) }

// Flag is a flag of the command with its value, in a sentence that Count or Writer finishes: --range 0:9 where
// positions count from 1, and range=(0, 9) where they count from 0, as in Python.
func Flag(name, value string) string {
	return mark + "--" + name + strings.TrimSuffix(" "+value, " ") + mark
}

// Range is the flag of a range whose ends are levels, which count as positions do.
func Range(lo, hi float64) string { return Flag("range"+ofLevels, fmt.Sprintf("%.4g:%.4g", lo, hi)) }

// ofLevels stands behind the name of a range of levels.
const ofLevels = "#"

// counted is a flag whose levels count from a number.
func counted(flag string, from int) string {
	name, ends, found := strings.Cut(flag, ofLevels+" ")
	if !found {
		return flag
	}
	var lo, hi float64
	fmt.Sscanf(ends, "%g:%g", &lo, &hi) // as Range wrote them
	return fmt.Sprintf("%s %.4g:%.4g", name, lo-1+float64(from), hi-1+float64(from))
}

// argument is a flag as an argument of Python: a number, the ends of a range, or a text.
func argument(flag string) string {
	name, value, _ := strings.Cut(strings.TrimPrefix(flag, "--"), " ")
	kind, _, isFile := strings.Cut(value, ":FILE")
	lo, hi, isRange := strings.Cut(value, ":")
	_, err := strconv.ParseFloat(value, 64)
	switch {
	case name == "recommend": // what a result of fit computes where it is read
		return "fit.recommendation"
	case name == "also":
		value = "[(" + quoted(kind) + ", outputs)]"
	case isFile: // of outputs
		name, value = "kind", quoted(kind)
	case value == "":
		value = "True"
	case isRange:
		value = "(" + lo + ", " + hi + ")"
	case err != nil:
		value = quoted(value)
	}
	return strings.ReplaceAll(name, "-", "_") + "=" + value
}

// quoted is a text as Python writes it. A double quotation mark would end the text of JSON that the sentence is in.
func quoted(text string) string { return "'" + text + "'" }

// List are several positions, separated by commas.
func List(positions []int) string {
	out := make([]string, len(positions))
	for i, p := range positions {
		out[i] = At(p)
	}
	return strings.Join(out, ", ")
}

// Counted is a number of things, whose name has a plural with s.
func Counted(n int, thing string) string {
	if n != 1 {
		thing += "s"
	}
	return fmt.Sprintf("%d %s", n, thing)
}

// Count finishes a text: its positions count from a number, and its flags are of Python where that is 0.
func Count(text string, from int) string {
	first, rest, found := strings.Cut(text, mark)
	if !found {
		return text
	}
	var b strings.Builder
	b.WriteString(first)
	for part := range strings.SplitSeq(rest, mark) {
		if strings.HasPrefix(part, "--") {
			if part = counted(part, from); from == 0 {
				part = argument(part)
			}
		}
		digits := number(part)
		if position, err := strconv.Atoi(part[:digits]); err == nil {
			b.WriteString(strconv.Itoa(position - 1 + from))
			part = part[digits:]
		}
		b.WriteString(part)
	}
	return b.String()
}

// number is the length of the number that a text begins with.
func number(text string) int {
	signed := strings.TrimPrefix(text, "-")
	return len(text) - len(strings.TrimLeft(signed, "0123456789"))
}

// Writer returns what finishes texts on their way to w. They end with a newline.
func Writer(w io.Writer, from int) io.Writer { return &writer{w: w, from: from} }

type writer struct {
	w    io.Writer
	from int
	held []byte // from a mark on whose number or flag may go on
}

// Write implements io.Writer.
func (w *writer) Write(text []byte) (int, error) {
	all := append(w.held, text...)
	end := len(all)
	if at := bytes.LastIndexByte(all, mark[0]); at >= 0 {
		if rest := string(all[at:]); len(rest) < len(mark) || strings.HasPrefix(rest, mark+"--") ||
			strings.HasPrefix(rest, mark) && len(mark)+number(rest[len(mark):]) == len(rest) {
			end = at
		}
	}
	_, err := io.WriteString(w.w, Count(string(all[:end]), w.from))
	w.held = append([]byte(nil), all[end:]...)
	return len(text), err
}
