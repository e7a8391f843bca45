package paper

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"strings"

	"belsim/errmodel/assess"
	"belsim/errmodel/head"
	"belsim/plots"
	"belsim/theory/base/table"
)

// NetworkFigure draws the error rates of some bits of a network, and below them the calibration of its
// probabilities.
func NetworkFigure(r *assess.Report, style plots.Style) (*plots.Figure, error) {
	rates, err := plots.Profile(profileData(r, style))
	p := r.Fit.Probabilities
	if err != nil || p == nil {
		return rates, err
	}
	calibration, err := plots.Lines(pitData(p, style))
	if err != nil {
		return nil, err
	}
	return plots.Stack(rates, calibration), nil
}

// picture is a picture of a page: a document of SVG.
type picture struct{ Caption, SVG string }

//go:embed page.html.tmpl
var pageText string

// WritePage writes the page of a network, with the reports of its outputs, which needs no other
// file. all is what is known of several outputs, else nil.
func WritePage(w io.Writer, all *assess.Several, reports ...*assess.Report) error {
	type section struct {
		table.Section
		Pictures []picture
	}
	made := reports[0].Fit.Provenance
	page := struct {
		Command, Version string
		Sections         []section
	}{Command: table.Visible(made.Command), Version: table.Visible(made.Version)}
	if all != nil {
		page.Sections = append(page.Sections, section{all.Section(), nil})
	}
	for _, r := range reports {
		drawn, err := pictures(r)
		if err != nil {
			return err
		}
		page.Sections = append(page.Sections, section{r.Section(), drawn})
	}
	t, err := template.New("page").Funcs(template.FuncMap{
		"visible": table.Visible,
		"markup":  func(text string) template.HTML { return template.HTML(text) }, // of pictures, which a program wrote
	}).Parse(pageText)
	if err != nil {
		return err
	}
	return t.Execute(w, page)
}

// pictures are those of the page of a network.
func pictures(r *assess.Report) ([]picture, error) {
	var out []picture
	var failed error
	add := func(caption string, f *plots.Figure, err error) {
		var svg strings.Builder
		if err == nil {
			err = f.Write(&svg, "svg")
		}
		if err != nil && failed == nil {
			failed = err
		}
		text := svg.String() // a page has no declarations inside
		out = append(out, picture{caption, text[max(0, strings.Index(text, "<svg")):]})
	}
	style := plots.Style{Place: plots.Column} // readable on a phone
	f, err := plots.Profile(profileData(r, style))
	what := "bits are wrong"
	if r.Fit.Code == head.Direct {
		what = "predictions are on the wrong side of a level"
	}
	add("How often "+what, f, err)
	if q := r.Fit.Quantiles; q != nil && len(q.Rows) > 1 {
		f, err := plots.Lines(quantileData(r.Fit, style))
		add("How large the errors are. "+q.Text(r.Fit), f, err)
	}
	if p := r.Fit.Probabilities; p != nil {
		f, err := plots.Lines(pitData(p, style))
		add("Calibration. "+p.Text(r.Fit), f, err)
	}
	return out, failed
}

// profileData returns the data of the figure of a network's bits.
func profileData(r *assess.Report, style plots.Style) plots.ProfileData {
	name, parameters, _ := strings.Cut(r.Fit.Curve, ":")
	d := plots.ProfileData{Style: style, Curve: name, Bits: r.Fit.Profiles, Title: fmt.Sprintf("%s, %d levels, %d samples", r.Fit.Code,
		r.Fit.Levels, r.Fit.Samples)}
	if name != "" {
		d.Title += ":" + parameters
	}
	return d
}

// quantileData returns the data of the figure of the errors by level.
func quantileData(f *assess.Fit, style plots.Style) plots.LinesData {
	q := f.Quantiles
	d := plots.LinesData{
		Style: style, Title: fmt.Sprintf("%s on %s", q.Decoder, q.Outputs), YLabel: "|error| (" + f.ErrorUnit() + ")",
		Lines: []plots.NamedLine{{Name: "median"}, {Name: "90 %"}, {Name: "99 %"}},
	}
	for _, l := range q.Rows {
		d.Level = append(d.Level, float64(l.From+l.To)/2)
		for i, v := range []float64{l.Median, l.P90, l.P99} {
			d.Lines[i].Values = append(d.Lines[i].Values, v)
		}
	}
	return d
}

// pitData returns the data of the figure of calibration: the histogram of the PIT, as shares over those
// of calibrated probabilities.
func pitData(p *assess.Probabilities, style plots.Style) plots.LinesData {
	d := plots.LinesData{Style: style, Title: "probabilities of levels, as " + p.Decoder + " reads them",
		XLabel: "probability below the target (PIT)", YLabel: "density of targets (calibrated: 1)",
		Lines: []plots.NamedLine{{Name: "network"}, {Name: "calibrated"}}}
	for i, share := range p.PIT {
		d.Level = append(d.Level, (float64(i)+0.5)/float64(len(p.PIT)))
		d.Lines[0].Values = append(d.Lines[0].Values, share*float64(len(p.PIT)))
		d.Lines[1].Values = append(d.Lines[1].Values, 1)
	}
	return d
}
