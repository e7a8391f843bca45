package observed

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"belsim/theory/base/arrayfile"
	"belsim/theory/base/position"
)

// Settle decides whether a first line of a .csv that may be the names of columns is one of the
// samples: by the number of rows that the other files have. Where no other file tells, reading the
// file says what may be meant.
func (s *Source) Settle(ctx context.Context) error {
	files, certain := s.files(), func(f file) bool { return !f.rows.Doubtful() }
	sure, doubtful := slices.IndexFunc(files, certain), slices.DeleteFunc(slices.Clone(files), certain)
	if len(doubtful) == 0 || sure < 0 {
		return nil
	}
	samples, err := Count(ctx, files[sure].rows)
	if err != nil {
		return err
	}
	for _, f := range doubtful {
		f.rows.Settle(false)
		n, err := Count(ctx, f.rows)
		if err != nil {
			return err
		}
		f.rows.Settle(n == samples+1)
	}
	return nil
}

// Notes say what was left out of the files.
func (s *Source) Notes() (out []string) {
	for _, f := range s.files() {
		if note := f.rows.Note(); note != "" {
			out = append(out, note)
		}
	}
	return out
}

// oneRow says what one row too many may be.
func oneRow(short, long file) string {
	switch {
	case short.rows.Numbered():
		return "; " + short.rows.Note() + ": put a line of words above it if it is a row"
	case long.rows.FromText() && long.rows.Header() == nil:
		return ": is its first line the names of its columns? Then delete this line, or write words"
	}
	return ""
}

const (
	// fewRows is the number of rows from which what all of them have in common is no chance. All of
	// ten rows of three or more probabilities of bits do not add up to 1.
	fewRows = 10
	// softmaxRounding is how far the sum of probabilities of a softmax lies from 1 in float16.
	softmaxRounding = 1e-2
)

// Softmax counts rows of probabilities that add up to 1, as those of a softmax over the columns do.
type Softmax struct {
	Rows, Sums int     // rows, and those that add up to 1
	Off        int     // the first row that does not, from 1; 0 where all do
	Sum        float64 // of that row
	Zeros      int     // the first row that has no number above 0, from 1; 0 where there is none
}

// FindSoftmax reads the rows, and rewinds them.
func FindSoftmax(ctx context.Context, outputs *arrayfile.Rows) (s Softmax, err error) {
	err = EachRow(ctx, outputs, func(row []float64) bool {
		s.Rows++
		if sum := floats.Sum(row); math.Abs(sum-1) <= softmaxRounding {
			s.Sums++
		} else if s.Off == 0 {
			s.Off, s.Sum = s.Rows, sum
		}
		if s.Zeros == 0 && slices.Max(row) <= 0 {
			s.Zeros = s.Rows
		}
		return true
	})
	return s, err
}

// watch collects what tells that numbers are no outputs of bits.
type watch struct {
	rows           int
	columns        []columnOf
	open           []int // columns of whole numbers
	first, last    float64
	varies, below  bool // the first column does, and has a number below 0
	sums, logsSums bool // probabilities add up to 1, or those of logits
}

// columnOf says what all numbers of a column are: its row, from 0 or from 1, whole, and within −1 to 1 while
// they are whole.
type columnOf struct{ counts, countsFrom1, whole, small bool }

func newWatch(columns int) *watch {
	w := &watch{sums: true, logsSums: true}
	for k := range columns {
		w.columns, w.open = append(w.columns, columnOf{true, true, true, true}), append(w.open, k)
	}
	return w
}

// add adds a row of a file.
func (w *watch) add(row []float64) {
	at, logs := float64(w.rows), 0.0
	if w.rows == 0 {
		w.first = row[0]
	}
	w.last, w.varies, w.below = row[0], w.varies || row[0] != w.first, w.below || row[0] < 0
	w.open = slices.DeleteFunc(w.open, func(k int) bool {
		v, c := row[k], &w.columns[k]
		whole := v == math.Trunc(v)
		*c = columnOf{c.counts && v == at, c.countsFrom1 && v == at+1, whole, c.small && math.Abs(v) <= 1}
		return !whole
	})
	w.sums = w.sums && math.Abs(floats.Sum(row)-1) <= softmaxRounding
	if w.logsSums = w.logsSums && slices.Max(row) <= 0; w.logsSums {
		for _, v := range row {
			logs += math.Exp(v)
		}
	}
	w.logsSums = w.logsSums && math.Abs(logs-1) <= softmaxRounding
	w.rows++
}

// check refuses a column that numbers the rows, and, unless it is a distribution over the levels
// that is read, a softmax over the bits.
func (w *watch) check(k Kind, softmax bool, name string) error {
	for i, c := range w.columns {
		if from := 0; (c.counts || c.countsFrom1) && len(w.columns) > 1 && w.rows >= 3 {
			if c.countsFrom1 {
				from = 1
			}
			return fmt.Errorf("%s: column %s counts the rows, %d to %d, and is no output: leave it out, as pandas does "+
				"with index=False", name, position.At(i+1), from, from+w.rows-1)
		}
	}
	if len(w.columns) > 1 && w.rows >= fewRows && w.numbersRows() {
		return fmt.Errorf("%s: column %s has whole numbers alone, such as %v, and no other column has: leave it out "+
			"if it numbers the samples", name, position.At(1), w.last)
	}
	if softmax || len(w.columns) < 3 || w.rows < fewRows {
		return nil
	}
	if w.sums && k == Probabilities || w.logsSums && k == Logits {
		return fmt.Errorf("%s: the %s of every row add up to 1, as those of a softmax over the columns do: want the "+
			"logits or the sigmoid of each bit; or %s where there is a column for each level", name,
			map[Kind]string{Probabilities: "probabilities", Logits: "exponentials"}[k], position.Flag("code", "softmax"))
	}
	return nil
}

// numbersRows reports whether the first column may number samples of a larger file: its numbers are
// whole, at least 0 and beyond bits, and those of no other column are whole and beyond bits.
func (w *watch) numbersRows() bool {
	large := func(c columnOf) bool { return c.whole && !c.small }
	return w.varies && !w.below && large(w.columns[0]) && !slices.ContainsFunc(w.columns[1:], large)
}

// CheckColumn refuses a file of more than one column; each is one of its numbers.
func CheckColumn(rows *arrayfile.Rows, each string) error {
	_, columns := rows.Dims()
	if columns == 1 {
		return nil
	}
	hint := ""
	if rows.FromText() {
		hint = "; one column of several is FILE.csv:NAME"
		if rows.Header() == nil && columns == 2 {
			hint = "; leave row numbers out; numbers have a point, and no comma"
		}
	}
	return fmt.Errorf("%s: %d columns; want one %s for each sample%s", rows.Name(), columns, each, hint)
}
