package main

import (
	"bytes"
	"compress/zlib"
	"io"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"belsim/errmodel"
	"belsim/montecarlo/scenario"
	"belsim/plots/paper"
	"belsim/theory/base/must"
)

// word is the Johnson word of a value on m bits.
func word(value, m int) []int {
	out := make([]int, m)
	for k := 1; k <= m; k++ {
		if m-value < k && k <= 2*m-value {
			out[k-1] = 1
		}
	}
	return out
}

// baseAndDisplacement is a word of two parts: the displacement on m bits, and the base on b.
func baseAndDisplacement(value, m, b int, reflected bool) []int {
	base, d := value/(2*m), value%(2*m)
	if reflected && base%2 == 1 {
		d = 2*m - 1 - d
	}
	return append(word(d, m), word(base, b)...)
}

// panels are the words of the paper's Figure 2 for the values 0 to 63, and what its captions say.
var panels = []struct {
	name, says string
	row        func(v int) []int
}{
	{"2b", "BEL-U (unary)", func(v int) []int {
		out := make([]int, 63)
		for k := range v {
			out[k] = 1
		}
		return out
	}},
	{"2c", "BEL-J (Johnson)", func(v int) []int { return word(v, 32) }},
	{"2d", "B1JDJ without reflection", func(v int) []int { return baseAndDisplacement(v, 16, 1, false) }},
	{"2e", "BEL-B1JDJ", func(v int) []int { return baseAndDisplacement(v, 16, 1, true) }},
	{"2f", "BEL-B2JDJ", func(v int) []int { return baseAndDisplacement(v, 8, 2, true) }},
	{"2g", "BEL-HEXJ", func(v int) []int {
		low := v % 16
		if v/16%2 == 1 {
			low = 15 - low
		}
		return append(word(v/16, 8), word(low, 8)...)
	}},
	{"2-hadamard", "BEL-HAD (Hadamard), which is no panel of the paper's", func(v int) []int {
		out := make([]int, 64)
		for k := range out {
			for bits := v & k; bits > 0; bits /= 2 {
				out[k] ^= bits % 2
			}
			out[k] = 1 - out[k]
		}
		return out
	}},
}

// gauss is Eq. 3 and 4 for a transition at mu.
func gauss(x, mu, r, sigma float64) float64 {
	return r / (sigma * math.Sqrt(2*math.Pi)) * math.Exp(-(x-mu)*(x-mu)/(2*sigma*sigma))
}

// bound26 is Eq. 26 of level n, for the error probabilities e of its M bits.
func bound26(e []float64, n int) float64 {
	m := len(e)
	if n > m { // the mirrored code
		e, n = slices.Clone(e), 2*m-n
		slices.Reverse(e)
	}
	z, sum := m-n, 0.0
	product := func(from, to int, of func(float64) float64) float64 { // of bits from 1
		p := 1.0
		for j := from; j <= to; j++ {
			p *= of(e[j-1])
		}
		return p
	}
	wrong, right := func(e float64) float64 { return e }, func(e float64) float64 { return 1 - e }
	for k := 1; k <= z; k++ {
		sum += float64(z+1-k)*e[k-1]*product(1, k-1, right) + product(z+1, m, wrong)*product(k, z, right)
	}
	for k := z + 1; k <= m; k++ {
		sum += product(z+1, k, wrong) + product(k, m, wrong)
	}
	return sum
}

// meanOfBelJ is the mean |error| of Eq. 14 at level n of johnson-nonzero: over the first one f and
// the last one l.
func meanOfBelJ(e []float64, n int) float64 {
	m := len(e)
	before, after, one := make([]float64, m+1), make([]float64, m+2), make([]float64, m+1)
	before[0] = 1 // that bits 1 to k are zero
	for k, bit := range word(n, m) {
		one[k+1] = math.Abs(float64(1-bit) - (1 - e[k]))
		before[k+1] = before[k] * (1 - one[k+1])
	}
	after[m+1] = 1 // that bits k to M are zero
	for k := m; k > 0; k-- {
		after[k] = after[k+1] * (1 - one[k])
	}
	mean := before[m] * math.Abs(float64(m-n))
	for f := 1; f <= m; f++ {
		mean += before[f-1] * one[f] * after[f+1] * math.Abs(float64(2*m+1-2*f-n))
		for l := f + 1; l <= m; l++ {
			mean += before[f-1] * one[f] * one[l] * after[l+1] * math.Abs(float64(2*m+1-f-l-n))
		}
	}
	return mean
}

