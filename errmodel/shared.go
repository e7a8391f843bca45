package errmodel

import (
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"

	"belsim/theory"
	"belsim/theory/base/inputfile"
	"belsim/theory/base/refuse"
)

// Shared says what noise all bits share: none, a discretized normal law of offsets, or a histogram.
// Its zero value is none.
type Shared struct {
	Text      string  // as it is written: a standard deviation or a file; "" for none
	SD        float64 // of the normal law, in levels; 0 for a histogram
	Histogram *theory.Shared

	made *sync.Map // by the number of levels
}

// Of is the noise for a number of levels; nil for none. The weight of an offset of the normal law
// is its probability from half a level below the offset to half a level above. Offsets of less than
// 2⁻⁶⁰ are left out.
func (s Shared) Of(levels int) *theory.Shared {
	if s.SD == 0 {
		return s.Histogram
	}
	if made, ok := s.made.Load(levels); ok {
		return made.(*theory.Shared)
	}
	out, total := &theory.Shared{}, 0.0
	most := min(levels-1, int(9*s.SD)+1)
	for d := -most; d <= most; d++ {
		near, far := math.Abs(float64(d))-0.5, math.Abs(float64(d))+0.5
		w := (math.Erfc(near/s.SD/math.Sqrt2) - math.Erfc(far/s.SD/math.Sqrt2)) / 2
		if d == -most || d == most { // and all beyond
			w = math.Erfc(near/s.SD/math.Sqrt2) / 2
		}
		if w >= 0x1p-60 {
			out.Offsets, out.Weights = append(out.Offsets, d), append(out.Weights, w)
			total += w
		}
	}
	normalize(out.Weights, total)
	made, _ := s.made.LoadOrStore(levels, out)
	return made.(*theory.Shared)
}

// normalize makes weights of a sum add up to 1.
func normalize(weights []float64, sum float64) {
	for j := range weights {
		weights[j] /= sum
	}
}

// String is the noise for people, after a comma; "" for none.
func (s Shared) String() string {
	switch {
	case s.Text == "":
		return ""
	case s.SD > 0:
		return fmt.Sprintf(", shared noise of %g levels", s.SD)
	}
	return ", shared noise from " + s.Text
}

const sharedWant = "a standard deviation of 0 or more levels, or a FILE: a CSV with columns offset,weight, or the JSON of a fit"

// ParseShared reads noise: a standard deviation in levels, of which 0 is none, or the path of a CSV
// file with the columns offset and weight, or of the JSON of a fit that has shared. The error names
// what is wrong, and where.
func ParseShared(text string) (Shared, error) {
	if sd, err := strconv.ParseFloat(text, 64); err == nil {
		switch {
		case !(sd >= 0) || sd > 1e6:
			return Shared{}, &refuse.Value{Name: "shared", Value: text, Want: sharedWant}
		case sd == 0:
			return Shared{}, nil
		}
		return Shared{Text: text, SD: sd, made: new(sync.Map)}, nil
	}
	f, err := inputfile.Open(text)
	if err != nil {
		return Shared{}, err
	}
	defer f.Close()
	read := readShared
	if strings.HasSuffix(text, ".json") {
		read = readFit
	}
	h, err := read(f)
	if err != nil {
		return Shared{}, fmt.Errorf("%s: %w", text, err)
	}
	return Shared{Text: text, Histogram: h}, nil
}

// readFit reads the field shared of a fit.
func readFit(f io.Reader) (*theory.Shared, error) {
	var fit struct{ Shared *theory.Shared }
	if err := json.NewDecoder(f).Decode(&fit); err != nil {
		return nil, err
	}
	s := fit.Shared
	if s == nil || len(s.Offsets) == 0 || len(s.Offsets) != len(s.Weights) {
		return nil, errors.New("no field shared with as many offsets as weights; want the JSON of a fit that has it")
	}
	total := 0.0
	for j, w := range s.Weights {
		if !(w > 0) || w > 1e100 || slices.Contains(s.Offsets[:j], s.Offsets[j]) {
			return nil, fmt.Errorf("shared: offset %d has weight %v; want numbers above 0, and each offset once", s.Offsets[j], w)
		}
		total += w
	}
	normalize(s.Weights, total)
	return s, nil
}

func readShared(f io.Reader) (*theory.Shared, error) {
	r := csv.NewReader(f)
	r.FieldsPerRecord = 2
	head, err := r.Read()
	if err != nil || head[0] != "offset" || head[1] != "weight" {
		return nil, errors.New("want a header offset,weight")
	}
	out, total := &theory.Shared{}, 0.0
	known := map[int]bool{}
	for {
		record, err := r.Read()
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, err
		}
		line, _ := r.FieldPos(0)
		offset, err := strconv.Atoi(record[0])
		if err != nil || known[offset] || offset != int(int32(offset)) {
			return nil, fmt.Errorf("line %d: offset %q; want whole numbers of levels, each once", line, record[0])
		}
		known[offset] = true
		w, err := strconv.ParseFloat(record[1], 64)
		if err != nil || !(w >= 0) || w > 1e100 {
			return nil, fmt.Errorf("line %d: weight %q; want a number of 0 or more", line, record[1])
		}
		if w > 0 {
			out.Offsets, out.Weights = append(out.Offsets, offset), append(out.Weights, w)
			total += w
		}
	}
	if !(total > 0) {
		return nil, errors.New("no offset has a weight above 0")
	}
	normalize(out.Weights, total)
	return out, nil
}
