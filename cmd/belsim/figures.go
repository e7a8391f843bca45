package main

import (
	"bytes"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"html/template"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"belsim/errmodel"
	"belsim/plots"
	"belsim/theory/code"
)

type figuresCmd struct {
	Output   string   `short:"o" default:"figures" placeholder:"DIR" help:"Folder to write to, made if need be (default: ${default})."`
	Only     []string `placeholder:"NAME" help:"Only these figures, with commas between them: 2a to 2g, 3a, 3b, 3c, 3c-exact, 7, 10, 10-mixture, 11."`
	Quick    bool     `help:"Fewer cells and samples."`
	Rates    string   `placeholder:"FILE" help:"Observed error rates to draw in 3a, 3b and 11: what 'belsim fit -o FILE.csv' wrote."`
	Size     string   `enum:"text,column" default:"text" help:"Width of figures: text (6.3 inches) or column (3.3 inches, one of two)."`
	IfExists string   `enum:"overwrite,fail" default:"overwrite" help:"What to do when a file exists: ${enum}."`
	Quiet    bool     `short:"q" help:"No progress on standard error."`
	workersFlag
}

func (figuresCmd) Help() string {
	return `Every figure of the paper that belsim computes, as PDF, SVG and PNG, with the CSV it was drawn from and a .tex for pgfplots that reads it; index.html shows them all, each with the command that makes it alone. Two runs give the same bytes.

Example:

  belsim figures --quick --only 2b,3c -o figures`
}

// figure is one of the paper's.
type figure struct {
	Name, Caption string
	// args is the command that makes it alone, without its outputs; it is quick's
	// where there is no more to it.
	args, quick []string
	// own draws what no other command does.
	own func(cmd *figuresCmd, ctx context.Context) (drawing, error)
}

// drawing is a figure with its numbers.
type drawing struct {
	figure *plots.Figure
	rows   [][]string // of the CSV, its header first
}

// codeFigure is a panel of Figure 2.
func codeFigure(letter, name, text string) figure {
	return figure{
		Name: "2" + letter, Caption: "Code matrix of " + text + ": a row for each of 64 levels, ones black, bit transitions orange.",
		args: []string{"codes", name, "--levels", "64"},
	}
}

// figures lists all, in the order of the paper.
func figures() []figure {
	const mixture = "r = 0.5, σ = 3"
	return []figure{
		codeFigure("a", "unary", "BEL-U (unary)"),
		codeFigure("b", "johnson", "BEL-J (Johnson)"),
		codeFigure("c", "b1jdj", "BEL-B1JDJ"),
		codeFigure("d", "b2jdj", "BEL-B2JDJ"),
		codeFigure("e", "hexj", "BEL-HEXJ"),
		codeFigure("f", "hadamard", "BEL-HAD (Hadamard)"),
		codeFigure("g", "b1jdj-nr", "B1JDJ without reflection"),
		{Name: "3a", Caption: "Error probability of a classifier of the unary code against the label; the bar on top is its target bit. Gaussian mixture, " + mixture + ", unless rates are given.", own: profileOf("unary", 34)},
		{Name: "3b", Caption: "The same of a classifier of the Johnson code, which has two bit transitions.", own: profileOf("johnson", 7)},
		{
			Name: "3c", Caption: "Increase of the error bound of BEL-U over that of BEL-J, in per cent, over the weight r and width σ of the error profiles. Red: BEL-J has the smaller bound. Blank: some probability exceeds 1.",
			args: []string{"heatmap", "unary", "johnson-nonzero"}, quick: []string{"--r", "1:150:30", "--sigma", "1:100:30"},
		},
		{
			Name: "3c-exact", Caption: "The same by the exact expected error of the same model: there is no red.",
			args: []string{"heatmap", "unary", "johnson-nonzero", "--method", "exact"}, quick: []string{"--r", "1:150:30", "--sigma", "1:100:30"},
		},
		{Name: "7", Caption: "What the decoder of BEL-J adds up, for the code words of 15 levels: Tl = −max k·b, Tf = max (M−k+1)·b, Tc = M, and their sum, the level (Eq. 14).", own: (*figuresCmd).terms},
		{
			Name: "10", Caption: "Expected error of every label of BEL-J when error probabilities are drawn uniformly, as in the paper's check of its bound: bound (Eq. 26), exact value, and 100,000 samples a label.",
			args: []string{"verify", "--code", "johnson-nonzero", "--levels", "255", "--random"}, quick: []string{"--samples", "2000"},
		},
		{
			Name: "10-mixture", Caption: "The same with the Gaussian mixture, r = 2, σ = 5.",
			args: []string{"verify", "--code", "johnson-nonzero", "--levels", "255", "--r", "2", "--sigma", "5"}, quick: []string{"--samples", "2000"},
		},
		{Name: "11", Caption: "Error probabilities of six classifiers of the Johnson code.", own: profileOf("johnson", 1, 6, 12, 18, 24, 32)},
	}
}

