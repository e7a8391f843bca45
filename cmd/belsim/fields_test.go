package main

import (
	"bytes"
	"fmt"
	"testing"

	"belsim/montecarlo/assess"
	"belsim/montecarlo/forecast"
	"belsim/montecarlo/scenario"
	"belsim/montecarlo/search"
	"belsim/montecarlo/sweep"
	"belsim/plots/paper"
	"belsim/theory/base/table"
)

// results are the types that commands write, with what they are.
var results = []struct {
	command, what string
	fields        func() ([]table.Field, error)
	undocumented  func() ([]string, error)
}{
	{"codes", "JSON of the list of all codes", table.Reference[codeList], table.Undocumented[codeList]},
	{"codes", "JSON of one code", table.Reference[codeMatrix], table.Undocumented[codeMatrix]},
	{"compare", "JSON; the CSV has the fields of `results[]`", table.Reference[scenario.Comparison], table.Undocumented[scenario.Comparison]},
	{"levels", "JSON; the CSV has the fields of `results[]` but `interval`", table.Reference[forecast.Resolutions], table.Undocumented[forecast.Resolutions]},
	{"heatmap", "JSON; the CSV has the fields of `cells[]`", table.Reference[scenario.Map], table.Undocumented[scenario.Map]},
	{"verify", "JSON; the CSV has the fields of `labels[]`, and three sums", table.Reference[scenario.Verification], table.Undocumented[scenario.Verification]},
	{"fit", "JSON", table.Reference[assess.Fit], table.Undocumented[assess.Fit]},
	{"fit", "JSON of a network of several outputs", table.Reference[assess.Several], table.Undocumented[assess.Several]},
	{"fit", "CSV", table.Reference[assess.Rate], table.Undocumented[assess.Rate]},
	{"optimize", "JSON", table.Reference[search.Optimized], table.Undocumented[search.Optimized]},
	{"optimize --pareto", "JSON; the CSV has the fields of `baselines[]`", table.Reference[search.Tradeoff], table.Undocumented[search.Tradeoff]},
	{"figures", "CSV of Figures 3(a), 3(b) and 11", table.Reference[paper.ProfileRow], table.Undocumented[paper.ProfileRow]},
	{"figures", "CSV of Figure 7", table.Reference[paper.TermRow], table.Undocumented[paper.TermRow]},
	{"sweep", "CSV of --print cells", table.Reference[sweep.ListedPiece], table.Undocumented[sweep.ListedPiece]},
	{"merge", "JSON; the CSV and the arrays of the .npz have the fields of `cells[]`", table.Reference[sweep.Table], table.Undocumented[sweep.Table]},
	{"bench", "JSON; the CSV has the fields of `results[]`", table.Reference[benchmark], table.Undocumented[benchmark]},
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
		if missing, err := r.undocumented(); err != nil || len(missing) > 0 {
			t.Errorf("%s, %s: fields without a doc tag: %v, error %v", r.command, r.what, missing, err)
		}
		fields := must(r.fields())(t)
		if r.command != last {
			fmt.Fprintf(&b, "\n## %s\n", r.command)
			last = r.command
		}
		fmt.Fprintf(&b, "\n%s:\n\n", r.what)
		noError(t, table.WriteReference(&b, fields))
	}
	golden(t, "../FIELDS.md", b.String())
}
