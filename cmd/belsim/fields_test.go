package main

import (
	"bytes"
	"cmp"
	"encoding"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"belsim/montecarlo/assess"
	"belsim/montecarlo/forecast"
	"belsim/montecarlo/scenario"
	"belsim/montecarlo/search"
	"belsim/montecarlo/sweep"
	"belsim/plots/paper"
)

// results are the types that commands write, with what they are.
var results = []struct {
	command, what string
	of            any
}{
	{"codes", "JSON of the list of all codes", codeList{}},
	{"codes", "JSON of one code", codeMatrix{}},
	{"compare", "JSON; the CSV has the fields of `results[]`. Networks that know one noisy label have those of levels", scenario.Comparison{}},
	{"levels", "JSON, and that of compare for networks; the CSV has the fields of `results[]`, with the ends of `interval` as `interval_lo` and `interval_hi`", forecast.Ranking{}},
	{"heatmap", "JSON; the CSV has the fields of `cells[]`", scenario.Map{}},
	{"verify", "JSON; the CSV has the fields of `labels[]`, and three sums", scenario.Verification{}},
	{"fit", "JSON", assess.Fit{}},
	{"fit", "JSON of a network of several outputs", assess.Several{}},
	{"fit", "CSV", assess.Rate{}},
	{"optimize", "JSON", search.Optimized{}},
	{"optimize --pareto", "JSON; the CSV has the fields of `baselines[]`", search.Tradeoff{}},
	{"figures", "CSV of Figures 3(a), 3(b) and 11", paper.ProfileRow{}},
	{"figures", "CSV of Figure 7", paper.TermRow{}},
	{"merge", "JSON; the CSV has the fields of `cells[]`", sweep.Table{}},
	{"bench", "JSON; the CSV has the fields of `results[]`", benchmark{}},
}

// TestFields: FIELDS.md describes the fields that the types have, all of them.
func TestFields(t *testing.T) {
	var b bytes.Buffer
	b.WriteString(`# Fields of the results

Every field of the JSON and CSV files that the commands write. The names are a promise. Errors are |decoded − label|.
A value that does not exist is ` + "`null`" + ` in JSON and empty in CSV. This file is made from the types of the results:
` + "`go test ./cmd/belsim -run Fields -update`" + ` writes it.
`)
	last := ""
	for _, r := range results {
		if r.command != last {
			fmt.Fprintf(&b, "\n## %s\n", r.command)
			last = r.command
		}
		fmt.Fprintf(&b, "\n%s:\n\n", r.what)
		lines, width := [][3]string{{"field", "type", "meaning"}}, [3]int{}
		lines = append(lines, reference(t, reflect.TypeOf(r.of), "")...)
		for _, line := range lines {
			for k, cell := range line {
				width[k] = max(width[k], utf8.RuneCountInString(cell))
			}
		}
		for i, line := range lines {
			for k, cell := range line {
				fmt.Fprintf(&b, "| %-*s ", width[k], cell)
			}
			if b.WriteString("|\n"); i == 0 {
				fmt.Fprintf(&b, "| %s | %s | %s |\n", strings.Repeat("-", width[0]), strings.Repeat("-", width[1]), strings.Repeat("-", width[2]))
			}
		}
	}
	golden(t, "../FIELDS.md", b.String())
}

// escapedDoc escapes what is special in Markdown and stands in sentences about fields.
var escapedDoc = strings.NewReplacer("*", `\*`, "_", `\_`, "[", `\[`, "]", `\]`, "<", `\<`, ">", `\>`, "~", `\~`, "|", `\|`, "$", `\$`, "&", `\&`, "`", "\\`")

// reference are the fields of a struct type, and those of the structs in it.
func reference(t *testing.T, of reflect.Type, prefix string) (lines [][3]string) {
	for _, f := range reflect.VisibleFields(of) {
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		column := f.Tag.Get("csv")
		if f.Anonymous || !f.IsExported() || name == "-" && column == "" {
			continue
		}
		inner, kind := describe(f.Type)
		if strings.Contains(options, "omit") {
			if f.Type.Kind() == reflect.Pointer {
				_, kind = describe(f.Type.Elem())
			}
			kind += ", may be missing"
		}
		doc := f.Tag.Get("doc")
		if doc == "" {
			t.Errorf("%v.%s has no doc tag", of, f.Name)
		}
		line := func(name, only string) {
			lines = append(lines, [3]string{"`" + prefix + name + "`", kind, escapedDoc.Replace(doc) + only})
		}
		switch {
		case name == "-":
			line(column, " (CSV only)")
		case column == "":
			line(name, "")
		default:
			line(name, " (JSON only)")
			if column != "-" {
				line(column, " (CSV only)")
			}
		}
		if inner != nil {
			separator := "."
			if strings.HasPrefix(kind, "list") {
				separator = "[]."
			}
			lines = append(lines, reference(t, inner, prefix+cmp.Or(name, f.Name)+separator)...)
		}
	}
	return lines
}

// describe returns the JSON type of a Go type in words, and the struct that it is or is a list of.
func describe(t reflect.Type) (inner reflect.Type, words string) {
	plural := strings.NewReplacer("number", "numbers", "integer", "integers", "object", "objects", "text", "texts", "list", "lists", "true or false", "truth values")
	switch k := t.Kind(); {
	case k == reflect.Pointer:
		inner, words = describe(t.Elem())
		return inner, strings.TrimSuffix(words, " or null") + " or null"
	case t.Implements(reflect.TypeFor[json.Marshaler]()):
		return nil, "integer"
	case t.Implements(reflect.TypeFor[encoding.TextMarshaler]()), k == reflect.String:
		return nil, "text"
	case k == reflect.Bool:
		return nil, "true or false"
	case k == reflect.Float32, k == reflect.Float64: // NaN is null
		return nil, "number or null"
	case k == reflect.Struct:
		return t, "object"
	case k == reflect.Slice, k == reflect.Array:
		inner, words = describe(t.Elem())
		return inner, "list of " + plural.Replace(words)
	case k == reflect.Map:
		_, words = describe(t.Elem())
		return nil, "object of " + plural.Replace(words)
	}
	return nil, "integer"
}
