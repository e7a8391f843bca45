package main

import (
	"context"
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"belsim/gpu"
	"belsim/montecarlo/scenario"
	"belsim/montecarlo/table"
	"belsim/montecarlo/verdict"
	"belsim/plots"
	"belsim/theory/arrayfile"
	"belsim/theory/code"
	"belsim/theory/decode"
)

type figuresCmd struct {
	Output   string   `short:"o" default:"figures" placeholder:"DIR" help:"Folder to write to, made if need be (default: ${default})."`
	Only     []string `placeholder:"NAME" help:"Only these figures, with commas between them: 2a to 2g, 3a, 3b, 3c, 3c-exact, 7, 10, 10-mixture, 11."`
	Quick    bool     `help:"Fewer cells and samples."`
	Rates    string   `placeholder:"FILE" reads:"" help:"Observed error rates to draw in 3a, 3b and 11: what 'belsim fit -o FILE.csv' wrote."`
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

// figure is one of the paper's figures.
type figure struct {
	Name, Caption string
	args          []string // of the command that makes it alone, without its outputs; nil: figures --only
	quick         []string // what --quick adds to args
	make          func(ctx context.Context, cmd *figuresCmd) (drawing, error)
}

// drawing is a figure with its numbers.
type drawing struct {
	figure *plots.Figure
	csv    func(w io.Writer) error
}

// draw puts a figure and its numbers together.
func draw(f *plots.Figure, err error) func(csv func(w io.Writer) error) (drawing, error) {
	return func(csv func(w io.Writer) error) (drawing, error) { return drawing{f, csv}, err }
}

// figures lists all, in the order of the paper.
func figures() []figure {
	const mixture = "r = 0.5, σ = 3"
	quickMap := []string{"--r", "1:150:30", "--sigma", "1:100:30"}
	return []figure{
		matrixFigure("a", "unary", "BEL-U (unary)"),
		matrixFigure("b", "johnson", "BEL-J (Johnson)"),
		matrixFigure("c", "b1jdj", "BEL-B1JDJ"),
		matrixFigure("d", "b2jdj", "BEL-B2JDJ"),
		matrixFigure("e", "hexj", "BEL-HEXJ"),
		matrixFigure("f", "hadamard", "BEL-HAD (Hadamard)"),
		matrixFigure("g", "b1jdj-nr", "B1JDJ without reflection"),
		{Name: "3a", Caption: "Error probability of a classifier of the unary code against the label; the bar on top is its target bit. Gaussian mixture, " + mixture + ", unless rates are given.", make: profilesOf("unary", 34)},
		{Name: "3b", Caption: "The same of a classifier of the Johnson code, which has two bit transitions.", make: profilesOf("johnson", 7)},
		{
			Name: "3c", Caption: "Increase of the error bound of BEL-U over that of BEL-J, in per cent, over the weight r and width σ of the error profiles. Red: BEL-J has the smaller bound. Blank: some probability exceeds 1.",
			args: []string{"heatmap", "unary", "johnson-nonzero"}, quick: quickMap, make: mapOf(scenario.Bound),
		},
		{
			Name: "3c-exact", Caption: "The same by the exact expected error of the same model: there is no red.",
			args: []string{"heatmap", "unary", "johnson-nonzero", "--method", "exact"}, quick: quickMap, make: mapOf(scenario.Exact),
		},
		{Name: "7", Caption: "What the decoder of BEL-J adds up, for the code words of 15 levels: Tl = −max k·b, Tf = max (M−k+1)·b, Tc = M, and their sum, the level (Eq. 14).", make: terms},
		{
			Name: "10", Caption: "Expected error of every label of BEL-J when error probabilities are drawn uniformly, as in the paper's check of its bound: bound (Eq. 26), exact value, and 100,000 samples a label.",
			args: []string{"verify", "--code", "johnson-nonzero", "--levels", "255", "--random"}, quick: []string{"--samples", "2000"},
			make: verificationOf(scenario.Random{Seed: scenario.Usual().Seed}),
		},
		{
			Name: "10-mixture", Caption: "The same with the Gaussian mixture, r = 2, σ = 5.",
			args: []string{"verify", "--code", "johnson-nonzero", "--levels", "255", "--r", "2", "--sigma", "5"}, quick: []string{"--samples", "2000"},
			make: verificationOf(scenario.Mixture{R: 2, Sigma: 5}),
		},
		{Name: "11", Caption: "Error probabilities of six classifiers of the Johnson code.", make: profilesOf("johnson", 1, 6, 12, 18, 24, 32)},
	}
}

// Run implements the command.
func (cmd *figuresCmd) Run(ctx context.Context, env *environment) error {
	if err := cmd.checkWorkers(); err != nil {
		return err
	}
	chosen, err := cmd.chosen()
	if err != nil {
		return err
	}
	if info, err := os.Stat(cmd.Output); err == nil && !info.IsDir() {
		return fmt.Errorf("cannot write to %s: it is not a folder", cmd.Output)
	}
	if cmd.Rates != "" { // refused before anything is written
		if _, err := verdict.ReadRates(cmd.Rates); err != nil {
			return err
		}
	}
	if err := os.MkdirAll(cmd.Output, 0o777); err != nil {
		return outside(fmt.Errorf("making the folder: %w", err))
	}
	names := []string{"index.html"}
	for _, f := range chosen {
		names = append(names, f.files()...)
	}
	if err := cmd.outputs(names...).checkOutput(env, append(figureFormats, "html")...); err != nil {
		return err
	}
	bar := env.newProgress(cmd.Quiet, "figures", uint64(len(chosen)))
	defer bar.stop()
	var cards []card
	for _, f := range chosen {
		c, err := cmd.write(ctx, env, f)
		if err != nil {
			return bar.interrupted(fmt.Errorf("figure %s: %w", f.Name, err))
		}
		cards = append(cards, c)
		bar.add(1)
	}
	bar.stop()
	if err := cmd.outputs("index.html").write(env, func(w io.Writer, _ string) error { return writeIndex(w, cards) }); err != nil {
		return err
	}
	for _, c := range cards {
		fmt.Fprintf(env.stdout, "%-11s %s\n", c.Name, c.Command)
	}
	_, err = fmt.Fprintf(env.stdout, "%d figures in %s\n", len(cards), filepath.Join(cmd.Output, "index.html"))
	return err
}

// chosen are the figures of --only, or all.
func (cmd *figuresCmd) chosen() ([]figure, error) {
	all := figures()
	var names []string
	for _, f := range all {
		names = append(names, f.Name)
	}
	for _, name := range cmd.Only {
		if !slices.Contains(names, name) {
			return nil, fmt.Errorf("--only %s: want some of %s", name, strings.Join(names, ", "))
		}
	}
	return slices.DeleteFunc(all, func(f figure) bool { return len(cmd.Only) > 0 && !slices.Contains(cmd.Only, f.Name) }), nil
}

// outputs are files in the folder.
func (cmd *figuresCmd) outputs(names ...string) outputFlags {
	out := outputFlags{Size: cmd.Size, IfExists: cmd.IfExists}
	for _, name := range names {
		out.Output = append(out.Output, filepath.Join(cmd.Output, name))
	}
	return out
}

// figureFormats are the formats of every figure.
var figureFormats = []string{"csv", "pdf", "svg", "png", "tex"}

// files are the names of a figure's files.
func (f figure) files() []string {
	var out []string
	for _, format := range figureFormats {
		out = append(out, "figure-"+f.Name+"."+format)
	}
	return out
}

// card is a figure in the index.
type card struct{ Name, Caption, Command string }

// write makes the files of a figure.
func (cmd *figuresCmd) write(ctx context.Context, env *environment, f figure) (card, error) {
	args := append([]string{}, f.args...)
	switch {
	case f.args == nil:
		args = []string{"figures", "--only", f.Name}
		if cmd.Rates != "" && f.Name != "7" {
			args = append(args, "--rates", cmd.Rates)
		}
	case cmd.Quick:
		args = append(args, f.quick...)
	}
	if f.args != nil {
		args = append(args, "-o", "figure-"+f.Name+".pdf")
	}
	c := card{f.Name, f.Caption, "belsim " + strings.Join(quoted(args), " ")}
	d, err := f.make(ctx, cmd)
	if err != nil {
		return c, err
	}
	return c, cmd.outputs(f.files()...).write(env, func(w io.Writer, path string) error {
		if format(path) == "csv" {
			return d.csv(w)
		}
		return writeFigure(w, path)(d.figure, nil)
	})
}

// size is the width of figures.
func (cmd *figuresCmd) size() plots.Size { return outputFlags{Size: cmd.Size}.size() }

// run says where a figure's numbers are computed.
func (cmd *figuresCmd) run(backend gpu.Backend) scenario.Run {
	return scenario.Run{Backend: backend, Workers: cmd.Workers}
}

// matrixFigure is a panel of Figure 2.
func matrixFigure(letter, name, text string) figure {
	const levels = 64
	return figure{
		Name: "2" + letter, Caption: "Code matrix of " + text + ": a row for each of 64 levels, ones black, bit transitions orange.",
		args: []string{"codes", name, "--levels", fmt.Sprint(levels)},
		make: func(ctx context.Context, cmd *figuresCmd) (drawing, error) {
			c, err := code.New(name, levels)
			if err != nil {
				return drawing{}, err
			}
			return draw(plots.CodeMatrix(ctx, matrixFigureData(c, codeTitle(c), cmd.size())))(func(w io.Writer) error { return arrayfile.WriteCSV(ctx, w, c) })
		},
	}
}

// mapOf draws Figure 3(c) by a method.
func mapOf(method scenario.Method) func(context.Context, *figuresCmd) (drawing, error) {
	return func(ctx context.Context, cmd *figuresCmd) (drawing, error) {
		s, cells := scenario.New(nil), 100
		if cmd.Quick {
			cells = 30
		}
		var sides [2]scenario.Side
		for i, name := range paperCodes {
			c, err := code.New(name, paperLevels)
			if err != nil {
				return drawing{}, err
			}
			if sides[i], err = s.Side(ctx, c, decode.Auto, scenario.MixturePlane{}); err != nil {
				return drawing{}, err
			}
		}
		weights, err := s.Weights(paperLevels)
		if err != nil {
			return drawing{}, err
		}
		m, err := s.NewMap(sides, scenario.Range{Lo: 1, Hi: 150, Count: cells}, scenario.Range{Lo: 1, Hi: 100, Count: cells}, method)
		if err != nil {
			return drawing{}, err
		}
		if err := s.Fill(ctx, cmd.run(nil), m, sides, weights, scenario.Usual()); err != nil {
			return drawing{}, err
		}
		return draw(plots.Heatmap(mapFigure(m, s, nil, decode.Auto, cmd.size())))(func(w io.Writer) error {
			return table.WriteCSV(w, m.Cells, mapColumns(m)...)
		})
	}
}

// verificationOf draws Figure 10 under an error model.
func verificationOf(model scenario.Model) func(context.Context, *figuresCmd) (drawing, error) {
	return func(ctx context.Context, cmd *figuresCmd) (drawing, error) {
		s, sampling := scenario.New(model), scenario.Usual()
		if cmd.Quick {
			sampling.Samples = 2000
		}
		c, err := code.New("johnson-nonzero", paperLevels)
		if err != nil {
			return drawing{}, err
		}
		d, err := s.Decoder(decode.Auto, c)
		if err != nil {
			return drawing{}, err
		}
		p, err := s.Problem(ctx, c, d, sampling)
		if err != nil {
			return drawing{}, err
		}
		th, err := scenario.Theory(ctx, cmd.Workers, p)
		if err != nil {
			return drawing{}, err
		}
		weights, err := s.Weights(paperLevels)
		if err != nil {
			return drawing{}, err
		}
		backend := gpu.NewBackend(gpu.Auto, cmd.Workers, nil)
		defer backend.Close()
		v, err := s.Verify(ctx, cmd.run(backend), p, th, weights, sampling)
		if err != nil {
			return drawing{}, err
		}
		if v.Failed() {
			return drawing{}, fmt.Errorf("%w: %s", errFailed, strings.Join(v.Failures, "; "))
		}
		return draw(plots.Verify(verifyFigure(v, s.String(), cmd.size())))(func(w io.Writer) error { return table.WriteCSV(w, v.Labels) })
	}
}

// profilesOf draws error probabilities of some bits, from 1: of the mixture, or observed rates
// where they are given.
func profilesOf(name string, bits ...int) func(context.Context, *figuresCmd) (drawing, error) {
	const levels, r, sigma = 64, 0.5, 3.0
	return func(_ context.Context, cmd *figuresCmd) (drawing, error) {
		d := plots.ProfileData{Size: cmd.size()}
		if cmd.Rates != "" {
			rates, err := verdict.ReadRates(cmd.Rates)
			if err != nil {
				return drawing{}, err
			}
			d.Title = cmd.Rates
			d.Bits = bitProfiles(rates.Profiles(len(bits))...)
		} else {
			c, err := code.New(name, levels)
			if err != nil {
				return drawing{}, err
			}
			d.Title = fmt.Sprintf("%s, %d levels: r = %g, σ = %g", name, levels, r, sigma)
			transitions := c.Transitions()
			for _, k := range bits {
				d.Bits = append(d.Bits, plots.BitProfile(verdict.MixtureProfile(c, transitions, k-1, r, sigma)))
			}
		}
		return draw(plots.Profile(d))(func(w io.Writer) error { return table.WriteCSV(w, profileRows(d.Bits)) })
	}
}

// profileRow is a row of the CSV of Figures 3(a), 3(b) and 11.
type profileRow struct {
	Bit    int          `json:"bit" doc:"bit, from 1"`
	Level  float64      `json:"level" doc:"label, in levels"`
	Rate   table.Number `json:"rate" doc:"observed error rate; empty where there is none"`
	Lo     table.Number `json:"lo" doc:"lower end of the rate's 95 % interval"`
	Hi     table.Number `json:"hi" doc:"upper end of the rate's 95 % interval"`
	Fitted table.Number `json:"fitted" doc:"error probability of the model"`
}

// profileRows are the numbers of profiles: points and curve in one table.
func profileRows(bits []plots.BitProfile) []profileRow {
	var rows []profileRow
	for _, b := range bits {
		row := func(x float64, at int, fitted table.Number) {
			p := profileRow{b.Bit, x, table.Missing(), table.Missing(), table.Missing(), fitted}
			if at >= 0 {
				p.Rate, p.Lo, p.Hi = table.Number(b.Rate[at]), table.Number(b.Lo[at]), table.Number(b.Hi[at])
			}
			rows = append(rows, p)
		}
		for i, x := range b.X {
			row(x, slices.Index(b.Label, x), table.Number(b.Fitted[i]))
		}
		for i, x := range b.Label {
			if !slices.Contains(b.X, x) {
				row(x, i, table.Missing())
			}
		}
	}
	return rows
}

// termRow is a row of the CSV of Figure 7.
type termRow struct {
	Level   int     `json:"level" doc:"level, from 1"`
	Tl      float64 `json:"tl" doc:"−max k·b"`
	Tf      float64 `json:"tf" doc:"max (M−k+1)·b"`
	Tc      float64 `json:"tc" doc:"M"`
	Decoded float64 `json:"decoded" doc:"Tl + Tf + Tc"`
}

// terms draws Figure 7.
func terms(_ context.Context, cmd *figuresCmd) (drawing, error) {
	const levels = 15
	c, err := code.New("johnson-nonzero", levels)
	if err != nil {
		return drawing{}, err
	}
	d, err := decode.New(decode.Auto, c)
	if err != nil {
		return drawing{}, err
	}
	belJ, ok := d.(decode.BelJ)
	if !ok {
		return drawing{}, fmt.Errorf("%s is read by %s, not by bel-j", c.Name(), d.Name())
	}
	data := plots.LinesData{Title: fmt.Sprintf("johnson-nonzero, %d levels, %d bits", levels, c.Bits()), YLabel: "value", Size: cmd.size(), Lines: []plots.NamedLine{
		{Name: "Tl", Column: "tl"}, {Name: "Tf", Column: "tf"}, {Name: "Tc", Column: "tc"}, {Name: "Tl + Tf + Tc", Column: "decoded"},
	}}
	var rows []termRow
	for i := range levels {
		tl, tf, tc := belJ.Terms(c.Word(i))
		row := termRow{i + 1, float64(tl), float64(tf), float64(tc), float64(tl + tf + tc)}
		for j, v := range []float64{row.Tl, row.Tf, row.Tc, row.Decoded} {
			data.Lines[j].Values = append(data.Lines[j].Values, v)
		}
		data.Level = append(data.Level, float64(i+1))
		rows = append(rows, row)
	}
	return draw(plots.Lines(data))(func(w io.Writer) error { return table.WriteCSV(w, rows) })
}

//go:embed index.html.tmpl
var indexPage string

// writeIndex writes the page that shows all figures.
func writeIndex(w io.Writer, cards []card) error {
	t, err := template.New("index").Parse(indexPage)
	if err != nil {
		return err
	}
	return t.Execute(w, cards)
}
