package assess

import (
	"fmt"

	"belsim/errmodel/fault"
	"belsim/errmodel/observed"
	"belsim/errmodel/perceived"
	"belsim/theory/base/table"
	"belsim/theory/decode"
)

// Probabilities judge the probabilities that a network gives to levels, by the targets.
type Probabilities struct {
	// the decoder whose distribution it is: gen-ex, or bel-u of unary bits with BCE
	Decoder string `json:"decoder"`
	// mean continuous ranked probability score ∫ (F(x) − [x ≥ target])² dx, in the unit of the
	// targets
	CRPS float64 `json:"crps"`
	// standard error of crps
	CRPSStdErr float64 `json:"crps_stderr"`
	// mean −ln of the probability of the target's level, in nats; one below 1e-12 counts as 1e-12
	Log float64 `json:"log_score"`
	// standard error of log_score
	LogStdErr float64 `json:"log_score_stderr"`
	// samples whose level has a probability below 1e-12
	Impossible uint64 `json:"impossible"`
	// share of the probability integral transforms in each twentieth of 0 to 1; 0.05 if calibrated
	PIT []float64 `json:"pit"`
	// width in levels of the narrowest twentieth, by the curvature at the most likely level; Gaussian targets of
	// training make it σ at least, targets of one or two levels do not; null but for softmax
	Width float64 `json:"width"`
}

// probabilities judge the network's distribution; nil where it has none.
func (n *network) probabilities() *Probabilities {
	var found *observed.Scores
	for i := range n.seen.Scores {
		s := &n.seen.Scores[i]
		if found == nil || (s.Decoder == decode.BelU{}.Name()) == (n.training == perceived.BCE) {
			found = s
		}
	}
	if found == nil {
		return nil
	}
	crps, pit := found.CRPS.Times(n.width()), found.PIT[:]
	return &Probabilities{found.Decoder, crps.Mean, crps.StdErr, found.Log.Mean, found.Log.StdErr, found.Impossible,
		pit, fault.Width(n.code, n.training, n.seen)}
}

// Text says how good the probabilities are.
func (p *Probabilities) Text(f *Fit) string {
	central := 1 - p.PIT[0] - p.PIT[len(p.PIT)-1]
	shape := when(central < 0.85, ", so they are too narrow") + when(central > 0.95, ", so they are too wide")
	text := fmt.Sprintf("Probabilities of levels, as %s reads them: CRPS %s%s, log score %s nats; their central 90 %% "+
		"hold %s of the targets%s.", p.Decoder, table.PlusMinus(p.CRPS, p.CRPSStdErr), f.unit(),
		table.PlusMinus(p.Log, p.LogStdErr), percent(central), shape)
	if p.Impossible > 0 {
		text += fmt.Sprintf(" The level of %d targets has a probability below 1e-12.", p.Impossible)
	}
	return text
}
