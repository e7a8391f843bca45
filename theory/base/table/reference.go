package table

import (
	"encoding/json"
	"io"
	"reflect"
	"slices"
	"strings"
)

// Field is a line of the reference of a result's fields.
type Field struct {
	Name string // as in JSON and CSV; results[].code is field code of the list results
	Type string // number, integer, text, …, and whether it may be null or missing
	Doc  string // one sentence
	Only string // "JSON" or "CSV" where the other does not have it
}

// Reference returns the fields of a result of type R, a struct, in JSON and CSV, and the
// fields of the structs in it. The error is about a tag of the row type.
func Reference[R any]() ([]Field, error) {
	var out []Field
	err := reference(reflect.TypeFor[R](), "", nil, &out)
	return out, err
}

// Undocumented returns the names of the fields of R without a doc tag: for tests.
func Undocumented[R any]() ([]string, error) {
	fields, err := Reference[R]()
	var out []string
	for _, f := range fields {
		if f.Doc == "" {
			out = append(out, f.Name)
		}
	}
	return out, err
}

func reference(t reflect.Type, prefix string, outer []reflect.Type, out *[]Field) error {
	if slices.Contains(outer, t) {
		return nil // a struct within itself is described once
	}
	fields, err := fieldsOf(t)
	if err != nil {
		return err
	}
	outer = append(slices.Clone(outer), t)
	for _, f := range fields {
		if f.json == "" && !f.csv {
			continue
		}
		// With names of its own in CSV and JSON, a field has two lines.
		inner, kind := describe(f.typ)
		name, only := f.json, ""
		switch {
		case f.json == "":
			name, only = f.name, "CSV"
		case !f.csv:
			only = "JSON"
		}
		if f.optional {
			_, kind = describe(f.base())
			kind += ", may be missing"
		}
		line := Field{prefix + name, kind, f.doc, only}
		if f.csv && f.json != "" && f.name != f.json {
			line.Only = "JSON"
			*out = append(*out, line)
			line.Name, line.Only = prefix+f.name, "CSV"
		}
		*out = append(*out, line)
		if inner == nil {
			continue
		}
		separator := "."
		if f.base().Kind() == reflect.Slice || f.base().Kind() == reflect.Array {
			separator = "[]."
		}
		if err := reference(inner, prefix+name+separator, outer, out); err != nil {
			return err
		}
	}
	return nil
}

// describe returns the JSON type of a Go type in words, and the struct that it is or is
// a list of.
func describe(t reflect.Type) (inner reflect.Type, words string) {
	if t.Kind() == reflect.Pointer {
		inner, words = describe(t.Elem())
		return inner, strings.TrimSuffix(words, " or null") + " or null"
	}
	switch k := t.Kind(); {
	case t.Implements(jsonMarshalerType):
		return nil, likeZero(t)
	case t.Implements(textMarshalerType) || k == reflect.String:
		return nil, "text"
	case k == reflect.Bool:
		return nil, "true or false"
	case isFloat(k): // NaN is null
		return nil, "number or null"
	case isSigned(k) || isUnsigned(k):
		return nil, "integer"
	case k == reflect.Struct:
		return t, "object"
	case k == reflect.Slice && t.Elem().Kind() == reflect.Uint8:
		return nil, "text in base64"
	case k == reflect.Slice || k == reflect.Array:
		inner, words = describe(t.Elem())
		return inner, "list of " + plural(words)
	case k == reflect.Map:
		_, words = describe(t.Elem())
		return nil, "object of " + plural(words)
	}
	return nil, "any"
}

// plural is the plural of what describe returns.
func plural(words string) string {
	switch first, rest, _ := strings.Cut(words, " "); first {
	case "number", "integer", "object", "text", "list":
		return strings.TrimSuffix(first+"s "+rest, " ")
	case "true":
		return "truth values"
	}
	return words
}

// likeZero describes a type that writes its own JSON by what it writes for its zero
// value.
func likeZero(t reflect.Type) string {
	text, err := json.Marshal(reflect.Zero(t).Interface())
	if err != nil || len(text) == 0 {
		return "any"
	}
	switch text[0] {
	case '"':
		return "text"
	case '{':
		return "object"
	case '[':
		return "list"
	case 't', 'f':
		return "true or false"
	case 'n':
		return "any or null"
	}
	if isFloat(t.Kind()) || strings.ContainsAny(string(text), ".eE") {
		return "number"
	}
	return "integer"
}

// WriteReference prints fields as a table in GitHub's Markdown.
func WriteReference(w io.Writer, fields []Field) error {
	t := &Table{Head: []string{"field", "type", "meaning"}, Align: []Align{Left, Left, Left}}
	for _, f := range fields {
		doc := escapeMarkdown(f.Doc)
		if f.Only != "" {
			doc = strings.TrimSpace(doc + " (" + f.Only + " only)")
		}
		// In a code span of a table, only "|" is special.
		t.Rows = append(t.Rows, []string{"`" + strings.ReplaceAll(f.Name, "|", `\|`) + "`", f.Type, doc})
	}
	return writeMarkdown(w, t, func(s string) string { return s })
}
