package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"belsim/errmodel"
	"belsim/montecarlo"
	"belsim/montecarlo/compare"
	"belsim/plots/paper"
	"belsim/theory/base/must"
	"belsim/theory/code"
	"belsim/theory/decode"
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
	right, zeros := 1.0, 0.0 // Π (1−e_j) of the bits before k; Σ_k Π_{j=k..z} (1−e_j)
	for k, wrong := range e[:z] {
		sum += float64(z-k) * wrong * right
		right *= 1 - wrong
		zeros = (zeros + 1) * (1 - wrong)
	}
	product, suffixes := 1.0, 0.0 // Π_{j=z+1..k} e_j, and Σ_k Π_{j=k..m} e_j
	for _, wrong := range e[z:] {
		product *= wrong
		suffixes = (suffixes + 1) * wrong
		sum += product
	}
	return sum + suffixes + product*zeros
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
		t.Fatalf("%s: %v, want %v", what, got, want)
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

// checkProfiles checks the curves of Figures 3(a), 3(b) and 11.
func checkProfiles(t *testing.T) {
	const n, r, sigma = 64, 1.188, 1.673
	for name, bits := range map[string][]float64{"3a": {32}, "3b": {7}, "11": {1, 6, 12, 18, 24, 32}} {
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
			if mean, se := row[5], row[6]; math.Abs(mean-row[2]) > 5*se { // about once in 3,000 seeds
				t.Errorf("%s: samples %v ± %v, want %v", at, mean, se, row[2])
			}
			must.Equal(t, at+", samples of the caption", inCaption(t, captions[name], "Samples: "), row[7])
		}
		for _, f := range paper.Figures(false) {
			if f.Name == name && !slices.Contains(f.Args, "--samples") {
				must.Equal(t, "samples of the caption", float64(montecarlo.FixedSampling().Samples),
					inCaption(t, f.Caption, "Samples: "))
			}
		}
	}
}

// TestLimits: the table of theory/README.md has the limits and best errors of compare, and no error
// is below its limit.
func TestLimits(t *testing.T) {
	path := root + "/theory/README.md"
	readme := content(t, path)
	const head = "| levels | r | σ | code | bits | transitions | limit | `best` | ratio |\n| --- | --- | --- | --- | --- | --- | --- | --- | --- |\n"
	before, rest, ok := strings.Cut(readme, head)
	table, after, _ := strings.Cut(rest, "\n**")
	must.Equal(t, "theory/README.md has a table of limits", true, ok)
	if !long && !*update {
		t.Skip("30 problems take half a minute")
	}
	var rows strings.Builder
	for _, at := range []string{"32 0.6 1.5", "64 0.6 0.8", "64 0.6 1.5", "64 0.6 3", "64 1 3", "256 2 6"} {
		var found compare.Ranking
		of := strings.Fields(at)
		runJSON(t, &found, strings.Fields(fmt.Sprintf("compare unary johnson b1jdj b2jdj gray --decoder best --exact "+
			"--samples 2000 -q --levels %s --r %s --sigma %s", of[0], of[1], of[2]))...)
		slices.SortFunc(found.Results, func(a, b compare.Result) int { return b.Bits - a.Bits })
		for _, r := range found.Results {
			c := must.Get(code.New(r.Code, found.Levels))(t)
			most := must.Get(c.MaxTransitions(t.Context()))(t)
			if r.Best() < r.Limit {
				t.Errorf("%s, %s: error %v, limit %v", at, r.Code, r.Best(), r.Limit)
			}
			fmt.Fprintf(&rows, "| %s | %s | %d | %d | %.3f | %.3g | %.2f |\n", strings.Join(of, " | "), r.Code, r.Bits, most,
				math.Floor(1000*r.Limit)/1000, r.Best(), r.Limit/r.Best())
		}
	}
	if *update {
		write(t, path, before+head+rows.String()+"\n**"+after)
		return
	}
	must.Equal(t, "the table of theory/README.md", rows.String(), table)
}

