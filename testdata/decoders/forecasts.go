package main

import (
	"context"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"slices"

	"belsim/errmodel/perceived"
	"belsim/montecarlo/forecast"
	"belsim/testdata/forecast/evidence"
	"belsim/theory/base/table"
)

// architectures are the networks of the data sets of results.csv, and the data that they are of.
var architectures = map[string][2]string{
	"diamonds": {"diamonds", "mlp"}, "diamonds32": {"diamonds", "mlp"}, "diamonds128": {"diamonds", "mlp"}, "diamonds256": {"diamonds", "mlp"},
	"diamonds-wide": {"diamonds", "wide"}, "flights": {"flights", "mlp"}, "weather": {"weather", "mlp"},
	"digits": {"digits", "conv"}, "digits-mlp": {"digits", "mlp3"}, "digits2": {"digits2", "conv"},
}

// forecastRow compares forecasts of fitted decoders with the errors of one set.
type forecastRow struct {
	Data    string `text:"data"`
	Levels  int    `text:"levels"`
	Codes   int    `text:"codes, both trainings"`
	Median  string `text:"median"`
	Largest string `text:"largest"`
	Holds   string `text:"intervals hold"`
}

// forecasts compares the forecast of a fitted decoder for each code, from one Johnson network that was
// trained bit by bit, with what the networks of this code reach.
func forecasts(ctx context.Context, w io.Writer) error {
	rows, err := read()
	if err != nil {
		return err
	}
	set, err := evidence.Load(filepath.Join("testdata", "forecast"))
	if err != nil {
		return err
	}
	var out []forecastRow
	for i, first := range rows {
		if slices.IndexFunc(rows, func(r row) bool { return r.data == first.data }) < i {
			continue
		}
		of := architectures[first.data]
		t := evidence.Task{Data: of[0], Architecture: of[1], Levels: first.levels}
		f, codes, err := set.Forecaster(ctx, 0, t, evidence.Source{Code: "johnson", Training: perceived.BCE})
		if err != nil {
			return fmt.Errorf("%s: %w", t, err)
		}
		f.Fitted = true
		all, err := f.Codes(ctx, 0, codes, nil)
		if err != nil {
			return fmt.Errorf("%s: %w", t, err)
		}
		type worst struct {
			off        float64
			code, loss string
		}
		var offs []worst
		held, networks := 0, 0
		for _, x := range all {
			if x.Decoding.Decoder.Name() != forecast.FittedDecoder {
				continue
			}
			sum, n := 0.0, 0
			for _, r := range rows {
				if r.data == first.data && r.code == x.Code.Name() && r.loss == x.Training.Loss() {
					sum += r.fitted
					n++
					networks++
					if r.fitted >= x.Lo && r.fitted <= x.Hi {
						held++
					}
				}
			}
			if n > 0 {
				offs = append(offs, worst{math.Abs(x.Error*float64(n)/sum - 1), x.Code.Name(), x.Training.Loss()})
			}
		}
		slices.SortFunc(offs, func(a, b worst) int {
			if a.off < b.off {
				return -1
			}
			return 1
		})
		last := offs[len(offs)-1]
		out = append(out, forecastRow{first.data, first.levels, len(offs), fmt.Sprintf("%.1f %%", 100*offs[len(offs)/2].off),
			fmt.Sprintf("%.0f %% (%s, %s)", 100*last.off, last.code, last.loss), fmt.Sprintf("%d of %d", held, networks)})
	}
	return table.Of(out).Write(w)
}