// Run implements the command.
func (cmd *figuresCmd) Run(ctx context.Context, env *environment) error {
	restore, err := cmd.use()
	if err != nil {
		return err
	}
	defer restore()
	all := figures()
	var chosen []figure
	for _, f := range all {
		if len(cmd.Only) == 0 || slices.Contains(cmd.Only, f.Name) {
			chosen = append(chosen, f)
		}
	}
	for _, name := range cmd.Only {
		if !slices.ContainsFunc(all, func(f figure) bool { return f.Name == name }) {
			var names []string
			for _, f := range all {
				names = append(names, f.Name)
			}
			return fmt.Errorf("--only %s: want some of %s", name, strings.Join(names, ", "))
		}
	}
	if info, err := os.Stat(cmd.Output); err == nil && !info.IsDir() {
		return fmt.Errorf("cannot write to %s: it is not a folder", cmd.Output)
	}
	if cmd.Rates != "" { // refused before anything is written
		if _, err := readRates(cmd.Rates); err != nil {
			return err
		}
	}
	if err := os.MkdirAll(cmd.Output, 0o777); err != nil {
		return outside(fmt.Errorf("making the folder: %w", err))
	}
	bar := env.newProgress(cmd.Quiet, "figures", uint64(len(chosen)))
	defer bar.stop()
	var cards []card
	for _, f := range chosen {
		c, err := cmd.draw(ctx, env, f)
		if err != nil {
			return bar.interrupted(fmt.Errorf("figure %s: %w", f.Name, err))
		}
		cards = append(cards, c)
		bar.add(1)
	}
	bar.stop()
	out := cmd.outputs("index.html")
	if err := out.write(func(w io.Writer, _ string) error { return index.Execute(w, cards) }); err != nil {
		return err
	}
	for _, c := range cards {
		fmt.Fprintf(env.stdout, "%-11s %s\n", c.Name, c.Command)
	}
	fmt.Fprintf(env.stdout, "%d figures in %s\n", len(cards), filepath.Join(cmd.Output, "index.html"))
	return nil
}

// figureFormats are what every figure is written in.
var figureFormats = [...]string{"csv", "pdf", "svg", "png", "tex"}

// outputs are files in the folder.
func (cmd *figuresCmd) outputs(names ...string) outputFlags {
	out := outputFlags{Size: cmd.Size, IfExists: cmd.IfExists}
	for _, name := range names {
		out.Output = append(out.Output, filepath.Join(cmd.Output, name))
	}
	return out
}

// card is a figure in the index.
type card struct{ Name, Caption, Command string }

