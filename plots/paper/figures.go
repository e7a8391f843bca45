package paper

import (
	_ "embed"
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"text/template"

	"belsim/errmodel"
	"belsim/errmodel/assess"
	"belsim/montecarlo/heatmap"
	"belsim/plots"
	"belsim/theory/base/table"
	"belsim/theory/code"
	"belsim/theory/decode"
)

// Figure is one of the paper's figures, or stands beside them.
type Figure struct {
	Name, Caption string
	Args          []string // of the command that makes it, without its outputs; nil: Make does
	Make          func(style plots.Style) (*plots.Figure, WriteCSV, error)
}

// WriteCSV writes the numbers of a figure.
type WriteCSV func(w io.Writer) error

// Figures lists all, in the order of the paper, with fewer cells and samples where they are to be
// quick.
func Figures(quick bool) []Figure {
	const network = "Points: observed rates of the network in testdata/network, with 95 % intervals. " +
		"Intervals are wide at levels of few samples. Curve: the Gaussian mixture that was fitted to all bits of the network at once, " +
		"and so below the rates of some."
	return []Figure{
		{Name: "2a", Caption: "The 64 levels, on labels from 0 to 1: level n has the label (n−1)/63.", Make: levels},
		matrixFigure("2b", "unary", "BEL-U (unary)"),
		matrixFigure("2c", "johnson", "BEL-J (Johnson)"),
		matrixFigure("2d", "b1jdj-nr", "B1JDJ without reflection"),
		matrixFigure("2e", "b1jdj", "BEL-B1JDJ"),
		matrixFigure("2f", "b2jdj", "BEL-B2JDJ"),
		matrixFigure("2g", "hexj", "BEL-HEXJ"),
		matrixFigure("2-hadamard", "hadamard", "BEL-HAD (Hadamard), which is no panel of the paper's"),
		{
			Name: "3a", Caption: "Error probability of a classifier of the unary code against the label; " +
				"the bar on top is its target bit. " + network +
				" The network's code is Johnson's, whose bit 1 has the same target as bit 32 of unary.",
			Make: profilesOf("unary", 32),
		},
		{Name: "3b", Caption: "The same of a classifier of the Johnson code, which has two bit transitions.",
			Make: profilesOf("johnson", 7)},
		mapFigure("3c", "bound", quick, "By how many percent the error bound of BEL-U (Eq. 2) exceeds that of BEL-J (Eq. 26), at each "+
			"weight r and width σ of the error profiles. Red: BEL-J has the smaller bound. Blue: BEL-U "+
			"has. Hatched: some probability exceeds 1."),
		mapFigure("3c-exact", "exact", quick, "Figure 3(c) by the exact expected errors of the same model, and not by their "+
			"bounds: there is no red."),
		{
			Name: "7", Caption: "What the decoder of BEL-J adds up, for the code words of 15 levels: Tl = −max k·b, " +
				"Tf = max (M−k+1)·b, Tc = M, and their sum, the level (Eq. 14).",
			Make: terms,
		},
		verifyFigure("10", "Expected error of every label of BEL-J when error probabilities are drawn uniformly, as in the "+
			"paper's check of its bound. Bound (Eq. 26) and exact value nearly agree. Samples:", quick, "--random"),
		verifyFigure("10-mixture", "The same with the Gaussian mixture, r = 2, σ = 5. Samples:", quick,
			"--r", "2", "--sigma", "5"),
		{Name: "11", Caption: "Error probabilities of six classifiers of the Johnson code, as in Figure 3(b).",
			Make: profilesOf("johnson", 1, 6, 12, 18, 24, 32)},
		{Name: "limit", Caption: "No panel of the paper's: the error that no code of so many bits and no decoder is below, with and " +
			"without a largest number of transitions a bit, the best named code of no more bits, and the codes that optimize finds, " +
			"read by the best decoder.", Make: limits(quick)},
	}
}

