package main

import (
	"bytes"
	"cmp"
	"encoding"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"iter"
	"maps"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"belsim/errmodel/assess"
	"belsim/errmodel/scenario"
	"belsim/montecarlo/compare"
	"belsim/montecarlo/heatmap"
	"belsim/montecarlo/search"
	"belsim/montecarlo/sweep"
	"belsim/montecarlo/verify"
	"belsim/plots/paper"
)

// results are the types that commands write, with what they are.
var results = []struct {
	command, what string
	of            any
}{
	{"codes", "JSON of the list of all codes", codeList{}},
	{"codes", "JSON of one code", codeMatrix{}},
	{"compare", "JSON; the CSV has the fields of `results[]`", compare.Ranking{}},
	{"heatmap", "JSON; the CSV has the fields of `cells[]`", heatmap.Map{}},
	{"verify", "JSON; the CSV has the fields of `labels[]`, and three sums", verify.Report{}},
	{"fit", "JSON", assess.Fit{}},
	{"fit", "JSON of a network of several outputs", assess.Several{}},
	{"fit", "CSV", assess.Rate{}},
	{"optimize", "JSON", search.Optimized{}},
	{"figures", "CSV of Figures 3(a), 3(b) and 11", paper.ProfileRow{}},
	{"figures", "CSV of Figure 2(a)", paper.LevelRow{}},
	{"figures", "CSV of Figure 7", paper.TermRow{}},
	{"merge", "JSON; the CSV has the fields of `cells[]`", sweep.Table{}},
	{"bench", "JSON; the CSV has the fields of `results[]`", benchmark{}},
	{"bench PLAN", "JSON; the CSV has the fields of `results[]`", planTimes{}},
}

// sharedDocs reads FIELDS.md: what stands before the fields, and the meanings of fields without a
// comment, which mean the same in every struct.
func sharedDocs(t *testing.T) (head string, meanings map[string]string) {
	meanings = map[string]string{}
	head, fields, _ := strings.Cut(content(t, filepath.Join(sourceDir, "FIELDS.md")), "\n- `")
	fields, _, _ = strings.Cut(fields, "\n## "+results[0].command)
	of := regexp.MustCompile("(?m)^(?:- `)?(\\w+)`[^:\\n]*: (.*?)(?: \\((?:JSON|CSV)\\))?$")
	for _, m := range of.FindAllStringSubmatch(fields, -1) {
		meanings[m[1]] = regexp.MustCompile(`\\(.)`).ReplaceAllString(m[2], "$1")
	}
	return head, meanings
}

// TestFields: FIELDS.md describes the fields that the types have, all of them. A struct stands
// where it is first, and a field that several structs share stands once, before all. What stands
// before the fields, and the sentences of shared fields that have no comment, are written there.
func TestFields(t *testing.T) {
	var b bytes.Buffer
	head, meanings := sharedDocs(t)
	b.WriteString(head + "\n")
	comments, seen, shared := docs{"": meanings}, map[reflect.Type]string{}, map[field]int{}
	ofDesigns := map[string]bool{}
	for f, missing := range comments.fieldsOf(t, reflect.TypeFor[scenario.Design]()) {
		fmt.Fprintln(&b, f.line(missing))
		ofDesigns[f.name] = true
	}
	b.WriteString(`
## Shared fields

These fields, and those of a design, mean the same in every document.

`)
	for _, r := range results {
		comments.countShared(t, reflect.TypeOf(r.of), seen, shared)
	}
	once := slices.DeleteFunc(slices.Collect(maps.Keys(shared)), func(f field) bool { return shared[f] < 2 || ofDesigns[f.name] })
	slices.SortFunc(once, func(f, g field) int {
		return cmp.Or(cmp.Compare(f.name, g.name),
			cmp.Compare(f.doc, g.doc))
	})
	for i, f := range once {
		if i > 0 && once[i-1].name == f.name {
			t.Errorf("%q means two things in several structs: %q and %q", f.name, once[i-1].doc, f.doc)
		}
		fmt.Fprintln(&b, f.line(""))
	}
	seen = map[reflect.Type]string{}
	last := ""
	for _, r := range results {
		if r.command != last {
			fmt.Fprintf(&b, "\n## %s\n", r.command)
			last = r.command
		}
		fmt.Fprintf(&b, "\n%s:\n\n", r.what)
		of := reflect.TypeOf(r.of)
		seen[of] = r.command
		comments.writeFields(t, &b, of, r.command, "", seen, shared)
	}
	golden(t, "../FIELDS.md", b.String())
}

// field is one field of a result.
type field struct {
	name, kind, doc, only string
	inner                 reflect.Type // where it is a struct, or a list of them
}

func (f field) line(missing string) string {
	kind := ""
	if f.kind != "" {
		kind = " " + f.kind
	}
	return "- `" + f.name + "`" + missing + kind + ": " + escapedDoc.Replace(f.doc) + f.only
}

// escapedDoc escapes what is special in Markdown and stands in sentences about fields.
var escapedDoc = strings.NewReplacer("*", `\*`, "_", `\_`, "[", `\[`, "]", `\]`, "<", `\<`, ">", `\>`, "~", `\~`, "|",
	`\|`, "$", `\$`, "&", `\&`, "`", "\\`")

// countShared counts in how many structs each field is.
func (d docs) countShared(t *testing.T, of reflect.Type, seen map[reflect.Type]string, shared map[field]int) {
	if _, ok := seen[of]; ok {
		return
	}
	seen[of] = ""
	for f := range d.fieldsOf(t, of) {
		if f.inner != nil {
			d.countShared(t, f.inner, seen, shared)
		} else {
			shared[f]++
		}
	}
}