// TestDifferences: what theory/README.md says of the paper's equations, by the commands that it
// names and by the equations.
func TestDifferences(t *testing.T) {
	readme := strings.Join(strings.Fields(content(t, root+"/theory/README.md")), " ")
	minus := regexp.MustCompile(`-(\d)`)
	says := func(format string, values ...any) {
		t.Helper()
		if want := fmt.Sprintf(format, values...); !strings.Contains(readme, minus.ReplaceAllString(want, "−$1")) {
			t.Errorf("theory/README.md does not say %q", want)
		}
	}
	t.Chdir(t.TempDir())
	run := func(command string) {
		t.Helper()
		if !strings.Contains(readme, "`belsim "+command+"`") {
			t.Errorf("theory/README.md does not name belsim %s", command)
		}
		mustRun(t, command+" -q")
	}

	ratios := [2][]float64{}
	plane := "heatmap unary johnson-nonzero --levels 255 --r 1:150:30 --sigma 1:100:30 -o "
	mustRun(t, plane+"bounds.csv --method bound")
	mustRun(t, plane+"exact.csv --method exact")
	bounds := numbers(t, "bounds.csv", 1)
	for i, row := range numbers(t, "exact.csv", 1) {
		if math.IsNaN(row[4]) {
			continue
		}
		if row[2] > row[3] {
			t.Errorf("r = %v, σ = %v: the exact error of BEL-J is smaller", row[0], row[1])
		}
		for j := range ratios {
			ratios[j] = append(ratios[j], bounds[i][2+j]/row[2+j])
		}
	}
	for j := range ratios {
		slices.Sort(ratios[j])
	}
	middle := len(ratios[0]) / 2
	says("bound of BEL-J is %.2f times the error (median), and at most %.2f times. The bound of BEL-U is %.1f times "+
		"the error, and at most %.1f times", ratios[1][middle], slices.Max(ratios[1]), ratios[0][middle], slices.Max(ratios[0]))

	for name, m := range map[string]int{"johnson": 4, "johnson-nonzero": 5} {
		matrix := mustRun(t, "codes "+name+" --levels 8 -q")
		for v, line := range strings.Split(strings.TrimSpace(matrix), "\n") {
			want := fmt.Sprint(word(v+m-4, m)) // of value 0 or 1 and up
			must.Equal(t, name, want, "["+strings.ReplaceAll(line, ",", " ")+"]")
		}
	}
	johnson := must.Get(code.New("johnson", 8))(t)
	belJ := must.Get(decode.New(decode.Auto, johnson))(t)
	for v := range 8 {
		must.Equal(t, "level by bel-j", v+1, belJ.Decode(johnson.Word(v)))
	}
	run("codes johnson --levels 8")
	run("codes johnson-nonzero --levels 8")

	const m, levels = 8, 15
	run("verify --levels 15 --r 0.8 --sigma 2 -o by-level.csv")
	var bound, factor, unmirrored, exact float64
	for i, row := range numbers(t, "by-level.csv", 1) {
		n, e := i+1, make([]float64, m)
		for k := range e {
			for _, mu := range []int{m - k - 1, 2*m - k - 1} {
				if mu > 0 && mu < levels {
					e[k] += gauss(float64(n), float64(mu)+0.5, 0.8, 2)
				}
			}
		}
		near(t, "bound", bound26(e, n), row[1])
		near(t, "exact", meanOfBelJ(e, n), row[2])
		bound, exact = bound+row[1]/levels, exact+row[2]/levels
		unmirrored += unmirrored27(e, n) / levels
		if n > m {
			slices.Reverse(e)
			n = 2*m - n
		}
		late, none := 0.0, 1.0 // what Tf adds where the first one is late; that no false one is before it
		for k, all := m-n, 1.0; k < m; k++ {
			all *= e[k]
			late += all
		}
		for _, x := range e[:m-n] {
			none *= 1 - x
		}
		factor += (row[1] - late*(1-none)) / levels
	}
	const tiny = "verify --levels 3 --r 0.3 --sigma 0.5"
	run(tiny)
	side := gauss(0, 0.5, 0.3, 0.5) // each of two bits errs so at the middle level
	says("level 2 has 2(e + e²) = %.4f with e = %.4f, and the exact error is %.4f", 2*(side+side*side), side,
		meanOfBelJ([]float64{side, side}, 2))
	near(t, "Eq. 26 of three levels", 2*(side+side*side), bound26([]float64{side, side}, 2))
	says("with it the bound %.3f would be %.3f, the exact error is %.3f", bound, factor, exact)
	says("the mean is %.3f, below the exact %.3f: no bound", unmirrored, exact)
	if unmirrored > exact || factor < exact {
		t.Errorf("exact %v, unmirrored %v, with the factor %v", exact, unmirrored, factor)
	}

	c := must.Get(code.New("b1jdj", 16))(t)
	ex, random := must.Get(decode.NewGenEx(c, 1))(t), rand.New(rand.NewPCG(1, 1))
	z, twice := make([]float64, c.Bits()), make([]float64, c.Bits())
	for k := range z {
		z[k] = random.NormFloat64()
		twice[k] = 2 * z[k]
	}
	mean, sum := 0.0, 0.0
	for v := range 16 {
		score := 0.0
		for k, bit := range baseAndDisplacement(v, 4, 1, true) {
			score += z[k] * float64(2*bit-1)
		}
		mean, sum = mean+float64(v+1)*math.Exp(score), sum+math.Exp(score)
	}
	near(t, "gen-ex of twice the logits by rows of 0 and 1, and of rows of ±1", mean/sum, ex.DecodeLogits(twice))
}

