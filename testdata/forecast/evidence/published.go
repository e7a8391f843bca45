package evidence

import (
	"strings"

	"belsim/errmodel/observed"
	"belsim/errmodel/perceived"
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
			Table: r.cells["table"], Levels: r.whole("levels"), Unit: r.cells["unit"],
			Training: perceived.Training(r.cells["training"]), Decoder: r.cells["decoder"],
			Code: r.cells["code"], Error: r.number("error"),
		})
	})
	return out, err
}

// Task is that of the networks of a table.
func (p Published) Task() Task { return Task{p.Table, "paper", p.Levels} }

// Reading is what reads the network: bel-u and bel-j read bits, and the others logits.
func (p Published) Reading() Reading { return Reading{p.Decoder, !strings.HasPrefix(p.Decoder, "bel")} }

// PublishedSet has a network for each figure, so that forecasts from unary know its error by gen
// alone: that of the network with seed 0.
func PublishedSet(all []Published) *Set {
	s := &Set{Samples: map[Labels][]float64{}}
	for _, p := range all {
		n := Network{Task: p.Task(), Code: p.Code, Training: p.Training,
			Errors: map[Reading]observed.Error{p.Reading(): {Mean: p.Error / p.Width()}}}
		if p.Reading() != Gen {
			n.Seed = 1
		}
		s.Networks = append(s.Networks, n)
	}
	return s
}
