package assess

import (
	"fmt"

	"belsim/theory/base/table"
)

// Section is a part of a page: a verdict and details, as blocks.
type Section struct {
	Title            string
	Verdict, Details []Block
}

// Block is a paragraph or a table of a page.
type Block struct {
	Text  string
	Head  string       // of the table
	Table *table.Table // nil for a paragraph
}

// Section has all that Write writes. ways are those of Write.
func (r *Report) Section(ways map[Advice]string) Section {
	title := fmt.Sprintf("%s, %d levels", r.Fit.Code, r.Fit.Levels)
	if k := r.study.options.Output; k > 0 {
		title = fmt.Sprintf("output %d: %s", k, title)
	}
	return section(title, r.Opening, r.details, ways)
}

// Section has all that Write writes. ways are those of Report.Write.
func (s *Several) Section(ways map[Advice]string) Section {
	return section(fmt.Sprintf("%d outputs", len(s.Outputs)), s.Verdict, s.details, ways)
}

// section is a part of a page.
func section(title string, opening []string, rest func(*printer), ways map[Advice]string) Section {
	verdict, details := newPrinter(nil, ways), newPrinter(nil, ways)
	verdict.sentences(opening)
	rest(details)
	return Section{title, verdict.blocks, details.blocks}
}
