package head

import (
	_ "embed"
	"encoding/csv"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

//go:generate sh -c "python3 ../../testdata/heads/tables.py --lost > lost.csv"
//go:embed lost.csv
var lostCSV string

// What an error is of, in Lost.
const (
	ToLevel = "level" // |answer − nearest level|
	ToLabel = "label" // |answer − label|
)

// What inputs are, in Lost.
const (
	Tables = "tables"
	Images = "images"
)

// Rules are the heads of the smallest medians: on tables, and on images.
var Rules = []struct {
	Code     string
	Training Training
}{{"unary", BCE}, {"onehot", Soft}}

// Lost is how much more error networks of a head had than those of the best of eleven heads:
// quartiles, in percent, over the data sets of testdata/heads, with 64 levels. A negative one is a
// head that was better than all eleven.
type Lost struct {
	Code                 string
	Training             Training // L1 for direct regression
	Measure              string   // ToLevel or ToLabel
	Data                 string   // Tables or Images
	Sets                 int      // data sets with this head
	Median, Lower, Upper float64
}

// Losses has a row for each head, measure and kind of data that four data sets or more have. It fails
// if the table in the program is damaged.
func Losses() ([]Lost, error) {
	rows, err := csv.NewReader(strings.NewReader(lostCSV)).ReadAll()
	if err != nil {
		return nil, fmt.Errorf("lost.csv: %w", err)
	}
	var out []Lost
	for i, r := range rows[min(1, len(rows)):] {
		row := Lost{Code: r[0], Training: Training(r[1]), Measure: r[2], Data: r[3]}
		if row.Sets, err = strconv.Atoi(r[4]); err != nil {
			return nil, fmt.Errorf("lost.csv, line %d: %w", i+2, err)
		}
		for k, to := range []*float64{&row.Median, &row.Lower, &row.Upper} {
			if *to, err = strconv.ParseFloat(r[5+k], 64); err != nil {
				return nil, fmt.Errorf("lost.csv, line %d: %w", i+2, err)
			}
		}
		out = append(out, row)
	}
	return out, nil
}

// FindLost looks a head up in the rows of Losses. A head that is no training of a code, as direct
// regression is, has one row whatever the training.
func FindLost(all []Lost, c string, t Training, measure, data string) (Lost, bool) {
	i := slices.IndexFunc(all, func(l Lost) bool {
		return l.Code == c && (l.Training == t || Lookup(c).Own) && l.Measure == measure && l.Data == data
	})
	if i < 0 {
		return Lost{}, false
	}
	return all[i], true
}
