package plots

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"text/template"
	"unicode"
	"unicode/utf8"

	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
)

// TeX writes the figure for LaTeX's pgfplots: a tikzpicture to \input, as wide as the figure with all
// its labels. Figures with a row of a CSV file for each point read this file; csv is its name, and its
// columns have the names that cmd/belsim/README.md documents. The others hold their numbers. LaTeX
// reads the cells of a heatmap from the PDF of the same name. The error says when a figure has no form for LaTeX, or is
// that of CheckTeXName.
func (f *Figure) TeX(w io.Writer, csv string) error {
	if err := CheckTeXName(csv); err != nil {
		return err
	}
	if f.tex == nil {
		return fmt.Errorf("cannot write this figure for LaTeX")
	}
	scale := f.printed()
	body, err := f.tex(texPage{
		CSV: csv, PDF: strings.TrimSuffix(csv, ".csv") + ".pdf",
		width: float64(f.width/vg.Inch) * scale, height: float64(f.height/vg.Inch) * scale,
	})
	if err != nil {
		return err
	}
	_, err = io.WriteString(w, "% \\input this; the preamble needs:\n% \\usepackage{pgfplots} \\usepgfplotslibrary{groupplots} \\pgfplotsset{compat=1.18}\n"+body)
	return err
}

// CheckTeXName refuses names of files that LaTeX would not read as they are, such as those with
// a % or a brace. No escape works in all places where a figure names a file.
func CheckTeXName(name string) error {
	special := func(r rune) bool { return strings.ContainsRune("\\{}%#~^\"$&", r) || !unicode.IsPrint(r) }
	if at := strings.IndexFunc(name, special); at >= 0 || !utf8.ValidString(name) {
		return fmt.Errorf("%q: LaTeX cannot read a file of this name; want a name without \\ { } %% # ~ ^ \" $ & and control characters", name)
	}
	return nil
}

// texPage is the data that all templates get. The figure with all its labels is as wide as the
// page has room for: axes get what their labels leave of it.
type texPage struct {
	CSV, PDF      string
	width, height float64 // of the figure, in inches
}

// Room beside axes for numbers and a label on the left, and for half a number on the right; above
// and below them for the title and the labels; in inches.
const (
	texLeft, texRight  = 0.62, 0.14
	texAbove, texBelow = 0.3, 0.45
)

// inches writes a length.
func inches(v float64) string { return fmt.Sprintf("%.4gin", v) }

// Axis are the options of the only axes of a figure: their size and the letters of their labels.
// more is further room on the right, in inches.
func (p texPage) Axis(more float64) string {
	return p.AxisOf(p.width-texLeft-texRight-more, p.height-texAbove-texBelow)
}

// AxisOf are the options of axes of a size in inches.
func (texPage) AxisOf(width, height float64) string {
	return fmt.Sprintf("scale only axis, width=%s, height=%s, label style={font=\\small}, tick label style={font=\\footnotesize}", inches(width), inches(height))
}

// Title are the options of the title over the whole figure.
func (p texPage) Title() string {
	return fmt.Sprintf("title style={font=\\small, text width=%s, align=center}", inches(p.width-texLeft-texRight))
}

// Panels are the options of the axes of panels, of which some stand side by side, each with its labels.
func (p texPage) Panels(columns int) string {
	width := (p.width - float64(columns)*(texLeft+texRight)) / float64(columns)
	return p.AxisOf(width, 0.62*width)
}

// tex returns a function that fills in a template with a page and the data of the figure.
func tex(text string, data any) func(texPage) (string, error) {
	return func(p texPage) (string, error) {
		t, err := template.New("").Delims("<<", ">>").Funcs(template.FuncMap{"tex": texText, "num": texNumber}).Parse(text)
		if err != nil {
			return "", err
		}
		var b strings.Builder
		err = t.Execute(&b, struct {
			Page texPage
			Data any
		}{p, data})
		return b.String(), err
	}
}

