package paper_test

import (
	"encoding/csv"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"belsim/errmodel/assess"
	"belsim/errmodel/scenario"
	"belsim/montecarlo/heatmap"
	"belsim/montecarlo/plane"
	"belsim/plots"
	"belsim/plots/paper"
	"belsim/theory/base/arrayfile"
	"belsim/theory/base/must"
	"belsim/theory/base/table"
	"belsim/theory/code"
	"belsim/theory/decode"
)

// TestMapData: a map shows ratios of errors, and its words name the codes.
func TestMapData(t *testing.T) {
	m := &heatmap.Map{A: scenario.Design{Code: "unary", Decoder: "bel-u"},
		B: scenario.Design{Code: "johnson", Decoder: "bel-j"}}
	m.R, m.Sigma = []float64{1, 2, 3, 4}, []float64{1}
	for _, v := range []float64{-50, 300, math.NaN(), -100} {
		m.Cells = append(m.Cells, heatmap.Cell{Bound: &heatmap.Values{Increase: v}, Exact: &heatmap.Values{Increase: 0}})
	}
	m.Methods, m.Bounds = []plane.Method{plane.Bound, plane.Exact}, []string{"Eq. 2", "Eq. 26, and more"}
	d := paper.MapData(m, nil, plots.Style{})
	if len(d.Panels) != 2 || d.Panels[0].Name != "bounds (Eq. 2, Eq. 26)" || d.Panels[1].Name != "exact expected error" ||
		d.Panels[1].Z[0][1] != 1 || strings.Contains(d.Title, "bound") {
		t.Errorf("panels %+v of %q", d.Panels, d.Title)
	}
	m.Methods = m.Methods[:1]
	d = paper.MapData(m, nil, plots.Style{})
	if z := d.Panels[0].Z[0]; z[0] != 0.5 || z[1] != 4 || !math.IsNaN(z[2]) || z[3] != 0 {
		t.Errorf("ratios %v", z)
	}
	if !strings.HasPrefix(d.Title, "A = unary (bel-u), B = johnson (bel-j)") ||
		!strings.HasSuffix(d.Title, ": bounds (Eq. 2, Eq. 26)") || d.Below != "unary (A) is better" ||
		d.Above != "johnson (B) is better" || !strings.HasPrefix(d.ZLabel, "how much larger") {
		t.Errorf("words %q, %q, %q, %q", d.Title, d.Below, d.Above, d.ZLabel)
	}
}

// TestObserved: the rates in Figures 3(a), 3(b) and 11 are those of the network in
// testdata/network, and so are r and σ. Bit 1 of johnson has the target of bit 32 of unary.
func TestObserved(t *testing.T) {
	data := filepath.Join("..", "..", "testdata", "network")
	o := assess.Options{
		Code: "johnson", Levels: 64, Range: assess.LabelRange{Lo: 2.5, Hi: 4.3}, Targets: filepath.Join(data,
			"targets.npy"), Outputs: filepath.Join(data, "logits.npy"),
		Temperature: 1, Decoders: decode.Builtin(), Bits: []int{1, 6, 7, 12, 18, 24, 32},
	}
	fit := must.Get(assess.Run(t.Context(), o, 1, nil))(t).Fit
	seen := 0
	for _, f := range paper.Figures(false) {
		if f.Name != "3a" && f.Name != "3b" && f.Name != "11" {
			continue
		}
		var text strings.Builder
		_, numbers, err := f.Make(plots.Style{})
		must.Succeed(t, err)
		must.Succeed(t, numbers(&text))
		rows := must.Get(csv.NewReader(strings.NewReader(text.String())).ReadAll())(t)
		for _, p := range fit.Profiles {
			bit := p.Bit
			if f.Name == "3a" && bit == 1 {
				bit = 32
			} else if f.Name == "3a" {
				continue
			}
			var mine [][]string
			for _, row := range rows[1:] {
				if row[0] == strconv.Itoa(bit) && row[3] != "" {
					mine = append(mine, row)
				}
			}
			if len(mine) == 0 {
				continue
			}
			seen++
			if len(mine) != len(p.Label) {
				t.Fatalf("figure %s, bit %d: %d rates, want %d", f.Name, bit, len(mine), len(p.Label))
			}
			c := must.Get(code.New(map[bool]string{true: "unary", false: "johnson"}[f.Name == "3a"], 64))(t)
			curve := assess.MixtureProfile(c, c.Transitions(), bit-1, fit.R, fit.Sigma)
			for i, row := range mine {
				for k, want := range []float64{p.Label[i], curve.Fitted[slices.Index(curve.X, p.Label[i])], p.Rate[i],
					p.Lo[i], p.Hi[i]} {
					tolerance := 1e-12 // parsing and printing are exact
					if k == 1 {
						tolerance = 1e-3 // r and σ have four digits: 1e-3·dp/dσ, and p changes by its own size over σ
					}
					must.Near(t, fmt.Sprintf("figure %s, bit %d, level %v, column %d", f.Name, bit, p.Label[i], k+1),
						want, must.Get(strconv.ParseFloat(row[k+1], 64))(t), tolerance)
				}
			}
		}
	}
	if seen != 8 {
		t.Errorf("%d profiles, want 1, 1 and 6", seen)
	}
	unary, johnson := must.Get(code.New("unary", 64))(t), must.Get(code.New("johnson", 64))(t)
	for i := range 64 {
		if unary.Bit(i, 31) != johnson.Bit(i, 0) {
			t.Fatalf("level %d: another target", i+1)
		}
	}
}

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
	johnson := must.Get(code.New("johnson", 16))(t)
	y, z, rng := mat.NewDense(1000, 1, nil), mat.NewDense(1000, 8, nil), rand.New(rand.NewPCG(1, 1))
	for i := range 1000 {
		y.Set(i, 0, float64(1+i%16))
		for k := range 8 {
			z.Set(i, k, 3*(2*johnson.Value(i%16, k)-1)+2*rng.NormFloat64())
		}
	}
	o := assess.Options{
		Code: "johnson", Levels: 16, Range: assess.LabelRange{Lo: 1, Hi: 16}, Targets: save(t, "y.npy", y),
		Outputs:     save(t, "z.npy", z),
		Temperature: 1, FitDecoder: true, Decoders: decode.Builtin(),
	}
	r := must.Get(assess.Run(t.Context(), o, 1, nil))(t)
	const name = "<script>alert(1)</script>&\"'\x1b\u202e</title>"
	r.Fit.Code, r.Fit.Command = name, name
	r.Opening[0] += name
	r.Remarks[0] += name
	var b strings.Builder
	several := assess.NewSeveral([]*assess.Report{r, r})
	must.Succeed(t, paper.WritePage(&b, several, r, r)) // as two outputs
	if pictures := strings.Count(b.String(), "</svg>"); pictures != 6 {
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
	for _, head := range []string{"observed mean |answer − target| in label units",
		"how this was made"} {
		if !strings.Contains(b.String(), "<h2>"+head) {
			t.Errorf("no part %q", head)
		}
	}
}