// draw makes the files of a figure.
func (cmd *figuresCmd) draw(ctx context.Context, env *environment, f figure) (card, error) {
	var names []string
	for _, format := range figureFormats {
		names = append(names, "figure-"+f.Name+"."+format)
	}
	out := cmd.outputs(names...)
	if f.own == nil {
		args := f.args
		if cmd.Quick {
			args = append(slices.Clone(args), f.quick...)
		}
		alone := append(slices.Clone(args), "-o", "figure-"+f.Name+".pdf")
		args = append(slices.Clone(args), "--quiet", "--size", cmd.Size, "--if-exists", cmd.IfExists)
		for _, path := range out.Output {
			args = append(args, "-o", path)
		}
		return card{f.Name, f.Caption, "belsim " + strings.Join(quoted(alone), " ")}, env.runInside(ctx, args)
	}
	alone := []string{"figures", "--only", f.Name}
	if cmd.Rates != "" && f.Name != "7" {
		alone = append(alone, "--rates", cmd.Rates)
	}
	c := card{f.Name, f.Caption, "belsim " + strings.Join(quoted(alone), " ")}
	if err := out.checkOutput(figureFormats[:]...); err != nil {
		return c, err
	}
	d, err := f.own(cmd, ctx)
	if err != nil {
		return c, err
	}
	return c, out.write(func(w io.Writer, path string) error {
		if format(path) != "csv" {
			return writeFigure(w, d.figure, path)
		}
		return csv.NewWriter(w).WriteAll(d.rows)
	})
}

// runInside runs another command without its output.
func (env *environment) runInside(ctx context.Context, args []string) error {
	inside := &environment{stdout: io.Discard, stderr: env.stderr, args: args, given: map[string]bool{}}
	k, err := inside.parse(ctx, args, func(int) {})
	if err != nil {
		return err
	}
	if err := k.Run(); err != nil && !errors.Is(err, errFailed) {
		return err
	} else if err != nil {
		return fmt.Errorf("belsim %s: %w", strings.Join(quoted(args), " "), err)
	}
	return nil
}

// Levels and parameters of the error profiles that are drawn without rates.
const (
	profileLevels = 64
	profileR      = 0.5
	profileSigma  = 3
)

// profileOf draws error probabilities of some bits, from 1: of the mixture, or of
// observed rates where they are given.
func profileOf(name string, bits ...int) func(*figuresCmd, context.Context) (drawing, error) {
	return func(cmd *figuresCmd, _ context.Context) (drawing, error) {
		d := plots.ProfileData{Size: cmd.size()}
		if cmd.Rates != "" {
			rates, err := readRates(cmd.Rates)
			if err != nil {
				return drawing{}, err
			}
			d.Title = cmd.Rates
			d.Bits = rates.profiles(len(bits))
		} else {
			c, err := code.New(name, profileLevels)
			if err != nil {
				return drawing{}, err
			}
			d.Title = fmt.Sprintf("%s, %d levels: r = %g, σ = %g", name, profileLevels, profileR, float64(profileSigma))
			transitions := c.Transitions()
			for _, k := range bits {
				d.Bits = append(d.Bits, mixtureProfile(c, transitions, k-1, profileR, profileSigma))
			}
		}
		f, err := plots.Profile(d)
		if err != nil {
			return drawing{}, err
		}
		return drawing{f, profileRows(d.Bits)}, nil
	}
}

// size is that of figures.
func (cmd *figuresCmd) size() plots.Size { return outputFlags{Size: cmd.Size}.size() }

// mixtureProfile is the curve of bit k, from 0.
func mixtureProfile(c *code.Code, transitions [][]int, k int, r, sigma float64) plots.BitProfile {
	b := plots.BitProfile{Name: fmt.Sprintf("bit %d", k+1), Bit: k + 1, Target: make([]bool, c.Levels())}
	for i := range b.Target {
		b.Target[i] = c.Bit(i, k)
	}
	gaussians := errmodel.Transitions(transitions[k], r, sigma)
	const parts = 8 // of a level: the curve between levels
	for j := range (c.Levels()-1)*parts + 1 {
		y, e := 1+float64(j)/parts, 0.0
		for _, g := range gaussians {
			e += g.At(y)
		}
		b.X, b.Fitted = append(b.X, y), append(b.Fitted, e)
	}
	return b
}

