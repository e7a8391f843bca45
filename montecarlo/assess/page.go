package assess

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"strings"

	"belsim/theory/base/table"
)

// page is the format of tables of a page.
const page = "html"

// Picture is a picture of a page: a document of SVG.
type Picture struct{ Caption, SVG string }

//go:embed page.html.tmpl
var pageText string

// WritePage writes the report as a page that needs no other file: the verdict, pictures, and all that
// Write writes. ways are those of Write.
func (r *Report) WritePage(w io.Writer, ways map[Advice]string, pictures ...Picture) error {
	type figure struct {
		Caption string
		SVG     template.HTML
	}
	verdict, details := newPrinter(w, page, ways), newPrinter(w, page, ways)
	verdict.sentences(r.Opening)
	if r.details(details); details.err != nil {
		return details.err
	}
	data := struct {
		Title, Command, Version string
		Verdict, Details        []block
		Pictures                []figure
	}{Title: fmt.Sprintf("%s, %d levels", table.Visible(r.Fit.Code), r.Fit.Levels), Command: table.Visible(r.Fit.Command), Version: table.Visible(r.Fit.Version), Verdict: verdict.blocks, Details: details.blocks}
	for _, p := range pictures {
		// A page has no declarations inside; a program drew the rest, so nothing is to be escaped.
		data.Pictures = append(data.Pictures, figure{table.Visible(p.Caption), template.HTML(p.SVG[max(0, strings.Index(p.SVG, "<svg")):])})
	}
	t, err := template.New("page").Parse(pageText)
	if err != nil {
		return err
	}
	return t.Execute(w, data)
}
