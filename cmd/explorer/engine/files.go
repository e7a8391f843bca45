package engine

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"strings"

	"belsim/errmodel/assess"
	"belsim/montecarlo/verify"
	"belsim/theory"
	"belsim/theory/base/arrayfile"
	"belsim/theory/base/table"
	"belsim/theory/code"
	"belsim/theory/decode"
	"belsim/theory/expect"
)

// fileQuestion names a file that was given to the page.
type fileQuestion struct {
	Path string `json:"path"`
}

// Inspected says what a file holds. Kind is code, fit, prior, or samples of a network: targets
// (a column) or outputs.
type Inspected struct {
	Kind    string      `json:"kind"`
	Code    *Code       `json:"code,omitempty"`
	Levels  int         `json:"levels,omitempty"`
	Prior   *Prior      `json:"prior,omitempty"`
	Fit     *assess.Fit `json:"fit,omitempty"`
	Rows    int         `json:"rows,omitempty"`
	Columns int         `json:"columns,omitempty"`
	Whole   bool        `json:"whole,omitempty"` // targets are whole numbers from 1
	Lo      float64     `json:"lo,omitempty"`    // the smallest and the largest target
	Hi      float64     `json:"hi,omitempty"`
}

// inspect answers with what a file holds.
func (e *Engine) inspect(ctx context.Context, q fileQuestion) (*answer, error) {
	out, err := Inspect(e.Path(q.Path))
	if err != nil {
		return nil, err
	}
	return &answer{JSON: out}, nil
}

const known = "a code, targets or a network's outputs (.csv or .npy), a histogram of labels (.csv), or a fit (.json)"

// Inspect says what a file holds. The error names the file, and says what is wrong with it and
// which files there are.
func Inspect(path string) (*Inspected, error) {
	switch ending := strings.ToLower(filepath.Ext(path)); ending {
	case ".json":
		f, err := assess.Read(path)
		if err != nil {
			return nil, err
		}
		if f.Circular {
			return nil, fmt.Errorf("%s: a fit of levels on a circle, and the explorer's are on a line", path)
		}
		return &Inspected{Kind: "fit", Fit: f}, nil
	case ".csv", ".npy":
	default:
		return nil, fmt.Errorf("%s: want %s", path, known)
	}
	if p, err := theory.ReadPrior(path); err == nil {
		if n := p.Levels(); n > maxLevels {
			return nil, fmt.Errorf("%s: labels of %d levels; the explorer takes up to %d", path, n, maxLevels)
		}
		return &Inspected{Kind: "prior", Levels: p.Levels(),
			Prior: &Prior{Kind: "counts", Counts: p.Histogram.Counts}}, nil
	}
	rows, err := arrayfile.OpenRows(path)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	out, binary, err := scan(rows)
	if err != nil {
		return nil, err
	}
	if out.Columns == 1 && !(binary && out.Rows <= 2) {
		out.Kind = "targets"
		return out, nil
	}
	c, err := code.Open(path, 0)
	if err != nil {
		if binary && out.Rows <= maxLevels { // it was meant as a code
			return nil, err
		}
		out.Kind = "outputs"
		return out, nil
	}
	if c.Levels() > maxLevels {
		return nil, fmt.Errorf("%s: %d levels; the explorer takes codes of up to %d", path, c.Levels(), maxLevels)
	}
	words, err := c.Words(context.Background())
	if err != nil {
		return nil, err
	}
	return &Inspected{Kind: "code", Levels: c.Levels(), Code: &Code{Name: filepath.Base(path), Bits: c.Bits(),
		Rows: words}}, nil
}

// scan reads all rows of a file: how many there are, and whether all numbers are 0 or 1.
func scan(rows *arrayfile.Rows) (out *Inspected, binary bool, err error) {
	_, columns := rows.Dims()
	out, binary = &Inspected{Columns: columns, Whole: true, Lo: math.Inf(1), Hi: math.Inf(-1)}, true
	row := make([]float64, columns)
	for {
		err := rows.Next(row)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, false, err
		}
		out.Rows++
		for _, v := range row {
			out.Lo, out.Hi = min(out.Lo, v), max(out.Hi, v)
			binary = binary && (v == 0 || v == 1)
			out.Whole = out.Whole && v == math.Round(v) && v >= 1
		}
	}
	if out.Rows == 0 {
		return nil, false, fmt.Errorf("%s: no numbers", rows.Name())
	}
	return out, binary, nil
}

