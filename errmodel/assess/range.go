package assess

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"belsim/errmodel/fitdecoder"
	"belsim/errmodel/observed"
	"belsim/theory/base/arrayfile"
	"belsim/theory/base/memory"
	"belsim/theory/base/position"
	"belsim/theory/code"
)

// LabelRange is a range of real labels, written a:b: a is level 1, b is the last level, or on a circle
// level 1 again. Or it is a file, .csv or .npy, with the label of each level.
type LabelRange struct {
	Lo, Hi float64
	// Values are the labels of the levels; nil where they are even and no file has them.
	Values code.Values
	file   string
}

// File is the file that has the values; "" where there is none.
func (r LabelRange) File() string { return r.file }

// IsZero reports whether there is no range.
func (r LabelRange) IsZero() bool { return r.Lo == r.Hi && r.file == "" }

// UnmarshalText implements encoding.TextUnmarshaler. Read reads a file that is named.
func (r *LabelRange) UnmarshalText(text []byte) error {
	lo, hi, found := strings.Cut(string(text), ":")
	a, err := strconv.ParseFloat(lo, 64)
	b, err2 := strconv.ParseFloat(hi, 64)
	if found && errors.Join(err, err2) == nil {
		if err := (LabelRange{Lo: a, Hi: b}).check(); err != nil {
			return fmt.Errorf("range %q: %w", text, err)
		}
		*r = LabelRange{Lo: a, Hi: b}
		return nil
	}
	if found && err == nil || !strings.ContainsAny(string(text), ".-/") || len(text) == 0 {
		return fmt.Errorf("range %q: want two numbers, a:b, or a .csv or .npy file with the label of each level", text)
	}
	*r = LabelRange{file: string(text)}
	return nil
}

// Read reads the file of a range that has one.
func (r LabelRange) Read(ctx context.Context) (LabelRange, error) {
	if r.file == "" {
		return r, nil
	}
	fail := func(err error) (LabelRange, error) { return r, fmt.Errorf("reading the labels of levels: %w", err) }
	rows, err := arrayfile.OpenRows(r.file, "values", "labels", "levels")
	if err != nil {
		return fail(fmt.Errorf("%w; a range is two numbers, a:b", err))
	}
	defer rows.Close()
	if rows.Doubtful() || rows.Numbered() { // a number in line 1 is the label of level 1
		rows.Settle(false)
	}
	v, err := readColumn(ctx, rows, code.MaxLevels)
	if err != nil {
		return fail(err)
	}
	r.Values = v
	if err := r.Values.Check(len(v)); err != nil {
		return r, fmt.Errorf("%s: %w", rows.Name(), err)
	}
	r.Lo, r.Hi = v[0], v[len(v)-1]
	if err := r.check(); err != nil {
		return r, fmt.Errorf("%s: %w", rows.Name(), err)
	}
	return r, nil
}

// check refuses ranges whose width is not finite, or in which levels have none.
func (r LabelRange) check() error {
	if d := r.Hi - r.Lo; !(d > 0) || math.IsInf(d, 0) || r.Lo+d/(1<<20) == r.Lo || math.IsInf(r.Lo, 0) {
		return errors.New("want finite numbers, a below b")
	}
	return code.CheckRange(r.Lo, r.Hi)
}

// Uneven reports whether levels are not evenly spaced.
func (r LabelRange) Uneven() bool { return r.Values != nil && !r.Values.Even() }

// of is a code whose levels have the values. The error says that it has another number of levels, or
// that the levels are on a circle.
func (r LabelRange) of(c *code.Code) (*code.Code, error) {
	if r.Values == nil {
		return c, nil
	}
	if c.Circular() {
		return nil, fmt.Errorf("levels on a circle are even: want %s, whose ends are one point, such as 0 and 360",
			position.Flag("range", "a:b"))
	}
	if err := r.Values.Check(c.Levels()); err != nil {
		return nil, fmt.Errorf("the range of %s: %w", c.Name(), err)
	}
	return c.Placed(r.Values), nil
}

// spread are the labels of so many levels; on a circle, b is the label of level 1 again.
func (r LabelRange) spread(levels int, circular bool) ([]float64, error) {
	if circular {
		if r.Values != nil {
			return nil, fmt.Errorf("want %s, whose ends are one point, such as 0 and 360", position.Flag("range", "a:b"))
		}
		return fitdecoder.Evenly(levels+1, r.Lo, r.Hi)[:levels], nil
	}
	if !r.Uneven() {
		return fitdecoder.Evenly(levels, r.Lo, r.Hi), nil
	}
	return r.Values, r.Values.Check(levels)
}

// label is the label of a place in levels of a code.
func (r LabelRange) label(c *code.Code, place float64) float64 {
	if row, level := 0, 0.0; r.Uneven() {
		if row, level = c.Nearest(place); level == float64(row+1) { // the very label, without rounding
			return r.Values[row]
		}
	}
	label := r.labels(c).Label(place)
	if c.Circular() {
		return min(label, math.Nextafter(r.Hi, r.Lo))
	}
	return label
}

// labels say how targets for the levels of a code are written.
func (r LabelRange) labels(c *code.Code) observed.Labels {
	return observed.Labels{
		Levels: c.Levels(), Real: !r.IsZero(), Lo: r.Lo, Hi: r.Hi, Places: c.Places(), Clips: r.Values != nil,
		Circle: c.Circle(),
	}
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
