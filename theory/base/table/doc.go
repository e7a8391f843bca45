// Package table writes tables of results. One row type, a struct, gives text for people, CSV and
// JSON. The struct's tags say everything once, and its comments explain it:
//
//		type row struct {
//			Code   string       `json:"code" text:"code"`
//			Mean   float64      `json:"mean" text:"sampled"`
//			Within float64      `json:"within" text:"within,%.2f"`
//			Sum    uint64       `json:"-" csv:"sum_abs"`
//			Words  []string     `json:"words" csv:"-"`
//		}
//
//	  - json is encoding/json's tag.
//	  - CSV has a column for each field that JSON has, with the same name. The tag
//	    csv:"-" leaves one out; csv:"name" gives a column another name, or gives one to a
//	    field that JSON does not have. Embedded structs, which have no
//	    names, are flattened. Nil pointers, and numbers that do not exist, are empty.
//	  - text is the heading in tables for people, then a comma and a verb of fmt where the
//	    usual one is not right. Nil pointers, and numbers that do not exist, are dashes.
//	    Fields without the tag are not in these tables.
//	  - The comment above a field is its sentence in cmd/belsim/FIELDS.md.
//
// [Of] makes a [Table] of rows for people; [WriteCSV] and [WriteJSON] write all fields.
package table
