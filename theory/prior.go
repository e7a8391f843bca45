package theory

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

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
		label, count, err := histogramRow(record, row)
		if err != nil {
			return nil, fmt.Errorf("%s: row %d%w", name, row, err)
		}
		if row == 1 {
			continue
		}
		if _, twice := counts[label]; twice {
			return nil, fmt.Errorf("%s: row %d: label %d occurs a second time; want each label once", name, row, label)
		}
		counts[label] = count
		lowest, highest = min(lowest, label), max(highest, label)
		if highest-lowest >= code.MaxLevels {
			return nil, fmt.Errorf("%s: row %d: labels span %d to %d, more than %d levels", name, row, lowest, highest, code.MaxLevels)
		}
	}
	if len(counts) == 0 {
		return nil, fmt.Errorf("%s: no labels; want the header label,count and a row for each label", name)
	}
	h := &Histogram{Lowest: lowest, Counts: make([]float64, highest-lowest+1)}
	for label, count := range counts {
		h.Counts[label-lowest] = count
	}
	if total := h.total(); total == 0 || math.IsInf(total, 0) {
		return nil, fmt.Errorf("%s: counts add up to %v; want a positive finite number", name, total)
	}
	return h, nil
}

// histogramRow reads a row of a histogram; the first one is the header. The error continues the
// words "row 1".
func histogramRow(record []string, row int) (label int, count float64, err error) {
	if len(record) != 2 {
		return 0, 0, fmt.Errorf(" has %d fields; want 2, label and count", len(record))
	}
	first, second := strings.TrimSpace(strings.TrimPrefix(record[0], "\ufeff")), strings.TrimSpace(record[1])
	if row == 1 {
		if !strings.EqualFold(first, "label") || !strings.EqualFold(second, "count") {
			return 0, 0, fmt.Errorf(" is %q; want the header label,count", first+","+second)
		}
		return 0, 0, nil
	}
	if label, err = strconv.Atoi(first); err != nil || label > math.MaxInt32 || label < math.MinInt32 {
		return 0, 0, fmt.Errorf(", column 1: label %q is not an integer", first)
	}
	if count, err = strconv.ParseFloat(second, 64); err != nil || !(count >= 0) || math.IsInf(count, 0) {
		return 0, 0, fmt.Errorf(", column 2: count %q is not a number of 0 or more", second)
	}
	return label, count, nil
}

// total is the number of all labels.
func (h *Histogram) total() float64 {
	total := 0.0
	for _, c := range h.Counts {
		total += c
	}
	return total
}

// Prior returns the share of each of n levels, the lowest label being level 1.
// The error says so when the labels need more levels.
func (h *Histogram) Prior(n int) ([]float64, error) {
	if len(h.Counts) > n {
		return nil, fmt.Errorf("labels %d to %d need %d levels, but the code has %d", h.Lowest, h.Lowest+len(h.Counts)-1, len(h.Counts), n)
	}
	total, p := h.total(), make([]float64, n)
	for i, c := range h.Counts {
		p[i] = c / total
	}
	return p, nil
}
