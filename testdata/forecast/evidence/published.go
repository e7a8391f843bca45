package evidence

import (
	"context"
	"fmt"
	"slices"

	"belsim/errmodel/observed"
	"belsim/errmodel/perceived"
	"belsim/theory"
	"belsim/theory/code"
	"belsim/theory/decode"
)

// Published is a figure of the paper's tables: the mean |error| of a network that was trained
// with BCE, in the unit of a level.
type Published struct {
	Table   string
	Levels  int
	Decoder string
	Code    string
	Error   float64
}

// LoadPublished reads published.csv.
func LoadPublished(path string) (out []Published, err error) {
	err = readRows(path, func(r *row) {
		out = append(out, Published{
			Table: r.cells["table"], Levels: r.whole("levels"),
			Decoder: r.cells["decoder"], Code: r.cells["code"], Error: r.number("error"),
		})
	})
	return out, err
}

// ForecastPublished forecasts the codes of one table from the error that unary has with gen,
// over a uniform prior. gen reads logits, as gen-ex does.
func ForecastPublished(ctx context.Context, workers int, all []Published, table string) (*Result, error) {
	var rows []Published
	for _, p := range all {
		if p.Table == table {
			rows = append(rows, p)
		}
	}
	source := slices.IndexFunc(rows, func(p Published) bool { return p.Code == "unary" && p.Decoder == Gen.Decoder })
	if source < 0 {
		return nil, fmt.Errorf("no error of unary with gen in table %s", table)
	}
	levels := rows[source].Levels
	var codes []*code.Code
	for _, p := range rows {
		if p.Decoder == Gen.Decoder {
			c, err := code.New(p.Code, levels)
			if err != nil {
				return nil, err
			}
			codes = append(codes, c)
		}
	}
	unary, err := code.New("unary", levels)
	if err != nil {
		return nil, err
	}
	d, err := decoders().New(Gen.Decoder, unary, decode.Options{})
	if err != nil {
		return nil, err
	}
	network := &perceived.Observed{
		Code: unary, Training: perceived.BCE,
		Decodings: []observed.Decoding{{Decoder: d, Soft: true}}, Errors: []observed.Error{{Mean: rows[source].Error}},
		Rates: make([]float64, unary.Bits()),
	}
	f, err := fit(ctx, workers, theory.Uniform(levels), nil, []*perceived.Observed{network})
	if err != nil {
		return nil, fmt.Errorf("table %s: %w", table, err)
	}
	return result(ctx, workers, f, codes, Task{"paper", table, levels}, []Source{{Code: "unary", Training: perceived.BCE}}, func(p Pair) []Trained {
		i := slices.IndexFunc(rows, func(row Published) bool { return row.Code == p.Code.Name() && row.Decoder == p.Reading().Decoder })
		if i < 0 || !p.Decoding.Soft || p.Training != perceived.BCE {
			return nil
		}
		return []Trained{{Error: observed.Error{Mean: rows[i].Error}}}
	})
}
