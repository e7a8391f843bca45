package scenario

import (
	"belsim/errmodel/head"
	"belsim/theory/code"
	"belsim/theory/decode"
)

// Design is a design of a network of binary-encoded labels (Section 3 of the paper): its code and
// training, and the decoder with what it reads. Every row of a result begins with the design that
// its numbers are of, so that rows of different results stand in one table.
type Design struct {
	Levels      int            `json:"levels" text:"levels"`
	Code        string         `json:"code" text:"code"`
	Bits        int            `json:"bits" text:"bits"`
	Transitions float64        `json:"transitions" text:"trans.,%.4g"`
	Training    head.Training  `json:"training,omitempty" text:"training"`
	Decoder     string         `json:"decoder" text:"decoder"`
	Outputs     decode.Outputs `json:"outputs" text:"reads"`
}

// Design is the design of a code and a decoder under the scenario's model.
func (s *Scenario) Design(c *code.Code, d decode.Decoder) Design {
	return Design{Levels: c.Levels(), Code: c.Name(), Bits: c.Bits(), Transitions: c.TransitionsPerBit(),
		Decoder: d.Name(), Outputs: s.OutputsOf(c, d)}
}
