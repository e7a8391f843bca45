package table

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"reflect"
	"strings"
	"testing"
	"unicode"

	"pgregory.net/rapid"

	"belsim/theory/base/must"
)

func printed(t *testing.T, print func(io.Writer) error) string {
	t.Helper()
	var b strings.Builder
	must.Succeed(t, print(&b))
	return b.String()
}

func same(t *testing.T, got, want string) {
	t.Helper()
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

type big struct{ hi, lo uint64 }

func (b big) String() string               { return fmt.Sprintf("%d:%d", b.hi, b.lo) }
func (b big) MarshalJSON() ([]byte, error) { return []byte("7"), nil }

type method string

type inner struct {
	A int `json:"a"`
	B int `json:"b"`
}

type Pointed struct {
	P int `json:"p" text:"p"`
}

// every has a field of each kind.
type every struct {
	S  string         `json:"s" text:"s"`
	M  method         `json:"m" text:"m"`
	T  bool           `json:"t" text:"t"`
	I  int8           `json:"i" text:"i,%+d"`
	U  uint64         `json:"u" text:"u"`
	F  float64        `json:"f" text:"f, in levels"`
	G  float32        `json:"g" text:"g"`
	N  float64        `json:"n" text:"n,%.1f %%"`
	V  big            `json:"v" text:"v"`
	PI *int           `json:"pi,omitempty" text:"pi"`
	PN *float64       `json:"pn,omitempty" text:"pn"`
	PF *float64       `json:"pf" text:"pf,%.3f"`
	PB *bool          `json:"pb" text:""`
	PV *big           `json:"pv" text:"pv"`
	J  int            // JSON calls it J
	K  int            `json:"k" csv:"kk"`
	L  []inner        `json:"l" csv:"-"`
	O  inner          `json:"o" csv:"-"`
	R  [2]float64     `json:"r"`
	H  map[string]int `json:"h" csv:"-"`
	X  int            `json:"-"`
	Y  int            `json:"-" text:"y"`
	inner
	*Pointed
	B int `json:"b"` // hides inner's
}

func TestEveryKind(t *testing.T) {
	one, half, yes, nan := 1, 0.5, true, math.NaN()
	rows := []every{
		{S: "x", M: "mc", T: true, I: -3, U: 1 << 63, F: 1e21, G: 0.1, N: 12.345, V: big{1, 2}, PI: &one, PN: &nan,
			PF: &half, PB: &yes, PV: &big{3, 4},
			J: 5, K: 6, R: [2]float64{1, 2}, Y: 8, inner: inner{9, 10}, Pointed: &Pointed{11}, B: 12},
		{F: math.Inf(1), G: float32(math.NaN()), N: math.Inf(-1)},
	}
	same(t, printed(t, func(w io.Writer) error { return WriteCSV(w, rows) }),
		`s,m,t,i,u,f,g,n,v,pi,pn,pf,pb,pv,J,kk,r_lo,r_hi,a,p,b
x,mc,true,-3,9223372036854775808,1e+21,0.1,12.345,1:2,1,,0.5,true,3:4,5,6,1,2,9,11,12
,,false,0,0,,,,0:0,,,,,,0,0,0,0,0,,0
`)
	same(t, printed(t, func(w io.Writer) error { return WriteCSV(w, []Pointed{{7}}, "p") }), "\n\n")
	replaced := Of(rows, Replace("s", "name", func(r every) string { return "r" + r.S }), Append("last", func(every) string { return "z" }))
	must.Equal(t, "computed columns", []string{"rx", "z"}, []string{replaced.Rows[0][0], replaced.Rows[0][16]})
	must.Equal(t, "their headings", []string{"name", "last"}, []string{replaced.Head[0], replaced.Head[16]})
	got := Of(rows)
	want := &Table{
		Head: []string{"s", "m", "t", "i", "u", "f, in levels", "g", "n", "v", "pi", "pn", "pf", "", "pv", "y", "p"},
		Rows: [][]string{
			{"x", "mc", "true", "-3", "9223372036854775808", "1e+21", "0.1", "12.3 %", "1:2", "1", "–", "0.500",
				"true", "3:4", "8", "11"},
			{"", "", "false", "+0", "0", "–", "–", "–", "0:0", "–", "–", "–", "–", "–", "0", "–"},
		},
	}
	if !reflect.DeepEqual(got.Head, want.Head) || !reflect.DeepEqual(got.Rows, want.Rows) {
		t.Errorf("%q\n%q", got.Head, got.Rows)
	}
}

// TestLikeEncodingJSON: without numbers that do not exist, the bytes are those of encoding/json,
// and with them they are null. What is written is read back.
func TestLikeEncodingJSON(t *testing.T) {
	one, half, yes := 1, 0.5, true
	n := 0.25
	values := []every{
		{S: "x<&>\u2028\"", M: "mc", T: true, I: -3, U: 1 << 63, F: 1e21, G: 0.1, N: 1e-7, V: big{1, 2}, PI: &one,
			PN: &n, PF: &half, PB: &yes, PV: &big{3, 4},
			J: 5, K: 6, R: [2]float64{1, 2}, Y: 8, inner: inner{9, 10}, Pointed: &Pointed{11}, B: 12, L: []inner{{1, 2},
				{3, 4}}, H: map[string]int{"b": 1, "<a>": 2}},
		{L: []inner{}, H: map[string]int{}},
	}
	for _, v := range []any{values, values[0], &values[1],
		map[string]any{"z": nil, "a": []any{1, "b", nil, []byte("xyz")}}, nil, "text", [3]float32{}} {
		var want bytes.Buffer
		e := json.NewEncoder(&want)
		e.SetEscapeHTML(false)
		e.SetIndent("", "  ")
		must.Succeed(t, e.Encode(v))
		same(t, printed(t, func(w io.Writer) error { return WriteJSON(w, v) }), want.String())
	}
	if err := WriteJSON(io.Discard, func() {}); err == nil {
		t.Error("a function is written")
	}

	type numbers struct {
		A float64    `json:"a"`
		B *float64   `json:"b"`
		C [2]float64 `json:"c"`
		D []numbers  `json:"d"`
		E float64    `json:"e"`
	}
	nan, inf := math.NaN(), math.Inf(1)
	text, err := JSON(numbers{A: nan, B: &nan, C: [2]float64{-inf, 1}, D: []numbers{{E: inf}}})
	must.Succeed(t, err)
	same(t, string(text),
		`{"a":null,"b":null,"c":[null,1],"d":[{"a":0,"b":null,"c":[0,0],"d":null,"e":null}],"e":0}`)
	got := numbers{E: 7}
	if err := ReadJSON([]byte(`{"a":null,"c":[null,1],"d":[{"e":null}]}`), &got); err != nil || !math.IsNaN(got.A) ||
		!math.IsNaN(got.C[0]) || got.C[1] != 1 || !math.IsNaN(got.D[0].E) || got.E != 7 {
		t.Errorf("%+v, %v", got, err)
	}
	for text, want := range map[string]string{
		`{"a":1,}`:                 "character 8",
		`{"a":"1"}`:                "a: character 8: want a number, not this string",
		`{"a":1,"a":2}`:            "a occurs twice",
		`{"d":[{},{"e":1,"E":1}]}`: "d[1].E occurs twice",
		`{"c":[1,2],"f":1}`:        "f is not a field",
		`{"d":[{"x":{"y":[]}}]}`:   "d[0].x is not a field",
		`{"A":1}`:                  "A is not a field",
	} {
		if err := ReadJSON([]byte(text), &got); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: %v; want %s", text, err, want)
		}
	}
}

