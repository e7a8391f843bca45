package theory

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
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

// maxLabels limits the span of a histogram: no code has more levels.
const maxLabels = 1 << 16

// ReadHistogram reads a CSV with the columns label and count, in that order,
// under a header of these names. Labels are integers in any order, each at most
// once; counts are not negative. name is the file's, for errors.
func ReadHistogram(r io.Reader, name string) (*Histogram, error) {
	records := csv.NewReader(r)
	records.FieldsPerRecord = -1
	records.ReuseRecord = true
	counts := map[int]float64{}
	lowest, highest := math.MaxInt, math.MinInt
	for row := 1; ; row++ {
		record, err := records.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		if len(record) != 2 {
			return nil, fmt.Errorf("%s: row %d has %d fields; want 2, label and count", name, row, len(record))
		}
		first, second := strings.TrimSpace(strings.TrimPrefix(record[0], "\ufeff")), strings.TrimSpace(record[1])
		if row == 1 {
			if !strings.EqualFold(first, "label") || !strings.EqualFold(second, "count") {
				return nil, fmt.Errorf("%s: row 1 is %q; want the header label,count", name, first+","+second)
			}
			continue
		}
		label, err := strconv.Atoi(first)
		if err != nil || label > math.MaxInt32 || label < math.MinInt32 {
			return nil, fmt.Errorf("%s: row %d, column 1: label %q is not an integer", name, row, first)
		}
		count, err := strconv.ParseFloat(second, 64)
		if err != nil || !(count >= 0) || math.IsInf(count, 0) {
			return nil, fmt.Errorf("%s: row %d, column 2: count %q is not a number of 0 or more", name, row, second)
		}
		if _, twice := counts[label]; twice {
			return nil, fmt.Errorf("%s: row %d: label %d occurs a second time; want each label once", name, row, label)
		}
		counts[label] = count
		lowest, highest = min(lowest, label), max(highest, label)
		if highest-lowest >= maxLabels {
			return nil, fmt.Errorf("%s: row %d: labels span %d to %d, more than %d levels", name, row, lowest, highest, maxLabels)
		}
	}
	if len(counts) == 0 {
		return nil, fmt.Errorf("%s: no labels; want the header label,count and a row for each label", name)
	}
	h := &Histogram{Lowest: lowest, Counts: make([]float64, highest-lowest+1)}
	total := 0.0
	for label, count := range counts {
		h.Counts[label-lowest] = count
	}
	for _, count := range h.Counts {
		total += count
	}
	if total == 0 || math.IsInf(total, 0) {
		return nil, fmt.Errorf("%s: counts add up to %v; want a positive finite number", name, total)
	}
	return h, nil
}

// Prior returns the share of each of n levels, the lowest label being level 1.
// The error says so when the labels need more levels.
func (h *Histogram) Prior(n int) ([]float64, error) {
	if len(h.Counts) > n {
		return nil, fmt.Errorf("labels %d to %d need %d levels, but the code has %d", h.Lowest, h.Lowest+len(h.Counts)-1, len(h.Counts), n)
	}
	total := 0.0
	for _, c := range h.Counts {
		total += c
	}
	p := make([]float64, n)
	for i, c := range h.Counts {
		p[i] = c / total
	}
	return p, nil
}
