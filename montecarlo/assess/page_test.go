package assess

import (
	"encoding/xml"
	"errors"
	"io"
	"math"
	"slices"
	"strings"
	"testing"

	"belsim/errmodel/perceived"
	"belsim/theory/base/must"
	"belsim/theory/base/table"
)

// TestCurve: profiles have the curve of the model that describes the network.
func TestCurve(t *testing.T) {
	o := easy.save(t, t.TempDir(), "z")
	for k := range 16 {
		o.Bits = append(o.Bits, k+1)
	}
	r := judge(t, o)
	if !strings.Contains(r.Curve, "one noisy label") {
		t.Fatalf("the curve is of %q", r.Curve)
	}
	// Their means are the rates of the model by transitions, over the same prior.
	prior, sums, bits := smoothed(r.study.seen.Counts.Samples), map[int]float64{}, map[int]float64{}
	for k, p := range r.Profiles {
		transitions := len(r.study.transitions[k])
		bits[transitions]++
		for i, e := range p.Fitted {
			sums[transitions] += prior[i] * e
		}
	}
	for _, rate := range r.Fit.Perceived.Rates {
		if got := sums[rate.Transitions] / bits[rate.Transitions]; math.Abs(got-rate.Model) > 1e-12 {
			t.Errorf("%d transitions: the curves have the mean %v, the model %v", rate.Transitions, got, rate.Model)
		}
	}
	// Where the data reject the label, there is the mixture's curve or, where they reject that as well, none.
	d := easy
	d.change = func(z []float64) {
		for k := range z {
			z[k] /= 20
		}
	}
	o = d.save(t, t.TempDir(), "z")
	o.Training = perceived.BitByBit
	r = judge(t, o)
	if rejected := r.Fit.mixtureRejected(); rejected != (r.Curve == "") || rejected != (r.Profiles[0].Fitted == nil) || strings.Contains(r.Curve, "label") {
		t.Errorf("the mixture is rejected: %v, the curve is of %q", rejected, r.Curve)
	}
}

// TestQuantiles compares the quantiles of levels with the errors of the decoder.
func TestQuantiles(t *testing.T) {
	o := easy.save(t, t.TempDir(), "z")
	r := judge(t, o)
	q := r.Fit.Quantiles
	best := r.Fit.Decoders[r.Fit.bestDecoder()]
	if q.Decoder != best.Decoder || q.Outputs != best.Outputs || !(q.Median <= q.P90 && q.P90 <= q.P99) {
		t.Fatalf("%+v of %+v", q, best)
	}
	from, samples := 1, uint64(0)
	for _, l := range q.Levels {
		if l.From != from || l.To < l.From || l.Samples < 100 || !(l.Median <= l.P90 && l.P90 <= l.P99) {
			t.Errorf("%+v", l)
		}
		from, samples = l.To+1, samples+l.Samples
	}
	if from != 33 || samples != r.Fit.Samples || len(q.Levels) < 10 {
		t.Errorf("levels below %d, %d samples, %d rows", from, samples, len(q.Levels))
	}
}

// TestPage: a page is well-formed, needs no other file, and shows hostile names as text.
func TestPage(t *testing.T) {
	o := easy.save(t, t.TempDir(), "z")
	o.Recommend = true
	r := judge(t, o)
	const name = "<script>alert(1)</script>&\"'\x1b\u202e</title>"
	r.Fit.Code, r.Fit.Command, r.Fit.Recommendation.Ranking[0].Code = name, name, name
	r.Opening[0] += name
	r.Remarks[0] += name
	var b strings.Builder
	must.Succeed(t, WritePage(&b, nil, r.Fit.Provenance, NewSeveral([]*Report{r}).Section(), r.Section(Picture{Caption: name, SVG: `<?xml version="1.0"?><svg xmlns="http://www.w3.org/2000/svg"><path d="M0,0"/></svg>`})))
	if strings.Count(b.String(), "</svg>") != 1 {
		t.Error("no picture")
	}
	names, foreign := 0, []string{"script", "link", "img", "iframe", "object", "embed", "base", "form"}
	for d := xml.NewDecoder(strings.NewReader(b.String())); ; {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		must.Succeed(t, err)
		switch token := token.(type) {
		case xml.StartElement:
			if slices.Contains(foreign, token.Name.Local) {
				t.Errorf("element %s", token.Name.Local)
			}
			for _, a := range token.Attr {
				if key := a.Name.Local; key == "src" || key == "href" || strings.HasPrefix(key, "on") {
					t.Errorf("attribute %s of %s", key, token.Name.Local)
				}
			}
		case xml.CharData:
			text := string(token)
			names += strings.Count(text, table.Visible(name))
			if strings.Contains(text, "url(") || strings.Contains(text, "@import") || strings.ContainsAny(text, "\x1b\u202e") {
				t.Errorf("%q", text)
			}
		}
	}
	if names < 6 {
		t.Errorf("the name stands at %d places:\n%s", names, b.String())
	}
	for _, head := range []string{"model against observed: |error|", "codes if they were trained", "how this was made"} {
		if !strings.Contains(b.String(), "<h2>"+head) {
			t.Errorf("no part %q", head)
		}
	}
}
