package table

import (
	"encoding"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// field is a field of a row type, with what its tags say.
type field struct {
	name      string // of the CSV column; else of JSON; else of Go
	json      string // "" where JSON does not have it
	csv       bool   // whether CSV has it
	optional  bool   // JSON leaves it out where it is empty
	head      string // heading in tables for people
	verb      string // of fmt; "" for the usual one
	text      bool   // whether tables for people have it
	doc       string
	goName    string
	typ       reflect.Type
	index     []int
	tagged    bool // the name is from a tag
	ambiguous bool
}

// fieldsOf returns the fields of a struct type in order. Embedded structs are flattened
// and names that occur twice are resolved as encoding/json does it: the shallowest field
// wins, among them the one with a tag, and where two are left none is taken.
func fieldsOf(t reflect.Type) ([]field, error) {
	if t.Kind() != reflect.Struct {
		return nil, fmt.Errorf("%v is not a struct", t)
	}
	var all []field
	if err := collect(t, nil, nil, &all); err != nil {
		return nil, err
	}
	best := map[string]int{}
	for i := range all {
		j, ok := best[all[i].name]
		switch {
		case !ok || wins(&all[i], &all[j]):
			best[all[i].name] = i
		case !wins(&all[j], &all[i]):
			all[j].ambiguous = true
		}
	}
	var out []field
	for i, f := range all {
		if best[f.name] == i && !f.ambiguous {
			out = append(out, f)
		}
	}
	return out, nil
}

func wins(a, b *field) bool {
	if len(a.index) != len(b.index) {
		return len(a.index) < len(b.index)
	}
	return a.tagged && !b.tagged
}

// collect appends the fields of t, a struct that is embedded at path in types of the
// list outer.
func collect(t reflect.Type, path []int, outer []reflect.Type, all *[]field) error {
	if slices.Contains(outer, t) {
		return nil // it embeds itself: what it has is shadowed
	}
	outer = append(slices.Clone(outer), t)
	for i := range t.NumField() {
		s := t.Field(i)
		index := append(slices.Clone(path), i)
		jsonName, options, _ := strings.Cut(s.Tag.Get("json"), ",")
		skip := s.Tag.Get("json") == "-"
		csvName, csvTag := s.Tag.Lookup("csv")
		heading, textTag := s.Tag.Lookup("text")
		if s.Anonymous && jsonName == "" {
			inner := s.Type
			if inner.Kind() == reflect.Pointer {
				inner = inner.Elem()
			}
			// A pointer to an embedded struct that is not exported can be read, but
			// encoding/json cannot set it; rows are only written.
			if inner.Kind() == reflect.Struct {
				if err := collect(inner, index, outer, all); err != nil {
					return err
				}
				continue
			}
		}
		if !s.IsExported() {
			if csvTag || textTag {
				return fmt.Errorf("%v.%s has a csv or text tag, but is not exported", t, s.Name)
			}
			continue
		}
		f := field{goName: s.Name, typ: s.Type, index: index, doc: s.Tag.Get("doc"), tagged: jsonName != "" || csvTag}
		switch {
		case skip:
		case jsonName == "":
			f.json = s.Name
		default:
			f.json = jsonName
		}
		f.optional = slices.ContainsFunc(strings.Split(options, ","), func(o string) bool { return o == "omitempty" || o == "omitzero" })
		switch {
		case csvTag && csvName == "-":
		case csvTag && csvName != "":
			f.name, f.csv = csvName, true
		default:
			f.name, f.csv = f.json, f.json != ""
		}
		if f.name == "" {
			f.name = f.json
		}
		if f.name == "" {
			f.name = s.Name
		}
		if textTag {
			f.text, f.head = true, heading
			if at := strings.Index(heading, ",%"); at >= 0 {
				f.head, f.verb = heading[:at], heading[at+1:]
				if err := f.checkVerb(); err != nil {
					return fmt.Errorf("%v.%s: %w", t, s.Name, err)
				}
			}
		}
		if f.json == "" && !f.csv && !f.text {
			continue
		}
		*all = append(*all, f)
	}
	return nil
}

// checkVerb refuses a verb that does not fit the type.
func (f *field) checkVerb() error {
	t := f.typ
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if got := formatted(f.verb, reflect.Zero(t)); strings.Contains(got, "%!") {
		return fmt.Errorf("the text tag has the verb %s, which does not fit %v", f.verb, t)
	}
	return nil
}

// at returns the field's value in a row; ok is false behind a nil pointer.
func (f *field) at(row reflect.Value) (v reflect.Value, ok bool) {
	v, ok = f.place(row)
	if ok && v.Kind() == reflect.Pointer {
		return v.Elem(), !v.IsNil()
	}
	return v, ok
}

// place returns the field in a row; ok is false where it is in an embedded struct that is nil.
func (f *field) place(row reflect.Value) (v reflect.Value, ok bool) {
	for _, i := range f.index {
		if row.Kind() == reflect.Pointer {
			if row.IsNil() {
				return row, false
			}
			row = row.Elem()
		}
		row = row.Field(i)
	}
	return row, true
}

// base is the type of the field's values, without a pointer.
func (f *field) base() reflect.Type {
	if f.typ.Kind() == reflect.Pointer {
		return f.typ.Elem()
	}
	return f.typ
}

var (
	stringerType      = reflect.TypeFor[fmt.Stringer]()
	jsonMarshalerType = reflect.TypeFor[json.Marshaler]()
	textMarshalerType = reflect.TypeFor[encoding.TextMarshaler]()
)

func isSigned(k reflect.Kind) bool   { return k >= reflect.Int && k <= reflect.Int64 }
func isUnsigned(k reflect.Kind) bool { return k >= reflect.Uint && k <= reflect.Uintptr }
func isFloat(k reflect.Kind) bool    { return k == reflect.Float32 || k == reflect.Float64 }

// cell returns the function that writes a value of a type in a CSV; nil for types that a
// cell cannot hold.
func cell(t reflect.Type) func(v reflect.Value) string {
	switch k := t.Kind(); {
	case t.Implements(stringerType):
		return func(v reflect.Value) string { return harmless(v.Interface().(fmt.Stringer).String()) }
	case k == reflect.String:
		return func(v reflect.Value) string { return harmless(v.String()) }
	case k == reflect.Bool:
		return func(v reflect.Value) string { return strconv.FormatBool(v.Bool()) }
	case isSigned(k):
		return func(v reflect.Value) string { return strconv.FormatInt(v.Int(), 10) }
	case isUnsigned(k):
		return func(v reflect.Value) string { return strconv.FormatUint(v.Uint(), 10) }
	case k == reflect.Float64:
		return func(v reflect.Value) string { return Text(v.Float()) }
	case k == reflect.Float32:
		return func(v reflect.Value) string {
			if Missing(v.Float()) {
				return ""
			}
			return strconv.FormatFloat(v.Float(), 'g', -1, 32)
		}
	}
	return nil
}

// forPeople returns the text of a value in a table for people.
func forPeople(verb string, v reflect.Value) string {
	float := isFloat(v.Kind())
	switch {
	case float && Missing(v.Float()):
		return dash
	case verb != "":
		return formatted(verb, v)
	case float && !v.Type().Implements(stringerType):
		return Short(v.Float())
	}
	return fmt.Sprint(v.Interface())
}

func formatted(verb string, v reflect.Value) string {
	if isFloat(v.Kind()) {
		return fmt.Sprintf(verb, v.Float())
	}
	return fmt.Sprintf(verb, v.Interface())
}
