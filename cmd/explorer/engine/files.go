package engine

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"belsim/errmodel/assess"
	"belsim/errmodel/scenario"
	"belsim/montecarlo/verify"
	"belsim/theory"
	"belsim/theory/base/arrayfile"
	"belsim/theory/base/table"
	"belsim/theory/code"
	"belsim/theory/expect"
)

// fileQuestion names a file that was given to the page.
type fileQuestion struct {
	Path string `json:"path"`
}

// Inspected says what a file holds: a code, a fit or a prior.
type Inspected struct {
	Kind   string `json:"kind"`
	Code   *Code  `json:"code,omitempty"`
	Levels int    `json:"levels,omitempty"`
	Prior  *Prior `json:"prior,omitempty"`
	Lowest int    `json:"lowest"` // the label that is level 1 of a prior
	Fit    *Fit   `json:"fit,omitempty"`
}

// Fit is the mixture of a file that the command fit wrote, as --model of other commands reads it.
type Fit struct {
	Code        string    `json:"code"`
	Levels      int       `json:"levels"`
	R           float64   `json:"r"`
	Sigma       float64   `json:"sigma"`
	Prior       []float64 `json:"prior"`
	Temperature float64   `json:"temperature"`
}

// inspect answers with what a file holds.
func (e *Engine) inspect(ctx context.Context, q fileQuestion) (*answer, error) {
	out, err := Inspect(e.Path(q.Path))
	if err != nil {
		return nil, err
	}
	return &answer{JSON: out}, nil
}

const known = "a code (.csv or .npy), a histogram of labels (.csv), or a fit (.json), which 'belsim fit' writes of a " +
	"network's outputs"

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
		s := scenario.New(nil)
		f.Fill(s)
		return &Inspected{Kind: "fit", Fit: &Fit{f.Code, f.Levels, f.R, f.Sigma, f.Prior, s.Temperature}}, nil
	case ".csv", ".npy":
	default:
		return nil, fmt.Errorf("%s: want %s", path, known)
	}
	if p, err := theory.ReadPrior(path); err == nil {
		if n := p.Levels(); n > maxLevels {
			return nil, fmt.Errorf("%s: labels of %d levels; the explorer takes up to %d", path, n, maxLevels)
		}
		return &Inspected{Kind: "prior", Levels: p.Levels(), Lowest: p.Histogram.Lowest,
			Prior: &Prior{Kind: "counts", Counts: p.Histogram.Counts}}, nil
	}
	c, err := code.Open(path, 0)
	if err != nil {
		return nil, fmt.Errorf("%w; want %s", err, known)
	}
	if c.Real() {
		return nil, fmt.Errorf("%s: numbers other than 0 and 1; want %s", path, known)
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
	return table.WriteCSV(w, v.Labels, "any_law")
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
