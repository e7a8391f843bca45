package scenario

import (
	"fmt"

	"belsim/theory"
	"belsim/theory/base/inputfile"
)

// Prior says how often each label occurs. Its zero value gives all levels the same weight.
type Prior struct {
	Path      string            // the file of Histogram, for errors
	Histogram *theory.Histogram // of the labels; nil for none
	Fitted    []float64         // the labels that a model was fitted to; used where there is no histogram
	FitPath   string            // the file of the fit, for errors
}

// ReadPrior reads the histogram of the labels from a CSV file (theory.ReadHistogram). With an
// empty path there is none.
func ReadPrior(path string) (Prior, error) {
	if path == "" {
		return Prior{}, nil
	}
	h, err := theory.ReadHistogram(path)
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
		return theory.Uniform(n), nil
	}
	w, err := p.Histogram.Prior(n)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", p.Path, err)
	}
	return w, nil
}

// Levels is the number of levels that the histogram needs; 0 without one.
func (p Prior) Levels() int {
	if p.Histogram == nil {
		return 0
	}
	return len(p.Histogram.Counts)
}
