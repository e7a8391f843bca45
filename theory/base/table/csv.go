package table

import (
	"encoding/csv"
	"io"
	"iter"
	"reflect"
	"slices"
)

// csvFields returns the columns of the CSV of rows of a type, a struct, in order, without those
// that only other tables have. A struct in a row has a column for each of its fields, whose names
// begin with that of the struct, and an interval its two ends.
func csvFields(t reflect.Type, without []string) (out []field) {
	for _, f := range fieldsOf(t) {
		if !f.csv || slices.Contains(without, f.name) {
			continue
		}
		inner := f.Type
		if inner.Kind() == reflect.Pointer {
			inner = inner.Elem()
		}
		if inner == reflect.TypeFor[[2]float64]() {
			for k, end := range []string{"_lo", "_hi"} {
				x := f
				x.name, x.end = f.name+end, k+1
				out = append(out, x)
			}
			continue
		}
		if inner.Kind() != reflect.Struct || f.Type.Implements(stringerType) {
			out = append(out, f)
			continue
		}
		for _, x := range csvFields(inner, nil) {
			x.name, x.Index = f.name+"_"+x.name, slices.Concat(f.Index, x.Index)
			out = append(out, x)
		}
	}
	return out
}

// WriteCSV writes a line of column names and a line for each row, without the columns of some
// names. A text that a spreadsheet would take for a formula, because it begins with =, +, - or @
// and is no number, has an apostrophe before it.
func WriteCSV[R any](w io.Writer, rows []R, without ...string) error {
	return WriteCSVSeq(w, slices.Values(rows), without...)
}

// WriteCSVSeq writes rows as they come.
func WriteCSVSeq[R any](w io.Writer, rows iter.Seq[R], without ...string) error {
	columns := csvFields(reflect.TypeFor[R](), without)
	out := csv.NewWriter(w)
	record := make([]string, len(columns))
	for i := range columns {
		record[i] = columns[i].name
	}
	if err := out.Write(record); err != nil {
		return err
	}
	var row R
	v := reflect.ValueOf(&row).Elem()
	for r := range rows {
		row = r
		for i := range columns {
			record[i] = ""
			if v, ok := columns[i].at(v); ok {
				record[i] = cell(v)
			}
		}
		if err := out.Write(record); err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
}
