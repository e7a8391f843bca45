package assess

import (
	"context"
	"fmt"
	"math"
	"slices"
	"sort"

	"belsim/errmodel/fitdecoder"
	"belsim/errmodel/observed"
	"belsim/theory/base/arrayfile"
	"belsim/theory/base/memory"
	"belsim/theory/base/refuse"
	"belsim/theory/base/table"
	"belsim/theory/code"
)

// Spacings are levels for some targets, evenly spaced and not, with what they cost.
type Spacings struct {
	// number of targets
	Targets int `json:"targets"`
	// labels of level 1 and of level L: by default a share of 0.0005 of the targets lies beyond
	// either
	Range [2]float64 `json:"range"`
	// targets beyond the end levels, which clip them
	Beyond int `json:"beyond"`
	// e₀, the mean |error| of direct regression or of a network; null where it is not given
	Baseline float64 `json:"baseline"`
	// a row for each number of levels and spacing
	Results []SpacingRow `json:"results"`
	Notes   []string     `json:"notes"`
	table.Provenance

	sorted []float64 // the targets
}

// SpacingRow is one number of levels with one spacing.
type SpacingRow struct {
	Levels int `json:"levels" text:"levels"`
	// even; or half: half of the levels are even, and half are quantiles of the targets
	Spacing string `json:"spacing" text:"spacing"`
	// q, the mean distance of the targets from the nearest level, in label units
	Quantization float64 `json:"quantization" text:"q"`
	// q/e₀; null without a baseline
	Ratio float64 `json:"quantization_over_baseline" text:"q/e₀"`
	// √(e₀² + q²), about the error of a network with these levels; null without a baseline
	Forecast float64 `json:"forecast" text:"√(e₀² + q²)"`
	// the spacing that is written to a file
	Chosen bool `json:"chosen"`
	// label of each level
	Values code.Values `json:"values"`
}

// Called is what people call the spacing.
func (r SpacingRow) Called() string {
	if r.Spacing == HalfSpacing {
		return "half even, half quantiles"
	}
	return r.Spacing
}

// The spacings.
const (
	EvenSpacing = "even"
	HalfSpacing = "half"
)

const (
	// clippedShare is the share of the targets beyond each end.
	clippedShare = 0.0005
	// gain is the share of the error that half even levels must save: even ones are simpler, and
	// fit forecasts other codes for them.
	gain = 0.01
)

