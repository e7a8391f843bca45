package table

import (
	"cmp"
	"encoding"
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"
	"strings"
)

// field is a field of a row type, with what its tags say.
type field struct {
	reflect.StructField
	name       string // of the CSV column; else of JSON; else of Go
	json       string // "" where JSON does not have it
	csv        bool   // whether CSV has it
	optional   bool   // JSON leaves it out where it is empty
	text       bool   // whether tables for people have it
	head, verb string // of these tables: the heading, and a verb of fmt or ""
	end        int    // of an interval: 1 for the lower and 2 for the upper end; 0 for a whole field
}

// fieldsOf returns the fields of a struct type in order. Those of an embedded struct stand in its
// place.
func fieldsOf(t reflect.Type) (out []field) {
	for _, s := range reflect.VisibleFields(t) {
		if s.Anonymous || !s.IsExported() {
			continue
		}
		if f := fieldOf(s); f.json != "" || f.csv || f.text {
			out = append(out, f)
		}
	}
	return out
}

// fieldOf reads the tags of a field.
func fieldOf(s reflect.StructField) field {
	f := field{StructField: s}
	name, options, _ := strings.Cut(s.Tag.Get("json"), ",")
	if name != "-" {
		f.json = cmp.Or(name, s.Name)
	}
	f.optional = strings.Contains(options, "omit")
	column := s.Tag.Get("csv")
	f.csv = column != "-" && cmp.Or(column, f.json) != ""
	f.name = cmp.Or(strings.TrimPrefix(column, "-"), f.json, s.Name)
	f.head, f.text = s.Tag.Lookup("text")
	if at := strings.Index(f.head, ",%"); at >= 0 {
		f.head, f.verb = f.head[:at], f.head[at+1:]
	}
	return f
}

// at returns the field's value in a row; ok is false behind a nil pointer.
func (f *field) at(row reflect.Value) (v reflect.Value, ok bool) {
	v, ok = f.place(row)
	if ok && v.Kind() == reflect.Pointer {
		v, ok = v.Elem(), !v.IsNil()
	}
	if ok && f.end > 0 {
		v = v.Index(f.end - 1)
	}
	return v, ok
}

// place returns the field in a row; ok is false where it is in an embedded struct that is nil.
func (f *field) place(row reflect.Value) (v reflect.Value, ok bool) {
	v, err := row.FieldByIndexErr(f.Index)
	return v, err == nil
}

var (
	stringerType      = reflect.TypeFor[fmt.Stringer]()
	jsonMarshalerType = reflect.TypeFor[json.Marshaler]()
	textMarshalerType = reflect.TypeFor[encoding.TextMarshaler]()
)

// cell is a value in a CSV.
func cell(v reflect.Value) string {
	switch {
	case v.Type().Implements(stringerType):
		return harmless(v.Interface().(fmt.Stringer).String())
	case v.CanInt():
		return strconv.FormatInt(v.Int(), 10)
	case v.CanUint():
		return strconv.FormatUint(v.Uint(), 10)
	case v.CanFloat() && Missing(v.Float()):
		return ""
	case v.CanFloat():
		return strconv.FormatFloat(v.Float(), 'g', -1, v.Type().Bits())
	}
	return harmless(fmt.Sprint(v.Interface()))
}

// forPeople is a value in a table for people.
func forPeople(verb string, v reflect.Value) string {
	float := v.CanFloat()
	switch {
	case float && Missing(v.Float()):
		return dash
	case float && verb != "":
		return fmt.Sprintf(verb, v.Float())
	case float && !v.Type().Implements(stringerType):
		return Short(v.Float())
	}
	return fmt.Sprintf(cmp.Or(verb, "%v"), v.Interface())
}