// matrixFigure is a code of Figure 2, or beside it.
func matrixFigure(name, code, text string) Figure {
	return Figure{
		Name: name, Caption: "Code matrix of " + text +
			": a row for each of 64 levels, ones black, bit transitions orange.",
		Args: []string{"codes", code, "--levels", "64"},
	}
}

// mapFigure is Figure 3(c) by a method.
func mapFigure(name, method string, quick bool, caption string) Figure {
	codes, cells := heatmap.PaperCodes(), 100
	if quick {
		cells = 30
	}
	return Figure{Name: name, Caption: caption, Args: []string{"heatmap", codes[0], codes[1], "--method", method, "--r",
		fmt.Sprintf("1:150:%d", cells), "--sigma", fmt.Sprintf("1:100:%d", cells)}}
}

// verifyFigure is Figure 10 under an error model. Its caption ends in the number of its samples.
func verifyFigure(name, text string, quick bool, model ...string) Figure {
	args, samples := append([]string{"verify", "--code", "johnson-nonzero", "--levels", "255"}, model...), "100,000"
	if quick {
		args, samples = append(args, "--samples", "2000"), "2,000"
	}
	return Figure{Name: name, Caption: text + " " + samples + " of each label.", Args: args}
}

// LevelRow is a row of the CSV of Figure 2(a).
type LevelRow struct {
	Level int `json:"level"`
	// of labels from 0 to 1
	Label float64 `json:"label"`
}

// levels draws Figure 2(a).
func levels(style plots.Style) (*plots.Figure, WriteCSV, error) {
	const most = 64
	d, rows := plots.LinesData{Title: "64 levels", YLabel: "label", Style: style}, make([]LevelRow, most)
	line := plots.NamedLine{Name: "label"}
	for i := range rows {
		rows[i] = LevelRow{i + 1, float64(i) / (most - 1)}
		d.Level, line.Values = append(d.Level, float64(i+1)), append(line.Values, rows[i].Label)
	}
	d.Lines = []plots.NamedLine{line}
	f, err := plots.Lines(d)
	return f, func(w io.Writer) error { return table.WriteCSV(w, rows) }, err
}

// The levels of testdata/network, and the mixture that fit fits to it.
const networkLevels, networkR, networkSigma = 64, 1.188, 1.673

// networkWrong has the samples of each level of testdata/network that has some, and how many of
// them some bits are wrong in.
//
//go:embed network.csv
var networkWrong string

// observe adds the rates of a bit of testdata/network to a profile.
func observe(p *assess.Profile, bit int) error {
	rows, err := csv.NewReader(strings.NewReader(networkWrong)).ReadAll()
	if err != nil {
		return err
	}
	column := slices.Index(rows[0], strconv.Itoa(bit))
	for _, row := range rows[1:] {
		var v [3]float64 // level, samples, wrong
		for i, at := range []int{0, 1, column} {
			if v[i], err = strconv.ParseFloat(row[at], 64); err != nil {
				return err
			}
		}
		lo, hi := errmodel.RateInterval(v[2], v[1])
		p.Label, p.Rate, p.Lo, p.Hi = append(p.Label, v[0]), append(p.Rate, v[2]/v[1]), append(p.Lo, lo), append(p.Hi,
			hi)
	}
	return nil
}

// profilesOf draws what is observed of some bits, from 1, beside the mixture. The bit of unary has
// the target of bit 1 of johnson.
func profilesOf(name string, bits ...int) func(plots.Style) (*plots.Figure, WriteCSV, error) {
	return func(style plots.Style) (*plots.Figure, WriteCSV, error) {
		c, err := code.New(name, networkLevels)
		if err != nil {
			return nil, nil, err
		}
		of := name
		if name == "unary" {
			of = "unary, points of johnson"
		}
		d := plots.ProfileData{
			Style: style, Curve: "Gaussian mixture",
			Title: fmt.Sprintf("%s, %d levels, prices of diamonds: r = %.3g, σ = %.3g", of, networkLevels, networkR,
				networkSigma),
		}
		transitions := c.Transitions()
		for _, k := range bits {
			p := assess.MixtureProfile(c, transitions, k-1, networkR, networkSigma)
			seen := k
			if name == "unary" {
				seen = 1
			}
			if err := observe(&p, seen); err != nil {
				return nil, nil, fmt.Errorf("observed rates: %w", err)
			}
			d.Bits = append(d.Bits, p)
		}
		f, err := plots.Profile(d)
		return f, func(w io.Writer) error { return table.WriteCSV(w, profileRows(d.Bits)) }, err
	}
}