// numbers are those of a CSV, without its header.
func numbers(t *testing.T, name string, header int) [][]float64 {
	t.Helper()
	var out [][]float64
	for _, row := range readCSV(t, name)[header:] {
		values := make([]float64, len(row))
		for i, cell := range row {
			if values[i] = math.NaN(); cell != "" {
				values[i] = parse(t, cell)
			}
		}
		out = append(out, values)
	}
	return out
}

// near expects a number up to its last digits: rounding of at most some thousand terms.
func near(t *testing.T, what string, want, got float64) {
	t.Helper()
	if !(math.Abs(got-want) <= 1e-11*math.Abs(want)+1e-290) {
		t.Errorf("%s: %v, want %v", what, got, want)
	}
}

// inCaption is a number of a caption or a title, behind some text.
func inCaption(t *testing.T, text, behind string) float64 {
	t.Helper()
	found := regexp.MustCompile(regexp.QuoteMeta(behind) + `([0-9.,]*[0-9])`).FindStringSubmatch(text)
	if found == nil {
		t.Fatalf("%q names no number behind %q", text, behind)
	}
	return parse(t, strings.ReplaceAll(found[1], ",", ""))
}

// pdfText is the text that a PDF can be searched for.
func pdfText(t *testing.T, name string) string {
	t.Helper()
	var all strings.Builder
	for _, m := range regexp.MustCompile(`(?s)stream\r?\n(.*?)\nendstream`).FindAllStringSubmatch(content(t, name), -1) {
		r, err := zlib.NewReader(strings.NewReader(m[1]))
		if err != nil {
			continue
		}
		drawn := must.Get(io.ReadAll(r))(t)
		for _, shown := range regexp.MustCompile(`\(((?:[^()\\]|\\.)*)\) ?Tj`).FindAllSubmatch(drawn, -1) {
			all.Write(append(bytes.ReplaceAll(shown[1], []byte(`\`), nil), '\n'))
		}
	}
	return all.String()
}

// TestEquations recomputes the numbers of the paper's figures from its equations, and those that
// captions say. Figure 3(c) has a test of its own.
func TestEquations(t *testing.T) {
	t.Chdir(t.TempDir())
	names := []string{"2a", "3a", "3b", "7", "10", "10-mixture", "11"}
	for _, p := range panels {
		names = append(names, p.name)
	}
	mustRun(t, "figures --quick -q -o . --only "+strings.Join(names, ","))
	page, captions := content(t, "index.html"), map[string]string{}
	for _, f := range paper.Figures(true) {
		captions[f.Name] = f.Caption
		if slices.Contains(names, f.Name) && !strings.Contains(page, "<b>Figure "+f.Name+".</b> "+f.Caption+"<br>") {
			t.Errorf("figure %s: index.html has another caption", f.Name)
		}
	}
	t.Run("2", func(t *testing.T) { checkMatrices(t, captions) })
	t.Run("3a, 3b and 11", func(t *testing.T) { checkProfiles(t) })
	t.Run("7", func(t *testing.T) {
		const m = 8
		rows := numbers(t, "figure-7.csv", 1)
		must.Equal(t, "levels", 2*m-1, len(rows))
		must.Equal(t, "the levels of the caption", 2*m-1, inCaption(t, captions["7"], "code words of "))
		for i, row := range rows {
			tl, tf := 0, 0
			for k, bit := range word(i+1, m) {
				tl, tf = min(tl, -(k+1)*bit), max(tf, (m-k)*bit)
			}
			must.Equal(t, "level, Tl, Tf, Tc and their sum",
				[]float64{float64(i + 1), float64(tl), float64(tf), m, float64(i + 1)}, row)
		}
	})
	t.Run("10", func(t *testing.T) { checkFigure10(t, captions) })
}

// checkMatrices checks the panels of Figure 2.
func checkMatrices(t *testing.T, captions map[string]string) {
	for i, row := range numbers(t, "figure-2a.csv", 1) {
		must.Equal(t, "level and label", []float64{float64(i + 1), float64(i) / 63}, row)
	}
	must.Equal(t, "levels of 2a", 64, inCaption(t, captions["2a"], "The "))
	for _, p := range panels {
		rows := numbers(t, "figure-"+p.name+".csv", 0)
		must.Equal(t, "levels of "+p.name, 64, len(rows))
		must.Equal(t, "the caption of "+p.name, "Code matrix of "+p.says+
			": a row for each of 64 levels, ones black, bit transitions orange.", captions[p.name])
		for v, row := range rows {
			for k, bit := range p.row(v) {
				if len(row) != len(p.row(v)) || row[k] != float64(bit) {
					t.Fatalf("figure %s, level %d, bit %d: the row is %v, want %v", p.name, v+1, k+1, row, p.row(v))
				}
			}
		}
	}
}

// checkProfiles checks the curves of Figures 3(a), 3(b) and 11, whose titles are of what is drawn.
func checkProfiles(t *testing.T) {
	const n, r, sigma = 64, 1.188, 1.673
	for name, bits := range map[string][]float64{"3a": {32}, "3b": {7}, "11": {1, 6, 12, 18, 24, 32}} {
		title, of := pdfText(t, "figure-"+name+".pdf"), "johnson"
		if name == "3a" {
			of = "unary, points of johnson"
		}
		if want := of + ", 64 levels: r = 1.19, sigma = 1.67\n"; !strings.Contains(title, want) {
			t.Errorf("figure %s has not the title %q:\n%s", name, want, title)
		}
		var seen []float64
		for _, row := range numbers(t, "figure-"+name+".csv", 1) {
			k, x := row[0], row[1]
			if !slices.Contains(seen, k) {
				seen = append(seen, k)
			}
			want := gauss(x, k+0.5, r, sigma) // Eq. 3
			if name != "3a" {                 // Eq. 4, and no transition behind the last level
				want = gauss(x, n/2-k+1.5, r, sigma)
				if mu := n - k + 1.5; mu < n {
					want += gauss(x, mu, r, sigma)
				}
			}
			near(t, "figure "+name+", bit "+strconv.Itoa(int(k)), want, row[2])
		}
		must.Equal(t, "bits of figure "+name, bits, seen)
	}
}

// checkFigure10 checks bounds and exact values, and that samples agree with these. The draw of the
// uniform probabilities is belsim's.
func checkFigure10(t *testing.T, captions map[string]string) {
	const levels, m = 255, 128
	drawn := errmodel.Random(levels, m, 1)
	r, sigma := inCaption(t, captions["10-mixture"], "r = "), inCaption(t, captions["10-mixture"], "σ = ")
	for _, name := range []string{"10", "10-mixture"} {
		rows := numbers(t, "figure-"+name+".csv", 1)
		must.Equal(t, "levels", levels, len(rows))
		for i, row := range rows {
			n, e := i+1, make([]float64, m)
			for k := range e {
				if e[k] = drawn.At(i, k); name != "10" {
					e[k] = 0
					for _, mu := range []int{m - k - 1, 2*m - k - 1} { // Eq. 4, a level lower, between labels
						if mu > 0 && mu < levels {
							e[k] += gauss(float64(n), float64(mu)+0.5, r, sigma)
						}
					}
				}
			}
			at := "figure " + name + ", level " + strconv.Itoa(n)
			must.Equal(t, at, float64(n), row[0])
			near(t, at+", bound", bound26(e, n), row[1])
			near(t, at+", exact", meanOfBelJ(e, n), row[2])
			if math.Abs(row[3]-row[2]) > 5*row[4] { // about once in 3,000 seeds
				t.Errorf("%s: samples %v ± %v, want %v", at, row[3], row[4], row[2])
			}
			must.Equal(t, at+", samples of the caption", inCaption(t, captions[name], " and "), row[5])
		}
		for _, f := range paper.Figures(false) {
			if f.Name == name && !slices.Contains(f.Args, "--samples") {
				must.Equal(t, "samples of the caption", float64(scenario.FixedSampling().Samples),
					inCaption(t, f.Caption, " and "))
			}
		}
	}
}