// unmirrored27 is Eq. 26 of level n, as Eq. 27 takes it for the upper half, too: there are no bits z < k there.
func unmirrored27(e []float64, n int) float64 {
	if n <= len(e) {
		return bound26(e, n)
	}
	return bound26(e, len(e))
}

// TestFigures draws figures twice, on one processor and on all, and expects the same
// bytes. With BELSIM_LONG=1 these are all figures, otherwise one that codes makes, too, and one that
// figures alone makes.
func TestFigures(t *testing.T) {
	inFolderWithData(t)
	drawn := slices.DeleteFunc(paper.Figures(true), func(f paper.Figure) bool {
		return !long && f.Name != "2b" && f.Name != "11"
	})
	var names []string
	for _, f := range drawn {
		names = append(names, f.Name)
	}
	args := "figures --quick -q --style column --only " + strings.Join(names, ",")
	mustRun(t, args+" -o first")
	mustRun(t, args+" -o second/deeper --workers 1")
	page := content(t, "first/index.html")
	for file, width := range map[string]string{"figure-11.svg": "237.6pt"} {
		if svg := content(t, "first/"+file); !strings.Contains(svg, `width="`+width+`"`) {
			t.Errorf("%s is not %s wide: %.300s", file, width, svg)
		}
	}
	for _, f := range drawn {
		for _, name := range filesOf(f) {
			a := content(t, filepath.Join("first", name))
			if len(a) < 100 || a != content(t, filepath.Join("second/deeper", name)) {
				t.Errorf("%s: %d bytes, or another file the second time", name, len(a))
			}
			rows := 8
			if f.Name == "limit" { // of two numbers of bits, below the names of columns
				rows = 3
			}
			if format(name) == "csv" && len(readCSV(t, filepath.Join("first", name))) < rows {
				t.Errorf("%s: %s", name, a)
			}
		}
		if !strings.Contains(page, `src="figure-`+f.Name+`.svg"`) || !strings.Contains(page, f.Caption[:20]) {
			t.Errorf("figure %s is not in the index", f.Name)
		}
	}
}

// boundsOfPaper are the bounds of BEL-U and BEL-J of 255 levels at r and σ, Eq. 2 and 26 over Eq. 3
// with the transitions of the codes' words; ok is false where some probability exceeds 1.
func boundsOfPaper(r, sigma float64) (u, j float64, ok bool) {
	const n, m = 255, 128
	density := make([]float64, n+1) // of a Gaussian, i + ½ levels away
	for i := range density {
		density[i] = gauss(float64(i), -0.5, r, sigma)
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
	e := make([]float64, m)
	for i := range n - 1 { // of unary, 2·(n−1−i) pairs of a level and a transition are so far apart
		u += float64(2*(n-1-i)) * density[i] / n
	}
	for level := 1; level <= n; level++ {
		for k := range e { // bit k+1 is 1 for the levels m−k to 2m−k−1
			if e[k] = at(level, m-k-1) + at(level, 2*m-k-1); e[k] > 1 || density[0] > 1 {
				return 0, 0, false
			}
		}
		j += min(bound26(e, level), float64(max(level-1, n-level))) / n // no error is larger
	}
	return u, j, true
}

// TestFigure3c: the numbers of Figure 3(c) are those of the paper's equations, on the paper's axes,
// and its caption says so. The two figures share their axes, and the one of exact values says it.
func TestFigure3c(t *testing.T) {
	t.Chdir(t.TempDir())
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
			mustRun(t, append(slices.Clone(f.Args), "-o", f.Name+".csv")...)
			rows[f.Name] = readCSV(t, f.Name+".csv")
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