// ProfileRow is a row of the CSV of Figures 3(a), 3(b) and 11.
type ProfileRow struct {
	Bit int `json:"bit"`
	// label, in levels
	Level float64 `json:"level"`
	// error probability of the model
	Fitted float64 `json:"fitted"`
	// observed error rate; empty between levels, and where nothing was observed
	Rate float64 `json:"rate"`
	// lower end of the 95 % interval of rate
	Lo float64 `json:"lo"`
	// upper end of the 95 % interval of rate
	Hi float64 `json:"hi"`
}

// profileRows are the numbers of profiles.
func profileRows(bits []assess.Profile) []ProfileRow {
	var rows []ProfileRow
	for _, b := range bits {
		for i, x := range b.X {
			row := ProfileRow{b.Bit, x, b.Fitted[i], math.NaN(), math.NaN(), math.NaN()}
			if j := slices.Index(b.Label, x); j >= 0 {
				row.Rate, row.Lo, row.Hi = b.Rate[j], b.Lo[j], b.Hi[j]
			}
			rows = append(rows, row)
		}
	}
	return rows
}

// TermRow is a row of the CSV of Figure 7.
type TermRow struct {
	Level int `json:"level"`
	// −max k·b
	Tl float64 `json:"tl"`
	// max (M−k+1)·b
	Tf float64 `json:"tf"`
	// M
	Tc float64 `json:"tc"`
	// Tl + Tf + Tc
	Decoded float64 `json:"decoded"`
}

// terms draws Figure 7.
func terms(style plots.Style) (*plots.Figure, WriteCSV, error) {
	const levels = 15
	c, err := code.New("johnson-nonzero", levels)
	if err != nil {
		return nil, nil, err
	}
	d, err := decode.New(decode.Auto, c)
	if err != nil {
		return nil, nil, err
	}
	belJ, ok := d.(decode.BelJ)
	if !ok {
		return nil, nil, fmt.Errorf("%s is read by %s, not by bel-j", c.Name(), d.Name())
	}
	data := plots.LinesData{Title: fmt.Sprintf("johnson-nonzero, %d levels, %d bits", levels, c.Bits()),
		YLabel: "value", Style: style, Lines: []plots.NamedLine{
			{Name: "Tl"}, {Name: "Tf"}, {Name: "Tc"}, {Name: "Tl + Tf + Tc"},
		}}
	var rows []TermRow
	for i := range levels {
		tl, tf, tc := belJ.Terms(c.Word(i))
		row := TermRow{i + 1, float64(tl), float64(tf), float64(tc), float64(tl + tf + tc)}
		for j, v := range []float64{row.Tl, row.Tf, row.Tc, row.Decoded} {
			data.Lines[j].Values = append(data.Lines[j].Values, v)
		}
		data.Level = append(data.Level, float64(i+1))
		rows = append(rows, row)
	}
	f, err := plots.Lines(data)
	return f, func(w io.Writer) error { return table.WriteCSV(w, rows) }, err
}

// Card is a figure in the index.
type Card struct{ Name, Caption, Command string }

//go:embed index.html.tmpl
var indexPage string

// WriteIndex writes the page that shows all figures.
func WriteIndex(w io.Writer, cards []Card) error {
	t, err := template.New("index").Parse(indexPage)
	if err != nil {
		return err
	}
	return t.Execute(w, cards)
}
