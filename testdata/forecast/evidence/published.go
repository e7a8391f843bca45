package evidence

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"belsim/errmodel/observed"
	"belsim/errmodel/perceived"
	"belsim/theory"
	"belsim/theory/code"
	"belsim/theory/decode"
)

// Published is a figure of the paper's tables: the mean |error| of a network.
type Published struct {
	Table    string
	Levels   int
	Unit     string // of the error
	Training perceived.Training
	Decoder  string
	Code     string
	Error    float64
}

// Width is that of a level, in the unit of the error. The paper does not say it for errors of
// landmarks (NME), in percent of the distance between the eyes: 300 % over all levels are what its
// errors of 64, 128 and 256 levels of FLD1 say.
func (p Published) Width() float64 {
	if p.Unit == "NME" {
		return 300 / float64(p.Levels)
	}
	return 1
}

// LoadPublished reads published.csv.
func LoadPublished(path string) (out []Published, err error) {
	err = readRows(path, func(r *row) {
		out = append(out, Published{
			Table: r.cells["table"], Levels: r.whole("levels"), Unit: r.cells["unit"], Training: perceived.Training(r.cells["training"]),
			Decoder: r.cells["decoder"], Code: r.cells["code"], Error: r.number("error"),
		})
	})
	return out, err
}

// ForecastPublished forecasts all networks of one table that it can, in levels, from the error that
// unary has with BCE and gen, over a prior, or a uniform one where it is nil. The paper's bel-u and
// bel-j read bits, and the others logits.
func ForecastPublished(ctx context.Context, workers int, all []Published, table string, prior []float64) (*Result,
	error) {
	var rows []Published
	var codes []*code.Code
	for _, p := range all {
		if p.Table != table {
			continue
		}
		rows = append(rows, p)
		if p.Decoder == Gen.Decoder && p.Training == perceived.BCE {
			c, err := code.New(p.Code, p.Levels)
			if err != nil {
				return nil, err
			}
			codes = append(codes, c)
		}
	}
	source := slices.IndexFunc(rows, func(p Published) bool {
		return p.Code == "unary" && p.Decoder == Gen.Decoder && p.Training == perceived.BCE
	})
	if source < 0 {
		return nil, fmt.Errorf("no error of unary with BCE and gen in table %s", table)
	}
	levels, width := rows[source].Levels, rows[source].Width()
	if prior == nil {
		prior = theory.Uniform(levels)
	}
	unary, err := code.New("unary", levels)
	if err != nil {
		return nil, err
	}
	readers := slices.DeleteFunc(decode.Builtin(), func(e decode.Entry) bool {
		return !slices.ContainsFunc(rows, func(p Published) bool { return p.Decoder == e.Name })
	})
	d, err := readers.New(Gen.Decoder, unary, decode.Options{})
	if err != nil {
		return nil, err
	}
	network := &perceived.Observed{
		Code: unary, Training: perceived.BCE,
		Decodings: []observed.Decoding{{Decoder: d,
			Soft: true}}, Errors: []observed.Error{{Mean: rows[source].Error / width}},
		Rates: make([]float64, unary.Bits()),
	}
	f, err := fit(ctx, workers, prior, nil, readers, []*perceived.Observed{network})
	if err != nil {
		return nil, fmt.Errorf("table %s: %w", table, err)
	}
	for _, row := range rows {
		if !slices.Contains(f.Trainings, row.Training) {
			f.Trainings = append(f.Trainings, row.Training)
		}
	}
	return result(ctx, workers, f, codes, Task{"paper", table, levels},
		[]Source{{Code: "unary", Training: perceived.BCE}}, func(p Pair) []Trained {
			i := slices.IndexFunc(rows, func(row Published) bool {
				return row.Code == p.Code.Name() && row.Training == p.Training && row.Decoder == p.Reading().Decoder
			})
			if i < 0 || p.Decoding.Soft == strings.HasPrefix(rows[i].Decoder, "bel") {
				return nil
			}
			return []Trained{{Error: observed.Error{Mean: rows[i].Error / width}}}
		})
}
