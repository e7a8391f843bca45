package theory

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"belsim/theory/base/arrayfile"
	"belsim/theory/base/inputfile"
	"belsim/theory/base/position"
	"belsim/theory/code"
)

// Uniform returns the prior that gives each of n levels the same weight.
func Uniform(n int) []float64 {
	p := make([]float64, n)
	for i := range p {
		p[i] = 1 / float64(n)
	}
	return p
}

// Histogram says how often each integer label occurs in a data set.
type Histogram struct {
	Lowest int       // the smallest label: level 1
	Counts []float64 // by label − Lowest; labels that are missing count zero
}

// ReadHistogram reads a CSV with the columns label and count, in that order,
// under a header of these names. Labels are integers in any order, each at most
// once; counts are not negative. Errors name the file.
func ReadHistogram(path string) (*Histogram, error) {
	rows, err := arrayfile.OpenRows(path)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	if !slices.EqualFunc(rows.Header(), []string{"label", "count"}, strings.EqualFold) {
		return nil, fmt.Errorf("%s: want the header label,count and a row for each label", rows.Name())
	}
	counts, row := map[int]float64{}, make([]float64, 2)
	lowest, highest := math.MaxInt, math.MinInt
	for n := 2; ; n++ { // the header is row 1
		if err := rows.Next(row); err == io.EOF {
			break
		} else if err != nil {
			return nil, err
		}
		label, count := int(row[0]), row[1]
		_, twice := counts[label]
		switch {
		case row[0] != math.Trunc(row[0]) || math.Abs(row[0]) > math.MaxInt32:
			err = fmt.Errorf("column %s: label %v is not an integer within ±2147483647", position.At(1), row[0])
		case count < 0:
			err = fmt.Errorf("column %s: count %v is not a number of 0 or more", position.At(2), count)
		case twice:
			err = fmt.Errorf("column %s: label %d occurs a second time; want each label once", position.At(1), label)
		}
		counts[label] = count
		if lowest, highest = min(lowest, label), max(highest, label); err == nil && highest-lowest >= code.MaxLevels {
			err = fmt.Errorf("column %s: labels span %d to %d, more than %d levels", position.At(1), lowest, highest,
				code.MaxLevels)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: row %s, %w", rows.Name(), position.At(n), err)
		}
	}
	h := &Histogram{Lowest: lowest, Counts: make([]float64, highest-lowest+1)}
	for label, count := range counts {
		h.Counts[label-lowest] = count
	}
	if _, err := h.total(); err != nil {
		return nil, fmt.Errorf("%s: %w", rows.Name(), err)
	}
	return h, nil
}

// total is the number of all labels. The error says that the counts are no weights.
func (h *Histogram) total() (total float64, err error) {
	for i, c := range h.Counts {
		if !(c >= 0) {
			return 0, fmt.Errorf("count %v of label %d is not a number of 0 or more", c, h.Lowest+i)
		}
		total += c
	}
	if total == 0 || math.IsInf(total, 0) {
		return 0, fmt.Errorf("counts add up to %v; want a positive finite number", total)
	}
	return total, nil
}

// Prior returns the share of each of n levels, the lowest label being level 1. The error says that
// the labels need more levels, or that the counts are no weights.
func (h *Histogram) Prior(n int) ([]float64, error) {
	if len(h.Counts) > n {
		return nil, fmt.Errorf("labels %d to %d need %d levels, but the code has %d", h.Lowest,
			h.Lowest+len(h.Counts)-1, len(h.Counts), n)
	}
	total, err := h.total()
	if err != nil {
		return nil, err
	}
	p := make([]float64, n)
	for i, c := range h.Counts {
		p[i] = c / total
	}
	return p, nil
}

// Prior says how often each label occurs. Its zero value gives all levels the same weight.
type Prior struct {
	Path      string     // the file of Histogram, for errors
	Histogram *Histogram // of the labels; nil for none
	Fitted    []float64  // the labels that a model was fitted to; used where there is no histogram
	FitPath   string     // the file of the fit, for errors
}

// ReadPrior reads the histogram of the labels from a CSV file. With an
// empty path there is none.
func ReadPrior(path string) (Prior, error) {
	if path == "" {
		return Prior{}, nil
	}
	h, err := ReadHistogram(path)
	if err != nil {
		return Prior{}, fmt.Errorf("reading prior: %w", err)
	}
	return Prior{Path: inputfile.Name(path), Histogram: h}, nil
}

// Weights returns the weight of each of n levels; they add up to 1. The error says that the
// histogram has more levels, or the fit another number.
func (p Prior) Weights(n int) ([]float64, error) {
	switch {
	case p.Fitted != nil && len(p.Fitted) != n:
		return nil, fmt.Errorf("%s: fitted to %d levels, but the codes have %d; the parameters are in levels",
			p.FitPath, len(p.Fitted), n)
	case p.Histogram == nil && p.Fitted != nil:
		return p.Fitted, nil
	case p.Histogram == nil:
		return Uniform(n), nil
	}
	w, err := p.Histogram.Prior(n)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", p.Path, err)
	}
	return w, nil
}

// String names the file of the histogram, and the label that is level 1; "" without one.
func (p Prior) String() string {
	if p.Histogram == nil {
		return ""
	}
	return fmt.Sprintf("labels as in %s (%d is level %s)", p.Path, p.Histogram.Lowest, position.At(1))
}

// Levels is the number of levels that the histogram needs; 0 without one.
func (p Prior) Levels() int {
	if p.Histogram == nil {
		return 0
	}
	return len(p.Histogram.Counts)
}