// NewSpacings makes levels for the targets in a file. of is the range of the labels, or the zero
// one for that of the targets; baseline is e₀, or 0 for none. Errors name the file, or are the
// context's.
func NewSpacings(ctx context.Context, path string, of LabelRange, counts []int, baseline float64) (*Spacings, error) {
	rows, err := arrayfile.OpenRows(path, "targets", "target", "labels", "label", "y")
	if err != nil {
		return nil, fmt.Errorf("reading targets: %w", err)
	}
	defer rows.Close()
	s := &Spacings{Baseline: baseline, Notes: []string{}}
	if err := observed.CheckColumn(rows, "target"); err != nil {
		return nil, err
	}
	if s.sorted, err = readColumn(ctx, rows, math.MaxInt); err != nil {
		return nil, err
	}
	if note := rows.Note(); note != "" {
		s.note("%s.", note)
	}
	n := len(s.sorted)
	slices.Sort(s.sorted)
	if s.Targets = n; n < 2 || s.sorted[0] == s.sorted[n-1] {
		return nil, fmt.Errorf("%s: %d targets, none differs from the others; want at least two values", rows.Name(), n)
	}
	if of.File() != "" {
		return nil, fmt.Errorf("levels are made from %s: want a range a:b of them, or none", rows.Name())
	}
	if k := int(clippedShare * float64(n)); of.IsZero() {
		if of.Lo, of.Hi = s.sorted[k], s.sorted[n-1-k]; of.check() != nil {
			of.Lo, of.Hi = s.sorted[0], s.sorted[n-1]
		}
	}
	if err := of.check(); err != nil {
		return nil, fmt.Errorf("%s: targets from %v to %v: %w", rows.Name(), of.Lo, of.Hi, err)
	}
	s.Range = [2]float64{of.Lo, of.Hi}
	from, to := sort.SearchFloat64s(s.sorted, of.Lo), sort.Search(n, func(i int) bool { return s.sorted[i] > of.Hi })
	s.Beyond = n - (to - from)
	if s.Baseline == 0 {
		s.Baseline = math.NaN()
	}
	for _, levels := range counts {
		if levels < code.MinLevels || levels > code.MaxLevels {
			want := fmt.Sprintf("%d to %d", code.MinLevels, code.MaxLevels)
			return nil, &refuse.Value{Name: "levels", Value: levels, Want: want}
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		even := s.row(levels, EvenSpacing, fitdecoder.Evenly(levels, of.Lo, of.Hi))
		half := s.row(levels, HalfSpacing, halfQuantiles(levels, of, s.sorted[from:to]))
		half.Chosen = math.Hypot(half.Quantization, baseline) <= (1-gain)*math.Hypot(even.Quantization, baseline)
		even.Chosen = !half.Chosen
		s.Results = append(s.Results, even, half)
		if half.Chosen && baseline > 0 {
			s.note("%d levels: spacing matters. √(e₀² + q²) is %s with half of them quantiles, and %s with even ones.",
				levels, table.Short(half.Forecast), table.Short(even.Forecast))
		}
	}
	s.note("%d of %d targets (%s) lie beyond the end levels, which clip them.", s.Beyond, n,
		percent(float64(s.Beyond)/float64(n)))
	chosen := func(r SpacingRow) bool { return r.Chosen && r.Spacing == HalfSpacing }
	if baseline > 0 && !slices.ContainsFunc(s.Results, chosen) {
		s.note("Even levels do: half of them quantiles would save less than %s of the error.", percent(gain))
	}
	return s, nil
}

func (s *Spacings) note(format string, a ...any) {
	s.Notes = append(s.Notes, fmt.Sprintf(format, a...))
}

// readColumn reads the numbers of one column, at most so many.
func readColumn(ctx context.Context, rows *arrayfile.Rows, most int) (out []float64, err error) {
	n, columns := rows.Dims()
	if columns != 1 {
		return nil, fmt.Errorf("%s: %d columns; want one", rows.Name(), columns)
	}
	if err := memory.Check("reading "+rows.Name(), memory.Product(max(n, 0), 8)); err != nil {
		return nil, err
	}
	err = observed.EachRow(ctx, rows, func(row []float64) bool {
		out = append(out, row[0])
		return len(out) <= most
	})
	if len(out) > most {
		return nil, fmt.Errorf("%s has more than %d numbers", rows.Name(), most)
	}
	return out, err
}

// row is the row of some values.
func (s *Spacings) row(levels int, spacing string, v code.Values) SpacingRow {
	q, at := 0.0, 0
	for _, y := range s.sorted {
		for at < levels-1 && v[at+1]-y <= y-v[at] {
			at++
		}
		q += math.Abs(y - v[at])
	}
	q /= float64(s.Targets)
	return SpacingRow{Levels: levels, Spacing: spacing, Quantization: q, Ratio: q / s.Baseline,
		Forecast: math.Hypot(q, s.Baseline), Values: v}
}

// halfQuantiles are levels of which half are even, and half are quantiles of labels, sorted and
// within the range: level n is where the mean of the two distribution functions is (n−1)/(L−1). A
// label that many share counts as one level.
func halfQuantiles(levels int, of LabelRange, labels []float64) []float64 {
	// the labels that differ, and the weight below them
	at, below, steps := []float64{of.Lo}, []float64{0}, float64(levels-1)
	most, before := max(1, float64(len(labels))/steps), 0.0
	for i := 0; i < len(labels); {
		j := i + sort.Search(len(labels)-i, func(k int) bool { return labels[i+k] > labels[i] })
		weight := min(float64(j-i), most)
		last := len(at) - 1
		if labels[i] > at[last] {
			at, below = append(at, labels[i]), append(below, below[last]+(before+weight)/2)
		}
		before, i = weight, j
	}
	if last := len(at) - 1; at[last] < of.Hi {
		at, below = append(at, of.Hi), append(below, below[last])
	}
	all, width := max(below[len(below)-1], 1), of.Hi-of.Lo
	share := func(k int) float64 { return (at[k]-of.Lo)/width/2 + below[k]/all/2 }
	out := fitdecoder.Evenly(levels, of.Lo, of.Hi)
	whole := share(len(at) - 1)
	for n, k := 1, 0; n < levels-1; n++ {
		want := float64(n) / steps * whole
		for k < len(at)-2 && share(k+1) < want {
			k++
		}
		from, to := share(k), share(k+1)
		out[n] = at[k] + (want-from)/(to-from)*(at[k+1]-at[k])
	}
	return out
}

// Chosen is the row that is written. The error says that there are several numbers of levels.
func (s *Spacings) Chosen() (*SpacingRow, error) {
	var out *SpacingRow
	for i := range s.Results {
		if r := &s.Results[i]; r.Chosen {
			if out != nil {
				return nil, fmt.Errorf("a file has the values of one number of levels, and these are %d and %d",
					out.Levels, r.Levels)
			}
			out = r
		}
	}
	return out, nil
}

// Sorted are the targets, ascending.
func (s *Spacings) Sorted() []float64 { return s.sorted }

// Section is the report for people.
func (s *Spacings) Section() table.Section {
	head := fmt.Sprintf("%d targets; levels from %s to %s; q is the mean distance to the nearest level",
		s.Targets, table.Short(s.Range[0]), table.Short(s.Range[1]))
	columns := []table.Column[SpacingRow]{table.Replace("spacing", "", SpacingRow.Called)}
	rows := table.Block{Head: head, Table: table.Of(s.Results, columns...)}
	return table.Section{Title: "levels", Details: []table.Block{rows, {Sentences: s.Notes}}}
}
