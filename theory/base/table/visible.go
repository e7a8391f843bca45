package table

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Visible returns a text in which every character is seen and none is obeyed by a terminal: control
// characters, those that break lines, change the direction of writing or have no width, and bytes
// that are not UTF-8 are written as in a string of Go, such as \x1b.
func Visible(s string) string { return visible(s, "") }

// VisibleLines is Visible, but keeps the ends of lines, and tabs.
func VisibleLines(s string) string { return visible(s, "\n\t") }

func visible(s, kept string) string {
	hidden := func(r rune) bool { return hidden(r) && !strings.ContainsRune(kept, r) }
	if utf8.ValidString(s) && !strings.ContainsFunc(s, hidden) {
		return s
	}
	var b strings.Builder
	for s != "" {
		r, n := utf8.DecodeRuneInString(s)
		switch {
		case r == utf8.RuneError && n == 1:
			fmt.Fprintf(&b, `\x%02x`, s[0])
		case hidden(r):
			b.WriteString(strings.Trim(strconv.QuoteRuneToASCII(r), "'"))
		default:
			b.WriteString(s[:n])
		}
		s = s[n:]
	}
	return b.String()
}

// hidden reports whether a character does something else than to be seen.
func hidden(r rune) bool {
	if r < utf8.RuneSelf { // most are, of long texts
		return r < ' ' || r == 0x7f
	}
	const joiner, nonJoiner = '\u200d', '\u200c' // of emoji, and of scripts that need them
	return unicode.IsControl(r) || r == '\u2028' || r == '\u2029' || unicode.Is(unicode.Cf, r) && r != joiner &&
		r != nonJoiner
}

// harmless returns a text that no spreadsheet takes for a formula. A text that begins as a
// formula does gets an apostrophe before it, which tells spreadsheets that it is a text. A
// number is no formula.
func harmless(s string) string {
	if s == "" || !strings.ContainsRune("=+-@\t\r", rune(s[0])) {
		return s
	}
	if _, err := strconv.ParseFloat(s, 64); err == nil {
		return s
	}
	return "'" + s
}
