package table

import (
	"strings"
	"testing"
	"unicode"

	"belsim/theory/base/must"
)

func TestVisible(t *testing.T) {
	for in, want := range map[string]string{
		"":              "",
		"plain é – ± 😀": "plain é – ± 😀",
		"\x1b[31m":      `\x1b[31m`,
		"a\tb\nc":       `a\tb\nc`,
		"\x7f\u0085":    `\x7f\u0085`,
		"\u2028\u202e":  `\u2028\u202e`,
		"\xff":          `\xff`,
		"\ufffd":        "\ufffd",
	} {
		if got := Visible(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
	for r := range unicode.MaxRune {
		unseen := r != '\u200c' && r != '\u200d' && unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp)
		if unseen && strings.ContainsRune(Visible("a"+string(r)), r) {
			t.Errorf("%U is not seen", r)
		}
	}
	const text, want = "a\tσ\n\x1b[1;32mPASS\x1b[0m \x1b[2J\u202e\u0085\x7f\r\xff\n", "a\tσ\n" +
		`\x1b[1;32mPASS\x1b[0m \x1b[2J\u202e\u0085\x7f\r\xff` + "\n"
	if got := VisibleLines(text); got != want {
		t.Errorf("%q, want %q", got, want)
	}
	var b strings.Builder
	if err := (&Table{Head: []string{"code"}, Rows: [][]string{{"\x1b[31m\tred"}}}).Write(&b); err != nil ||
		!strings.Contains(b.String(), `\x1b[31m\tred`) {
		t.Errorf("%q, %v", b.String(), err)
	}
}

// TestFormulas: no cell of a CSV is a formula; numbers are as they were.
func TestFormulas(t *testing.T) {
	type row struct {
		Name   string  `json:"name"`
		Value  float64 `json:"value"`
		Signed int     `json:"signed"`
	}
	rows := []row{{"=1+1", -0.5, -3}, {"+1", 1, 1}, {"-5", 1, 1}, {"-5.csv", 1, 1}, {"@x", 1, 1}, {"\tx", 1, 1},
		{"x=1", 1, 1}, {"-inf", 1, 1}, {"", 1, 1}}
	var b strings.Builder
	must.Succeed(t, WriteCSV(&b, rows))
	same(t, b.String(), `name,value,signed
'=1+1,-0.5,-3
+1,1,1
-5,1,1
'-5.csv,1,1
'@x,1,1
'	x,1,1
x=1,1,1
-inf,1,1
,1,1
`)
}
