package assess

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"belsim/errmodel"
	"belsim/theory/base/inputfile"
	"belsim/theory/base/matrix"
	"belsim/theory/base/memory"
	"belsim/theory/base/table"
	"belsim/theory/code"
)

// Rate is the error rate of one bit at one level: a row of the CSV of a fit.
type Rate struct {
	Level   int          `json:"level" doc:"level, from 1"`
	Bit     int          `json:"bit" doc:"bit, from 1"`
	Target  int          `json:"target" doc:"the bit of the level's code word, 0 or 1"`
	Samples uint64       `json:"samples" doc:"samples of the level"`
	Wrong   uint64       `json:"wrong" doc:"samples of the level whose bit is wrong"`
	Rate    table.Number `json:"rate" doc:"wrong over samples; empty where the level has no samples"`
	Lo      table.Number `json:"lo" doc:"lower end of the 95 % interval of rate (Wilson)"`
	Hi      table.Number `json:"hi" doc:"upper end of the 95 % interval of rate (Wilson)"`
	Fitted  table.Number `json:"fitted" doc:"error probability of the fitted model"`
}

// rateColumns are the columns of the CSV.
func rateColumns() (names []string, err error) {
	columns, err := table.CSVColumns[Rate]()
	for _, c := range columns {
		names = append(names, c.Name)
	}
	return names, err
}

// WriteRates writes the observed error rate of every level and bit as CSV, a Rate for each.
func (s *Study) WriteRates(w io.Writer) error {
	return table.WriteCSVSeq(w, func(yield func(Rate, error) bool) {
		var fitted []float64
		for i, n := range s.counts.Samples {
			fitted = matrix.Row(fitted, i, s.errors)
			for k, x := range s.counts.Row(i) {
				r := Rate{Level: i + 1, Bit: k + 1, Samples: n, Wrong: x, Rate: table.Missing(), Lo: table.Missing(), Hi: table.Missing(), Fitted: table.Number(fitted[k])}
				if s.code.Bit(i, k) {
					r.Target = 1
				}
				if n > 0 {
					lo, hi := errmodel.RateInterval(float64(x), float64(n))
					r.Rate, r.Lo, r.Hi = table.Number(float64(x)/float64(n)), table.Number(lo), table.Number(hi)
				}
				if !yield(r, nil) {
					return
				}
			}
		}
	})
}

// Rates are the error rates that a CSV of a fit holds.
type Rates struct {
	Levels, Bits int
	Rows         []Rate // Levels × Bits, level by level
}

// maxRates is the largest size of a CSV of rates, in bytes.
const maxRates = 1 << 30

