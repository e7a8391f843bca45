package assess

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"strings"

	"belsim/montecarlo/scenario"
	"belsim/theory/base/table"
)

// page is the format of tables of a page.
const page = "html"

// Picture is a picture of a page: a document of SVG.
type Picture struct{ Caption, SVG string }

// Section is a part of a page: a verdict, pictures and details.
type Section struct {
	title    string
	verdict  []string
	pictures []Picture
	details  func(*printer)
}

// Section is all that Write writes, with pictures after the verdict.
func (r *Report) Section(pictures ...Picture) Section {
	title := fmt.Sprintf("%s, %d levels", r.Fit.Code, r.Fit.Levels)
	if k := r.study.options.Output; k > 0 {
		title = fmt.Sprintf("output %d: %s", k, title)
	}
	return Section{title, r.Opening, pictures, r.details}
}

// Section is all that Write writes.
func (s *Several) Section() Section {
	return Section{fmt.Sprintf("%d outputs", len(s.Outputs)), s.Verdict, nil, s.details}
}

//go:embed page.html.tmpl
var pageText string

// WritePage writes sections as a page that needs no other file. ways are those of Report.Write.
func WritePage(w io.Writer, ways map[Advice]string, made scenario.Provenance, sections ...Section) error {
	type figure struct {
		Caption string
		SVG     template.HTML
	}
	type section struct {
		Title            string
		Verdict, Details []block
		Pictures         []figure
	}
	data := struct {
		Command, Version string
		Sections         []section
	}{Command: table.Visible(made.Command), Version: table.Visible(made.Version)}
	for _, s := range sections {
		verdict, details := newPrinter(w, page, ways), newPrinter(w, page, ways)
		verdict.sentences(s.verdict)
		if s.details(details); details.err != nil {
			return details.err
		}
		shown := section{Title: table.Visible(s.title), Verdict: verdict.blocks, Details: details.blocks}
		for _, p := range s.pictures {
			// A page has no declarations inside; a program drew the rest, so nothing is to be escaped.
			shown.Pictures = append(shown.Pictures, figure{table.Visible(p.Caption), template.HTML(p.SVG[max(0, strings.Index(p.SVG, "<svg")):])})
		}
		data.Sections = append(data.Sections, shown)
	}
	t, err := template.New("page").Parse(pageText)
	if err != nil {
		return err
	}
	return t.Execute(w, data)
}
