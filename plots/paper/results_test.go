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
	"belsim/errmodel/perceived"
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
		_, numbers, err := f.Make(t.Context(), paper.Options{})
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

// boundsOfPaper are the bounds of BEL-U and BEL-J of 255 levels at r and σ, Eq. 2 and 26 over Eq. 3
// with the transitions of the codes' words; ok is false where some probability exceeds 1.
func boundsOfPaper(r, sigma float64) (u, j float64, ok bool) {
	const n, m = 255, 128
	density := make([]float64, n+1) // of a Gaussian, i + ½ levels away
	for i := range density {
		x := (float64(i) + 0.5) / sigma
		density[i] = r / (sigma * math.Sqrt(2*math.Pi)) * math.Exp(-x*x/2)
	}
	at := func(level, before int) float64 { // of a transition between two levels; none beyond the last
		switch {
		case before < 1 || before >= n:
			return 0
		case level > before:
			return density[level-before-1]
		}
		return density[before-level]
	}
	e := make([]float64, m+2)
	for i := range n - 1 { // of unary, 2·(n−1−i) pairs of a level and a transition are so far apart
		u += float64(2*(n-1-i)) * density[i] / n
	}
	for level := 1; level <= n; level++ {
		for k := 1; k <= m; k++ { // bit k is 1 for the levels m−k+1 to 2m−k
			if e[k] = at(level, m-k) + at(level, 2*m-k); e[k] > 1 || density[0] > 1 {
				return 0, 0, false
			}
		}
		z := m - level
		if level > m { // mirrored: the word of level 2m − n, read from its other end
			slices.Reverse(e[1 : m+1])
			z = level - m
		}
		j += min(eq26(e, m, z), float64(max(level-1, n-level))) / n // no error is larger
	}
	return u, j, true
}

// eq26 is Eq. 26 for a word of z zeros and then m − z ones.
func eq26(e []float64, m, z int) (sum float64) {
	right, zeros := 1.0, 0.0 // Π (1−e_j) of the bits before k; Σ_k Π_{j=k..z} (1−e_j)
	for k := 1; k <= z; k++ {
		sum += float64(z+1-k) * e[k] * right
		right *= 1 - e[k]
		zeros = (zeros + 1) * (1 - e[k])
	}
	wrong, suffixes := 1.0, 0.0 // Π_{j=z+1..k} e_j, and Σ_k Π_{j=k..m} e_j
	for k := z + 1; k <= m; k++ {
		wrong *= e[k]
		suffixes = (suffixes + 1) * e[k]
		sum += wrong
	}
	return sum + suffixes + wrong*zeros
}

// TestFigure3c: the numbers of Figure 3(c) are those of the paper's equations, on the paper's axes,
// and its caption says so. The two figures share their axes, and the one of exact values says it.
func TestFigure3c(t *testing.T) {
	for _, quick := range []bool{true, false} {
		cells, want := 100, "35.0"
		if quick {
			cells, want = 30, "34.7"
		}
		rows, captions := map[string][][]string{}, map[string]string{}
		for _, f := range paper.Figures(quick) {
			if !strings.HasPrefix(f.Name, "3c") || f.Name != "3c" && !quick {
				continue
			}
			var text strings.Builder
			_, numbers, err := f.Make(t.Context(), paper.Options{Quick: quick})
			must.Succeed(t, err)
			must.Succeed(t, numbers(&text))
			rows[f.Name] = must.Get(csv.NewReader(strings.NewReader(text.String())).ReadAll())(t)
			captions[f.Name] = f.Caption
			must.Equal(t, f.Name+": cells", cells*cells, len(rows[f.Name])-1)
		}
		must.Equal(t, "columns", "r,sigma,bound_a,bound_b,bound_increase_percent", strings.Join(rows["3c"][0], ","))
		valid, red := 0, 0
		for i, row := range rows["3c"][1:] {
			r, sigma := 1+149*float64(i%cells)/float64(cells-1), 1+99*float64(i/cells)/float64(cells-1)
			number := func(k int) float64 { return must.Get(strconv.ParseFloat(row[k], 64))(t) }
			if math.Abs(number(0)-r)+math.Abs(number(1)-sigma) > 1e-12*(r+sigma) {
				t.Fatalf("cell %d is r = %s, σ = %s; want %v, %v", i, row[0], row[1], r, sigma)
			}
			u, j, ok := boundsOfPaper(r, sigma)
			if ok != (row[2] != "") {
				t.Fatalf("r = %v, σ = %v: %v, valid: %v", r, sigma, row, ok)
			}
			if !ok {
				continue
			}
			// Sums of up to 2¹⁶ positive terms, which are products of up to 2⁷ factors.
			const off = (1<<16 + 1<<7) * 0x1p-52
			if math.Abs(number(2)-u) > off*u || math.Abs(number(3)-j) > off*j ||
				math.Abs(number(4)-100*(u-j)/j) > 300*off*u/j {
				t.Errorf("r = %v, σ = %v: %v, want %v, %v", r, sigma, row, u, j)
			}
			if valid++; u > j {
				red++
			}
		}
		must.Equal(t, "percent of the valid cells that are red", want, fmt.Sprintf("%.1f", 100*float64(red)/float64(valid)))
		if !quick {
			continue
		}
		for i, row := range rows["3c"] {
			must.Equal(t, "axes of exact values", row[:2], rows["3c-exact"][i][:2])
			if i > 0 && strings.HasPrefix(rows["3c-exact"][i][4], "+") {
				t.Errorf("exact values: %v", rows["3c-exact"][i])
			}
		}
		for name, words := range map[string][3]string{ // what the caption has, and the columns; what it has not
			"3c": {"error bound of BEL-U (Eq. 2)", "bound_a", "exact"}, "3c-exact": {"exact expected errors", "exact_a", "Eq."},
		} {
			if c := captions[name]; !strings.Contains(c, words[0]) || rows[name][0][2] != words[1] ||
				strings.Contains(c, words[2]) {
				t.Errorf("figure %s of %s: %s", name, rows[name][0][2], c)
			}
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