// texText writes text for LaTeX.
func texText(s string) string {
	s = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r == '\u2028' || r == '\u2029' {
			return ' '
		}
		return r
	}, s)
	return strings.NewReplacer(
		`\`, `\textbackslash{}`, "%", `\%`, "_", `\_`, "&", `\&`, "#", `\#`, "$", `\$`, "{", `\{`, "}", `\}`, "^", `\^{}`, "~", `\~{}`,
		"σ", `$\sigma$`, "ρ", `$\rho$`, "τ", `$\tau$`, "θ", `$\theta$`, "−", "$-$", "·", `$\cdot$`, "±", `$\pm$`, "×", `$\times$`, "÷", `$\div$`,
		"≤", `$\le$`, "≥", `$\ge$`, "|", `$|$`, "<", `$<$`, ">", `$>$`, "…", `\ldots{}`, "½", `$\frac12$`, "–", "--",
	).Replace(s)
}

// texNumber writes a number so that it reads back as the same number.
func texNumber(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

const texHeatmap = `\begin{tikzpicture}
\begin{axis}[
  <<.Page.Axis 0.95>>, enlargelimits=false, axis on top, clip=false,<<if .Data.XLog>> xmode=log,<<end>><<if .Data.YLog>> ymode=log,<<end>>
  title={<<tex .Data.Title>>}, <<.Page.Title>>,
  xlabel={<<tex .Data.XLabel>>}, ylabel={<<tex .Data.YLabel>>},
  colormap={signed}{<<range .Data.Colours>>rgb255=(<<.R>>,<<.G>>,<<.B>>) <<end>>},
  point meta min=-<<num .Data.Scale>>, point meta max=<<num .Data.Scale>>,
  colorbar, colorbar style={at={(parent axis.north east)}, anchor=north west, xshift=0.12in, width=0.13in, yticklabel style={font=\scriptsize}<<if .Data.Ticks>>, ytick={<<.Data.Ticks>>}, yticklabels={<<.Data.TickLabels>>}<<end>>},
]
% The map is cut out of the PDF: thousands of cells are more than LaTeX has memory for.
\addplot graphics[xmin=<<.Data.XMin>>, xmax=<<.Data.XMax>>, ymin=<<.Data.YMin>>, ymax=<<.Data.YMax>>,
  includegraphics={trim=<<range .Data.Trim>><<.>> <<end>>, clip}] {<<.Page.PDF>>};
\node[rotate=90, anchor=north, font=\footnotesize] at ([xshift=0.66in]rel axis cs:1,0.5) {<<tex .Data.ZLabel>>};
<<if .Data.Positive>>\node[rotate=90, anchor=north east, inner xsep=0pt, font=\scriptsize] at ([xshift=0.83in]rel axis cs:1,1) {<<tex .Data.Positive>>};
<<end>><<if .Data.Negative>>\node[rotate=90, anchor=north west, inner xsep=0pt, font=\scriptsize] at ([xshift=0.83in]rel axis cs:1,0) {<<tex .Data.Negative>>};
<<end>>\end{axis}
\end{tikzpicture}
`

// texOf is the heatmap for LaTeX, which draws the axes and the colour bar. area is the
// rectangle of the map in the figure.
func (d HeatmapData) texOf(s colourScale, x, y axis, f *Figure, area vg.Rectangle) func(texPage) (string, error) {
	end := func(a axis, index float64) string {
		v := a.value(index)
		if a.log {
			v = math.Pow(10, v)
		}
		return texNumber(v)
	}
	type colour struct{ R, G, B uint8 }
	var colours []colour
	for _, c := range slices.Backward(blues[1:]) {
		colours = append(colours, colour{c.R, c.G, c.B})
	}
	for _, c := range reds {
		colours = append(colours, colour{c.R, c.G, c.B})
	}
	var trim []string
	for _, margin := range []vg.Length{area.Min.X, area.Min.Y, f.width - area.Max.X, f.height - area.Max.Y} {
		trim = append(trim, fmt.Sprintf("%.4fbp", float64(margin/vg.Inch)*72*f.printed()))
	}
	var ticks, labels []string // of factors; pgfplots finds those of numbers
	if d.Factors {
		for _, v := range s.marks {
			ticks, labels = append(ticks, texNumber(v)), append(labels, "{"+texText(s.label(v))+"}")
		}
	}
	return tex(texHeatmap, struct {
		HeatmapData
		Ticks, TickLabels      string
		Scale                  float64
		Colours                []colour
		Trim                   []string
		XMin, XMax, YMin, YMax string
	}{d, strings.Join(ticks, ","), strings.Join(labels, ","), s.limit, colours, trim, end(x, -0.5), end(x, float64(len(x.at))-0.5), end(y, -0.5), end(y, float64(len(y.at))-0.5)})
}

// The lower panel has the deviations, which the CSV does not hold.
const texVerify = `\begin{tikzpicture}
\begin{groupplot}[
  group style={group size=1 by <<if .Data.Z>>2<<else>>1<<end>>, vertical sep=0.35in}, grid=major, enlarge x limits=0.01, xlabel={level $n$},
]
\nextgroupplot[<<.Page.AxisOf .Data.Width .Data.Upper>>, ymin=0,<<if .Data.Z>> xlabel={},<<end>>
  title={<<tex .Data.Title>>}, <<.Page.Title>>, ylabel={expected $|\mathrm{error}|$ (levels)},
  legend style={font=\footnotesize, at={(0.5,1.02)}, anchor=south, legend columns=-1, draw=none}, title style={yshift=0.2in},
]
<<if .Data.Bound>>\addplot[gray, thick, dashed] table[x=level, y=bound, col sep=comma] {<<.Page.CSV>>};
\addlegendentry{bound}
<<end>><<if .Data.Exact>>\addplot[blue!60!black, thick] table[x=level, y=exact, col sep=comma] {<<.Page.CSV>>};
\addlegendentry{exact}
<<end>>\addplot[red!70!orange, only marks, mark=o, mark size=1pt, error bars/.cd, y dir=both, y explicit] table[x=level, y=mean, y error=stderr, col sep=comma] {<<.Page.CSV>>};
\addlegendentry{sampled $\pm$ standard error}
<<if .Data.Z>>\nextgroupplot[<<.Page.AxisOf .Data.Width .Data.Lower>>, ylabel={deviation / s.e.}, xmin=<<num .Data.First>>, xmax=<<num .Data.Last>>]
\addplot[blue!60!black, domain=<<num .Data.First>>:<<num .Data.Last>>, samples=2] {0};
<<if .Data.Band>>\addplot[densely dotted, domain=<<num .Data.First>>:<<num .Data.Last>>, samples=2] {<<num .Data.Band>>};
\addplot[densely dotted, domain=<<num .Data.First>>:<<num .Data.Last>>, samples=2] {-<<num .Data.Band>>};
<<end>>\addplot[red!70!orange, only marks, mark=o, mark size=1pt] coordinates {<<range .Data.Z>>(<<num .X>>,<<printf "%.4g" .Y>>) <<end>>};
<<end>>\end{groupplot}
\end{tikzpicture}
`

// known reports whether there is a value.
func known(values []float64) bool {
	return slices.ContainsFunc(values, func(v float64) bool { return !math.IsNaN(v) })
}

// texOf is the verification for LaTeX, with the deviations z.
func (d VerifyData) texOf(z plotter.XYs) func(texPage) (string, error) {
	return func(p texPage) (string, error) {
		axes := p.height - texAbove - texBelow - 0.2 // the key
		upper, lower := axes, 0.0
		if len(z) > 0 {
			const gap = 0.35
			upper, lower = 0.68*(axes-gap), 0.32*(axes-gap)
		}
		return tex(texVerify, struct {
			Title               string
			Bound, Exact        bool
			Z                   plotter.XYs
			Band, First, Last   float64
			Width, Upper, Lower float64
		}{d.Title, known(d.Bound), known(d.Exact), z, d.Band, d.Level[0], d.Level[len(d.Level)-1], p.width - texLeft - texRight, upper, lower})(p)
	}
}

const texCompare = `\begin{tikzpicture}
\begin{axis}[
  <<.Page.Axis .Data.More>>, grid=major,<<if .Data.Log>> xmode=log,<<else>> xmin=0,<<end>>
  title={<<tex .Data.Title>>}, <<.Page.Title>>, xlabel={expected $|\mathrm{error}|$ (levels)},
  ytick={0,...,<<.Data.Last>>}, yticklabels={<<range .Data.Names>>{<<tex .>>},<<end>>}, y dir=reverse, <<with .Data.Baselines>>ymin=<<num $.Data.Above>>, ymax=<<$.Data.Last>>.6<<else>>enlarge y limits={abs=0.6}<<end>>,
  legend style={font=\footnotesize, at={(0.5,1.02)}, anchor=south, legend columns=-1, draw=none}, title style={yshift=0.2in},
]
<<if .Data.Bound>>\addplot[gray, only marks, mark=triangle] table[x=bound, y expr=\coordindex, col sep=comma] {<<.Page.CSV>>};
\addlegendentry{bound}
<<end>><<if .Data.Exact>>\addplot[blue!60!black, only marks, mark=+, thick, mark size=3pt] table[x=exact, y expr=\coordindex, col sep=comma] {<<.Page.CSV>>};
\addlegendentry{exact}
<<end>>\addplot[red!70!orange, only marks, mark=o, error bars/.cd, x dir=both, x explicit] table[x=mean, x error=stderr, y expr=\coordindex, col sep=comma] {<<.Page.CSV>>};
\addlegendentry{sampled $\pm$ standard error}
<<range .Data.Baselines>>\addplot[black, dashed, forget plot] coordinates {(<<num .Value>>,<<num .Down>>) (<<num .Value>>,<<$.Data.Last>>.6)};
\node[font=\footnotesize, anchor=<<.Anchor>>] at (axis cs:<<num .Value>>,<<num .Row>>) {<<tex .Name>>};
<<end>>\end{axis}
\end{tikzpicture}
`

func (d CompareData) texOf(logarithmic bool, baselines []baseline) func(texPage) (string, error) {
	longest := 0
	for _, name := range d.Names {
		longest = max(longest, utf8.RuneCountInString(name))
	}
	const letter = 0.066 // inches, of \footnotesize
	return tex(texCompare, struct {
		Title             string
		Names             []string
		Last              int
		Bound, Exact, Log bool
		More              float64 // room that the names take beyond that of numbers
		Baselines         []baseline
		Above             float64 // the upper end of the axis, whose direction is down
	}{d.Title, d.Names, len(d.Names) - 1, known(d.Bound), known(d.Exact), logarithmic, max(0, letter*float64(longest)-0.45), baselines, -0.6 - d.above()})
}

// LaTeX gets the points and the curves that are drawn: the rows of all classifiers are in one CSV,
// level by level, and pgfplots joins no points that other rows lie between.
const texProfile = `\begin{tikzpicture}
\begin{groupplot}[
  group style={group size=<<.Data.Columns>> by <<.Data.Rows>>, horizontal sep=0.76in, vertical sep=0.95in},
  <<.Page.Panels .Data.Columns>>, grid=major, ymin=0, xmin=0.5, xmax=<<.Data.Levels>>.5, xlabel={label $n$ (level)}, ylabel={error probability},
  scaled ticks=false, yticklabel style={/pgf/number format/fixed, /pgf/number format/precision=4},
  title style={at={(0.5,1.1)}, anchor=south, font=\small}, clip=false,
]
<<$levels := .Data.Levels>><<range .Data.Bits>>\nextgroupplot[title={<<tex .Name>>}]
<<if .Points>>\addplot[red!70!orange, only marks, mark=o, mark size=1pt, error bars/.cd, y dir=both, y explicit]
  coordinates {<<range .Points>><<.>> <<end>>};
<<end>><<if .Curve>>\addplot[blue!60!black, thick] coordinates {<<range .Curve>><<.>> <<end>>};
<<end>>\draw ({axis cs:0.5,0}|-{rel axis cs:0,1.03}) rectangle ({axis cs:<<$levels>>.5,0}|-{rel axis cs:0,1.08});
<<range .Runs>>\fill ({axis cs:<<.From>>.5,0}|-{rel axis cs:0,1.03}) rectangle ({axis cs:<<.To>>.5,0}|-{rel axis cs:0,1.08});
<<end>><<end>>\end{groupplot}
\end{tikzpicture}
`

// run is ones of a target from level From+1 to To.
type run struct{ From, To int }

// runs are the ones of a sequence.
func runs(bits []bool) []run {
	var out []run
	for i := 0; i < len(bits); {
		j := i
		for j < len(bits) && bits[j] == bits[i] {
			j++
		}
		if bits[i] {
			out = append(out, run{i, j})
		}
		i = j
	}
	return out
}

func (d ProfileData) texOf(columns, rows int) func(texPage) (string, error) {
	type bit struct {
		Name   string
		Bit    int
		Points []string
		Curve  []string
		Runs   []run
	}
	data := struct {
		Columns, Rows, Levels int
		Bits                  []bit
	}{Columns: columns, Rows: rows, Levels: len(d.Bits[0].Target)}
	for _, b := range d.Bits {
		var points, curve []string
		for i, x := range b.Label {
			points = append(points, fmt.Sprintf("(%.6g,%.6g) += (0,%.6g) -= (0,%.6g)", x, b.Rate[i], max(0, b.Hi[i]-b.Rate[i]), max(0, b.Rate[i]-b.Lo[i])))
		}
		for i, x := range b.X {
			curve = append(curve, fmt.Sprintf("(%.6g,%.6g)", x, b.Fitted[i]))
		}
		data.Bits = append(data.Bits, bit{b.Name, b.Bit, points, curve, runs(b.Target)})
	}
	return tex(texProfile, data)
}

const texMatrix = `\begin{tikzpicture}
\begin{axis}[
  <<.Page.Axis 0.0>>, enlargelimits=false, axis on top, y dir=reverse,
  xmin=0.5, xmax=<<.Data.Bits>>.5, ymin=0.5, ymax=<<.Data.Levels>>.5, title={<<tex .Data.Title>>}, <<.Page.Title>>,
  xlabel={bit $k$}, ylabel={level $n$}, tick style={draw=none},
]
<<range .Data.Rectangles>>\fill[black!92] (axis cs:<<.Left>>.5,<<.Top>>.5) rectangle (axis cs:<<.Right>>.5,<<.Bottom>>.5);
<<end>><<range .Data.Marks>>\draw[orange!80!red, line width=0.8pt] (axis cs:<<.Left>>.5,<<.Top>>.5) -- (axis cs:<<.Right>>.5,<<.Top>>.5);
<<end>>\end{axis}
\end{tikzpicture}
`

// maxRectangles is the largest number of runs of ones that are written for LaTeX, because
// LaTeX has little memory.
const maxRectangles = 20000

// texOf draws a run of ones in a column as a rectangle.
func (d CodeMatrixData) texOf(title string) func(texPage) (string, error) {
	type rectangle struct{ Left, Right, Top, Bottom int }
	data := struct {
		Title        string
		Levels, Bits int
		Rectangles   []rectangle
		Marks        []rectangle
	}{Title: title, Levels: d.Levels, Bits: d.Bits}
	column := make([]bool, d.Levels)
	for k := range d.Bits {
		for i := range column {
			column[i] = d.Bit(i, k)
		}
		for _, r := range runs(column) {
			data.Rectangles = append(data.Rectangles, rectangle{k, k + 1, r.From, r.To})
		}
		for i := range d.Levels - 1 {
			if !d.NoTransitions && column[i] != column[i+1] {
				data.Marks = append(data.Marks, rectangle{Left: k, Right: k + 1, Top: i + 1})
			}
		}
		if len(data.Rectangles) > maxRectangles {
			return func(texPage) (string, error) {
				return "", fmt.Errorf("a matrix of %d levels and %d bits has too many runs of ones for LaTeX; include its PDF instead", d.Levels, d.Bits)
			}
		}
	}
	return tex(texMatrix, data)
}

const texLines = `\begin{tikzpicture}
\begin{axis}[
  <<.Page.Axis 0.0>>, grid=major, enlarge x limits=0.01,
  title={<<tex .Data.Title>>}, <<.Page.Title>>, xlabel={level $n$}, ylabel={<<tex .Data.YLabel>>},
  legend style={font=\footnotesize}, legend pos=north west,
  cycle list={{blue!60!black, thick, dashed}, {red!70!orange, thick, densely dotted}, {gray, thick, dash dot}, {black, very thick}},
]
<<$page := .Page>><<range .Data.Lines>>\addplot+[mark=none] table[x=level, y=<<.Column>>, col sep=comma] {<<$page.CSV>>};
\addlegendentry{<<tex .Name>>}
<<end>>\end{axis}
\end{tikzpicture}
`

func (d LinesData) texOf() func(texPage) (string, error) { return tex(texLines, d) }

// setTeX gives a figure its form for LaTeX.
func (f *Figure) setTeX(tex func(texPage) (string, error)) *Figure {
	f.tex = tex
	return f
}