// profileRows are the numbers of profiles: points and curve in one table.
func profileRows(bits []plots.BitProfile) [][]string {
	rows := [][]string{{"bit", "level", "rate", "lo", "hi", "fitted"}}
	text := func(v float64) string { return number(v).String() }
	for _, b := range bits {
		for i, x := range b.X {
			row := []string{strconv.Itoa(b.Bit), text(x), "", "", "", text(b.Fitted[i])}
			if at := slices.Index(b.Label, x); at >= 0 {
				row[2], row[3], row[4] = text(b.Rate[at]), text(b.Lo[at]), text(b.Hi[at])
			}
			rows = append(rows, row)
		}
		for i, x := range b.Label {
			if !slices.Contains(b.X, x) {
				rows = append(rows, []string{strconv.Itoa(b.Bit), text(x), text(b.Rate[i]), text(b.Lo[i]), text(b.Hi[i]), ""})
			}
		}
	}
	return rows
}

// rates is what fit wrote as CSV, by bit from 1.
type rates struct {
	path   string
	levels int
	bits   []plots.BitProfile
	wrong  []int
}

// ratesHeader is that of the CSV.
var ratesHeader = []string{"level", "bit", "target", "samples", "wrong", "rate", "lo", "hi", "fitted"}

// readRates reads the CSV of a fit. Errors name the file and the line.
func readRates(path string) (*rates, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("reading rates: %w", err)
	}
	in := csv.NewReader(bytes.NewReader(text))
	records, err := in.ReadAll()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if len(records) < 2 || !slices.Equal(records[0], ratesHeader) {
		return nil, fmt.Errorf("%s: want the columns %s, as 'belsim fit -o FILE.csv' writes them, and a row for each level and bit", path, strings.Join(ratesHeader, ","))
	}
	r := &rates{path: path}
	for i, record := range records[1:] {
		var v [9]float64
		for j, field := range record {
			if v[j], err = strconv.ParseFloat(field, 64); field == "" && j >= 5 && j < 8 {
				v[j] = math.NaN() // a level without samples
			} else if err != nil || !(v[j] >= 0) || math.IsInf(v[j], 0) {
				return nil, fmt.Errorf("%s: line %d, column %s: %q; want a number of 0 or more", path, i+2, ratesHeader[j], field)
			}
		}
		level, bit := int(v[0]), int(v[1])
		for j := range 2 {
			if v[j] != math.Trunc(v[j]) || v[j] < 1 || v[j] > code.MaxLevels {
				return nil, fmt.Errorf("%s: line %d, column %s: %q; want a whole number from 1", path, i+2, ratesHeader[j], record[j])
			}
		}
		if v[2] > 1 || v[2] != math.Trunc(v[2]) {
			return nil, fmt.Errorf("%s: line %d, column target: %q; want 0 or 1", path, i+2, record[2])
		}
		for j := 5; j < 9; j++ {
			if v[j] > 1 {
				return nil, fmt.Errorf("%s: line %d, column %s: %q is no probability", path, i+2, ratesHeader[j], record[j])
			}
		}
		if bit == 1 {
			r.levels++
		}
		if level != r.levels || bit < 1 || level == 1 && bit != len(r.bits)+1 || level > 1 && (bit > len(r.bits) || bit != (i%len(r.bits))+1) {
			return nil, fmt.Errorf("%s: line %d is level %s, bit %s; want all bits of level 1, then of level 2, and so on", path, i+2, record[0], record[1])
		}
		if level == 1 {
			r.bits = append(r.bits, plots.BitProfile{Name: fmt.Sprintf("bit %d", bit), Bit: bit})
			r.wrong = append(r.wrong, 0)
		}
		b := &r.bits[bit-1]
		b.Target = append(b.Target, v[2] == 1)
		b.X, b.Fitted = append(b.X, v[0]), append(b.Fitted, v[8])
		if !math.IsNaN(v[5]) {
			b.Label, b.Rate, b.Lo, b.Hi = append(b.Label, v[0]), append(b.Rate, v[5]), append(b.Lo, v[6]), append(b.Hi, v[7])
		}
		r.wrong[bit-1] += int(min(v[4], 1)) // whether there are any
	}
	if len(records)-1 != r.levels*len(r.bits) {
		return nil, fmt.Errorf("%s: ends in level %d, after bit %s of %d", path, r.levels, records[len(records)-1][1], len(r.bits))
	}
	return r, nil
}

