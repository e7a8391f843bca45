package table

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"belsim/theory/base/must"
)

// painter writes emphasis as <2:text>.
type painter struct{ bytes.Buffer }

func (*painter) Paint(e Emphasis, text string) string { return fmt.Sprintf("\x01%d:%s\x02", e, text) }

var painted = regexp.MustCompile("\x01[0-9]:|\x02")

// TestEmphasis: rows and marks are painted where they stand.
func TestEmphasis(t *testing.T) {
	table := &Table{
		Head:     []string{"code", "bits", "transitions", "~"},
		Rows:     [][]string{{"a", "1", "! 10", "~"}, {"1", "1", "1", ""}, {"~x", "10", "! 1", "~"}},
		Emphasis: []Emphasis{Best, Plain},
	}
	var p painter
	must.Succeed(t, table.Write(&p))
	got := strings.NewReplacer("\x01", "<", "\x02", ">").Replace(p.String())
	want := "  code  bits  transitions  ~\n" +
		"     <1:a>     <1:1>         <4:! 10>  <5:~>\n" +
		"     1     1            1   \n" +
		"    ~x    10          <4:! 1>  <5:~>\n"
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if got := Notes(&p, "\n! first: x\n~ second\nthird! ~\n"); got != "\n\x014:!\x02 first: x\n\x015:~\x02 second\nthird! ~\n" {
		t.Errorf("notes %q", got)
	}
	if got := Paint(&bytes.Buffer{}, Good, "PASS"); got != "PASS" {
		t.Errorf("a writer without colours gets %q", got)
	}
}

// TestEmphasisAlignment: emphasis changes no character of a table and no column.
func TestEmphasisAlignment(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		cell := rapid.OneOf(rapid.SampledFrom([]string{"", "~", "! 1", "! 10.5", "1", "10.5", "–", "a b", " x ", "σ", "\x1b[1m", "~ ~", "!"}), rapid.StringN(0, 4, 8))
		row := rapid.SliceOfN(cell, 3, 3)
		table := &Table{Rows: rapid.SliceOfN(row, 0, 4).Draw(t, "rows"), Style: Style(rapid.IntRange(0, 1).Draw(t, "style"))}
		if rapid.Bool().Draw(t, "head") {
			table.Head = []string{"x", "~", "! z"}
		}
		for range table.Rows {
			table.Emphasis = append(table.Emphasis, Emphasis(rapid.IntRange(0, 5).Draw(t, "emphasis")))
		}
		var plain bytes.Buffer
		var p painter
		if err := errors.Join(table.Write(&plain), table.Write(&p)); err != nil {
			t.Fatal(err)
		}
		if got := painted.ReplaceAllString(p.String(), ""); got != plain.String() {
			t.Fatalf("with emphasis\n%q\nwithout\n%q", got, plain.String())
		}
	})
}