// TestWidth: no line of a table is wider than Width where its first two columns are not. What is
// not shown is named, what is shown is whole.
func TestWidth(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		word := rapid.StringMatching(`[a-zσ]{1,12}( [a-z]{1,12}){0,4}`)
		columns := rapid.IntRange(2, 16).Draw(t, "columns")
		tab := &Table{}
		for k := range columns {
			tab.Head = append(tab.Head, fmt.Sprintf("%s %d", word.Draw(t, "head"), k))
		}
		for range rapid.IntRange(1, 5).Draw(t, "rows") {
			row := []string{rapid.StringMatching(`[a-z/]{1,150}`).Draw(t, "name")}
			for range columns - 1 {
				row = append(row, rapid.StringMatching(`[0-9.±]{1,20}`).Draw(t, "cell"))
			}
			tab.Rows = append(tab.Rows, row)
		}
		tab.Spare = []string{tab.Head[columns-1], tab.Head[columns/2]}
		tab.Line = len(tab.Rows) / 2
		before := fmt.Sprint(tab)
		var b strings.Builder
		must.Succeed(t, tab.Write(&b))
		if fmt.Sprint(tab) != before {
			t.Fatal("writing changes the table")
		}
		text := b.String()
		for line := range strings.Lines(text) {
			if n := len([]rune(strings.TrimSuffix(line, "\n"))); n > Width {
				t.Errorf("%d columns: %q", n, line)
			}
		}
		flat := strings.Join(strings.Fields(text), " ")
		_, left, some := strings.Cut(flat, "(not shown: ")
		if rest := strings.Split(left, ", "); some && rest[0] != tab.Head[columns-1] &&
			!strings.HasPrefix(left, tab.Head[columns-1]+";") {
			t.Errorf("the spare column %q does not go first: %q", tab.Head[columns-1], left)
		}
		for k := 1; k < columns; k++ {
			if !strings.Contains(left, tab.Head[k]) && !strings.Contains(text, tab.Rows[0][k]) {
				t.Errorf("%q of %q is neither shown nor said to be left out:\n%s", tab.Rows[0][k], tab.Head[k], text)
			}
		}
		list := &Table{Style: List, Rows: [][]string{{"name", "1", strings.Repeat("some words ", 30)},
			{"longer name", "22", "x"}}}
		b.Reset()
		must.Succeed(t, list.Write(&b))
		text = b.String()
		for line := range strings.Lines(text) {
			if n := len([]rune(line)) - 1; n > Width {
				t.Errorf("%d columns: %q", n, line)
			}
		}
	})
	// Text is broken at spaces, in whatever pieces it is written.
	long := "  " + strings.Repeat("word ", 60) + "\nshort\n" + strings.Repeat("x", 150) + "\n"
	for _, piece := range []int{1, 7, 1000} {
		var b strings.Builder
		w := Fold(&b)
		for text := long; text != ""; text = text[min(piece, len(text)):] {
			must.Get(io.WriteString(w, text[:min(piece, len(text))]))(t)
		}
		lines := strings.Split(b.String(), "\n")
		if strings.Join(strings.Fields(b.String()), "") != strings.Join(strings.Fields(long), "") || len(lines) != 7 ||
			len(lines[0]) > Width || !strings.HasPrefix(lines[1], "  word") {
			t.Errorf("pieces of %d: %q", piece, lines)
		}
	}
}

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
		must.Equal(t, fmt.Sprintf("%q", in), want, Visible(in))
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
