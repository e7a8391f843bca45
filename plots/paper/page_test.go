package paper_test

import (
	"encoding/xml"
	"errors"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"belsim/montecarlo"
	"belsim/montecarlo/assess"
	"belsim/montecarlo/scenario"
	"belsim/plots/paper"
	"belsim/theory/base/must"
	"belsim/theory/base/table"
	"belsim/theory/decode"
)

// TestPage: a page is well-formed, needs no other file, and shows hostile names as text.
func TestPage(t *testing.T) {
	data := filepath.Join("..", "..", "testdata", "network")
	o := assess.Options{
		Code: "johnson", Levels: 64, Range: assess.LabelRange{Lo: 2.5, Hi: 4.3}, Targets: filepath.Join(data,
			"targets.npy"), Outputs: filepath.Join(data, "logits.npy"),
		Temperature: 1, Samples: 2, Seed: 1, Recommend: true, FitDecoder: true, Decoders: decode.Builtin(),
	}
	r := must.Get(assess.Run(t.Context(), o, scenario.Run{Backend: &montecarlo.CPU{}}, nil))(t)
	const name = "<script>alert(1)</script>&\"'\x1b\u202e</title>"
	r.Fit.Code, r.Fit.Command, r.Fit.Recommendation.Ranking[0].Code = name, name, name
	r.Opening[0] += name
	r.Remarks[0] += name
	var b strings.Builder
	several := assess.NewSeveral([]*assess.Report{r, r})
	must.Succeed(t, paper.WritePage(&b, nil, several, r, r)) // as two outputs
	if pictures := strings.Count(b.String(), "</svg>"); pictures != 8 {
		t.Errorf("%d pictures", pictures)
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
			if strings.Contains(text, "url(") || strings.Contains(text, "@import") ||
				strings.ContainsAny(text, "\x1b\u202e") {
				t.Errorf("%q", text)
			}
		}
	}
	if names < 6 {
		t.Errorf("the name stands at %d places:\n%s", names, b.String())
	}
	for _, head := range []string{"mean |answer − target| in label units: observed", "codes if they were trained",
		"how this was made"} {
		if !strings.Contains(b.String(), "<h2>"+head) {
			t.Errorf("no part %q", head)
		}
	}
}