// fitQuestion asks for the fit to a network's outputs.
type fitQuestion struct {
	Code     string      `json:"code"` // a name or a file
	Levels   int         `json:"levels"`
	Targets  string      `json:"targets"`
	Outputs  string      `json:"outputs"`
	Range    *[2]float64 `json:"range"` // nil where targets are levels
	Training string      `json:"training"`
	// Recommend forecasts the other codes, too, which takes longer.
	Recommend bool `json:"recommend"`
}

// fitAnswer is the verdict on a network.
type fitAnswer struct {
	Opening []string    `json:"opening"` // the verdict in sentences
	Remarks []string    `json:"remarks"`
	Fit     *assess.Fit `json:"fit"` // as fit writes it
}

// fit answers with the verdict on a network, as the command has it. Numbers rates are the
// observed error rates of the bits, L × M.
func (e *Engine) fit(ctx context.Context, q fitQuestion) (*answer, error) {
	if _, named := code.Lookup(q.Code); !named {
		q.Code = e.Path(q.Code)
	}
	o := assess.Options{
		Code: q.Code, Levels: q.Levels, Targets: e.Path(q.Targets), Outputs: e.Path(q.Outputs), Temperature: 1,
		Recommend: q.Recommend, Decoders: decode.Builtin(),
	}
	if q.Range != nil {
		o.Range = assess.LabelRange{Lo: q.Range[0], Hi: q.Range[1]}
		if !(o.Range.Hi > o.Range.Lo) {
			return nil, fmt.Errorf("the range of the labels is %v to %v: want the smaller number first", o.Range.Lo,
				o.Range.Hi)
		}
	}
	if err := o.Check(); err != nil {
		return nil, err
	}
	r, err := assess.Run(ctx, o, run.Workers, nil)
	if err != nil {
		return nil, err
	}
	r.Fit.Version = e.version
	return &answer{
		JSON:    fitAnswer{r.Opening, r.Remarks, r.Fit},
		Numbers: map[string][]float64{"rates": r.Rates().RawMatrix().Data},
	}, nil
}

// outputQuestion asks for a file with the numbers of a view.
type outputQuestion struct {
	What    string      `json:"what"` // code, errors, levels, map or prior
	Subject             // of code, errors and levels
	Map     mapQuestion `json:"map"`
	Samples uint64      `json:"samples"`
}

// file answers with the bytes of a .csv file: the numbers of a view in the command's format.
func (e *Engine) file(ctx context.Context, q outputQuestion) (*answer, error) {
	var b bytes.Buffer
	if err := e.write(ctx, &b, q); err != nil {
		return nil, err
	}
	return &answer{Bytes: map[string][]byte{"file": b.Bytes()}}, nil
}

func (e *Engine) write(ctx context.Context, w io.Writer, q outputQuestion) error {
	switch q.What {
	case "code":
		m, err := q.Code.matrix(q.Scene.Levels)
		if err != nil {
			return err
		}
		return arrayfile.WriteCSV(ctx, w, m)
	case "prior":
		return q.Scene.writePrior(w)
	case "map":
		m, err := e.fill(ctx, q.Map)
		if err != nil {
			return err
		}
		return table.WriteCSV(w, m.Cells, m.Missing()...)
	}
	s, err := e.subject(ctx, q.Scene, q.Code, q.Decoder)
	if err != nil {
		return err
	}
	if q.What == "errors" {
		return arrayfile.WriteCSV(ctx, w, s.problem.Errors)
	}
	if q.What != "levels" {
		return fmt.Errorf("there is no file of %q", q.What)
	}
	th, err := expect.Of(ctx, run.Workers, s.problem.Expected(), s.weights,
		expect.Skip{Intervals: true, SlowLaw: true})
	if err != nil {
		return err
	}
	v, err := verify.Check(ctx, s.scenario, run, s.problem, th, s.weights, q.Scene.draw(q.Samples))
	if err != nil {
		return err
	}
	return table.WriteCSV(w, v.Labels)
}

// labelCount is how often a label occurs: a row of a histogram, as the command reads it.
type labelCount struct {
	Label int     `json:"label"`
	Count float64 `json:"count"`
}

// writePrior writes the prior as a histogram.
func (s Scene) writePrior(w io.Writer) error {
	p, err := s.Prior.read(s.Levels)
	if err != nil {
		return err
	}
	if p.Histogram == nil {
		return errors.New("all levels occur equally often, which is the command's default: there is no file to write")
	}
	var rows []labelCount
	for i, count := range p.Histogram.Counts {
		rows = append(rows, labelCount{i + 1, count})
	}
	return table.WriteCSV(w, rows)
}