// profiles chooses n bits, evenly spread over those with errors.
func (r *rates) profiles(n int) []plots.BitProfile {
	var with []plots.BitProfile
	for k, b := range r.bits {
		if r.wrong[k] > 0 {
			with = append(with, b)
		}
	}
	if len(with) == 0 {
		with = r.bits
	}
	if len(with) <= n {
		return with
	}
	var out []plots.BitProfile
	for i := range n {
		out = append(out, with[(2*i+1)*len(with)/(2*n)])
	}
	return out
}

// terms draws Figure 7.
func (cmd *figuresCmd) terms(context.Context) (drawing, error) {
	const levels = 15
	c, err := code.New("johnson-nonzero", levels)
	if err != nil {
		return drawing{}, err
	}
	m := c.Bits()
	d := plots.LinesData{Title: fmt.Sprintf("johnson-nonzero, %d levels, %d bits", levels, m), YLabel: "value", Size: cmd.size()}
	lines := []plots.NamedLine{{Name: "Tl", Column: "tl"}, {Name: "Tf", Column: "tf"}, {Name: "Tc", Column: "tc"}, {Name: "Tl + Tf + Tc", Column: "decoded"}}
	rows := [][]string{{"level", "tl", "tf", "tc", "decoded"}}
	for i := range levels {
		first, last := 0, 0
		for k := range m {
			if c.Bit(i, k) {
				if first == 0 {
					first = k + 1
				}
				last = k + 1
			}
		}
		values := []float64{-float64(last), float64(m - first + 1), float64(m), float64(2*m + 1 - first - last)}
		row := []string{strconv.Itoa(i + 1)}
		for j, v := range values {
			lines[j].Values = append(lines[j].Values, v)
			row = append(row, number(v).String())
		}
		rows = append(rows, row)
		d.Level = append(d.Level, float64(i+1))
	}
	d.Lines = lines
	f, err := plots.Lines(d)
	return drawing{f, rows}, err
}

// index is the page that shows all figures.
var index = template.Must(template.New("index").Parse(`<!DOCTYPE html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>belsim: figures</title>
<style>
body { font-family: serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; line-height: 1.4; }
figure { margin: 3rem 0; }
img { max-width: 100%; height: auto; max-height: 40rem; }
code { background: #f2f2f2; padding: 0.1em 0.3em; overflow-wrap: anywhere; }
</style>
<h1>Figures of <i>Label Encoding for Regression Networks</i>, by belsim</h1>
{{range .}}<figure id="{{.Name}}">
<img src="figure-{{.Name}}.svg" alt="Figure {{.Name}}">
<figcaption><b>Figure {{.Name}}.</b> {{.Caption}}<br>
<a href="figure-{{.Name}}.pdf">PDF</a> · <a href="figure-{{.Name}}.svg">SVG</a> · <a href="figure-{{.Name}}.png">PNG</a> ·
<a href="figure-{{.Name}}.csv">CSV</a> · <a href="figure-{{.Name}}.tex">pgfplots</a><br>
<code>{{.Command}}</code></figcaption>
</figure>
{{end}}</html>
`))
