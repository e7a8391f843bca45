package assess

import (
	"fmt"

	"belsim/errmodel/head"
	"belsim/errmodel/observed"
	"belsim/theory/base/table"
	"belsim/theory/decode"
)

// Probabilities judge the probabilities that a network gives to levels, by the targets.
type Probabilities struct {
	observed.Scores
}

// probabilities judge the network's distribution; nil where it has none.
func (n *network) probabilities() *Probabilities {
	for _, s := range n.seen.Scores {
		if len(n.seen.Scores) == 1 || (s.Decoder == decode.BelU{}.Name()) == (n.training == head.BCE) {
			return &Probabilities{s}
		}
	}
	return nil
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