// writeFields writes the fields of a struct: first the names of the shared ones, then the others,
// with the fields of structs in it.
func (d docs) writeFields(t *testing.T, b *bytes.Buffer, of reflect.Type, path, indent string, seen map[reflect.Type]string,
	shared map[field]int) {
	var names []string
	if f, ok := of.FieldByName("Design"); ok && f.Anonymous {
		names = []string{"design"}
	}
	for f, missing := range d.fieldsOf(t, of) {
		if shared[f] > 1 {
			names = append(names, "`"+f.name+"`"+missing)
		}
	}
	if len(names) > 0 {
		fmt.Fprintf(b, "%s- shared: %s\n", indent, strings.Join(names, ", "))
	}
	for f, missing := range d.fieldsOf(t, of) {
		where, again := seen[f.inner]
		switch {
		case shared[f] > 1:
		case f.inner == nil:
			fmt.Fprintln(b, indent+f.line(missing))
		case again:
			fmt.Fprintf(b, "%s; its fields are those of %s\n", indent+f.line(missing), where)
		default:
			fmt.Fprintln(b, indent+f.line(missing))
			seen[f.inner] = path + " `" + f.name + "`"
			d.writeFields(t, b, f.inner, path, indent+"  ", seen, shared)
		}
	}
}

// fieldsOf are the fields of a struct type, each with "?" where it may be missing.
func (d docs) fieldsOf(t *testing.T, of reflect.Type) iter.Seq2[field, string] {
	return func(yield func(field, string) bool) {
		for _, f := range reflect.VisibleFields(of) {
			name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
			column := f.Tag.Get("csv")
			owner := d.owner(of, f)
			if f.Anonymous || !f.IsExported() || name == "-" && column == "" ||
				owner == reflect.TypeFor[scenario.Design]() && owner != of {
				continue
			}
			inner, kind := describe(f.Type)
			missing := ""
			if strings.Contains(options, "omit") {
				if missing = "?"; f.Type.Kind() == reflect.Pointer {
					_, kind = describe(f.Type.Elem())
				}
			}
			doc := cmp.Or(d.comment(t, owner, f), d[""][name])
			if doc == "" {
				t.Errorf("%v.%s has no comment: write one above it, or say what %s is in FIELDS.md, "+
					"among the shared fields", of, f.Name, name)
			}
			if kind == "number" || kind == "number or null" {
				kind = ""
			}
			of := field{name: name, kind: kind, doc: doc, inner: inner}
			switch {
			case name == "-":
				of.name, of.only = column, " (CSV)"
			case column != "":
				of.only = " (JSON)"
			}
			if !yield(of, missing) {
				return
			}
			if name != "-" && column != "" && column != "-" {
				of.name, of.only = column, " (CSV)"
				if !yield(of, missing) {
					return
				}
			}
		}
	}
}

// owner is the struct that declares a field of a struct, which may be embedded in it.
func (d docs) owner(of reflect.Type, f reflect.StructField) reflect.Type {
	owner := of
	for _, i := range f.Index[:len(f.Index)-1] {
		if owner = owner.Field(i).Type; owner.Kind() == reflect.Pointer {
			owner = owner.Elem()
		}
	}
	return owner
}

// comment is the comment above a field, in the source of the struct that declares it.
func (d docs) comment(t *testing.T, owner reflect.Type, f reflect.StructField) string {
	dir := "."
	if path, found := strings.CutPrefix(owner.PkgPath(), "belsim/"); found && path != "cmd/belsim" {
		dir = filepath.Join("../..", path)
	}
	if d[dir] == nil {
		d[dir] = fieldComments(t, dir)
	}
	name, _, _ := strings.Cut(owner.Name(), "[") // of a generic type
	return d[dir][name+"."+f.Name]
}

// docs has the comments of the fields of structs by folder, as "Struct.Field", and under "" the
// meanings of shared fields.
type docs map[string]map[string]string

// fieldComments reads the comments of all structs of a folder.
func fieldComments(t *testing.T, dir string) map[string]string {
	out := map[string]string{}
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			spec, ok := n.(*ast.TypeSpec)
			if !ok {
				return true
			}
			if of, ok := spec.Type.(*ast.StructType); ok {
				for _, f := range of.Fields.List {
					for _, field := range f.Names {
						out[spec.Name.Name+"."+field.Name] = strings.Join(strings.Fields(f.Doc.Text()), " ")
					}
				}
			}
			return false
		})
	}
	return out
}

// describe returns the JSON type of a Go type in words, and the struct that it is or is a list of.
func describe(t reflect.Type) (inner reflect.Type, words string) {
	plural := strings.NewReplacer("number", "numbers", "int", "ints", "object", "objects", "text", "texts",
		"bool", "bools")
	switch k := t.Kind(); {
	case k == reflect.Pointer:
		inner, words = describe(t.Elem())
		return inner, strings.TrimSuffix(words, " or null") + " or null"
	case t.Implements(reflect.TypeFor[json.Marshaler]()):
		return nil, "int"
	case t.Implements(reflect.TypeFor[encoding.TextMarshaler]()), k == reflect.String:
		return nil, "text"
	case k == reflect.Bool:
		return nil, "bool"
	case k == reflect.Float32, k == reflect.Float64: // NaN is null
		return nil, "number"
	case k == reflect.Struct:
		return t, "object"
	case k == reflect.Slice, k == reflect.Array:
		inner, words = describe(t.Elem())
		return inner, plural.Replace(words)
	case k == reflect.Map:
		_, words = describe(t.Elem())
		return nil, "object of " + plural.Replace(words)
	}
	return nil, "int"
}
