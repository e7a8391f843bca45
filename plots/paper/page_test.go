package paper_test

import (
	"encoding/xml"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"belsim/errmodel/assess"
	"belsim/errmodel/perceived"
	"belsim/plots/paper"
	"belsim/theory/base/arrayfile"
	"belsim/theory/base/must"
	"belsim/theory/base/table"
	"belsim/theory/code"
	"belsim/theory/decode"
)

// save writes an array into a file of its own.
func save(t *testing.T, name string, m *mat.Dense) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), name)
	f := must.Get(os.Create(path))(t)
	must.Succeed(t, errors.Join(arrayfile.WriteNPY(t.Context(), f, m), f.Close()))
	return path
}

// TestPage: a page is well-formed, needs no other file, and shows hostile names as text.
func TestPage(t *testing.T) {
	model := perceived.Model{Noise: 0.9, Misfit: perceived.DefaultMisfit, Training: perceived.BCE}
	network := must.Get(model.Learn(t.Context(), 1, must.Get(code.New("johnson", 16))(t), nil))(t)
	y, z, rng := mat.NewDense(1000, 1, nil), mat.NewDense(1000, 8, nil), rand.New(rand.NewPCG(1, 1))
	for i := range 1000 {
		y.Set(i, 0, float64(1+i%16))
		network.Logits(z.RawRowView(i), y.At(i, 0)+model.Noise*rng.NormFloat64())
	}
	o := assess.Options{
		Code: "johnson", Levels: 16, Range: assess.LabelRange{Lo: 1, Hi: 16}, Targets: save(t, "y.npy", y),
		Outputs:     save(t, "z.npy", z),
		Temperature: 1, Recommend: true, FitDecoder: true, Decoders: decode.Builtin(),
	}
	r := must.Get(assess.Run(t.Context(), o, 1, nil))(t)
	const name = "<script>alert(1)</script>&\"'\x1b\u202e</title>"
	r.Fit.Code, r.Fit.Command, r.Fit.Recommendation.Ranking[0].Code = name, name, name
	r.Opening[0] += name
	r.Remarks[0] += name
	var b strings.Builder
	several := assess.NewSeveral([]*assess.Report{r, r})
	must.Succeed(t, paper.WritePage(&b, several, r, r)) // as two outputs
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