// ReadRates reads the CSV of a fit. Errors name the file and the line.
func ReadRates(path string) (*Rates, error) {
	text, err := inputfile.Read(path, maxRates)
	if err != nil {
		return nil, fmt.Errorf("reading rates: %w", err)
	}
	if err := memory.Check(path, 8*int64(len(text))); err != nil { // its fields and its rows
		return nil, err
	}
	records, err := csv.NewReader(bytes.NewReader(text)).ReadAll()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	columns, err := rateColumns()
	if err != nil {
		return nil, err
	}
	if len(records) < 2 || !slices.Equal(records[0], columns) {
		return nil, fmt.Errorf("%s: want the columns %s of a fit's observed rates, and a row for each level and bit", path, strings.Join(columns, ","))
	}
	r := &Rates{}
	for i, record := range records[1:] {
		row, err := parseRate(i+2, columns, record)
		if err == nil {
			err = r.add(i+2, row)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
	}
	if last := r.Rows[len(r.Rows)-1]; last.Bit != r.Bits {
		return nil, fmt.Errorf("%s: ends in level %d, after bit %d of %d", path, r.Levels, last.Bit, r.Bits)
	}
	return r, nil
}

// parseRate reads a line of the CSV.
func parseRate(line int, columns, record []string) (Rate, error) {
	var v [9]float64
	for j, field := range record {
		refuse := func(want string) (Rate, error) {
			return Rate{}, fmt.Errorf("line %d, column %s: %q%s", line, columns[j], field, want)
		}
		whole, probability := j < 5, j >= 5
		var err error
		if v[j], err = strconv.ParseFloat(field, 64); field == "" && j >= 5 && j < 8 {
			v[j] = math.NaN() // a level without samples
			continue
		} else if err != nil || !(v[j] >= 0) || math.IsInf(v[j], 0) {
			return refuse("; want a number of 0 or more")
		}
		switch {
		case j < 2 && (v[j] != math.Trunc(v[j]) || v[j] < 1 || v[j] > code.MaxLevels):
			return refuse("; want a whole number from 1")
		case j == 2 && v[j] != 0 && v[j] != 1:
			return refuse("; want 0 or 1")
		case whole && (v[j] != math.Trunc(v[j]) || v[j] > 1<<53):
			return refuse("; want a whole number of 0 or more")
		case probability && v[j] > 1:
			return refuse(" is no probability")
		}
	}
	return Rate{
		Level: int(v[0]), Bit: int(v[1]), Target: int(v[2]), Samples: uint64(v[3]), Wrong: uint64(v[4]),
		Rate: table.Number(v[5]), Lo: table.Number(v[6]), Hi: table.Number(v[7]), Fitted: table.Number(v[8]),
	}, nil
}

// add takes the row of a line, which must be the next bit of its level.
func (r *Rates) add(line int, row Rate) error {
	level, bit := 1, r.Bits+1 // the first level says how many bits there are
	if r.Bits > 0 && (r.Levels > 1 || row.Level > 1) {
		level, bit = len(r.Rows)/r.Bits+1, len(r.Rows)%r.Bits+1
	}
	if row.Level != level || row.Bit != bit {
		return fmt.Errorf("line %d is level %d, bit %d; want all bits of level 1, then of level 2, and so on", line, row.Level, row.Bit)
	}
	r.Levels, r.Bits = level, max(r.Bits, bit)
	r.Rows = append(r.Rows, row)
	return nil
}

// Profiles returns the profiles of n bits, evenly spread over those with errors; of all such
// bits where there are fewer.
func (r *Rates) Profiles(n int) []Profile {
	var bits []int
	for k := range r.Bits {
		if r.wrong(k) {
			bits = append(bits, k)
		}
	}
	if len(bits) == 0 {
		for k := range r.Bits {
			bits = append(bits, k)
		}
	}
	if len(bits) > n {
		var some []int
		for i := range n {
			some = append(some, bits[(2*i+1)*len(bits)/(2*n)])
		}
		bits = some
	}
	out := make([]Profile, len(bits))
	for i, k := range bits {
		out[i] = r.profile(k)
	}
	return out
}

// wrong reports whether bit k, from 0, has an error.
func (r *Rates) wrong(k int) bool {
	for i := range r.Levels {
		if r.Rows[i*r.Bits+k].Wrong > 0 {
			return true
		}
	}
	return false
}

// profile is the profile of bit k, from 0: a point for each level with samples.
func (r *Rates) profile(k int) Profile {
	p := Profile{Name: fmt.Sprintf("bit %d", k+1), Bit: k + 1}
	for i := range r.Levels {
		row := r.Rows[i*r.Bits+k]
		p.Target = append(p.Target, row.Target == 1)
		p.X, p.Fitted = append(p.X, float64(row.Level)), append(p.Fitted, float64(row.Fitted))
		if !row.Rate.IsMissing() {
			p.Label, p.Rate = append(p.Label, float64(row.Level)), append(p.Rate, float64(row.Rate))
			p.Lo, p.Hi = append(p.Lo, float64(row.Lo)), append(p.Hi, float64(row.Hi))
		}
	}
	return p
}
