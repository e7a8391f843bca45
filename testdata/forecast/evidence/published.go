package evidence

import (
	"strings"

	"belsim/errmodel/forecast"
	"belsim/errmodel/observed"
	"belsim/errmodel/perceived"
)

// Published is a figure of a table that others published: the mean |error| of a network.
type Published struct {
	Table    string
	Head     string // as the table calls it; "" in those of the paper
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

// LoadPublished reads a table of testdata/paper. A head that no forecast is of has no code.
func LoadPublished(path string) (out []Published, err error) {
	err = readRows(path, func(r *row) {
		out = append(out, Published{
			Table: r.cells["table"], Head: r.cells["head"], Levels: r.whole("levels"), Unit: r.cells["unit"],
			Training: perceived.Training(r.cells["training"]), Decoder: r.cells["decoder"],
			Code: r.cells["code"], Error: r.number("error"),
		})
	})
	return out, err
}

// Task is that of the networks of a table.
func (p Published) Task() Task { return Task{p.Table, "paper", p.Levels} }

// Reading is what reads the network: bel-u and bel-j read bits, predictions are rounded to levels, and
// the others read logits.
func (p Published) Reading() Reading {
	if p.Code == forecast.Direct {
		return GenBits
	}
	return Reading{p.Decoder, !strings.HasPrefix(p.Decoder, "bel")}
}

// PublishedSet has a network for each figure, so that forecasts from unary know its error by gen
// alone: that of the network with seed 0.
func PublishedSet(all []Published) *Set {
	s := &Set{Samples: map[Labels][]float64{}}
	for _, p := range all {
		if p.Code == "" {
			continue
		}
		n := Network{Task: p.Task(), Code: p.Code, Training: p.Training,
			Errors: map[Reading]observed.Error{p.Reading(): {Mean: p.Error / p.Width()}}}
		if p.Reading() != Gen {
			n.Seed = 1
		}
		if p.Code == forecast.Direct {
			n.Training, n.Seed = perceived.BCE, 0
		}
		s.Networks = append(s.Networks, n)
	}
	return s
}
