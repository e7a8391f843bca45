package table

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"reflect"
	"slices"
	"strings"
)

// WriteJSON writes a value as JSON, indented by two spaces, with a final line break: as
// encoding/json does, but numbers that do not exist are null. The characters <, > and & stand as
// they are.
func WriteJSON(w io.Writer, v any) error {
	text, err := JSON(v)
	if err != nil {
		return err
	}
	var out bytes.Buffer
	if err := json.Indent(&out, text, "", "  "); err != nil {
		return err
	}
	out.WriteByte('\n')
	_, err = w.Write(out.Bytes())
	return err
}

// JSON returns a value as WriteJSON writes it, on one line.
func JSON(v any) ([]byte, error) {
	e := &encoder{fields: map[reflect.Type][]field{}}
	e.leaves = json.NewEncoder(&e.out)
	e.leaves.SetEscapeHTML(false)
	err := e.value(reflect.ValueOf(v))
	return e.out.Bytes(), err
}

// encoder writes JSON. encoding/json refuses NaN and the infinities; it writes what holds none.
type encoder struct {
	out    bytes.Buffer
	leaves *json.Encoder // to out
	fields map[reflect.Type][]field
}

func (e *encoder) value(v reflect.Value) error {
	switch k := v.Kind(); {
	case !v.IsValid(), nilable(k) && v.IsNil(), v.CanFloat() && Missing(v.Float()):
		e.out.WriteString("null")
		return nil
	case k == reflect.Pointer || k == reflect.Interface:
		return e.value(v.Elem())
	case v.Type().Implements(jsonMarshalerType), v.Type().Implements(textMarshalerType):
	case k == reflect.Struct:
		return e.object(v)
	case (k == reflect.Slice || k == reflect.Array) && v.Type().Elem().Kind() != reflect.Uint8:
		return e.list('[', ']', v.Len(), func(i int) error { return e.value(v.Index(i)) })
	}
	return e.leaf(v.Interface())
}

func nilable(k reflect.Kind) bool {
	return k == reflect.Pointer || k == reflect.Interface || k == reflect.Map || k == reflect.Slice
}

// list writes n items between two brackets.
func (e *encoder) list(open, end byte, n int, item func(i int) error) error {
	e.out.WriteByte(open)
	for i := range n {
		if i > 0 {
			e.out.WriteByte(',')
		}
		if err := item(i); err != nil {
			return err
		}
	}
	return e.out.WriteByte(end)
}

func (e *encoder) object(v reflect.Value) error {
	all, known := e.fields[v.Type()]
	if !known {
		all = jsonFields(v.Type())
		e.fields[v.Type()] = all
	}
	var names []string
	var values []reflect.Value
	for _, f := range all {
		if at, ok := f.place(v); ok && !(f.optional && (at.IsZero() || empty(at))) {
			names, values = append(names, f.json), append(values, at)
		}
	}
	return e.list('{', '}', len(names), func(i int) error {
		return errors.Join(e.leaf(names[i]), e.out.WriteByte(':'), e.value(values[i]))
	})
}

// empty reports whether v is a list or a map without entries.
func empty(v reflect.Value) bool {
	return (v.Kind() == reflect.Slice || v.Kind() == reflect.Map) && v.Len() == 0
}

// leaf writes what holds no number that does not exist.
func (e *encoder) leaf(v any) error {
	if err := e.leaves.Encode(v); err != nil {
		return err
	}
	e.out.Truncate(e.out.Len() - 1) // the line break
	return nil
}

// jsonFields are the fields of a struct that JSON has.
func jsonFields(t reflect.Type) []field {
	return slices.DeleteFunc(fieldsOf(t), func(f field) bool { return f.json == "" })
}

// ErrUnknownField is wrapped by the error for a field that a value does not have.
var ErrUnknownField = errors.New("is not a field that is known here")

// ReadJSON reads a value that WriteJSON wrote into what v points to: null is NaN where v has a
// number. Fields that are not there keep what they have in v. Errors name the character or the
// field: one that occurs twice, or that v does not have, is refused.
func ReadJSON(text []byte, v any) error {
	err := json.Unmarshal(text, v)
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) {
		return fmt.Errorf("character %d: %w", syntax.Offset, err)
	}
	var kind *json.UnmarshalTypeError
	if errors.As(err, &kind) {
		return fmt.Errorf("%scharacter %d: want %s, not this %s", prefixed(kind.Field, ": "), kind.Offset, wanted(kind.Type), kind.Value)
	}
	if err != nil {
		return err
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	return check(d, reflect.ValueOf(v).Elem(), "")
}

// wanted is what JSON calls the values of a type.
func wanted(t reflect.Type) string {
	switch k := t.Kind(); {
	case k == reflect.Pointer:
		return wanted(t.Elem())
	case k == reflect.Struct || k == reflect.Map:
		return "an object"
	case k == reflect.Slice || k == reflect.Array:
		return "an array"
	case k == reflect.String:
		return "a string"
	case k == reflect.Bool:
		return "true or false"
	case k == reflect.Float32 || k == reflect.Float64:
		return "a number"
	}
	return "a whole number"
}

func prefixed(name, end string) string {
	if name == "" {
		return ""
	}
	return name + end
}

// check reads the next value of valid JSON again, which v has. path is the name of its field.
func check(d *json.Decoder, v reflect.Value, path string) error {
	for v.Kind() == reflect.Pointer && !v.IsNil() {
		v = v.Elem()
	}
	token, err := d.Token()
	if err != nil {
		return err
	}
	switch token {
	case nil:
		if v.CanFloat() {
			v.SetFloat(math.NaN())
		} else if v.Kind() == reflect.Array { // which would keep what it has
			return fmt.Errorf("%s is null; want %d values", path, v.Len())
		}
	case json.Delim('['):
		i := 0
		for ; d.More(); i++ {
			var item reflect.Value // of a list that v does not have
			if k := v.Kind(); (k == reflect.Slice || k == reflect.Array) && i < v.Len() {
				item = v.Index(i)
			}
			if err := check(d, item, fmt.Sprintf("%s[%d]", path, i)); err != nil {
				return err
			}
		}
		if v.Kind() == reflect.Array && i != v.Len() { // encoding/json drops values, or adds zeros
			return fmt.Errorf("%s has %d values; want %d", path, i, v.Len())
		}
		_, err = d.Token()
	case json.Delim('{'):
		err = checkObject(d, v, path)
	}
	return err
}

func checkObject(d *json.Decoder, v reflect.Value, path string) error {
	var known []field
	if v.Kind() == reflect.Struct {
		known = jsonFields(v.Type())
	}
	seen := map[string]bool{}
	for d.More() {
		token, err := d.Token()
		if err != nil {
			return err
		}
		name := token.(string)
		full := prefixed(path, ".") + name
		if seen[strings.ToLower(name)] { // encoding/json takes small letters for capital ones
			return fmt.Errorf("%s occurs twice", full)
		}
		seen[strings.ToLower(name)] = true
		var item reflect.Value
		if v.Kind() == reflect.Struct {
			at := slices.IndexFunc(known, func(f field) bool { return f.json == name })
			if at < 0 {
				return fmt.Errorf("%s %w", full, ErrUnknownField)
			}
			item, _ = known[at].place(v)
		}
		if err := check(d, item, full); err != nil {
			return err
		}
	}
	_, err := d.Token()
	return err
}
